"""Between TensorArrays and tensors: entries stacked or concatenated, a tensor taken apart, and the gradients of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, ShapeError
from ..loopir import nodes as n
from . import nests
from .array import array_of, entry_type
from .registry import Bool, Int, OpDef, TensorType, register


@register
class ArrayToTensor(OpDef):
    """The entries of X stacked along a new axis (`use_stack`), or one behind the other along `axis`. Paddle's second output
    `OutIndex` is not made.

    Raises:
        AttributeValueError: X is empty.
        ShapeError: the sizes of its entries differ.
    """

    type = "tensor_array_to_tensor"
    takes_arrays = True
    outputs = ("Out", "OutIndex?")
    attrs = {"axis": Int(0), "use_stack": Bool(False)}
    may_raise = True

    @staticmethod
    def infer(array: TensorType, *, axis: int, use_stack: bool) -> tuple:
        entry = entry_type("tensor_array_to_tensor", array)
        shape = list(entry.shape)
        if use_stack:
            shape.insert(dims.normalize_axis(axis, entry.rank + 1), dims.UNKNOWN)
        else:
            shape[dims.normalize_axis(axis, entry.rank)] = dims.UNKNOWN
        return entry.with_shape(shape), None

    @staticmethod
    def reference(array: list, *, axis: int, use_stack: bool) -> tuple:
        if not array:
            raise AttributeValueError(f"{'stack' if use_stack else 'concat'} needs at least one tensor")
        skip = -1 if use_stack else dims.normalize_axis(axis, array[0].ndim)
        for x in array[1:]:
            if any(p != q for a, (p, q) in enumerate(zip(array[0].shape, x.shape, strict=True)) if a != skip):
                raise ShapeError(
                    f"the entries of the list have shapes {dims.show(array[0].shape)} and {dims.show(x.shape)}"
                )
        return (np.stack if use_stack else np.concatenate)(array, axis), None

    @staticmethod
    def lower(cx: Any, array: Any, out: Any, sizes: Any, *, axis: int, use_stack: bool) -> None:
        cx.array_to_tensor(array, out, axis, use_stack)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int, use_stack: bool) -> tuple:
        if use_stack:
            return (lambda: b.op("tensor_to_array", X=douts[0], axis=axis),)
        return (lambda: b.op("split_as_array", X=douts[0], Like=ins[0], axis=axis),)


@register
class TensorToArray(OpDef):
    """The slices of X along `axis` as entries."""

    type = "tensor_to_array"
    attrs = {"axis": Int(0)}

    @staticmethod
    def infer(x: TensorType, *, axis: int) -> TensorType:
        axis = dims.normalize_axis(axis, x.rank)
        return array_of(x.with_shape((*x.shape[:axis], *x.shape[axis + 1 :])))

    @staticmethod
    def reference(x: np.ndarray, *, axis: int) -> list:
        return list(np.moveaxis(x, axis, 0))

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, axis: int) -> None:
        cx.tensor_to_array(x, out, axis)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        slots = {"X": ins[0], "Out@GRAD": douts[0]}
        return (lambda: b.op("tensor_to_array_grad", **slots, axis=axis),)


@register
class TensorToArrayGrad(OpDef):
    """The entries of Out@GRAD stacked along `axis` in the shape of X, also if there are none."""

    type = "tensor_to_array_grad"
    takes_arrays = True
    inputs = ("X", "Out@GRAD")
    outputs = ("X@GRAD",)
    attrs = {"axis": Int(0)}
    shape_only = frozenset({"X"})

    @staticmethod
    def infer(x: TensorType, dout: TensorType, *, axis: int) -> TensorType:
        return entry_type("tensor_to_array_grad", dout).with_shape(x.shape)

    @staticmethod
    def reference(x: np.ndarray, dout: list, *, axis: int) -> np.ndarray:
        return np.stack(dout, axis) if dout else np.zeros(x.shape, x.dtype)

    @staticmethod
    def lower(cx: Any, x: Any, dout: Any, out: Any, *, axis: int) -> None:
        axis = dims.normalize_axis(axis, len(x.shape))
        count = cx.temp("int64", 0)
        cx.array_length(dout, count)
        with cx.kernel([x, count], [out], shapes=False) as (k, (x, length), (dx,)):
            k.fail_if(n.as_expr(x.shape[axis]) != length[0])
            k.set_shape(dx, x.shape)

        def entry(index: Any, one: Any) -> None:
            with cx.kernel([index, one], [out], shapes=False) as (k, (i, d), (dx,)):
                strides = nests.strides_of(dx.shape)
                rest = strides[:axis] + strides[axis + 1 :]
                at = i[0] * n.as_expr(strides[axis])
                nests.copy(k, d.shape, d, nests.strides_of(d.shape), dx, rest, target_at=at)

        cx.array_each(dout, count, entry)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return None, lambda: b.op("tensor_to_array", X=douts[0], axis=axis)


@register
class SplitAsArray(OpDef):
    """X cut along `axis` into pieces of the sizes that the entries of the array Like have there: the gradient of
    `tensor_array_to_tensor` without `use_stack`."""

    type = "split_as_array"
    takes_arrays = True
    inputs = ("X", "Like")
    attrs = {"axis": Int(0)}

    @staticmethod
    def infer(x: TensorType, like: TensorType, *, axis: int) -> TensorType:
        entry = entry_type("split_as_array", like)
        axis = dims.normalize_axis(axis, x.rank)
        return array_of(x.with_shape((*x.shape[:axis], entry.shape[axis], *x.shape[axis + 1 :])))

    @staticmethod
    def reference(x: np.ndarray, like: list, *, axis: int) -> list:
        return np.split(x, np.cumsum([e.shape[axis] for e in like])[:-1], axis)

    @staticmethod
    def lower(cx: Any, x: Any, like: Any, out: Any, *, axis: int) -> None:
        axis = dims.normalize_axis(axis, len(x.shape))
        count, offset, source = cx.temp("int64", 0), cx.temp("int64", 0), x
        cx.array_length(like, count)
        with cx.kernel([], [offset], shapes=False) as (k, _, (o,)):
            k.set_shape(o, [])
            o[0] = 0

        def entry(index: Any, one: Any, result: Any) -> None:
            with cx.kernel([source, offset, one], [result], shapes=False) as (k, (x, o, e), (part,)):
                shape = [e.shape[a] if a == axis else d for a, d in enumerate(x.shape)]
                k.fail_if(o[0] + shape[axis] > n.as_expr(x.shape[axis]))
                k.set_shape(part, shape)
                strides = nests.strides_of(x.shape)
                at = o[0] * n.as_expr(strides[axis])
                nests.copy(k, shape, x, strides, part, nests.strides_of(shape), source_at=at)
            with cx.kernel([offset, one], [offset], shapes=False) as (k, (o, e), _):
                o[0] = o[0] + e.shape[axis]

        cx.array_map(like, count, out, entry)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return (lambda: b.op("tensor_array_to_tensor", X=douts[0], axis=axis)), None
