"""Index tensors: checks and arithmetic that the ops which read and write at indices share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from .. import dtype as dt
from ..errors import DTypeError, OutOfRangeError, ShapeError
from ..loopir import nodes as n
from .bounds import allowed
from .registry import TensorType


def check_int(op: str, index: TensorType) -> None:
    """Indices are integers."""
    if not dt.is_int(index.dtype):
        raise DTypeError(f"{op}: indices must be integers, got {index.dtype}", hint="cast them to int64")


def known_width(op: str, index: TensorType) -> int:
    """The size of the last axis of `Index` in gather_nd and the like: how many axes it indexes."""
    if not index.rank or not dims.known(index.shape[-1]):
        raise ShapeError(
            f"{op}: the last dim of the index must be known, got {index}", hint="it is the number of axes to index"
        )
    return int(index.shape[-1])


def wrapped(index: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Indices with 0 <= index < size; OutOfRangeError names the first that is out of range."""
    bad = (index < -size) | (index >= size)
    if bad.any():
        raise OutOfRangeError(f"index {int(index[bad][0])} is out of range for axis {axis} with size {size}", hint=allowed(size))
    # unsigned and narrow integers cannot hold what is added
    wide = index.astype(np.int64, copy=False)
    return np.where(wide < 0, wide + size, wide)


def load(k: Any, index: Any, at: Any, size: Any) -> n.Expr:
    """Element `at` of an index tensor as 0 <= index < size; the kernel fails if it is out of range."""
    i = k.let(n.cast(index[at], n.INDEX), "i")
    if index.dtype != "uint8":
        i = k.let(n.select(i < 0, i + size, i), "i")
    k.fail_if((i < 0) | (i >= n.as_expr(size)))
    return i


def load_all(k: Any, indices: Sequence[tuple[Any, Any]], sizes: Sequence[Any]) -> n.Expr:
    """The flat index into axes of the given sizes, from (tensor, position) for each axis."""
    flat: Any = n.as_expr(0)
    for (index, at), size in zip(indices, sizes, strict=True):
        flat = flat * size + load(k, index, at, size)
    return k.let(flat, "f")


def outer_and_row(k: Any, flat: Any, before: Sequence[Any], count: Any) -> tuple[Any, Any]:
    """The index before the indexed axis, and that of the row."""
    if not before:
        return n.as_expr(0), flat
    return k.let(flat // count, "q"), k.let(flat % count, "r")


def row_copy(k: Any, inner: Any, source: Any, source_at: Any, target: Any, target_at: Any) -> None:
    """`inner` neighbouring elements."""
    with k.loop(inner) as j:
        target[target_at + j] = source[source_at + j]


def row_add(k: Any, inner: Any, source: Any, source_at: Any, target: Any, target_at: Any) -> None:
    """Adds `inner` neighbouring elements; rows may coincide."""
    with k.loop(inner) as j:
        target.atomic_add(target_at + j, source[source_at + j])
