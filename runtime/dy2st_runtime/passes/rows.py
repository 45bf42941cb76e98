"""The elementwise ops before and behind a softmax or a normalization of rows become a part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import may_raise, reads
from ..ops.fused import GROUPS
from ..ops.row_norm import RowNorm
from ..ops.softmax import SoftmaxBase
from .fuse import as_one, is_elementwise, opened
from .rewrite import is_effect, roots_of
from .shapes import Shapes, equal, symbolic_shapes


def rows(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Makes a `softmax`, `log_softmax`, `layer_norm`, `group_norm` or `instance_norm`, the elementwise op or group of which it alone reads
    the one output, and that which alone reads its own, one op: a row is made, worked on and finished while a cache holds it.

    Everything runs where the last of them stood; nothing moves across effects or ops that can raise because of values. A normalization
    whose statistics are read, as by its gradient, stays.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 4, 4], is_data=True)
    >>> mask = block.create_var("mask", "float32", [4, 4], is_data=True)
    >>> b = IRBuilder(block)
    >>> y = b.softmax(b.add(x, mask), axis=-1)
    >>> rows(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 4, 4]
      data mask: float32[4, 4]
      softmax.Out_0: float32[?, 4, 4] = fused_rows(X=[x, mask])
        sub_block(x@IN_0: float32[?, 4, 4], mask@IN_0: float32[4, 4]):
          elementwise_add.Out_0: float32[?, 4, 4] = elementwise_add(X=x@IN_0, Y=mask@IN_0)
          softmax.Out_0@IN_0: float32[?, 4, 4] = softmax(X=elementwise_add.Out_0)
          yield softmax.Out_0@IN_0
    }
    <BLANKLINE>
    """
    blocks = [block for block in program.blocks if any(issubclass(op.record, (SoftmaxBase, RowNorm)) for op in block.ops)]
    if not blocks:
        return False
    absent, shapes = maybe_absent(program), symbolic_shapes(program)
    inside = {id(op.attrs["sub_block"]) for block in program.blocks for op in block.ops if op.type in GROUPS}
    changed = False
    for block in blocks:
        if id(block) not in inside:
            changed |= _Walk(block, shapes, absent, roots_of(block, keep)).run()
    if changed:
        program.version += 1
    return changed


class _Walk:
    def __init__(self, block: Block, shapes: Shapes, absent: set[str], roots: set[str]):
        self.block, self.shapes, self.absent, self.roots = block, shapes, absent, roots
        self.uses = Counter(name for op in block.ops for name in reads(op))
        self.waiting: dict[str, int] = {}  # what may move to its one reader → where its op stands in `result`
        self.result: list[Operator | None] = []

    def run(self) -> bool:
        changed = False
        for op in self.block.ops:
            by_rows = self._by_rows(op)
            made = None
            if by_rows or is_elementwise(op):
                candidates = [name for name in (op.input("X")[:1] if by_rows else op.input_names) if name in self.waiting]
                made = next((name for name in candidates if self._fits(name, op, by_rows)), None)
            if made is not None:
                first = self.result[self.waiting[made]]
                assert first is not None
                self.result[self.waiting.pop(made)] = None
                op = self._joined(first, op, by_rows)
                changed = True
            if is_effect(op, self.block) or may_raise(op, self.block):
                self.waiting.clear()
            elif (by_rows or op.type == "fused_rows" or is_elementwise(op)) and self._can_move(op):
                self.waiting[self._y(op)] = len(self.result)
            self.result.append(op)
        if changed:
            self.block.ops[:] = [op for op in self.result if op is not None]
        return changed

    def _by_rows(self, op: Operator) -> bool:
        """Whether an op works on rows of floats, and nobody reads more than its Y."""
        if not issubclass(op.record, (SoftmaxBase, RowNorm)):
            return False
        x = self.block.var(op.input_names[0])
        if x.dtype not in ("float32", "float64") or any(name in self.absent for name in op.input_names):
            return False
        unused = (self.uses[name] == 0 and name not in self.roots for name in op.output_names if name != self._y(op))
        return op.record.by_rows(len(x.shape), op.attrs) and all(unused)

    @staticmethod
    def _y(op: Operator) -> str:
        return op.outputs[op.record.output_names[0]][0]

    def _can_move(self, op: Operator) -> bool:
        """Whether all that an op makes for others is one value that one op reads."""
        y = self._y(op)
        if op.type in ("fused_rows", "fused_elementwise") and len(op.output_names) > 1:
            return False
        return self.uses[y] == 1 and y not in self.roots and not any(name in self.absent for name in op.input_names)

    def _fits(self, made: str, op: Operator, by_rows: bool) -> bool:
        """Whether a value and the op that reads it can be one: one that works on rows and elementwise ops of one shape."""
        first = self.result[self.waiting[made]]
        assert first is not None
        rowwise = op if by_rows else self._inner(first)
        if rowwise is None or (by_rows and not is_elementwise(first)):
            return False
        shape, elementwise = self.shapes.get(made), first if by_rows else op
        names = elementwise.output_names
        if shape is None or not all(name in self.shapes and equal(self.shapes[name], shape) for name in names):
            return False
        if not by_rows and not any(self.block.var(name).dtype == self.block.var(made).dtype for name in names):
            return False
        if issubclass(rowwise.record, RowNorm) and rowwise.record.split(rowwise.attrs) is None:
            return all(self._whole(name, shape) for name in elementwise.input_names if name != made)
        return not any(name in self.absent for name in elementwise.input_names)

    def _whole(self, name: str, shape: Sequence[object]) -> bool:
        """Whether an operand has all elements or one."""
        return equal(self.shapes.get(name, ()), shape) or all(d == 1 for d in self.block.var(name).shape)

    def _inner(self, op: Operator) -> Operator | None:
        """The op on rows that an op is, or is made around."""
        if op.type == "fused_rows":
            return next(inner for inner in op.attrs["sub_block"].ops if issubclass(inner.record, (SoftmaxBase, RowNorm)))
        return op if issubclass(op.record, (SoftmaxBase, RowNorm)) else None

    def _joined(self, first: Operator, op: Operator, by_rows: bool) -> Operator:
        main = op if by_rows else first
        if main.type != "fused_rows":
            for slot in main.record.output_names[1:]:  # its statistics, which nobody reads
                for name in main.outputs.pop(slot, ()):
                    self.block.vars.pop(name, None)
        ops = [*opened(self.block, first), *opened(self.block, op)]
        made = {name for inner in ops for name in inner.output_names}
        inputs = [name for name in dict.fromkeys(name for inner in ops for name in inner.input_names) if name not in made]
        return as_one("fused_rows", self.block, ops, inputs, op.output_names)
