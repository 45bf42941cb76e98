"""Batch normalization, as elementwise ops."""

from __future__ import annotations

from ..ir.builder import IRBuilder
from ..ir.program import Block, Operator, Program
from ..ir.visit import all_ops
from ..ops.batch_norm import BatchNorm, BatchNormStatistics, uses_running
from ..ops.row_norm import affine
from ..ops.windows import channel_last
from .rewrite import Forward
from .shapes import may_differ

SMALL = {"MeanOut": "Mean", "VarianceOut": "Variance", "SavedMean": None, "SavedVariance": None}
"""The outputs beside Y, and what those are that change in training only."""


def split_norm(program: Program, keep: frozenset[str] = frozenset()) -> bool:
    """Writes a `batch_norm` with elementwise ops: each element is moved and scaled by what its channel has. So `fuse` and `epilogue` can do
    it in one pass with what is before and behind it.

    One that reads the running statistics, and of which only Y is used, leaves nothing else; the factor of a channel is computed in each
    run: parameters may change between runs. One that computes those of the batch leaves a `batch_norm_statistics`. One whose sizes may not
    fit stays, so that its message says so.

    >>> program = Program()
    >>> block = program.global_block()
    >>> x = block.create_var("x", "float32", [-1, 3, 8, 8], is_data=True)
    >>> parameters = [block.create_var(name, "float32", [3], persistable=True) for name in ("scale", "bias", "mean", "variance")]
    >>> y, *_ = IRBuilder(block).batch_norm(x, *parameters, is_test=True)
    >>> split_norm(program, frozenset({y.name}))
    True
    >>> print(program)
    program {
      data x: float32[?, 3, 8, 8]
      state scale: float32[3]
      state bias: float32[3]
      state mean: float32[3]
      state variance: float32[3]
      scale.Out_0: float32[3] = scale(X=variance, bias=1e-05)
      rsqrt.Out_0: float32[3] = rsqrt(X=scale.Out_0)
      elementwise_sub.Out_0: float32[?, 3, 8, 8] = elementwise_sub(X=x, Y=mean, axis=1)
      elementwise_mul.Out_0: float32[3] = elementwise_mul(X=rsqrt.Out_0, Y=scale)
      elementwise_mul.Out_1: float32[?, 3, 8, 8] = elementwise_mul(X=elementwise_sub.Out_0, Y=elementwise_mul.Out_0, axis=1)
      batch_norm.Y_0: float32[?, 3, 8, 8] = elementwise_add(X=elementwise_mul.Out_1, Y=bias, axis=1)
    }
    <BLANKLINE>
    """
    ops = [op for root in program.roots for op in all_ops(root)]
    if not any(op.type == "batch_norm" for op in ops):
        return False
    used = {name for op in ops for name in (*op.input_names, *op.attrs.get("saved", ()))}
    used.update(keep, *(block.results for block in program.blocks))
    return _Walk(program, keep, used).run()


class _Walk(Forward):
    def __init__(self, program: Program, keep: frozenset[str], used: set[str]):
        super().__init__(program, keep)
        self.used, self.unproven = used, may_differ(program)

    def visit(self, op: Operator, block: Block) -> list[Operator]:
        if op.type != "batch_norm" or id(op) in self.unproven or not self._of_one_dtype(op, block):
            return [op]
        if uses_running(op.attrs):
            return self._by_running(op, block) if self._only_y(op, block) else [op]
        return self._by_batch(op, block) if all(op.output(slot) for slot in BatchNorm.output_names) else [op]

    def _by_running(self, op: Operator, block: Block) -> list[Operator]:
        updates = self.program.updates
        for slot, source in SMALL.items():
            for name in op.output(slot):
                if source is not None and name in updates.values():
                    del updates[op.input(source)[0]]  # it would get the value that it has
                block.vars.pop(name, None)
        made = Block(self.program, block)
        b = IRBuilder(made, op.location)
        y = BatchNorm.compose(b, *(block.var(op.input(slot)[0]) for slot in BatchNorm.input_names), attrs=op.attrs)[0]
        return self._put_out(y.name, made, op, block)

    def _by_batch(self, op: Operator, block: Block) -> list[Operator]:
        inputs = {slot: op.input(slot) for slot in BatchNormStatistics.input_names}
        outputs = {slot: op.output(slot) for slot in BatchNormStatistics.output_names}
        first = Operator(BatchNormStatistics.type, inputs, outputs, op.attrs, op.location)
        (name,) = op.output("Y")
        if name not in self.used and name not in self.program.updates.values():  # recomputed for what the gradient reads
            del block.vars[name]
            self.changed = True
            return [first]
        made = Block(self.program, block)
        b = IRBuilder(made, op.location)
        x, scale, bias = (block.var(op.input(slot)[0]) for slot in ("X", "Scale", "Bias"))
        mean, inverse = (block.var(op.output(slot)[0]) for slot in ("SavedMean", "SavedVariance"))
        channel = len(x.shape) - 1 if channel_last(op.attrs["data_layout"]) else 1
        centered = b.op("elementwise_sub", X=x, Y=mean, axis=channel)
        y = affine(b, centered, b.mul(inverse, scale), bias, channel)
        return [first, *self._put_out(y.name, made, op, block)]

    def _put_out(self, y: str, made: Block, op: Operator, block: Block) -> list[Operator]:
        """The ops of a block of which the last makes Y, moved to that of the op."""
        del made.vars[y]
        made.ops[-1].outputs = {"Out": op.output("Y")}
        for name, v in made.vars.items():
            v.block = block
            block.vars[name] = v
        self.changed = True
        return made.ops

    def _of_one_dtype(self, op: Operator, block: Block) -> bool:
        """Whether Y has the dtype of the parameters, in which it is computed."""
        return len({block.var(name).dtype for name in op.input_names}) == 1 and block.var(op.input("X")[0]).dtype != "float16"

    def _only_y(self, op: Operator, block: Block) -> bool:
        """Whether nothing else is read."""
        updates = self.program.updates
        for slot, source in SMALL.items():
            for name in op.output(slot):
                if name in self.used or block.var(name).persistable:
                    return False
                readers = [persistable for persistable, final in updates.items() if final == name]
                if readers and (source is None or readers != op.input(source)):
                    return False
        return True
