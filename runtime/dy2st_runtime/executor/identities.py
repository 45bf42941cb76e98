"""Whether the objects in a list are those that were there before: hundreds of tensors have their arrays compared at each call."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

WORD = 8
_ITEMS = 3 * WORD
"""Of the address of its items in a list: behind the reference count, the class, and the length."""


class Identities:
    """Who some objects are, without keeping them alive: it says something only as long as none of them is gone.

    >>> a, b = [], []
    >>> known = Identities([a, b])
    >>> known.are([a, b]), known.are([b, a]), known.are([a])
    (True, False, False)
    """

    def __init__(self, objects: Sequence[Any]):
        self._ids = np.array([*map(id, objects)], np.int64)
        self._count, self._address = len(objects), int(self._ids.ctypes.data)
        self._differing = _routine()

    def are(self, objects: list[Any]) -> bool:
        """Whether these are the same in the same order."""
        return len(objects) == self._count and self._differing(id(objects) + _ITEMS, self._address, self._count) == 0


class PlainIdentities:
    """The same for processes that run nothing natively."""

    def __init__(self, objects: Sequence[Any]):
        self._ids = [*map(id, objects)]

    def are(self, objects: list[Any]) -> bool:
        """Whether these are the same in the same order."""
        return [*map(id, objects)] == self._ids


@functools.cache
def _routine() -> Callable[[int, int, int], int]:
    from .compile import compiler

    (address,) = compiler().addresses([], ["differing_items"])
    # a kind of function during which no other thread runs Python
    return ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)


@functools.cache
def are_told() -> bool:
    """Whether the lists of this process have their items where they are looked for."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != WORD or list.__basicsize__ < _ITEMS + WORD:
        return False
    items = [object(), object()]
    place = ctypes.c_int64.from_address(id(items) + _ITEMS).value
    return place > len(items) and [*(ctypes.c_int64 * 2).from_address(place)] == [*map(id, items)]
