"""Which numbers outside (attributes, entries of dicts) are inputs of the traces: those that differ from call to call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..convert.effects.cells import EntryCell, OuterVariable, place_of
from ..convert.pyfacts.breakpoints import is_quit
from .concrete import ConcreteProgram, Number, can_be_fed, value_at
from .guards import same
from .recipes import Constant

Entry = tuple["dict | list | OuterVariable", Any]


class Numbers:
    """The numbers that have made a trace useless, of one function. Python needs the values of some of them while it traces (as an index
    of a list, say): these are `unfit`, and there is a trace for each value."""

    def __init__(self) -> None:
        self._found: dict[tuple, Entry] = {}
        self._unfit: set[tuple] = set()
        self._proved: set[tuple] = set()

    def fed(self, trace: Callable[[list[Entry]], ConcreteProgram], traces: Sequence[ConcreteProgram] = ()) -> ConcreteProgram | None:
        """What `trace` makes with these numbers as inputs, and with those that have changed since `traces` were made; without those
        with which it cannot be made. None if no number is left."""
        for concrete in traces:
            for guard in concrete.guards:
                if type(guard.value) in (int, float) and not guard.holds():
                    self._add(guard.holder, guard.entry)
        while entries := [(h, e) for h, e in self._found.values() if can_be_fed(value_at(h, e))]:
            try:
                made = trace(entries)
            except Exception as error:  # Python needs a number itself; or it is another error, which the trace without them raises again
                if is_quit(error):
                    raise
                self._reject([e for e in entries if place_of(*e) not in self._proved] or entries)
                continue
            self._proved.update(place_of(*e) for e in entries)
            return made
        return None

    def changes_its_own(self, concrete: ConcreteProgram) -> bool:
        """Whether a trace reads numbers that its own call changes, so that it would serve that call only; they are inputs from now on."""
        before = len(self._found)
        guarded = {place_of(g.holder, g.entry): g for g in concrete.guards if type(g.value) in (int, float)}
        for cell, recipe in concrete.effects.cells:
            guard = guarded.get(place_of(cell.target, cell.entry)) if isinstance(cell, EntryCell) else None
            if guard is not None and not (isinstance(recipe, Constant) and same(recipe.value, guard.value)):
                self._add(guard.holder, guard.entry)
        return len(self._found) > before

    def leave(self, numbers: Sequence[Number]) -> None:
        """These are no inputs from now on, as a run cannot do with them what Python can."""
        self._reject([(n.holder, n.entry) for n in numbers])

    def _add(self, holder: Any, entry: Any) -> None:
        place = place_of(holder, entry)
        has_it = type(entry) is int if type(holder) is list else isinstance(holder, (dict, OuterVariable))  # a length is no number in it
        if place not in self._unfit and has_it:
            self._found[place] = holder, entry

    def _reject(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._unfit.add(place_of(*entry))
            self._found.pop(place_of(*entry), None)
