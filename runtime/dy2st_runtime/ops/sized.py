"""Ops whose output shape is an attribute or, at run time, a tensor: `ShapeTensor`, or one tensor for each size in `ShapeTensorList`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, ShapeError
from ..loopir import nodes as n
from .registry import TensorType
from .sizes import check_one, one_element

SLOTS = ("ShapeTensor?", "ShapeTensorList*")


def infer_shape(op: str, shape: Sequence[int], tensor: TensorType | None, each: Sequence[TensorType]) -> dims.Shape:
    """The shape of the output; sizes that tensors give are open."""
    if tensor is not None:
        if tensor.rank != 1 or not dims.known(tensor.shape[0]):
            raise ShapeError(f"{op}: ShapeTensor must have one dim of known size, got {tensor}", hint="the rank must be known")
        return (dims.UNKNOWN,) * tensor.shape[0]
    if each:
        for t in each:
            check_one(op, "each size", t)
        given = shape if len(shape) == len(each) else [-1] * len(each)
        return tuple(dims.UNKNOWN if d < 0 else int(d) for d in given)
    check_sizes(op, shape)
    return tuple(int(d) for d in shape)


def check_sizes(op: str, shape: Sequence[int]) -> None:
    if any(d < 0 for d in shape):
        raise AttributeValueError(f"{op}: a shape cannot have the negative size {min(shape)}: {list(shape)}")


def shape_value(op: str, shape: Sequence[int], tensor: np.ndarray | None, each: Sequence[np.ndarray]) -> tuple[int, ...]:
    """The shape of the output from values."""
    if tensor is not None:
        result = tuple(int(d) for d in tensor)
    elif each:
        for size in each:
            check_one(op, "each size", size)
        result = tuple(int(d.reshape(())) for d in each)
    else:
        result = tuple(int(d) for d in shape)
    check_sizes(op, result)
    return result


def native_sizes(k: Any, rank: int, shape: Sequence[int], tensor: Any, each: Sequence[Any]) -> list[n.Expr]:
    """The same in a kernel: `tensor` and `each` are TensorRefs. Sizes in attributes are run-time arguments."""
    if tensor is not None:
        sizes = [k.let(n.cast(tensor[i], n.INDEX), "d") for i in range(rank)]
    elif each:
        sizes = [k.let(n.cast(one_element(k, ref), n.INDEX), "d") for ref in each]
    else:
        return [k.attr(d) for d in shape]
    for d in sizes:
        k.fail_if(d < 0)
    return sizes
