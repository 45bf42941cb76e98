"""Which objects the arguments and the results of a recursive function may be, as it is found by tracing it. See `recursion`.

Of tensors and lists of dynamic length `aliases` knows that, of lists, dicts and objects `alternatives`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ir import Block, Variable

from ..alias.alternatives import contents_of
from ..effects.may_alias import is_inside, reached, shared, who
from ..effects.region_frames import Frame, value_before

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

Relation = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Objects:
    """The arguments of a call, or what it returns, with the values of the state.

    Attributes:
        leaves: what varies, with None for what is no object of its own.
        containers: the lists, dicts and objects among it, and in it.
    """

    leaves: Sequence[Any]
    containers: Sequence[Any]


@dataclass(frozen=True)
class Params:
    """The params of a function while its body is traced.

    Attributes:
        objects: what stands for the arguments.
        given: for each leaf the ids of what only the first call gives for it.
        frame: of the body.
    """

    objects: Objects
    given: Sequence[Collection[int]]
    frame: Frame

    def is_outside(self, tracer: Tracer, x: Any) -> bool:
        """Whether a tensor or list was there before the function, which may have modified it since."""
        # what was modified has its old value again when the body has ended
        v = value_before(tracer.frames[tracer.frames.index(self.frame) :], x) if self.frame in tracer.frames else x._value
        return not isinstance(v, Variable) or is_inside(self.frame.block.parent, v.block)

    def end(self, tracer: Tracer) -> None:
        """The body has come to its end."""
        tracer.alternatives.end(self.objects.containers)


@dataclass(eq=False)
class Identities:
    """What is known of objects that leave the body of a function, by their positions.

    Attributes:
        same: (one, param) for each pair of leaves that may be one object.
        tied: likewise, of two among themselves.
        one_of, together: the same for containers.
        marked: leaves that are stale, or held by a list: by which marks, and positions, with the place that is the reason.
        outside: for each leaf what it may be that was there before the function; `around`: the same for containers. Empty: nothing yet.
    """

    same: Relation = frozenset()
    tied: Relation = frozenset()
    one_of: Relation = frozenset()
    together: Relation = frozenset()
    marked: Mapping[tuple[int, int], Location | None] = field(default_factory=dict)
    outside: Sequence[Mapping[int, Any]] = ()
    around: Sequence[Mapping[int, Any]] = ()

    def known(self) -> tuple[Any, ...]:
        """Whether it has grown, one trace tells."""
        return self.same, self.tied, self.one_of, self.together, self.marked.keys(), *self.of_outside()

    def of_outside(self) -> tuple[set[tuple[int, int]], ...]:
        """What is known of what was there before."""
        return tuple({(i, key) for i, found in enumerate(part) for key in found} for part in (self.outside, self.around))

    def renew(self, of: Callable[[Any], Any]) -> None:
        """For another trace, where something else was there before; it is to be found again if some of that is not known (None)."""
        outer, around = ([[of(x) for x in found.values()] for found in part] for part in (self.outside, self.around))
        self.outside, self.around = ([{id(x): x for x in found} for found in part] for part in (outer, around))
        if any(x is None for found in (*outer, *around) for x in found):
            self.find_anew()

    def find_anew(self) -> None:
        """What was there before is to be found again."""
        self.outside, self.around = (), ()

    def take(self, tracer: Tracer, found: Objects, params: Params, block: Block) -> bool:
        """Takes in what is known of objects in a block of the body, where a call inside gets them, or they are returned; if it is more."""
        before, aliases, own = self.known(), tracer.aliases, params.objects
        leaves = [(i, x) for i, x in enumerate(found.leaves) if shared(x)]
        inner = [(j, p) for j, p in enumerate(own.leaves) if shared(p)]
        self.same |= {(i, j) for i, x in leaves for j, p in inner if aliases.related(x, p)}
        self.tied |= {(i, j) for i, x in leaves for j, y in leaves if j < i and aliases.related(x, y)}
        self.marked = {**aliases.marked(found.leaves, block), **self.marked}
        self.outside = _joined(self.outside, [self._before(tracer, i, x, params) for i, x in enumerate(found.leaves)])
        options = [{id(o): o for o in tracer.alternatives.of(x)} for x in found.containers]
        places = {id(p): j for j, p in enumerate(own.containers)}
        self.one_of |= {(i, places[key]) for i, others in enumerate(options) for key in others if key in places}
        self.together |= {(i, j) for i, x in enumerate(found.containers) for j in range(i) if id(x) in options[j]}
        around = [{k: o for k, o in others.items() if k not in places and contents_of(o) in params.frame.containers} for others in options]
        self.around = _joined(self.around, around)
        return self.known() != before

    def _before(self, tracer: Tracer, i: int, x: Any, params: Params) -> dict[int, Any]:
        """What a leaf may be that was there before the function, but for what it is because it is a param."""
        if not shared(x) or type(x) is list:
            return {}
        found, parts = tracer.aliases.all_of(x), tracer.aliases.candidates_of(x)
        own = {id(who(p)) for p in params.objects.leaves if shared(p)}
        given = {key for j, known in enumerate(params.given) if (i, j) in self.same for key in known}
        return {k: o for k, o in found.items() if k not in own and (k in parts or k not in given) and params.is_outside(tracer, o)}


@dataclass(eq=False)
class Returned(Identities):
    """What is known of what a function returns.

    Attributes:
        spoiled: params that are stale when the body ends, as what may be one of them was modified: with the place.
    """

    spoiled: Mapping[int, Location | None] = field(default_factory=dict)

    def known(self) -> tuple[Any, ...]:
        return *super().known(), self.spoiled.keys()

    def take(self, tracer: Tracer, found: Objects, params: Params, block: Block) -> bool:
        places = {j: tracer.aliases.stale.of(p, block) for j, p in enumerate(params.objects.leaves) if shared(p)}
        self.spoiled = {**{j: at[0] for j, at in places.items() if at}, **self.spoiled}
        return super().take(tracer, found, params, block)

    def spoil(self, tracer: Tracer, given: Objects, params: Params, block: Block) -> None:
        """Tells what a call inside, in a block, leaves stale of these, which it was given. What was there before the function is stale
        where it, or a param that it may be, is modified."""
        for j, at in self.spoiled.items():
            for x in _may_be(tracer, [given.leaves[j]]).values():
                if not params.is_outside(tracer, x):
                    tracer.aliases.stale.set(x, block, at)

    def others(self, i: int, given: Objects) -> list[Any]:
        """What was there before a call that was given these, and a leaf of what it returns may be it."""
        return [*_at(given.leaves, self.same, i), *_of(self.outside, i)]

    def give(self, tracer: Tracer, new: Objects, given: Objects, block: Block) -> None:
        """Tells what is known of what a call in a block returns, which was given these."""
        for i, x in enumerate(new.leaves):
            if shared(x):
                tracer.aliases.link(x, _may_be(tracer, [*self.others(i, given), *_at(new.leaves, self.tied, i)]))
        tracer.aliases.mark(new.leaves, self.marked, block)
        tracer.alternatives.stand_for([
            (x, [*_at(given.containers, self.one_of, i), *_at(new.containers, self.together, i), *_of(self.around, i)])
            for i, x in enumerate(new.containers)
        ])  # fmt: skip
        tracer.alternatives.settle()


class Given(Identities):
    """What is known of what the calls inside a function give it."""

    def known(self) -> tuple[Any, ...]:
        same, tied, one_of, *more = super().known()
        return {(i, j) for i, j in same if i != j}, tied, {(i, j) for i, j in one_of if i != j}, *more  # a param is what it is

    def begin(self, tracer: Tracer, own: Objects, first: Objects, frame: Frame) -> Params:
        """Tells what is known of the params of a function, to which the first call has given these and a call inside what stands for
        them, or what is known here."""
        same, one_of = _chains(self.same, len(own.leaves)), _chains(self.one_of, len(own.containers))
        at_first = [_may_be(tracer, [first.leaves[j] for j in chain]) for chain in same]
        inside = [_may_be(tracer, [x for j in chain for x in _of(self.outside, j)]) for chain in same]
        for i, p in enumerate(own.leaves):
            if shared(p):
                before = first.leaves[:i]
                twins = [own.leaves[j] for j, x in enumerate(before) if (i, j) in self.tied or _related(tracer, first.leaves[i], x)]
                tracer.aliases.link(p, {**at_first[i], **inside[i], **_may_be(tracer, twins)})
        tracer.aliases.mark(own.leaves, {**tracer.aliases.marked(first.leaves, tracer.block), **self.marked}, frame.block)
        around = [[x for j in chain for x in (first.containers[j], *_of(self.around, j))] for chain in one_of]
        twins = [[q for j, q in enumerate(own.containers[:i]) if (i, j) in self.together or first.containers[i] is first.containers[j]]
                 for i in range(len(own.containers))]  # fmt: skip
        tracer.alternatives.stand_for([(p, [*around[i], *twins[i]]) for i, p in enumerate(own.containers)])
        tracer.alternatives.settle()
        # what a call inside gives, it may return, too
        return Params(own, [a.keys() - b.keys() for a, b in zip(at_first, inside, strict=True)], frame)


def _may_be(tracer: Tracer, objects: Iterable[Any]) -> dict[int, Any]:
    """What some tensors and lists may be, by id, themselves among it."""
    return {key: o for x in objects if shared(x) for key, o in tracer.aliases.all_of(x).items()}


def _related(tracer: Tracer, x: Any, y: Any) -> bool:
    return shared(x) and shared(y) and tracer.aliases.related(x, y)


def _at(values: Sequence[Any], relation: Relation, i: int) -> list[Any]:
    """The values at the positions to which one is related."""
    return [x for j, x in enumerate(values) if (i, j) in relation]


def _of(known: Sequence[Mapping[int, Any]], i: int) -> Iterable[Any]:
    """What is known at a position, if anything is."""
    return known[i].values() if known else ()


def _joined(known: Sequence[Mapping[int, Any]], more: Sequence[Mapping[int, Any]]) -> Sequence[Mapping[int, Any]]:
    return [{**a, **b} for a, b in zip(known, more, strict=True)] if known else more


def _chains(same: Relation, count: int) -> list[list[int]]:
    """The positions whose objects may come to each one, by one call after another, itself among them."""
    before = [{j for k, j in same if k == i} for i in range(count)]
    return [reached(before, i) for i in range(count)]
