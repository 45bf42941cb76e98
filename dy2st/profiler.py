"""Where the time of static calls goes: for each op, and for each line of the user's source. The names are those of `paddle.profiler`::

    with profiler.Profiler(on_trace_ready=profiler.export_chrome_tracing("traces")) as prof:
        for batch in loader:
            train_step(batch)
            prof.step()
    prof.summary()

What runs natively is recorded: functions that `to_static` made, `static.Executor`, loaded models. Eager ops are not, nor runs on
CUDA. While nothing is recorded, runs are as if there was no profiler; while something is, each kernel takes some 50 nanoseconds more.
"""

from __future__ import annotations

import enum
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from dy2st_runtime import config
from dy2st_runtime.executor import clock, profile
from dy2st_runtime.executor.executable import profiling_driver
from dy2st_runtime.executor.plans import Plan

from .errors import Location, ModeError, shorten_path
from .missing_names import explain_missing as _explain_missing

__all__ = ["Profiler", "ProfilerState", "ProfilerTarget", "RecordEvent", "SortedKeys", "export_chrome_tracing", "make_scheduler"]


class ProfilerState(enum.Enum):
    """What a profiler does at a step. RECORD_AND_RETURN: it is the last one of a recording."""

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3


class ProfilerTarget(enum.Enum):
    """What is profiled."""

    CPU = 0
    GPU = 1


class SortedKeys(enum.Enum):
    """What `summary` sorts by."""

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Callable[[int], ProfilerState]:
    """Steps to record: after `skip_first`, again and again (`repeat` times; 0: without end) `closed` and `ready` steps that are not
    recorded, and `record` that are.

    >>> schedule = make_scheduler(closed=1, ready=0, record=2, repeat=1)
    >>> [schedule(i).name for i in range(4)]
    ['CLOSED', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """

    def schedule(step: int) -> ProfilerState:
        length = closed + ready + record
        step -= skip_first
        if step < 0 or (repeat > 0 and step >= repeat * length):
            return ProfilerState.CLOSED
        at = step % length
        if at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD if at < length - 1 else ProfilerState.RECORD_AND_RETURN

    return schedule


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """An `on_trace_ready` that writes each recording to a file of its own in a folder, which is made; Perfetto opens them."""

    def export(prof: Profiler) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"host_{socket.gethostname()}_pid_{os.getpid()}"
        stamp = time.strftime("%Y_%m_%d_%H_%M_%S")
        prof.export(os.path.join(dir_name, f"{worker}_time_{stamp}_{prof.recordings}.paddle_trace.json"))

    return export


@dataclass
class Entry:
    """The time of an op, or of some lines of the source. Times are nanoseconds.

    Attributes:
        name: the op, or the place.
        places: the lines that it comes from; several, if they run as one kernel.
        ops: the ops of a line.
    """

    name: str
    places: list[Location]
    calls: int = 0
    total: int = 0
    longest: int = 0
    shortest: int = 0
    ops: set[str] = field(default_factory=set)

    @property
    def average(self) -> float:
        return self.total / self.calls

    def add(self, calls: int, total: int, times: Sequence[int]) -> None:
        known = times or [total // calls]
        self.shortest = min([*known, self.shortest] if self.calls else known)
        self.longest = max(self.longest, *known)
        self.calls += calls
        self.total += total


@dataclass(frozen=True)
class _Event:
    name: str
    thread: int
    begun: int
    ended: int


class Profiler:
    """Records runs from `start` to `stop`, or within a `with`.

    Args:
        targets: only the CPU is there.
        scheduler: which steps to record: a function of the step's number (`make_scheduler`), a pair (first, end), or None: all.
        on_trace_ready: called with the profiler when a recording ends.
        timer_only: record nothing, only count steps (`step_info`).

    Raises:
        ModeError: another profiler is recording, or `DY2ST_NO_JIT` keeps runs from being native.

    >>> import dy2st as paddle
    >>> @paddle.jit.to_static
    ... def scaled(x):
    ...     return paddle.matmul(x, x) * 2.0
    >>> x = paddle.ones([2, 2])
    >>> with Profiler() as prof:
    ...     y = scaled(x)
    >>> [entry.name for entry in prof.ops]
    ['matmul_v2', 'scale']
    """

    def __init__(self, *, targets: Iterable[ProfilerTarget] | None = None,
                 scheduler: Callable[[int], ProfilerState] | tuple[int, int] | None = None,
                 on_trace_ready: Callable[[Profiler], Any] | None = None, timer_only: bool = False) -> None:  # fmt: skip
        if targets is not None and set(targets) != {ProfilerTarget.CPU}:
            raise ModeError("only ProfilerTarget.CPU can be profiled")
        if isinstance(scheduler, tuple):
            first, end = scheduler
            scheduler = make_scheduler(closed=max(first, 0), ready=0, record=end - max(first, 0), repeat=1)
        self.scheduler: Callable[[int], ProfilerState] = scheduler or (lambda step: ProfilerState.RECORD)
        self.on_trace_ready, self.timer_only = on_trace_ready, timer_only
        self.step_num = 0
        self.recordings = 0
        self._recording: profile.Recording | None = None
        self._runs: list[profile.Run] = []
        self._events: list[_Event] = []
        self._steps: list[tuple[int, int | None]] = []
        self._step_begun = 0

    # ---- recording ----
    def start(self) -> None:
        """Begins with the first step."""
        self._step_begun = clock.nanoseconds()
        self._follow(self.scheduler(self.step_num))

    def step(self, num_samples: int | None = None) -> None:
        """Ends a step, and begins the next."""
        now = clock.nanoseconds()
        self._steps.append((now - self._step_begun, num_samples))
        if self._recording is not None:
            self._events.append(_Event(f"ProfileStep#{self.step_num}", threading.get_ident(), self._step_begun, now))
        if self.scheduler(self.step_num) is ProfilerState.RECORD_AND_RETURN:
            self._end()
        self.step_num += 1
        self._step_begun = clock.nanoseconds()
        self._follow(self.scheduler(self.step_num))

    def stop(self) -> None:
        """Ends."""
        self._end()

    def _follow(self, state: ProfilerState) -> None:
        recording = state in (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN) and not self.timer_only
        if recording and self._recording is None:
            if config.NO_JIT.get():
                raise ModeError("nothing runs natively under DY2ST_NO_JIT, so there is nothing to profile")
            profiling_driver()
            try:
                self._recording = profile.start()
            except RuntimeError:
                raise ModeError("another profiler is recording") from None
            self._runs, self._events = self._recording.runs, []
            _open.append(self)
        elif not recording:
            self._end()

    def _end(self) -> None:
        if self._recording is None:
            return
        profile.stop()
        _open.remove(self)
        self._recording = None
        self.recordings += 1
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()

    # ---- results ----
    @property
    def ops(self) -> list[Entry]:
        """The time of each op of the last recording, the longest first. Elementwise ops that run as one are one entry."""
        return self._entries(lambda name, places: name)

    @property
    def lines(self) -> list[Entry]:
        """The time of each line of the user's source. Lines whose ops run as one kernel (a loop on numbers, say) are one entry."""
        return self._entries(lambda name, places: _place(places))

    def _entries(self, key: Callable[[str, list[Location]], str]) -> list[Entry]:
        found: dict[str, Entry] = {}
        known: dict[tuple[int, int], tuple[str, list[Location]]] = {}
        for run in self._runs:
            times: dict[int, list[int]] = {}
            for instruction, begun, ended in run.events.tolist():
                times.setdefault(instruction, []).append(ended - begun)
            for instruction in run.totals[:, 0].nonzero()[0].tolist():
                where = id(run.plan), instruction
                if where not in known:
                    known[where] = profile.kernel_name(run.plan, instruction), profile.places(run.plan, instruction)
                name, places = known[where]
                text = key(name, places)
                entry = found.setdefault(text, Entry(text, places))
                calls, total = run.totals[instruction].tolist()
                entry.add(calls, total, times.get(instruction, []))
                entry.ops.add(name)
        return sorted(found.values(), key=lambda e: -e.total)

    def summary(self, sorted_by: SortedKeys = SortedKeys.CPUTotal, op_detail: bool = True, thread_sep: bool = False,
                time_unit: str = "ms", views: Any = None) -> None:  # fmt: skip
        """Prints the times of ops (if `op_detail`) and of lines, in "s", "ms", "us" or "ns"."""
        units = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
        if time_unit not in units:
            raise ModeError(f"time_unit must be one of {', '.join(units)}, got {time_unit!r}")
        native = sum(run.ended - run.begun for run in self._runs)
        engines = ", ".join(dict.fromkeys(run.engine for run in self._runs))
        print(f"{len(self._runs)} native runs{f' (engine: {engines})' if engines else ''}, {native / units[time_unit]:.3f} {time_unit}; "
              "the kernels of each op and line:")  # fmt: skip
        for title, entries in (("op", self.ops if op_detail else []), ("line", self.lines)):
            if entries:
                print(_table(title, entries, sorted_by, native, units[time_unit], time_unit))
        dropped = sum(run.dropped for run in self._runs)
        if dropped:
            print(f"{dropped} launches are in these sums, but not in the trace")

    def step_info(self, unit: str = "samples") -> str:
        """The mean time of the steps so far, as text, and how many samples a second if `step` was told their number."""
        if not self._steps:
            return ""
        seconds = sum(t for t, _ in self._steps) / 1e9
        text = f"batch_cost: {seconds / len(self._steps):.5f} s"
        samples = [n for _, n in self._steps if n is not None]
        return f"{text} ips: {sum(samples) / seconds:.3f} {unit}/s" if samples else text

    def export(self, path: str, format: str = "json") -> None:
        """Writes the last recording as a trace in Chrome's JSON format, which Perfetto (ui.perfetto.dev) opens.

        Raises:
            ModeError: the format is not "json".
        """
        if format != "json":
            raise ModeError(f"traces are written as json, not as {format!r}")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"displayTimeUnit": "ms", "traceEvents": self._trace()}, f)

    def _trace(self) -> list[dict[str, Any]]:
        process, rows = os.getpid(), []
        kernels: dict[tuple[int, int], tuple[str, dict[str, str]]] = {}

        def row(name: str, category: str, thread: int, begun: int, ended: int, arguments: dict[str, str] | None = None) -> None:
            rows.append({"name": name, "cat": category, "ph": "X", "ts": begun / 1e3, "dur": (ended - begun) / 1e3, "pid": process,
                         "tid": thread, "args": arguments or {}})  # fmt: skip

        for event in self._events:
            row(event.name, "user", event.thread, event.begun, event.ended)
        for run in self._runs:
            title = _title(run.plan) + (" (resumed)" if run.resumed else "")
            row(title, "run", run.thread, run.begun, run.ended, {"engine": run.engine})
            for instruction, begun, ended in run.events.tolist():
                where = id(run.plan), instruction
                if where not in kernels:
                    places = profile.places(run.plan, instruction)
                    source = "\n".join(p.text.strip() for p in places)
                    kernels[where] = profile.kernel_name(run.plan, instruction), {"line": _place(places), "source": source}
                name, arguments = kernels[where]
                row(name, "op", run.thread, begun, ended, arguments)
        return rows


_open: list[Profiler] = []


class RecordEvent:
    """A span of the user's program in the trace: within a `with`, or from `begin` to `end`."""

    def __init__(self, name: str, event_type: Any = None) -> None:
        self.name, self.event_type = name, event_type
        self._begun = 0

    def begin(self) -> None:
        """The span begins."""
        self._begun = clock.nanoseconds()

    def end(self) -> None:
        """The span ends."""
        for prof in _open:
            prof._events.append(_Event(self.name, threading.get_ident(), self._begun, clock.nanoseconds()))

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.end()


def _title(plan: Plan) -> str:
    """The function that a plan was traced from."""
    place = next((op.location for op in plan.ops if op is not None and op.location is not None), None)
    while place is not None and place.caller is not None:
        place = place.caller
    return "a program" if place is None else f"{place.function or 'program'} ({shorten_path(place.file)}:{place.line})"


def _place(places: list[Location]) -> str:
    """`file:3`, or `file:3-5, 9` where several lines run as one kernel."""
    lines: dict[str, list[list[int]]] = {}
    for p in places:
        spans = lines.setdefault(shorten_path(p.file), [])
        if spans and p.line == spans[-1][1] + 1:
            spans[-1][1] = p.line
        else:
            spans.append([p.line, p.line])
    shown = [f"{file}:{', '.join(str(a) if a == b else f'{a}-{b}' for a, b in spans)}" for file, spans in lines.items()]
    return "; ".join(shown) or "(no line of the user's)"


def _table(title: str, entries: list[Entry], sorted_by: SortedKeys, native: int, unit: float, unit_name: str) -> str:
    keys: dict[SortedKeys, Callable[[Entry], float]] = {
        SortedKeys.CPUTotal: lambda e: -e.total, SortedKeys.CPUAvg: lambda e: -e.average,
        SortedKeys.CPUMax: lambda e: -e.longest, SortedKeys.CPUMin: lambda e: e.shortest,
    }  # fmt: skip
    ordered = sorted(entries, key=keys[sorted_by])
    width = max(len(title), *(len(e.name) for e in ordered))
    lines = [f"{title:<{width}}  {'calls':>8}  {'total ' + unit_name:>12}  {'average':>10}  {'longest':>10}  {'of all':>6}"]
    for e in ordered:
        share = f"{100 * e.total / max(native, 1):.1f}%"
        text = e.places[0].text.strip() if title == "line" and len(e.places) == 1 else ""
        lines.append(f"{e.name:<{width}}  {e.calls:>8}  {e.total / unit:>12.3f}  {e.average / unit:>10.4f}  {e.longest / unit:>10.4f}  "
                     f"{share:>6}" + (f"  {text}" if text else ""))  # fmt: skip
    return "\n".join(lines)


_explain_missing(__name__)
