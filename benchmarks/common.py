"""Timing and the table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dy2st_runtime.executor.executable import Executable, Session


@dataclass
class Row:
    """One measured figure. `limit`: what it must stay below, if the project promises that."""

    name: str
    value: float
    unit: str
    limit: float | None = None

    def __str__(self) -> str:
        verdict = (
            "" if self.limit is None else f"   (limit {self.limit:g}: {'ok' if self.value <= self.limit else 'MISSED'})"
        )
        return f"  {self.name:<58}{self.value:>10.3f} {self.unit}{verdict}"


def median_seconds(fn: Callable[[], object], repeat: int = 15, warm_up: int = 2) -> float:
    """The median time of a call."""
    for _ in range(warm_up):
        fn()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        fn()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def in_turn(*fns: Callable[[], object], repeat: int = 15) -> list[float]:
    """Medians of several functions called in turn, so that a drift of the machine's speed meets all of them."""
    return [statistics.median(t) for t in _times(fns, repeat)]


def fastest_in_turn(*fns: Callable[[], object], repeat: int = 15) -> list[float]:
    """Minima of several functions called in turn: what is left where others use the machine's cores too."""
    return [min(t) for t in _times(fns, repeat)]


def _times(fns: Sequence[Callable[[], object]], repeat: int) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in fns]
    for round_ in range(repeat + 2):
        for fn, mine in zip(fns, times, strict=True):
            start = time.perf_counter()
            fn()
            if round_ >= 2:
                mine.append(time.perf_counter() - start)
    return times


def on_bound(executable: Executable, values: Sequence[np.ndarray[Any, Any]]) -> Callable[[], None]:
    """A function that runs an executable natively on inputs that are bound already."""
    session = Session(executable, list(values), {})

    def run() -> None:
        session._go_on(0)
        session.advance()

    return run
