"""What one iteration of a loop leaves to the next, as far as objects are put into lists of dynamic length. See `sharing`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from dy2st_runtime.ir import Block

from ..effects.may_alias import is_inside, outside
from ..effects.snapshot import Snapshot
from ..values.staged_list import StagedList
from .points_to import ALL, COMMON, INITIAL, LOADED, MAY_STORED, MOVED_OUT, STORED, AbstractObject, Link, Place, closure

if TYPE_CHECKING:
    from .list_sharing import Sharing


class Iteration:
    """One iteration of a loop, as the one before the next."""

    def __init__(self, sharing: Sharing, before: Snapshot, body: Block,
                 pairs: Iterable[tuple[AbstractObject | None, AbstractObject | None]], moved: Collection[int]):  # fmt: skip
        self._sharing, self._before, self._body, self._moved = sharing, before, body, moved
        self._pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
        self._starts = {id(a) for a, _ in self._pairs}
        self._puts = [(t, p) for t, p in sharing.inside.all_within(body) if p.how in (INITIAL, STORED, MAY_STORED)]

    def settle(self) -> None:
        sharing, body = self._sharing, self._body
        for t, p in self._puts:
            if p.how == STORED and self._lasts(p.items) and self._is_outer(t, self._is_created(p.items)):
                sharing.twice.set(p.items, body, p.at)
        for t, k in sharing.linked.all_within(body):
            if k.how == ALL and self._lasts(t) and any(x is not t and not self._is_created(x) for x in self._got(k.other)):
                sharing.twice.set(t, body, k.at)
        # in which lists each variable is put, and in which it may be already when the next iteration begins
        into = {id(a): {p.items: p for t, p in self._puts if t is a} for a, _ in self._pairs}
        there = {id(a): {p.items: p for p in sharing.inside.of(b, body) if p.how != MOVED_OUT} for a, b in self._pairs}
        changed = True
        while changed:
            changed = False
            for a, b in self._pairs:
                for c in self._own(b):
                    if id(c) in self._starts:
                        changed |= _add(there[id(a)], there[id(c)]) | _add(into[id(c)], into[id(a)])
        for a, b in self._pairs:
            for p in there[id(a)].values():
                sharing.inside.set(b, body, Place(MAY_STORED, p.items, at=p.at))
            for p in into[id(a)].values():
                self._again(a, b, p, there[id(a)].values())

    def _again(self, start: AbstractObject, end: AbstractObject, put: Place, there: Iterable[Place]) -> None:
        """What an iteration ends with is put into a list by the next one."""
        sharing, body, items = self._sharing, self._body, put.items
        for p in there:
            if p.items in items.family():
                sharing.twice.set(items, body, put.at)
            for one, other in ((items, p.items), (p.items, items)):
                sharing.linked.set(one, body, Link(other, COMMON, put.at))
        for t in self._own(end):
            if self._is_outer(t):
                for other in t.family():
                    sharing.inside.set(other, body, Place(MAY_STORED, items, at=put.at))
                if self._lasts(items):
                    sharing.twice.set(items, body, put.at)
        for other in start.origins():
            sharing.inside.set(other, body, Place(MAY_STORED, items, at=put.at))

    def _got(self, items: AbstractObject) -> Collection[AbstractObject]:
        """A list, and those of which it has all entries, as this iteration knows it."""
        links = self._sharing.linked
        return closure([items], lambda x: [k.other for k in links.of(x, self._body) if k.how == ALL] if self._is_created(x) else [])

    def _own(self, t: AbstractObject) -> Collection[AbstractObject]:
        """All that something may be, as this iteration knows it."""
        return closure([t], lambda x: [] if id(x) in self._starts else x.parts)

    def _lasts(self, items: AbstractObject) -> bool:
        """Whether a list is there in the next iteration too, or one that is made of it."""
        return not self._is_created(items) or any(id(t) in self._starts for t in self._sharing.connected(items, self._body))

    def _is_created(self, items: AbstractObject) -> bool:
        """Whether a list is another one in each iteration."""
        return id(items) in self._starts or is_inside(items.block, self._body)

    def _is_outer(self, t: AbstractObject, anew: bool = False) -> bool:
        """Whether something is, or may be, the same object in each iteration.

        Args:
            anew: it is put into a list that each iteration makes anew, also of what it has read of the one of the last iteration.
        """
        if id(t) in self._starts:
            return False
        there = outside(t.contents, self._body) if isinstance(t.contents, StagedList) else t.contents in self._before
        read = [p.items for p in self._sharing.inside.of(t, self._body)
                if p.how == LOADED and (p.turn[1] is not self._body or id(p.items.contents) in self._moved)]  # fmt: skip
        if there or any(not self._is_created(x) or (not anew and self._lasts(x)) for x in read):
            return True
        return any(self._is_outer(part, anew) for part in t.parts)


def _add(found: dict[AbstractObject, Place], more: dict[AbstractObject, Place]) -> bool:
    before = len(found)
    found.update({t: p for t, p in more.items() if t not in found})
    return len(found) > before
