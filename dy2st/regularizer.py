"""Weight decay: L1Decay and L2Decay."""

from __future__ import annotations

from .missing_names import explain_missing as _explain_missing
from .tensor import Tensor
from .tensor.dispatch import ops


class WeightDecay:
    """Base of weight decays: adds the gradient of a penalty to that of the loss."""

    def __init__(self, coeff: float = 0.0):
        self.coeff = float(coeff)
        self._regularization_coeff = self.coeff

    def gradient(self, param: Tensor) -> Tensor:
        """The gradient of the penalty."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.coeff})"


class L2Decay(WeightDecay):
    """The penalty coeff / 2 * sum(w * w).

    >>> L2Decay(0.1).gradient(Tensor([2.0])).numpy()
    array([0.2], dtype=float32)
    """

    def gradient(self, param: Tensor) -> Tensor:
        return ops.op("scale", X=param, scale=self.coeff)


class L1Decay(WeightDecay):
    """The penalty `coeff * sum(|w|)`.

    >>> L1Decay(0.1).gradient(Tensor([-2.0])).numpy()
    array([-0.1], dtype=float32)
    """

    def gradient(self, param: Tensor) -> Tensor:
        return ops.op("scale", X=ops.op("sign", X=param), scale=self.coeff)


_explain_missing(__name__)
