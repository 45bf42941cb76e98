"""Reading at indices: gather, index_select, gather_nd, index_get, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, ShapeError
from ..loopir import nodes as n
from . import indices as ix
from . import nests
from .checked import CheckedOp
from .registry import Int, OpDef, TensorType, register


class _Take(CheckedOp):
    """Slices of X along one axis, whose attribute is named `axis_attr`."""

    inputs = ("X", "Index")
    axis_attr = "axis"
    may_raise = True

    @classmethod
    def index_shape(cls, index: TensorType) -> tuple[dims.Dim, ...]:
        """What the indexed axis becomes. As in Paddle, an index of shape [n, 1] counts as [n]."""
        ix.check_int(cls.title, index)
        if index.rank == 2:
            dims.require_equal(index.shape[1], 1, f"{cls.title} takes an index with one dim, got {index}")
        elif index.rank > 2:
            raise ShapeError(f"{cls.title} takes an index with one dim, got {index}", hint="use index_get")
        return index.shape[:1]

    @classmethod
    def infer(cls, x: TensorType, index: TensorType, **attrs: int) -> TensorType:
        axis = dims.normalize_axis(attrs[cls.axis_attr], x.rank)
        return x.with_shape((*x.shape[:axis], *cls.index_shape(index), *x.shape[axis + 1 :]))

    @classmethod
    def reference(cls, x: np.ndarray, index: np.ndarray, **attrs: int) -> np.ndarray:
        axis = dims.normalize_axis(attrs[cls.axis_attr], x.ndim)
        return x.take(ix.wrapped(index.reshape(index.shape[:1]), axis, x.shape[axis]), axis)

    @classmethod
    def lower(cls, cx: Any, x: Any, index: Any, out: Any, **attrs: int) -> None:
        axis = dims.normalize_axis(attrs[cls.axis_attr], len(x.shape))
        with cx.kernel([x, index], [out]) as (k, (x, index), (out,)):
            take_rows(k, x.shape[:axis], x.shape[axis], x.shape[axis + 1 :], x, index, out)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: int) -> tuple:
        slots = {"X": ins[0], "Index": ins[1], "Out@GRAD": douts[0]}
        return (lambda: b.op("gather_grad", **slots, axis=attrs[cls.axis_attr])), None


def take_rows(k: Any, before: Any, size: Any, after: Any, x: Any, index: Any, out: Any) -> None:
    """Out[o, j, :] = X[o, index[j], :]."""
    count, inner = k.let(index.size, "n"), k.let(nests.span(after), "n")
    with k.parallel(nests.span(before) * n.as_expr(count)) as row:
        outer, j = ix.outer_and_row(k, row, before, count)
        i = ix.load(k, index, j, size)
        ix.row_copy(k, inner, x, k.let((outer * size + i) * inner, "b"), out, k.let(row * inner, "b"))


@register
class Gather(_Take):
    """The slices of X along `axis` at the places that Index (0-d, [n] or [n, 1]) names; negative ones count from the end.

    Raises:
        OutOfRangeError: an index lies outside the axis.
    """

    type = "gather"
    attrs = {"axis": Int(0)}


@register
class IndexSelect(_Take):
    """`gather` under another name of the axis: `dim`."""

    type = "index_select"
    attrs = {"dim": Int(0)}
    axis_attr = "dim"


@register
class GatherGrad(OpDef):
    """Zeros of X's shape with the slices of Out@GRAD added at the indices."""

    type = "gather_grad"
    inputs = ("X", "Index", "Out@GRAD")
    outputs = ("X@GRAD",)
    attrs = {"axis": Int(0)}
    shape_only = frozenset({"X"})
    may_raise = True

    @staticmethod
    def infer(x: TensorType, index: TensorType, dout: TensorType, *, axis: int) -> TensorType:
        ix.check_int("gather_grad", index)
        axis = dims.normalize_axis(axis, x.rank)
        wanted = dims.product((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))
        dims.require_equal(dims.product(dout.shape), wanted, "gather_grad: the gradient does not have the shape of what was gathered")
        return dout.with_shape(x.shape)

    @staticmethod
    def reference(x: np.ndarray, index: np.ndarray, dout: np.ndarray, *, axis: int) -> np.ndarray:
        axis = dims.normalize_axis(axis, x.ndim)
        flat = ix.wrapped(index.reshape(-1), axis, x.shape[axis])
        dx = np.zeros(x.shape, dout.dtype)
        key: Any = (slice(None),) * axis + (flat,)
        np.add.at(dx, key, dout.reshape(x.shape[:axis] + flat.shape + x.shape[axis + 1 :]))
        return dx

    @staticmethod
    def lower(cx: Any, x: Any, index: Any, dout: Any, out: Any, *, axis: int) -> None:
        axis = dims.normalize_axis(axis, len(x.shape))
        with cx.kernel([x], [out], shapes=False) as (k, (x,), (dx,)):
            k.set_shape(dx, x.shape)
            nests.fill(k, dx, 0)
        with cx.kernel([index, dout], [out], shapes=False) as (k, (index, dout), (dx,)):
            before, size = dx.shape[:axis], dx.shape[axis]
            count, inner = k.let(index.size, "n"), k.let(nests.span(dx.shape[axis + 1 :]), "n")
            k.fail_if(n.as_expr(dout.size) != n.as_expr(nests.span(before)) * count * inner)
            with k.parallel(nests.span(before) * n.as_expr(count)) as row:
                outer, j = ix.outer_and_row(k, row, before, count)
                i = ix.load(k, index, j, size)
                ix.row_add(k, inner, dout, k.let(row * inner, "b"), dx, k.let((outer * size + i) * inner, "b"))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return None, None, lambda: b.op("gather", X=douts[0], Index=ins[1], axis=axis)


@register
class GatherNd(CheckedOp):
    """The parts of X that the rows of Index, along its last axis, name: Out has Index's shape without the last axis, then
    X's axes that are not indexed.

    Raises:
        OutOfRangeError: an index lies outside its axis.
    """

    type = "gather_nd"
    inputs = ("X", "Index")
    may_raise = True

    @staticmethod
    def infer(x: TensorType, index: TensorType) -> TensorType:
        ix.check_int("gather_nd", index)
        width = ix.known_width("gather_nd", index)
        if width > x.rank:
            raise ShapeError(f"gather_nd: rows of {width} indices for a tensor with {x.rank} dims")
        return x.with_shape((*index.shape[:-1], *x.shape[width:]))

    @staticmethod
    def reference(x: np.ndarray, index: np.ndarray) -> np.ndarray:
        if not index.shape[-1]:
            return np.broadcast_to(x, index.shape[:-1] + x.shape)
        return x[nd_key(x.shape, index)]

    @staticmethod
    def lower(cx: Any, x: Any, index: Any, out: Any) -> None:
        width = index.shape[-1]
        with cx.kernel([x, index], [out], shapes=False) as (k, (x, index), (out,)):
            k.set_shape(out, [*index.shape[:-1], *x.shape[width:]])
            inner = k.let(nests.span(x.shape[width:]), "n")
            with k.parallel(nests.span(index.shape[:-1])) as row:
                i = ix.load_all(k, [(index, row * width + a) for a in range(width)], x.shape[:width])
                ix.row_copy(k, inner, x, k.let(i * inner, "b"), out, k.let(row * inner, "b"))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        zeros = lambda: b.op("fill_any_like", X=ins[0], value=0.0)  # noqa: E731
        return (lambda: b.op("scatter_nd_add", X=zeros(), Index=ins[1], Updates=douts[0])), None


def nd_key(shape: tuple[int, ...], index: np.ndarray) -> tuple[Any, ...]:
    """What NumPy is indexed with for the rows of a gather_nd index."""
    return tuple(ix.wrapped(index[..., a], a, shape[a]) for a in range(index.shape[-1]))


@register
class IndexGet(CheckedOp):
    """NumPy's advanced indexing on neighbouring axes: X[..., i, j, ...] with the index tensors of Indices, broadcast
    together, for the axes from `axis` on.

    Raises:
        OutOfRangeError: an index lies outside its axis.
    """

    type = "index_get"
    inputs = ("X", "Indices*")
    attrs = {"axis": Int(0)}
    may_raise = True

    @staticmethod
    def infer(x: TensorType, indices: list[TensorType], *, axis: int) -> TensorType:
        return x.with_shape(indexed("index_get", x, indices, axis))

    @staticmethod
    def reference(x: np.ndarray, indices: list[np.ndarray], *, axis: int) -> np.ndarray:
        return x[axes_key(x.shape, indices, axis)]

    @staticmethod
    def lower(cx: Any, x: Any, indices: list[Any], out: Any, *, axis: int) -> None:
        with cx.kernel([x, *indices], [out]) as (k, (x, *refs), (out,)):
            places = Places(k, x, refs, axis)
            with k.parallel(places.outer * places.rows) as row:
                o, j = ix.outer_and_row(k, row, x.shape[:axis], places.rows)
                at = k.let(places.flat(k, o, j) * places.inner, "b")
                ix.row_copy(k, places.inner, x, at, out, k.let(row * places.inner, "b"))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        zeros = lambda: b.op("fill_any_like", X=ins[0], value=0.0)  # noqa: E731
        return (lambda: b.op("index_put", x=zeros(), indices=ins[1], value=douts[0], axis=axis, accumulate=True)), None


def indexed(op: str, x: TensorType, indices: list[TensorType], axis: int) -> tuple[dims.Dim, ...]:
    """The shape of X[..., indices, ...]."""
    if not indices or not 0 <= axis <= x.rank - len(indices):
        raise AttributeValueError(
            f"{op}: {len(indices)} index tensors from axis {axis} on, for a tensor with {x.rank} dims"
        )
    shape: tuple[dims.Dim, ...] = ()
    for i in indices:
        ix.check_int(op, i)
        shape = dims.broadcast(shape, i.shape, "indices")
    return (*x.shape[:axis], *shape, *x.shape[axis + len(indices) :])


def axes_key(shape: tuple[int, ...], indices: list[np.ndarray], axis: int) -> tuple[Any, ...]:
    """What NumPy is indexed with."""
    return (slice(None),) * axis + tuple(ix.wrapped(i, axis + a, shape[axis + a]) for a, i in enumerate(indices))


class Places:
    """For a kernel: where X[..., indices, ...] lies in X.

    Attributes:
        shape: the broadcast shape of the index tensors.
        rows: how many places these are.
        outer, inner: the sizes before and behind the indexed axes.
    """

    def __init__(self, k: Any, x: Any, indices: list[Any], axis: int):
        shape: tuple[Any, ...] = ()
        with dims.checks():  # broadcast_strides makes them again
            for i in indices:
                shape = dims.broadcast(shape, i.shape)
        self.shape = [k.let(d, "n") if isinstance(d, n.Expr) else d for d in shape]
        self.strides = [nests.broadcast_strides(k, i, self.shape) for i in indices]
        self.indices, self.sizes = indices, x.shape[axis : axis + len(indices)]
        self.rows = n.as_expr(k.let(nests.span(self.shape), "n"))
        self.outer = n.as_expr(nests.span(x.shape[:axis]))
        self.inner = k.let(nests.span(x.shape[axis + len(indices) :]), "n")

    def flat(self, k: Any, outer: Any, row: Any) -> n.Expr:
        """The place of one row of indices, in units of `inner`."""
        at = nests.split(k, row, self.shape)
        positions = []
        for own in self.strides:
            position: Any = n.as_expr(0)
            for i, s in zip(at, own, strict=True):
                position = position if isinstance(s, int) and s == 0 else position + i * s
            positions.append(position)
        inside = ix.load_all(k, list(zip(self.indices, positions, strict=True)), self.sizes)
        return n.as_expr(outer) * nests.span(self.sizes) + inside
