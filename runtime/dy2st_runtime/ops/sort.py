"""Sorting along an axis: argsort and top_k_v2. Both are stable, and NaN counts as larger than all numbers, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dims
from .. import dtype as dt
from ..errors import AttributeValueError
from ..loopir import nodes as n
from . import nests, sizes
from .registry import Bool, Int, OpDef, TensorType, register

SELECT_UP_TO = 32
"""Up to this k the k first elements are found by insertion; beyond it, sorting all is faster."""


def order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """The indices that sort x; equal elements keep their order in both directions."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    flipped = np.argsort(np.flip(x, axis), axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - flipped, axis)


def comes_before(dtype: str, descending: bool) -> Callable[[n.Expr, n.Expr], n.Expr]:
    """Whether one value must stand before another."""

    def test(a: n.Expr, b: n.Expr) -> n.Expr:
        if dtype == "bool":
            a, b = n.cast(a, n.INDEX), n.cast(b, n.INDEX)
        less = a > b if descending else a < b
        if not dt.is_float(dtype):
            return less
        high, low = (a, b) if descending else (b, a)
        return less | (n.call("isnan", high) & (n.call("isnan", low) ^ True))

    return test


class Lane:
    """One line of a tensor along the sorted axis: element i is at `base + i * step`."""

    def __init__(self, base: Any, step: Any):
        self.base, self.step = base, step

    def at(self, i: Any) -> Any:
        return self.base + n.as_expr(i) * self.step


def _lanes(k: Any, row: Any, axis_size: Any, inner: Any) -> Lane:
    """The lane number `row` of [outer, axis_size, inner]."""
    if isinstance(inner, int) and inner == 1:
        return Lane(k.let(row * axis_size, "b"), 1)
    return Lane(k.let((row // inner) * axis_size * inner + row % inner, "b"), inner)


def _sort_lane(k: Any, size: Any, lane: Lane, values: Any, indices: Any, spare: tuple[Any, Any], before: Any) -> None:
    """Merge sort, bottom up, of one lane of `values` with `indices`; `spare` is memory of the same shapes."""
    size = n.as_expr(size)
    width = k.var(1, n.INDEX)
    last = k.let(size - 1, "l")
    with k.loop_while() as (test, body):
        with test:
            body.cond = width.get() < size
        with body:
            with k.loop(size, 0, width.get() * 2) as low:
                middle = k.let(n.minimum(low + width.get(), size))
                high = k.let(n.minimum(low + width.get() * 2, size))
                _merge(k, (low, middle, high), last, lane, values, indices, spare, before)
            with k.loop(size) as t:
                values[lane.at(t)] = spare[0][lane.at(t)]
                indices[lane.at(t)] = spare[1][lane.at(t)]
            width.set(width.get() * 2)


def _merge(
    k: Any, bounds: tuple[Any, Any, Any], last: Any, lane: Lane, values: Any, indices: Any, spare: Any, before: Any
) -> None:
    """Merges the sorted runs [low, middle) and [middle, high) of a lane into `spare`."""
    low, middle, high = bounds
    i, j = k.var(low, n.INDEX), k.var(middle, n.INDEX)
    with k.loop(high, low) as t:
        # the side that is used up is read too, at a place that exists
        p, q = k.let(lane.at(n.minimum(i.get(), last))), k.let(lane.at(n.minimum(j.get(), last)))
        a, b = k.let(values[p]), k.let(values[q])
        left = k.let((i.get() < middle) & ((j.get() >= high) | (before(b, a) ^ True)))
        spare[0][lane.at(t)] = n.select(left, a, b)
        spare[1][lane.at(t)] = n.select(left, indices[p], indices[q])
        i.set(i.get() + n.select(left, 1, 0))
        j.set(j.get() + n.select(left, 0, 1))


def _sort_all(cx: Any, x: Any, values: Any, indices: Any, axis: int, descending: bool) -> None:
    """Fills `values` and `indices` with the sorted lanes of x."""
    spare = (cx.temp(x.dtype, 1), cx.temp("int64", 1))
    with cx.kernel([x], [values, indices, *spare], shapes=False) as (k, (x,), (values, indices, *spare)):
        for ref in (values, indices):
            k.set_shape(ref, x.shape)
        for ref in spare:
            k.set_shape(ref, [x.size])
        inner = k.let(nests.span(x.shape[axis + 1 :]), "n") if axis + 1 < x.rank else 1
        with k.parallel(nests.span(x.shape[:axis]) * n.as_expr(inner)) as row:
            lane = _lanes(k, row, x.shape[axis], inner)
            with k.loop(x.shape[axis]) as i:
                values[lane.at(i)] = x[lane.at(i)]
                indices[lane.at(i)] = i
            _sort_lane(k, x.shape[axis], lane, values, indices, tuple(spare), comes_before(x.dtype, descending))


def _scattered(b: Any, x: Any, indices: Any, dout: Any, axis: int) -> Any:
    zeros = b.op("fill_any_like", X=x, value=0.0)
    return b.op("put_along_axis", Input=zeros, Index=indices, Value=dout, Axis=axis, Reduce="add")


@register
class Argsort(OpDef):
    """X sorted along `axis`, and the indices (int64) that sort it."""

    type = "argsort"
    outputs = ("Out", "Indices")
    attrs = {"axis": Int(-1), "descending": Bool(), "stable": Bool(True)}

    @staticmethod
    def infer(x: TensorType, *, axis: int, descending: bool, stable: bool) -> tuple:
        if x.rank:
            dims.normalize_axis(axis, x.rank)
        return x, x.with_dtype("int64")

    @staticmethod
    def reference(x: np.ndarray, *, axis: int, descending: bool, stable: bool) -> tuple:
        if not x.ndim:
            return x, np.zeros((), np.int64)
        indices = order(x, dims.normalize_axis(axis, x.ndim), descending).astype(np.int64, copy=False)
        return np.take_along_axis(x, indices, axis), indices

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, indices: Any, *, axis: int, descending: bool, stable: bool) -> None:
        out, indices = out or cx.temp(x.dtype, len(x.shape)), indices or cx.temp("int64", len(x.shape))
        if not x.shape:
            with cx.kernel([x], [out, indices], shapes=False) as (k, (x,), (out, indices)):
                k.set_shape(out, [])
                k.set_shape(indices, [])
                out[0], indices[0] = x[0], 0
            return
        _sort_all(cx, x, out, indices, dims.normalize_axis(axis, len(x.shape)), descending)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int, **attrs: Any) -> tuple:
        if douts[0] is None:
            return (None,)
        if not len(ins[0].shape):
            return (douts[0],)
        return (lambda: _scattered(b, ins[0], outs[1], douts[0], axis),)


@register
class TopK(OpDef):
    """The `k` largest (or smallest) elements along `axis`, in order, and their indices (int64). Of equal ones, the first.

    `K` gives k at run time. Raises AttributeValueError if k is not between 1 and the size of the axis.
    """

    type = "top_k_v2"
    inputs = ("X", "K?")
    outputs = ("Out", "Indices")
    attrs = {"k": Int(1), "axis": Int(-1), "largest": Bool(True), "sorted": Bool(True)}
    may_raise = True

    @staticmethod
    def infer(x: TensorType, k_t: TensorType | None, *, k: int, axis: int, largest: bool, sorted: bool) -> tuple:
        count: dims.Dim = k if k_t is None else dims.UNKNOWN
        axis = dims.normalize_axis(axis, x.rank)
        if dims.known(count) and dims.known(x.shape[axis]):
            _check_k(count, axis, x.shape[axis])
        out = x.with_shape((*x.shape[:axis], count, *x.shape[axis + 1 :]))
        return out, out.with_dtype("int64")

    @staticmethod
    def reference(x: np.ndarray, k_t: Any, *, k: int, axis: int, largest: bool, sorted: bool) -> tuple:
        axis = dims.normalize_axis(axis, x.ndim)
        (count,) = sizes.values("top_k_v2", "K", [k], k_t)
        _check_k(count, axis, x.shape[axis])
        indices = order(x, axis, largest).take(range(count), axis).astype(np.int64, copy=False)
        return np.take_along_axis(x, indices, axis), indices

    @staticmethod
    def lower(cx: Any, x: Any, k_t: Any, out: Any, indices: Any, **attrs: Any) -> None:
        axis = dims.normalize_axis(attrs["axis"], len(x.shape))
        out, indices = out or cx.temp(x.dtype, len(x.shape)), indices or cx.temp("int64", len(x.shape))
        if k_t is None and attrs["k"] <= SELECT_UP_TO:
            _select(cx, x, out, indices, axis, attrs["k"], attrs["largest"])
            return
        all_values, all_indices = cx.temp(x.dtype, len(x.shape)), cx.temp("int64", len(x.shape))
        _sort_all(cx, x, all_values, all_indices, axis, attrs["largest"])
        reads = [] if k_t is None else [k_t]
        with cx.kernel([all_values, all_indices, *reads], [out, indices], shapes=False) as (k, refs, (out, indices)):
            values, places, *reads = refs
            (count,) = sizes.exprs(k, [attrs["k"]], reads[0] if reads else None, (), 1)
            k.fail_if((count < 1) | (count > n.as_expr(values.shape[axis])))
            shape = [*values.shape[:axis], count, *values.shape[axis + 1 :]]
            k.set_shape(out, shape)
            k.set_shape(indices, shape)

            def body(at: Any, to: Any) -> None:
                out[to], indices[to] = values[at], places[at]

            nests.walk(k, shape, [nests.strides_of(values.shape), nests.strides_of(shape)], body)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int, **attrs: Any) -> tuple:
        if douts[0] is None:
            return None, None
        return (lambda: _scattered(b, ins[0], outs[1], douts[0], axis)), None


def _check_k(count: int, axis: int, size: int) -> None:
    if not 1 <= count <= size:
        raise AttributeValueError(f"top_k: k = {count} is not between 1 and {size}, the size of axis {axis}")


def _select(cx: Any, x: Any, out: Any, indices: Any, axis: int, count: int, largest: bool) -> None:
    """Each element is put in its place among the best so far, if it is one of them."""
    with cx.kernel([x], [out, indices], shapes=False) as (k, (x,), (out, indices)):
        size, limit = n.as_expr(x.shape[axis]), k.attr(count)
        k.fail_if((limit < 1) | (limit > size))
        shape = [*x.shape[:axis], limit, *x.shape[axis + 1 :]]
        k.set_shape(out, shape)
        k.set_shape(indices, shape)
        before = comes_before(x.dtype, largest)
        inner = k.let(nests.span(x.shape[axis + 1 :]), "n") if axis + 1 < x.rank else 1
        with k.parallel(nests.span(x.shape[:axis]) * n.as_expr(inner)) as row:
            lane, best = _lanes(k, row, size, inner), _lanes(k, row, limit, inner)
            with k.loop(size) as i:
                v = k.let(x[lane.at(i)])
                place = k.var(n.minimum(i, limit - 1), n.INDEX)
                with k.when((i < limit) | before(v, out[best.at(limit - 1)])):
                    with k.loop_while() as (test, body):
                        with test:
                            above = k.let(out[best.at(n.maximum(place.get() - 1, 0))])
                            body.cond = (place.get() > 0) & before(v, above)
                        with body:
                            out[best.at(place.get())] = above
                            indices[best.at(place.get())] = indices[best.at(place.get() - 1)]
                            place.set(place.get() - 1)
                    out[best.at(place.get())] = v
                    indices[best.at(place.get())] = i
