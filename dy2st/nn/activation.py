"""Activations as layers; each has the arguments of its function in `nn.functional`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..errors import ShapeError
from ..tensor import Tensor
from . import functional as F
from .layer import Layer


class Activation(Layer):
    """Base: calls `function` with the arguments of the constructor."""

    function: Callable[..., Tensor]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        # binding now reports a wrong argument where it is written
        bound = inspect.signature(type(self).function).bind(None, *args, **kwargs)
        self._arguments = {k: v for k, v in list(bound.arguments.items())[1:] if k != "name"}

    def forward(self, x: Any) -> Tensor:
        return type(self).function(x, **self._arguments)

    def extra_repr(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self._arguments.items())


class ReLU(Activation):
    """max(x, 0).

    >>> ReLU()(Tensor([-1.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """

    function = staticmethod(F.relu)


class ReLU6(Activation):
    """min(max(x, 0), 6)."""

    function = staticmethod(F.relu6)


class Sigmoid(Activation):
    """1 / (1 + exp(-x))."""

    function = staticmethod(F.sigmoid)


class LogSigmoid(Activation):
    """log(sigmoid(x))."""

    function = staticmethod(F.log_sigmoid)


class Tanh(Activation):
    """The hyperbolic tangent."""

    function = staticmethod(F.tanh)


class GELU(Activation):
    """x times the normal distribution function of x."""

    function = staticmethod(F.gelu)


class Silu(Activation):
    """x * sigmoid(x)."""

    function = staticmethod(F.silu)


class Swish(Activation):
    """x * sigmoid(x)."""

    function = staticmethod(F.swish)


class Mish(Activation):
    """x * tanh(softplus(x))."""

    function = staticmethod(F.mish)


class LeakyReLU(Activation):
    """x where x > 0, else negative_slope * x."""

    function = staticmethod(F.leaky_relu)


class ELU(Activation):
    """x where x > 0, else alpha * (exp(x) - 1)."""

    function = staticmethod(F.elu)


class SELU(Activation):
    """scale * elu(x, alpha)."""

    function = staticmethod(F.selu)


class CELU(Activation):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""

    function = staticmethod(F.celu)


class Hardswish(Activation):
    """x * relu6(x + 3) / 6."""

    function = staticmethod(F.hardswish)


class Hardsigmoid(Activation):
    """x / 6 + 0.5, limited to 0 ... 1."""

    function = staticmethod(F.hardsigmoid)


class Hardtanh(Activation):
    """x limited to min ... max."""

    function = staticmethod(F.hardtanh)


class Hardshrink(Activation):
    """`x` where `|x| > threshold`, else 0."""

    function = staticmethod(F.hardshrink)


class Softshrink(Activation):
    """x moved towards 0 by the threshold."""

    function = staticmethod(F.softshrink)


class Tanhshrink(Activation):
    """x - tanh(x)."""

    function = staticmethod(F.tanhshrink)


class ThresholdedReLU(Activation):
    """x where x > threshold, else 0."""

    function = staticmethod(F.thresholded_relu)


class Softplus(Activation):
    """log(1 + exp(beta * x)) / beta."""

    function = staticmethod(F.softplus)


class Softsign(Activation):
    """`x / (1 + |x|)`."""

    function = staticmethod(F.softsign)


class Softmax(Activation):
    """exp(x) / sum(exp(x)) along an axis."""

    function = staticmethod(F.softmax)


class LogSoftmax(Activation):
    """log(softmax(x)) along an axis."""

    function = staticmethod(F.log_softmax)


class GLU(Activation):
    """The first half of x along an axis times the sigmoid of the second."""

    function = staticmethod(F.glu)


class Maxout(Activation):
    """The maximum over groups of channels."""

    function = staticmethod(F.maxout)


class RReLU(Activation):
    """x where x > 0, else a * x with a drawn anew for each element in training."""

    function = staticmethod(F.rrelu)

    def forward(self, x: Any) -> Tensor:
        return F.rrelu(x, **self._arguments, training=self.training)


class Softmax2D(Layer):
    """The softmax over the channels of images [N, C, H, W] or [C, H, W], at each pixel.

    Raises:
        ShapeError: the input has another rank.
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Tensor:
        if x.ndim not in (3, 4):
            raise ShapeError(f"Softmax2D takes a tensor of 3 or 4 dims, got {x.ndim}")
        return F.softmax(x, -3)
