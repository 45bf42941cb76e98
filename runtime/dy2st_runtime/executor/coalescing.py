"""Coalescing: which values share one descriptor, so that lists and tensors are changed in place.

An op may take over the memory of its input (`Launch.takes`), a branch hands on one value or another (`Share`), a loop carries what
an iteration made to the next. Each of these copies nothing if the two names are one place. They may be one where neither is written
while the other is still needed: coalescing of copies in graph colouring (Chaitin et al., Register allocation via coloring, Computer
Languages 6, 1981). A loop in which a list grows under conditions, or in a loop inside, else costs the square of its trip count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..lowering.schedule import (
    Absent,
    Branch,
    Call,
    FailIfAbsent,
    Guard,
    Host,
    Launch,
    Loop,
    Schedule,
    Share,
    Step,
    nested,
    walk,
)
from .liveness import Liveness, names_of

Pair = tuple[str, str]


def merge_in_place(schedule: Schedule, external: set[str], keep: set[str], params: Sequence[str] = ()) -> None:
    """Lets the results of ops take over their inputs' descriptors where these are not needed any more, and what branches and loops
    make of them too.

    Args:
        schedule: what to change: its `same`.
        external: variables whose memory is bound from outside.
        keep: variables that are read after the run.
        params: variables that have their values from the beginning.
    """
    pairs = [pair for *_, pair in sorted(_pairs(schedule, schedule.steps, external, 0), key=lambda found: found[:2])]
    values = _connected(pairs, {schedule.canonical(name) for s in walk(schedule.steps) if isinstance(s, Launch) for name in s.takes})
    if not values:
        return
    roots = Liveness(schedule, sorted(keep), params=params).roots
    conflicts = Interference(schedule, values, roots, keep).of
    bits = {name: 1 << i for i, name in enumerate(values)}
    members = dict(bits)
    for a, b in pairs:
        a, b = schedule.canonical(a), schedule.canonical(b)
        if a in bits and a != b and not (conflicts[a] & members[b] or conflicts[b] & members[a]):
            schedule.same[a] = b
            members[b] |= members[a]
            conflicts[b] |= conflicts[a]


def _pairs(schedule: Schedule, steps: list[Step], external: set[str], depth: int) -> Iterator[tuple[int, int, Pair]]:
    """What may become one place, as (value, value from before), with its rank: first what is in most loops, there what would be copied in
    each, and last what would only be another name."""

    def fit(a: str, b: str) -> bool:
        v, w = schedule.variables[a], schedule.variables[b]
        alike = (v.kind, v.dtype, len(v.shape)) == (w.kind, w.dtype, len(w.shape)) and (v.kind == "array" or v.shape == w.shape)
        return a != b and alike and external.isdisjoint((a, b))

    for s in steps:
        linked: list[Pair] = []
        inner, order = depth, 2
        if isinstance(s, Launch):
            order, linked = 0, [*s.takes.items()]
        elif isinstance(s, Share):
            linked = [(s.target, s.source)]
        elif isinstance(s, Guard):
            linked = [*s.keeps.items()]
        elif isinstance(s, Loop):
            inner, order, linked = depth + 1, 1, [*zip(s.results, s.params, strict=True)]
        for a, b in linked:
            a, b = schedule.canonical(a), schedule.canonical(b)
            if fit(a, b):
                yield -inner, order, (a, b)
        for part in nested(s):
            yield from _pairs(schedule, part, external, inner)


def _connected(pairs: Iterable[Pair], start: Iterable[str]) -> list[str]:
    """The names that pairs connect with some of these."""
    beside: dict[str, list[str]] = {}
    for a, b in pairs:
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    found = dict.fromkeys(name for name in start if name in beside)
    todo = list(found)
    while todo:
        for name in beside[todo.pop()]:
            if name not in found:
                found[name] = None
                todo.append(name)
    return list(found)


class Interference:
    """Which values cannot be in one place: one is written while the other, or what shows its memory, is still needed.

    Sets of values are bits. Liveness is that of each path, found backwards; a loop is gone through until nothing more is live at its head.

    Args:
        schedule: what to look at.
        values: the canonical names of what may be merged.
        roots: in whose memory each variable may lie.
        keep: variables that are read after the run.

    Attributes:
        of: for each value, as bits in the order of `values`, those that are needed where it is set, so that it cannot be merged with them.
    """

    def __init__(self, schedule: Schedule, values: Sequence[str], roots: Mapping[str, set[str]], keep: Iterable[str]):
        self.of = dict.fromkeys(values, 0)
        self._canonical = schedule.canonical
        self._mask = (1 << len(values)) - 1
        showing = [name for name, owners in roots.items() if name not in self.of and not owners.isdisjoint(self.of)]
        self._bit = {name: 1 << i for i, name in enumerate((*values, *showing))}
        self._memory = {self._bit[name]: self._bits(owners) for name, owners in roots.items() if name in self._bit and owners != {name}}
        self._shows = sum(self._memory)
        self._heads: dict[int, int] = {}
        self._begins = _first_writes(schedule)
        self._region(schedule.steps, self._bits(keep))

    def _bits(self, names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= self._bit.get(self._canonical(name), 0)
        return found

    def _set(self, name: str, live: int, source: int = 0, writes: bool = True) -> None:
        """A variable gets a value while others are live. `source`: what has the same value; `writes`: whether memory is written."""
        name = self._canonical(name)
        if name not in self.of:
            return
        own = self._bit[name]
        others = live & ~own
        shows = others & self._shows if writes else 0
        while shows:
            lowest = shows & -shows
            others |= self._memory[lowest]
            shows ^= lowest
        self.of[name] |= others & self._mask & ~own & ~source

    def _region(self, steps: list[Step], live: int) -> int:
        """What is live before some steps, where `live` is after them."""
        for s in reversed(steps):
            live = self._step(s, live)
        return live

    def _step(self, s: Step, live: int) -> int:
        if isinstance(s, Launch):
            return self._launch(s, live)
        if isinstance(s, Share):
            target, source = self._bits([s.target]), self._bits([s.source])
            if target == source and target:
                return live
            self._set(s.target, live, source, writes=False)
            return live & ~target | source
        if isinstance(s, Absent):
            for name in s.names:
                self._set(name, live, writes=False)
            return live & ~self._bits(s.names)
        if isinstance(s, Guard):
            # its steps set the outputs too, where no less is live
            absent = live & ~self._bits(s.outputs) | self._bits(s.keeps.values())
            return self._region(s.steps, live) | absent | self._bits(s.names)
        if isinstance(s, Branch):
            return self._region(s.then, live) | self._region(s.orelse, live) | self._bits([s.cond])
        if isinstance(s, Loop):
            return self._loop(s, live)
        if isinstance(s, (Call, Host)):
            used, made = (([*s.arguments, *s.captured], s.outputs) if isinstance(s, Call) else (s.op.input_names, s.op.output_names))
            for name in made:
                self._set(name, live | self._bits(used) | self._bits(made))
            return live & ~self._bits(made) | self._bits(used)
        return live | self._bits([s.name]) if isinstance(s, FailIfAbsent) else live

    def _launch(self, s: Launch, live: int) -> int:
        written = self._bits(s.writes())
        read = self._bits(names_of(s)) & ~written | self._bits(s.reads())
        for name in s.writes():
            source = self._bits([s.takes[name]]) if name in s.takes else 0
            self._set(name, live | read & ~source | written)
        begun = self._bits(name for name in s.writes() if id(s) in self._begins.get(name, ()))
        return live & ~begun | read

    def _loop(self, s: Loop, live: int) -> int:
        carried = [(p, r) for p, r in zip(s.params, s.results, strict=True) if self._canonical(p) != self._canonical(r)]
        head = self._heads.get(id(s), 0)
        # all at once: a parameter must not be overwritten before the value of another is read
        others = {p: self._bits(other for q, other in carried if q != p) for p, _ in carried if self._canonical(p) in self.of}
        while True:
            for p, r in carried:
                if p in others:
                    self._set(p, head | others[p], self._bits([r]) & ~others[p])
            end = head & ~self._bits(p for p, _ in carried) | self._bits(r for _, r in carried)
            new = head | self._region(s.test, self._region(s.body, end) | live | self._bits([s.cond]))
            if new == head:
                break
            head = new
        self._heads[id(s)] = head
        return head


def _first_writes(schedule: Schedule) -> dict[str, set[int]]:
    """For each variable the launches after which nothing of its old value is left, by id: the first one of each op that writes it, if
    that does not change what is there."""
    found: dict[str, set[int]] = {}
    seen: set[tuple[str, int]] = set()
    for s in walk(schedule.steps):
        if isinstance(s, Launch):
            for name in s.writes():
                if (name, id(s.op)) not in seen and name not in s.updates:
                    found.setdefault(name, set()).add(id(s))
                seen.add((name, id(s.op)))
    return found
