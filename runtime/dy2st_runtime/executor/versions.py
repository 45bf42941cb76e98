"""Versions of dicts: whether an entry of any of many was set or deleted, asked at once.

CPython gives a dict another number whenever that is done, whoever does it and in whatever way (PEP 509); no number is given twice. It is
a word of the dict itself, behind the count of its entries. To look at thousands of them takes some microseconds, at what is in the dicts
some hundreds. From Python 3.13 on there is no such number to rely on (PEP 699); before, the dicts of this process are asked for it.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

WORD = 8
_OFFSET = 3 * WORD
"""Of the number in a dict: behind the reference count, the class, and the count of entries."""
_MANY = 40
"""Python replaces instructions that have run so often by others, which know the kind of object that they will find."""

_HELD = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
"""A routine during which no other thread runs Python."""


class Versions:
    """The versions that dicts had at one moment.

    Args:
        dicts: of the class `dict` or `OrderedDict`; they stay alive with this.

    >>> settings = {"a": 1}
    >>> before = Versions([settings, {}])
    >>> before.changed()
    False
    >>> settings["a"] = 2
    >>> before.changed(), before.again().differing(before)
    (True, [0])
    """

    def __init__(self, dicts: Sequence[dict]):
        self._have(dicts, np.array([id(d) + _OFFSET for d in dicts], np.int64), np.zeros(len(dicts), np.int64))
        self._note()

    def _have(self, dicts: Sequence[dict], places: np.ndarray, noted: np.ndarray) -> Versions:
        self._dicts, self._places, self._noted = dicts, places, noted
        self._record = np.array([len(dicts), places.ctypes.data, noted.ctypes.data], np.int64)
        self._address = int(self._record.ctypes.data)
        self._changed, self._note_words = _routines()
        return self

    def _note(self) -> None:
        self._note_words(self._address)

    def changed(self) -> bool:
        """Whether one has another version now."""
        return self._changed(self._address) != 0

    def again(self) -> Versions:
        """Those of the same dicts now."""
        new = Versions.__new__(Versions)._have(self._dicts, self._places, np.zeros_like(self._noted))
        new._note()
        return new

    def only(self, which: Sequence[int]) -> Versions:
        """The same of some of the dicts, by their positions."""
        return Versions.__new__(Versions)._have([self._dicts[i] for i in which], self._places[which], self._noted[which])

    def differing(self, other: Versions) -> list[int]:
        """Which are not those of `other`, of the same dicts: their positions."""
        return [int(i) for i in np.flatnonzero(self._noted != other._noted)]


@functools.cache
def _routines() -> tuple[Callable[[int], int], Callable[[int], int]]:
    from .executable import compiler

    changed, note = compiler().addresses([], ["changed_words", "note_words"])
    return _HELD(changed), _HELD(note)


@functools.cache
def are_kept() -> bool:
    """Whether the dicts of this process have versions: each kind of change is tried on each kind of dict."""
    # Python 3.13 sets attributes without a new number where their values are in the object
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 13) or ctypes.sizeof(ctypes.c_void_p) != WORD:
        return False
    # their dicts have their keys in common; as long as nothing but attributes is set, the values may be in the object (Python 3.13)
    objects, fresh = [_Plain() for _ in range(5)], [_Plain() for _ in range(5)]
    dicts: list[dict] = [{"a": 0}, dict.fromkeys(range(9)), OrderedDict(a=0), *map(vars, objects)]
    return all(map(_changes_with_attributes, [*fresh, type("Own", (), {"a": 0})])) and all(map(_changes_with_each, dicts))


class _Plain:
    def __init__(self) -> None:
        self.a = self.b = 0


def version(d: dict) -> int:
    """The version of one dict."""
    return _word(id(d) + _OFFSET)


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _are_distinct(d: dict, changes: Sequence[Callable[[], object]]) -> bool:
    """Whether each of these changes gives a dict another version, and nothing else does."""
    seen = [version(d)]
    for change in changes:
        change()
        seen.append(version(d))
        dict.get(d, "a"), len(d), [*d.items()]
        if version(d) != seen[-1]:
            return False
    return len(set(seen)) == len(seen)


def _changes_with_each(d: dict) -> bool:
    one, two = object(), object()
    return _are_distinct(d, [
        lambda: d.__setitem__("a", one), lambda: d.update(a=two), lambda: d.setdefault("new", one), lambda: d.pop("new"),
        lambda: d.__ior__({"new": two}), lambda: d.__delitem__("new"), lambda: d.popitem(), d.clear, lambda: d.update(a=one, b=two),
    ])  # fmt: skip


def _changes_with_attributes(x: object) -> bool:
    kind: Any = type if isinstance(x, type) else object

    def assign() -> None:
        x.a = object()  # type: ignore[attr-defined]

    return _are_distinct(namespace(x) if isinstance(x, type) else vars(x), [
        *[assign] * _MANY, lambda: kind.__setattr__(x, "a", 1), lambda: kind.__setattr__(x, "new", 1),
        lambda: kind.__delattr__(x, "new"), lambda: delattr(x, "a"), assign,
    ])  # fmt: skip


def namespace(cls: type) -> dict:
    """The dict that a class has its attributes in, behind the view that `vars` gives."""
    (found,) = gc.get_referents(vars(cls))
    assert isinstance(found, dict)
    return found
