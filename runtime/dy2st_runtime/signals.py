"""Signals of the process: what native loops know of them, and changes that what a signal's handler raises does not leave half done.

Python calls the handlers of signals in the main thread, between two of its instructions. While a native program runs there are none, so its
loops look for signals themselves (`executor.looking`), by the words that lie at `address()`.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from . import forks

T = TypeVar("T")

PERIOD = 100_000_000
"""Nanoseconds after which a loop looks again."""
NEVER = 1 << 62
"""A moment that no clock reaches."""

# MAIN: the thread in which handlers are called. LOOKED: when it has looked last. ENSURE, CHECK, FETCH, RELEASE: functions of Python's.
# RAISED: what a handler has raised, three addresses.
MAIN, LOOKED, ENSURE, CHECK, FETCH, RELEASE, RAISED = range(7)
WORDS = RAISED + 3
WORD = 8

_OF_PYTHON = {ENSURE: "PyGILState_Ensure", CHECK: "PyErr_CheckSignals", FETCH: "PyErr_Fetch", RELEASE: "PyGILState_Release"}
_restore = ctypes.pythonapi["PyErr_Restore"]  # a function of its own: others may declare this one in other ways
_restore.argtypes, _restore.restype = [ctypes.c_void_p] * 3, None


@functools.cache
def _words() -> np.ndarray:
    words = np.zeros(WORDS, np.int64)
    for place, name in _OF_PYTHON.items():
        words[place] = ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p).value or 0

    def note_main() -> None:
        words[MAIN] = threading.main_thread().ident or 0

    note_main()
    forks.afterwards(note_main)
    return words


def address() -> int:
    """Where the words are, for native code."""
    return int(_words().ctypes.data)


class uninterrupted:
    """In the block, native loops of this thread do not look for signals: a handler is called behind them. It is on the way of each step."""

    __slots__ = ("_words",)

    def __enter__(self) -> None:
        self._words = words = _words()
        if threading.get_ident() == words.item(MAIN):
            words[LOOKED] = NEVER

    def __exit__(self, *_: object) -> None:
        if threading.get_ident() == self._words.item(MAIN):
            self._words[LOOKED] = 0


def raise_kept() -> None:
    """Raises what a handler has raised while a loop looked."""
    raised = _words()[RAISED:].tolist()
    _words()[RAISED:] = 0
    _restore(*(pointer or None for pointer in raised))


ATTEMPTS = 3


def whole(change: Callable[[], T], begun: Callable[[], bool]) -> T:
    """Makes a change that is not left half done: what the handler of a signal raises in the middle of it is raised behind it.

    Args:
        change: may be called again wherever it was left, and does what is left to do.
        begun: whether it is too late to do nothing.

    Returns:
        what `change` returns.
    """
    try:
        return change()
    except BaseException as error:
        if not begun():
            raise
        raised = error
    for _ in range(ATTEMPTS):
        try:
            change()
            break
        except BaseException as error:
            again = error
    else:
        raise again  # it was no signal
    raise raised
