"""Clipping of gradients. A clip maps a list of (parameter, gradient) to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import AttributeValueError
from ..tensor import Tensor, autograd, math, scaling
from ..tensor.dispatch import ops
from ..tensor.promotion import cast

Pairs = Sequence[tuple[Any, Tensor]]


class ClipGradBase:
    """Base of clips: parameters with `need_clip=False` are left alone."""

    def __call__(self, params_grads: Pairs) -> list[tuple[Any, Tensor]]:
        with autograd.no_grad():
            seen = [(p, g) for p, g in params_grads if getattr(p, "need_clip", True)]
            clipped = iter(self.clip([g for _, g in seen]))
            return [(p, next(clipped) if getattr(p, "need_clip", True) else g) for p, g in params_grads]

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        """The clipped gradients."""
        raise NotImplementedError


class ClipGradByValue(ClipGradBase):
    """Limits each element to min ... max (min: -max by default).

    >>> ClipGradByValue(1.0).clip([Tensor([3.0, -0.5])])[0].numpy()
    array([ 1. , -0.5], dtype=float32)
    """

    def __init__(self, max: float, min: float | None = None):
        self.max, self.min = float(max), float(-max if min is None else min)
        if self.min > self.max:
            raise AttributeValueError(f"ClipGradByValue: min {self.min} is larger than max {self.max}")

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        return [scaling.clip(g, self.min, self.max) for g in grads]


class ClipGradByNorm(ClipGradBase):
    """Scales each gradient whose norm is larger than `clip_norm` down to it.

    >>> ClipGradByNorm(1.0).clip([Tensor([3.0, 4.0])])[0].numpy()
    array([0.6, 0.8], dtype=float32)
    """

    def __init__(self, clip_norm: float):
        self.clip_norm = positive(clip_norm)

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        return [ops.op("clip_by_norm", X=g, max_norm=self.clip_norm) for g in grads]


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients by one factor, so that the norm of all together is at most `clip_norm`.

    >>> a, b = ClipGradByGlobalNorm(1.0).clip([Tensor([3.0]), Tensor([4.0])])
    >>> a.numpy(), b.numpy()
    (array([0.6], dtype=float32), array([0.8], dtype=float32))
    """

    def __init__(self, clip_norm: float, group_name: str = "default_group"):
        self.clip_norm, self.group_name = positive(clip_norm), group_name

    def clip(self, grads: list[Tensor]) -> list[Tensor]:
        if not grads:
            return []
        # float16 has no room for the square of 256; and gradients of several dtypes have one norm
        wide = "float64" if any(g.dtype == "float64" for g in grads) else "float32"
        each = [
            cast(ops.op("squared_l2_norm", X=cast(g, "float32") if g.dtype == "float16" else g), wide) for g in grads
        ]
        factor = math.divide(self.clip_norm, math.maximum(math.sqrt(ops.op("sum", X=each)), self.clip_norm))
        return [math.multiply(g, cast(factor, g.dtype)) for g in grads]


def positive(norm: float) -> float:
    """A norm as a float.

    Raises:
        AttributeValueError: it is not positive: it would turn gradients round, or make them zero.
    """
    if not norm > 0:
        raise AttributeValueError(f"clip_norm must be positive, got {norm}")
    return float(norm)
