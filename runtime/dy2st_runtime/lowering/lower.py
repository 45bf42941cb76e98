"""Program → Schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program, Variable
from ..ir.visit import free_names
from . import arrays
from .alike import Pattern, numbered
from .context import Context
from .schedule import Guard, Launch, Routine, Schedule, Step


def lower(
    program: Program,
    shapes: Mapping[str, tuple[Any, ...]] | None = None,
    absent_feeds: frozenset[str] = frozenset(),
    routines: bool = False,
    winograd: bool = True,
    launched: Callable[[Launch], None] | None = None,
) -> Schedule:
    """The schedule of a verified Program.

    Args:
        program: assigns each variable once (after the `ssa` pass).
        shapes: symbolic sizes by variable, where known; they decide which loops merge.
        absent_feeds: fed variables that may come without a value.
        routines: whether kernels may call routines (`loopir.nodes.RoutineCall`), as on the CPU.
        winograd: whether routines of convolution may be those by transforms.
        launched: called for the kernels of each op when it is lowered; not of one that is alike, which has equal ones.
    """
    cx = _Lowering(dict(shapes or {}), routines, winograd, launched)
    cx.maybe_absent = maybe_absent(program, absent_feeds)
    cx.lower_block(program.global_block())
    schedule = Schedule(cx.steps, cx.variables, cx.same)
    for name, f in program.functions.items():
        captured = free_names(f.block)
        for variable in (*f.block.params, *f.block.results, *captured):
            cx.note(f.block.var(variable))
        with cx.into([]) as steps:
            cx.lower_block(f.block)
        schedule.routines[name] = Routine(
            Schedule(steps, cx.variables, cx.same), list(f.block.params), list(f.block.results), captured
        )
    return schedule


class _Lowering(Context):
    """The context with the walk over blocks, which knows all ops."""

    def __init__(self, shapes: dict[str, tuple[Any, ...]], routines: bool, winograd: bool, launched: Callable[[Launch], None] | None):
        super().__init__(shapes, routines, winograd)
        self._launched = launched
        self._patterns: dict[Any, Pattern] = {}

    def lower_block(self, block: Block) -> None:
        """Adds the steps of a block."""
        for op in block.ops:
            self.op, self.block = op, block
            guarded = self._guards(op)
            if not guarded:
                self._lower_op(op, block)
                continue
            with self.into([]) as steps:
                self._lower_op(op, block)
            inputs = set(op.input_names)
            outputs = [name for name in op.output_names if name not in inputs]
            for name in outputs:
                self.note(block.var(name))
            keeps = {
                o: i
                for out, into in op.record.inplace.items()
                for o, i in zip(op.output(out), op.input(into), strict=False)
            }
            self.steps.append(Guard(guarded, outputs, steps, {o: i for o, i in keeps.items() if o != i}))

    def _guards(self, op: Operator) -> list[str]:
        if op.record.handles_absent:
            return []
        names = [name for name in op.input_names if name in self.maybe_absent]
        return list(dict.fromkeys(names))

    def _lower_op(self, op: Operator, block: Block) -> None:
        record = op.record
        if record.host:
            self.host()
            return
        like = numbered(self, op, block)
        pattern = None if like is None else self._patterns.get(like.key)
        if like is not None and pattern is not None and pattern.usable:
            pattern.bind(self, like)
            return
        ins = self._values(record.input_slots, op.inputs, block)
        outs = self._values(record.output_slots, op.outputs, block)
        start, noted, same, absent = len(self.steps), len(self.noted), len(self.same), len(self.maybe_absent)
        record.lower(self, *ins, *outs, **op.attrs)
        if self._launched is not None:
            for step in self.steps[start:]:
                if isinstance(step, Launch):
                    self._launched(step)
        if like is not None and pattern is None and absent == len(self.maybe_absent):
            named = dict(islice(self.same.items(), same, None))  # no name is given a descriptor twice
            self._patterns[like.key] = Pattern(like, self.steps[start:], self.noted[noted:], named, self.temps)

    @staticmethod
    def _values(slots: Sequence[Any], names: dict[str, list[str]], block: Block) -> list[Any]:
        values: list[Any] = []
        for slot in slots:
            found: list[Variable] = [block.var(name) for name in names.get(slot.name, [])]
            values.append(found if slot.many else (found[0] if found else None))
        return values

    def copy(self, x: Variable, out: Variable) -> None:
        """`out` gets the elements of x in memory of its own."""
        if x.kind == "array":
            arrays.copy(self, x, out)
            return
        with self.kernel([x], [out], shapes=False, label="copy") as (k, (source,), (target,)):
            k.set_shape(target, source.shape)
            with k.parallel(source.size) as i:
                target[i] = source[i]


__all__ = ["Step", "lower"]
