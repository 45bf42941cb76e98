"""What a recursive function changes outside of it: its state, which each call is given and returns. See `recursion`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import StructureError
from ...tensor import Tensor
from .. import roles
from ..alias.points_to import objects_at
from ..effects.cells import Cell, ListCell, TensorCell
from ..effects.may_alias import who
from ..effects.region_frames import Changes, Growth
from ..regions.carried_cells import new_cells
from ..regions.phi_leaves import Const, Node, Pattern, variables
from ..values.containers import containers_of, held_by
from ..values.join_types import same
from ..values.staged_list import StagedList
from .join import Fitter

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.BOOKKEEPING


class OuterState:
    """The state of one function.

    Args:
        promote: makes a list outside one of dynamic length, or a dict one that has keys in some runs only.
        refused: the error for what cannot be such a state, which it names.

    Attributes:
        cells: the places that are changed, by their keys.
    """

    def __init__(self, tracer: Tracer, fitter: Fitter, promote: Callable[[Any, Any], None], refused: Callable[[str], StructureError]):
        self._tracer, self._fitter, self._promote, self._refused = tracer, fitter, promote, refused
        self.cells: dict[tuple, Cell] = {}

    def values(self) -> tuple[Any, ...]:
        """What is in the cells now."""
        return tuple(cell.read() for cell in self.cells.values())

    def enter(self, patterns: Sequence[Pattern], values: Sequence[Any]) -> None:
        """The body begins: what varies in the cells is what the call was given."""
        for cell, pattern, value in zip(self.cells.values(), patterns, values, strict=True):
            if not isinstance(pattern, Const):
                cell.write(value)

    def modify(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        """A call modifies what is in the cells: tensors and lists that may be one with what it returns then, are as it leaves them."""
        for cell, before, value in zip(self.cells.values(), old, new, strict=True):
            if isinstance(cell, TensorCell) and not same(before, value):
                self._tracer.aliases.mutated(cell.target, self._tracer.block)

    def become(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        """A call has returned what the cells hold from then on."""
        for cell, before, value in zip(self.cells.values(), old, new, strict=True):
            if not same(before, value):
                cell.write(value)

    def fit(self, patterns: Sequence[Pattern], before: Sequence[Any], new: Sequence[Any]) -> list[Pattern]:
        """The patterns, widened for further values."""
        kept = zip(patterns, before, new, self.cells.values(), strict=True)
        return [self._fitter.fit(p, old, value, cell.name) for p, old, value, cell in kept]

    def require_plain(self, patterns: Sequence[Pattern], values: Sequence[Any]) -> None:
        """StructureError if a container is replaced by another one: who else holds it would not see what becomes of that."""
        for p, x, cell in zip(patterns, values, self.cells.values(), strict=True):
            # the contents of a list are read as a new one each time, which is no object that anybody holds
            own = isinstance(cell, ListCell) and isinstance(p, Node)
            if not isinstance(cell, TensorCell) and sum(1 for _ in objects_at(p, x)) > own:
                raise self._refused(cell.name)

    def takes_in(self, changes: Changes, grown: Sequence[Growth], own: Collection[int]) -> bool:
        """Takes in what a body has changed, if anything is new.

        Args:
            changes, grown: see `Outcome`.
            own: the ids of the containers that stand for arguments, which are others in each call.

        Returns:
            whether anything is.
        """
        known, promoted = len(self.cells), len(self._tracer.replaced)

        def promote(items: Any, later: Any) -> None:
            if id(items) in own:
                raise self._refused("an argument")
            self._promote(items, later)

        for items, later in grown:
            promote(items, later)
        if not grown:
            for cell, _ in new_cells(self._tracer, changes, self.cells.keys(), self._fitter.why, promote):
                if id(cell.target) in own:
                    raise self._refused("an argument")
                self.cells[cell.key] = cell
        if self._has_twin():
            raise self._refused("what may be one of several objects, as only the run knows")
        return len(self.cells) > known or len(self._tracer.replaced) > promoted

    def _has_twin(self) -> bool:
        """Whether something that is modified in place may be another object that can be reached: a call would not see it change there."""
        aliases = self._tracer.aliases
        # a list is also known to be one with what it may hold
        others = {key for cell in self.cells.values() if isinstance(cell, TensorCell) for key, x in aliases.of(cell.target).items()
                  if not isinstance(cell.target, StagedList) or isinstance(x, StagedList)}  # fmt: skip
        if not others:
            return False
        held = self._tracer.reachable()
        held += [v for c in containers_of(*held) for v in held_by(c)]
        return any(id(who(v)) in others for v in held if isinstance(v, (Tensor, StagedList)))

    def objects(self, p: Pattern, leaves: Iterable[Any]) -> list[Any]:
        """What objects there are at the varying leaves of a pair: the contents of a list that changes are those of that list; None for
        the value of a tensor that is modified, which is no object of its own."""
        found = list(leaves)
        place = len(list(variables(first_of(p))))
        for cell, part in zip(self.cells.values(), state_of(p), strict=True):
            count = len(list(variables(part)))
            if isinstance(cell, TensorCell):
                found[place : place + count] = [cell.target if isinstance(cell.target, StagedList) else None] * count
            place += count
        return found


# ---- pairs of the arguments, or the result, and the state ----
def pair(first: Pattern, state: Iterable[Pattern]) -> Pattern:
    return Node(tuple, (), (first, Node(tuple, (), tuple(state))))


def first_of(p: Pattern) -> Pattern:
    assert isinstance(p, Node)
    return p.children[0]


def state_of(p: Pattern) -> tuple[Pattern, ...]:
    assert isinstance(p, Node)
    state = p.children[1]
    assert isinstance(state, Node)
    return state.children
