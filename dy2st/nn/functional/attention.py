"""Attention."""

from __future__ import annotations

import math as _math
from typing import Any

from dy2st_runtime import dims

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, creation, linalg, manipulation, math, scaling
from ...tensor.location import user_location
from ...tensor.promotion import as_tensor, cast
from . import activation
from .common import dropout


def additive_mask(mask: Any, dtype: str) -> Tensor:
    """A mask of attention as a tensor to add to the scores: bools and integers mean 0 where true, -1e9 elsewhere."""
    mask = as_tensor(mask)
    if mask.dtype == "bool" or mask.dtype.startswith(("int", "uint")):
        return (cast(mask, dtype) - 1.0) * 1e9
    return cast(mask, dtype)


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Any, p: float, training: bool) -> tuple[Tensor, Tensor]:
    """What each query gets of the values: for heads [batch, heads, length, size], with the weights of the values.

    Args:
        mask: broadcasts with [batch, heads, queries, keys]; see `additive_mask`; or None.
        p: the probability with which a weight is dropped in training.
    """
    scores = linalg.matmul(_scaled(query), key, transpose_y=True)
    if mask is not None:
        scores = scores + additive_mask(mask, scores.dtype)
    weights = dropout(activation.softmax(scores), p, training=training)
    return linalg.matmul(weights, value), weights


def _scaled(query: Tensor) -> Tensor:
    """query / sqrt(head size), where only the run may know the size, or it may be 0."""
    size = query._form.shape[-1]
    if size > 0:
        return scaling.scale(query, 1.0 / _math.sqrt(size))
    return math.multiply(query, math.rsqrt(as_tensor(query.shape[-1], query.dtype)))


def scaled_dot_product_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, training: bool = True, name: str | None = None) -> Tensor:  # fmt: skip
    """softmax(query @ key / sqrt(head size) + mask) @ value, for each head.

    Args:
        query: Tensor [batch, queries, heads, head size].
        key, value: Tensors [batch, keys, heads, head size].
        attn_mask: broadcasts with [batch, heads, queries, keys]; added to the scores; bool: what is False is left out.
        dropout_p: the probability with which a weight is dropped in training.
        is_causal: a query sees no key behind its own place.

    Returns:
        Tensor [batch, queries, heads, head size].

    Raises:
        AttributeValueError: both attn_mask and is_causal are given.
        ShapeError: a tensor has not 4 dims.

    >>> x = Tensor([[[[1.0]], [[2.0]]]])
    >>> scaled_dot_product_attention(x, x, x, is_causal=True).numpy().round(2).tolist()
    [[[[1.0]], [[1.8799999952316284]]]]
    """
    query, key, value = as_tensor(query), as_tensor(key), as_tensor(value)
    for role, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim != 4:
            raise ShapeError(f"scaled_dot_product_attention: the {role} must have the shape [batch, length, heads, size], got "
                             f"{dims.show(x._form.shape)}", location=user_location())  # fmt: skip
    if is_causal:
        if attn_mask is not None:
            raise AttributeValueError("scaled_dot_product_attention takes attn_mask or is_causal, not both")
        attn_mask = creation.tril(creation.ones([query.shape[1], key.shape[1]], query.dtype)) > 0
    heads = [manipulation.transpose(x, [0, 2, 1, 3]) for x in (query, key, value)]
    out, _ = attend(heads[0], heads[1], heads[2], attn_mask, dropout_p, training)
    return manipulation.transpose(out, [0, 2, 1, 3])
