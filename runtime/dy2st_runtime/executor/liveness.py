"""Which values are needed when, and what memory each may point to."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

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


@dataclass
class Interval:
    """First and last position at which a value is needed."""

    start: int
    end: int

    def cover(self, start: int, end: int) -> None:
        self.start, self.end = min(self.start, start), max(self.end, end)


class Liveness:
    """Live ranges of all canonical variables, and what memory each may point to.

    Args:
        schedule: what to look at.
        keep: variables that are read after the run.
        external: variables whose memory is bound from outside.
        params: those among them that have their values from the beginning.
    """

    def __init__(self, schedule: Schedule, keep: Sequence[str], external: Iterable[str] = (), params: Sequence[str] = ()):
        self.canonical = schedule.canonical
        self.ranges: dict[str, Interval] = {}
        self.roots: dict[str, set[str]] = {}
        self.owners: dict[str, None] = {}
        self.positions: dict[int, int] = {}
        self.loops: list[tuple[int, int]] = []
        self._touches: dict[str, list[int]] = {}
        self._clock = 0
        for name in params:
            self._touch(name, 0)
        self._walk(schedule.steps)
        end = self._clock + 1
        for name in keep:
            self._touch(name, end)
        for name in self._touches:
            self.ranges[name] = self._range(name)
        self._targets: dict[str, list[str]] = {}
        self._point(schedule.steps, external)
        self.storage: dict[str, Interval] = {}
        for name, roots in self.roots.items():
            for root in roots:
                r = self.ranges[name]
                self.storage.setdefault(root, Interval(r.start, r.end)).cover(r.start, r.end)

    def _range(self, name: str) -> Interval:
        start, stop = min(self._touches[name]), max(self._touches[name])
        changed = True
        while changed:
            changed = False
            for first, last in self.loops:
                # a value from before a loop that is used in it is needed until the loop ends
                if start < first <= stop < last:
                    stop, changed = last, True
        return Interval(start, stop)

    def _touch(self, name: str, at: int) -> None:
        self._touches.setdefault(self.canonical(name), []).append(at)

    def _walk(self, steps: list[Step]) -> None:
        for s in steps:
            self._clock += 1
            at = self._clock
            self.positions[id(s)] = at
            for name in names_of(s):
                self._touch(name, at)
            if isinstance(s, Loop):
                for body in nested(s):
                    self._walk(body)
                self._clock += 1
                self.loops.append((at, self._clock))
                for name in (*s.params, *s.results, s.cond):
                    self._touch(name, self._clock)
            else:
                for body in nested(s):
                    self._walk(body)
                if isinstance(s, Guard):
                    self._clock += 1
                    for name in s.outputs:
                        self._touch(name, self._clock)

    def _point(self, steps: list[Step], external: Iterable[str]) -> None:
        """Finds what each variable may point to: to a fixed point, as shares in loops feed each other."""
        links: list[tuple[str, str]] = []
        for s in walk(steps):
            if isinstance(s, Launch):
                for name in s.writes():
                    c = self.canonical(name)
                    if name in s.views:
                        links.append((c, self.canonical(s.views[name])))
                    else:
                        self.owners.setdefault(c)
            elif isinstance(s, Call):
                self.owners.update(dict.fromkeys(map(self.canonical, s.outputs)))
            elif isinstance(s, Share):
                links.append((self.canonical(s.target), self.canonical(s.source)))
            elif isinstance(s, Guard):
                links += [(self.canonical(out), self.canonical(source)) for out, source in s.keeps.items()]
            elif isinstance(s, Loop):
                for p, r in zip(s.params, s.results, strict=True):
                    if p != r:
                        self.owners.setdefault(self.canonical(p))
                        links.append((self.canonical(p), self.canonical(r)))
        for target, source in links:
            self.roots.setdefault(target, set())
            self._targets.setdefault(source, []).append(target)
        known = dict.fromkeys([*self.owners, *(name for name in external if name in self.ranges)])
        for name in known:
            self.roots.setdefault(name, set()).add(name)
        for name in known:
            self._spread(name)

    def _spread(self, name: str) -> None:
        """What a variable may point to, those that are linked to it may point to as well."""
        work = [name]
        while work:
            source = work.pop()
            roots = self.roots[source]
            for target in map(self.canonical, self._targets.get(source, ())):
                before = self.roots[target]
                if not roots <= before:
                    before |= roots
                    work.append(target)

    def across(self, step: Step, external: Container[str]) -> tuple[list[str], list[str]]:
        """The variables that are needed after a step and set before it, and the storages whose contents must outlast the step."""
        at = self.positions[id(step)]
        values = [name for name, r in self.ranges.items() if r.start < at < r.end and name not in external]
        storages = [name for name in self.owners if self.storage[name].start < at <= self.storage[name].end and name not in external]
        return values, storages


def names_of(s: Step) -> list[str]:
    """The variables that a step itself uses or sets, those of what is nested in it not among them."""
    if isinstance(s, Launch):
        # a failing `assert` or `raise_if` is replayed for its message, of which the kernel reads nothing
        replayed = s.op is not None and s.op.type in ("assert", "raise_if", "raise_object")
        return [*s.reads(), *s.writes(), *(s.op.input_names if replayed else ())]
    if isinstance(s, Share):
        return [s.target, s.source]
    if isinstance(s, Absent):
        return s.names
    if isinstance(s, FailIfAbsent):
        return [s.name]
    if isinstance(s, Guard):
        return [*s.names, *s.outputs, *s.keeps.values()]
    if isinstance(s, Branch):
        return [s.cond]
    if isinstance(s, Loop):
        return s.params
    if isinstance(s, Call):
        return [*s.arguments, *s.outputs, *s.captured]
    if isinstance(s, Host):
        return [*s.op.input_names, *s.op.output_names]
    return []


def written(s: Step) -> list[str]:
    if isinstance(s, Launch):
        return s.writes()
    if isinstance(s, Share):
        return [s.target]
    if isinstance(s, Absent):
        return s.names
    if isinstance(s, (Guard, Call)):
        return s.outputs
    return s.op.output_names if isinstance(s, Host) else []
