"""Writing at indices: scatter, scatter_nd_add, index_put, take_along_axis and put_along_axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, DTypeError, ShapeError
from ..loopir import nodes as n
from . import indices as ix
from . import nests
from .gather import Places, axes_key, indexed, nd_key
from .registry import Bool, Int, OpDef, Str, TensorType, register


def _same_dtype(op: str, x: TensorType, value: TensorType) -> None:
    if x.dtype != value.dtype:
        raise DTypeError(f"{op}: cannot write {value.dtype} into {x.dtype}", hint="cast it first")


@register
class Scatter(OpDef):
    """X with the slices of Updates at the places Ids ([n] or [n, 1]) of the first axis.

    With `overwrite` the last one written to a place counts; its gradient flows to all of them, as in Paddle. Without,
    these places are set to zero first, and the slices are added.

    Raises:
        OutOfRangeError: an index lies outside the first axis.
    """

    type = "scatter"
    inputs = ("X", "Ids", "Updates")
    attrs = {"overwrite": Bool(True)}
    may_raise = True

    @staticmethod
    def infer(x: TensorType, ids: TensorType, updates: TensorType, *, overwrite: bool) -> TensorType:
        ix.check_int("scatter", ids)
        _same_dtype("scatter", x, updates)
        if x.rank == 0 or ids.rank not in (0, 1, 2):
            raise AttributeValueError(
                f"scatter: an index with one dim, of the first axis, is needed; got {ids} for {x}"
            )
        if ids.rank == 2:
            dims.require_equal(ids.shape[1], 1, f"scatter takes an index with one dim, got {ids}")
        wanted = (*(ids.shape[:1]), *x.shape[1:])
        _require_shape("scatter", updates, wanted)
        return x

    @staticmethod
    def reference(x: np.ndarray, ids: np.ndarray, updates: np.ndarray, *, overwrite: bool) -> np.ndarray:
        types = [TensorType.of(a) for a in (x, ids, updates)]
        Scatter.infer(*types, overwrite=overwrite)
        flat = ix.wrapped(ids.reshape(-1), 0, x.shape[0])
        rows = updates.reshape(flat.shape + x.shape[1:])
        out = x.copy()
        if overwrite:
            for i, row in zip(flat, rows, strict=True):
                out[i] = row
        else:
            out[flat] = 0
            np.add.at(out, flat, rows)
        return out

    @staticmethod
    def lower(cx: Any, x: Any, ids: Any, updates: Any, out: Any, *, overwrite: bool) -> None:
        cx.take_over(x, out)
        with cx.kernel([ids, updates], [out], shapes=False) as (k, (ids, updates), (out,)):
            count, inner = k.let(ids.size, "n"), k.let(nests.span(out.shape[1:]), "n")
            k.fail_if(n.as_expr(updates.size) != n.as_expr(count) * inner)
            # one after the other: which of two equal indices is written last matters
            if not overwrite:
                with k.loop(count) as j:
                    at = k.let(ix.load(k, ids, j, out.shape[0]) * inner, "b")
                    with k.loop(inner) as c:
                        out[at + c] = 0
            with k.loop(count) as j:
                at = k.let(ix.load(k, ids, j, out.shape[0]) * inner, "b")
                write = ix.row_copy if overwrite else ix.row_add
                write(k, inner, updates, k.let(j * inner, "b"), out, at)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, overwrite: bool) -> tuple:
        _, ids, updates = ins
        zeros = lambda: b.op("fill_any_like", X=updates, value=0.0)  # noqa: E731
        return (
            lambda: b.op("scatter", X=douts[0], Ids=ids, Updates=zeros(), overwrite=True),
            None,
            lambda: b.op("reshape_as", X=b.op("gather", X=douts[0], Index=ids, axis=0), Y=updates),
        )


def _require_shape(op: str, updates: TensorType, wanted: Any) -> None:
    message = f"{op}: updates of shape {dims.show(updates.shape)} for places of shape {dims.show(wanted)}"
    if len(updates.shape) != len(wanted):
        raise ShapeError(message)
    for d, w in zip(updates.shape, wanted, strict=True):
        dims.require_equal(d, w, message)


@register
class ScatterNdAdd(OpDef):
    """X with the parts of Updates added at the places that the rows of Index name; see gather_nd.

    Raises:
        OutOfRangeError: an index lies outside its axis.
    """

    type = "scatter_nd_add"
    inputs = ("X", "Index", "Updates")
    may_raise = True

    @staticmethod
    def infer(x: TensorType, index: TensorType, updates: TensorType) -> TensorType:
        ix.check_int("scatter_nd_add", index)
        _same_dtype("scatter_nd_add", x, updates)
        width = ix.known_width("scatter_nd_add", index)
        if width > x.rank:
            raise AttributeValueError(f"scatter_nd_add: rows of {width} indices for a tensor with {x.rank} dims")
        _require_shape("scatter_nd_add", updates, (*index.shape[:-1], *x.shape[width:]))
        return x

    @staticmethod
    def reference(x: np.ndarray, index: np.ndarray, updates: np.ndarray) -> np.ndarray:
        types = [TensorType.of(a) for a in (x, index, updates)]
        ScatterNdAdd.infer(*types)
        out = x.copy()
        if index.shape[-1]:
            np.add.at(out, nd_key(x.shape, index), updates)
        else:
            out += updates.reshape(-1, *x.shape).sum(0, dtype=x.dtype)
        return out

    @staticmethod
    def lower(cx: Any, x: Any, index: Any, updates: Any, out: Any) -> None:
        width = index.shape[-1]
        cx.take_over(x, out)
        with cx.kernel([index, updates], [out], shapes=False) as (k, (index, updates), (out,)):
            rows, inner = k.let(nests.span(index.shape[:-1]), "n"), k.let(nests.span(out.shape[width:]), "n")
            for d, w in zip(updates.shape, [*index.shape[:-1], *out.shape[width:]], strict=True):
                k.fail_if(n.as_expr(d) != w)
            with k.parallel(rows) as row:
                i = ix.load_all(k, [(index, row * width + a) for a in range(width)], out.shape[:width])
                ix.row_add(k, inner, updates, k.let(row * inner, "b"), out, k.let(i * inner, "b"))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return douts[0], None, lambda: b.op("gather_nd", X=douts[0], Index=ins[1])


@register
class IndexPut(OpDef):
    """`x` with `value` written (or added, with `accumulate`) at x[..., indices, ...]; see index_get. The value broadcasts.

    Where two indices are equal the last value counts; the gradient flows to all of them.

    Raises:
        OutOfRangeError: an index lies outside its axis.
        ShapeError: the value does not broadcast.
    """

    type = "index_put"
    inputs = ("x", "indices*", "value")
    outputs = ("out",)
    attrs = {"accumulate": Bool(False), "axis": Int(0)}
    may_raise = True

    @staticmethod
    def infer(
        x: TensorType, indices: list[TensorType], value: TensorType, *, accumulate: bool, axis: int
    ) -> TensorType:
        _same_dtype("index_put", x, value)
        target = indexed("index_put", x, indices, axis)
        message = f"a value of shape {dims.show(value.shape)} does not fit places of shape {dims.show(target)}"
        if value.rank > len(target):
            raise ShapeError(message)
        for d, t in zip(reversed(value.shape), reversed(target), strict=False):
            if not (dims.known(d) and d == 1):
                dims.require_equal(d, t, message) if dims.known(d) else dims.broadcast_dim(d, t, message)
        return x

    @staticmethod
    def reference(
        x: np.ndarray, indices: list[np.ndarray], value: np.ndarray, *, accumulate: bool, axis: int
    ) -> np.ndarray:
        types = [TensorType.of(a) for a in (x, value, *indices)]
        IndexPut.infer(types[0], types[2:], types[1], accumulate=accumulate, axis=axis)
        key, out = axes_key(x.shape, indices, axis), x.copy()
        if accumulate:
            np.add.at(out, key, value)
        else:
            out[key] = value
        return out

    @staticmethod
    def lower(cx: Any, x: Any, indices: list, value: Any, out: Any, *, accumulate: bool, axis: int) -> None:
        cx.take_over(x, out)
        with cx.kernel([value, *indices], [out], shapes=False) as (k, (value, *refs), (out,)):
            places = Places(k, out, refs, axis)
            stop = axis + len(refs)
            target = [*out.shape[:axis], *places.shape, *out.shape[stop:]]
            own = nests.broadcast_strides(k, value, target)
            depth = axis + len(places.shape)
            # values may meet in one place: added in any order, but written one after the other
            with (k.parallel if accumulate else k.loop)(places.outer * places.rows) as row:
                o, j = ix.outer_and_row(k, row, out.shape[:axis], places.rows)
                to = k.let(places.flat(k, o, j) * places.inner, "b")
                start: Any = n.as_expr(0)
                for i, s in zip(nests.split(k, row, target[:depth]), own, strict=False):
                    start = start if isinstance(s, int) and s == 0 else start + i * s

                def body(from_: Any, at: Any) -> None:
                    if accumulate:
                        out.atomic_add(at, value[from_])
                    else:
                        out[at] = value[from_]

                tail = target[depth:]
                strides = [own[depth:], nests.strides_of(tail)]
                nests.walk(k, tail, strides, body, offsets=[start, to], parallel=False)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, accumulate: bool, axis: int) -> tuple:
        _, indices, value = ins

        def dvalue() -> Any:
            return b.sum_to(b.op("index_get", X=douts[0], Indices=indices, axis=axis), value)

        def dx() -> Any:
            zero = b.constant(0.0, value.dtype)
            return b.op("index_put", x=douts[0], indices=indices, value=zero, axis=axis)

        return douts[0] if accumulate else dx, None, dvalue


class _Along(OpDef):
    """What take_along_axis and put_along_axis share: Index has X's sizes on all axes but one."""

    may_raise = True

    @staticmethod
    def check(op: str, x: TensorType, index: TensorType, axis: int) -> None:
        ix.check_int(op, index)
        if x.rank != index.rank:
            raise ShapeError(f"{op}: the index must have {x.rank} dims, got {index}")
        axis = dims.normalize_axis(axis, x.rank)
        for a, (d, i) in enumerate(zip(x.shape, index.shape, strict=True)):
            if a != axis:
                dims.require_equal(d, i, f"{op}: {x} and index {index} differ on axis {a}")

    @staticmethod
    def nest(k: Any, x: Any, index: Any, axis: int, body: Any, *, parallel: bool) -> None:
        """Calls `body(position in index, position in x)` for every index."""
        for a, (d, i) in enumerate(zip(x.shape, index.shape, strict=True)):
            if a != axis and not (isinstance(d, int) and isinstance(i, int)):
                k.fail_if(n.as_expr(d) != i)
        size, inner = x.shape[axis], k.let(nests.span(x.shape[axis + 1 :]), "n")
        count = n.as_expr(index.shape[axis])
        rows = n.as_expr(nests.span(x.shape[:axis])) * count
        with (k.parallel if parallel else k.loop)(rows) as row:
            outer = k.let(row // count, "q")
            at, to = k.let(row * inner, "b"), k.let(outer * size * inner, "b")
            with k.loop(inner) as j:
                i = ix.load(k, index, at + j, size)
                body(at + j, to + i * inner + j)


@register
class TakeAlongAxis(_Along):
    """Result[i, j] = Input[Index[i, j], j], for `Axis` 0: one index for each element of the result.

    Raises:
        OutOfRangeError: an index lies outside the axis.
    """

    type = "take_along_axis"
    inputs = ("Input", "Index")
    outputs = ("Result",)
    attrs = {"Axis": Int(0)}

    @staticmethod
    def infer(x: TensorType, index: TensorType, *, Axis: int) -> TensorType:
        _Along.check("take_along_axis", x, index, Axis)
        return x.with_shape(index.shape)

    @staticmethod
    def reference(x: np.ndarray, index: np.ndarray, *, Axis: int) -> np.ndarray:
        TakeAlongAxis.infer(TensorType("", x.shape), TensorType.of(index), Axis=Axis)
        axis = dims.normalize_axis(Axis, x.ndim)
        return np.take_along_axis(x, ix.wrapped(index, axis, x.shape[axis]), axis)

    @staticmethod
    def lower(cx: Any, x: Any, index: Any, out: Any, *, Axis: int) -> None:
        axis = dims.normalize_axis(Axis, len(x.shape))
        with cx.kernel([x, index], [out], shapes=False) as (k, (x, index), (out,)):
            k.set_shape(out, index.shape)

            def body(at: Any, place: Any) -> None:
                out[at] = x[place]

            _Along.nest(k, x, index, axis, body, parallel=True)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, Axis: int) -> tuple:
        zeros = lambda: b.op("fill_any_like", X=ins[0], value=0.0)  # noqa: E731
        return (
            lambda: b.op("put_along_axis", Input=zeros(), Index=ins[1], Value=douts[0], Axis=Axis, Reduce="add")
        ), None


@register
class PutAlongAxis(_Along):
    """Input with Value (of Index's shape) written (`Reduce` "assign") or added ("add") at the places that Index names along
    `Axis`. Where two indices are equal the last value is written; the gradient flows to all of them.

    Raises:
        OutOfRangeError: an index lies outside the axis.
    """

    type = "put_along_axis"
    inputs = ("Input", "Index", "Value")
    outputs = ("Result",)
    attrs = {"Axis": Int(0), "Reduce": Str("assign")}

    @staticmethod
    def infer(x: TensorType, index: TensorType, value: TensorType, *, Axis: int, Reduce: str) -> TensorType:
        if Reduce not in ("assign", "add"):
            raise AttributeValueError(
                f"put_along_axis: reduce {Reduce!r} is not supported", hint="use 'assign' or 'add'"
            )
        _same_dtype("put_along_axis", x, value)
        _Along.check("put_along_axis", x, index, Axis)
        _require_shape("put_along_axis", value, index.shape)
        return x

    @staticmethod
    def reference(x: np.ndarray, index: np.ndarray, value: np.ndarray, *, Axis: int, Reduce: str) -> np.ndarray:
        types = [TensorType.of(a) for a in (x, index, value)]
        PutAlongAxis.infer(*types, Axis=Axis, Reduce=Reduce)
        axis, out = dims.normalize_axis(Axis, x.ndim), x.copy()
        places = ix.wrapped(index, axis, x.shape[axis])
        if Reduce == "assign":
            np.put_along_axis(out, places, value, axis)
        else:
            grid = np.ogrid[tuple(slice(d) for d in index.shape)]
            np.add.at(out, tuple(places if a == axis else g for a, g in enumerate(grid)), value)
        return out

    @staticmethod
    def lower(cx: Any, x: Any, index: Any, value: Any, out: Any, *, Axis: int, Reduce: str) -> None:
        axis = dims.normalize_axis(Axis, len(x.shape))
        cx.take_over(x, out)
        with cx.kernel([index, value], [out], shapes=False) as (k, (index, value), (out,)):
            for d, i in zip(value.shape, index.shape, strict=True):
                k.fail_if(n.as_expr(d) != i)

            def body(at: Any, place: Any) -> None:
                if Reduce == "add":
                    out.atomic_add(place, value[at])
                else:
                    out[place] = value[at]

            _Along.nest(k, out, index, axis, body, parallel=Reduce == "add")

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, Axis: int, Reduce: str) -> tuple:
        _, index, value = ins

        def dx() -> Any:
            zeros = b.op("fill_any_like", X=value, value=0.0)
            return b.op("put_along_axis", Input=douts[0], Index=index, Value=zeros, Axis=Axis)

        return douts[0] if Reduce == "add" else dx, None, lambda: b.op(
            "take_along_axis", Input=douts[0], Index=index, Axis=Axis
        )  # fmt: skip
