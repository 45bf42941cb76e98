"""Convolutions with elementwise ops on their output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops import conv_routines
from ..ops.elementwise import full_rank
from . import elementwise

SCALAR, CHANNEL, FULL = "scalar", "channel", "full"


def lower_fused(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
    """The convolution that is the first op of `body`, and the others on its output: in its kernels where these can do it, else behind them.
    `body.params` stand for the inputs."""
    conv, *ops = body.ops
    image = cx.note(body.var(conv.output_names[0]))
    for p, x in zip(body.params, ins, strict=True):
        cx.note(body.var(p))
        cx.note(x)
        cx.same[p] = x.name
    outer = cx.op, cx.block
    cx.op, cx.block = conv, body
    x, f = (body.var(conv.input(slot)[0]) for slot in ("Input", "Filter"))
    others = [body.var(p) for p in body.params if any(p in op.input_names for op in ops)]
    homes = [out for out in outs if out.dtype == image.dtype]
    if homes and conv_routines.can_finish(cx, image, conv.attrs):
        cx.same[image.name] = cx.note(homes[0]).name
        writes = [cx.note(out) for out in outs if out is not homes[0]]
        results = dict(zip((out.name for out in outs), body.results, strict=True))
        stored = [results[homes[0].name], *(results[out.name] for out in writes)]
        conv_routines.forward(cx, x, f, image, conv.attrs, Finish(image, others, writes, stored, ops, body))
        cx.op, cx.block = outer
        last = cx.steps[-1]  # does all that the op does, so it is what profiles name it and whose lines they count
        last.op, last.kernel.label = cx.op, "+".join(op.type for op in body.ops)
        return
    conv.record.lower(cx, x, f, image, **conv.attrs)
    cx.op, cx.block = outer
    elementwise.lower_fused(cx, [image, *others], [v.name for v in (image, *others)], outs, ops, body)


class Finish:
    """What becomes of elements of a convolution's output, in its kernels.

    Args:
        image: the output, with the channels second.
        reads: the other operands.
        writes: the outputs beside that which takes the place of `image`.
        stored: the values of the block that are put out, that in place of `image` first.
        ops: the elementwise ops.
        body: the block they stand in.
    """

    def __init__(self, image: Variable, reads: Sequence[Variable], writes: Sequence[Variable], stored: Sequence[str],
                 ops: Sequence[Operator], body: Block):  # fmt: skip
        self.image, self.reads, self.writes, self.stored, self.ops, self.body = image, reads, writes, stored, ops, body
        offsets = elementwise.group_offsets([v.name for v in reads], ops, body)
        self.kinds = [_kind(v.shape, offset) for v, offset in zip(reads, offsets, strict=True)]

    def shapes(self, k: KernelBuilder, image: TensorRef, outs: Sequence[TensorRef]) -> None:
        for out in outs:
            k.set_shape(out, image.shape)

    def met(self, image: TensorRef, ins: Sequence[TensorRef]) -> TensorRef:
        """An operand that is read element by element, so that it can be asked for while the convolution runs; the image if none is."""
        found = (ref for ref, kind in zip(ins, self.kinds, strict=True) if kind == FULL and ref.dtype == image.dtype)
        return next(found, image)

    def run(self, k: KernelBuilder, image: TensorRef, ins: Sequence[TensorRef], outs: Sequence[TensorRef], channel: Any, start: Any,
            count: Any) -> None:  # fmt: skip
        """Finishes `count` elements from `start`, all of one channel."""
        once = [None if kind == FULL else k.let(ref[channel if kind == CHANNEL else 0], "h")
                for ref, kind in zip(ins, self.kinds, strict=True)]  # fmt: skip
        with k.loop(count) as i:
            at = k.let(start + i)
            env: dict[str, n.Expr] = {self.image.name: k.let(image[at], "e")}
            for v, ref, value in zip(self.reads, ins, once, strict=True):
                env[v.name] = k.let(ref[at], "e") if value is None else value
            for op in self.ops:
                elementwise.evaluate(k, op, self.body, env)
            for ref, name in zip((image, *outs), self.stored, strict=True):
                ref[at] = n.cast(env[name], ref.dtype)


def _kind(shape: Sequence[int], offset: int) -> str:
    """How an operand meets the output; the pass `epilogue` has seen to it that there is no other way."""
    sizes = full_rank(shape, offset, 4)
    if any(d != 1 for axis, d in enumerate(sizes) if axis != 1):
        return FULL
    return SCALAR if sizes[1] == 1 else CHANNEL
