"""Ops that work row by row (softmax, layer_norm), with elementwise ops before and behind them that are done while a cache holds the row."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops.axes import BROADCAST, FULL, Axis, merge
from ..ops.elementwise import Elementwise
from ..ops.folding import Operands
from . import elementwise


def lower_fused(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], body: Block) -> None:
    """The ops of a block; one of them is no elementwise op but works row by row."""
    at = next(i for i, op in enumerate(body.ops) if not issubclass(op.record, Elementwise))
    before, main, following = Chain(body.ops[:at], body), body.ops[at], Chain(body.ops[at + 1 :], body)
    for p, v in zip(body.params, ins, strict=True):
        cx.note(body.var(p))
        cx.note(v)
        cx.same[p] = v.name
    given = [names.get(slot.name) for slots, names in ((main.record.input_slots, main.inputs), (main.record.output_slots, main.outputs))
             for slot in slots]  # fmt: skip
    x, *others = [body.var(names[0]) if names else None for names in given]
    y = body.var(main.output_names[0])
    assert x is not None
    if cx.routines:
        home = next(out for out in outs if out.dtype == y.dtype)
        cx.same[y.name] = cx.note(home).name
        puts = sorted(zip(body.results, outs, strict=True), key=lambda put: put[1] is not home)
        with cx.standing(main, body):
            main.record.lower(cx, x, *others, chain=Rows(main, x, y, before, following, puts), **main.attrs)
        step = cx.steps[-1]  # does all that the op does, so it is what profiles name it and whose lines they count
        step.op, step.kernel.label = cx.op, "+".join(op.type for op in body.ops)
        return
    # a grid of threads: what is done for each element is shared among more of them than there are rows
    if before.ops:
        elementwise.lower_fused(cx, before.reads, [v.name for v in before.reads], [x], before.ops, body, [x.name])
    if not following.ops:
        cx.same[y.name] = cx.note(outs[0]).name
    with cx.standing(main, body):
        main.record.lower(cx, x, *others, **main.attrs)
    if following.ops:
        elementwise.lower_fused(cx, following.reads, [v.name for v in following.reads], outs, following.ops, body, body.results)


class Chain:
    """Elementwise ops of a block, one after the other."""

    def __init__(self, ops: Sequence[Operator], body: Block):
        self.ops, self.body = ops, body
        made = {name for op in ops for name in op.output_names}
        self.reads = [body.var(name) for name in dict.fromkeys(name for op in ops for name in op.input_names) if name not in made]

    def space(self, cx: Any, k: KernelBuilder, refs: dict[str, TensorRef], over: Variable) -> elementwise.Space:
        """The elements, of the shape of a variable."""
        names = [v.name for v in self.reads]
        offsets = elementwise.group_offsets(names, self.ops, self.body)
        return elementwise.spread(cx, k, self.reads, [refs[name] for name in names], over, offsets)

    def on_rows(self, k: KernelBuilder, space: elementwise.Space, refs: dict[str, TensorRef], split: int | None, size: Any,
                puts: Sequence[tuple[str, TensorRef]]) -> Callable[[Any], None]:  # fmt: skip
        """What does a row, by its number. `split` and `size`: see `Rows.kernel`; `puts`: what is stored, and where."""
        names = [v.name for v in self.reads]

        def made(values: list[n.Expr], places: Sequence[Any]) -> n.Expr:
            env = dict(zip(names, (k.let(value, "e") for value in values), strict=True))
            for op in self.ops:
                elementwise.evaluate(k, op, self.body, env)
            for name, ref in puts:
                ref[places[-1]] = n.cast(env[name], ref.dtype)
            return env[puts[0][0]]

        kinds = [*space.kinds, [FULL] * len(space.sizes)]
        if split is None:
            # each operand has all elements or one; an axis of size 1 is spread in neither
            large = [a for a, d in enumerate(space.sizes) if not (isinstance(d, int) and d == 1)]
            strides = [0 if any(own[a] == BROADCAST for a in large) else 1 for own in kinds]
            axes = [Axis(size, 1, (), [s * size if s else 0 for s in strides]), Axis(1, size, (), strides)]
        else:
            sides = [(d, 1) if a < split else (1, d) for a, d in enumerate(space.sizes)]
            axes = merge(k, sides, kinds, [*space.own, space.sizes])
        operands = Operands([*(refs[name] for name in names), None], made)
        return lambda row: operands.each(k, axes, row)


def _unknown(k: KernelBuilder, sizes: Sequence[Any]) -> Any:
    raise TypeError("rows that are runs of elements have a size")


@dataclass
class Rows:
    """What is done to the rows of an op's X before it, and to those of its Y behind it.

    Args:
        op: the op; x, y: its X, which need not be there, and its Y.
        before: makes X, in the place of Y; behind: goes over Y.
        puts: the values that are put out and where; the first one in the place of Y.
    """

    op: Operator
    x: Variable
    y: Variable
    before: Chain
    following: Chain
    puts: Sequence[tuple[str, Variable]]

    @contextlib.contextmanager
    def kernel(self, cx: Any, inputs: Sequence[Variable], temps: Sequence[Variable], split: int | None,
               row_size: Callable[[KernelBuilder, Sequence[Any]], Any] = _unknown) -> Iterator[tuple]:  # fmt: skip
        """A kernel of the op: (k, where X is, references to `inputs`, where Y goes, those to `temps`, what begins a row, what ends it).

        Args:
            split: so many axes of X number the rows; None: they are runs of elements, `row_size(k, sizes of X)` long.
        """
        made = bool(self.before.ops)
        others = [v for v in self.following.reads if v is not self.y]
        reads = list(dict.fromkeys([*(self.before.reads if made else [self.x]), *inputs, *others]))
        more = [cx.note(out) for _, out in self.puts[1:]]
        with cx.kernel(reads, [self.y, *more, *temps], shapes=False) as (k, ins, (dst, *outs)):
            refs = {v.name: ref for v, ref in zip([*reads, self.y], [*ins, dst], strict=True)}
            space = self.before.space(cx, k, refs, self.x)
            sizes = space.sizes if made else refs[self.x.name].shape
            shapes = cx.infer_sizes(k, {self.x.name: _Sized(sizes), **{v.name: refs[v.name] for v in inputs}})
            for ref in (dst, *outs[: len(more)]):
                k.set_shape(ref, shapes[self.y.name])
            size = row_size(k, sizes) if split is None else None
            begin: Callable[[Any], None] = _nothing
            end: Callable[[Any], None] = _nothing
            if made:
                begin = self.before.on_rows(k, space, refs, split, size, [(self.x.name, dst)])
            if self.following.ops:
                puts = [(name, ref) for (name, _), ref in zip(self.puts, [dst, *outs], strict=False)]
                end = self.following.on_rows(k, self.following.space(cx, k, refs, self.y), refs, split, size, puts)
            src = dst if made else refs[self.x.name]
            yield k, src, [refs[v.name] for v in inputs], dst, outs[len(more) :], begin, end


@dataclass
class _Sized:
    shape: Sequence[Any]


def _nothing(row: Any) -> None:
    """Where there are no ops."""
