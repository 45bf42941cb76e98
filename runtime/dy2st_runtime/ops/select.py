"""Ops that select elements by a condition or by their place: where_index, masked_select, tril_triu, diag_v2."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dims
from ..errors import DTypeError, ShapeError
from ..loopir import nodes as n
from . import nests
from .bounds import TO_THE_END, TO_THE_START
from .registry import Bool, Float, Int, OpDef, TensorType, register


@register
class WhereIndex(OpDef):
    """The indices of the elements that are not zero: an int64 [count, rank], in C order."""

    type = "where_index"
    inputs = ("Condition",)
    differentiable = False

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return TensorType("int64", (dims.UNKNOWN, x.rank))

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        return np.argwhere(x).astype(np.int64, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any) -> None:
        with cx.kernel([x], [out], shapes=False) as (k, (x,), (out,)):

            def put(i: Any, at: Any) -> None:
                for a, index in enumerate(nests.split(k, i, x.shape)):
                    out[at + a] = index

            _pack(k, x, out, (x.rank,), put)


def _pack(k: Any, mask: Any, out: Any, sizes: tuple[int, ...], put: Callable[[Any, Any], None]) -> None:
    """`out` becomes a [count, *sizes] with what `put(i, at)` writes, from `at` on, for each element i of `mask` that is not zero.

    The mask is read twice, to count and to write. It may be an array that another thread writes to meanwhile, so writing keeps to what was
    reserved, and what is left of that becomes 0.
    """
    true = lambda i: mask[i] != 0 if mask.dtype != "bool" else mask[i]  # noqa: E731
    count = k.var(0, n.INDEX)
    with k.loop(mask.size) as i:
        count.set(count.get() + n.select(true(i), 1, 0))
    number, width = k.let(count.get(), "n"), math.prod(sizes)
    k.set_shape(out, [number, *sizes])
    at, room = k.var(0, n.INDEX), k.let(number * width, "n")
    with k.loop(mask.size) as i, k.when(true(i) & (at.get() < room)):
        put(i, at.get())
        at.set(at.get() + width)
    with k.loop(room, at.get()) as j:
        out[j] = n.cast(0, out.dtype)


@register
class MaskedSelect(OpDef):
    """The elements of X where Mask, a bool tensor of the same shape, is true, in C order."""

    type = "masked_select"
    inputs = ("X", "Mask")
    outputs = ("Y",)

    @staticmethod
    def infer(x: TensorType, mask: TensorType) -> TensorType:
        if mask.dtype != "bool":
            raise DTypeError(f"masked_select: the mask must be bool, got {mask}")
        if x.rank != mask.rank:
            raise ShapeError(f"masked_select: {x} and the mask {mask} must have one shape")
        for d, m in zip(x.shape, mask.shape, strict=True):
            dims.require_equal(d, m, f"masked_select: {x} and the mask {mask} must have one shape")
        return x.with_shape((dims.UNKNOWN,))

    @staticmethod
    def reference(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        MaskedSelect.infer(TensorType("", x.shape), TensorType.of(mask))
        return x[mask]

    @staticmethod
    def lower(cx: Any, x: Any, mask: Any, out: Any) -> None:
        with cx.kernel([x, mask], [out], shapes=False) as (k, (x, mask), (out,)):
            for d, m in zip(x.shape, mask.shape, strict=True):
                k.fail_if(n.as_expr(d) != m)

            def put(i: Any, at: Any) -> None:
                out[at] = x[i]

            _pack(k, mask, out, (), put)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        def dx() -> Any:
            places = b.op("where_index", Condition=ins[1])
            zeros = b.op("fill_any_like", X=ins[0], value=0.0)
            return b.op("scatter_nd_add", X=zeros, Index=places, Updates=douts[0])

        return dx, None


@register
class TrilTriu(OpDef):
    """The lower (or upper) triangle of the matrices in X's last two axes: elements above (below) `diagonal` become 0."""

    type = "tril_triu"
    attrs = {"diagonal": Int(0), "lower": Bool(True)}

    @staticmethod
    def infer(x: TensorType, *, diagonal: int, lower: bool) -> TensorType:
        if x.rank < 2:
            raise ShapeError(f"a triangle needs a tensor with at least two dims, got {x}")
        return x

    @staticmethod
    def reference(x: np.ndarray, *, diagonal: int, lower: bool) -> np.ndarray:
        TrilTriu.infer(TensorType.of(x), diagonal=diagonal, lower=lower)
        return (np.tril if lower else np.triu)(x, max(-x.shape[-2] - 1, min(diagonal, x.shape[-1] + 1)))

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, **attrs: Any) -> None:
        below = attrs["lower"]
        with cx.kernel([x], [out]) as (k, (x,), (out,)):
            rows, cols = x.shape[-2:]
            offset = k.attr(max(TO_THE_START, min(attrs["diagonal"], TO_THE_END)))
            with k.parallel(nests.span(x.shape[:-1])) as row:
                last = k.let(row % n.as_expr(rows) + offset, "d")
                base = k.let(row * cols, "b")
                with k.loop(cols) as j:
                    inside = j <= last if below else j >= last
                    out[base + j] = n.select(inside, x[base + j], n.cast(0, x.dtype))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return (lambda: b.op("tril_triu", X=douts[0], **attrs),)


@register
class Diag(OpDef):
    """A matrix with X on its diagonal number `offset` and `padding_value` elsewhere, for X with one dim; the diagonal of
    X, for a matrix."""

    type = "diag_v2"
    attrs = {"offset": Int(0), "padding_value": Float(0.0)}

    @staticmethod
    def infer(x: TensorType, *, offset: int, padding_value: float) -> TensorType:
        if x.rank == 1:
            return x.with_shape((x.shape[0] + abs(offset),) * 2)
        if x.rank != 2:
            raise ShapeError(f"diag takes a tensor with one or two dims, got {x}")
        rows, cols = x.shape
        left = dims.minimum(rows, cols - offset) if offset >= 0 else dims.minimum(rows + offset, cols)
        return x.with_shape((dims.maximum(left, 0),))

    @staticmethod
    def reference(x: np.ndarray, *, offset: int, padding_value: float) -> np.ndarray:
        Diag.infer(TensorType.of(x), offset=offset, padding_value=padding_value)
        if x.ndim == 2:
            return np.diagonal(x, max(-x.shape[0], min(offset, x.shape[1]))).copy()
        return np.where(np.eye(len(x) + abs(offset), k=offset, dtype=bool), np.diag(x, offset), padding_value).astype(
            x.dtype
        )

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, offset: int, padding_value: float) -> None:
        source, target = x, out
        shift = min(abs(offset), TO_THE_END)
        if len(x.shape) == 2:
            with cx.kernel([source], [target]) as (k, (x,), (out,)):
                cols = x.shape[1]
                first = k.attr(shift) * (1 if offset >= 0 else n.as_expr(cols))
                with k.parallel(out.shape[0]) as i:
                    out[i] = x[i * (n.as_expr(cols) + 1) + first]
            return
        with cx.kernel([source], [target], shapes=False) as (k, (x,), (out,)):
            size = k.let(k.attr(shift) + x.shape[0], "n")
            k.set_shape(out, [size, size])
            nests.fill(k, out, n.cast(k.attr(padding_value, "float64"), out.dtype))
        with cx.kernel([source], [target], shapes=False) as (k, (x,), (out,)):
            size = n.as_expr(out.shape[0])
            first = k.attr(shift) * (1 if offset >= 0 else size)
            with k.parallel(x.shape[0]) as i:
                out[i * (size + 1) + first] = x[i]

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, offset: int, padding_value: float) -> tuple:
        x = ins[0]
        if len(x.shape) == 1:
            return (lambda: b.op("diag_v2", X=douts[0], offset=offset),)

        def dx() -> Any:
            # the places of a diagonal of ones, in a matrix that need not be square
            ones, zeros = b.op("fill_any_like", X=x, value=1.0), b.op("fill_any_like", X=x, value=0.0)
            below = b.op("tril_triu", X=ones, diagonal=offset, lower=True)
            mask = b.op("tril_triu", X=below, diagonal=offset, lower=False)
            places = b.op("where_index", Condition=mask)
            return b.op("scatter_nd_add", X=zeros, Index=places, Updates=douts[0])

        return (dx,)
