"""Running Programs: compile and cache, plan, drive. `make_executable` is the entry; it chooses by place and switches."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .. import config
from ..ir.program import Program


def runs_native() -> bool:
    """Whether the process has asked for a native executable on the CPU: then LLVM is loaded anyway."""
    return f"{__name__}.executable" in sys.modules


def make_executable(
    program: Program,
    feed_names: Sequence[str],
    fetch_names: Sequence[str],
    *,
    place: str = "cpu",
    absent_feeds: Sequence[str] = (),
) -> Any:
    """A Program ready to run with given feeds and fetches: see `executable.Executable`.

    Args:
        program: a verified Program; not changed.
        feed_names: data variables, in the order in which arrays will be given.
        fetch_names: variables to return.
        place: "cpu" or "cuda".
        absent_feeds: feeds that may be absent.

    Raises:
        DeviceError: the place is not available.
    """
    # the targets are imported when they are asked for: LLVM takes a while, numba-cuda may not be installed
    if config.NO_JIT.get():
        from .interpreted import InterpretedExecutable

        return InterpretedExecutable(program, feed_names, fetch_names, absent_feeds=absent_feeds)
    if place == "cuda":
        from .cuda import CudaExecutable

        return CudaExecutable(program, feed_names, fetch_names, absent_feeds=absent_feeds)
    from .executable import Executable

    return Executable(program, feed_names, fetch_names, absent_feeds=absent_feeds)
