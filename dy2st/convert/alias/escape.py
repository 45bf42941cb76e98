"""Whether what is kept after a call is apart from what is in lists of dynamic length that are kept too. See `sharing`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location

from ...errors import StructureError
from ..values.record_list import RecordList
from ..values.staged_list import StagedList
from .points_to import ALL, HAS, INITIAL, LOADED, MAY_STORED, MOVED_OUT, STORED, AbstractObject, Link, Place, closure

if TYPE_CHECKING:
    from .list_sharing import Sharing


class Kept:
    """What is kept after a call.

    Args:
        held: containers, dicts of attributes and lists of dynamic length.
        grown: those of the lists that were there before and begin with the entries that they had, which stay the objects that they are.
    """

    def __init__(self, sharing: Sharing, held: Iterable[Any], grown: Iterable[RecordList]):
        self._sharing, self._block = sharing, sharing.block
        self._grown = {id(sharing.abstract_object(x)) for x in grown}
        found = {id(t): t for x in held if (t := self._known(x)) is not None}.values()
        self._lists = [t for t in found if t.is_list]
        self._objects = [(t, p) for t in found if not t.is_list for p in sharing.inside.of(t, self._block)]

    def _known(self, x: Any) -> AbstractObject | None:
        return self._sharing.abstract_object(x) if isinstance(x, (RecordList, StagedList)) else self._sharing.known(x)

    def require_one_place(self) -> None:
        """StructureError if one object would be two from now on."""
        self._sharing.moves.end(self._block, self._block)
        for t in self._lists:
            self._require_once(t)
        for a, b in combinations(self._lists, 2):
            if self._has(b, a) or self._has(a, b):
                at = next((k.at for t in (*self._sources(a), *self._sources(b)) for k in self._links(t)), None)
                raise _error("two lists of dynamic length that are kept after the call may have it in them", at)
        for _, p in self._objects:
            if self._in_lists(p):
                raise _error("it is, or may be, in a list of dynamic length that is kept after the call, and is kept elsewhere too", p.at)
        for (a, p), (b, q) in combinations(self._objects, 2):
            if a is not b and self._may_be_one(p, q):
                raise _error("it may have been taken out of a list of dynamic length that had it twice, or has it, and is kept twice", q.at)

    # ---- lists ----
    def _links(self, t: AbstractObject) -> list[Link]:
        return self._sharing.linked.of(t, self._block)

    def _counts(self, t: AbstractObject, k: Link) -> bool:
        return k.how != INITIAL or not {id(t), id(k.other)} <= self._grown

    def _has(self, one: AbstractObject, other: AbstractObject) -> bool:
        """Whether a list may have entries of another one."""

        def shares(x: AbstractObject) -> bool:
            return self._sharing.shares(x, other, self._block, self._counts)

        # what has left a list may be in those that have entries in common with it
        left = [k.other for t in self._sources(one) for k in self._links(t) if k.how == MOVED_OUT]
        return shares(one) or any(x is not other and shares(x) for x in left)

    def _sources(self, t: AbstractObject) -> Collection[AbstractObject]:
        return self._sharing.sources(t, self._block)

    def _places(self, t: AbstractObject) -> Collection[AbstractObject]:
        """The lists in which the entries of one may have been before."""
        return closure([t], lambda x: [k.other for k in self._links(x) if k.how in (ALL, HAS, MOVED_OUT)])

    def _require_once(self, t: AbstractObject) -> None:
        for x in self._sources(t):
            for at in self._sharing.twice.of(x, self._block):
                if at != INITIAL or id(x) not in self._grown:
                    raise _error("it may be in a list of dynamic length more than once, which is kept after the call",
                                 None if at == INITIAL else at)  # fmt: skip

    def _is_twice(self, t: AbstractObject) -> bool:
        return any(self._sharing.twice.of(x, self._block) for x in self._sources(t))

    # ---- objects ----
    def _in_lists(self, p: Place) -> bool:
        """Whether an object that may be in a place is in a list that is kept."""
        for t in self._lists:
            if t is p.items:
                if p.how == MOVED_OUT and not self._is_twice(t):
                    continue
                if p.how != INITIAL or id(t) not in self._grown:
                    return True
            elif p.how in (INITIAL, STORED, MAY_STORED):
                if p.items in self._places(t):
                    return True
            elif self._has(t, p.items) or (p.how == LOADED and self._has(p.items, t)):
                return True
        return False

    def _may_be_one(self, p: Place, q: Place) -> bool:
        """Whether two objects may be one that is, or was, in a list."""
        put, other = [x for x in (p, q) if x.how in (INITIAL, STORED, MAY_STORED)], [x for x in (p, q) if x.how in (LOADED, MOVED_OUT)]
        if put:
            return bool(other) and put[0].items in self._places(other[0].items)
        if not self._sharing.shares(p.items, q.items, self._block):
            return False
        distinct = p.how == q.how == MOVED_OUT or (p.how == q.how == LOADED and p.turn[0] == q.turn[0]) or p.is_another(q)
        return not distinct or p.items is not q.items or self._is_twice(p.items)


def _error(why: str, at: Location | None) -> StructureError:
    return StructureError(
        "what is in a list of dynamic length is held there as a copy, where eager mode has one list, dict or object, "
        f"and after the call that would show: {why}", location=at,
        hint="keep a copy in one of the two places (list(x), dict(x), a new object), or its place in the list",
    )  # fmt: skip
