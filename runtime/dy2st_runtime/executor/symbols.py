"""The symbols by which objects call routines."""

from __future__ import annotations

from llvmlite import binding as llvm

from .. import forks

LINKING = forks.reentrant_lock()
"""Held from giving addresses until what uses them is linked."""


def symbol(name: str) -> str:
    """What objects call a routine."""
    return f"dy2st_{name}"


def provide(name: str, address: int) -> None:
    """Gives a routine its address, for the objects that are linked from now on."""
    llvm.add_symbol(symbol(name), address)
