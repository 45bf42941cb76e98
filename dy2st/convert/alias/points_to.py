"""Points-to graph between abstract objects and lists of dynamic length; see `list_sharing`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block

from ...tensor import Tensor
from .. import roles
from ..effects.may_alias import Marks
from ..regions.phi_leaves import Const, Pattern, Var, in_order
from ..values.kind_codes import MaybeNumbers
from ..values.maybe_attribute import MaybeAttribute
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeObject, MaybeValue
from ..values.one_of import OneOf
from ..values.record_list import RecordList
from ..values.staged_list import StagedList
from ..values.trees import MaybeNumber, split
from .alternatives import contents_of

ROLE = roles.BOOKKEEPING

# edges of the graph: how an object has come to be in a list, or out of it
INITIAL = "it was there when the list became one of dynamic length"
STORED = "it was put in"
MAY_STORED = "what may be the same object was put in"
LOADED = "it was read, and is there still"
MOVED_OUT = "it was taken out, and is there no more"

# how two lists may have entries in common
HAS = "the one may have entries of the other"
ALL = "the one has got all entries of the other, or some at once"
OF = "the other may have entries of the one"
COMMON = "an object is in both"


@dataclass(eq=False)
class AbstractObject:
    """What stands for one list, dict or object of the user, or for a list of dynamic length.

    Attributes:
        contents: what identifies it.
        is_list: whether it is a list of dynamic length whose entries are put together of others.
        block: where it was first met.
        parts: the ones of which it is one, as a branch or a loop has made it of them.
        users: those that were made so of it.
    """

    value: Any
    contents: Any
    is_list: bool
    block: Block
    parts: list[AbstractObject] = field(default_factory=list)
    users: list[AbstractObject] = field(default_factory=list)
    _who: None = None

    def origins(self) -> Collection[AbstractObject]:
        """All that it may be, itself and what was there before it."""
        return closure([self], lambda t: t.parts)

    def family(self) -> Collection[AbstractObject]:
        """All that may be the same object."""
        return closure(self.origins(), lambda t: t.users)


def closure(start: Iterable[AbstractObject], more: Callable[[AbstractObject], Iterable[AbstractObject]]) -> Collection[AbstractObject]:
    """These, and all that leads on from them."""
    found: dict[int, AbstractObject] = {}
    left = list(start)
    while left:
        t = left.pop()
        if id(t) not in found:
            found[id(t)] = t
            left += more(t)
    return found.values()


@dataclass(frozen=True)
class Place:
    """An object may be in a list, or come from there.

    Attributes:
        how: one of the words above.
        turn: of what was taken out: which reading it was, and the body of the loop over the list that has read it.
        entry: what is known of the index there, and what the list was then.
        at: the line.
    """

    how: str
    items: AbstractObject
    turn: tuple[int, Block | None] = (0, None)
    entry: tuple[Any, Any] = (None, None)
    at: Location | None = field(default=None, compare=False)

    def is_another(self, other: Place) -> bool:
        """Whether both are of one list without changes between, and surely not of the same entry."""
        (i, one), (j, two) = self.entry, other.entry
        return one is not None and one is two and isinstance(i, int) and isinstance(j, int) and i != j and (i < 0) is (j < 0)


@dataclass(frozen=True)
class Move:
    """The entry that a list had at an index, `source` (see `Place.entry`), becomes that at another one."""

    source: tuple[Any, Any]
    target: Any
    at: Location | None = field(default=None, compare=False)


class Moves(Marks):
    """Entries that change their places in lists. Where they do not change them among each other some are there twice.

    Args:
        twice: gets these lists.
    """

    def __init__(self, twice: Marks):
        super().__init__()
        self._twice = twice

    def leave(self, blocks: Sequence[Block], parent: Block) -> None:
        for block in blocks:
            self.end(block, parent)

    def end(self, block: Block, parent: Block) -> None:
        """The block has come to its end."""
        found: dict[tuple[int, int], tuple[AbstractObject, list[Move]]] = {}
        for items, move in self.all_within(block):
            found.setdefault((id(items), id(move.source[1])), (items, []))[1].append(move)
        for items, moves in found.values():
            sources, targets = {m.source[0] for m in moves}, {m.target for m in moves}
            if sources != targets or len(sources) < len(moves):
                self._twice.set(items, parent, moves[0].at)


@dataclass(frozen=True)
class Link:
    """A list may have entries in common with another one.

    Attributes:
        how: one of the words above. INITIAL: both had them when they became lists of dynamic length.
            MOVED_OUT: the other one has lost them.
    """

    other: AbstractObject
    how: str
    at: Location | None = field(default=None, compare=False)


# around a value that is there in some runs only
_SHELLS = (MaybeAttribute, MaybeObject, MaybeValue)


def objects_in(value: Any) -> Iterator[Any]:
    """The objects in a value that can be changed in place: those within others first."""
    if isinstance(value, StagedList):
        yield value
    if isinstance(value, (StagedList, Tensor, OneOf)):
        return
    _, children = split(value)
    for child in children or ():
        yield from objects_in(child)
    if children is not None and not isinstance(value, _SHELLS) and contents_of(value) is not None:
        yield value


def objects_at(p: Pattern, value: Any) -> Iterator[Any]:
    """What a value has where objects with an identity are in a pattern that varies, as many for each value."""
    if isinstance(p, Var) and p.type.kind == "array":
        yield value
    if isinstance(p, (Const, Var)) or p.kind in (MaybeNone, MaybeNumber, OneOf):
        return
    if p.kind not in (RecordList, MaybeNumbers):
        for child, x in zip(p.children, in_order(p, value), strict=True):
            yield from objects_at(child, x)
    if p.kind not in _SHELLS and not issubclass(p.kind, tuple):
        yield value
