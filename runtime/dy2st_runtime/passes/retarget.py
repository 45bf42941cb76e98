"""Takes shapes from values that are there anyway."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import reads
from ..loopir.nodes import Expr
from .rewrite import Forward
from .shapes import Shapes, symbolic_shapes


def retarget(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Lets an op that looks only at the shape of an input look at another value of provably the same shape: another input
    of the op, a param of a block around it, data, or a persistable.

    So a large value is not kept, or saved in every iteration of a loop, for the sake of its shape.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 3], is_data=True)
    >>> b = IRBuilder(block)
    >>> y = b.op("fill_any_like", X=b.exp(x), value=1.0)
    >>> retarget(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 3]
      exp.Out_0: float32[?, 3] = exp(X=x)
      fill_any_like.Out_0: float32[?, 3] = fill_any_like(X=x, value=1)
    }
    <BLANKLINE>
    """
    return _Walk(program, keep).run()


def _given(program: Program) -> list[str]:
    """What is there from the start: persistables, and the data that is read before the run is suspended (what is read only
    later may be fed later)."""
    block = program.global_block()
    early: dict[str, None] = {}
    for op in block.ops:
        if op.type == "suspend":
            break
        early.update(dict.fromkeys(n for n in reads(op) if block.var(n).is_data))
    return [v.name for v in block.vars.values() if v.persistable] + list(early)


class _Walk(Forward):
    def __init__(self, program: Program, keep: frozenset[str]):
        super().__init__(program, keep)
        self.shapes: Shapes = symbolic_shapes(program)
        self.absent = maybe_absent(program)
        self.scopes: list[dict[Any, str]] = [self._by_shape(program.global_block(), _given(program))]

    def root(self, block: Block) -> None:
        if block is not self.program.global_block():  # a function sees no data
            given = [v.name for v in self.program.global_block().vars.values() if v.persistable]
            self.scopes = [self._by_shape(block, given)]
        super().root(block)

    def block(self, block: Block) -> None:
        self.scopes.append(self._by_shape(block, block.params))
        super().block(block)
        self.scopes.pop()

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        for slot in op.record.shape_only:
            if op.type != "fill_absent":  # looks also at whether its input is absent
                op.inputs[slot] = [self._source(op, slot, name, block) for name in op.input(slot)]
        return [op]

    def _source(self, op: Operator, slot: str, name: str, block: Block) -> str:
        key = self._key(block, name)
        if key is None:
            return name
        others = [n for s, names in op.inputs.items() if s not in op.record.shape_only for n in names]
        for scope in [self._by_shape(block, others), *reversed(self.scopes)]:
            if key in scope:
                self.changed |= scope[key] != name
                return scope[key]
        return name

    def _by_shape(self, block: Block, names: Iterable[str]) -> dict[Any, str]:
        found: dict[Any, str] = {}
        for name in names:
            key = self._key(block, name)
            if key is not None:
                found.setdefault(key, name)
        return found

    def _key(self, block: Block, name: str) -> Any:
        """The dtype and the shape of a dense value that is surely there."""
        v = block.var(name)
        if v.kind != "dense" or name in self.absent or name not in self.shapes:
            return None
        return v.dtype, tuple(d.key if isinstance(d, Expr) else d for d in self.shapes[name])
