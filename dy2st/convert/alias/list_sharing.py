"""Which lists, dicts and objects a list of dynamic length may have in common with another one, with itself, or with what else is kept.

Such a list holds what was in its entries, and gives out new ones (see `entries`). While the trace runs nobody can tell; but where two
of those that are one object in eager mode are kept after the call, they would be two from then on. So there are marks of each object
that say in which lists it may be, and of each list with which others it may share entries, in the blocks in which that holds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block

from ...tensor.location import user_location
from .. import roles
from ..effects.may_alias import Marks, who
from ..effects.snapshot import Snapshot
from ..regions.phi_leaves import Pattern
from ..values.list_indices import key_of
from ..values.record_list import RecordList
from ..values.staged_list import StagedList
from .alternatives import contents_of
from .loop_carried import Iteration
from .points_to import (
    ALL,
    COMMON,
    HAS,
    INITIAL,
    LOADED,
    MAY_STORED,
    MOVED_OUT,
    OF,
    STORED,
    AbstractObject,
    Link,
    Move,
    Moves,
    Place,
    closure,
    objects_at,
    objects_in,
)

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.BOOKKEEPING

# the values of several variables, and the block in which they have these
Side = tuple[Block, Sequence[Any]]


class Sharing:
    """What is known of a trace.

    Attributes:
        inside: the marks of objects, a `Place` each.
        linked: those of lists, a `Link` each.
        twice: the lists that may have an object in them twice: INITIAL, or the line where it is put in again.
        moves: those in which entries change their places, a `Move` each.
        turn: the body of the loop that reads its next item now.
    """

    def __init__(self, tracer: Tracer):
        self._tracer = tracer
        self._objects: dict[int, AbstractObject] = {}
        self._lists: list[AbstractObject] = []
        self._readings = 0
        self._beginning = False
        self._as_one = False
        self.inside, self.linked, self.twice = Marks(), Marks(), Marks()
        self.moves = Moves(self.twice)
        tracer.aliases.marks += self.inside, self.linked, self.twice, self.moves
        self.turn: Block | None = None
        # lists of Python that a branch or a loop has made one of dynamic length of, with that, and how what was in them is in it
        self._taken_in: list[tuple[list, RecordList, str]] = []

    def __bool__(self) -> bool:
        return bool(self._lists)

    @property
    def block(self) -> Block:
        return self._tracer.block

    def abstract_object(self, x: Any) -> AbstractObject | None:
        """What stands for a value; None if it is none that could be changed in place."""
        contents = who(x.columns[0]) if isinstance(x, RecordList) else who(x) if isinstance(x, StagedList) else contents_of(x)
        if contents is None:
            return None
        found = self._objects.get(id(contents))
        if found is None:
            found = self._objects[id(contents)] = AbstractObject(x, contents, isinstance(x, RecordList), self.block)
            if found.is_list:
                self._lists.append(found)
        return found

    def known(self, contents: Any) -> AbstractObject | None:
        """What stands for it, if anything does."""
        return self._objects.get(id(contents))

    def same(self, items: Any, other: Any) -> None:
        """A list, which may be an entry itself, is another object of the trace from now on."""
        if isinstance(other, StagedList) and (found := self._objects.get(id(who(items)))) is not None:
            self._objects[id(who(other))] = found

    # ---- entries ----
    def put(self, entry: Any, items: RecordList, index: Any = None) -> None:
        """An entry is put into a list, in the place of that at an index, if one is given."""
        into, at, block = self._list(items), user_location(), self.block
        how = INITIAL if self._beginning else STORED
        for x in objects_in(entry):
            t = self.abstract_object(x)
            assert t is not None
            places = self.inside.of(t, block)
            if self._is_in(places, into):
                source = next((p.entry for p in places if p.items is into and p.how == LOADED), (None, None))
                if index is not None and source[1] is not None:
                    self.moves.set(into, block, Move(source, key_of(index), at))
                    continue
                for other in into.family():
                    self.twice.set(other, block, INITIAL if how == INITIAL else at)
            self._put(t, into, how, places, at)

    def _put(self, t: AbstractObject, into: AbstractObject, how: str, places: Iterable[Place], at: Location | None) -> None:
        """An object, which may be in some places already, is put into a list, and into all that this may be."""
        for items in into.family():
            for p in places:
                self._link(items, p, INITIAL if p.how == how == INITIAL else COMMON, at)
            for other in t.family():
                same = other is t and items is into
                self.inside.set(other, self.block, Place(how if same else MAY_STORED, items, at=at))

    def _link(self, items: AbstractObject, p: Place, common: str, at: Location | None) -> None:
        """A list gets an object that may be in another one, or come from there."""
        if p.how == MOVED_OUT and not self.twice.of(p.items, self.block):
            self.link(items, p.items, MOVED_OUT, at)
        else:
            self.link(items, p.items, HAS if p.how in (LOADED, MOVED_OUT) else common, at)

    def took(self, entry: Any, items: RecordList, index: Any = None, *, popped: bool = False, turn: Block | None = None) -> Any:
        """The entry, which was taken out of a list; `turn` is the body of the loop over the list that has asked for it."""
        source, at = self._list(items), user_location()
        self._readings += 1
        for x in objects_in(entry):
            t = self.abstract_object(x)
            assert t is not None
            known = (None, None) if index is None else (key_of(index), items.columns[0]._value)
            self.inside.set(t, self.block, Place(MOVED_OUT if popped else LOADED, source, (self._readings, turn), known, at))
        return entry

    def _is_in(self, places: Iterable[Place], items: AbstractObject) -> bool:
        """Whether an object that may be in these places may be in a list."""
        same = items.family()
        for p in places:
            if p.items in same:
                if p.how != MOVED_OUT or self.twice.of(p.items, self.block):
                    return True
            elif p.how in (LOADED, MOVED_OUT):
                # the other entries of a list over which a loop runs are others
                home = self.block if p.turn[1] is None else p.turn[1].parent
                if home is not None and self.shares(p.items, items, home):
                    return True
        return False

    @contextlib.contextmanager
    def _while(self, attribute: str, value: Any) -> Iterator[None]:
        """Within this `with` an attribute has another value."""
        before = getattr(self, attribute)
        setattr(self, attribute, value)
        try:
            yield
        finally:
            setattr(self, attribute, before)

    def beginning(self) -> contextlib.AbstractContextManager[None]:
        """Within this `with` a list becomes one of dynamic length: what is put in has been there."""
        return self._while("_beginning", True)

    def in_turn(self) -> contextlib.AbstractContextManager[None]:
        """Within this `with` a loop asks for the item of an iteration, in whose body it is."""
        return self._while("turn", self.block)

    # ---- lists ----
    def derived(self, new: RecordList, *sources: RecordList) -> None:
        """A list gets the entries of others."""
        into, block = self._list(new), self.block
        found = [self._list(s) for s in sources]
        for i, source in enumerate(found):
            for at in self.twice.of(source, block):
                self.twice.set(into, block, at)
            if not self._as_one and any(self.shares(source, s, block) for s in found[:i]):
                self.repeats(new)
            self.link(into, source, ALL, user_location())

    def replaced(self, items: Any, new: Any) -> None:
        """A list of dynamic length gets the entries of another one, in the place of its own."""
        if isinstance(items, RecordList):
            self.derived(items, new)

    def in_common(self, a: RecordList, b: RecordList) -> bool:
        """Whether two lists may have entries in common."""
        return self.shares(self._list(a), self._list(b), self.block)

    def emptied(self, items: RecordList) -> None:
        """A list has lost all its entries: what is put into it from now on is in another one, as far as is known here."""
        if not self._tracer.frames:
            contents = self._list(items).contents
            del self._objects[id(contents)]
            self.abstract_object(items)

    def repeats(self, items: RecordList) -> None:
        """A list has its entries more than once."""
        self.twice.set(self._list(items), self.block, user_location())

    def as_one(self) -> contextlib.AbstractContextManager[None]:
        """Within this `with` parts of one list, which have nothing in common, are put together again."""
        return self._while("_as_one", True)

    def _list(self, items: RecordList) -> AbstractObject:
        found = self.abstract_object(items)
        assert found is not None
        return found

    def link(self, a: AbstractObject, b: AbstractObject, how: str, at: Location | None) -> None:
        """Two lists may have entries in common."""
        if a is not b:
            self.linked.set(a, self.block, Link(b, how, at))
            if how != MOVED_OUT:
                self.linked.set(b, self.block, Link(a, OF if how in (ALL, HAS) else how, at))

    def sources(self, items: AbstractObject, block: Block) -> Collection[AbstractObject]:
        """The lists of which one may have entries, itself among them, as seen from a block."""
        return closure([items], lambda t: [k.other for k in self.linked.of(t, block) if k.how in (ALL, HAS)])

    def connected(self, items: AbstractObject, block: Block) -> Collection[AbstractObject]:
        """The lists that have something to do with one, itself among them."""
        return closure([items], lambda t: [k.other for k in self.linked.of(t, block) if k.how != MOVED_OUT])

    def shares(self, a: AbstractObject, b: AbstractObject, block: Block,
               counts: Callable[[AbstractObject, Link], bool] = lambda t, k: True) -> bool:  # fmt: skip
        """Whether two lists may have entries in common; `counts` says of a list and a link whether that is one."""
        one, other = self.sources(a, block), self.sources(b, block)
        links = [k for t in one for k in self.linked.of(t, block) if k.how in (INITIAL, COMMON) and counts(t, k)]
        return any(t in other for t in (*one, *(k.other for k in links)))

    # ---- branches and loops ----
    def merged(self, patterns: Sequence[Pattern], new: Sequence[Any], sides: Sequence[Side],
               original: Callable[[Any], Any] = lambda x: x, how: str = STORED,
               carried: Sequence[tuple[Any, Any]] = ()) -> None:  # fmt: skip
        """The values of these patterns stand for those of the sides.

        Args:
            original: says for which object a value of a side is a copy.
            how: how what was in lists of Python is in those of dynamic length that stand for them; INITIAL where a loop begins with them.
            carried: the objects that an iteration begins with, each with the one that it leaves to the next.
        """
        for p, value, *parts in zip(patterns, new, *(values for _, values in sides), strict=True):
            for made, *olds in zip(objects_at(p, value), *(objects_at(p, x) for x in parts), strict=True):
                for (block, _), old in zip(sides, olds, strict=True):
                    if isinstance(made, RecordList) and type(old) is list:
                        self._taken_in.append(([*map(original, old), *_handed_on(old, carried)], made, how))
                    elif type(old) is type(made) or (isinstance(made, StagedList) and type(old) is list):
                        self.stands_for(made, original(old), block)

    def stands_for(self, new: Any, old: Any, block: Block) -> None:
        """An object that was made is, in some runs, one that a block has."""
        t, part = self.abstract_object(new), self.abstract_object(old)
        if t is None or part is None or t is part:
            return
        if part not in t.parts:
            t.parts.append(part)
            part.users.append(t)
        for marks in (self.inside, self.twice):
            for at in marks.of(part, block):
                marks.set(t, self.block, at)
        if t.is_list:
            self.link(t, part, HAS, user_location())

    def returned(self, new: Any, old: Any, given: Sequence[Any]) -> None:
        """A call of a function of the Program has returned an object like that of the body, or one of those that it was given."""
        if isinstance(new, RecordList) and type(old) is list:
            self._taken_in.append((old, new, STORED))
            return
        t, part, block = self.abstract_object(new), self.abstract_object(old), self.block
        if t is None or part is None or type(new) is not type(old):
            return
        if t.is_list:
            self.linked.set(t, block, Link(part, MOVED_OUT, user_location()))  # another call returns another list
            for at in [at for x in self.connected(part, block) for at in self.twice.of(x, block)]:
                self.twice.set(t, block, at)
        else:
            self.stands_for(new, old, block)
        for x in given:
            if type(x) is type(new):
                self.stands_for(new, x, block)
            elif t.is_list and type(x) is list:
                self._taken_in.append((x, new, STORED))

    def among(self, x: Any, others: Sequence[Any]) -> list[int]:
        """Which of the others a value may be, or may share entries with, by their positions."""
        t = self.abstract_object(x)
        if t is None:
            return []
        found = self.connected(t, self.block) if t.is_list else t.origins()
        return [i for i, other in enumerate(others) if self.abstract_object(other) in found]

    def settle(self) -> None:
        """The variables have got what a branch or a loop has made: what lists of Python held is in lists of dynamic length from now on."""
        found, self._taken_in = self._taken_in, []
        for items, staged, how in found:
            into, at = self._list(staged), user_location()
            inside = [t for x in items for o in objects_in(self._tracer.entries.lent(x)) if (t := self.abstract_object(o)) is not None]
            if len(set(map(id, inside))) < len(inside):
                self.repeats(staged)
            for t in inside:
                self._put(t, into, how, self.inside.of(t, self.block), at)

    def iterated(self, before: Snapshot, body: Block, patterns: Sequence[Pattern], starts: Sequence[Any], ends: Sequence[Any],
                 moved: Collection[int] = ()) -> None:  # fmt: skip
        """The body of a loop has come to its end: what the next iteration begins with, and puts in again.

        Args:
            before: what there was when the iteration began.
            starts, ends: the values of the varying variables at its begin and at its end.
            moved: the ids of the lists whose entries have got other indices.
        """
        if self:
            values = zip(patterns, starts, ends, strict=True)
            pairs = [x for p, a, b in values for x in zip(objects_at(p, a), objects_at(p, b), strict=True)]
            objects = [(self.abstract_object(a), self.abstract_object(b)) for a, b in pairs if type(a) is type(b)]
            Iteration(self, before, body, objects, moved).settle()


def _handed_on(items: list, carried: Sequence[tuple[Any, Any]]) -> list[Any]:
    """What objects in a list may be, too, that iterations before have left."""
    inside = {id(o) for x in items for o in objects_in(x)} if carried else set()
    left, found = list(carried), []
    while reached := [pair for pair in left if id(pair[0]) in inside]:
        left = [pair for pair in left if id(pair[0]) not in inside]
        found += [end for begin, end in reached if end is not begin]
        inside |= {id(o) for x in found for o in objects_in(x)}
    return found
