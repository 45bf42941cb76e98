"""Versions of dicts: whether an entry of any of many was set or deleted, asked at once; likewise whether objects have another class.

CPython gives a dict another number whenever that is done, whoever does it and in whatever way (PEP 509); no number is given twice. It is
a word of the dict itself, behind the count of its entries. An OrderedDict counts besides, in a word behind those of a dict, how often its
order has changed. The class of an object is a word of the object, and of a weak reference the object is one: None when it is gone. To look
at thousands of them takes some microseconds, at what is in the dicts some hundreds. From Python 3.13 on dicts have no such number to rely
on (PEP 699); before, those of this process are asked for it.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

WORD = 8
_OFFSET = 3 * WORD
"""Of the number in a dict: behind the reference count, the class, and the count of entries."""
_ORDER = dict.__basicsize__ + 5 * WORD
"""Of the count of changes of its order in an OrderedDict: behind its first and last node, a table of these, its size, and whose."""
_CLASS, _REFERENT = WORD, 2 * WORD
"""Of its class in an object, behind the reference count; of its object in a weak reference, behind the class."""
_MANY = 40
"""Python replaces instructions that have run so often by others, which know the kind of object that they will find."""

_HELD = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
"""A routine during which no other thread runs Python."""

Holder = dict | weakref.ref


class _Words:
    """Words in memory, and what they were at one moment.

    Args:
        owners: the position of the holder that each belongs to.
        after: other words, without a change of which these may be looked at.
    """

    def __init__(self, places: np.ndarray, owners: np.ndarray, noted: np.ndarray | None = None, after: _Words | None = None):
        self.places, self.owners, self.noted, self.after = places, owners, np.zeros_like(places) if noted is None else noted, after
        self._record = np.array([len(places), places.ctypes.data, self.noted.ctypes.data, 0], np.int64)
        self.address = int(self._record.ctypes.data)
        if after is not None:
            after._record[-1] = self.address
        if noted is None:
            _routines()[1](self.address)

    def only(self, which: Sequence[int], after: _Words | None = None) -> _Words:
        """Those of some of the holders, which get the positions that they have there, as they were."""
        position = {holder: i for i, holder in enumerate(which)}
        kept = np.isin(self.owners, which)
        owners = np.array([position[int(owner)] for owner in self.owners[kept]], np.int64)
        return _Words(self.places[kept], owners, self.noted[kept], after)

    def differing(self, other: _Words) -> np.ndarray:
        """The holders of those that are not as in `other`, of the same holders."""
        return self.owners[self.noted != other.noted]


class Versions:
    """The versions that dicts had at one moment, and the classes that objects had.

    Args:
        holders: of the class `dict` or `OrderedDict`, or weak references to objects. They stay alive with this, the objects do not: when
            one is gone its reference has changed.

    >>> settings = {"a": 1}
    >>> before = Versions([settings, {}])
    >>> before.changed()
    False
    >>> settings["a"] = 2
    >>> before.changed(), before.again().differing(before)
    (True, [0])
    """

    def __init__(self, holders: Sequence[Holder]):
        ordered = [i for i, h in enumerate(holders) if isinstance(h, OrderedDict)]
        places = [id(h) + (_REFERENT if isinstance(h, weakref.ref) else _OFFSET) for h in holders]
        places += [id(holders[i]) + _ORDER for i in ordered]
        self._note(holders, np.array(places, np.int64), np.array([*range(len(holders)), *ordered], np.int64))

    def _note(self, holders: Sequence[Holder], places: np.ndarray, owners: np.ndarray) -> Versions:
        self._have(holders, _Words(places, owners))
        # alive until their classes are noted; None for one that is gone
        objects = {i: h() for i, h in enumerate(holders) if isinstance(h, weakref.ref)}
        classes = np.array([id(x) + _CLASS for x in objects.values()], np.int64)
        self._classes = _Words(classes, np.array([*objects], np.int64), after=self._first)
        return self

    def _have(self, holders: Sequence[Holder], first: _Words) -> None:
        self._holders, self._first = holders, first
        self._changed, self._address = _routines()[0], first.address

    def changed(self) -> bool:
        """Whether one has another version or class now."""
        return self._changed(self._address) != 0

    def again(self) -> Versions:
        """Those of the same holders now."""
        return Versions.__new__(Versions)._note(self._holders, self._first.places, self._first.owners)

    def only(self, which: Sequence[int]) -> Versions:
        """The same of some of the holders, by their positions."""
        new = Versions.__new__(Versions)
        new._have([self._holders[i] for i in which], self._first.only(which))
        new._classes = self._classes.only(which, new._first)
        return new

    def differing(self, other: Versions) -> list[int]:
        """Which are not those of `other`, of the same holders: their positions."""
        differing = np.concatenate([self._first.differing(other._first), self._classes.differing(other._classes)])
        return [int(i) for i in np.unique(differing)]


@functools.cache
def _routines() -> tuple[Callable[[int], int], Callable[[int], int]]:
    from .compile import compiler

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
    kept = all(map(_changes_with_attributes, [*fresh, type("Own", (), {"a": 0})])) and all(map(_changes_with_each, dicts))
    return kept and _counts_orders() and _knows_classes()


class _Plain:
    def __init__(self) -> None:
        self.a = self.b = 0


class _Other(_Plain):
    pass


def _counts_orders() -> bool:
    """Whether an OrderedDict tells that its order has changed, where a dict would not."""
    if OrderedDict.__basicsize__ < _ORDER + WORD:
        return False
    d, seen = OrderedDict(a=0, b=0, c=0), []
    for key, last in (("a", True), ("c", False), ("b", True), ("a", False)):
        seen.append(_word(id(d) + _ORDER))
        d.move_to_end(key, last)
        if [*d, *d.items()] and _word(id(d) + _ORDER) in seen:
            return False
    return True


def _knows_classes() -> bool:
    """Whether the class of an object, and whether it is there, are where they are looked for."""
    if weakref.ref.__basicsize__ < _REFERENT + WORD:
        return False
    x = _Plain()
    reference = weakref.ref(x)
    before = _word(id(reference) + _REFERENT) == id(x) and _word(id(x) + _CLASS) == id(_Plain)
    x.__class__ = _Other
    after = _word(id(reference) + _REFERENT) == id(x) and _word(id(x) + _CLASS) == id(_Other)
    del x
    return before and after and _word(id(reference) + _REFERENT) == id(None)


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
