"""Which tensors of a trace may be one object in eager mode.

A branch or a loop gives a variable a new tensor, where Python would have given it one of several that exist already. While all
of them are only read, nobody can tell. Once one is modified in place the others are *stale*: in some runs they are the same object
and would have changed too. Whoever reads a stale tensor gets an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable

from ...errors import StructureError
from ...tensor import Tensor
from ...tensor.location import user_location
from .. import roles
from ..values.staged_list import StagedList

ROLE = roles.BOOKKEEPING

# the ops that put objects into lists, or take them out
ON_LISTS = {"array_append", "array_insert", "array_set", "array_extend", "array_take", "read_from_array", "array_pop", "array_remove"}

# a value, and the block in which it is the one that goes on
Source = tuple[Block, Any]


def who(x: Any) -> Any:
    """The object that a tensor or a list is in eager mode: several objects of the trace can stand for one."""
    return x if type(x) is list or x._who is None else x._who


def shared(x: Any) -> bool:
    """Whether a value is one that others may modify in place: numbers are not."""
    return isinstance(x, (list, StagedList)) or (isinstance(x, Tensor) and not (x._weak and x._kinds is None))


class Aliases:
    """The relation "may be one object" of a trace, and what is stale.

    Attributes:
        mutations: how often something was modified in place so far, or told from another object.
        merged_lists: whether a list stands for one of several.
        marks: all that ends with the block in which it is known, and is known in the one around from then on.
    """

    def __init__(self) -> None:
        self.mutations = 0
        self.merged_lists = False
        self._of: dict[int, dict[int, Any]] = {}
        # what a value surely is one of, or a list holds
        self._made_of: dict[int, dict[int, Any]] = {}
        # those of them that had a value of a block when they came in, by its id
        self._from: dict[int, list[Any]] = {}
        self._alive: dict[int, Any] = {}
        self.stale = Marks()
        self.held = Marks()
        self._kinds = self.stale, self.held
        self.marks: list[Marks] = [*self._kinds]
        self._lists: dict[int, dict[int, Any]] = {}
        self._plain: dict[int, dict[int, list]] = {}

    def of(self, x: Any) -> dict[int, Any]:
        """What x may be besides itself, by id; or, of a list, what it may hold: one of Python, which a path makes, is asked itself."""
        if type(x) is list:
            return {key: other for v in x if shared(v) for key, other in self.within(v).items()}
        return self._of.get(id(who(x)), {})

    def all_of(self, x: Any) -> dict[int, Any]:
        """The same, with x itself."""
        return {id(who(x)): who(x), **self.of(x)}

    def merge(self, group: Sequence[tuple[Any, Sequence[Source]]], block: Block) -> None:
        """Each new value, made in a block, stands for one of its sources; if one of these is stale, it is stale too.

        Two of the new ones may be one object only if their sources on the same path may be.
        """
        values = [(new, [(home, s) for home, s in sources if shared(s)]) for new, sources in group if shared(new)]
        before = {id(who(s)): self.all_of(s) for _, sources in values for _, s in sources}
        for new, sources in values:
            self.consists(new, {key: v for _, s in sources for key, v in self.candidates_of(s).items()})
            for home, s in sources:
                self.link(new, before[id(who(s))])
                self.mark_like(new, block, s, home)
            if isinstance(new, StagedList):
                self.merged_lists = True
                self._alive[id(who(new))] = who(new)
                self._plain.setdefault(id(who(new)), {}).update((id(x), x) for _, s in sources for x in self.plain(s))
        for i, (one, parts) in enumerate(values):
            for other, others in values[:i]:
                pairs = [(id(who(s)), id(who(t))) for p, s in parts for q, t in others if p is q]
                # a list of Python knows what it holds, and not the other way round
                if any(t in before[s] or s in before[t] for s, t in pairs):
                    self.link(one, {id(who(other)): who(other)})

    def consists(self, new: Any, parts: dict[int, Any]) -> None:
        """A value is one of these, or a list holds them."""
        self._made_of[id(who(new))], self._alive[id(who(new))] = parts, who(new)

    def candidates_of(self, x: Any) -> dict[int, Any]:
        """What a value that a branch or a loop has made is one of, or what a list holds, by id; itself, if it is an object of its own."""
        if type(x) is list:
            return {key: v for one in x if shared(one) for key, v in self.candidates_of(one).items()}
        return self._made_of.get(id(who(x)), {id(who(x)): who(x)})

    def mark_like(self, new: Any, block: Block, x: Any, home: Block) -> None:
        """What is known of x in its block is so of what may be x in another one."""
        for marks in self._kinds:
            for at in marks.of(x, home):
                marks.set(new, block, at)

    def marked(self, values: Sequence[Any], block: Block) -> dict[tuple[int, int], Any]:
        """What is known of values in a block, one place for each of its kinds, for `mark` to say of others that stand for them."""
        found = ((k, i, marks.of(x, block)) for k, marks in enumerate(self._kinds) for i, x in enumerate(values) if shared(x))
        return {(k, i): places[0] for k, i, places in found if places}

    def mark(self, values: Sequence[Any], known: Mapping[tuple[int, int], Any], block: Block) -> None:
        """The same is known of these values, which stand for others, in a block."""
        for (k, i), at in known.items():
            self._kinds[k].set(values[i], block, at)

    def plain(self, x: Any) -> Iterable[list]:
        """The lists of Python that a list may be."""
        if not isinstance(x, StagedList):
            return [x] if type(x) is list else []
        return self._plain.get(id(who(x)), {}).values()

    def replaces(self, new: Any, items: list) -> None:
        """A list of dynamic length has taken the place of one of Python, or a column of it has."""
        self._alive[id(who(new))] = who(new)
        self._plain.setdefault(id(who(new)), {})[id(items)] = items

    def related(self, x: Any, y: Any) -> bool:
        """Whether two values are one object, or may be, or one is a list that may hold the other."""
        return who(x) is who(y) or id(who(y)) in self.of(x) or id(who(x)) in self.of(y)

    def may_meet(self, x: Any, y: Any) -> bool:
        """Whether two values are, or may be, one object, or both may be a third one, or the entry of one list."""
        return not {id(who(x)), *self.of(x)}.isdisjoint({id(who(y)), *self.of(y)})

    def may_be_one(self, x: Any, y: Any) -> bool:
        """Whether the two are one object in some runs, for code that tells."""
        self.mutations += 1
        return self.related(x, y)

    def link(self, x: Any, others: dict[int, Any]) -> None:
        """x may be each of the others."""
        me = who(x)
        known = self._of.get(id(me), {})
        for key, other in others.items():
            if key not in known and other is not me and type(other) is not list:
                self._alive[key], self._alive[id(me)] = other, me
                known = self._known(me)
                known[key] = other
                self._known(other)[id(me)] = me

    def _known(self, x: Any) -> dict[int, Any]:
        known = self._of.get(id(x))
        if known is None:
            known = self._of[id(x)] = {}
            self._note(x)
        return known

    def _note(self, x: Any) -> None:
        if isinstance(x._value, Variable):
            self._from.setdefault(id(x._value.block), []).append(x)

    def _forget(self, x: Any) -> None:
        self._made_of.pop(id(x), None)
        for key in self._of.pop(id(x), {}):
            self._of[key].pop(id(x), None)

    def passed(self, op: str, ins: dict[str, Any], outs: Sequence[Any]) -> None:
        """One of the ops `ON_LISTS` has been traced: what it puts into a list, or takes out of it, is that object itself."""
        items = who(ins["Array"] if "Array" in ins else ins["X"])
        held, parts = dict(self._elements(items)), dict(self.candidates_of(items))
        if (x := ins.get("X")) is not None and x is not ins.get("Array") and "Array" in ins and shared(x):
            held |= self.within(x)
            parts |= self.candidates_of(x)
        lists = {id(items): items, **self._sharing(items)}
        if "Other" in ins:
            other = who(ins["Other"])
            held |= self._elements(other)
            parts |= self.candidates_of(ins["Other"])
            lists |= {id(other): other, **self._sharing(other)}
        for out in outs:
            self.consists(out, parts)
            if op == "read_from_array" or (len(outs) > 1 and out is outs[1]):
                self.link(out, {**held, **lists} if shared(out) else {})
            else:
                self.link(out, held)
                self._share(out, lists)

    def replaced(self, items: Any, array: Any) -> None:
        """A list gets other contents: those of an array."""
        of = who(array)
        self.link(items, self._elements(of))
        self._share(items, {id(of): of, **self._sharing(of)} if isinstance(of, StagedList) else self._sharing(of))
        self.consists(items, self.candidates_of(array))

    def within(self, x: Any) -> dict[int, Any]:
        """What a list holds that x has been put into: not the lists that x was in before."""
        return {id(who(x)): who(x), **(self._elements(x) if isinstance(x, Tensor) else self.of(x))}

    def _elements(self, items: Any) -> dict[int, Any]:
        """What a list may hold, as far as it has a name elsewhere."""
        return {key: x for key, x in self.of(items).items() if not isinstance(x, StagedList)}

    def _sharing(self, items: Any) -> dict[int, Any]:
        """The other lists that may hold the same objects: copies and slices of each other."""
        found: dict[int, Any] = {}
        for x in (items, *(x for x in self.of(items).values() if isinstance(x, StagedList))):
            found |= self._lists.get(id(x), {})
        return found

    def _share(self, items: Any, lists: dict[int, Any]) -> None:
        me = who(items)
        for key, other in lists.items():
            if other is not me:
                self._alive[key], self._alive[id(me)] = other, me
                self._lists.setdefault(id(me), {})[key] = other
                self._lists.setdefault(key, {})[id(me)] = me

    def mutated(self, x: Any, block: Block) -> None:
        """x is modified in place: what may be x is stale, and lists that may hold that. A list that changes leaves its elements as
        they are."""
        self.mutations += 1
        if isinstance(x, StagedList) and (places := self.held.of(x, block)):
            raise StructureError(
                "a list is changed in place which was put into a list of dynamic length, or taken out of one; in eager mode the entry of "
                f"that would change too{f' (put in, or taken out, at {places[0]})' if places[0] else ''}", location=user_location(),
                hint="put a new list into it (rows[i] = row + [x], or a copy before: rows.append(list(row)))",
            )  # fmt: skip
        found = self.of(x)
        if isinstance(x, StagedList):
            found = {key: other for key, other in found.items() if isinstance(other, StagedList)}
        else:
            tensors = [other for other in found.values() if not isinstance(other, StagedList)]
            held = {key: other for t in tensors for key, other in self.of(t).items() if isinstance(other, StagedList)}
            found = held | found
            lists = [other for other in found.values() if isinstance(other, StagedList)]
            found |= {key: x for items in lists for key, x in self._lists.get(id(items), {}).items()}
        at = user_location()
        for other in found.values():
            if not self.stale.of(other, block):  # of many that are stale already, each level of branches would keep a mark of its own
                self.stale.set(other, block, at)

    def hold(self, items: StagedList, block: Block) -> None:
        """A list is an entry of another one: who changes it has to know of that."""
        for x in (items, *(x for x in self.of(items).values() if isinstance(x, StagedList))):
            self.held.set(x, block, user_location())

    def stacked(self, tensor: Tensor, items: StagedList) -> None:
        """A tensor is made of a list, and stands for it as an entry of another list: with what the list holds."""
        self.link(tensor, self._elements(who(items)))

    def opened(self, items: StagedList, tensor: Tensor) -> None:
        """A list is made of such a tensor: its entries are those of the entry from which the tensor was read."""
        found = self.of(tensor)
        self.link(items, {key: x for key, x in found.items() if not isinstance(x, StagedList)})
        self._share(items, {key: x for key, x in found.items() if isinstance(x, StagedList)})

    def require_fresh(self, x: Any, block: Block, use: str = "used") -> None:
        """StructureError if x is stale."""
        places = self.stale.of(x, block)
        if places:
            at = user_location() if use == "used" else None
            raise StructureError(
                "what is modified in place here is on one path the same object as a tensor or list that is "
                f"{use}{f' at {at}' if at else ''}, and on another path is not; only the run knows whether that changes too",
                location=places[0],
                hint="modify a copy (y = y.clone() before), or compute a new tensor instead of changing this one",
            )

    def leave(self, blocks: Sequence[Block], parent: Block, ended: Sequence[Block] = ()) -> None:
        """The blocks of a branch or loop have come to their end: what is stale in them is so in the parent, but for those of them behind
        which nothing goes on.

        What was made in them nobody can reach any more, and the values that go on in its place know what it may be. To keep it would
        make each level of nested branches as expensive as all those within it.
        """
        for marks in self.marks:
            marks.drop(ended)
            marks.leave(blocks, parent)
        for block in blocks:
            for x in self._from.pop(id(block), ()):
                if isinstance(x._value, Variable) and x._value.block is block:
                    self._forget(x)
                else:  # it is from outside, and was changed in the block
                    self._note(x)


class Marks:
    """Tensors, lists and objects of which something is known in a block and in those within it: what, or the places that are the reason."""

    def __init__(self) -> None:
        self._places: dict[int, tuple[Any, list[tuple[Block, Any]]]] = {}
        # the lists of places of which one is in a block, by the id of that
        self._in: dict[int, list[list[tuple[Block, Any]]]] = {}

    def set(self, x: Any, block: Block, at: Any) -> None:
        """Marks x in a block."""
        _, places = self._places.setdefault(id(who(x)), (who(x), []))
        if (block, at) not in places:
            places.append((block, at))
            self._in.setdefault(id(block), []).append(places)

    def of(self, x: Any, block: Block) -> list[Any]:
        """The marks of x, or of what a list of Python holds, as seen from a block."""
        if not self._places:
            return []
        if type(x) is list:
            return [at for v in x if shared(v) for at in self.of(v, block)]
        _, places = self._places.get(id(who(x)), (None, ()))
        return [at for home, at in places if is_inside(block, home)]

    def within(self, block: Block) -> dict[int, tuple[Any, Any]]:
        """What has been marked in this block, by id, with the place."""
        return {key: (x, at) for key, (x, places) in self._places.items() for home, at in places if home is block}

    def all_within(self, block: Block) -> list[tuple[Any, Any]]:
        """All marks in this block, each with what is marked."""
        return [(x, at) for x, places in self._places.values() for home, at in places if home is block]

    def drop(self, blocks: Sequence[Block]) -> None:
        """What is marked in these blocks is so no more."""
        for block in blocks:
            for places in self._in.pop(id(block), []):
                places[:] = [(home, at) for home, at in places if home is not block]

    def leave(self, blocks: Sequence[Block], parent: Block) -> None:
        """What is marked in these blocks is so in the parent from now on."""
        for block in blocks:
            for places in (found := self._in.pop(id(block), [])):
                places[:] = [(parent if home is block else home, at) for home, at in places]
            self._in.setdefault(id(parent), []).extend(found)


def is_inside(block: Block | None, home: Block) -> bool:
    """Whether a block is `home` or one in it."""
    while block is not None and block is not home:
        block = block.parent
    return block is home


def outside(x: Any, block: Block) -> bool:
    """Whether an object is there before a block begins, rather than made in it: a list of Python would be a staged one then."""
    if type(x) is list:
        return False
    v = x._value
    return not isinstance(v, Variable) or is_inside(block.parent, v.block)


@dataclass
class _Marked:
    """What one iteration leaves marked: at which of the loop's leaves, and outside of the loop, by id."""

    marks: Marks
    at_end: dict[int, Location | None]
    outside: dict[int, tuple[Any, Location | None]]


class Carried:
    """What one iteration of a loop leaves to the next: which variables may be one object, and what is stale.

    An iteration begins with the objects that the last one has ended with. So a loop whose body modifies something is traced until
    it is known of which objects this holds; positions are those of the loop's varying leaves.
    """

    def __init__(self, aliases: Aliases):
        self._aliases = aliases
        self._from_outside: dict[tuple[int, int], Any] = {}
        self._tied: set[tuple[int, int]] = set()
        self._marks = [_Marked(marks, {}, {}) for marks in (aliases.stale, aliases.held)]

    def enter(self, starts: Sequence[Any], initial: Sequence[Any], block: Block) -> None:
        """An iteration begins in a block, with values that stand for the initial ones or those of the last iteration."""
        parent = block.parent
        assert parent is not None
        self._merge(starts, [[(parent, x)] for x in initial], block)
        for start in filter(shared, starts):
            self._aliases.consists(start, {id(who(start)): who(start)})
        for a, b in self._tied:
            self._aliases.link(starts[a], {id(who(starts[b])): who(starts[b])})
        for marked in self._marks:
            for position, at in marked.at_end.items():
                marked.marks.set(starts[position], block, at)
            for x, at in marked.outside.values():
                marked.marks.set(x, block, at)

    def settle(self, starts: Sequence[Any], ends: Sequence[Any], block: Block) -> bool:
        """An iteration has ended; True if it adds nothing to what was assumed at its begin."""
        before = self._size()
        own = {id(who(s)) for s in starts if shared(s)}
        for i, end in enumerate(ends):
            if not shared(end) or end is starts[i]:
                continue
            for key, x in self._aliases.all_of(end).items():
                if key not in own and outside(x, block):
                    self._from_outside[i, key] = x
            for j, other in enumerate(ends):
                if j != i and shared(other) and self._aliases.related(end, other):
                    self._tied.add((i, j))
        for marked in self._marks:
            for i, end in enumerate(ends):
                if shared(end) and (places := marked.marks.of(end, block)):
                    marked.at_end.setdefault(i, places[0])
            for key, (x, at) in marked.marks.within(block).items():
                if key not in own and outside(x, block):
                    marked.outside.setdefault(key, (x, at))
        return before == self._size()

    def _size(self) -> tuple[int, ...]:
        """How much is known."""
        return (len(self._from_outside), len(self._tied), *(n for m in self._marks for n in (len(m.at_end), len(m.outside))))

    def leave(self, results: Sequence[Any], initial: Sequence[Any], starts: Sequence[Any], ends: Sequence[Any], blocks: Sequence[Block],
              parent: Block) -> None:  # fmt: skip
        """The loop has ended; the results stand for the initial values or for those of the last iteration."""
        aliases = self._aliases
        sources = [[(parent, x), (blocks[-1], end)] for x, end in zip(initial, ends, strict=True)]
        own = {id(who(s)): i for i, s in enumerate(starts) if shared(s)}
        # what one variable is goes on to another one in the next iteration, and from there to a third
        before = [{own[key] for key in aliases.candidates_of(end) if key in own} if shared(end) else set() for end in ends]
        parts = [[(home, x) for j in reached(before, i) for home, x in sources[j] if shared(x)] for i in range(len(ends))]
        known = [{key: v for _, x in found for key, v in self._known_of(x, new).items() if key not in own}
                 for new, found in zip(results, parts, strict=True)]  # fmt: skip
        tied = self._tied_by(before, ends) if any(found - {i} for i, found in enumerate(before)) else set()
        self._merge(results, sources, parent)
        for new, others, found in zip(results, known, parts, strict=True):
            if shared(new):
                aliases.link(new, others)
                aliases.consists(new, {key: v for _, x in found for key, v in aliases.candidates_of(x).items() if key not in own})
                for home, x in found:
                    aliases.mark_like(new, parent, x, home)
        for i, j in sorted(tied):
            aliases.link(results[i], {id(who(results[j])): who(results[j])})
        aliases.leave(blocks, parent)

    def _tied_by(self, before: Sequence[set[int]], ends: Sequence[Any]) -> set[tuple[int, int]]:
        """The variables that may be one object after an iteration, as those were that they have been before it."""
        pairs = [(i, j) for i, x in enumerate(ends) if shared(x) for j, y in enumerate(ends[:i]) if shared(y)]
        tied = {(i, j) for i, j in pairs if self._aliases.related(ends[i], ends[j])}
        size = -1
        while size != len(tied):
            size = len(tied)
            tied |= {(i, j) for i, j in pairs if any((max(p, q), min(p, q)) in tied for p in before[i] for q in before[j])}
        return tied

    def _merge(self, new: Sequence[Any], sources: Sequence[Sequence[Source]], block: Block) -> None:
        # of which of these two are in the same iteration, nothing is known but what is tied
        before = [(position, self._known_of(x, new[position])) for (position, _), x in self._from_outside.items()]
        self._aliases.merge(list(zip(new, sources, strict=True)), block)
        for position, others in before:
            self._aliases.link(new[position], others)

    def _known_of(self, x: Any, new: Any) -> dict[int, Any]:
        """What is known of a value that may be x, or be a list that holds it."""
        if isinstance(new, StagedList) and isinstance(x, Tensor):
            return self._aliases.within(x)
        return self._aliases.all_of(x)


def reached(before: Sequence[set[int]], i: int) -> list[int]:
    """The variables of a loop that one of them has been at some time, itself among them."""
    reached, left = {i}, [i]
    while left:
        more = before[left.pop()] - reached
        reached |= more
        left += more
    return sorted(reached)
