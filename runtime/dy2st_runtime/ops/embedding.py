"""Rows of a table by id: lookup_table_v2, its gradient, and one_hot_v2."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from .. import dtype as dt
from ..errors import OutOfRangeError, ShapeError
from ..loopir import nodes as n
from . import indices as ix
from . import nests, sizes
from .registry import Bool, DType, Int, Long, OpDef, TensorType, register


def _check_ids(ids: np.ndarray, rows: int, what: str) -> None:
    bad = (ids < 0) | (ids >= rows)
    if bad.any():
        raise OutOfRangeError(f"index {int(ids[bad][0])} is out of range for {what} of size {rows}",
                              hint=f"it takes 0 to {rows - 1}")  # fmt: skip


def _load_id(k: Any, ids: Any, at: Any, rows: Any) -> n.Expr:
    """Unlike other indices, a negative id is an error."""
    i = k.let(n.cast(ids[at], n.INDEX), "i")
    k.fail_if((i < 0) | (i >= rows))
    return i


class _Lookup(OpDef):
    attrs = {"padding_idx": Long(-1), "is_sparse": Bool(), "is_distributed": Bool()}
    may_raise = True

    @staticmethod
    def check(w: TensorType, ids: TensorType) -> None:
        ix.check_int("embedding", ids)
        if w.rank != 2:
            raise ShapeError(f"an embedding table must have two dims, got {w}")


@register
class LookupTable(_Lookup):
    """Out[..., :] = W[Ids[...], :], and zeros where the id is `padding_idx` (-1: no such id).

    `is_sparse` and `is_distributed` only say how Paddle stores gradients; here they are dense.

    Raises:
        OutOfRangeError: an id is negative or not below the number of rows.
    """

    type = "lookup_table_v2"
    title = "embedding"
    inputs = ("W", "Ids")

    @staticmethod
    def infer(w: TensorType, ids: TensorType, **attrs: Any) -> TensorType:
        _Lookup.check(w, ids)
        return w.with_shape((*ids.shape, w.shape[1]))

    @staticmethod
    def reference(w: np.ndarray, ids: np.ndarray, *, padding_idx: int, **attrs: Any) -> np.ndarray:
        ix.check_int("embedding", TensorType.of(ids))
        _check_ids(ids, w.shape[0], "an embedding table")
        out = w[ids]
        if padding_idx != -1:
            out[ids == padding_idx] = 0
        return out

    @staticmethod
    def lower(cx: Any, w: Any, ids: Any, out: Any, *, padding_idx: int, **attrs: Any) -> None:
        with cx.kernel([w, ids], [out]) as (k, (w, ids), (out,)):
            width = w.shape[1]
            with k.parallel(ids.size) as row:
                i = _load_id(k, ids, row, w.shape[0])
                at, to = k.let(i * width, "b"), k.let(row * width, "b")
                if padding_idx == -1:
                    ix.row_copy(k, width, w, at, out, to)
                    return
                with k.when(i == k.attr(padding_idx)), k.loop(width) as j:
                    out[to + j] = 0
                with k.otherwise():
                    ix.row_copy(k, width, w, at, out, to)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        slots = {"W": ins[0], "Ids": ins[1], "Out@GRAD": douts[0]}
        return (lambda: b.op("lookup_table_v2_grad", **slots, **attrs)), None

    @staticmethod
    def add_grad(total: np.ndarray, ins: tuple[Any, ...], attrs: dict[str, Any], dout: np.ndarray) -> None:
        _add_rows(total, ins[1], dout, attrs["padding_idx"])


def _add_rows(total: np.ndarray, ids: np.ndarray, rows: np.ndarray, padding_idx: int) -> None:
    """Adds to each row of a table those that stand at its id, in their order."""
    ids, rows = ids.reshape(-1), rows.reshape(-1, total.shape[1])
    if padding_idx != -1:
        keep = ids != padding_idx
        ids, rows = ids[keep], rows[keep]
    if not ids.size:
        return
    # `np.add.at` takes some microseconds for each row
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    total[ids[first]] += np.add.reduceat(rows[order], first, axis=0)


@register
class LookupTableGrad(_Lookup):
    """Zeros of W's shape with the rows of Out@GRAD added at their ids, those of `padding_idx` left out."""

    type = "lookup_table_v2_grad"
    inputs = ("W", "Ids", "Out@GRAD")
    outputs = ("W@GRAD",)
    shape_only = frozenset({"W"})

    @staticmethod
    def infer(w: TensorType, ids: TensorType, dout: TensorType, **attrs: Any) -> TensorType:
        _Lookup.check(w, ids)
        message = "embedding: the gradient does not have the shape of the rows"
        dims.require_same_shape(dout.shape, (*ids.shape, w.shape[1]), message)
        return dout.with_shape(w.shape)

    @staticmethod
    def reference(w: np.ndarray, ids: np.ndarray, dout: np.ndarray, *, padding_idx: int, **attrs: Any) -> np.ndarray:
        _check_ids(ids, w.shape[0], "an embedding table")
        dw = np.zeros(w.shape, dout.dtype)
        _add_rows(dw, ids, dout, padding_idx)
        return dw

    @staticmethod
    def lower(cx: Any, w: Any, ids: Any, dout: Any, out: Any, *, padding_idx: int, **attrs: Any) -> None:
        with cx.kernel([w], [out], shapes=False) as (k, (w,), (dw,)):
            k.set_shape(dw, w.shape)
            nests.fill(k, dw, 0)
        with cx.kernel([ids, dout], [out], shapes=False) as (k, (ids, dout), (dw,)):
            width = dw.shape[1]
            k.fail_if(n.as_expr(dout.size) != n.as_expr(ids.size) * width)
            with k.parallel(ids.size) as row:
                i = _load_id(k, ids, row, dw.shape[0])
                with k.when(i != k.attr(padding_idx)):
                    ix.row_add(k, width, dout, k.let(row * width, "b"), dw, k.let(i * width, "b"))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return None, None, lambda: b.op("lookup_table_v2", W=douts[0], Ids=ins[1], **attrs)


@register
class OneHot(OpDef):
    """A new last axis of size `depth` that is 1 at X and 0 elsewhere; all 0 for ids out of range if `allow_out_of_range`.

    `depth_tensor` gives the depth at run time.

    Raises:
        ShapeError: the depth is less than 1.
        OutOfRangeError: an id is negative or not below `depth`.
    """

    type = "one_hot_v2"
    inputs = ("X", "depth_tensor?")
    attrs = {"depth": Int(-1), "dtype": DType("float32"), "allow_out_of_range": Bool()}
    differentiable = False
    may_raise = True

    @staticmethod
    def infer(x: TensorType, depth_t: TensorType | None, *, depth: int, dtype: str, allow_out_of_range: bool) -> TensorType:
        ix.check_int("one_hot_v2", x)
        size: dims.Dim = depth if depth_t is None else dims.UNKNOWN
        if depth_t is None:
            _check_depth(depth)
        return TensorType(dtype, (*x.shape, size))

    @staticmethod
    def reference(x: np.ndarray, depth_t: Any, *, depth: int, dtype: str, allow_out_of_range: bool) -> np.ndarray:
        ix.check_int("one_hot_v2", TensorType.of(x))
        (size,) = sizes.values("one_hot_v2", "depth_tensor", [depth], depth_t)
        _check_depth(size)
        if not allow_out_of_range:
            _check_ids(x, size, "one_hot, a depth")
        return (x[..., None] == np.arange(size)).astype(dt.to_numpy(dtype))

    @staticmethod
    def lower(cx: Any, x: Any, depth_t: Any, out: Any, *, depth: int, dtype: str, allow_out_of_range: bool) -> None:
        reads = [] if depth_t is None else [depth_t]
        with cx.kernel([x, *reads], [out], shapes=False) as (k, (x, *reads), (out,)):
            (size,) = sizes.exprs(k, [depth], reads[0] if reads else None, (), 1)
            if reads:
                k.fail_if(size < 1)
            k.set_shape(out, [*x.shape, size])
            with k.parallel(x.size) as row:
                i = k.let(n.cast(x[row], n.INDEX), "i")
                if not allow_out_of_range:
                    k.fail_if((i < 0) | (i >= size))
                at = k.let(row * size, "b")
                with k.loop(size) as j:
                    out[at + j] = n.select(j == i, n.cast(1, out.dtype), n.cast(0, out.dtype))


def _check_depth(depth: Any) -> None:
    dims.require_at_least(depth, 1, "one_hot needs a depth of at least 1")
