"""Schedule → plan: descriptors, buffers by liveness, and the bytecode of the driver.

Every variable has a descriptor of its own (except where lowering made two the `same`). A variable that a kernel writes owns a *storage*;
a view or a share points into the storages of others. Storages whose live ranges do not overlap share a buffer. Buffers grow to
what is asked of them and are kept, so a plan serves all sizes and a steady run allocates nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import dtype as dt
from ..codegen import layout
from ..ir.program import Operator, Variable
from ..ir.visit import may_raise
from ..loopir.nodes import holds_check
from ..lowering.schedule import (
    Absent,
    Branch,
    FailIfAbsent,
    Guard,
    Host,
    Launch,
    Loop,
    Schedule,
    Share,
    Step,
    Suspend,
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


@dataclass
class Record:
    """The arguments of one launch: descriptors, then scalars."""

    kernel: int
    descriptors: list[int]
    scalars: list[tuple[str, Any]]


@dataclass
class Plan:
    """What the driver runs; independent of sizes and of memory addresses.

    Attributes:
        names: canonical variable of each descriptor.
        buffer_of: for each descriptor the buffer that it owns, -1 if it owns none (fed, state, views).
        arrays: for each descriptor whether it is a TensorArray (which owns a second buffer, `table_of`).
        code: instructions as lists of operation and symbolic operands.
        ops: for each instruction the op that an error or a host call is about.
        inplace_state: final value's descriptor → persistable whose memory it writes.
    """

    names: list[str] = field(default_factory=list)
    index: dict[str, int] = field(default_factory=dict)
    buffer_of: list[int] = field(default_factory=list)
    table_of: list[int] = field(default_factory=list)
    buffers: int = 0
    code: list[list[int]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    kernels: list[Any] = field(default_factory=list)
    ops: list[Operator | None] = field(default_factory=list)
    inplace_state: dict[int, str] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)

    def descriptor(self, name: str) -> int:
        return self.index[self.canonical.get(name, name)]

    def holds(self, name: str) -> bool:
        """Whether a variable has a descriptor: what is local to a kernel has none."""
        return self.canonical.get(name, name) in self.index


def make_plan(schedule: Schedule, external: Sequence[str], keep: Sequence[str], updates: Mapping[str, str]) -> Plan:
    """Plans a schedule.

    Args:
        schedule: what to run.
        external: variables whose memory is bound from outside (feeds, persistables).
        keep: variables that are read after the run (fetches).
        updates: persistable → the variable with its value after the run.
    """
    _merge_arrays(schedule, set(external), set(keep) | set(updates.values()))
    live = Liveness(schedule, [*keep, *updates.values()])
    plan = Plan()
    for name, v in [*schedule.variables.items()]:
        c = schedule.canonical(name)
        plan.canonical[name] = c
        if c not in plan.index:
            plan.index[c] = len(plan.names)
            plan.names.append(c)
            is_array = (schedule.variables.get(c) or v).kind == "array"
            plan.buffer_of.append(-1)
            plan.table_of.append(0 if is_array else -1)
    _assign_buffers(plan, schedule, live, set(external))
    for persistable, final in updates.items():
        if _updates_in_place(schedule, live, persistable, final):
            d = plan.descriptor(final)
            plan.buffer_of[d] = -1
            plan.inplace_state[d] = persistable
    Bytecode(plan, schedule).emit(schedule.steps)
    return plan


class Liveness:
    """Live ranges of all canonical variables, and what memory each may point to."""

    def __init__(self, schedule: Schedule, keep: Sequence[str]):
        self.canonical = schedule.canonical
        self.ranges: dict[str, Interval] = {}
        self.roots: dict[str, set[str]] = {}
        self.owners: dict[str, None] = {}
        self.positions: dict[int, int] = {}
        self._loops: list[tuple[int, int]] = []
        self._touches: dict[str, list[int]] = {}
        self._clock = 0
        self._walk(schedule.steps)
        end = self._clock + 1
        for name in keep:
            self._touch(name, end)
        for name, at in self._touches.items():
            start, stop = min(at), max(at)
            changed = True
            while changed:
                changed = False
                for first, last in self._loops:
                    # a value from before a loop that is used in it is needed until the loop ends
                    if start < first <= stop < last:
                        stop, changed = last, True
            self.ranges[name] = Interval(start, stop)
        self._point(schedule.steps)
        self.storage: dict[str, Interval] = {}
        for name, roots in self.roots.items():
            for root in roots:
                r = self.ranges[name]
                self.storage.setdefault(root, Interval(r.start, r.end)).cover(r.start, r.end)

    def _touch(self, name: str, at: int) -> None:
        self._touches.setdefault(self.canonical(name), []).append(at)

    def _walk(self, steps: list[Step]) -> None:
        for s in steps:
            self._clock += 1
            at = self._clock
            self.positions[id(s)] = at
            for name in _names(s):
                self._touch(name, at)
            if isinstance(s, Loop):
                for body in nested(s):
                    self._walk(body)
                self._clock += 1
                self._loops.append((at, self._clock))
                for name in (*s.params, *s.results, s.cond):
                    self._touch(name, self._clock)
            else:
                for body in nested(s):
                    self._walk(body)
                if isinstance(s, Guard):
                    self._clock += 1
                    for name in s.outputs:
                        self._touch(name, self._clock)

    def _point(self, steps: list[Step]) -> None:
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
            elif isinstance(s, Share):
                links.append((self.canonical(s.target), self.canonical(s.source)))
            elif isinstance(s, Guard):
                links += [(self.canonical(out), self.canonical(source)) for out, source in s.keeps.items()]
            elif isinstance(s, Loop):
                for p, r in zip(s.params, s.results, strict=True):
                    if p != r:
                        self.owners.setdefault(self.canonical(p))
                        links.append((self.canonical(p), self.canonical(r)))
        for name in self.owners:
            self.roots[name] = {name}
        changed = True
        while changed:
            changed = False
            for target, source in links:
                before = self.roots.setdefault(target, set())
                more = self.roots.get(source, set()) - before
                if more:
                    before |= more
                    changed = True

    def pointers(self, root: str) -> list[str]:
        return [name for name, roots in self.roots.items() if root in roots]


def _names(s: Step) -> list[str]:
    if isinstance(s, Launch):
        # a failing `assert` or `raise_if` is replayed for its message, of which the kernel reads nothing
        message = s.op.input("Data") if s.op is not None and s.op.type in ("assert", "raise_if") else []
        return [*s.reads(), *s.writes(), *message]
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
    if isinstance(s, Host):
        return [*s.op.input_names, *s.op.output_names]
    return []


def _written(s: Step) -> list[str]:
    if isinstance(s, Launch):
        return s.writes()
    if isinstance(s, Share):
        return [s.target]
    if isinstance(s, Absent):
        return s.names
    if isinstance(s, Guard):
        return s.outputs
    return s.op.output_names if isinstance(s, Host) else []


def _merge_arrays(schedule: Schedule, external: set[str], keep: set[str]) -> None:
    """Lets the result of an array op take over its input's descriptor where the input is not needed any more."""
    for s in list(walk(schedule.steps)):
        if not isinstance(s, Launch) or not s.takes:
            continue
        live = Liveness(schedule, sorted(keep))
        at = live.positions[id(s)]
        for out, source in s.takes.items():
            c = schedule.canonical(source)
            if c in external or schedule.canonical(out) == c:
                continue
            users = live.pointers(c)
            inside = [(first, last) for first, last in live._loops if first <= at <= last]
            born_inside = all(live.ranges[c].start >= first for first, _ in inside)
            o = schedule.canonical(out)
            dies = born_inside and all(live.ranges[u].end <= at or u == o for u in users)
            if dies or _carried(schedule, live, s, c, o):
                schedule.same[o] = c


def _carried(schedule: Schedule, live: Liveness, s: Launch, c: str, out: str) -> bool:
    """Whether `out` is what the loop parameter `c` becomes, and the parameter's old value is not needed after the step `s` of
    the body: `xs = xs + [x]` in a loop."""
    for loop in walk(schedule.steps):
        if isinstance(loop, Loop) and any(s is inner for inner in loop.body):
            break
    else:
        return False
    params, results = (list(map(schedule.canonical, names)) for names in (loop.params, loop.results))
    if params.count(c) != 1 or results.count(out) != 1 or c in results or params.index(c) != results.index(out):
        return False
    first, at = live.positions[id(loop)], live.positions[id(s)]
    last = dict(live._loops)[first]
    if any(at < touch < last for touch in live._touches[c]):
        return False
    others = [live.ranges[u] for u in live.pointers(c) if u not in (c, out)]
    return all((first <= r.start and r.end <= at) or r.start > last for r in others)


def _assign_buffers(plan: Plan, schedule: Schedule, live: Liveness, external: set[str]) -> None:
    """Greedy colouring of intervals; a free buffer of the closest size estimate is taken first."""
    free: list[tuple[int, int]] = []  # (estimated bytes, buffer)
    active: list[tuple[int, int, int]] = []  # (end, estimated bytes, buffer)
    for name in sorted(live.owners, key=lambda r: (live.storage[r].start, r)):
        if name in external:
            continue
        v = schedule.variables[name]
        d = plan.index[name]
        if v.kind == "array":
            plan.buffer_of[d], plan.table_of[d] = plan.buffers, plan.buffers + 1
            plan.buffers += 2
            continue
        interval, size = live.storage[name], _estimate(v)
        expired = [a for a in active if a[0] < interval.start]
        active = [a for a in active if a[0] >= interval.start]
        free += [(bytes_, buffer) for _, bytes_, buffer in expired]
        fitting = [f for f in free if f[0] >= size] or free
        if fitting:
            best = min(fitting, key=lambda f: (abs(f[0] - size), f[1]))
            free.remove(best)
            buffer, size = best[1], max(best[0], size)
        else:
            buffer = plan.buffers
            plan.buffers += 1
        plan.buffer_of[d] = buffer
        active.append((interval.end, size, buffer))


def _estimate(v: Variable) -> int:
    """Bytes, with a guess for open dims: it only ranks buffers."""
    total = dt.size(v.dtype)
    for d in v.shape:
        total *= 64 if d == -1 else d
    return total


def _updates_in_place(schedule: Schedule, live: Liveness, persistable: str, final: str) -> bool:
    """Whether the final value of a persistable may be computed right in its memory: written by one top-level kernel whose op
    declares it, nothing reads the old value afterwards, and nothing after it can fail."""
    if final not in schedule.variables or persistable not in schedule.variables or schedule.canonical(final) != final:
        return False
    old, new = schedule.variables[persistable], schedule.variables[final]
    if old.shape != new.shape or -1 in old.shape or old.dtype != new.dtype:
        return False
    writers = [s for s in walk(schedule.steps) if isinstance(s, Launch) and final in s.writes()]
    if len(writers) != 1 or not any(
        s is writers[0] or (isinstance(s, Guard) and writers[0] in s.steps) for s in schedule.steps
    ):
        return False
    op = writers[0].op
    if not any(final in op.output(o) and persistable in op.input(i) for o, i in op.record.inplace.items()):
        return False
    at = live.positions[id(writers[0])]
    if any(live.ranges[c].end > at for c in _aliases(live, persistable) if c != final):
        return False
    return not any(live.positions[id(s)] > at and _can_fail(s) for s in walk(schedule.steps))


def _aliases(live: Liveness, name: str) -> list[str]:
    """The variable and those that may show its memory."""
    found = {name}
    return [n for n in live.ranges if n in found or name in live.roots.get(n, ())]


def _can_fail(s: Step) -> bool:
    if isinstance(s, (FailIfAbsent, Host, Suspend)):
        return True
    if isinstance(s, Launch) and holds_check(s.kernel.body):
        return True
    return isinstance(s, Launch) and may_raise(s.op)


class Bytecode:
    """Emits the instructions; jump targets are instruction indices."""

    def __init__(self, plan: Plan, schedule: Schedule):
        self.plan, self.schedule = plan, schedule

    def _add(self, op: Operator | None, *words: int) -> int:
        self.plan.code.append([*words, *(0,) * (layout.INSTRUCTION_WORDS - len(words))])
        self.plan.ops.append(op)
        return len(self.plan.code) - 1

    def emit(self, steps: list[Step]) -> None:
        """The whole program, with its end."""
        self._steps(steps)
        self._add(None, layout.HALT)

    def _here(self) -> int:
        return len(self.plan.code)

    def _steps(self, steps: list[Step]) -> None:
        for s in steps:
            self._step(s)

    def _share(self, target: str, source: str) -> None:
        a, b = self.plan.descriptor(target), self.plan.descriptor(source)
        if a != b:
            self._add(None, layout.SHARE, a, b)

    def _step(self, s: Step) -> None:
        d = self.plan.descriptor
        if isinstance(s, Launch):
            self._launch(s)
        elif isinstance(s, Share):
            self._share(s.target, s.source)
        elif isinstance(s, Absent):
            for name in s.names:
                self._add(None, layout.MARK_ABSENT, d(name))
        elif isinstance(s, FailIfAbsent):
            self._add(s.op, layout.FAIL_IF_ABSENT, d(s.name))
        elif isinstance(s, Guard):
            jumps = [self._add(None, layout.JUMP_IF_ABSENT, d(name), 0) for name in s.names]
            self._steps(s.steps)
            over = self._add(None, layout.JUMP, 0)
            for j in jumps:
                self.plan.code[j][2] = self._here()
            for name in s.outputs:
                if name in s.keeps:
                    self._share(name, s.keeps[name])
                else:
                    self._add(None, layout.MARK_ABSENT, d(name))
            self.plan.code[over][1] = self._here()
        elif isinstance(s, Branch):
            test = self._add(s.op, layout.JUMP_IF_FALSE, d(s.cond), 0, self._rank(s.cond))
            self._steps(s.then)
            over = self._add(None, layout.JUMP, 0)
            self.plan.code[test][2] = self._here()
            self._steps(s.orelse)
            self.plan.code[over][1] = self._here()
        elif isinstance(s, Loop):
            top = self._here()
            self._steps(s.test)
            test = self._add(s.op, layout.JUMP_IF_FALSE, d(s.cond), 0, self._rank(s.cond))
            self._steps(s.body)
            self._next_values(s)
            self._add(None, layout.JUMP, top)
            self.plan.code[test][2] = self._here()
        elif isinstance(s, Host):
            self._add(s.op, layout.CALL_HOST)
        else:
            self._add(None, layout.SUSPEND)

    def _rank(self, name: str) -> int:
        return len(self.schedule.variables[name].shape)

    def _next_values(self, s: Loop) -> None:
        """The parallel assignment at the end of an iteration. Lowering made sure that no result lies in the memory of another
        parameter, so the order does not matter."""
        for p, r in zip(s.params, s.results, strict=True):
            a, b = self.plan.descriptor(p), self.plan.descriptor(r)
            if a == b:
                continue
            if self._made_in(s.body, r):
                v = self.schedule.variables[p]
                size = dt.size(v.dtype)
                self._add(s.op, layout.MOVE, a, b, len(v.shape), -size if v.kind == "array" else size)
            else:
                self._add(None, layout.SHARE, a, b)

    def _made_in(self, steps: list[Step], name: str) -> bool:
        """Whether the steps give the variable a value; otherwise it comes from outside the loop and stays what it is."""
        c = self.schedule.canonical(name)
        return any(self.schedule.canonical(other) == c for s in walk(steps) for other in _written(s))

    def _launch(self, s: Launch) -> None:
        k = s.kernel
        self.plan.kernels.append(s)
        self.plan.records.append(
            Record(
                len(self.plan.kernels) - 1,
                [self.plan.descriptor(t.var) for t in k.tensors],
                [(a.dtype, a.value) for a in k.scalars],
            )
        )
        self._add(s.op, layout.CALL, len(self.plan.records) - 1)
