"""Lists, dicts and dataclasses that a branch or a loop makes of several: in eager mode the variable holds one of these.

The trace has a new container for them. As long as nothing changes one of them in place nobody can tell; where something does, and
the other one can still be reached, only the run knows whether that changes too.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location

from ...errors import StructureError
from ...tensor.location import user_location
from ...transpiler import is_generated
from .. import roles
from ..effects.may_alias import who
from ..pyfacts.undefined import Undefined
from ..regions.frozen_objects import FrozenState
from ..regions.phi_leaves import Const, Pattern, Var, in_order, instantiate
from ..values.containers import containers_of, copied, differ, is_container
from ..values.dynamic_list import DynamicList
from ..values.kind_codes import MaybeNumbers
from ..values.maybe_none import MaybeNone
from ..values.one_of import OneOf
from ..values.record_list import RecordList, parts_of
from ..values.staged_dict import StagedDict
from ..values.staged_list import StagedList
from ..values.trees import MaybeNumber, build, is_frozen

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.BOOKKEEPING


def contents_of(x: Any) -> Any:
    """What holds the contents of a container: itself, or the dict of its attributes; None if they cannot change."""
    if is_container(x):
        return x
    return None if isinstance(x, tuple) or is_frozen(type(x)) else getattr(x, "__dict__", None)


def _contents_of(x: Any) -> Any:
    """The same, of lists of dynamic length too: of these a part that is another one after each change."""
    if not isinstance(x, DynamicList):
        return contents_of(x)
    return next(map(vars, parts_of(x)), None)


@dataclass(frozen=True)
class _Columns:
    """What a list of dynamic length had at some moment, which a list of Python has become."""

    values: list[Any]


def _state(tracer: Tracer, contents: Any) -> Any:
    """What `changed` compares the contents of a container with later."""
    _, staged = tracer.replaced.get(id(contents), (None, None))
    return _Columns([part._value for part in parts_of(staged)]) if isinstance(staged, DynamicList) else copied(contents)


def changed(tracer: Tracer, contents: Any, before: Any) -> bool:
    """Whether the contents of a container are others than they were: its own, or those of the list of dynamic length that it has become."""
    _, staged = tracer.replaced.get(id(contents), (None, None))
    if isinstance(staged, DynamicList):
        begun = before.values if isinstance(before, _Columns) else [part.start for part in parts_of(staged)]
        return differ([part._value for part in parts_of(staged)], begun)
    if isinstance(staged, StagedDict) or isinstance(before, _Columns):
        return True  # it has got or lost keys; or is one of Python again
    if isinstance(contents, dict):
        return len(contents) != len(before) or any(contents.get(k, before) is not v for k, v in before.items())
    return differ(contents, before)


@dataclass
class _Pair:
    """Two containers that are one object in some runs, with their contents when that was found."""

    one: Any
    other: Any
    before: tuple[Any, Any]
    location: Location | None
    # whether a change of the first has been one of the other, in the runs in which it is that; and whether one has changed alone
    followed: bool = False
    distinct: bool = False

    def note_now(self, tracer: Tracer) -> None:
        self.before = _state(tracer, self.one), _state(tracer, self.other)

    def changed(self, tracer: Tracer) -> bool:
        return self.distinct or any(changed(tracer, c, b) for c, b in zip((self.one, self.other), self.before, strict=True))


class _Reachable:
    """Which containers can be reached now, as far as that is asked.

    Args:
        end_of: the body of the statement that has come to its end, if it was one.
    """

    def __init__(self, tracer: Tracer, end_of: Any):
        self._tracer = tracer
        # in the middle of an expression Python may hold what no variable does: `self.items + self.step()`
        self._between_statements = (
            len(tracer.activations) <= 1 and not tracer.is_piece
            and isinstance(end_of, FunctionType) and is_generated(end_of.__code__)
        )  # fmt: skip

    @functools.cached_property
    def _by_variables(self) -> set[int]:
        return set(map(id, containers_of(*self._tracer.reachable())))

    @functools.cached_property
    def _put_outside(self) -> set[int]:
        """Also where no code goes on to read what holds it."""
        return set(map(id, containers_of(*self._tracer.put_outside())))

    @functools.cached_property
    def _from_outside(self) -> set[int]:
        return set(map(id, containers_of(*self._tracer.held_outside())))

    @functools.cached_property
    def _read_outside(self) -> set[int]:
        return set(map(id, containers_of(*self._tracer.readable())))

    @functools.cached_property
    def _choices(self) -> dict[int, list[Any]]:
        """What stands for one of several, by the ids of the contents of these: to change it is to change the one that was chosen."""
        found: dict[int, list[Any]] = {}
        for choice in self._tracer.chosen.values():
            for x in choice.items:
                found.setdefault(id(_contents_of(x)), []).append(_contents_of(choice.value))
        return found

    def changes_with(self, contents: Any, other: Any) -> bool:
        """Whether a container may change as something does that can be reached, and is not the other one."""
        return self.holds(contents) or any(x is not other and self.holds(x) for x in self._choices.get(id(contents), ()))

    def holds(self, contents: Any) -> bool:
        key, tracer = id(contents), self._tracer
        if key in tracer.of_the_caller or tracer.entries.holds(contents):
            return True
        if contents not in tracer.root:
            return key in self._by_variables or key in self._put_outside or (tracer.was_before(contents) and key in self._read_outside)
        # docs/reference/limits.md: who else holds what an attribute, item or global no longer holds on some paths does not see
        # what becomes of it
        if not self._between_statements or key in self._by_variables or key in self._from_outside:
            return True
        return key in self._read_outside  # a global that is only read: none of the containers that are watched holds it


class Alternatives:
    """The containers of a trace that may be one object."""

    def __init__(self, tracer: Tracer):
        self._tracer = tracer
        # by the id of each what it may be besides itself; and the ids of those that were made of others
        self._of: dict[int, dict[int, Any]] = {}
        self._merged: set[int] = set()
        self._alive: dict[int, Any] = {}
        self._rebuilt: dict[int, Any] = {}  # tuples and the like, which stand for one of several
        self._new: list[tuple[Any, Any]] = []
        self._pairs: list[_Pair] = []
        self._postponed: list[_Pair] = []
        # for each block that is being traced: the pairs that it has changed, with what they held before
        self._within: list[list[tuple[_Pair, tuple[Any, Any]]]] = []
        self.sealed = FrozenState()

    def merged(self, patterns: Sequence[Pattern], sides: Sequence[Sequence[Any]], make: Callable[[Var], Any],
               original: Callable[[Any], Any] = lambda x: x) -> list[Any]:  # fmt: skip
        """The values that patterns stand for, where the sides have these values; two that are one object on all sides are one.

        `original` says for which object a value of a side is a copy.
        """
        made: dict[tuple[int, ...], Any] = {}
        found: dict[int, tuple[Any, list[Any]]] = {}

        def value(p: Pattern, parts: Sequence[Any]) -> Any:
            if isinstance(p, Const):
                return p.value
            originals = [original(x) for x in parts]
            key = tuple(map(id, originals))
            if isinstance(p, Var) or p.kind in (MaybeNone, MaybeNumber, MaybeNumbers, OneOf, RecordList):
                new = make(p) if isinstance(p, Var) else instantiate(p, make)
                if isinstance(new, DynamicList):
                    new = made.setdefault(key, new)
                    for part, x in product(parts_of(new), (x for x in originals if type(x) is list)):
                        self._tracer.aliases.replaces(part, x)
                    if any(type(x) is list or id(x) in self._of for x in originals):
                        found.setdefault(id(new), (new, [x if isinstance(x, (list, DynamicList)) else None for x in originals]))
                return new
            children = [value(c, list(xs)) for c, *xs in zip(p.children, *(in_order(p, x) for x in parts), strict=True)]
            new = build(p.kind, p.keys, children)
            can_change = contents_of(new) is not None
            # of Undefined what is within it has no other parts
            if (can_change or is_frozen(p.kind)) and not all(isinstance(x, Undefined) for x in originals):
                new = made.setdefault(key, new)
            if not can_change:
                self.sealed.merged([new, *originals])
                self._rebuilt[id(new)] = new
                return new
            found.setdefault(id(new), (new, [x if type(x) is p.kind else None for x in originals]))
            return new

        values = [value(p, [side[i] for side in sides]) for i, p in enumerate(patterns)]
        self._relate(list(found.values()))
        return values

    def _relate(self, group: Sequence[tuple[Any, Sequence[Any]]]) -> None:
        """Each of these stands for one of its parts, of which there is one for each side, or None.

        Two of them may be one object only if their parts on the same side may be.
        """
        before = {id(x): {id(x): x, **self._of.get(id(x), {})} for _, parts in group for x in parts if x is not None}
        twins: dict[tuple[int, int], list[Any]] = {}
        for new, parts in group:
            for side, part in enumerate(parts):
                if part is not None:
                    twins.setdefault((side, id(part)), []).append(new)
        for new, parts in group:
            for side, part in enumerate(parts):
                for key, x in before[id(part)].items() if part is not None else ():
                    self._link(new, x)
                    for twin in twins.get((side, key), ()):
                        # whether a list of dynamic length can still be reached is not known (see `settle`), and of the other it is
                        turned = isinstance(twin, DynamicList) and not isinstance(new, DynamicList)
                        self._link(*((twin, new) if turned else (new, twin)))

    def _link(self, new: Any, other: Any) -> None:
        if other is new or id(other) in self._of.get(id(new), ()):
            return
        self._merged.add(id(new))
        self._know(new, other)
        self._new.append((new, other))

    def _know(self, a: Any, b: Any) -> None:
        """The two may be one object."""
        for one, x in ((a, b), (b, a)):
            self._alive[id(one)] = one
            self._of.setdefault(id(one), {})[id(x)] = x

    def copied(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        """Handlers will have the second of each of these instead of the first: it may be all that this may be."""
        copies = {id(old): new for old, new in pairs}
        for old, new in pairs:
            for other in list(self._of.get(id(old), {}).values()):
                self._know(new, other)
                if (copy := copies.get(id(other))) is not None:
                    self._know(new, copy)

    def end(self, gone: Iterable[Any]) -> None:
        """Nobody can reach these containers any more."""
        for x in gone:
            for key in self._of.pop(id(x), {}):
                self._of[key].pop(id(x), None)

    def became(self, items: list, staged: DynamicList) -> None:
        """A list has become one of dynamic length, which may be all that the list may be."""
        for other in [items, *self._of.get(id(items), {}).values()]:
            self._know(staged, other)

    def finds(self, carried: Iterable[tuple[Any, Any]], outside: Container[int]) -> bool:
        """Whether an iteration of a loop leaves a container that may be one of the outside which the one that it began with may not be.
        Of lists of dynamic length `Carried` knows.

        Args:
            carried: both, of all that the loop carries.
            outside: the ids of the contents of what was there before the loop.
        """
        for begin, end in carried:
            known = {id(begin), *self._of.get(id(begin), ())}
            found = () if isinstance(begin, DynamicList) else (end, *self._of.get(id(end), {}).values())
            if any(id(x) not in known and id(contents_of(x)) in outside for x in found):
                return True
        return False

    def stand_for(self, group: Sequence[tuple[Any, Sequence[Any]]]) -> None:
        """Each of these containers, which were made and are different ones, is one of its others, in some runs."""
        before = []
        for new, others in group:
            if isinstance(new, DynamicList):  # of two of these `Aliases` knows
                parts = [x for x in others if type(x) is list or id(x) in self._of]
            else:
                parts = [x for x in others if type(x) is type(new) and contents_of(x) is not None]
            before.append((new, {id(x): x for part in parts for x in (part, *self._of.get(id(part), {}).values())}))
        for new, found in before:
            for x in found.values():
                self._link(new, x)

    def settle(self, end_of: Any = None) -> None:
        """The variables have got their new containers: of two that may be one, only those count that can both be reached.

        Args:
            end_of: the body of the statement that has come to its end, if it was one.
        """
        self._tracer.sharing.settle()
        self.sealed.settle()
        new, self._new = self._new, []
        postponed, self._postponed = self._postponed, []
        if not new and not postponed:
            return
        reachable = _Reachable(self._tracer, end_of)
        is_there = reachable.holds

        def note(one: Any, other: Any, location: Location | None) -> None:
            self._pairs.append(_Pair(one, other, (_state(self._tracer, one), _state(self._tracer, other)), location))

        for one, other in new:
            parts = _contents_of(one), _contents_of(other)
            if None in parts:
                continue
            if reachable.changes_with(parts[1], parts[0]):
                note(*parts, user_location())
            elif self._tracer.tries.active:  # a handler may have both
                self._postponed.append(_Pair(*parts, ((), ()), user_location()))
        # what stands for several at the end of a branch goes on as it is where the other branch does not come to its end, or in a handler
        for pair in postponed:
            if is_there(pair.one) and is_there(pair.other):
                note(pair.one, pair.other, pair.location)
            else:
                self._postponed.append(pair)

    def may_be_one(self, a: Any, b: Any) -> bool:
        """Whether two containers, or tuples, are one object in some runs, and two in others."""
        if a is b:
            return False
        if id(a) in self._rebuilt or id(b) in self._rebuilt:
            return type(a) is type(b)
        held = [contents is not None and self._tracer.entries.holds(contents) for contents in map(contents_of, (a, b))]
        return id(b) in self._of.get(id(a), ()) or all(held)

    def of(self, x: Any) -> list[Any]:
        """What a container may be, itself first."""
        return [x, *self._of.get(id(x), {}).values()]

    def may_be_another(self, x: Any) -> bool:
        """Whether a container stands for one of several."""
        return id(x) in self._merged

    def require_unchanged(self) -> None:
        """StructureError if one of two containers that may be one object has changed."""
        self.sealed.require_unchanged()
        for pair in self._pairs:
            if pair.changed(self._tracer):
                raise StructureError(
                    "a list, dict or object is changed in place after this, which is one or another one, as only the run knows; "
                    "in some runs the other one would change too", location=pair.location,
                    hint="make a new one instead of changing this one, or copy it before: xs = list(xs)",
                )  # fmt: skip

    def require_distinct(self, containers: Collection[Any], dynamic: Collection[DynamicList]) -> None:
        """StructureError if two containers that may be one object are both held after the call, which would leave two in all runs.

        Args:
            containers: those of Python that are held.
            dynamic: the lists of dynamic length that are.
        """
        # those that are one object have one first column
        different = {id(who(part)): (x, part) for x in dynamic for part in parts_of(x)[:1]}.values()
        held = [*containers, *(part for _, part in different)]
        ids = {id(x) for x in held}
        # what has become a list of dynamic length is still the list that it was
        ids |= {id(items) for items, staged in self._tracer.replaced.values() if id(staged) in ids}
        place = next((p.location for p in self._pairs if id(p.one) in ids and id(p.other) in ids), None)
        lists = [x for x in held if isinstance(x, StagedList)]
        aliases = self._tracer.aliases
        twins = any(one is not other and aliases.related(one, other) for one, other in combinations(lists, 2))
        twins |= any(id(other) in self._of.get(id(one), ()) for (one, _), (other, _) in combinations(different, 2))
        # a list of Python may itself stand for the one that such a list may be, or this for another one of Python
        plain = {key for part in held if not isinstance(part, DynamicList) for key in (id(part), *self._of.get(id(part), ()))}
        # or such a list for one of Python that has become another such list since
        staged = {id(who(x)): who(x) for x in lists}
        became = {id(items): staged.get(id(who(parts_of(x)[0])))
                  for items, x in self._tracer.replaced.values() if isinstance(x, DynamicList) and parts_of(x)}  # fmt: skip

        def is_another(one: StagedList, x: Any) -> bool:
            now = became.get(id(x))
            return id(x) in plain or (now is not None and now is not who(one))

        if place is None and not twins and not any(is_another(one, x) for one in lists for x in aliases.plain(one)):
            return
        raise StructureError(
            "a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too, as only the run knows; "
            "changes of one would be changes of the other in these runs", location=place,
            hint="keep a copy of it (list(xs)), or decide with a Python value which one it is",
        )  # fmt: skip

    def has_changed(self, x: Any) -> bool:
        """Whether a container that stands for one of several, or one of these, has changed."""
        return any(p.changed(self._tracer) for p in self._pairs if p.one is _contents_of(x))

    @contextlib.contextmanager
    def following(self, *made: Any) -> Iterator[None]:
        """Within it containers that stand for one of several change, and those that they stand for do, too."""
        contents = [_contents_of(x) for x in made]
        before = self._pairs
        own = {id(p) for p in before if any(p.one is x for x in contents)}
        rest = self._pairs = [p for p in before if id(p) not in own]
        known = set(map(id, rest))
        try:
            yield
        except BaseException:
            self._pairs = before
            raise
        now = set(map(id, self._pairs))
        # in their order, by which `leave` knows those that end with a block
        kept = [p for p in before if id(p) in own or id(p) in now]
        self._pairs = [*kept, *(p for p in self._pairs if id(p) not in known)]
        for pair in kept:
            if id(pair) in own:
                self._take(pair)

    @contextlib.contextmanager
    def written(self) -> Iterator[None]:
        """Within it containers get what a branch or a loop has left, in each block of which those that may be one have changed together."""
        self._find_distinct()
        yield
        for pair in self._pairs:
            if pair.followed and not pair.distinct:
                self._take(pair)

    def _find_distinct(self) -> None:
        for pair in self._pairs:
            if pair.followed and pair.changed(self._tracer):
                pair.distinct = True

    def _take(self, pair: _Pair) -> None:
        """What a pair holds now is what it is to hold."""
        if self._within:
            self._within[-1].append((pair, pair.before))
        pair.followed = True
        pair.note_now(self._tracer)

    def forget(self, x: Any) -> list[_Pair]:
        """What stands for one of several may be changed from now on, or nothing holds it any more."""
        own = [p for p in self._pairs if p.one is _contents_of(x)]
        self._pairs = [p for p in self._pairs if p.one is not _contents_of(x)]
        return own

    def let_go(self, x: Any, known: int) -> None:
        """Nobody will have what has just been read: if it was made for that, what it stands for may change.

        Args:
            known: how many pairs there were before it was read.
        """
        contents = _contents_of(x)
        self._pairs[known:] = [p for p in self._pairs[known:] if p.one is not contents]
        self._new = [(one, other) for one, other in self._new if one is not x]

    def remember(self, pairs: list[_Pair]) -> None:
        """Takes `forget` back, for containers that have changed since."""
        for pair in pairs:
            pair.note_now(self._tracer)
        self._pairs += pairs

    def leave(self, mark: tuple[int, int]) -> None:
        """A branch or loop body has come to its end: what was found in it ends with it."""
        pairs, sealed = mark
        for pair, before in reversed(self._within.pop()):
            pair.before = before
        self._postponed += self._pairs[pairs:]
        del self._pairs[pairs:]
        self.sealed.leave(sealed)

    def mark(self) -> tuple[int, int]:
        """A branch or loop body begins; what has been found until now, for `leave`."""
        self._find_distinct()
        self._within.append([])
        return len(self._pairs), len(self.sealed)

    def __len__(self) -> int:
        """How many pairs of containers there are that may be one."""
        return len(self._pairs)
