"""The loop nest of reductions, shared by all ops that fold elements together.

An element is made of one of each operand; along an axis an operand may have a single one. If the innermost axis is reduced, each output is
one accumulator and the inner loop runs along memory. If it is kept, rows are folded into a block of outputs, so that the inner loop runs
along memory too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..loopir import nodes as n
from ..loopir.builder import KernelBuilder, TensorRef, VarRef
from .axes import FULL, Axis, Places, is_one, is_zero, merge, moved, plus, product, starts
from .registry import OpDef

BLOCK = 64
"""Outputs folded at once where the innermost axis is kept: a few vector registers, and they stay in the first-level cache."""
PART = 4096
"""Elements of a part where few outputs are folded in parts."""
CHUNK = 1024
"""Floats are summed in chunks, and the chunks' sums in float64: the rounding error grows with the size of a chunk, not of the tensor."""


@dataclass
class Fold:
    """How elements become one: `step(accumulator, element)`, starting from `start`; then `finish(accumulator, flat output index)`.

    `load` makes an element of what is loaded from the input (in the accumulator's dtype) and the flat output index. `free`: the step is
    this operation, "+" or "*", and the order of the elements does not matter.
    """

    start: Any
    step: Callable[[n.Expr, n.Expr], n.Expr]
    load: Callable[[n.Expr, Any], n.Expr] = lambda value, o: value
    finish: Callable[[n.Expr, Any], n.Expr] | None = None
    free: str = ""

    @property
    def additive(self) -> bool:
        return self.free == "+"

    def take(self, acc: VarRef, element: n.Expr) -> None:
        if self.free == "+":
            acc.add(element)
        elif self.free == "*":
            acc.multiply(element)
        else:
            acc.set(self.step(acc.get(), element))


@dataclass
class Operands:
    """What elements are made of: `result(values, places)` of one value of each tensor, and where it lies. A place that is of no tensor
    (None) is there for `result` alone."""

    refs: Sequence[TensorRef | None]
    result: Callable[[list[n.Expr], Places], n.Expr] = lambda values, places: values[0]

    def loaded(self, k: KernelBuilder, places: Places, strides: Sequence[Any]) -> list[n.Expr | None]:
        """The values that are the same all along an axis."""
        return [k.let(ref[place], "h") if ref is not None and is_zero(s) else None
                for ref, place, s in zip(self.refs, places, strides, strict=True)]  # fmt: skip

    def element(self, places: Places, loaded: Sequence[n.Expr | None] | None = None) -> n.Expr:
        known = loaded or [None] * len(self.refs)
        values = [ref[place] if value is None else value
                  for ref, place, value in zip(self.refs, places, known, strict=True) if ref is not None]  # fmt: skip
        return self.result(values, places)

    def each(self, k: KernelBuilder, axes: Sequence[Axis], o: Any) -> None:
        """Makes the elements that belong to output `o` of the kept axes, one after the other."""
        reduced = [a for a in axes if not is_one(a.reduced)] or [Axis(1, 1, (), [0] * len(self.refs))]

        def nest(depth: int, at: Places) -> None:
            strides, last = reduced[depth].strides, depth == len(reduced) - 1
            loaded = self.loaded(k, at, strides) if last else None
            with k.loop(reduced[depth].reduced) as i:
                inner = moved(k, at, i, strides)
                if last:
                    self.element(inner, loaded)
                else:
                    nest(depth + 1, inner)

        nest(0, starts(k, [n.as_expr(0, n.INDEX)] * len(self.refs), o, [a for a in axes if not is_one(a.kept)]))


class Folding(OpDef):
    """Base of the ops that fold the elements of X. Subclasses say which axes are folded and how, and compute in the widened dtype of Out.

    `sides(shape, others, attrs)`: for sizes of X and references to the other inputs the kept and the reduced size of each axis.
    `how(k, count, dtype, attrs)`: the fold, in that dtype, for that many elements for each output.
    """

    sides: ClassVar[Callable[..., list[tuple[Any, Any]]]]
    how: ClassVar[Callable[..., Fold]]

    @classmethod
    def lower(cls, cx: Any, x: Any, *others_and_out: Any, **attrs: Any) -> None:
        cx.fold(x, others_and_out[:-1], others_and_out[-1])


def split_axes(k: KernelBuilder, shape: Sequence[Any], reduced: Sequence[int]) -> list[Axis]:
    """The merged axes of a tensor of sizes `shape`, of which the axes `reduced` are folded."""
    return merge(k, sides_of(shape, reduced), [[FULL] * len(shape)], [list(shape)])


def sides_of(shape: Sequence[Any], reduced: Sequence[int]) -> list[tuple[Any, Any]]:
    """The kept and the reduced size of each axis."""
    return [(1, d) if i in reduced else (d, 1) for i, d in enumerate(shape)]


def fold(k: KernelBuilder, x: Operands, out: TensorRef, axes: Sequence[Axis], how: Fold, accumulator: str) -> None:
    """Emits the loops: `out` gets the fold of the elements; the accumulators have the dtype `accumulator`."""
    at = [n.as_expr(0, n.INDEX)] * len(x.refs)
    if by_columns(axes) and out.dtype == accumulator:
        _columns(k, x, out, axes, how, at, 0, k.parallel)
    else:
        _rows(k, x, out, axes, how, accumulator, at, 0, k.parallel)


def by_columns(axes: Sequence[Axis]) -> bool:
    return bool(axes) and not is_one(axes[-1].kept)


def fold_parts(k: KernelBuilder, x: Operands, parts: TensorRef, axes: Sequence[Axis], how: Fold, accumulator: str) -> None:
    """The same in parts of some PART elements of the first axis, a reduced one: `parts` gets its shape [parts, outputs] and their folds, of
    which `finish` is left to do. So few outputs are no work for few threads, and floats are the same for any number of them."""
    first, *rest = axes
    outputs = product(a.kept for a in rest)
    each = k.let(n.maximum(PART // n.maximum(product(a.size for a in rest), 1), 1), "each")
    count = k.let((n.as_expr(first.reduced, n.INDEX) + (each - 1)) // each, "parts")
    k.set_shape(parts, [count, outputs])
    how = replace(how, finish=None)
    with k.parallel(count) as part:
        start = k.let(part * each, "start")
        here = Axis(1, k.let(n.minimum(n.as_expr(first.reduced, n.INDEX) - start, each), "n"), first.kinds, first.strides)
        at = moved(k, [n.as_expr(0, n.INDEX)] * len(x.refs), start, first.strides)
        row = part if is_one(outputs) else k.let(part * outputs, "row")
        if by_columns(rest):
            _columns(k, x, parts, [here, *rest], how, at, row, k.loop)
        else:
            _rows(k, x, parts, [here, *rest], how, accumulator, at, row, k.loop)


def join_parts(k: KernelBuilder, parts: TensorRef, out: TensorRef, how: Fold, accumulator: str) -> None:
    """`out` gets the fold of what `fold_parts` made."""
    count, outputs = parts.shape
    axes = merge(k, [(1, count), (outputs, 1)], [[FULL, FULL]], [[count, outputs]])
    how = replace(how, load=lambda value, o: value)
    _rows(k, Operands([parts]), out, axes, how, accumulator, [n.as_expr(0, n.INDEX)], 0, k.parallel)


Loop = Callable[[Any], contextlib.AbstractContextManager[n.Expr]]


def _rows(k: KernelBuilder, x: Operands, out: TensorRef, axes: Sequence[Axis], how: Fold, accumulator: str, base: Places, first: Any,
          loop: Loop) -> None:  # fmt: skip
    """One accumulator for each output, of which `first` is the first; the elements begin at `base`."""
    kept = [a for a in axes if not is_one(a.kept)]
    reduced = [a for a in axes if not is_one(a.reduced)]
    chunked = how.additive and accumulator.startswith("float") and bool(reduced)
    wide = "float64" if chunked else "int32" if accumulator == "bool" else accumulator  # of single bits no vectors are made

    def nest(depth: int, at: Places, acc: Any, o: Any) -> None:
        if depth == len(reduced):
            how.take(acc, n.cast(how.load(n.cast(x.element(at), accumulator), o), wide))
            return
        a = reduced[depth]
        if depth < len(reduced) - 1:
            with k.loop(a.reduced) as i:
                nest(depth + 1, moved(k, at, i, a.strides), acc, o)
            return
        loaded = x.loaded(k, at, a.strides)

        def element(i: Any) -> n.Expr:
            return how.load(n.cast(x.element(plus(at, i, a.strides), loaded), accumulator), o)

        if chunked:
            with k.loop(a.reduced, step=CHUNK) as start:
                part = k.var(how.start, accumulator)
                with k.loop(n.minimum(start + CHUNK, n.as_expr(a.reduced, n.INDEX)), start) as i:
                    how.take(part, element(i))
                acc.add(n.cast(part.get(), "float64"))
            return
        with k.loop(a.reduced) as i:
            how.take(acc, n.cast(element(i), wide))

    with loop(product(a.kept for a in kept)) as o:
        acc = k.var(n.cast(n.as_expr(how.start), wide), wide)
        nest(0, starts(k, base, o, kept), acc, o)
        total = acc.get() if acc.dtype == out.dtype else n.cast(acc.get(), accumulator)
        out[first + o] = n.cast(total if how.finish is None else how.finish(n.cast(total, accumulator), o), out.dtype)


def _columns(k: KernelBuilder, x: Operands, out: TensorRef, axes: Sequence[Axis], how: Fold, base: Places, first: Any,
             loop: Loop) -> None:  # fmt: skip
    """Blocks of neighbouring outputs, which are their own accumulators; see `_rows`."""
    last = axes[-1]
    kept = [a for a in axes[:-1] if not is_one(a.kept)]
    reduced = [a for a in axes if not is_one(a.reduced)]
    blocks = k.let((n.as_expr(last.kept, n.INDEX) + (BLOCK - 1)) // BLOCK, "blocks")

    def nest(depth: int, at: Places, row: Any, start: Any, stop: Any) -> None:
        if depth < len(reduced):
            with k.loop(reduced[depth].reduced) as i:
                nest(depth + 1, moved(k, at, i, reduced[depth].strides), row, start, stop)
            return
        loaded = x.loaded(k, at, last.strides)
        with k.loop(stop, start) as c:
            element = n.cast(x.element(plus(at, c, last.strides), loaded), out.dtype)
            out[row + c] = how.step(out[row + c], how.load(element, row + c))

    with loop(product(a.kept for a in kept) * blocks) as b:
        outer = k.let(b // blocks, "outer") if kept else n.as_expr(0, n.INDEX)
        row = k.let(first + outer * last.kept, "row") if kept else n.as_expr(first, n.INDEX)
        start = k.let(b % blocks * BLOCK if kept else b * BLOCK, "start")
        stop = k.let(n.minimum(start + BLOCK, n.as_expr(last.kept, n.INDEX)), "stop")
        with k.loop(stop, start) as c:
            out[row + c] = n.cast(n.as_expr(how.start), out.dtype)
        nest(0, starts(k, base, outer, kept), row, start, stop)
        if how.finish is not None:
            with k.loop(stop, start) as c:
                out[row + c] = how.finish(out[row + c], row + c)


def three(k: KernelBuilder, shape: Sequence[Any], axis: int) -> tuple[Any, Any, Any]:
    """The sizes before an axis, of it, and after it."""
    parts = (product(shape[:axis]), shape[axis], product(shape[axis + 1 :]))
    outer, size, inner = (k.let(p, "n") if isinstance(p, n.Expr) else n.as_expr(p, n.INDEX) for p in parts)
    return outer, size, inner
