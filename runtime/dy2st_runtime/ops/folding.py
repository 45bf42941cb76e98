"""The loop nest of reductions, shared by all ops that fold elements together.

The axes of the input are split into a *kept* part (sizes of the output) and a *reduced* part; an axis that an open dim may or may not
stretch has both. Neighbouring axes of one kind merge. If the innermost part is reduced, each output is one accumulator and the inner
loop runs along memory. If it is kept, rows are folded into a block of outputs, so that the inner loop runs along memory too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef, VarRef

BLOCK = 64
"""Outputs folded at once where the innermost axis is kept: a few vector registers, and they stay in the first-level cache."""
LANES = 16
"""Accumulators of a fold along memory that is not a sum."""
CHUNK = 1024
"""Floats are summed in chunks, and the chunks' sums in float64: the rounding error grows with the size of a chunk, not of the tensor."""


@dataclass
class Axis:
    """A (merged) axis of the input: kept and reduced sizes (1: none), and the distance of neighbours in memory."""

    kept: Any
    reduced: Any
    stride: Any


@dataclass
class Fold:
    """How elements become one: `step(accumulator, element)`, starting from `start`; then `finish(accumulator, flat output index)`.

    `load` makes an element of what is loaded from the input (in the accumulator's dtype) and the flat output index. `additive`: the step
    is `+` and the start 0.
    """

    start: Any
    step: Callable[[n.Expr, n.Expr], n.Expr]
    load: Callable[[n.Expr, Any], n.Expr] = lambda value, o: value
    finish: Callable[[n.Expr, Any], n.Expr] | None = None
    additive: bool = False


def is_one(size: Any) -> bool:
    return isinstance(size, int) and size == 1


def product(sizes: Iterable[Any]) -> Any:
    total: Any = 1
    for s in sizes:
        total = s if is_one(total) else total * s
    return total


def split_axes(k: KernelBuilder, shape: Sequence[Any], reduced: Sequence[int]) -> list[Axis]:
    """The merged axes of a tensor of sizes `shape`, of which the axes `reduced` are folded."""
    axes = [Axis(1, d, 1) if i in reduced else Axis(d, 1, 1) for i, d in enumerate(shape)]
    return merge(k, axes)


def merge(k: KernelBuilder, axes: Sequence[Axis]) -> list[Axis]:
    """Merges neighbours of one kind, drops axes of size 1 and sets the strides."""
    merged: list[Axis] = []
    stride: Any = 1
    for a in reversed(axes):
        size = a.kept if is_one(a.reduced) else a.reduced if is_one(a.kept) else None
        if size is None:
            merged.insert(0, Axis(a.kept, a.reduced, stride))
            stride = stride * n.maximum(a.kept, a.reduced)
            continue
        if is_one(size):
            continue
        last = merged[0] if merged else None
        if last is not None and is_one(last.kept) and is_one(a.kept):
            last.reduced = last.reduced * size
        elif last is not None and is_one(last.reduced) and is_one(a.reduced):
            last.kept = last.kept * size
        else:
            merged.insert(0, Axis(a.kept, a.reduced, stride))
        stride = stride * size
    for a in merged:
        a.kept, a.reduced, a.stride = (v if isinstance(v, int) else k.let(v, "s") for v in (a.kept, a.reduced, a.stride))
    return merged


def fold(k: KernelBuilder, x: TensorRef, out: TensorRef, axes: Sequence[Axis], how: Fold, accumulator: str) -> None:
    """Emits the loops: `out` gets the fold of `x`; the accumulators have the dtype `accumulator`."""

    def element(at: Any, o: Any) -> n.Expr:
        return how.load(n.cast(x[at], accumulator), o)

    if axes and not is_one(axes[-1].kept) and out.dtype == accumulator:
        _columns(k, out, axes, how, element)
    else:
        _rows(k, out, axes, how, element, accumulator)


Element = Callable[[Any, Any], n.Expr]


def _rows(k: KernelBuilder, out: TensorRef, axes: Sequence[Axis], how: Fold, element: Element, accumulator: str) -> None:
    """One accumulator for each output."""
    kept = [a for a in axes if not is_one(a.kept)]
    reduced = [a for a in axes if not is_one(a.reduced)]
    chunked = how.additive and accumulator.startswith("float") and bool(reduced)

    def nest(depth: int, at: Any, acc: Any, o: Any) -> None:
        if depth == len(reduced):
            acc.set(how.step(acc.get(), element(at, o)))
            return
        a, last = reduced[depth], depth == len(reduced) - 1
        if last and chunked:
            with k.loop(a.reduced, step=CHUNK) as start:
                part = k.var(how.start, accumulator)
                with k.loop(n.minimum(start + CHUNK, n.as_expr(a.reduced, n.INDEX)), start) as i:
                    part.add(element(at + i * a.stride, o))
                acc.add(n.cast(part.get(), "float64"))
            return
        if last and is_one(a.stride):
            fold_run(k, a.reduced, at, acc, how, lambda place: element(place, o))
            return
        with k.loop(a.reduced) as i:
            nest(depth + 1, at + i * a.stride if last else k.let(at + i * a.stride, "at"), acc, o)

    with k.parallel(product(a.kept for a in kept)) as o:
        base = k.let(_offset(o, kept), "at")
        acc = k.var(0.0, "float64") if chunked else k.var(how.start, accumulator)
        nest(0, base, acc, o)
        total = n.cast(acc.get(), accumulator)
        out[o] = n.cast(total if how.finish is None else how.finish(total, o), out.dtype)


def fold_run(k: KernelBuilder, size: Any, at: Any, acc: VarRef, how: Fold, element: Callable[[Any], n.Expr]) -> None:
    """Folds a run of neighbours into `acc`, in several accumulators at once: a maximum that minds NaN is no reduction that LLVM knows, so
    one accumulator would be one chain of dependent steps."""
    lanes = [k.var(how.start, acc.dtype, "lane") for _ in range(LANES)]
    full = k.let(n.as_expr(size, n.INDEX) // LANES * LANES, "full")
    with k.loop(full, step=LANES) as i:
        for j, lane in enumerate(lanes):
            lane.set(how.step(lane.get(), k.let(element(at + i + j))))
    for lane in lanes:
        acc.set(how.step(acc.get(), lane.get()))
    with k.loop(size, full) as i:
        acc.set(how.step(acc.get(), k.let(element(at + i))))


def _columns(k: KernelBuilder, out: TensorRef, axes: Sequence[Axis], how: Fold, element: Element) -> None:
    """Blocks of neighbouring outputs, which are their own accumulators."""
    width = axes[-1].kept
    kept = [a for a in axes[:-1] if not is_one(a.kept)]
    reduced = [a for a in axes if not is_one(a.reduced)]
    blocks = k.let((n.as_expr(width, n.INDEX) + (BLOCK - 1)) // BLOCK, "blocks")

    def nest(depth: int, at: Any, row: Any, start: Any, stop: Any) -> None:
        if depth < len(reduced):
            with k.loop(reduced[depth].reduced) as i:
                nest(depth + 1, k.let(at + i * reduced[depth].stride, "at"), row, start, stop)
            return
        with k.loop(stop, start) as c:
            out[row + c] = how.step(out[row + c], element(at + c, row + c))

    with k.parallel(product(a.kept for a in kept) * blocks) as b:
        outer = k.let(b // blocks, "outer") if kept else n.as_expr(0, n.INDEX)
        row = k.let(outer * width, "row") if kept else n.as_expr(0, n.INDEX)
        start = k.let(b % blocks * BLOCK if kept else b * BLOCK, "start")
        stop = k.let(n.minimum(start + BLOCK, n.as_expr(width, n.INDEX)), "stop")
        with k.loop(stop, start) as c:
            out[row + c] = n.cast(n.as_expr(how.start), out.dtype)
        nest(0, k.let(_offset(outer, kept), "at"), row, start, stop)
        if how.finish is not None:
            with k.loop(stop, start) as c:
                out[row + c] = how.finish(out[row + c], row + c)


def _offset(o: Any, kept: Sequence[Axis]) -> Any:
    """The place in the input of the first element that belongs to output `o` of the kept axes."""
    total: Any = 0
    for i, a in enumerate(reversed(kept)):
        last = i == len(kept) - 1
        total = total + (o if last else o % a.kept) * a.stride
        o = o if last else o // a.kept
    return n.as_expr(total, n.INDEX)


def three(k: KernelBuilder, shape: Sequence[Any], axis: int) -> tuple[Any, Any, Any]:
    """The sizes before an axis, of it, and after it."""
    parts = (product(shape[:axis]), shape[axis], product(shape[axis + 1 :]))
    outer, size, inner = (k.let(p, "n") if isinstance(p, n.Expr) else n.as_expr(p, n.INDEX) for p in parts)
    return outer, size, inner
