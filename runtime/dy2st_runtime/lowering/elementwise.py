"""The loop nest of elementwise ops, alone or fused.

Each axis of the iteration space is, for each input, *full* (the input has that size), *broadcast* (size 1) or, where open dims
leave both possible, *dynamic* (a stride of 0 or more that is computed when the kernel runs). Neighbouring axes that are the same for all
inputs merge, so the common case is one flat loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.program import Block, Operator, Variable
from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef
from ..ops.elementwise import trailing

FULL, BROADCAST, DYNAMIC = "full", "broadcast", "dynamic"
Emit = Callable[[KernelBuilder, list[n.Expr]], list[n.Expr]]


def lower_op(cx: Any, record: Any, ins: Sequence[Variable], out: Variable, attrs: dict[str, Any]) -> None:
    """One elementwise op as one kernel."""

    def emit(k: KernelBuilder, elements: list[n.Expr]) -> list[n.Expr]:
        return [scalar(k, record, elements, attrs, out.dtype)]

    lower_nest(cx, ins, [out], emit, trailing([len(v.shape) for v in ins], attrs))


def lower_fused(cx: Any, ins: Sequence[Variable], names: Sequence[str], outs: Sequence[Variable], ops: Sequence[Operator],
                body: Block) -> None:  # fmt: skip
    """A group of elementwise ops of a block as one kernel; in the block the inputs have these names."""

    def emit(k: KernelBuilder, elements: list[n.Expr]) -> list[n.Expr]:
        env = dict(zip(names, elements, strict=True))
        for op in ops:
            evaluate(k, op, body, env)
        return [env[name] for name in body.results]

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
    env[out] = k.let(value)


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
            _groups(k, list(o.shape), [kinds], [_align(x_ref, o.rank, 0)]),
            [x_ref],
            [o],
            lambda k, elements: elements,
        )


@dataclass
class Group:
    """Merged axes: their size and, for each input, the kind and the stride of one step."""

    size: Any
    kinds: tuple[str, ...]
    strides: list[Any]


def lower_nest(cx: Any, ins: Sequence[Variable], outs: Sequence[Variable], emit: Emit, offsets: list[int] | None = None,
               label: str | None = None) -> None:  # fmt: skip
    """Opens the kernel, sets the shapes, and emits the loops around `emit`, which maps elements of the inputs to elements
    of the outputs."""
    with cx.kernel(ins, outs, shapes=False, label=label) as (k, in_refs, out_refs):
        space = max((v for v in outs), key=lambda v: len(v.shape))
        aligned = [_align(ref, len(space.shape), offsets[i] if offsets else 0) for i, ref in enumerate(in_refs)]
        kinds = [
            [_kind(cx, v, space, a, len(space.shape), offsets[i] if offsets else 0) for a in range(len(space.shape))]
            for i, v in enumerate(ins)
        ]
        for a in range(len(space.shape)):
            # where one input alone can have a size, that size is the iteration space's
            candidates = {in_refs[i].name for i in range(len(ins)) if kinds[i][a] != BROADCAST}
            if len(candidates) == 1:
                for i in range(len(ins)):
                    kinds[i][a] = FULL if kinds[i][a] == DYNAMIC else kinds[i][a]
        sizes = [
            _size(k, [(aligned[i][a], kinds[i][a]) for i in range(len(ins))], space.shape[a])
            for a in range(len(space.shape))
        ]
        for ref in out_refs:
            k.set_shape(ref, sizes)
        if not sizes:
            _store(k, out_refs, 0, emit(k, [ref[0] for ref in in_refs]))
            return
        groups = _groups(k, sizes, kinds, aligned)
        _loops(k, groups, in_refs, out_refs, emit)


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


def _size(k: KernelBuilder, parts: list[tuple[Any, str]], static: int) -> Any:
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


def _groups(k: KernelBuilder, sizes: list[Any], kinds: list[list[str]], aligned: list[list[Any]]) -> list[Group]:
    count = len(kinds)
    groups: list[Group] = []
    steps: list[Any] = [1] * count  # elements of each input inside the axes done so far
    for axis in reversed(range(len(sizes))):
        if isinstance(sizes[axis], int) and sizes[axis] == 1:
            continue
        here = tuple(kinds[i][axis] for i in range(count))
        if groups and DYNAMIC not in here and here == groups[0].kinds:
            groups[0].size = groups[0].size * sizes[axis]
        else:
            strides: list[Any] = []
            for i, kind in enumerate(here):
                if kind == BROADCAST:
                    strides.append(0)
                elif kind == FULL:
                    strides.append(steps[i])
                else:
                    strides.append(
                        k.let(n.select(n.as_expr(aligned[i][axis]) == 1, 0, n.as_expr(steps[i], n.INDEX)), "s")
                    )
            groups.insert(0, Group(sizes[axis], here, strides))
        for i in range(count):
            if here[i] != BROADCAST:
                steps[i] = n.as_expr(steps[i]) * aligned[i][axis]
    for g in groups:
        g.size = k.let(g.size, "n")
        g.strides = [k.let(s, "s") if isinstance(s, n.Expr) else s for s in g.strides]
    return groups or [Group(1, (BROADCAST,) * count, [0] * count)]


def _loops(
    k: KernelBuilder, groups: list[Group], ins: Sequence[TensorRef], outs: Sequence[TensorRef], emit: Emit
) -> None:
    def level(depth: int, out_base: Any, bases: list[Any]) -> None:
        g = groups[depth]
        last = depth == len(groups) - 1
        hoisted = [ins[i][bases[i]] if last and g.kinds[i] == BROADCAST else None for i in range(len(ins))]
        hoisted = [None if h is None else k.let(h, "h") for h in hoisted]
        with k.parallel(g.size) as i:
            out_at = n.as_expr(out_base) * g.size + i if depth else i
            at = [n.as_expr(base) + i * s if not (isinstance(s, int) and s == 0) else base
                  for base, s in zip(bases, g.strides, strict=True)]  # fmt: skip
            if last:
                elements = [k.let(h if h is not None else ins[j][at[j]], "e") for j, h in enumerate(hoisted)]
                _store(k, outs, out_at, emit(k, elements))
            else:
                level(depth + 1, k.let(out_at, "o"), [k.let(a, "b") if isinstance(a, n.Expr) else a for a in at])

    level(0, 0, [0] * len(ins))


def _store(k: KernelBuilder, outs: Sequence[TensorRef], at: Any, values: list[n.Expr]) -> None:
    for ref, value in zip(outs, values, strict=True):
        ref[at] = n.cast(value, ref.dtype)
