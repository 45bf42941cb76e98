"""Along one axis: cumulative sums, and where the extremes are."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import DTypeError
from ..loopir import nodes as n
from . import folding, reduce
from .arithmetic import NUMBERS
from .registry import Bool, DType, Int, Long, OpDef, TensorType, register


def reshape_like(b: Any, v: Any, like: Any) -> Any:
    """v in the shape of `like`, which has as many elements."""
    if -1 not in tuple(like.shape):
        return b.op("reshape2", X=v, shape=list(like.shape))
    return b.op("reshape2", X=v, Shape=b.shape(like))


@register
class Cumsum(OpDef):
    """Sums of the elements up to each place along `axis`, or in C order if `flatten`.

    `exclusive` leaves out the element itself, `reverse` sums from the end. The dtype stays, bools are summed in int64.
    """

    type = "cumsum"
    attrs = {"axis": Int(-1), "flatten": Bool(False), "exclusive": Bool(False), "reverse": Bool(False)}

    @staticmethod
    def infer(x: TensorType, *, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> TensorType:
        name = "int64" if x.dtype == "bool" else x.dtype
        if flatten or x.rank == 0:
            return TensorType(name, (dims.product(x.shape),))
        dims.normalize_axis(axis, x.rank)
        return TensorType(name, x.shape)

    @staticmethod
    def reference(x: np.ndarray, *, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> np.ndarray:
        name = "int64" if x.dtype == bool else x.dtype.name
        if flatten or x.ndim == 0:
            x, axis = x.reshape(-1), 0
        dims.normalize_axis(axis, x.ndim)
        ordered = np.flip(x, axis) if reverse else x
        out = np.cumsum(ordered, axis, dtype=widened(name))
        if exclusive:
            out = np.roll(out, 1, axis)
            out[(slice(None),) * (axis % x.ndim) + (slice(0, 1),)] = 0
        return np.ascontiguousarray(np.flip(out, axis) if reverse else out).astype(name, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> None:
        with cx.kernel([x], [out]) as (k, (x_ref,), (o,)):
            shape = [x_ref.size] if flatten or x_ref.rank == 0 else x_ref.shape
            axis %= len(shape)
            outer, size, inner = folding.three(k, shape, axis)
            wide = widened(o.dtype)
            if axis < len(shape) - 1 and wide == o.dtype:
                _scan_rows(k, x_ref, o, outer, size, inner, exclusive, reverse)
                return
            with k.parallel(n.as_expr(x_ref.size) // n.maximum(size, 1)) as line:
                start = k.let(line // inner * size * inner + line % inner, "start")
                total = k.var(n.cast(0, wide), wide)
                with k.loop(size) as i:
                    at = k.let(start + (size - 1 - i if reverse else i) * inner, "at")
                    value = n.cast(x_ref[at], wide)
                    if exclusive:
                        value = k.let(value)
                        o[at] = n.cast(total.get(), o.dtype)
                    total.set(total.get() + value)
                    if not exclusive:
                        o[at] = n.cast(total.get(), o.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int, flatten: bool, exclusive: bool, reverse: bool) -> tuple:
        x, dout = ins[0], douts[0]

        def of_x() -> Any:
            back = b.op("cumsum", X=dout, axis=0 if flatten else axis, exclusive=exclusive, reverse=not reverse)
            return reshape_like(b, back, x) if flatten or not x.shape else back

        return (of_x,)


def _scan_rows(k: Any, x: Any, out: Any, outer: n.Expr, size: n.Expr, inner: n.Expr, exclusive: bool, reverse: bool) -> None:
    """A scan across rows: each row is the one before plus a row of x, so the inner loop runs along memory."""
    blocks = k.let((inner + (folding.BLOCK - 1)) // folding.BLOCK, "blocks")
    with k.parallel(outer * blocks) as b:
        start = k.let(b // blocks * size * inner + b % blocks * folding.BLOCK, "start")
        width = k.let(n.minimum(inner - b % blocks * folding.BLOCK, n.as_expr(folding.BLOCK, n.INDEX)), "width")
        with k.loop(size) as i:
            row = k.let(start + (size - 1 - i if reverse else i) * inner, "row")
            before = k.let(row + inner if reverse else row - inner, "before")
            with k.when(i == 0), k.loop(width) as c:
                out[row + c] = n.cast(0, out.dtype) if exclusive else n.cast(x[row + c], out.dtype)
            with k.otherwise(), k.loop(width) as c:
                out[row + c] = out[before + c] + n.cast(x[(before if exclusive else row) + c], out.dtype)


class _ArgExtreme(OpDef):
    """The index of the first extreme along `axis`, or of all elements in C order if `flatten`. NaN counts as extreme, as in NumPy."""

    attrs = {"axis": Long(-1), "keepdims": Bool(False), "flatten": Bool(False), "dtype": DType("int64")}
    differentiable = False
    largest: ClassVar[bool]

    @classmethod
    def infer(cls, x: TensorType, *, axis: int, keepdims: bool, flatten: bool, dtype: str) -> TensorType:
        if x.dtype not in NUMBERS or dtype not in ("int32", "int64"):
            raise DTypeError(f"{cls.title} takes numbers and gives int32 or int64, got {x.dtype} and {dtype}")
        if flatten or x.rank == 0:
            dims.require_at_least(dims.product(x.shape), 1, f"{cls.title} of no elements has no value: count")
            return TensorType(dtype, (1,) * x.rank if keepdims else ())
        axis = dims.normalize_axis(axis, x.rank)
        dims.require_at_least(x.shape[axis], 1, f"{cls.title} of no elements has no value: count")
        return TensorType(dtype, x.shape[:axis] + ((1,) if keepdims else ()) + x.shape[axis + 1 :])

    @classmethod
    def reference(cls, x: np.ndarray, *, axis: int, keepdims: bool, flatten: bool, dtype: str) -> np.ndarray:
        t = cls.infer(TensorType.of(x), axis=axis, keepdims=keepdims, flatten=flatten, dtype=dtype)
        find = np.argmax if cls.largest else np.argmin
        return np.asarray(find(x, None if flatten or x.ndim == 0 else axis)).astype(dtype).reshape(t.shape)

    @classmethod
    def lower(cls, cx: Any, x: Any, out: Any, *, axis: int, keepdims: bool, flatten: bool, dtype: str) -> None:
        with cx.kernel([x], [out]) as (k, (x_ref,), (o,)):
            shape = [x_ref.size] if flatten or x_ref.rank == 0 else x_ref.shape
            outer, size, inner = folding.three(k, shape, axis % len(shape))
            with k.parallel(outer * inner) as line:
                start = k.let(line // inner * size * inner + line % inner, "start")
                find = _first_extreme if isinstance(inner, n.Const) else _first_extreme_strided
                o[line] = n.cast(find(k, x_ref, start, size, inner, cls.largest), o.dtype)


def _first_extreme_strided(k: Any, x: Any, start: n.Expr, size: n.Expr, step: n.Expr, largest: bool) -> n.Expr:
    """Where the extreme of elements `step` apart is, in one pass."""
    best, place = k.var(x[start], x.dtype), k.var(0, n.INDEX)
    with k.loop(size, 1) as i:
        value = k.let(x[start + i * step])
        better = value > best.get() if largest else value < best.get()
        if dtype.is_float(x.dtype):
            # the first NaN wins: nothing is better than it
            better = (better | (value != value)) & (best.get() == best.get())
        with k.when(better):
            best.set(value)
            place.set(i)
    return place.get()


def _first_extreme(k: Any, x: Any, start: n.Expr, size: n.Expr, step: n.Expr, largest: bool) -> n.Expr:
    """Where the extreme of neighbours is: first its value, then the first place that has it; both loops vectorize."""
    better, worst = (reduce.largest, reduce.lowest) if largest else (reduce.smallest, reduce.highest)
    best = k.var(worst(x.dtype), x.dtype)
    with k.loop(size) as i:
        best.set(better(best.get(), x[start + i]))
    found = best.get()
    place = k.var(size, n.INDEX)
    with k.loop(size) as i:
        value = k.let(x[start + i])
        same = (value == found) | ((value != value) & (found != found)) if dtype.is_float(x.dtype) else value == found
        place.set(n.minimum(place.get(), n.select(same, i, size)))
    return place.get()


@register
class ArgMax(_ArgExtreme):
    type = "arg_max"
    largest = True


@register
class ArgMin(_ArgExtreme):
    type = "arg_min"
    largest = False
