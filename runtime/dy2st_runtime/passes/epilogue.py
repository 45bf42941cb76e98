"""What follows a convolution element by element becomes a part of it."""

from __future__ import annotations

from collections import Counter

from ..ir.absent import maybe_absent
from ..ir.program import Block, Operator, Program
from ..ir.visit import may_raise, reads
from ..ops import windows
from ..ops.elementwise import Elementwise, full_rank, trailing
from .fuse import as_one
from .rewrite import is_effect
from .shapes import Shapes, equal, symbolic_shapes

CONVOLUTIONS = ("conv2d", "depthwise_conv2d")


def epilogue(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Makes a convolution, and the elementwise op or group that alone reads its output, one `fused_conv2d` op.

    The other operands must have the shape of the output by construction, or one element, or one for each channel: then the part of the
    output that has just been computed can be finished before the next. The convolution runs where the group stood; nothing moves across
    effects or ops that can raise because of values.

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
    blocks = [block for block in program.blocks if any(op.type in CONVOLUTIONS for op in block.ops)]
    if not blocks:
        return False
    absent, shapes = maybe_absent(program), symbolic_shapes(program)
    inside = {id(sub) for block in program.blocks for op in block.ops if op.type == "fused_conv2d" for sub in op.blocks}
    changed = False
    for block in blocks:
        if id(block) in inside:
            continue
        roots = {*keep, *program.updates.values()} if block.parent is None else set(block.results)
        if block.parent is not None:
            roots.update(n for op in block.parent.ops if any(sub is block for sub in op.blocks) for n in op.attrs.get("saved", ()))
        changed |= _Walk(block, shapes, absent, roots).run()
    if changed:
        program.version += 1
    return changed


class _Walk:
    def __init__(self, block: Block, shapes: Shapes, absent: set[str], roots: set[str]):
        self.block, self.shapes, self.absent, self.roots = block, shapes, absent, roots
        self.uses = Counter(name for op in block.ops for name in reads(op))

    def run(self) -> bool:
        waiting: dict[str, int] = {}  # outputs of convolutions that may move to a reader → where they stand in `result`
        result: list[Operator | None] = []
        changed = False
        for op in self.block.ops:
            made = [name for name in dict.fromkeys(op.input_names) if name in waiting] if self._finishes(op) else []
            # of two convolutions that one group reads, the later
            for name in sorted(made, key=waiting.__getitem__, reverse=True):
                conv = result[waiting[name]]
                assert conv is not None
                if self._fits(conv, op):
                    result[waiting.pop(name)] = None
                    op = self._joined(conv, op)
                    changed = True
                    break
            if op.type in CONVOLUTIONS and self._can_move(op):
                waiting[op.output_names[0]] = len(result)
            elif is_effect(op, self.block) or may_raise(op, self.block):
                waiting.clear()
            result.append(op)
        if changed:
            self.block.ops[:] = [op for op in result if op is not None]
        return changed

    def _can_move(self, conv: Operator) -> bool:
        (out,) = conv.output_names
        return self.uses[out] == 1 and out not in self.roots and not any(name in self.absent for name in conv.input_names)

    @staticmethod
    def _finishes(op: Operator) -> bool:
        """Whether the ops of a group, or the one op, are elementwise."""
        if op.type == "fused_elementwise":
            return True
        return issubclass(op.record, Elementwise) and hasattr(op.record, "scalar") and not op.record.host and len(op.output_names) == 1

    def _fits(self, conv: Operator, op: Operator) -> bool:
        """Whether all operands of an op meet the output of a convolution as the kernels of `fused_conv2d` can read them."""
        (image,) = conv.output_names
        space = self.shapes.get(image)
        if space is None or any(name in self.absent for name in op.input_names):
            return False
        if not all(name in self.shapes and equal(self.shapes[name], space) for name in op.output_names):
            return False
        channel = 3 if windows.channel_last(conv.attrs["data_format"]) else 1
        channels = self.block.var(image).shape[channel]
        return all(
            name == image or equal(self.shapes.get(name, ()), space) or _per_channel(self.block.var(name).shape, offset, channel, channels)
            for name, offset in self._operands(op)
        )

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

    def _joined(self, conv: Operator, op: Operator) -> Operator:
        (image,) = conv.output_names
        if op.type != "fused_elementwise":
            others = [name for name in dict.fromkeys(op.input_names) if name != image]
            return as_one("fused_conv2d", self.block, [conv, op], list(dict.fromkeys([*conv.input_names, *others])), op.output_names)
        # the ops of the group move to a new block, with the names that they have outside
        names = dict(zip(op.attrs["sub_block"].params, op.input("X"), strict=True))
        names.update(zip(op.attrs["sub_block"].results, op.output("Out"), strict=True))
        ops = [conv]
        for inner in op.attrs["sub_block"].ops:
            (out,) = inner.output_names
            if out not in names:
                names[out] = out
                v = self.block.vars[out] = op.attrs["sub_block"].vars[out]
                v.block = self.block
            inputs = {slot: [names[n] for n in given] for slot, given in inner.inputs.items()}
            ops.append(Operator(inner.type, inputs, {slot: [names[out]] for slot in inner.outputs}, inner.attrs, inner.location))
        others = [name for name in op.input("X") if name != image]
        return as_one("fused_conv2d", self.block, ops, list(dict.fromkeys([*conv.input_names, *others])), op.output("Out"))


def _per_channel(shape: tuple[int, ...], offset: int, channel: int, channels: int) -> bool:
    """Whether an operand has one element, or one for each channel."""
    return all(d == 1 or (axis == channel and d == channels != -1) for axis, d in enumerate(full_rank(shape, offset, 4)))
