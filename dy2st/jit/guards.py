"""What a trace has read of the world besides its arguments: Python attributes, globals, closures, and which tensors stand where."""

from __future__ import annotations

import functools
import math
import operator
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from dy2st_runtime import dims
from dy2st_runtime.garbage import no_search_for_garbage

from ..convert.guards.classification import has_own_attributes
from ..convert.guards.places import CONTENTS, ORDER, Inside, Place
from ..convert.guards.reach import Reach
from ..convert.purity.world_reads import Question, World, described, environment, reads_environment
from ..convert.pyfacts.attribute_lookup import MISSING
from ..convert.pyfacts.safe_repr import shown
from ..convert.values.containers import is_container, is_plain_object
from ..convert.values.join_types import exactly
from ..tensor import Tensor
from .checks import NOT_THERE, Check, checks

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, range, slice, frozenset)
_TOLD_APART = (complex, np.inexact, range, slice, frozenset)  # which may be equal and not the same


@dataclass(frozen=True)
class Look:
    """What can be told of a tensor without its values: where only that was read, another tensor may stand there."""

    cls: type[Tensor]
    dtype: str
    shape: tuple[int, ...]
    stop_gradient: bool

    def __repr__(self) -> str:
        return f"a {self.dtype} {self.cls.__name__} of shape {dims.show(self.shape)}, stop_gradient={self.stop_gradient}"

    @staticmethod
    def of(t: Tensor) -> Look:
        return Look(type(t), t.dtype, tuple(t._value.shape), t.stop_gradient)


@dataclass(frozen=True)
class Kind:
    """The class of a value that is looked into at each call, so that another object may stand there."""

    cls: type

    def __repr__(self) -> str:
        return f"a {self.cls.__name__}"


@dataclass(frozen=True)
class SameAs:
    """Of a tensor that was found in two places: it is what is in the other one now."""

    place: Place

    def __repr__(self) -> str:
        return f"the object in {self.place.name}"


@dataclass(frozen=True)
class Distinct:
    """Of an object that is looked into at each call: it is none of those that are in these places now, and none of the others."""

    places: tuple[Place, ...]
    others: frozenset[int]

    def __repr__(self) -> str:
        return "an object of its own"


class _There:
    """Of what is taken away: that there is something."""

    def __repr__(self) -> str:
        return "there"


THERE = _There()


@dataclass(frozen=True)
class Guard:
    """What must be in a place: the same plain value, or the same object; or what `Look`, `Kind`, `SameAs`, `Distinct` or `THERE` say."""

    place: Place
    value: Any

    @property
    def holder(self) -> Any:
        return self.place.holder

    @property
    def entry(self) -> Any:
        return self.place.entry

    def holds(self) -> bool:
        if self.entry is CONTENTS:
            return _same_contents(self.holder, self.value)
        now = self.place.now()
        if self.value is THERE:
            return now is not MISSING
        if isinstance(self.holder, World):
            return bool(now == self.value)
        if isinstance(self.value, Kind):
            return type(now) is self.value.cls
        if isinstance(self.value, SameAs):
            return now is self.value.place.now()
        if isinstance(self.value, Distinct):
            ids = {id(place.now()) for place in self.value.places}
            return len(ids) == len(self.value.places) and self.value.others.isdisjoint(ids)
        if isinstance(self.value, Look):
            return isinstance(now, Tensor) and Look.of(now) == self.value
        return same(now, self.value)

    def looks_into(self) -> bool:
        """Whether more is asked than if the same objects are there."""
        keys = self.entry is ORDER and not isinstance(self.holder, dict)
        return self.entry is CONTENTS or keys or isinstance(self.value, (Look, Kind, Distinct, _There)) or isinstance(self.holder, World)

    def places(self) -> list[Place]:
        """Where it looks, if it does not look into what is there."""
        return [self.place, self.value.place] if isinstance(self.value, SameAs) else [self.place]

    def __str__(self) -> str:
        if isinstance(self.holder, World):
            return f"{self.place.name} has changed"
        now = self.place.now()
        return f"{self.place.name} was {_text(self.value)}, is {'deleted' if now is MISSING else _text(now)}"


def _text(value: Any) -> str:
    """A value as a guard looks at it: the numbers in a tensor are no part of that."""
    if isinstance(value, Tensor) and not value.is_symbolic:
        value = Look.of(value)
    return repr(value) if isinstance(value, (Look, Kind, SameAs, Distinct)) else shown(value)


def same(a: Any, b: Any) -> bool:
    """Whether two values mean the same to a trace: plain values by type and value, others by identity."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is tuple:
        return _all_same(a, b)
    if isinstance(a, float) and a == b:
        return math.copysign(1, a) == math.copysign(1, b)
    if isinstance(a, Tensor) or not isinstance(a, _PLAIN) or has_own_attributes(a):
        return False
    if isinstance(a, _TOLD_APART):
        return bool(exactly(a) == exactly(b))
    return bool(a == b or (a != a and b != b))


def _same_contents(a: Any, b: Any) -> bool:
    if isinstance(a, np.ma.MaskedArray):
        masks = np.ma.getmaskarray(a), np.ma.getmaskarray(b)
        return np.array_equal(*masks) and _same_contents(a.data, b.data) and same(a.fill_value, b.fill_value)
    if isinstance(a, np.ndarray):
        parts = ((a.real, b.real), (a.imag, b.imag)) if a.dtype.kind in "fc" else ()
        is_same = a.dtype == b.dtype and np.array_equal(a, b, equal_nan=bool(parts))
        return is_same and all(np.array_equal(np.signbit(p), np.signbit(q)) for p, q in parts)
    if isinstance(a, (set, frozenset)):
        return a == b and exactly(frozenset(a)) == exactly(frozenset(b))
    if isinstance(a, dict):
        return _all_same(a, b) and _all_same(a.values(), b.values())
    return _all_same(a, b) if isinstance(a, (list, deque)) else bool(a == b)


def _all_same(a: Collection[Any], b: Collection[Any]) -> bool:
    return len(a) == len(b) and (all(map(operator.is_, a, b)) or all(map(same, a, b)))


def guards_of_readings(reach: Reach, readings: Mapping[Question, Any]) -> Iterator[Guard]:
    """Those of what a trace has read of files and the environment."""
    world, found = World(), dict(readings)
    if reads_environment(reach):
        found[environment, None] = environment(None)
    for question, answer in found.items():
        yield Guard(Place(world, question, described(question)), answer)


class Guards:
    """The guards of a trace. Those on identity are checked together: as long as nothing changes that is all there is to do."""

    def __init__(self, guards: Iterable[Guard]):
        self._all = list(guards)
        self._others: list[Guard] = []
        self._identical: list[Guard] = []
        for guard in self._all:
            (self._others if guard.looks_into() else self._identical).append(guard)

    @functools.cached_property
    def _checks(self) -> list[Check]:
        with no_search_for_garbage():
            return checks([(g.place, g.value.place if isinstance(g.value, SameAs) else g.value) for g in self._identical])

    def __iter__(self) -> Iterator[Guard]:
        return iter(self._all)

    def failed(self) -> Guard | None:
        """A guard that does not hold any more."""
        for guard in self._others if self._are_identical() else self._all:
            if not guard.holds():
                return guard
        return None

    def _are_identical(self) -> bool:
        try:
            for check in self._checks:
                if not check():
                    return False
        except NOT_THERE:
            return False
        return True


def _is_created(value: Any) -> bool:
    """Whether a value may be one that another trace has made and put where it is: code that finds it nowhere else has not stored it."""
    return isinstance(value, (Tensor, tuple)) or is_container(value) or is_plain_object(value)


def guards_of(reach: Reach, captured: dict[int, Place | None], kept: Container[int], found: dict[int, Place],
              merged: Container[tuple], lost: Container[tuple], unchanged: Callable[[Place, tuple], bool],
              named: Mapping[int, Tensor], overwritten: Callable[[tuple], bool]) -> Iterator[Guard]:  # fmt: skip
    """The guards of a trace.

    Args:
        reach: what its functions can reach.
        captured: for tensors that it reads, by id, the place where they are found at each call.
        kept: ids of tensors that it gives back as the objects that they are; no other can be in their place.
        found: for tensors that it gives back as what is found there, by id, the place.
        merged: places that get new values that are not known before the run: the old one may be among them.
        lost: places that each call empties: eager mode raises where one is empty.
        unchanged: whether a place may have been assigned what was there already, on some path only.
        named: the tensors whose names it has read, by id.
        overwritten: whether each call puts a new value into a place, by its key, before it reads that.
    """
    known: dict[int, Place] = {}
    tied: set[int] = set()
    for key, place in reach.places.items():
        if reach.reads(place):
            known.setdefault(id(place.now()), place)
        if isinstance(place.now(), Tensor) and unchanged(place, key):
            tied.add(id(place.now()))
    identical: set[int] = set()
    own = _attributes_of_tensors(reach)
    # one that has attributes which are read: another tensor in its place has others
    marked = {key for key, found in own.items() if any(p.now() is not MISSING for p in found)}

    def in_place_of(t: Tensor, place: Place) -> Iterator[Guard]:
        """What is read of a tensor, of whichever is in the place."""
        for p in () if id(t) in marked else own.get(id(t), ()):
            yield Guard(Place(Inside(place, False), p.entry, p.name), MISSING)
        if id(t) in named:
            yield Guard(Place(Inside(place, False), "_name", f"the name of {place.name}"), t._name)

    for key, place in reach.places.items():
        value = place.now()
        read = reach.reads(place)
        if value is MISSING and (t := reach.tensors.get(id(place.holder))) is not None and id(t) in known and id(t) not in marked:
            continue  # it is asked for in the places of the tensor
        if not read and key in lost and value is not MISSING:
            yield Guard(place, THERE)
        if id(value) not in captured and overwritten(key):
            continue
        if not read and key not in merged and id(value) not in captured:
            if value is not MISSING and unchanged(place, key):
                main = None if isinstance(value, _PLAIN) else known.get(id(value))
                if main is not None:
                    yield Guard(place, SameAs(main))
                elif not _is_created(value):
                    yield Guard(place, value)
            continue
        if id(value) in reach.inside and reach.inside[id(value)].place is place:
            yield Guard(place, Kind(type(value)))
        elif not isinstance(value, Tensor) or id(value) in kept or id(value) in marked:
            identical.add(id(value))
            yield Guard(place, value)
            if isinstance(value, Tensor):
                yield from in_place_of(value, place)
        elif (main := captured.get(id(value)) or found.get(id(value))) is not None:
            if main is not place:
                yield Guard(place, SameAs(main))
                continue
            if id(value) not in captured:
                yield Guard(place, Look.of(value))
            yield from in_place_of(value, place)
        elif not value.is_symbolic and read:
            main = known[id(value)] if id(value) in tied else place
            yield Guard(place, Look.of(value) if main is place else SameAs(main))
            if main is place:
                yield from in_place_of(value, place)
    inside = [x for x in reach.inside.values() if x.replaced]
    if inside:
        others = frozenset(identical - {id(x.place.now()) for x in inside})
        yield Guard(inside[0].place, Distinct(tuple(x.place for x in inside), others))


def _attributes_of_tensors(reach: Reach) -> dict[int, list[Place]]:
    """The places of the attributes of tensors that are read, or asked for, by the ids of the tensors."""
    found: dict[int, list[Place]] = {}
    for place in reach.places.values():
        # what layers ask of their buffers themselves does not change what they compute
        if (t := reach.tensors.get(id(place.holder))) is not None and place.entry != "persistable":
            found.setdefault(id(t), []).append(place)
    return found
