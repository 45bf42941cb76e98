"""The normal distribution."""

from __future__ import annotations

import math as _math
from collections.abc import Sequence
from typing import Any

from ..tensor import Tensor, math, random
from ..tensor.promotion import as_tensor
from .distribution import Distribution


class Normal(Distribution):
    """Normal distributions of the means `loc` and the standard deviations `scale`. In PaddlePaddle: `paddle.distribution.Normal`.

    Args:
        loc, scale: numbers, lists or Tensors of shapes that broadcast; numbers are float32.

    >>> round(float(Normal(0.0, 1.0).entropy()), 3)
    1.419
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.loc, self.scale = (v if isinstance(v, Tensor) else as_tensor(v, "float32") for v in (loc, scale))
        self.batch = self.loc + self.scale

    @property
    def mean(self) -> Tensor:
        """The means, of the shape of the batch."""
        return self.loc + self.scale * 0.0

    @property
    def variance(self) -> Tensor:
        """The squares of the standard deviations, of the shape of the batch."""
        return math.square(self.scale) + self.loc * 0.0

    def draw(self, shape: Sequence[Any]) -> Tensor:
        return self.loc + self.scale * random.randn([*shape, *self.batch_shape], self.batch.dtype)

    def rsample(self, shape: Sequence[Any] = ()) -> Tensor:
        """Draws through which gradients flow to the parameters."""
        return self.draw(shape)

    def log_prob(self, value: Any) -> Tensor:
        far = (as_tensor(value) - self.loc) / self.scale
        return -0.5 * math.square(far) - math.log(self.scale) - 0.5 * _math.log(2 * _math.pi)

    def entropy(self) -> Tensor:
        """The entropy in nats."""
        return 0.5 + 0.5 * _math.log(2 * _math.pi) + math.log(self.scale + self.loc * 0.0)

    def kl_divergence(self, other: Normal) -> Tensor:
        ratio = math.square(self.scale / other.scale)
        return 0.5 * (ratio + math.square((self.loc - other.loc) / other.scale) - 1.0 - math.log(ratio))
