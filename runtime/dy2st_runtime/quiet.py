"""Places where NumPy gives no warnings about infinity and NaN.

`np.errstate` takes longer than adding two small arrays. Since NumPy 2 what it sets belongs to the current `contextvars.Context`; so some
contexts in which NumPy is quiet are kept, and each call of an op runs in one that no other call is in:

    try:
        place = places.pop()
    except IndexError:
        place = new_place()
    try:
        place.run(function, *args)
    finally:
        places.append(place)

What runs there does not see the context variables of the caller, so it is no code of users.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np


class _Errstate:
    """The same for older versions of NumPy."""

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)


Place = contextvars.Context | _Errstate
places: list[Place] = []
"""Those that no call is in. Taking one out of a list and putting it back is atomic."""


def new_place() -> Place:
    return _Errstate() if _is_of_threads else _context()


def _context() -> contextvars.Context:
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return context


def _sets_whole_thread() -> bool:
    """Whether what is set in a context holds outside of it too: before NumPy 2."""
    before = np.seterr(all="warn")
    try:
        _context()
        return np.geterr()["over"] != "warn"
    finally:
        np.seterr(**before)


_is_of_threads = _sets_whole_thread()
