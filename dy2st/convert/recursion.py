"""Recursion that ends by a condition on tensors: a function of the Program, and calls of it.

While a function is traced without such a condition it is simply run, as any code: recursion that Python decides is unrolled. A call
that repeats one around it (`activations`) begins the trace anew, and calls of this kind are then traced as a function: its arguments
are the params, as far as they vary between the calls. What it returns is found as a fixed point. At first nothing is known of what the
calls inside it return, and a path that reaches one tells nothing (`NoResult`); what the other paths return is the first guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from dy2st_runtime import dims
from dy2st_runtime.errors import RecursionLimitError
from dy2st_runtime.ir.program import Block, Function, Variable
from dy2st_runtime.ops.registry import TensorType

from ..errors import Location, StructureError
from ..tensor import Tensor, dispatch
from ..tensor.location import user_location
from .activations import UNROLLED, Activation, Arguments, NoResult, Reentered, admits, under_conditions
from .aliases import outside, shared, who
from .frames import Outcome
from .leaves import Const, Pattern, Var, coerce, extract, instantiate, variables, wrap
from .lists import StagedList
from .patterns import Fitter
from .raised import refused
from .things import FIRST, objects_at
from .tracer import Tracer

_TRIALS = 20


class _Widened(BaseException):
    """A call has arguments that the params do not admit: the function is to be traced again."""

    def __init__(self, function: StagedFunction):
        super().__init__()
        self.function = function


def enter(tracer: Tracer, original: FunctionType, f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a converted function while it is traced: runs it, or makes it a call of the Program where it is recursive.

    Args:
        original: the user's function.
        f: its conversion.

    Raises:
        Reentered: it turns out to be recursive.
    """
    if original.__module__ and original.__module__.startswith("dy2st."):
        return f(*args, **kwargs)  # a layer of ours in a layer: what is recursive comes by a function of the user's
    code, arguments = original.__code__, (args, kwargs)
    for staged in reversed(tracer.staged):
        if staged.code is code and admits(staged.values, arguments, staged.general):
            return staged.call(arguments)
    new = Activation.of(code, arguments, len(tracer.frames))
    if new.kind in tracer.recursive or new.kind.general in tracer.recursive:
        return StagedFunction(tracer, original, f, arguments, new.kind.general in tracer.recursive).stage()
    around = [a for a in tracer.activations if a.kind.code is code]
    if around:
        if any(new.repeats(a) for a in around):
            raise Reentered(new.kind)
        if under_conditions([*around, new]) > UNROLLED:
            raise Reentered(new.kind.general)
        new.before = tracer.snapshot()
    tracer.activations.append(new)
    try:
        return f(*args, **kwargs)
    finally:
        tracer.activations.pop()


@dataclass(eq=False)
class StagedFunction:
    """A function of the Program in the making.

    Attributes:
        general: whether numbers of Python may vary between the calls.
        function: what `call` ops name.
        params: the pattern of the arguments, of which `values` is an instance: what the body gets.
        results: the pattern of what it returns; None as long as nothing is known of that. `returned` is an instance.
        same: (result, param) for each pair that may be one object, by their positions among the leaves.
        objects: the same for lists, dicts and objects, by their positions among these.
        outside: for each leaf of the results what it may be that was there before.
        skips_loops: whether a loop with a call inside is taken as one that does not run, as long as nothing is known of the results:
            if there is no other path to an end.
        called_at: where the last call inside it is.
        inner: the calls inside it, each with what it returns.
    """

    tracer: Tracer
    original: FunctionType
    f: Callable
    arguments: Arguments
    general: bool
    results: Pattern | None = None
    returned: Any = None
    same: frozenset[tuple[int, int]] = frozenset()
    objects: frozenset[tuple[int, int]] = frozenset()
    outside: list[dict[int, Any]] = field(default_factory=list)
    skips_loops: bool = False
    called_at: Location | None = None
    values: Any = None
    param_leaves: list[Any] = field(default_factory=list)
    inner: list[tuple[Arguments, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.code = self.original.__code__
        self.name = re.sub(r"\W+", "_", self.original.__name__).strip("_") or "function"
        self.function: Function = self.tracer.program.add_function(self.name)
        self.params: Pattern = Const(self.arguments)
        self.values = self.arguments
        self.location = user_location()
        self.fitter = Fitter(self.tracer, "", ("the first call", "a call inside it"))

    # ---- the function ----
    def stage(self) -> Any:
        """Traces the function, and calls it with the first arguments; what it returns.

        Raises:
            RecursionLimitError: every path leads to another call.
            StructureError: it changes something outside of it; what it takes or returns does not settle.
        """
        self.tracer.note("call", f"recursive: {self.original.__name__!r} is a function of the Program")
        for _ in range(_TRIALS):
            try:
                if self._trial():
                    return self.call(self.arguments)
            except _Widened as widened:
                if widened.function is not self:
                    raise
        raise StructureError(f"what {self.original.__name__!r} takes and returns does not settle", location=self.location)

    def _trial(self) -> bool:
        """Traces the body once; True if what it assumed about the results holds."""
        tracer, block = self.tracer, self.tracer.sub_block()
        self.function.block = block
        self.values = instantiate(self.params, lambda leaf: self._param(block, leaf))
        self.param_leaves = list(extract(self.params, self.values))
        given = [x._value for x in self.param_leaves]
        tracer.watch(*self.values[0], *self.values[1].values())
        tracer.watch_locals()
        tracer.sharing.merged([self.params], [self.values], [(tracer.block, [self.arguments])], how=FIRST)
        tracer.sharing.settle()
        self.inner = []
        tracer.staged.append(self)
        try:
            with tracer.whole_frame(block) as frame:
                outcome = tracer.outcome(self.f(*self.values[0], **self.values[1]), frame)
        except NoResult:
            if any(other.results is None for other in tracer.staged[:-1]):
                raise  # what those return tells more
            if not self.skips_loops:
                self.skips_loops = True
                return False
            raise RecursionLimitError(
                f"{self.original.__name__!r} calls itself on every path, so that it never comes to an end",
                location=self.called_at, hint="give it a path that returns without another call",
            ) from None  # fmt: skip
        finally:
            tracer.staged.pop()
        self._require_unchanged(outcome, given)
        settled = self._fit_results(outcome.result)
        assert self.results is not None
        if settled:
            for arguments, value in self.inner:  # a call is to another inside it what an iteration is to the next one
                tracer.sharing.iterated(frame.containers, block, [self.params, self.results], [self.values, value],
                                        [arguments, outcome.result])  # fmt: skip
            with tracer.inside(block), outcome.in_force():
                leaves = zip(extract(self.results, outcome.result), variables(self.results), strict=True)  # type: ignore[arg-type]
                block.results = [coerce(tracer, x, leaf, "a result").name for x, leaf in leaves]
            tracer.aliases.leave((block,), tracer.block)
        return settled

    def _param(self, block: Block, leaf: Var) -> Any:
        t = leaf.type
        v = block.create_var(None, t.dtype, t.shape, stem=f"{self.name}.arg", kind=t.kind)
        v.stop_gradient = not t.dtype.startswith("float")
        block.params.append(v.name)
        return wrap(self.tracer, leaf, v)

    def _fit_results(self, result: Any) -> bool:
        """Widens the pattern of the results by what the body has returned; True if it was wide enough."""
        before = self.results, self.same, self.objects
        if self.results is None:
            self.results = self.fitter.alone(result)
        else:
            self.results = self.fitter.fit(self.results, self.returned, result, "retval_")
        self.returned = result
        types = [leaf.type for leaf in variables(self.results)]
        self.function.result_types = [TensorType(t.dtype, dims.from_static(t.shape), t.kind) for t in types]
        self.same |= {
            (i, j)
            for i, x in enumerate(extract(self.results, result)) if shared(x)
            for j, p in enumerate(self.param_leaves) if shared(p) and self.tracer.aliases.related(x, p)
        }  # fmt: skip
        self.outside = [self._before(x) for x in extract(self.results, result)]
        found = list(objects_at(self.params, self.values))
        for i, x in enumerate(objects_at(self.results, result)):
            self.objects |= {(i, j) for j in self.tracer.sharing.among(x, found)}
        return before == (self.results, self.same, self.objects)

    def _before(self, x: Any) -> dict[int, Any]:
        """What a leaf of the results may be that the body has not made, nor been given."""
        if not shared(x) or not isinstance(x, (Tensor, StagedList)):
            return {}
        own = {id(who(p)) for p in self.param_leaves}
        found = {id(who(x)): who(x), **self.tracer.aliases.of(x)}
        return {key: other for key, other in found.items() if key not in own and outside(other, self.function.block)}

    def _require_unchanged(self, outcome: Outcome, given: list[Variable]) -> None:
        """StructureError if the body leaves anything else than its result."""
        changed = [cell.name for cell, _ in outcome.changes.values()]
        changed += ["an argument" for x, v in zip(self.param_leaves, given, strict=True) if x._value is not v]
        changed += ["a list" for _ in outcome.grown]
        if changed:
            raise StructureError(
                f"{self.original.__name__!r} calls itself under a condition on tensors and changes what is outside of it: {changed[0]}",
                location=self.called_at or self.location, hint="pass what changes as an argument, and return what it becomes",
            )  # fmt: skip

    # ---- its calls ----
    def call(self, arguments: Arguments) -> Any:
        """Appends a `call` op; what the function returns.

        Raises:
            NoResult: nothing is known of that yet.
        """
        tracer = self.tracer
        location = user_location()
        inside = self in tracer.staged
        if inside:
            self.called_at = location
            if tracer.tries.wants(RecursionError):
                raise refused("(a recursion that is too deep)", location)
            params = self.fitter.fit(self.params, self.values, arguments, "arguments")
            if params != self.params:
                self.params = params
                raise _Widened(self)
        if self.results is None:
            raise NoResult
        given = list(extract(self.params, arguments))
        inputs = [coerce(tracer, x, leaf, "") for x, leaf in zip(given, variables(self.params), strict=True)]
        outs = tracer.builder().op("call", X=inputs, function=self.function)
        for out in outs:
            out.stop_gradient = not (dispatch.is_grad_enabled() and out.dtype.startswith("float"))
        made: list[Any] = []
        rest = iter(outs)

        def make(leaf: Var) -> Any:
            made.append(wrap(tracer, leaf, next(rest)))
            return made[-1]

        value = instantiate(self.results, make)
        self._stands_for(value, arguments)
        if inside:
            self.inner.append((arguments, value))
        for i, (new, before) in enumerate(zip(made, self.outside, strict=True)):
            if shared(new):
                self._link(new, before, [x for j, x in enumerate(given) if (i, j) in self.same and shared(x)])
        return value

    def _stands_for(self, value: Any, arguments: Arguments) -> None:
        """What a call returns may be one of its arguments."""
        assert self.results is not None
        found, group = list(objects_at(self.params, arguments)), []
        for i, (new, old) in enumerate(zip(objects_at(self.results, value), objects_at(self.results, self.returned), strict=True)):
            given = [x for j, x in enumerate(found) if (i, j) in self.objects]
            self.tracer.sharing.returned(new, old, given)
            group.append((new, given))
        self.tracer.alternatives.stand_for(group)
        self.tracer.alternatives.settle()

    def _link(self, new: Any, before: dict[int, Any], given: list[Any]) -> None:
        """What a call returns may be one of its arguments, or what was there before."""
        aliases = self.tracer.aliases
        found = dict(before)
        for x in given:
            found |= {id(who(x)): who(x), **aliases.of(x)}
        aliases.link(new, found)
