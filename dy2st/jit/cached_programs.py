"""What PaddlePaddle's programs ask of a static function besides calling it: its traces, its modes, and the function itself again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dy2st_runtime.ir import Program, Variable

from ..errors import FetchError, ModeError
from ..nn import Layer
from ..tensor import Tensor
from .as_function import AsFunction
from .concrete import ConcreteProgram

if TYPE_CHECKING:
    from .signature import Parameters
    from .traces import Traces


class Partial(NamedTuple):
    """A trace as something to call: `partial([x, y])` is `function(x, y)`."""

    function: Callable[..., Any]
    program: Program

    def __call__(self, inputs: Sequence[Any]) -> Any:
        return self.function(*inputs)


class ProgramCache:
    """The traces of a static function: first those for calls, then those that were made for InputSpecs.

    One trace may serve calls of several sizes, so there may be fewer than in PaddlePaddle.
    """

    def __init__(self, function: CachedPrograms):
        self._function = function

    def __len__(self) -> int:
        return len(self.concrete_programs())

    def concrete_programs(self) -> list[ConcreteProgram]:
        """The traces."""
        traces = self._function._traces
        return [*traces.order, *(c for c in traces.saved.values() if c not in traces.order)]

    def last(self) -> tuple[Any, tuple[ConcreteProgram, Partial]]:
        """The key of the last trace, and that trace, as it is and as something to call.

        Raises:
            FetchError: there is none yet.
        """
        found = self.concrete_programs()
        if not found:
            raise FetchError(f"{self._function.__name__!r} has no program yet", hint="call it once")
        return found[-1].key, (found[-1], Partial(self._function, found[-1].program))  # type: ignore[arg-type]  # a StaticFunction


class CachedPrograms(AsFunction):
    """The names that PaddlePaddle's `StaticFunction` has beside ours."""

    __slots__ = ()

    _traces: Traces
    trace: Callable[..., ConcreteProgram]

    if TYPE_CHECKING:

        @property
        def parameters(self) -> Parameters: ...

        @property
        def concrete_program(self) -> ConcreteProgram: ...

    # ---- its traces ----
    @property
    def program_cache(self) -> ProgramCache:
        """The traces; `len(f.program_cache)` says how many there are."""
        return ProgramCache(self)

    def get_traced_count(self) -> int:
        """How many traces there are."""
        return len(self.program_cache)

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, Partial]:
        """The trace for arguments that are InputSpecs, tensors or Python values; as it is, and as something to call.

        Raises:
            TypeError: these are no arguments of the function.
        """
        bound = self.parameters.signature.bind(*args, **kwargs)
        concrete = self.trace(*bound.args, *([bound.kwargs] if bound.kwargs else []))
        return concrete, Partial(self, concrete.program)  # type: ignore[arg-type]  # a StaticFunction

    @property
    def inputs(self) -> list[Variable]:
        """The variables that the last trace is fed; see `concrete_program`."""
        return list(self.concrete_program.inputs)

    @property
    def outputs(self) -> list[Variable | Tensor]:
        """The variables of the tensors in the result of the last trace; see `concrete_program`."""
        return self.concrete_program.outputs

    # ---- the function ----
    @property
    def class_instance(self) -> Any:
        """The object that it is a method of, or None."""
        return self.instance

    @property
    def dygraph_function(self) -> Callable:
        """The function as the user wrote it (bound, for a method)."""
        return self.original

    def rollback(self) -> Callable:
        """The function as the user wrote it. A method's object has that under its name from now on, and is eager again."""
        if self.instance is not None:
            own = vars(self.instance)
            name = next((name for name, value in own.items() if value is self), self.raw.__name__)
            setattr(self.instance, name, self.original)
        return self.original

    # ---- modes ----
    def train(self) -> None:
        """Of a function: without effect, as it has no mode.

        Raises:
            ModeError: it is a method of a layer that is in evaluation mode.
        """
        self._require_mode("train", True)

    def eval(self) -> None:
        """Of a function: without effect, as it has no mode. Use `no_grad` for calls without gradients.

        Raises:
            ModeError: it is a method of a layer that is in training mode.
        """
        self._require_mode("eval", False)

    def _require_mode(self, name: str, training: bool) -> None:
        if isinstance(self.instance, Layer) and self.instance.training is not training:
            raise ModeError(f"{name}() of a method does not change the mode of its layer", hint=f"use layer.{name}()")
