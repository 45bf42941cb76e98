"""Locks that a process made by fork can take, although another thread had them when it was made.

That thread is not in the new process, so nobody there would ever give the lock back. What such a lock guards is changed by whole
assignments, so that the new process finds nothing half done that it could not do again.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

_locks: set[weakref.ref] = set()
"""Changed by one call each, which no thread of Python's can be in the middle of when another one forks."""


def lock() -> Any:
    """A `threading.Lock` that is free after a fork."""
    return _kept(threading.Lock())


def reentrant_lock() -> Any:
    """A `threading.RLock` that is free after a fork."""
    return _kept(threading.RLock())


def _kept(made: Any) -> Any:
    _locks.add(weakref.ref(made, _locks.discard))
    return made


def _free_all() -> None:
    found = [made for known in [*_locks] if (made := known()) is not None]
    for made in [*found, *_locks_of_properties()]:
        made._at_fork_reinit()  # what the standard library does to its own


def _locks_of_properties() -> Iterator[Any]:
    """What each cached property of our classes holds while it is computed, for any object (before Python 3.12)."""
    if sys.version_info < (3, 12):
        for name, module in [*sys.modules.items()]:
            if name.startswith(("dy2st.", "dy2st_runtime.")):
                classes = [c for c in [*vars(module).values()] if isinstance(c, type) and c.__module__ == name]
                properties: Any = (p for c in classes for p in vars(c).values() if isinstance(p, functools.cached_property))
                yield from (p.lock for p in properties)


def afterwards(function: Callable[[], object]) -> None:
    """Has a function called in each process that this one makes by fork, where the system can do that."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def between_calls(library: contextlib.AbstractContextManager[Any]) -> None:
    """No fork while a thread is in a library of C, whose own locks nobody could free; `library` is held during each call of it."""
    if hasattr(os, "register_at_fork"):
        leave = functools.partial(library.__exit__, None, None, None)
        os.register_at_fork(before=library.__enter__, after_in_parent=leave, after_in_child=leave)


afterwards(_free_all)
