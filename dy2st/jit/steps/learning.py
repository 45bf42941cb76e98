"""What is known of the training loop around a trace: whether its steps are alike, and what runs them as one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dy2st_runtime import nonfinite
from dy2st_runtime.executor import interprets, runs_native

from ...tensor import Tensor, dispatch, watching
from ..captures import View
from ..signature import Arguments
from .deferral import Deferral, RunLater
from .joined import JoinedStep
from .recording import Recording
from .script import Script, are_leaves_apart, wanting

if TYPE_CHECKING:
    from ..concrete import ConcreteProgram

ALIKE = 3
"""The steps in a row that must be alike before they are joined."""
SHARE = 0.5
"""Of the time that compiling is thought to take, the steps must have taken this much: the loop goes on, then."""
CREDIT = 8
"""So many steps may go otherwise than before until nothing is learned any more; each that does not gives one back."""


class Steps:
    """The steps of a loop that calls a trace. It does not refer to the trace, which is freed as soon as nobody calls it any more.

    Attributes:
        joined: what runs a step as one; None as long as there is none.
        credit: how many steps may still go otherwise.
    """

    def __init__(self) -> None:
        self.joined: JoinedStep | None = None
        self.credit = CREDIT
        self._script: Script | None = None
        self._recording: Recording | None = None
        self._alike = 0
        self._since = 0.0

    # ---- a call ----
    def deferred(self, concrete: ConcreteProgram, arguments: Arguments, view: View, run: RunLater) -> list[Tensor] | None:
        """The results of a call that waits for the rest of the step; None: it is to run now. `run`: see `Deferral.begin`."""
        joined = self.joined
        if joined is None or not dispatch.is_grad_enabled() or nonfinite.watching:
            return None
        if watching.state.watch is not None:
            watching.end()
        return Deferral.begin(self, concrete, joined, arguments.tensors(), view, run)

    def called(self, concrete: ConcreteProgram, inputs: Sequence[Tensor], results: Sequence[Tensor], view: View) -> None:
        """A call has run, and computed these results."""
        if self.credit <= 0 or self.joined is not None or not (runs_native() and dispatch.is_grad_enabled()) or interprets():
            return
        watching.end()
        trained = [t for t in view.tensors if not t._stop]
        # a trace may know one tensor as two variables: weights that were tied since; its gradient is the sum of theirs
        is_each_once = len({*map(id, trained)}) == len(trained)
        if is_each_once and are_leaves_apart(wanting(inputs), {*map(id, view.tensors)}):
            self._recording = Recording(self, concrete, inputs, results, trained)
        else:
            self.not_learned()

    # ---- what was learned ----
    def learned(self, concrete: ConcreteProgram, script: Script) -> None:
        """A step was written down as a whole."""
        self._recording = None
        if self._script is None or not script.is_like(self._script):
            self._script, self._alike, self._since = script, 0, time.perf_counter()
            self.credit -= 1
        self._alike += 1
        if self._alike < ALIKE or time.perf_counter() - self._since < SHARE * concrete.training().seconds:
            return
        self.joined = JoinedStep.of(concrete, script)
        self._script = None
        concrete.pace = None  # what a call takes by itself says nothing now
        if self.joined is None:
            self.credit = 0
        else:
            concrete.training().executable.free()  # which waits for calls that leave the script

    def not_learned(self) -> None:
        """Something came in between."""
        self._recording = None
        self.credit -= 1

    def followed(self) -> None:
        """A step went as the ones before."""
        self.credit = min(self.credit + 1, CREDIT)

    def diverged(self, forever: bool = False) -> None:
        """A step did not go as the ones before."""
        self.credit -= 1
        if self.credit <= 0 or forever:
            self.joined, self.credit = None, 0
