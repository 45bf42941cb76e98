"""Positions: largest elements, sorting, non-zeros, masks, one-hot."""

from __future__ import annotations

from typing import Any

from ..errors import DTypeError
from ..framework.dtype import convert_dtype
from .arguments import axis_number, staged, truncated
from .dispatch import ops
from .logic import nonzero as nonzero
from .logic import where
from .promotion import as_tensor
from .tensor import Tensor


def _extreme(op_type: str, x: Any, axis: Any, keepdim: bool, dtype: Any) -> Tensor:
    flat = axis is None
    return ops.op(op_type, X=as_tensor(x), axis=-1 if flat else axis_number(axis), keepdims=keepdim, flatten=flat,
                  dtype=convert_dtype(dtype))  # fmt: skip


def argmax(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """The position of the (first) largest element along an axis; without one, in the flattened tensor.

    >>> argmax(Tensor([[1, 5, 2], [7, 0, 7]]), axis=1).numpy()
    array([1, 0])
    """
    return _extreme("arg_max", x, axis, keepdim, dtype)


def argmin(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """The position of the (first) smallest element along an axis; without one, in the flattened tensor."""
    return _extreme("arg_min", x, axis, keepdim, dtype)


def argsort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """The positions along an axis that sort x; equal elements keep their order.

    >>> argsort(Tensor([3, 1, 2])).numpy()
    array([1, 2, 0])
    """
    return ops.op("argsort", X=as_tensor(x), axis=axis, descending=descending)[1]


def sort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """x sorted along an axis."""
    return ops.op("argsort", X=as_tensor(x), axis=axis, descending=descending)[0]


def topk(x: Any, k: Any, axis: int | None = None, largest: bool = True, sorted: bool = True,
         name: str | None = None) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The k largest (or smallest) elements along an axis (default: the last) in order, and their positions.

    >>> values, positions = topk(Tensor([1, 5, 3]), 2)
    >>> values.numpy(), positions.numpy()
    (array([5, 3]), array([1, 2]))
    """
    slots = {"K": truncated(k)} if staged(k) else {}
    out, indices = ops.op("top_k_v2", X=as_tensor(x), k=1 if slots else int(k), axis=-1 if axis is None else axis,
                          largest=largest, sorted=sorted, **slots)  # fmt: skip
    return out, indices


def masked_select(x: Any, mask: Any, name: str | None = None) -> Tensor:
    """The elements of x where the mask is true, as a 1-d Tensor.

    >>> masked_select(Tensor([1, 2, 3]), Tensor([True, False, True])).numpy()
    array([1, 3])
    """
    mask = as_tensor(mask)
    if mask.dtype != "bool":
        raise DTypeError(f"masked_select: the mask must be bool, got {mask.dtype}")
    return ops.op("masked_select", X=as_tensor(x), Mask=mask)


def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> Tensor:
    """x with the elements where the mask is true replaced by a value.

    >>> masked_fill(Tensor([1, 2, 3]), Tensor([True, False, True]), 0).numpy()
    array([0, 2, 0])
    """
    x = as_tensor(x)
    return where(mask, as_tensor(value, x.dtype), x)


def index_sample(x: Any, index: Any) -> Tensor:
    """From each row of x the elements at the positions in the same row of `index`.

    >>> index_sample(Tensor([[1, 2], [3, 4]]), Tensor([[1], [0]])).numpy()
    array([[2],
           [3]])
    """
    return ops.op("take_along_axis", Input=as_tensor(x), Index=as_tensor(index), Axis=1)


def one_hot(x: Any, num_classes: int, name: str | None = None) -> Tensor:
    """1 at the place that x names on a new last axis of size `num_classes`, else 0, as float32.

    Raises:
        ShapeError: num_classes is less than 1.
        OutOfRangeError: a value is not in 0 ... num_classes - 1.

    >>> one_hot(Tensor([1, 0]), 2).numpy()
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    slots = {"depth_tensor": truncated(num_classes)} if staged(num_classes) else {}
    return ops.op("one_hot_v2", X=as_tensor(x), depth=-1 if slots else int(num_classes), dtype="float32", **slots)
