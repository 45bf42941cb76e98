"""`Snapshot`: what containers had in them at some moment, to tell what a branch or a loop body has changed, and to put it back.

Each of these begins with a snapshot of everything that is watched, and asks several times what is new: of a large model, whose layers
hold a thousand dicts, nearly all of them empty. So the plain dicts are compared all at once, and by halves where one has changed;
of variables and attributes of classes, of which a program may have hundreds, only their values.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

from .. import roles
from ..pyfacts.attribute_lookup import MISSING
from ..pyfacts.safe_repr import named
from ..pyfacts.undefined import Undefined
from ..values.containers import BUILT_IN, copied, differ, put
from .cells import Cell, ContentsCell, EntryCell, ListCell, OrderCell, OuterVariable

ROLE = roles.BOOKKEEPING

# what is copied of an empty container
_NOTHING: dict[type, Any] = {kind: kind() for kind in BUILT_IN}
_VALUES = operator.methodcaller("values")


class Snapshot:
    """The contents that containers had at some moment."""

    def __init__(self) -> None:
        # each with its copy, by id, in the order in which they were added
        self._saved: dict[int, tuple[Any, Any]] = {}
        # the same apart: what was empty, dicts of Python's own classes with their copies, variables with their values, and the others
        self._empty: list[Any] = []
        self._dicts: list[dict] = []
        self._copies: list[dict] = []
        self._variables: list[OuterVariable] = []
        self._values: list[Any] = []
        self._others: list[tuple[Any, Any]] = []

    @staticmethod
    def of(containers: Iterable[Any]) -> Snapshot:
        snapshot = Snapshot()
        snapshot.add(containers)
        return snapshot

    def add(self, containers: Iterable[Any], contents: Iterable[Any] = ()) -> None:
        """Remembers the contents of further containers; or these, which they had before."""
        saved, empty, dicts, copies, others = self._saved, self._empty, self._dicts, self._copies, self._others
        variables, values = self._variables, self._values
        for c, given in zip_longest(containers, contents):
            kind = type(c)
            if kind in BUILT_IN and not (c if given is None else given):
                old: Any = _NOTHING[kind]
                empty.append(c)
            elif kind is dict or kind is OrderedDict:
                old = c.copy() if given is None else given
                dicts.append(c)
                copies.append(old)
            elif isinstance(c, OuterVariable):
                value = c.now() if given is None else given.get(c.name, MISSING)
                old = {} if value is MISSING else {c.name: value}
                variables.append(c)
                values.append(value)
            else:
                old = copied(c) if given is None else given
                others.append((c, old))
            saved[id(c)] = c, old

    def renew(self, container: Any) -> None:
        """What a container has now counts as what it had then."""
        if container not in self:
            return
        kept = [(c, old) for c, old in zip(self._dicts, self._copies, strict=True) if c is not container]
        self._dicts, self._copies = [c for c, _ in kept], [old for _, old in kept]
        self._empty = [c for c in self._empty if c is not container]
        variables = [(c, value) for c, value in zip(self._variables, self._values, strict=True) if c is not container]
        self._variables, self._values = [c for c, _ in variables], [value for _, value in variables]
        self._others = [x for x in self._others if x[0] is not container]
        self.add([container])

    def gained(self, items: list) -> int | None:
        """The old length of a list that has only got more entries; None for another one."""
        old = self.saved(items)
        if old is not None and len(items) > len(old) and all(map(operator.is_, items, old)):
            return len(old)
        return None

    def __iter__(self) -> Iterator[Any]:
        return (container for container, _ in self._saved.values())

    def __contains__(self, container: Any) -> bool:
        return id(container) in self._saved

    def saved(self, container: Any) -> Any:
        """The contents that a container had; None if it is not among these."""
        return self._saved.get(id(container), (None, None))[1]

    def entry(self, container: Any, entry: Any) -> Any:
        """What a dict had under a key; None if nothing."""
        old = self.saved(container)
        return None if old is None else old.get(entry)

    def had(self, container: Any, entry: Any) -> bool:
        """Whether a dict had an entry."""
        old = self.saved(container)
        return old is not None and entry in old

    def _touched(self) -> Sequence[tuple[Any, Any]]:
        """The containers with other objects in them than then, or in another order, with what they had; some others may be among them."""
        touched = [id(c) for c in self._empty if c] if any(self._empty) else []
        touched += map(id, self._touched_dicts())
        touched += [id(c) for c, value in zip(self._variables, self._values, strict=True) if c.now() is not value]
        touched += [id(c) for c, old in self._others if not _is_as_it_was(c, old)]
        if len(touched) < 2:
            return [self._saved[key] for key in touched]
        keys = frozenset(touched)
        return [x for key, x in self._saved.items() if key in keys]

    def _touched_dicts(self) -> Iterator[dict]:
        """Halves in which all is as it was are left alone: few dicts of many are touched."""
        left = [(0, len(self._dicts))]
        while left:
            begin, end = left.pop()
            if _same(self._dicts[begin:end], self._copies[begin:end]):
                continue
            middle = (begin + end) // 2
            if middle == begin:
                yield self._dicts[begin]
            else:
                left += (begin, middle), (middle, end)

    def changed(self) -> list[Cell]:
        """The cells with other contents than then, by identity."""
        cells: list[Cell] = []
        for container, old in self._touched():
            if not isinstance(container, (dict, OuterVariable)):
                if differ(container, old):
                    cells.append(ListCell(container) if type(container) is list else ContentsCell(container))
            else:
                missing = object()
                now = copied(container)
                for entry in dict.fromkeys([*old, *now]):
                    if old.get(entry, missing) is not now.get(entry, missing):
                        cells.append(EntryCell(container, entry))
                if isinstance(container, dict) and _has_order(old, now):
                    cells.append(OrderCell(container))
        return cells

    def restore(self) -> None:
        """Gives all containers their old contents."""
        for container, old in self._touched():
            if not isinstance(container, (dict, OuterVariable)):
                if differ(container, old):
                    put(container, old)
                continue
            now = copied(container)
            if list(now) != list(old):  # otherwise in their places: a loop may be running over it
                for entry in now:
                    EntryCell(container, entry).write(Undefined(named(entry)))
                now = {}
            for entry, value in old.items():
                if now.get(entry, container) is not value:
                    EntryCell(container, entry).put_back(value)


def _same(now: Sequence[dict], old: Sequence[dict]) -> bool:
    """Whether these dicts have the same keys and values, as objects, in the same order."""
    return (
        all(map(operator.eq, map(len, now), map(len, old)))
        and all(map(operator.is_, chain.from_iterable(now), chain.from_iterable(old)))
        and all(map(operator.is_, chain.from_iterable(map(_VALUES, now)), chain.from_iterable(map(_VALUES, old))))
    )


def _is_as_it_was(container: Any, old: Any) -> bool:
    """The same of one container that is no plain dict: quickly, for those that nearly all are of. False says nothing."""
    if type(container) is list:
        return len(container) == len(old) and all(map(operator.is_, container, old))
    return type(container) is set and not container and not old


def _has_order(old: dict, now: dict) -> bool:
    """Whether the keys of a dict are in an order of their own: two of them are new, or some have moved."""
    new = [key for key in now if key not in old]
    return len(new) > 1 or list(now) != [*(key for key in old if key in now), *new]
