"""Which places outside of a loop or a recursive function its code changes: these go from one iteration, or call, to the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..effects.cells import Cell, EntryCell, ListCell, OrderCell
from .list_promotion import gained_key, reordered

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


def new_cells(
    tracer: Tracer, changes: Mapping[tuple, tuple[Cell, Any]], known: Collection[tuple], why: str, promote: Callable[[Any, Any], None],
    is_variable: Callable[[EntryCell], bool] = lambda cell: False,
) -> Iterator[tuple[Cell, Any]]:  # fmt: skip
    """The cells that were changed and are not known yet, each with its value before.

    Args:
        changes: what was changed, with the values (see `Outcome.changes`).
        known: the keys of the cells that are known.
        why: says in errors why a dict may not have got a key.
        promote: makes a list one of dynamic length, where it changes its length; or gives a dict keys that it has in some runs only.
        is_variable: says of an entry whether it is a variable that goes on anyway.
    """
    gained: dict[int, tuple[Any, list]] = {}
    found: list[tuple[Cell, Any]] = []
    for key, (cell, value) in changes.items():
        if key in known:
            continue
        if isinstance(cell, ListCell) and len(cell.target) != len(value):
            promote(cell.target, value)
        elif isinstance(cell, OrderCell):
            if (moved := reordered(tracer, cell, (cell.read(), value))) is not None:
                items, keys = moved
                gained.setdefault(id(items), (items, []))[1].extend(keys)
        elif isinstance(cell, EntryCell) and is_variable(cell):
            continue
        elif (one := gained_key(tracer, cell, cell.read(), value)) is not None:
            gained.setdefault(id(one[0]), (one[0], []))[1].append(one[1])
        else:
            found.append((cell, value))
    for items, keys in gained.values():
        promote(items, keys)
    for cell, value in found:
        initial = cell.read()  # what a dict says of a key, it says since it may get it
        tracer.require_entry(cell, initial, value, why)
        yield cell, initial
