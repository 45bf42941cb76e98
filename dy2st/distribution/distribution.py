"""What all distributions have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import DTypeError
from ..tensor import Tensor, autograd, math
from ..tensor.attribute import sizes


class Distribution:
    """Base of distributions; its `batch` is a Tensor of the shape that the parameters have together."""

    batch: Tensor

    @property
    def batch_shape(self) -> list[Any]:
        """The shape of the parameters together."""
        return sizes(self.batch)

    @property
    def event_shape(self) -> list[Any]:
        """The shape of one event: that of a number."""
        return []

    def draw(self, shape: Sequence[Any]) -> Tensor:
        """Numbers of the shape given and the batch behind it."""
        raise NotImplementedError(f"{type(self).__name__} defines no draw()")

    def sample(self, shape: Sequence[Any] = ()) -> Tensor:
        """Draws of the shape given and the batch behind it, through which no gradient flows."""
        with autograd.no_grad():
            return self.draw(shape)

    def log_prob(self, value: Any) -> Tensor:
        """The logarithm of the density, or of the probability, at values."""
        raise NotImplementedError(f"{type(self).__name__} defines no log_prob()")

    def probs(self, value: Any) -> Tensor:
        """The density, or the probability, at values."""
        return math.exp(self.log_prob(value))

    prob = probs

    def kl_divergence(self, other: Any) -> Tensor:
        """How far it is from another distribution of the same class: E[log p - log q], by Kullback and Leibler."""
        raise NotImplementedError(f"{type(self).__name__} defines no kl_divergence()")


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """How far p is from q. In PaddlePaddle: `paddle.distribution.kl_divergence`.

    Raises:
        DTypeError: they are not of one class.

    >>> from dy2st.distribution import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)).numpy()
    array(0.5, dtype=float32)
    """
    if type(p) is not type(q):
        raise DTypeError(f"kl_divergence takes two distributions of one class, got {type(p).__name__} and {type(q).__name__}")
    return p.kl_divergence(q)
