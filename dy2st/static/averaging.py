"""`ExponentialMovingAverage`: averages of the parameters of a Program, over its runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import unique_name
from ..errors import AttributeValueError, ModeError
from ..tensor import Tensor, dispatch
from ..tensor.creation import assign
from ..tensor.math import minimum
from .input import create_global_var
from .program import Program, default_main_program
from .scope import global_scope


class ExponentialMovingAverage:
    """Averages of all parameters that the default main program has, in which a run counts for less the longer ago it was.

    After run t the average is `decay * average + (1 - decay) * parameter`, from zeros on. What `apply` puts in the place of the parameters
    is that over `1 - decay ** t`, so that the zeros do not count.

    Args:
        decay: between 0 and 1.
        thres_steps: a variable with the number of steps: the decay is at most `(thres_steps + 1) / (thres_steps + 10)` then, which lets the
            first steps count for less. None: it is always the same.
        name: in front of the names of the averages.

    Raises:
        ModeError: no Program is being built.
        AttributeValueError: the decay is not between 0 and 1.

    Example:
        >>> from dy2st import optimizer, static
        >>> with static.program_guard(static.Program(), static.Program()):
        ...     loss = static.nn.fc(static.data("x", [None, 2]), 1).mean()
        ...     minimized = optimizer.SGD(0.1).minimize(loss)
        ...     ema = static.ExponentialMovingAverage(0.99)
        ...     ema.update()   # behind the update of the parameters
        >>> with ema.apply(exe):  # doctest: +SKIP
        ...     exe.run(test_program)
    """

    def __init__(self, decay: float = 0.999, thres_steps: Tensor | None = None, name: str | None = None):
        if not 0 <= decay <= 1:
            raise AttributeValueError(f"decay must be between 0 and 1, got {decay!r}")
        if dispatch.in_dynamic_mode():
            raise ModeError("ExponentialMovingAverage averages the parameters of a Program, and none is being built",
                            hint="in dynamic mode, average the state dicts of the model")  # fmt: skip
        self._program: Program = default_main_program()
        self._decay, self._thres_steps = decay, thres_steps
        stem = f"{name or ''}ema"
        parameters = [v for v in self._program.list_vars() if v.is_parameter]
        self._averages = {
            v.name: create_global_var([int(size) for size in v.shape], 0.0, v.dtype, True, name=unique_name.generate(f"{stem}_{v.name}"))
            for v in parameters
        }
        self._steps = create_global_var([1], 0, "int64", True, name=unique_name.generate(f"{stem}_steps"))
        self._last_decay = create_global_var([1], decay, "float32", True, name=unique_name.generate(f"{stem}_decay"))
        self._kept: dict[str, np.ndarray] = {}

    def update(self) -> None:
        """Appends the ops that update the averages. Call it behind the `minimize` of the optimizer."""
        decay: Any = self._decay
        if self._thres_steps is not None:
            steps = self._thres_steps.astype("float32").reshape([1])
            decay = minimum((steps + 1.0) / (steps + 10.0), self._last_decay * 0.0 + self._decay)
            assign(decay, self._last_decay)
        assign(self._steps + 1, self._steps)
        for name, average in self._averages.items():
            parameter = self._program.parameters[name]
            assign(average * decay + parameter * (1.0 - decay), average)

    @contextlib.contextmanager
    def apply(self, executor: Any, need_restore: bool = True) -> Iterator[None]:
        """Puts the averages in the place of the parameters until the end of the block.

        Args:
            executor: accepted as PaddlePaddle has it; the values are those of the global scope.
            need_restore: False: they stay there, until `restore`.
        """
        steps, decay = (float(self._value(t.name)[0]) for t in (self._steps, self._last_decay))
        whole = 1.0 - decay**steps if steps else 1.0
        new = {name: (self._value(average.name) / whole).astype(average.dtype) for name, average in self._averages.items()}
        self._kept = {name: np.array(self._value(name)) for name in new}
        self._program.set_state_dict(new)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any) -> None:
        """Gives the parameters back what they had before `apply`; nothing, if that is done already."""
        self._program.set_state_dict(self._kept)
        self._kept = {}

    def _value(self, name: str) -> np.ndarray:
        return self._program.value_of(self._program.global_block().var(name), global_scope())
