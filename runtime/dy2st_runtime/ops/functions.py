"""Functions of real numbers that targets have in their math libraries; integers are computed in float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..loopir import nodes as n
from . import special
from .elementwise import FloatUnary
from .registry import register


class MathFunction(FloatUnary):
    """A function of the target's math library, by the name `fn`; `numpy` is NumPy's."""

    fn: ClassVar[str]
    numpy: ClassVar[Callable[..., Any]]

    @classmethod
    def array(cls, x: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return cls.numpy(x)

    @classmethod
    def scalar(cls, k: Any, x: n.Expr) -> n.Expr:  # type: ignore[override]
        return n.call(cls.fn, x)


@register
class Exp(MathFunction):
    type = fn = "exp"
    numpy = np.exp

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return out


@register
class Expm1(MathFunction):
    """exp(X) - 1, exact near 0."""

    type = fn = "expm1"
    numpy = np.expm1

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(out, 1.0, 1.0)


class _Logarithm(MathFunction):
    """The gradient is dout / (ln(base) * x)."""

    ln_base: ClassVar[float] = 1.0

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:  # type: ignore[override]
        x = ins[0]
        return (lambda: b.cast_to(b.div(douts[0], x if cls.ln_base == 1.0 else b.scaled(x, cls.ln_base)), x.dtype),)


@register
class Log(_Logarithm):
    """The natural logarithm."""

    type = fn = "log"
    numpy = np.log


@register
class Log2(_Logarithm):
    type = fn = "log2"
    numpy = np.log2
    ln_base = math.log(2.0)


@register
class Log10(_Logarithm):
    type = fn = "log10"
    numpy = np.log10
    ln_base = math.log(10.0)


@register
class Log1p(MathFunction):
    """log(1 + X), exact near 0."""

    type = fn = "log1p"
    numpy = np.log1p

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.reciprocal(b.scaled(x, 1.0, 1.0))


@register
class Sqrt(MathFunction):
    type = fn = "sqrt"
    numpy = np.sqrt

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:  # type: ignore[override]
        return (lambda: b.cast_to(b.div(b.scaled(douts[0], 0.5), outs[0]), ins[0].dtype),)


@register
class Rsqrt(MathFunction):
    """1 / sqrt(X)."""

    type = fn = "rsqrt"

    @staticmethod
    def numpy(x: np.ndarray) -> np.ndarray:
        return 1 / np.sqrt(x)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(b.mul(out, b.square(out)), -0.5)


@register
class Reciprocal(FloatUnary):
    """1 / X."""

    type = "reciprocal"

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return 1 / x

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return 1.0 / x

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(b.square(out), -1.0)


@register
class Sin(MathFunction):
    type = fn = "sin"
    numpy = np.sin

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.cos(x)


@register
class Cos(MathFunction):
    type = fn = "cos"
    numpy = np.cos

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(b.sin(x), -1.0)


@register
class Tan(MathFunction):
    type = fn = "tan"
    numpy = np.tan

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(b.square(out), 1.0, 1.0)


@register
class Asin(MathFunction):
    type = fn = "asin"
    numpy = np.arcsin

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.rsqrt(b.scaled(b.square(x), -1.0, 1.0))


@register
class Acos(MathFunction):
    type = fn = "acos"
    numpy = np.arccos

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(b.rsqrt(b.scaled(b.square(x), -1.0, 1.0)), -1.0)


@register
class Atan(MathFunction):
    type = fn = "atan"
    numpy = np.arctan

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.reciprocal(b.scaled(b.square(x), 1.0, 1.0))


@register
class Sinh(MathFunction):
    type = fn = "sinh"
    numpy = np.sinh

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.cosh(x)


@register
class Cosh(MathFunction):
    type = fn = "cosh"
    numpy = np.cosh

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.sinh(x)


@register
class Asinh(MathFunction):
    type = fn = "asinh"
    numpy = np.arcsinh

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.rsqrt(b.scaled(b.square(x), 1.0, 1.0))


@register
class Acosh(MathFunction):
    type = fn = "acosh"
    numpy = np.arccosh

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.rsqrt(b.scaled(b.square(x), 1.0, -1.0))


@register
class Atanh(MathFunction):
    type = fn = "atanh"
    numpy = np.arctanh

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.reciprocal(b.scaled(b.square(x), -1.0, 1.0))


@register
class Tanh(MathFunction):
    type = fn = "tanh"
    numpy = np.tanh

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(b.square(out), -1.0, 1.0)


@register
class Erf(MathFunction):
    """The error function."""

    type = fn = "erf"
    kernel_from = 1 << 15
    numpy = staticmethod(special.erf)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(b.exp(b.scaled(b.square(x), -1.0)), 2.0 / math.sqrt(math.pi))
