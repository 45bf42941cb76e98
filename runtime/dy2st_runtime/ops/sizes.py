"""Integers that an op takes as an attribute or, where they are known at run time only, as tensors.

Paddle's convention for every such attribute: a list of one-element tensors goes before one tensor of all values, which
goes before the attribute; in the attribute -1 then stands for a value that only the tensors know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..errors import DTypeError, ShapeError
from ..loopir import nodes as n
from .registry import TensorType


def inferred(
    op: str, what: str, attr: Sequence[int], tensor: TensorType | None, each: Sequence[TensorType] = ()
) -> list[dims.Dim]:
    """The values as far as they are known when types are inferred; UNKNOWN where tensors give them."""
    _check(op, what, tensor, each)
    if each:
        given = attr if len(attr) == len(each) else [-1] * len(each)
        return [dims.UNKNOWN if v == -1 else v for v in given]
    if tensor is None:
        return list(attr)
    if tensor.rank > 1 or (tensor.rank and not dims.known(tensor.shape[0])):
        raise ShapeError(
            f"{op}: {what} must be a tensor with one dim of known size, got {tensor}",
            hint="the rank of the result follows from it",
        )
    return [dims.UNKNOWN] * (tensor.shape[0] if tensor.rank else 1)


def _check(op: str, what: str, tensor: Any, each: Sequence[Any]) -> None:
    for t in [*([] if tensor is None else [tensor]), *each]:
        if str(t.dtype) not in ("int32", "int64"):
            raise DTypeError(f"{op}: {what} must be int32 or int64, got {t.dtype}")
    for t in each:
        check_one(op, what, t)


def values(
    op: str, what: str, attr: Sequence[int], tensor: np.ndarray | None, each: Sequence[np.ndarray] = ()
) -> list[int]:
    """The values themselves, for the reference."""
    if tensor is None and not each:
        return list(map(int, attr))
    _check(op, what, tensor, each)
    if len(each):
        return [int(np.asarray(t).reshape(-1)[0]) for t in each]
    return [int(v) for v in np.asarray(tensor).reshape(-1)]


def check_one(op: str, what: str, t: Any) -> None:
    """A type or an array has one element."""
    for d in t.shape:
        dims.require_equal(d, 1, f"{op}: {what} must have one element")


def one_element(k: Any, ref: Any) -> n.Expr:
    """The value of a tensor of one element; the kernel fails if it has another number of them."""
    for d in ref.shape:
        if isinstance(d, n.Expr):
            k.fail_if(d != 1)
    return ref[0]


def exprs(k: Any, attr: Sequence[int], tensor: Any, each: Sequence[Any] = (), count: int | None = None) -> list[n.Expr]:
    """The values as expressions of a kernel; `tensor` and `each` are references to its arguments, `count` is how many
    values `tensor` has."""
    if each:
        return [k.let(n.cast(one_element(k, t), n.INDEX)) for t in each]
    if tensor is None:
        return [k.attr(v) for v in attr]
    assert count is not None
    return [k.let(n.cast(tensor[i], n.INDEX)) for i in range(count)]
