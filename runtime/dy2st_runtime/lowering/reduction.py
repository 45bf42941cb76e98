"""Reductions, also of what elementwise ops make of their operands, which is then never stored."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..dtype import is_float, widened
from ..ir.program import Block, Operator, Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops import folding
from ..ops.axes import FULL, Axis, is_one, merge, product
from . import elementwise


@dataclass
class Reduction:
    """What is folded, and by which op.

    Args:
        op: the op that folds; block: where it stands.
        x: its input X, which need not be there.
        out: its output, as the Program names it outside.
        ins: the operands that the elements are made of; offsets: the axes of size 1 that each gets at its end.
        others: the op's inputs beside X.
        stores: what is stored of each element, too.
        result: the element, of the values of the operands; with `stores` it gets references to these and the place.
        label: names the ops that are done.
    """

    op: Operator
    block: Block
    x: Variable
    out: Variable
    ins: Sequence[Variable]
    offsets: Sequence[int]
    others: Sequence[Variable]
    stores: Sequence[Variable]
    result: Callable[[KernelBuilder, list[n.Expr], Sequence[TensorRef], Any], n.Expr]
    label: str

    @property
    def record(self) -> type[folding.Folding]:
        return self.op.record  # type: ignore[return-value]

    @property
    def in_parts(self) -> bool:
        """Whether the outputs are too few to be shared among threads, but the elements may be many."""
        if -1 in self.out.shape or product(self.out.shape) > folding.BLOCK:
            return False
        if -1 not in self.x.shape and product(self.x.shape) < 2 * folding.PART:
            return False
        sides = self.record.sides(self.x.shape, [_Static(v.shape) for v in self.others], self.op.attrs)
        return next(is_one(kept) for kept, reduced in sides if not (is_one(kept) and is_one(reduced)))

    @contextlib.contextmanager
    def kernel(self, cx: Any, reads: Sequence[Variable], writes: Sequence[Variable]) -> Iterator[Kernel]:
        """A kernel that knows the sizes of the elements."""
        with cx.kernel([*self.ins, *self.others, *reads], writes, shapes=False, label=self.label) as (k, refs, outs):
            ins, others = refs[: len(self.ins)], refs[len(self.ins) :]
            space = elementwise.spread(cx, k, self.ins, ins, self.x, self.offsets)
            yield Kernel(self, k, ins, others[: len(self.others)], others[len(self.others) :], outs, space)


class Kernel:
    """One kernel of a reduction; `reads` and `writes` are the tensors that it was given beside the operands."""

    def __init__(self, what: Reduction, k: KernelBuilder, ins: Sequence[TensorRef], others: Sequence[TensorRef], reads: Sequence[TensorRef],
                 writes: Sequence[TensorRef], space: elementwise.Space):  # fmt: skip
        self.what, self.k, self.ins, self.others, self.reads, self.writes, self.space = what, k, ins, others, reads, writes, space
        self.sides = what.record.sides(space.sizes, others, what.op.attrs)

    def shape(self, cx: Any) -> tuple[Any, ...]:
        """The shape of the output, with the checks of the op."""
        op = self.what.op
        refs = dict(zip(op.input_names, [_Sized(self.space.sizes), *self.others], strict=True))
        with cx.standing(op, self.what.block):
            return cx.infer_sizes(self.k, refs)[op.output_names[0]]

    def how(self, accumulator: str) -> folding.Fold:
        count = n.as_expr(product(reduced for _, reduced in self.sides), n.INDEX)
        return self.what.record.how(self.k, count, accumulator, self.what.op.attrs)

    def operands(self, stores: Sequence[TensorRef]) -> tuple[folding.Operands, list[Axis]]:
        """The elements and their axes."""
        kinds, own = list(self.space.kinds), list(self.space.own)
        if stores:
            kinds.append([FULL] * len(self.sides))
            own.append(self.space.sizes)
        for ref in stores:
            self.k.set_shape(ref, self.space.sizes)
        result = lambda values, places: self.what.result(self.k, values, stores, places[-1])  # noqa: E731
        return folding.Operands([*self.ins, *([None] if stores else [])], result), merge(self.k, self.sides, kinds, own)


@dataclass
class _Sized:
    shape: Sequence[Any]


class _Static:
    """An input of which only the static sizes are known."""

    def __init__(self, shape: Sequence[int]):
        self.shape = self.static = shape
        self.rank = len(shape)


def lower_op(cx: Any, x: Variable, others: Sequence[Variable], out: Variable) -> None:
    _lower(cx, Reduction(cx.op, cx.block, x, out, [x], [0], others, [], _loaded, cx.op.type))


def lower_fused(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
    """The reduction that is the last op of `body` and the elementwise ops before it."""
    *ops, last = body.ops
    x, *_ = last.input_names
    outside = dict(zip(body.params, ins, strict=True))
    names = [p for p in body.params if any(p in op.input_names for op in ops)]
    folded = body.results.index(last.output_names[0])
    results = [name for i, name in enumerate(body.results) if i != folded]

    def result(k: KernelBuilder, values: list[n.Expr], stores: Sequence[TensorRef], place: Any) -> n.Expr:
        env = dict(zip(names, (k.let(value, "e") for value in values), strict=True))
        for op in ops:
            elementwise.evaluate(k, op, body, env)
        for ref, name in zip(stores, results, strict=True):
            ref[place] = env[name]
        return env[x]

    others = [outside[name] for name in last.input_names[1:]]
    stores = [out for i, out in enumerate(outs) if i != folded]
    if not cx.routines:
        # a grid of threads: what is done for each element is shared among more of them than there are outputs
        elementwise.lower_fused(cx, [outside[name] for name in names], names, [body.var(x), *stores], ops, body, [x, *results])
        _lower(cx, Reduction(last, body, body.var(x), outs[folded], [body.var(x)], [0], others, [], _loaded, last.type))
        return
    offsets = elementwise.group_offsets(names, ops, body)
    label = "+".join(op.type for op in body.ops)
    _lower(cx, Reduction(last, body, body.var(x), outs[folded], [outside[name] for name in names], offsets, others, stores, result, label))


def _loaded(k: KernelBuilder, values: list[n.Expr], stores: Sequence[TensorRef], place: Any) -> n.Expr:
    return values[0]


def _lower(cx: Any, what: Reduction) -> None:
    accumulator = widened(what.out.dtype)  # floats of 16 bits are folded in 32
    if not what.in_parts:
        with what.kernel(cx, [], [what.out, *what.stores]) as one:
            out, *stores = one.writes
            one.k.set_shape(out, one.shape(cx))
            x, axes = one.operands(stores)
            folding.fold(one.k, x, out, axes, one.how(accumulator), accumulator)
        return
    with what.kernel(cx, [], what.stores) as first:
        first.shape(cx)  # for its checks
        x, axes = first.operands(first.writes)
        how = first.how(accumulator)
        # sums of floats are brought together in float64, as those of chunks are
        final = "float64" if how.additive and is_float(accumulator) else accumulator
        parts = cx.temp(accumulator if folding.by_columns(axes[1:]) else final, 2)
        folding.fold_parts(first.k, x, cx.written(first.k, parts), axes, how, accumulator)
    with what.kernel(cx, [parts], [what.out]) as second:
        second.k.set_shape(second.writes[0], what.out.shape)
        folding.join_parts(second.k, second.reads[0], second.writes[0], second.how(final), final)
