"""Softmax of scores with a mask, as attention has it."""

from __future__ import annotations

from ..errors import ShapeError
from ..nn import functional as F
from ..tensor import Tensor
from ..tensor.creation import full_like, triu


def softmax_mask_fuse(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """softmax(x + mask) along the last dim.

    Args:
        x: scores of shape [batch, heads, queries, keys].
        mask: what is added, of shape [batch, 1, queries, keys].

    Returns:
        of the shape of x.

    >>> import dy2st as paddle
    >>> softmax_mask_fuse(paddle.zeros([1, 1, 1, 2]), paddle.to_tensor([[[[0.0, -1e9]]]])).tolist()
    [[[[1.0, 0.0]]]]
    """
    return F.softmax(x + mask, -1)


def softmax_mask_fuse_upper_triangle(x: Tensor) -> Tensor:
    """Softmax along the last dim, in which a query sees the keys up to its own place: the others count as -10000 less.

    Args:
        x: scores of shape [batch, heads, length, length].

    Raises:
        ShapeError: x has fewer than 2 dims.

    >>> import dy2st as paddle
    >>> softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2])).tolist()
    [[[[1.0, 0.0], [0.5, 0.5]]]]
    """
    if x.ndim < 2:
        raise ShapeError(f"scores have a dim for queries and one for keys, got {x.ndim} dims")
    return F.softmax(x + triu(full_like(x, -10000.0), 1), -1)
