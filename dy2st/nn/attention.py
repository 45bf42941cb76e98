"""Multi-head attention, with caches for decoding step by step."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from dy2st_runtime import dims

from ..errors import AttributeValueError, ShapeError
from ..tensor import Tensor, creation, manipulation
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor
from .common import Linear
from .functional.attention import attend
from .layer import Layer


class MultiHeadAttention(Layer):
    """Attention of queries to keys and values, in several heads: [batch, queries, embed_dim] → [batch, queries, embed_dim].

    Args:
        embed_dim: size of queries and results.
        num_heads: divides embed_dim.
        dropout: the probability with which a weight is dropped in training.
        kdim, vdim: sizes of keys and values; default: embed_dim.
        need_weights: the weights [batch, heads, queries, keys] are a second result.
        weight_attr, bias_attr: of the projections q_proj, k_proj, v_proj and out_proj; see `ParamAttr`.

    Called with query, and optionally key and value (default: the query), attn_mask (broadcasts with [batch, heads, queries, keys];
    added to the scores; bool or integers: what is 0 is left out), and cache (the last result then is the new cache):
    a `Cache`, to which the keys and values of this call are added, or a `StaticCache`, which takes their place.

    Raises:
        AttributeValueError: the heads do not divide embed_dim.
        ShapeError: query, key or value have another size.

    >>> from dy2st import zeros
    >>> MultiHeadAttention(8, 2)(zeros([1, 3, 8])).shape
    [1, 3, 8]
    """

    Cache = namedtuple("Cache", ["k", "v"])
    StaticCache = namedtuple("StaticCache", ["k", "v"])

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, kdim: int | None = None,
                 vdim: int | None = None, need_weights: bool = False, weight_attr: Any = None,
                 bias_attr: Any = None) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise AttributeValueError(f"MultiHeadAttention: {num_heads} heads do not divide the size {embed_dim}")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.need_weights = dropout, need_weights
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Tensor) -> Tensor:
        return manipulation.transpose(manipulation.reshape(x, [0, 0, self.num_heads, self.head_dim]), [0, 2, 1, 3])

    def compute_kv(self, key: Any, value: Any) -> tuple[Tensor, Tensor]:
        """Keys and values as the heads see them: [batch, heads, length, head size] each."""
        key, value = _sized(key, self.kdim, "key"), _sized(value, self.vdim, "value")
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """A cache to begin with.

        Args:
            key: for a `StaticCache` what is attended to; for a `Cache` without `value` a Tensor whose first axis is the batch.
            value: default for a `StaticCache`: the key; with it, a `Cache` of this key and value, as the heads see them.
            type: `MultiHeadAttention.Cache` or `MultiHeadAttention.StaticCache`.
        """
        if type is MultiHeadAttention.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return self.Cache(key, value)
        key = as_tensor(key)
        shape = [key.shape[0], self.num_heads, 0, self.head_dim]
        return self.Cache(creation.zeros(shape, key.dtype), creation.zeros(shape, key.dtype))

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        query = _sized(query, self.embed_dim, "query")
        key = query if key is None else key
        value = query if value is None else value
        q = self._heads(self.q_proj(query))
        if isinstance(cache, MultiHeadAttention.StaticCache):
            k, v = cache.k, cache.v
        else:
            k, v = self.compute_kv(key, value)
        if isinstance(cache, MultiHeadAttention.Cache):
            k, v = manipulation.concat([cache.k, k], 2), manipulation.concat([cache.v, v], 2)
            cache = self.Cache(k, v)
        out, weights = attend(q, k, v, attn_mask, self.dropout, self.training)
        out = manipulation.reshape(manipulation.transpose(out, [0, 2, 1, 3]), [0, 0, self.embed_dim])
        results = [self.out_proj(out)]
        if self.need_weights:
            results.append(weights)
        if cache is not None:
            results.append(cache)
        return results[0] if len(results) == 1 else tuple(results)

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, {self.num_heads}, dropout={self.dropout}"


def _sized(x: Any, size: int, role: str) -> Tensor:
    x = as_tensor(x)
    if x.ndim != 3 or x._form.shape[2] not in (-1, size):
        raise ShapeError(f"MultiHeadAttention takes a {role} of shape [batch, length, {size}], got {dims.show(x._form.shape)}",
                         location=user_location())  # fmt: skip
    return x
