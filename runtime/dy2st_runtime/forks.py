"""Locks that a process made by fork can take, although another thread had them when it was made.

That thread is not in the new process, so nobody there would ever give the lock back. What such a lock guards is changed by whole
assignments, so that the new process finds nothing half done that it could not do again.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
import time
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


def between_calls(library: contextlib.AbstractContextManager[Any], *, calls_others: bool = False) -> None:
    """No fork while a thread is in a library of C, whose own locks nobody could free; `library` is held during each call of it.
    `calls_others`: the other libraries are called while it is held, so that it is taken before theirs.
    """
    _libraries.insert(0 if calls_others else len(_libraries), library)


_libraries: list[contextlib.AbstractContextManager[Any]] = []
_held: list[contextlib.AbstractContextManager[Any]] = []
"""The libraries that the thread which forks has taken."""
_IMPORTED = {"dy2st", "dy2st_runtime", "llvmlite", "numba", "numpy", "scipy", "google", "gast", "astor", *sys.stdlib_module_names}
"""The packages of which parts are imported when they are needed, by us or by one another (`numpy.unique` imports `numpy.ma`). Others may be
programs, whose import ends when they do."""


def _before() -> None:
    # a library may import something when it is called, and what is imported may call a library
    while True:
        while _others_import():
            time.sleep(0.001)
        taken = [*_libraries]
        for library in taken:
            library.__enter__()
        if not _others_import():
            break
        _leave(taken)
    _held[:] = taken


def _after() -> None:
    taken = [*_held]
    _held.clear()
    _leave(taken)


def _leave(libraries: list[contextlib.AbstractContextManager[Any]]) -> None:
    for library in reversed(libraries):
        library.__exit__(None, None, None)


def _others_import() -> bool:
    """Whether another thread is in an import of these. The new process would wait for ever for the lock of that module, and would have a
    part of it only.
    """
    known = [(name.partition(".")[0], reference()) for name, reference in [*_module_locks.items()]]
    importing = {lock.owner for package, lock in known if package in _IMPORTED and lock is not None} - {None}
    # a thread that forks while it imports one of them itself would wait for one that waits for it
    return bool(importing) and threading.get_ident() not in importing


# Python has no public name for the locks of modules that are being imported; one without them only forks as any program does
_module_locks: dict[str, Any] = getattr(importlib._bootstrap, "_module_locks", {})  # type: ignore[attr-defined]

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)

afterwards(_free_all)
