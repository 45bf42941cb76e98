"""Convolutions and matrix products with elementwise ops on their output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops import conv_routines, matmul
from ..ops.elementwise import full_rank
from . import elementwise

SCALAR, ALONG, FULL = "scalar", "along", "full"
Forward = Callable[..., None]


def lower_convolution(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
    _lower(cx, ins, outs, body, 1, conv_routines.can_finish, conv_routines.forward)


def lower_product(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
    _lower(cx, ins, outs, body, -1, lambda *_: True, matmul.FORWARD[body.ops[0].type])


def _lower(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block, axis: int, can_finish: Callable[..., bool],
           forward: Forward) -> None:  # fmt: skip
    """The convolution or product that is the first op of `body`, and the others on its output: in its kernels where these can do it, else
    behind them. `body.params` stand for the inputs; an operand may lie along one axis of the output."""
    first, *ops = body.ops
    result = cx.note(body.var(first.output_names[0]))
    for p, x in zip(body.params, ins, strict=True):
        cx.note(body.var(p))
        cx.note(x)
        cx.same[p] = x.name
    outer = cx.op, cx.block
    cx.op, cx.block = first, body
    x, y = (body.var(name) for name in first.input_names)
    others = [body.var(p) for p in body.params if any(p in op.input_names for op in ops)]
    homes = [out for out in outs if out.dtype == result.dtype]
    if homes and can_finish(cx, result, first.attrs):
        cx.same[result.name] = cx.note(homes[0]).name
        writes = [cx.note(out) for out in outs if out is not homes[0]]
        results = dict(zip((out.name for out in outs), body.results, strict=True))
        stored = [results[homes[0].name], *(results[out.name] for out in writes)]
        forward(cx, x, y, result, first.attrs, Finish(result, axis, others, writes, stored, ops, body))
        cx.op, cx.block = outer
        last = cx.steps[-1]  # does all that the op does, so it is what profiles name it and whose lines they count
        last.op, last.kernel.label = cx.op, "+".join(op.type for op in body.ops)
        return
    first.record.lower(cx, x, y, result, **first.attrs)
    cx.op, cx.block = outer
    elementwise.lower_fused(cx, [result, *others], [v.name for v in (result, *others)], outs, ops, body, body.results)


class Finish:
    """What becomes of elements of an output, in the kernels that make it.

    Args:
        result: the output of the convolution (with the channels second) or of the product.
        axis: of it, along which an operand may lie: the channels, the columns.
        reads: the other operands.
        writes: the outputs beside that which takes the place of `result`.
        stored: the values of the block that are put out, that in place of `result` first.
        ops: the elementwise ops.
        body: the block they stand in.
    """

    def __init__(self, result: Variable, axis: int, reads: Sequence[Variable], writes: Sequence[Variable], stored: Sequence[str],
                 ops: Sequence[Operator], body: Block):  # fmt: skip
        self.result, self.reads, self.writes, self.stored, self.ops, self.body = result, reads, writes, stored, ops, body
        offsets = elementwise.group_offsets([v.name for v in reads], ops, body)
        rank = len(result.shape)
        self.kinds = [_kind(v.shape, offset, rank, axis % rank) for v, offset in zip(reads, offsets, strict=True)]

    def shapes(self, k: KernelBuilder, result: TensorRef, outs: Sequence[TensorRef]) -> None:
        for out in outs:
            k.set_shape(out, result.shape)

    def read_ahead(self, result: TensorRef, ins: Sequence[TensorRef]) -> TensorRef:
        """An operand that is read element by element, so that it can be asked for before; what is made itself if none is."""
        found = (ref for ref, kind in zip(ins, self.kinds, strict=True) if kind == FULL and ref.dtype == result.dtype)
        return next(found, result)

    def once(self, k: KernelBuilder, ins: Sequence[TensorRef], place: Any = None) -> list[n.Expr | None]:
        """The operands that are the same for many elements: the scalars, and with a place on the axis all that lie along that."""
        return [k.let(ref[place if kind == ALONG else 0], "h") if kind == SCALAR or (kind == ALONG and place is not None) else None
                for ref, kind in zip(ins, self.kinds, strict=True)]  # fmt: skip

    def element(self, k: KernelBuilder, result: TensorRef, ins: Sequence[TensorRef], once: Sequence[n.Expr | None],
                outs: Sequence[TensorRef], at: Any, place: Any = None) -> None:  # fmt: skip
        """Finishes the element at an offset; `place` is that on the axis, unless `once` knew it."""
        env: dict[str, n.Expr] = {self.result.name: k.let(result[at], "e")}
        for v, ref, kind, value in zip(self.reads, ins, self.kinds, once, strict=True):
            env[v.name] = value if value is not None else k.let(ref[at if kind == FULL else place], "e")
        for op in self.ops:
            elementwise.evaluate(k, op, self.body, env)
        for ref, name in zip((result, *outs), self.stored, strict=True):
            ref[at] = n.cast(env[name], ref.dtype)

    def run(self, k: KernelBuilder, result: TensorRef, ins: Sequence[TensorRef], outs: Sequence[TensorRef], place: Any, start: Any,
            count: Any) -> None:  # fmt: skip
        """Finishes `count` elements from `start`, all at one place on the axis."""
        once = self.once(k, ins, place)
        with k.loop(count) as i:
            self.element(k, result, ins, once, outs, k.let(start + i))


def _kind(shape: Sequence[int], offset: int, rank: int, axis: int) -> str:
    """How an operand meets the output; the pass `epilogue` has seen to it that there is no other way."""
    sizes = full_rank(shape, offset, rank)
    if any(d != 1 for i, d in enumerate(sizes) if i != axis):
        return FULL
    return SCALAR if sizes[axis] == 1 else ALONG
