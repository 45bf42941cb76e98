"""A step of an optimizer as one native run.

The update ops of all parameters, with the clipping and the weight decay before them, are one Program: the parameters and their
moments are its state, which is written in place, the gradients its feeds, any of which may be absent. The ops are those that an
eager step runs one by one, so there is one definition of each optimizer. Where nothing else is native, the step of a small model runs
its ops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from dy2st_runtime.executor import interprets, make_executable, runs_native
from dy2st_runtime.ir import Block, Program
from dy2st_runtime.ops.control import ABSENT

from .. import unique_name
from ..static.recorder import ProgramRecorder
from ..tensor import Tensor, dispatch
from ..tensor.ownership import make_alone

Pairs = list[tuple[Tensor, Tensor]]

LARGE = 1 << 16
"""Elements of parameters from which a step loads LLVM where nothing else has: the script trains a model."""
LIMIT = 8
"""Programs that are made for one optimizer; one whose settings go on changing makes its steps op by op."""


class Steps(Protocol):
    """What is compiled."""

    skips_absent: bool

    def recipe(self, params: Sequence[Tensor]) -> Any:
        """All that the ops of a step depend on besides the values of tensors; None if nobody can tell."""

    def updates(self, params_grads: Pairs, rate: Tensor) -> None:
        """Makes the ops of a step; `rate` is the learning rate."""

    def get_lr(self) -> float: ...


class CompiledSteps:
    """The compiled step of an optimizer: for all parameters that have had a gradient so far, with the settings that it has."""

    def __init__(self) -> None:
        self.count = 0
        self._known: dict[int, Tensor] = {}
        self._recipe: Any = None
        self._step: CompiledStep | None = None

    def __reduce__(self) -> Any:
        return CompiledSteps, ()  # the copy of an optimizer compiles for its own parameters

    def run(self, optimizer: Steps, params_grads: Pairs) -> bool:
        """Makes a step; False: it is to be made op by op, as no Program can do it. The ops say why, where it is an error."""
        # for the steps of a small model alone, compiling would take longer than it saves
        if interprets() or not (runs_native() or sum(math.prod(p._value.shape) for p, _ in params_grads) >= LARGE):
            return False
        gradients = {id(p): g for p, g in params_grads}
        if len(gradients) != len(params_grads) or not all(map(_fit, params_grads)):
            return False
        if not gradients.keys() <= self._known.keys():
            self._known.update((id(p), p) for p, _ in params_grads)
        if not optimizer.skips_absent:
            self._known = {id(p): p for p, _ in params_grads}
        known = list(self._known.values())
        recipe = optimizer.recipe(known)
        if recipe is None:
            return False
        if self._step is None or recipe != self._recipe:
            if self.count == LIMIT:
                return False
            self.count += 1
            self._recipe, self._step = recipe, CompiledStep(known, optimizer.updates)
        self._step.run([gradients.get(key) for key in self._known], optimizer.get_lr())
        return True


def _fit(pair: tuple[Tensor, Tensor]) -> bool:
    p, g = (t._value for t in pair)
    return isinstance(p, np.ndarray) and isinstance(g, np.ndarray) and p.dtype == g.dtype and p.shape == g.shape


class _StepRecorder(ProgramRecorder):
    """What a step updates is state, also a tensor that is no Parameter."""

    def __init__(self, block: Block, params: Sequence[Tensor]) -> None:
        super().__init__(lambda: block)
        self._params = {id(p) for p in params}

    def is_state(self, t: Tensor) -> bool:
        return id(t) in self._params or super().is_state(t)


class CompiledStep:
    """The step of some parameters.

    Args:
        params: each once.
        updates: see `Steps.updates`; it gets symbolic gradients.
    """

    def __init__(self, params: Sequence[Tensor], updates: Callable[[Pairs, Tensor], None]) -> None:
        block = Program().global_block()
        recorder = _StepRecorder(block, params)
        grads = [block.create_var(f"{p.name}@GRAD", p.dtype, p._value.shape, is_data=True) for p in params]
        names = [v.name for v in grads]
        block.program.absent_feeds |= set(names)
        self._rate = np.zeros(1, np.float32)
        rate = Tensor.wrap(self._rate)
        rate.persistable, rate.name = True, "@LEARNING_RATE@"
        # names of the user's layers are counted too, and are not to depend on this
        with unique_name.guard(), dispatch.recording(recorder):
            updates(list(zip(params, map(Tensor.wrap, grads), strict=True)), rate)
        self._executable = make_executable(block.program, names, [], absent_feeds=names)
        self._state = [(name, recorder.captured[name]) for name in self._executable.state_names]
        written = self._executable.written
        self._written = [t for name, t in self._state if name in written]
        self._replaced = [(name, t) for name, t in self._state if name in self._executable.updates and name not in written]

    def run(self, grads: Sequence[Tensor | None], rate: float) -> None:
        """Updates the parameters with a gradient; those of the others and their moments stay as they are.

        Args:
            grads: for each parameter, with its shape and dtype.
        """
        self._rate[0] = rate
        for t in self._written:
            make_alone(t)
        state: dict[str, Any] = {name: t._value for name, t in self._state}

        def commit(values: Any) -> None:
            for name, t in self._replaced:
                t._value = state[name]

        self._executable.run([ABSENT if g is None else g._value for g in grads], state, commit=commit)
