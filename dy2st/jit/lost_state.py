"""What a call leaves behind and the next one reads: a model file, which holds a function of its inputs, does not keep it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..convert.effects.cells import Cell, EntryCell, OrderCell, OuterVariable, place_of
from ..convert.guards.places import CODE
from ..convert.pyfacts.code_names import looks_into, reads_first
from ..tensor import Tensor
from ..tensor.random import STATE_NAME
from .concrete import ConcreteProgram
from .guards import Guard
from .recipes import Constant, Found


def lost_state(concrete: ConcreteProgram, read: Collection[str]) -> list[str]:
    """The names of the places where a call puts what the next one reads.

    Args:
        read: the persistable variables whose values the saved program reads, for more than to update them.
    """
    return list(dict.fromkeys([*_tensors(concrete, read), *_contents(concrete)]))


def _tensors(concrete: ConcreteProgram, read: Collection[str]) -> Iterator[str]:
    """Tensors outside that the program reads or the call returns, and that it changes or replaces."""
    changed = {id(t) for t, _ in concrete.effects.captures}
    places = {place_of(c.target, c.entry) for c, _ in concrete.effects.cells if isinstance(c, EntryCell)}
    for c in concrete.captured:
        name = c.variable.name
        replaced = c.place is not None and place_of(c.place.holder, c.place.entry) in places
        if name in read and name != STATE_NAME and (replaced or id(c.tensor) in changed):
            yield name if c.place is None else c.place.name
    for _, r in concrete.results:  # which the program does not read, but the result is
        if isinstance(r, Found) and place_of(r.place.holder, r.place.entry) in places:
            yield r.place.name


def _contents(concrete: ConcreteProgram) -> Iterator[str]:
    """Lists and dicts that the call fills, and attributes and variables that get tensors and had none."""
    guards = list(concrete.guards)
    codes = [g.value[0] for g in guards if g.entry is CODE]
    for cell, recipe in concrete.effects.cells:
        if not isinstance(cell, Cell):
            continue
        holders = [g.place for g in guards if not g.place.is_computed and g.place.now() is cell.target]
        named = bool(holders) and all(isinstance(p.entry, str) for p in holders)
        looks = not named or any(looks_into(code, p.entry) for code in codes for p in holders)
        if not isinstance(cell, (EntryCell, OrderCell)):
            if looks:
                yield holders[0].name if holders else cell.name
        elif isinstance(cell, EntryCell) and not isinstance(recipe, Constant):
            found = _guard_of(cell, guards)
            if found is None or isinstance(found.place.now(), Tensor):
                continue
            if holders and looks:
                yield f"an item of {holders[0].name}"
            name = cell.target.name if isinstance(cell.target, OuterVariable) else cell.entry
            if not holders and any(reads_first(code, name) for code in codes):
                yield found.place.name


def _guard_of(cell: EntryCell, guards: Collection[Guard]) -> Guard | None:
    here = place_of(cell.target, cell.entry)
    return next((g for g in guards if place_of(g.holder, g.entry) == here), None)
