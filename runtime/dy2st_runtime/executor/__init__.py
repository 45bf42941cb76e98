"""Running Programs: compile and cache, plan, drive. `make_executable` is the entry; it chooses by place and switches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import config, nonfinite
from .state import Given as Given

if TYPE_CHECKING:
    from ..ir.program import Program


def runs_native() -> bool:
    """Whether the process has asked for a native executable on the CPU: then LLVM is loaded anyway."""
    return f"{__name__}.executable" in sys.modules


def has_versions() -> bool:
    """Whether Python gives dicts versions, and something runs natively that can look at them."""
    if not runs_native():
        return False
    from .versions import are_kept

    return are_kept()


def versions_of(holders: Sequence[Any]) -> Any:
    """The versions of dicts, and the classes of what is referred to, now (see `versions.Versions`); None if there are none."""
    if not has_versions():
        return None
    from .versions import Versions

    return Versions(holders)


def identities_of(objects: Sequence[Any]) -> Any:
    """Who these objects are: see `identities.Identities`."""
    from .identities import Identities, PlainIdentities, are_told

    return Identities(objects) if runs_native() and are_told() else PlainIdentities(objects)


def interprets() -> bool:
    """Whether Programs are run op by op, by the reference interpreter."""
    return nonfinite.watching or config.NO_JIT.get()


_begun = False
"""Whether a block of `compiling_ahead` has begun."""


def compiling_ahead() -> contextlib.AbstractContextManager[None]:
    """A block in which a second process compiles what nearly every model needs, if nobody has compiled it on this machine: for the first
    trace of a process, which takes as long. Blocks after the first do nothing."""
    global _begun
    if _begun or interprets():
        return contextlib.nullcontext()
    _begun = True
    from .compile import USUAL, compiler

    return compiler().beginning(USUAL)


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
    if interprets():
        from .interpreted import InterpretedExecutable

        return InterpretedExecutable(program, feed_names, fetch_names, absent_feeds=absent_feeds)
    if place == "cuda":
        from .cuda import CudaExecutable

        return CudaExecutable(program, feed_names, fetch_names, absent_feeds=absent_feeds)
    from .executable import Executable

    return Executable(program, feed_names, fetch_names, absent_feeds=absent_feeds)
