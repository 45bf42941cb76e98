"""A word on static functions that eager mode would run faster: those of few operations on small tensors."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..tensor import Tensor
from ..tensor.location import warn

if TYPE_CHECKING:
    from .concrete import ConcreteProgram

FEW = 12
"""A function of more operations than these is not watched: in eager mode they cost more than a call."""
SETTLED, JUDGED = 200, 260
"""The calls before the one are warming up; those before the other are timed, and the quickest counts."""
MARGIN = 1.5
"""Operations of eager mode differ in cost: what is within this of the time of simple ones is as fast."""


class Pace:
    """Times some calls of a trace, and says once if eager mode would take less.

    A static call costs some 15 microseconds beside its kernels (what the arguments are, whether all outside is as it was, the results),
    an operation of eager mode two to three.

    Args:
        concrete: the trace, of few operations: see `is_short`.
        name: of the function, for the warning.
    """

    def __init__(self, concrete: ConcreteProgram, name: str):
        self.concrete, self.name = concrete, name
        self.calls = 0
        self.least = self.least_native = math.inf
        self.native = 0.0

    def called(self, seconds: float) -> bool:
        """A call has taken so long; whether no more calls need to be timed."""
        self.calls += 1
        if self.calls == SETTLED:
            if not all(hasattr(executable, "note_native_time") for executable in self.concrete.executables.values()):
                return True  # what runs it is there to find errors, or runs it elsewhere; its class is not named, as that would load LLVM
            self._watch(self._add)
        elif self.calls > SETTLED:
            self.least, self.least_native = min(self.least, seconds), min(self.least_native, self.native)
        self.native = 0.0
        if self.calls < JUDGED:
            return False
        self._watch(None)
        self._judge()
        return True

    def _add(self, seconds: float) -> None:
        self.native += seconds

    def _watch(self, note: Callable[[float], None] | None) -> None:
        for executable in self.concrete.executables.values():
            executable.note_native_time(note)

    def _judge(self) -> None:
        count = len(self.concrete.program.global_block().ops)
        eager = count * eager_cost() + self.least_native
        if self.least > eager * MARGIN:
            warn(
                f"{self.name}: a static call takes {1e6 * self.least:.0f} microseconds, its {count} operation{'s' * (count > 1)} some "
                f"{1e6 * eager:.0f} in eager mode: a call costs more than a few operations on small tensors. Make static what calls it, or "
                "leave it eager"
            )


def is_short(concrete: ConcreteProgram) -> bool:
    """Whether a trace has so few operations that eager mode may be faster: no loops, branches or calls, nothing for Python to do."""
    ops = concrete.program.global_block().ops
    return 0 < len(ops) <= FEW and not any(op.blocks or op.function or op.record.host or op.record.effect for op in ops)


@functools.cache
def eager_cost() -> float:
    """The seconds of a simple operation in eager mode, on this machine."""
    x = Tensor(np.ones(8, np.float32))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(20):
            x + x
        times.append(time.perf_counter() - start)
    return min(times) / 20
