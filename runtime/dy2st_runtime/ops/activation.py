"""Activation functions. `FloatUnary.grad` multiplies by the `derivative`; at a kink it is what Paddle takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..loopir import nodes as n
from . import special
from .arithmetic import NUMBERS, at_least, at_most
from .elementwise import FloatUnary, Unary
from .functions import MathFunction
from .registry import Bool, Float, register

SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)


@register
class Relu(Unary):
    """max(X, 0); the gradient at 0 is 0."""

    type = "relu"
    accepts = NUMBERS

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return np.maximum(x, 0)

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return at_least(x, n.cast(0, x.dtype), 0)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.compare("greater_than", out, 0.0)


@register
class Relu6(Unary):
    """X limited to [0, threshold]."""

    type = "relu6"
    attrs = {"threshold": Float(6.0)}
    accepts = NUMBERS

    @staticmethod
    def array(x: np.ndarray, *, threshold: float) -> np.ndarray:
        return np.minimum(np.maximum(x, 0), x.dtype.type(threshold))

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, threshold: float) -> n.Expr:
        return at_most(k.let(at_least(x, n.cast(0, x.dtype), 0)), k.attr(threshold, x.dtype), threshold)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, threshold: float) -> Any:
        return b.mul(b.compare("greater_than", out, 0.0), b.compare("less_than", out, threshold))


@register
class Sigmoid(MathFunction):
    """1 / (1 + exp(-X))."""

    type = fn = "sigmoid"
    numpy = special.expit

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.mul(out, b.scaled(out, -1.0, 1.0))


@register
class LogSigmoid(FloatUnary):
    """log(sigmoid(X)), without overflow."""

    type = "logsigmoid"

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return n.select(x > 0.0, 0.0, x) - n.call("log1p", n.call("exp", -n.call("abs", x)))

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.sigmoid(b.scaled(x, -1.0))


@register
class Softplus(FloatUnary):
    """log(1 + exp(beta * X)) / beta, and X itself where beta * X exceeds the threshold."""

    type = "softplus"
    attrs = {"beta": Float(1.0), "threshold": Float(20.0)}

    @staticmethod
    def array(x: np.ndarray, *, beta: float, threshold: float) -> np.ndarray:
        return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, beta: float, threshold: float) -> n.Expr:
        bt = k.attr(beta, x.dtype)
        scaled = k.let(x * bt)
        return n.select(scaled > k.attr(threshold, x.dtype), x, n.call("log1p", n.call("exp", scaled)) / bt)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, beta: float, threshold: float) -> Any:
        scaled = b.scaled(x, beta)
        linear = b.op("greater_than", X=scaled, Y=b.constant(threshold, x.dtype))
        return b.op("where", Condition=linear, X=b.constant(1.0, x.dtype), Y=b.sigmoid(scaled))


@register
class Softsign(FloatUnary):
    """X / (1 + |X|)."""

    type = "softsign"

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return x / (1 + np.abs(x))

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return x / (1.0 + n.call("abs", x))

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.square(b.reciprocal(b.scaled(b.abs(x), 1.0, 1.0)))


@register
class Gelu(FloatUnary):
    """X * Φ(X), with the normal distribution's Φ by erf, or if `approximate` by tanh."""

    type = "gelu"
    kernel_from = 1 << 15
    attrs = {"approximate": Bool(False)}

    @staticmethod
    def array(x: np.ndarray, *, approximate: bool) -> np.ndarray:
        if approximate:
            return 0.5 * x * (1 + np.tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))
        return 0.5 * x * (1 + special.erf(x * math.sqrt(0.5)))

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, approximate: bool) -> n.Expr:
        if approximate:
            return 0.5 * x * (1.0 + n.call("tanh", SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))
        return 0.5 * x * (1.0 + n.call("erf", x * math.sqrt(0.5)))

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, approximate: bool) -> Any:
        square = b.square(x)
        if approximate:
            t = b.tanh(b.scaled(b.mul(x, b.scaled(square, 0.044715, 1.0)), SQRT_2_OVER_PI))
            inner = b.scaled(square, 3 * 0.044715 * SQRT_2_OVER_PI, SQRT_2_OVER_PI)
            slope = b.mul(b.scaled(b.square(t), -1.0, 1.0), inner)
            return b.add(b.scaled(t, 0.5, 0.5), b.scaled(b.mul(x, slope), 0.5))
        phi = b.scaled(b.exp(b.scaled(square, -0.5)), 1.0 / math.sqrt(2.0 * math.pi))
        return b.add(b.scaled(b.erf(b.scaled(x, math.sqrt(0.5))), 0.5, 0.5), b.mul(x, phi))


@register
class HardSigmoid(FloatUnary):
    """slope * X + offset, limited to [0, 1]."""

    type = "hard_sigmoid"
    attrs = {"slope": Float(0.2), "offset": Float(0.5)}

    @staticmethod
    def array(x: np.ndarray, *, slope: float, offset: float) -> np.ndarray:
        return np.minimum(np.maximum(x * slope + offset, 0), 1)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, slope: float, offset: float) -> n.Expr:
        y = k.let(x * k.attr(slope, x.dtype) + k.attr(offset, x.dtype))
        return n.select(y < 0.0, 0.0, n.select(y > 1.0, 1.0, y))

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, slope: float, offset: float) -> Any:
        inside = b.mul(b.compare("greater_than", out, 0.0), b.compare("less_than", out, 1.0))
        return b.scaled(inside, slope)


@register
class HardSwish(FloatUnary):
    """X * min(max(X + offset, 0), threshold) / scale."""

    type = "hard_swish"
    attrs = {"threshold": Float(6.0), "scale": Float(6.0), "offset": Float(3.0)}

    @staticmethod
    def array(x: np.ndarray, *, threshold: float, scale: float, offset: float) -> np.ndarray:
        return x * np.minimum(np.maximum(x + offset, 0), threshold) / scale

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, threshold: float, scale: float, offset: float) -> n.Expr:
        t = k.attr(threshold, x.dtype)
        y = k.let(x + k.attr(offset, x.dtype))
        return x * n.select(y < 0.0, 0.0, n.select(y > t, t, y)) / k.attr(scale, x.dtype)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, threshold: float, scale: float, offset: float) -> Any:
        below = b.compare("less_than", x, threshold - offset)
        middle = b.mul(b.mul(b.compare("greater_than", x, -offset), below), b.scaled(x, 2.0 / scale, offset / scale))
        return b.add(middle, b.scaled(below, -threshold / scale, threshold / scale))


def _swish_derivative(b: Any, x: Any, out: Any, beta: float) -> Any:
    s = b.sigmoid(b.scaled(x, beta))
    scaled_out = b.scaled(out, beta)
    return b.add(scaled_out, b.mul(s, b.scaled(scaled_out, -1.0, 1.0)))


@register
class Swish(FloatUnary):
    """X * sigmoid(beta * X)."""

    type = "swish"
    attrs = {"beta": Float(1.0)}

    @staticmethod
    def array(x: np.ndarray, *, beta: float) -> np.ndarray:
        return x * special.expit(x * beta)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, beta: float) -> n.Expr:
        return x * n.call("sigmoid", x * k.attr(beta, x.dtype))

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, beta: float) -> Any:
        return _swish_derivative(b, x, out, beta)


@register
class Silu(FloatUnary):
    """X * sigmoid(X)."""

    type = "silu"

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return x * special.expit(x)

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return x * n.call("sigmoid", x)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return _swish_derivative(b, x, out, 1.0)


@register
class LeakyRelu(FloatUnary):
    """X where it is positive, else alpha * X; the gradient at 0 is 1."""

    type = "leaky_relu"
    attrs = {"alpha": Float(0.02)}

    @staticmethod
    def array(x: np.ndarray, *, alpha: float) -> np.ndarray:
        return np.where(x < 0, x * alpha, x)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, alpha: float) -> n.Expr:
        return n.select(x < 0.0, x * k.attr(alpha, x.dtype), x)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, alpha: float) -> Any:
        return b.scaled(b.compare("less_than", x, 0.0), alpha - 1.0, 1.0)


@register
class Elu(FloatUnary):
    """X where it is positive, else alpha * (exp(X) - 1)."""

    type = "elu"
    attrs = {"alpha": Float(1.0)}

    @staticmethod
    def array(x: np.ndarray, *, alpha: float) -> np.ndarray:
        return np.where(x < 0, alpha * np.expm1(x), x)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, alpha: float) -> n.Expr:
        return n.select(x < 0.0, k.attr(alpha, x.dtype) * n.call("expm1", x), x)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, alpha: float) -> Any:
        positive = b.op("greater_than", X=x, Y=b.constant(0.0, x.dtype))
        # alpha * exp(x), from an x without the positive part, whose exponential could be infinite
        falling = b.scaled(b.exp(b.op("clip", X=x, max=0.0)), alpha)
        return b.op("where", Condition=positive, X=b.constant(1.0, x.dtype), Y=falling)


@register
class Mish(FloatUnary):
    """X * tanh(softplus(X))."""

    type = "mish"
    attrs = {"threshold": Float(20.0)}

    @staticmethod
    def array(x: np.ndarray, *, threshold: float) -> np.ndarray:
        return x * np.tanh(Softplus.array(x, beta=1.0, threshold=threshold))

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, threshold: float) -> n.Expr:
        return x * n.call("tanh", Softplus.scalar(k, x, beta=1.0, threshold=threshold))

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, threshold: float) -> Any:
        t = b.tanh(b.op("softplus", X=x, threshold=threshold))
        return b.add(t, b.mul(b.mul(x, b.sigmoid(x)), b.scaled(b.square(t), -1.0, 1.0)))
