"""The distribution of one of n classes."""

from __future__ import annotations

import math as _math
from collections.abc import Sequence
from typing import Any

from ..tensor import Tensor, manipulation, math, random, reduction
from ..tensor.promotion import as_tensor, cast
from .distribution import Distribution


class Categorical(Distribution):
    """One of n classes. In PaddlePaddle: `paddle.distribution.Categorical`.

    As there, `sample`, `probs` and `log_prob` take the argument for weights, and divide it by its sum; `entropy` and `kl_divergence` take
    it for logarithms, of which they compute the softmax.

    Args:
        logits: Tensor [..., n], not negative.

    >>> Categorical(Tensor([1.0, 3.0])).probs(Tensor([1])).numpy()
    array([0.75], dtype=float32)
    """

    def __init__(self, logits: Any, name: str | None = None) -> None:
        self.logits = as_tensor(logits)
        self.batch = reduction.sum(self.logits, -1)

    def draw(self, shape: Sequence[Any]) -> Tensor:
        rows = manipulation.reshape(self.logits, [-1, self.logits.shape[-1]])
        drawn = random.multinomial(rows, _math.prod(shape), True)
        return manipulation.reshape(manipulation.transpose(drawn, [1, 0]), [*shape, *self.batch_shape])

    def probs(self, value: Any) -> Tensor:
        """The probabilities of classes.

        Args:
            value: integers [m], of which each row of the batch gets all; or of the rank of the logits, for each row its own.
        """
        parts = self.logits / reduction.sum(self.logits, -1, keepdim=True)
        value = cast(as_tensor(value), "int64")
        if value.ndim == 1 and parts.ndim > 1:
            value = manipulation.expand(value, [*parts.shape[:-1], *value.shape])
        return manipulation.take_along_axis(parts, value, -1)

    prob = probs

    def log_prob(self, value: Any) -> Tensor:
        return math.log(self.probs(value))

    def entropy(self) -> Tensor:
        """The entropy in nats of the softmax."""
        logs = self._logs()
        return -reduction.sum(math.exp(logs) * logs, -1)

    def kl_divergence(self, other: Categorical) -> Tensor:
        logs = self._logs()
        return reduction.sum(math.exp(logs) * (logs - other._logs()), -1, keepdim=True)

    def _logs(self) -> Tensor:
        return self.logits - reduction.logsumexp(self.logits, -1, keepdim=True)
