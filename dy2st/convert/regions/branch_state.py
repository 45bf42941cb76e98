"""Containers and tensors of the outside as a branch left them.

A branch may give a variable a container (or tensor) that was there before and that it has also changed. Where the two sides of the
branch are compared it is as before again, since its contents are results of their own; what the variable is on that side is the
container with the contents that the side gave it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import StructureError
from ...tensor.location import user_location
from ..effects.cells import Cell, EntryCell, ListCell, OrderCell
from ..effects.region_frames import Outcome
from ..guards.places import AttributeVariable
from ..pyfacts.undefined import Undefined
from ..values.maybe_attribute import MaybeAttribute
from ..values.maybe_value import MaybeObject, MaybeValue
from ..values.record_list import RecordList
from ..values.trees import attributes_of, build, split

Changes = dict[int, list[tuple[Cell, Any]]]


class BranchState:
    """Post-branch copies of outer containers that two sides have changed, for the phis at the join.

    Args:
        outcomes: of the sides; None for one that does not come to its end.
    """

    def __init__(self, outcomes: Sequence[Outcome | None]):
        self._changes = [changes_of(o.changes.values() if o else ()) for o in outcomes]
        self._values = [{id(t): v for t, v in o.tensors if t._value is not v} if o else {} for o in outcomes]
        self._copies: list[dict[int, tuple[Any, Any]]] = [{}, {}]
        self._originals: dict[int, Any] = {}

    def pairs(self, one: Sequence[Any], other: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The values of the two sides with copies of what they changed, where the sides do not have the same object."""
        if not any(self._changes) and not any(self._values):
            return list(one), list(other)
        found = [self._pair(a, b) for a, b in zip(one, other, strict=True)]
        return [a for a, _ in found], [b for _, b in found]

    def original(self, x: Any) -> Any:
        """The container that a copy stands for, or the value itself."""
        return self._originals.get(id(x), x)

    def _pair(self, a: Any, b: Any) -> tuple[Any, Any]:
        if a is b:
            return a, b
        (kinds_a, in_a), (kinds_b, in_b) = self._parts(a, 0), self._parts(b, 1)
        if in_a is None or in_b is None or type(a) is not type(b) or kinds_a != kinds_b or len(in_a) != len(in_b):
            return self._alone(a, 0), self._alone(b, 1)
        found = [self._pair(x, y) for x, y in zip(in_a, in_b, strict=True)]
        return self._copy(a, 0, kinds_a, [x for x, _ in found]), self._copy(b, 1, kinds_b, [y for _, y in found])

    def _alone(self, x: Any, side: int) -> Any:
        if isinstance(x, RecordList):
            columns = [self._alone(c, side) for c in x.columns]
            if all(map(operator.is_, columns, x.columns)):
                return x
            if id(x) not in self._copies[side]:
                self._copies[side][id(x)] = x, x.with_columns(columns)
            return self._copies[side][id(x)][1]
        if id(x) in self._values[side]:
            return x.alike(self._values[side][id(x)])
        keys, children = self._parts(x, side)
        return x if children is None else self._copy(x, side, keys, [self._alone(c, side) for c in children])

    def _parts(self, x: Any, side: int) -> tuple[tuple[Any, ...], Sequence[Any] | None]:
        """The keys and the children of a container as the side left it; (), None for all that is no container."""
        holds = isinstance(x, (list, tuple, dict, MaybeAttribute, MaybeObject, MaybeValue)) or hasattr(type(x), "__dataclass_fields__")
        if not holds and attributes_of(x) is None:
            return (), None
        keys, children = split(x)
        if children is None:
            return (), None
        return changed_parts(x, keys, children, self._changes[side])

    def _copy(self, x: Any, side: int, keys: tuple[Any, ...], children: Sequence[Any]) -> Any:
        if id(x) in self._copies[side]:
            return self._copies[side][id(x)][1]
        before_keys, before = split(x)
        assert before is not None
        same = keys == before_keys and len(before) == len(children) and all(c is d for c, d in zip(before, children, strict=True))
        new = x if same else build(type(x), keys, children)
        if new is not x:
            self._originals[id(new)] = x
        self._copies[side][id(x)] = x, new
        return new


def changes_of(cells: Iterable[tuple[Cell, Any]]) -> Changes:
    """Those of cells that are in lists, dicts and objects, by the ids of these; the order of keys is behind the keys."""
    found: Changes = {}
    for cell, value in sorted(cells, key=lambda change: isinstance(change[0], OrderCell)):
        if isinstance(cell, (ListCell, EntryCell, OrderCell)):
            target = cell.target.holder if isinstance(cell.target, AttributeVariable) else cell.target  # in a slot
            found.setdefault(id(target), []).append((cell, value))
    return found


def changed_parts(x: Any, keys: tuple[Any, ...], children: Sequence[Any], changes: Changes) -> tuple[tuple[Any, ...], Sequence[Any]]:
    """The keys and the children of a container after changes of it."""
    entries = None if isinstance(x, dict) else getattr(x, "__dict__", None)
    changed = [*changes.get(id(x), ()), *(() if entries is None else changes.get(id(entries), ()))]
    if changed and isinstance(x, tuple):
        raise StructureError(
            f"a {type(x).__name__} gets an attribute besides its items, on some paths only", location=user_location(),
            hint="make it a field with a default (typing.NamedTuple), and _replace it",
        )  # fmt: skip
    for cell, value in changed:
        if isinstance(cell, EntryCell):
            now = dict(zip(keys, children, strict=True))
            now[cell.entry] = value
            if isinstance(value, Undefined):
                del now[cell.entry]
            keys, children = tuple(now), list(now.values())
        elif isinstance(cell, OrderCell):
            now = dict(zip(keys, children, strict=True))
            keys = tuple(dict.fromkeys([*(key for key in value if key in now), *keys]))
            children = [now[key] for key in keys]
        else:
            children = list(value)
    return keys, children
