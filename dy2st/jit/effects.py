"""What a call changes outside of the function, as a trace has found it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from dy2st_runtime.ir import Variable

from ..convert.effects.cells import (
    AppendCell,
    Cell,
    DictCell,
    EntryCell,
    ListCell,
    OrderCell,
    OuterVariable,
    place_of,
    read_outside,
)
from ..convert.pyfacts.tensor_attributes import attributes_of_tensor
from ..convert.pyfacts.undefined import Undefined
from ..convert.regions.list_promotion import put_back
from ..convert.trace.tracer import Tracer
from ..convert.values.record_list import parts_of
from ..convert.values.staged_dict import StagedDict
from ..convert.values.staged_list import StagedList
from ..convert.values.trees import flatten
from ..errors import LeakError, StructureError
from ..tensor import Tensor
from ..tensor.random import STATE_NAME
from .concrete import ArgumentCell, Effects, Number, value_at
from .recipes import Constant
from .results import DECIDE, Results, require_no_id


class Changes:
    """Finds the effects of one trace.

    Args:
        results: makes the recipes of what cells hold from then on.
        placeholders: what stands for the arguments; `inputs` are the variables of these as the call begins.
        numbers: those outside that are inputs.
        paths: the way to each container in the arguments, by id.
        exact: see `Trace`.
    """

    def __init__(self, tracer: Tracer, results: Results, placeholders: Sequence[Tensor], inputs: Sequence[Variable],
                 numbers: Sequence[Number], paths: Mapping[int, tuple], exact: bool) -> None:  # fmt: skip
        self._tracer, self._results, self._placeholders, self._inputs = tracer, results, placeholders, inputs
        self._numbers, self._paths, self._exact = numbers, paths, exact

    def found(self) -> Effects:
        """What the function has changed, in the order in which a call does it."""
        put_back(self._tracer)
        effects = Effects()
        self._add_tensors(effects)
        self._add_gradients(effects)
        self._add_cells(effects)
        self._add_dynamic(effects)
        return effects

    def _add_tensors(self, effects: Effects) -> None:
        """Arguments and tensors outside that were modified in place."""
        for i, (p, v) in enumerate(zip(self._placeholders, self._inputs, strict=True)):
            if p._value is not v:
                effects.arguments.append((i, self._results.fetch(self._tracer.lift(p)).position))
        for t, v in self._tracer.captures.values():
            if v.name == STATE_NAME:  # which the program updates itself
                effects.captures.append((t, self._results.fetch(v).position))
        for t, _ in self._tracer.originals.values():
            now = self._tracer.kept_value(t)
            if now is not self._tracer.captures[id(t)][1]:
                effects.captures.append((t, self._results.fetch(now).position))

    def _add_gradients(self, effects: Effects) -> None:
        gradients = self._tracer.gradients
        gradients.require_unchanged(None)
        gradients.require_independent()
        effects.flags += ((t, t._stops) for key, (t, before, _) in self._tracer.switched.items()
                          if key in self._tracer.captures and t._stops is not before)  # fmt: skip
        effects.written += gradients.written.values()
        effects.freed += (self._tracer.captures[key][0] for key in self._tracer.freed)
        effects.trains = gradients.called or bool(gradients.written)
        effects.clean += (i for i, p in enumerate(self._placeholders) if id(p) in gradients.clean)
        effects.graded += (t for t, _ in gradients.begun.values())
        effects.differentiated += map(self._outside, gradients.inputs.values())
        for t, g in gradients.found.values():
            if self._tracer.is_new_leaf(t) and id(t) not in self._tracer.arguments and id(t) not in self._tracer.captures:
                continue  # it ends with the call
            position = None if g is None else self._results.fetch(self._tracer.lift(g)).position
            effects.gradients.append((self._outside(t), position))

    def _add_cells(self, effects: Effects) -> None:
        """Variables, attributes and entries that hold something else."""
        # what has become a list or dict of the run is told of as a whole, unless it only got more entries
        whole = {id(items) for items, staged in self._tracer.replaced.values() if isinstance(staged, StagedDict) or not staged.has_grown()}
        for cell in self._changed():
            if id(cell.target) in whole:
                continue
            if isinstance(cell, EntryCell):
                require_no_id(cell.entry)
            if isinstance(cell, OrderCell):
                if id(cell.target) not in self._tracer.attributes:
                    effects.cells.append((_outer(cell, self._paths), Constant(cell.read())))
                continue
            start = self._tracer.root.gained(cell.target) if isinstance(cell, ListCell) else None
            if start is not None:
                cell = AppendCell(cell.target, start)
            before = self._tracer.root.entry(cell.target, cell.entry) if isinstance(cell, EntryCell) else None
            self._require_no_parameter(cell.name, cell.read(), before)
            try:
                recipe = Constant(cell.read()) if isinstance(cell.read(), Undefined) else self._results.recipe(cell.read())
            except LeakError as error:
                raise error.at(None) from None
            effects.cells.append((_outer(cell, self._paths), recipe))

    def _add_dynamic(self, effects: Effects) -> None:
        """Lists and dicts outside of which only the run knows what is in them."""
        for items, staged in self._tracer.replaced.values():
            if isinstance(staged, StagedDict) and self._results.was_there(items):
                if self._exact:
                    raise StructureError("a dict has some of its keys only in some runs", hint=DECIDE)
                self._require_no_parameter("a dict", list(staged.values_of.values()))
                effects.cells.append((_outer(DictCell(items), self._paths), self._results.dict_of(staged)))
            elif self._results.was_there(items):
                if self._exact:
                    for part in parts_of(staged):
                        self._results.require_exact(part)
                if id(items) in self._paths or self._is_held(items):
                    for part in parts_of(staged):
                        self._tracer.aliases.require_fresh(part, self._tracer.block, "kept after the call")
                if all(part._value is part.start for part in parts_of(staged)):
                    continue  # it holds what it held
                for part in parts_of(staged):
                    self._require_no_parameter("a list", part)
                # the old entries stay the objects that they are
                cell, value = (AppendCell(items, len(items)), staged[len(items) :]) if staged.has_grown() else (ListCell(items), staged)
                effects.cells.append((_outer(cell, self._paths), self._results.list_of(value)))

    def _is_held(self, items: list) -> bool:
        """Whether a place outside holds a list still: who else holds what another list has replaced there is not known.
        docs/reference/limits.md says so."""
        read = (OuterVariable(*v) for f in self._tracer.functions.values() for v in read_outside(f))
        outside = (c for c in self._tracer.containers if isinstance(c, (list, deque, dict, OuterVariable)) and self._results.was_there(c))
        return any(x is items for c in (*outside, *read) for x in (c if isinstance(c, (list, deque)) else c.values()))

    def _changed(self) -> list[Cell]:
        """What is changed of the outside, with the numbers that are inputs and got, in the trace, the value that they had in it."""
        numbers = {place_of(n.holder, n.entry): n for n in self._numbers}

        def is_fed(place: tuple, now: Any) -> bool:
            number = numbers.get(place)
            return number is not None and isinstance(now, Tensor) and now._value is number.variable

        def is_as_given(cell: Cell) -> bool:
            """Whether it is a number that is fed, or a list of others and of such: to write it back would undo what another thread has set
            meanwhile."""
            if isinstance(cell, ListCell):
                old, now = self._tracer.root.saved(cell.target), cell.target
                places = [(id(now), i) for i in range(len(now))]
                return len(old) == len(now) and all(
                    is_fed(place, x) if place in numbers else x is y for place, x, y in zip(places, now, old, strict=True)
                )
            return isinstance(cell, EntryCell) and is_fed(place_of(cell.target, cell.entry), cell.read())

        cells = [c for c in self._tracer.root.changed() if self._results.was_there(c.target) and not is_as_given(c)]
        cells += [EntryCell(vars(p), name) for p in self._placeholders for name in attributes_of_tensor(p)]
        holders = (ListCell(n.holder) if type(n.holder) is list else EntryCell(n.holder, n.entry) for n in self._numbers)
        known = set(map(_place, cells))
        numbered = {_place(c): c for c in holders}
        return cells + [c for place, c in numbered.items() if place not in known and not is_as_given(c)]

    def _outside(self, t: Tensor) -> Tensor | int:
        """A tensor of the outside, or the position of an argument."""
        return next((i for i, p in enumerate(self._placeholders) if p is t), t)

    def _require_no_parameter(self, name: str, value: Any, before: Any = None) -> None:
        """StructureError for a value that outlives the call and may be a parameter or buffer, other than the one that was there before:
        it would not change with it as an optimizer steps."""
        for leaf in flatten(value)[0]:
            others = self._tracer.aliases.of(leaf).values() if isinstance(leaf, (Tensor, StagedList)) else ()
            if any(id(t) in self._tracer.captures and t.persistable and t is not before for t in others):
                raise StructureError(
                    f"{name} is, or holds, a parameter or buffer itself after the call on some path, as only the run knows",
                    hint="keep a copy (self.w.clone()), or a Python value that says which it is",
                )


def replaced(effects: Effects) -> set[tuple]:
    """The places where a call puts another object, while it leaves the one that was there as it is."""
    cells = [c for c, _ in effects.cells if isinstance(c, Cell)]
    targets = {id(c.target) for c in cells}
    found = set()
    for c in cells:
        if isinstance(c, EntryCell):
            old = value_at(c.target, c.entry)
            if id(old) not in targets and id(getattr(old, "__dict__", None)) not in targets:
                found.add(place_of(c.target, c.entry))
    return found


def _outer(cell: Cell, paths: Mapping[int, tuple]) -> Cell | ArgumentCell:
    path = paths.get(id(cell.target))
    if path is None:
        return cell
    if isinstance(cell, EntryCell):
        entry = cell.entry
        return ArgumentCell(path, lambda target: EntryCell(target if isinstance(target, dict) else vars(target), entry))
    if isinstance(cell, AppendCell):
        return ArgumentCell(path, lambda target: AppendCell(target, len(target)))
    return ArgumentCell(path, type(cell) if isinstance(cell, (DictCell, OrderCell)) else ListCell)


def _place(cell: Cell) -> tuple:
    """Identifies a cell; the same for all that stand for one variable."""
    return place_of(cell.target, cell.entry) if isinstance(cell, EntryCell) else cell.key
