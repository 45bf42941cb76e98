"""What gradient clipping is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtype import widened
from ..loopir import nodes as n
from . import folding
from .checked import CheckedOp
from .elementwise import widened_array
from .reduce import plus
from .registry import Float, TensorType, register
from .softmax import float_type


@register
class SquaredL2Norm(folding.Folding, CheckedOp):
    """Out [1] = the sum of the squares of X.

    total = b.squared_l2_norm(x)
    """

    type = "squared_l2_norm"

    @classmethod
    def infer(cls, x: TensorType) -> TensorType:
        float_type(cls.title, x)
        return x.with_shape((1,))

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        values = widened_array(x)
        return np.square(values).sum().reshape(1).astype(x.dtype)

    @staticmethod
    def sides(shape: Sequence[Any], others: Sequence[Any], attrs: dict[str, Any]) -> list[tuple[Any, Any]]:
        return folding.sides_of(shape, range(len(shape)))

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        return folding.Fold(n.cast(0.0, name), plus, load=lambda value, at: value * value, free="+")

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        (x,) = ins
        dout = b.op("reshape2", X=douts[0], shape=[1] * len(x.shape))
        return (b.scaled(b.mul(x, dout), 2.0),)


def squared_norm(k: Any, x: Any) -> n.Expr:
    """The sum of the squares of a tensor in a kernel."""
    compute = widened(x.dtype)
    acc = k.var(0.0, compute)
    with k.loop(x.size) as i:
        value = k.let(n.cast(x[i], compute))
        acc.add(value * value)
    return acc.get()


@register
class ClipByNorm(CheckedOp):
    """X, scaled down to the L2 norm `max_norm` where its norm is larger.

    y = b.clip_by_norm(x, max_norm=1.0)
    """

    type = "clip_by_norm"
    attrs = {"max_norm": Float(1.0)}
    differentiable = False

    @classmethod
    def infer(cls, x: TensorType, *, max_norm: float) -> TensorType:
        float_type(cls.title, x)
        return x

    @staticmethod
    def reference(x: np.ndarray, *, max_norm: float) -> np.ndarray:
        values = widened_array(x)
        norm, limit = np.sqrt(np.square(values).sum()), values.dtype.type(max_norm)
        return (values * (limit / norm if norm > limit else values.dtype.type(1))).astype(x.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, max_norm: float) -> None:
        compute = widened(x.dtype)
        factor = cx.temp(compute, 1)
        with cx.kernel([x], [factor], shapes=False) as (k, (src,), (dst,)):
            k.set_shape(dst, [1])
            norm, limit = k.let(n.call("sqrt", squared_norm(k, src))), k.attr(max_norm, compute)
            dst[0] = n.select(norm > limit, limit / norm, 1.0)
        with cx.kernel([x, factor], [out]) as (k, (src, scale), (dst,)):
            value = k.let(scale[0])
            with k.parallel(src.size) as i:
                dst[i] = n.cast(n.cast(src[i], compute) * value, dst.dtype)
