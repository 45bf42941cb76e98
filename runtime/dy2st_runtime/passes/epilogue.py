"""What follows a convolution or a matrix product element by element becomes a part of it."""

from __future__ import annotations

from collections import Counter

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import may_raise, reads
from ..ops import windows
from ..ops.elementwise import full_rank, trailing
from ..ops.fused import GROUPS
from .fuse import as_one, is_elementwise, opened
from .rewrite import is_effect, roots_of
from .shapes import Shapes, equal, symbolic_shapes

FUSED = {"conv2d": "fused_conv2d", "depthwise_conv2d": "fused_conv2d", "matmul_v2": "fused_matmul", "mul": "fused_matmul"}
"""What an op becomes together with those that follow."""


def epilogue(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Makes a convolution or a product of floats, and the elementwise op or group that alone reads its output, one op.

    The other operands must have the shape of the output by construction, or one element, or one for each channel of the image or column
    of the matrix: then the part of the output that has just been computed can be finished before the next. The convolution or product runs
    where the group stood; nothing moves across effects or ops that can raise because of values.

    >>> from dy2st_runtime.ir import IRBuilder, Program
    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 3, 8, 8], is_data=True)
    >>> w = block.create_var("w", "float32", [6, 3, 3, 3], persistable=True)
    >>> b = IRBuilder(block)
    >>> y = b.relu(b.conv2d(x, w))
    >>> epilogue(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 3, 8, 8]
      state w: float32[6, 3, 3, 3]
      relu.Out_0: float32[?, 6, 6, 6] = fused_conv2d(X=[x, w])
        sub_block(x@IN_0: float32[?, 3, 8, 8], w@IN_0: float32[6, 3, 3, 3]):
          conv2d.Output_0: float32[?, 6, 6, 6] = conv2d(Input=x@IN_0, Filter=w@IN_0)
          relu.Out_0@IN_0: float32[?, 6, 6, 6] = relu(X=conv2d.Output_0)
          yield relu.Out_0@IN_0
    }
    <BLANKLINE>
    """
    blocks = [block for block in program.blocks if any(op.type in FUSED for op in block.ops)]
    if not blocks:
        return False
    absent, shapes = maybe_absent(program), symbolic_shapes(program)
    inside = {id(sub) for block in program.blocks for op in block.ops if op.type in GROUPS for sub in op.blocks}
    changed = False
    for block in blocks:
        if id(block) in inside:
            continue
        changed |= _Walk(block, shapes, absent, roots_of(block, keep)).run()
    if changed:
        program.version += 1
    return changed


class _Walk:
    def __init__(self, block: Block, shapes: Shapes, absent: set[str], roots: set[str]):
        self.block, self.shapes, self.absent, self.roots = block, shapes, absent, roots
        self.uses = Counter(name for op in block.ops for name in reads(op))

    def run(self) -> bool:
        waiting: dict[str, int] = {}  # outputs that may move to a reader → where their ops stand in `result`
        result: list[Operator | None] = []
        changed = False
        for op in self.block.ops:
            made = [name for name in dict.fromkeys(op.input_names) if name in waiting] if is_elementwise(op) else []
            # of two that one group reads, the later
            for name in sorted(made, key=waiting.__getitem__, reverse=True):
                first = result[waiting[name]]
                assert first is not None
                if self._fits(first, op):
                    result[waiting.pop(name)] = None
                    op = self._joined(first, op)
                    changed = True
                    break
            if op.type in FUSED and self._can_move(op):
                waiting[op.output_names[0]] = len(result)
            elif is_effect(op, self.block) or may_raise(op, self.block):
                waiting.clear()
            result.append(op)
        if changed:
            self.block.ops[:] = [op for op in result if op is not None]
        return changed

    def _can_move(self, first: Operator) -> bool:
        (out,) = first.output_names
        if self.uses[out] != 1 or out in self.roots or any(name in self.absent for name in first.input_names):
            return False
        if FUSED[first.type] == "fused_conv2d":
            return True
        # other products are loops; those with a vector on the right have no columns
        y = self.block.var(first.input("Y")[0])
        columns_at = first.attrs["y_num_col_dims"] if first.type == "mul" else len(y.shape) - 1
        return y.dtype in ("float32", "float64") and columns_at == len(y.shape) - 1 >= 1

    def _fits(self, first: Operator, op: Operator) -> bool:
        """Whether all operands of an op meet the output of a convolution or product as its kernels can read them."""
        (made,) = first.output_names
        space = self.shapes.get(made)
        if space is None or any(name in self.absent for name in op.input_names):
            return False
        if not all(name in self.shapes and equal(self.shapes[name], space) for name in op.output_names):
            return False
        shape, axis = self.block.var(made).shape, self._axis(first)
        return all(
            name == made or equal(self.shapes.get(name, ()), space) or _lies_along(self.block.var(name).shape, offset, shape, axis)
            for name, offset in self._operands(op)
        )

    def _axis(self, first: Operator) -> int:
        """The axis of the output along which an operand may lie."""
        if FUSED[first.type] == "fused_conv2d":
            return 3 if windows.channel_last(first.attrs["data_format"]) else 1
        return len(self.block.var(first.output_names[0]).shape) - 1

    def _operands(self, op: Operator) -> list[tuple[str, int]]:
        """The inputs of an op, with the axes of size 1 that each gets at its end."""
        if op.type != "fused_elementwise":
            return list(zip(op.input_names, trailing([len(self.block.var(name).shape) for name in op.input_names], op.attrs), strict=True))
        sub = op.attrs["sub_block"]
        found: dict[str, int] = {}
        for inner in sub.ops:
            offsets = trailing([len(sub.var(name).shape) for name in inner.input_names], inner.attrs)
            found.update(zip(inner.input_names, offsets, strict=True))
        return [(name, found.get(p, 0)) for name, p in zip(op.input("X"), sub.params, strict=True)]

    def _joined(self, first: Operator, op: Operator) -> Operator:
        (made,) = first.output_names
        others = [name for name in dict.fromkeys(op.input_names) if name != made]
        return as_one(FUSED[first.type], self.block, [first, *opened(self.block, op)], list(dict.fromkeys([*first.input_names, *others])),
                      op.output_names)  # fmt: skip


def _lies_along(shape: tuple[int, ...], offset: int, space: tuple[int, ...], axis: int) -> bool:
    """Whether an operand has one element, or one for each place on an axis of the output."""
    sizes = full_rank(shape, offset, len(space))
    return all(d == 1 or (i == axis and d == space[axis] != -1) for i, d in enumerate(sizes))
