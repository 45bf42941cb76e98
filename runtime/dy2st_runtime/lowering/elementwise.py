"""The loop nest of elementwise ops, alone or fused. Axes that are alike for all inputs merge, so the common case is one flat loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops.axes import BROADCAST, DYNAMIC, FULL, Axis, is_zero, merge
from ..ops.elementwise import trailing

Emit = Callable[[KernelBuilder, list[n.Expr]], list[n.Expr]]


def lower_op(cx: Any, record: Any, ins: Sequence[Variable], out: Variable, attrs: dict[str, Any]) -> None:
    """One elementwise op as one kernel."""

    def emit(k: KernelBuilder, elements: list[n.Expr]) -> list[n.Expr]:
        return [scalar(k, record, elements, attrs, out.dtype)]

    lower_nest(cx, ins, [out], emit, trailing([len(v.shape) for v in ins], attrs))


def lower_fused(cx: Any, ins: Sequence[Variable], names: Sequence[str], outs: Sequence[Variable], ops: Sequence[Operator],
                body: Block, results: Sequence[str]) -> None:  # fmt: skip
    """A group of elementwise ops of a block as one kernel; in the block the inputs and the outputs have these names."""

    def emit(k: KernelBuilder, elements: list[n.Expr]) -> list[n.Expr]:
        env = dict(zip(names, elements, strict=True))
        for op in ops:
            evaluate(k, op, body, env)
        return [env[name] for name in results]

    label = "+".join(op.type for op in ops)
    lower_nest(cx, ins, outs, emit, group_offsets(names, ops, body), label)


def group_offsets(names: Sequence[str], ops: Sequence[Operator], block: Block) -> list[int]:
    """How many axes of size 1 each input of a group of elementwise ops gets at its end."""
    found: dict[str, int] = {}
    for op in ops:
        found.update(zip(op.input_names, trailing([len(block.var(name).shape) for name in op.input_names], op.attrs), strict=True))
    return [found.get(name, 0) for name in names]


def evaluate(k: KernelBuilder, op: Operator, block: Block, env: dict[str, n.Expr]) -> None:
    """One op of a group on one element; `env` gains its output."""
    (out,) = op.output_names
    value = scalar(k, op.record, [env[name] for name in op.input_names], op.attrs, block.var(out).dtype)
    # a float16 in a register has the digits of a float32: what the next op reads is rounded as it would be in memory
    env[out] = k.let(n.call("half", value) if value.dtype == "float16" else value)


def scalar(k: KernelBuilder, record: Any, elements: list[n.Expr], attrs: dict[str, Any], out_dtype: str) -> n.Expr:
    """The result of an op for one element, in the dtype of its output."""
    if elements:
        compute = record.compute_dtype(tuple(e.dtype for e in elements), attrs)
        elements = [n.cast(e, compute) for e in elements]
    return n.cast(record.scalar(k, *elements, **attrs), out_dtype)


def lower_broadcast(cx: Any, x: Variable, like: Variable, out: Variable) -> None:
    """`out` is x broadcast to the shape of `like`."""
    with cx.kernel([x, like], [out]) as (k, (x_ref, _), (o,)):
        kinds = [_kind(cx, x, out, a, o.rank, 0) for a in range(o.rank)]
        if not o.rank:
            o[0] = x_ref[0]
            return
        _loops(
            k,
            merge(k, [(size, 1) for size in o.shape], [kinds], [_align(x_ref, o.rank, 0)]),
            [x_ref],
            [o],
            lambda k, elements: elements,
        )


def lower_nest(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], emit: Emit, offsets: list[int] | None = None,
               label: str | None = None) -> None:  # fmt: skip
    """Opens the kernel, sets the shapes, and emits the loops around `emit`, which maps elements of the inputs to elements
    of the outputs."""
    with cx.kernel(ins, outs, shapes=False, label=label) as (k, in_refs, out_refs):
        space = spread(cx, k, ins, in_refs, max(outs, key=lambda v: len(v.shape)), offsets)
        for ref in out_refs:
            k.set_shape(ref, space.sizes)
        if not space.sizes:
            _store(k, out_refs, 0, emit(k, [ref[0] for ref in in_refs]))
            return
        _loops(k, merge(k, [(size, 1) for size in space.sizes], space.kinds, space.own), in_refs, out_refs, emit)


@dataclass
class Space:
    """The sizes of an iteration space and, for each input and axis, its kind and its own size (None: it has no such axis)."""

    sizes: list[Any]
    kinds: list[list[str]]
    own: list[list[Any]]


def spread(cx: Any, k: KernelBuilder, ins: Sequence[Variable], refs: Sequence[TensorRef], over: Variable,
           offsets: Sequence[int] | None = None) -> Space:  # fmt: skip
    """The space of the shape of a variable over which inputs are spread, with checks that they fit."""
    rank, trailing = len(over.shape), offsets or [0] * len(ins)
    own = [_align(ref, rank, offset) for ref, offset in zip(refs, trailing, strict=True)]
    kinds = [[_kind(cx, v, over, a, rank, offset) for a in range(rank)] for v, offset in zip(ins, trailing, strict=True)]
    for a in range(rank):
        # where one input alone can have a size, that size is the iteration space's
        candidates = {ref.name for ref, kind in zip(refs, kinds, strict=True) if kind[a] != BROADCAST}
        if len(candidates) == 1:
            for kind in kinds:
                kind[a] = FULL if kind[a] == DYNAMIC else kind[a]
    sizes = [_size(k, [(own[i][a], kinds[i][a]) for i in range(len(ins))]) for a in range(rank)]
    return Space(sizes, kinds, own)


def _align(ref: TensorRef, rank: int, trailing: int) -> list[Any]:
    """The sizes of an input along the axes of the iteration space; None where it has no axis."""
    shape = list(ref.shape) + [None] * trailing
    return [None] * (rank - len(shape)) + shape


def _kind(cx: Any, v: Variable, space: Variable, axis: int, rank: int, trailing: int) -> str:
    own = axis - (rank - len(v.shape) - trailing)
    if own < 0 or own >= len(v.shape) or v.shape[own] == 1:
        return BROADCAST
    if v.shape[own] > 1:
        return FULL
    mine, full = cx.shapes.get(v.name), cx.shapes.get(space.name)
    if mine is not None and full is not None and _provably_equal(mine[own], full[axis]):
        return FULL
    return DYNAMIC


def _provably_equal(a: Any, b: Any) -> bool:
    if isinstance(a, n.Expr) and isinstance(b, n.Expr):
        return a.same(b)
    return isinstance(a, int) and isinstance(b, int) and a == b


def _size(k: KernelBuilder, parts: list[tuple[Any, str]]) -> Any:
    """The size of one axis of the iteration space, with checks that the inputs agree."""
    full = [size for size, kind in parts if kind == FULL]
    dynamic = [size for size, kind in parts if kind == DYNAMIC]
    if not full and not dynamic:
        return 1
    size = full[0] if full else None
    if size is None:
        size = dynamic[0]
        for other in dynamic[1:]:
            size = n.select(size == 1, other, size)
        size = k.let(size, "n") if len(dynamic) > 1 else size
    for other in full[1:]:
        if not n.as_expr(other).same(n.as_expr(size)):
            k.fail_if(n.as_expr(other) != size)
    for other in dynamic if full or len(dynamic) > 1 else []:
        k.fail_if((other != size) & (other != 1))
    return size


def _loops(k: KernelBuilder, axes: list[Axis], ins: Sequence[TensorRef], outs: Sequence[TensorRef], emit: Emit) -> None:
    axes = axes or [Axis(1, 1, (BROADCAST,) * len(ins), [0] * len(ins))]

    def level(depth: int, out_base: Any, bases: list[Any]) -> None:
        axis = axes[depth]
        last = depth == len(axes) - 1
        hoisted = [k.let(ref[base], "h") if last and kind == BROADCAST else None
                   for ref, base, kind in zip(ins, bases, axis.kinds, strict=True)]  # fmt: skip
        with k.parallel(axis.kept) as i:
            out_at = n.as_expr(out_base) * axis.kept + i if depth else i
            at = [base if is_zero(s) else n.as_expr(base) + i * s for base, s in zip(bases, axis.strides, strict=True)]
            if last:
                elements = [k.let(h if h is not None else ref[place], "e") for ref, h, place in zip(ins, hoisted, at, strict=True)]
                _store(k, outs, out_at, emit(k, elements))
            else:
                level(depth + 1, k.let(out_at, "o"), [k.let(a, "b") if isinstance(a, n.Expr) else a for a in at])

    level(0, 0, [0] * len(ins))


def _store(k: KernelBuilder, outs: Sequence[TensorRef], at: Any, values: list[n.Expr]) -> None:
    for ref, value in zip(outs, values, strict=True):
        ref[at] = n.cast(value, ref.dtype)
