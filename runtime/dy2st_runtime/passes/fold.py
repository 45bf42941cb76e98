"""Constant folding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Dy2stError
from ..ir.program import Block, Operator, Program
from .constants import LIMIT, constant_op, value_of
from .rewrite import Forward, is_effect


def fold(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Computes at compile time, by the ops' references, what depends on small constants only, or on known shapes only.

    An op that raises on its constants is left to raise at run time.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> b = IRBuilder(program.global_block())
    >>> two = b.constant(2.0, "float32", [2])
    >>> y = b.elementwise_mul(two, two)
    >>> fold(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      fill_constant.Out_0: float32[2] = fill_constant(shape=[2], value=2)
      elementwise_mul.Out_0: float32[2] = fill_constant(shape=[2], value=4)
    }
    <BLANKLINE>
    """
    return _Walk(program, keep).run()


class _Walk(Forward):
    def __init__(self, program: Program, keep: frozenset[str]):
        super().__init__(program, keep)
        self.values: dict[str, np.ndarray] = {}

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        constant = value_of(op)
        if constant is not None:
            self.values[op.output("Out")[0]] = constant
            return [op]
        if op.blocks or not op.input_names or is_effect(op, block) or op.record.handles_absent:
            return [op]
        ins = self._inputs(op, block)
        if ins is None or any(_large(block, name) for name in op.output_names):
            return [op]
        try:
            outs = op.record.run_reference(ins, op.attrs)
        except (Dy2stError, ArithmeticError, LookupError, TypeError, ValueError):
            return [op]
        return self._constants(op, outs)

    def _inputs(self, op: Operator, block: Block) -> tuple[Any, ...] | None:
        """The values of the inputs; an array of the right shape where only that counts; None if one is not known."""
        ins: list[Any] = []
        for slot in op.record.input_slots:
            found: list[np.ndarray] = []
            for name in op.input(slot.name):
                v = block.var(name)
                if name in self.values:
                    found.append(self.values[name])
                elif slot.name in op.record.shape_only and v.kind == "dense" and -1 not in v.shape:
                    found.append(np.broadcast_to(np.zeros((), v.dtype), v.shape))
                else:
                    return None
            ins.append(found if slot.many else (found[0] if found else None))
        return tuple(ins)

    def _constants(self, op: Operator, outs: tuple[Any, ...]) -> list[Operator]:
        made: dict[str, Any] = {}
        for slot, value in zip(op.record.output_slots, outs, strict=True):
            made.update(zip(op.output(slot.name), value if slot.many else [value], strict=False))
        if not all(isinstance(made.get(name), np.ndarray) and made[name].size <= LIMIT for name in op.output_names):
            return [op]
        self.values.update(made)
        self.changed = True
        return [constant_op(np.asarray(made[name]), name, op.location) for name in op.output_names]


def _large(block: Block, name: str) -> bool:
    """Whether an output is surely not worth computing here."""
    v = block.var(name)
    return v.kind != "dense" or int(np.prod([max(d, 1) for d in v.shape])) > LIMIT
