"""Recordings of native runs: how long each kernel took.

While a recording is on, runs go by another driver (the `profiling_driver`), which is compiled before the first; the kernels and the
plan are the same. Without one nothing of this is compiled or called.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import forks
from ..codegen import layout
from ..errors import Location
from ..ir.visit import all_ops
from ..loopir.nodes import Kernel
from ..ops.fused import GROUPS
from .frame import Frame
from .plans import Plan

EVENTS_OF_A_RUN = 1 << 16
EVENTS = 1 << 21
"""How many launches are kept one by one; those beyond are only in the totals."""


@dataclass
class Run:
    """What the driver did from one entry to the next return. Times are nanoseconds of `clock.nanoseconds`.

    Attributes:
        engine: what has compiled its kernels.
        resumed: it went on after a `suspend`, say with the backward part.
        events: rows of instruction, begin, end.
        totals: for each instruction how often it launched its kernel, and the time.
    """

    plan: Plan
    engine: str
    thread: int
    resumed: bool
    begun: int
    ended: int
    events: np.ndarray
    totals: np.ndarray

    @property
    def dropped(self) -> int:
        """How many launches are in the totals only."""
        return int(self.totals[:, 0].sum()) - len(self.events)


class Recording:
    """The runs of all threads while it is on."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._lock = forks.lock()
        self._room = EVENTS

    @contextlib.contextmanager
    def noting(self, plan: Plan, engine: str, frame: Frame) -> Iterator[None]:
        """Within this `with` the profiling driver runs a plan, with kernels by a compiler, on a frame."""
        from .clock import nanoseconds  # which has code of the driver, too

        totals = np.zeros((len(plan.code), 2), np.int64)
        events = np.empty((min(EVENTS_OF_A_RUN, self._room), 3), np.int64)
        notes = np.array([totals.ctypes.data, events.ctypes.data, 0, len(events)], np.int64)
        frame.arguments[layout.NOTES] = notes.ctypes.data
        resumed, begun = bool(frame.arguments[layout.START] != 0), nanoseconds()
        try:
            yield
        finally:
            ended = nanoseconds()
            used = events[: notes[layout.NOTE_COUNT]].copy()
            with self._lock:
                self._room = max(self._room - len(used), 0)
                self.runs.append(Run(plan, engine, threading.get_ident(), resumed, begun, ended, used, totals))


_active: Recording | None = None


def active() -> Recording | None:
    """The recording that is on."""
    return _active


def start() -> Recording:
    """Records all runs that begin from now on.

    Raises:
        RuntimeError: there is a recording already.
    """
    global _active
    if _active is not None:
        raise RuntimeError("there is a recording already")
    _active = Recording()
    return _active


def stop() -> None:
    """Ends the recording."""
    global _active
    _active = None


def kernel_of(plan: Plan, instruction: int) -> Kernel:
    """What an instruction launches."""
    launch = plan.kernels[plan.records[plan.code[instruction][1]].kernel]
    return launch.kernel


def kernel_name(plan: Plan, instruction: int) -> str:
    """The op, with the kernel's label where one op has several kernels."""
    op, label = plan.ops[instruction], kernel_of(plan, instruction).label
    if op is None or label.startswith(op.type):
        return label
    return f"{op.type} ({label})"


def places(plan: Plan, instruction: int) -> list[Location]:
    """The places in the user's source that the kernel of an instruction comes from: those of all ops in it, if it is a group or a
    whole loop; each line once."""
    op = plan.ops[instruction]
    if op is None:
        return []
    whole = kernel_of(plan, instruction).label != "copy"
    inside = [inner for block in op.blocks for inner in all_ops(block)] if whole else []
    ops = inside if op.type in GROUPS else [op, *inside]
    found = {(x.location.file, x.location.line): x.location for x in ops if x.location is not None}
    return [found[key] for key in sorted(found)]
