"""Schedule → plan: descriptors, buffers by liveness, and the bytecode of the driver.

Every variable has a descriptor of its own (except where lowering made two the `same`). A variable that a kernel writes owns a *storage*;
a view or a share points into the storages of others. Storages whose live ranges do not overlap share a buffer. Buffers grow to
what is asked of them and are kept, so a plan serves all sizes and a steady run allocates nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from .. import dtype as dt
from ..codegen import layout
from ..ir.program import Operator, Variable
from ..ir.visit import may_raise
from ..loopir.nodes import holds_check
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
    Suspend,
    walk,
)
from .coalescing import merge_in_place
from .liveness import Liveness, written
from .plans import CallRecord, Plan, Record


def make_plan(schedule: Schedule, external: Sequence[str], keep: Sequence[str], updates: Mapping[str, str]) -> Plan:
    """Plans a schedule.

    Args:
        schedule: what to run.
        external: variables whose memory is bound from outside (feeds, persistables).
        keep: variables that are read after the run (fetches).
        updates: persistable → the variable with its value after the run.
    """
    merge_in_place(schedule, set(external), set(keep) | set(updates.values()))
    outside = {name: {*external, *r.captured, *r.params} for name, r in schedule.routines.items()}
    for name, r in schedule.routines.items():
        merge_in_place(r.schedule, outside[name], set(r.results), r.params)
    live = Liveness(schedule, [*keep, *updates.values()], external)
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
    inside = {name: Liveness(r.schedule, r.results, outside[name], r.params) for name, r in schedule.routines.items()}
    for name, r in schedule.routines.items():
        _assign_buffers(plan, r.schedule, inside[name], outside[name])
    for persistable, final in _updates_in_place(schedule, live, updates):
        d = plan.descriptor(final)
        plan.buffer_of[d] = -1
        plan.inplace_state[d] = persistable
    Bytecode(plan, schedule, {"": live, **inside}).emit()
    return plan


LASTING = 48
"""A value lives long if it is used more than so many steps after it is made."""


def _assign_buffers(plan: Plan, schedule: Schedule, live: Liveness, external: set[str]) -> None:
    """Greedy colouring of intervals; a free buffer of the closest size estimate is taken first.

    Only values with the same number of open dims share a buffer: the gradient of a weight that lives to the end would otherwise take that
    of an activation, which may be a hundred times as large, from those after it. For the same reason one that lives long takes none of more
    than twice its size; one that is gone soon takes any.
    """
    free: dict[int, list[tuple[int, int]]] = {}  # by the number of open dims: (estimated bytes, buffer)
    active: list[tuple[int, int, int, int]] = []  # (end, open dims, estimated bytes, buffer), a heap
    for name in sorted(live.owners, key=lambda r: (live.storage[r].start, r)):
        if name in external:
            continue
        v = schedule.variables[name]
        d = plan.index[name]
        if v.kind == "array":
            plan.buffer_of[d], plan.table_of[d] = plan.buffers, plan.buffers + 1
            plan.buffers += 2
            continue
        interval, size, opened = live.storage[name], _estimate(v), v.shape.count(-1)
        while active and active[0][0] < interval.start:
            _, kind, *ended = heapq.heappop(active)
            free.setdefault(kind, []).append((ended[0], ended[1]))
        unused = free.get(opened, [])
        fitting = [f for f in unused if f[0] >= size]
        if interval.end - interval.start > LASTING:
            fitting = [f for f in fitting if f[0] <= 2 * size]
        else:
            fitting = fitting or unused
        if fitting:
            best = min(fitting, key=lambda f: (abs(f[0] - size), f[1]))
            unused.remove(best)
            buffer, size = best[1], max(best[0], size)
        else:
            buffer = plan.buffers
            plan.buffers += 1
        plan.buffer_of[d] = buffer
        heapq.heappush(active, (interval.end, opened, size, buffer))


def _estimate(v: Variable) -> int:
    """Bytes for each product of the open dims: it only ranks buffers."""
    total = dt.size(v.dtype)
    for d in v.shape:
        total *= 1 if d == -1 else d
    return total


def _updates_in_place(schedule: Schedule, live: Liveness, updates: Mapping[str, str]) -> list[tuple[str, str]]:
    """The persistables, and their final values, that may be computed right in their memory: written by one top-level kernel
    whose op declares it, nothing reads the old value afterwards, and nothing after it can fail."""
    if not updates:
        return []
    writers: dict[str, list[Launch]] = {}
    last_failure = 0
    for s in walk(schedule.steps):
        if isinstance(s, Launch):
            for name in s.writes():
                writers.setdefault(name, []).append(s)
        if _can_fail(s):
            last_failure = max(last_failure, live.positions[id(s)])
    top = {id(inner) for s in schedule.steps for inner in (s.steps if isinstance(s, Guard) else [s])}
    showing: dict[str, list[str]] = {}  # the views of each persistable, and what a branch or a loop made the same as it
    for name, roots in live.roots.items():
        for root in roots:
            showing.setdefault(root, []).append(name)
    found = []
    for persistable, final in updates.items():
        if final not in schedule.variables or persistable not in schedule.variables or schedule.canonical(final) != final:
            continue
        old, new = schedule.variables[persistable], schedule.variables[final]
        if old.shape != new.shape or -1 in old.shape or old.dtype != new.dtype:
            continue
        made_by = writers.get(final, [])
        if len(made_by) != 1 or id(made_by[0]) not in top:
            continue
        op = made_by[0].op
        if not any(final in op.output(o) and persistable in op.input(i) for o, i in op.record.inplace.items()):
            continue
        at = live.positions[id(made_by[0])]
        if last_failure <= at and all(c == final or live.ranges[c].end <= at for c in showing.get(persistable, ())):
            found.append((persistable, final))
    return found


def _can_fail(s: Step) -> bool:
    if isinstance(s, (FailIfAbsent, Host, Suspend, Call, Loop)):  # loops and calls end for signals, too
        return True
    if isinstance(s, Launch) and holds_check(s.kernel.body):
        return True
    return isinstance(s, Launch) and may_raise(s.op)


def _call_graph(schedule: Schedule) -> dict[str, set[str]]:
    """For each function those that it may call, directly or not, itself included."""
    direct = {name: {s.function for s in walk(r.schedule.steps) if isinstance(s, Call)} for name, r in schedule.routines.items()}
    found = {}
    for name in direct:
        found[name] = {name}
        queue = [name]
        while queue:
            new = direct[queue.pop()] - found[name]
            found[name] |= new
            queue += new
    return found


class Bytecode:
    """Emits the instructions; jump targets are instruction indices.

    Args:
        inside: what is known of the memory of the schedule, under "", and of each function.
    """

    def __init__(self, plan: Plan, schedule: Schedule, inside: Mapping[str, Liveness]):
        self.plan, self.schedule, self.inside = plan, schedule, inside
        self.routine = ""
        self._jumps: list[tuple[int, str]] = []
        self._reaches = _call_graph(schedule)

    def _add(self, op: Operator | None, *words: int) -> int:
        self.plan.code.append([*words, *(0,) * (layout.INSTRUCTION_WORDS - len(words))])
        self.plan.ops.append(op)
        return len(self.plan.code) - 1

    def emit(self) -> None:
        """The whole program, with its end, and the functions behind it."""
        self._steps(self.schedule.steps)
        self._add(None, layout.HALT)
        entries = {}
        for name, routine in self.schedule.routines.items():
            entries[name] = self._here()
            self.routine = name
            self._steps(routine.schedule.steps)
            self._add(None, layout.LEAVE)
        for i, name in self._jumps:
            self.plan.code[i][2] = entries[name]

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
        elif isinstance(s, Call):
            self._jumps.append((self._add(s.op, layout.ENTER, len(self.plan.calls), 0), s.function))
            self.plan.calls.append(self._call(s))
        elif isinstance(s, Host):
            self._add(s.op, layout.CALL_HOST)
        else:
            self._add(None, layout.SUSPEND)

    def _call(self, s: Call) -> CallRecord:
        d = self.plan.descriptor
        routine = self.schedule.routines[s.function]
        saved: list[int] = []
        buffers: list[tuple[int, int]] = []
        if self.routine in self._reaches[s.function]:  # otherwise nobody touches what belongs to the caller
            own = self.schedule.routines[self.routine]
            kept = {self.schedule.canonical(name) for name in own.captured}
            values, storages = self.inside[self.routine].across(s, kept)
            saved = [d(name) for name in values]
            for owner in map(d, storages):
                words = [layout.BUFFER, layout.TABLE] if self.plan.table_of[owner] > 0 else [layout.BUFFER]
                buffers += [(owner, word) for word in words if self.plan.buffer_of[owner] >= 0]
            # several variables, one after the other, have one buffer
            buffers = list({(self.plan.buffer_of[o] if w == layout.BUFFER else self.plan.table_of[o]): (o, w) for o, w in buffers}.values())
        results = []
        for out, value in zip(s.outputs, routine.results, strict=True):
            v = self.schedule.variables[out]
            size = dt.size(v.dtype)
            results.append((d(out), d(value), len(v.shape), -size if v.kind == "array" else size))
        return CallRecord([(d(x), d(p)) for x, p in zip(s.arguments, routine.params, strict=True)], saved, buffers, results)

    def _rank(self, name: str) -> int:
        return len(self.schedule.variables[name].shape)

    def _next_values(self, s: Loop) -> None:
        """The parallel assignment at the end of an iteration. Lowering made sure that no result lies in the memory of another
        parameter, so the order does not matter."""
        canonical = self.schedule.canonical
        made = {canonical(name) for inner in walk(s.body) for name in written(inner)}
        roots = self.inside[self.routine].roots
        for p, r in zip(s.params, s.results, strict=True):
            a, b = self.plan.descriptor(p), self.plan.descriptor(r)
            # what is one place may show another one, which the next iteration writes
            if a == b and (p == r or roots.get(canonical(p), set()) <= {canonical(p)}):
                continue
            if canonical(r) in made:  # otherwise it comes from outside the loop and stays what it is
                v = self.schedule.variables[p]
                size = dt.size(v.dtype)
                self._add(s.op, layout.MOVE, a, b, len(v.shape), -size if v.kind == "array" else size)
            else:
                self._add(None, layout.SHARE, a, b)

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
        at = self._add(s.op, layout.CALL, len(self.plan.records) - 1)
        if self.plan.first_write is None and any(self.plan.descriptor(name) in self.plan.inplace_state for name in s.writes()):
            self.plan.first_write = at
