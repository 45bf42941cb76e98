"""Other elementwise ops of one operand: square, abs, rounding, predicates, `cast`, `clip`, `pow`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import dtype
from ..loopir import nodes as n
from .arithmetic import NUMBERS, at_least, at_most, power, power_of_integer
from .elementwise import Unary
from .registry import DType, Float, TensorType, register


@register
class Square(Unary):
    type = "square"
    accepts = NUMBERS

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return x * x

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return x * x

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.scaled(x, 2.0)


@register
class Abs(Unary):
    """The magnitude; the gradient at 0 is 0."""

    type = "abs"
    accepts = NUMBERS

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return np.abs(x)

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return n.call("abs", x)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any) -> Any:
        return b.sign(x)


class _Piecewise(Unary):
    """Constant in pieces: the gradient is 0, as in Paddle."""

    accepts = NUMBERS

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:  # type: ignore[override]
        return (lambda: b.zeros_like(ins[0]),)


@register
class Sign(_Piecewise):
    """-1, 0 or 1; NaN of NaN."""

    type = "sign"

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return np.sign(x)

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        below = x if x.dtype == "uint8" else n.select(x < 0, -1, x)
        if dtype.is_float(x.dtype):
            below = n.select(x == 0, 0, below)  # of both zeros; what is left of x is NaN
        return n.select(x > 0, 1, below)


class _Rounding(_Piecewise):
    """Integers stay as they are."""

    fn: ClassVar[str]
    numpy: ClassVar[Callable[..., Any]]

    @classmethod
    def array(cls, x: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return cls.numpy(x) if dtype.is_float(dtype.name_of(x)) else x

    @classmethod
    def scalar(cls, k: Any, x: n.Expr) -> n.Expr:  # type: ignore[override]
        return n.call(cls.fn, x) if dtype.is_float(x.dtype) else x


@register
class Floor(_Rounding):
    type = fn = "floor"
    numpy = np.floor


@register
class Ceil(_Rounding):
    type = fn = "ceil"
    numpy = np.ceil


@register
class Round(_Rounding):
    """To the nearest whole number, halves to even."""

    type = fn = "round"
    numpy = np.rint


@register
class Trunc(_Rounding):
    """Towards zero."""

    type = fn = "trunc"
    numpy = np.trunc


class _Predicate(Unary):
    """A bool for each element. Integers are finite."""

    accepts = NUMBERS
    differentiable = False
    fn: ClassVar[str]
    numpy: ClassVar[Callable[..., Any]]
    of_integers: ClassVar[bool] = False

    @classmethod
    def result_dtype(cls, compute: str, attrs: dict[str, Any]) -> str:
        return "bool"

    @classmethod
    def array(cls, x: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return cls.numpy(x)

    @classmethod
    def scalar(cls, k: Any, x: n.Expr) -> n.Expr:  # type: ignore[override]
        return n.call(cls.fn, x) if dtype.is_float(x.dtype) else n.as_expr(cls.of_integers, "bool")


@register
class IsNan(_Predicate):
    type = "isnan_v2"
    fn = "isnan"
    numpy = np.isnan


@register
class IsInf(_Predicate):
    type = "isinf_v2"
    fn = "isinf"
    numpy = np.isinf


@register
class IsFinite(_Predicate):
    type = "isfinite_v2"
    fn = "isfinite"
    numpy = np.isfinite
    of_integers = True


@register
class Cast(Unary):
    """X in the dtype `out_dtype`. A float becomes an integer by dropping its fraction, and a bool by `!= 0`."""

    type = "cast"
    attrs = {"in_dtype": DType(None), "out_dtype": DType("float32")}
    dtype_attr = "out_dtype"

    @classmethod
    def result_dtype(cls, compute: str, attrs: dict[str, Any]) -> str:
        return attrs["out_dtype"]

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return x

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, in_dtype: str | None, out_dtype: str) -> n.Expr:
        return n.cast(x, out_dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **_: Any) -> tuple:
        return (lambda: b.cast_to(douts[0], ins[0].dtype),)


def _bound(value: float, dtype_name: str) -> float | int:
    """A bound as a number of the dtype: for integers the fraction is dropped, as in Paddle, and the dtype's range is the limit."""
    if dtype.is_float(dtype_name):
        return float(value)
    info = np.iinfo(dtype_name)
    if math.isinf(value) or not info.min <= value <= info.max:
        return int(info.max) if value > 0 else int(info.min)
    return int(value)


@register
class Clip(Unary):
    """X limited to [min, max]; NaN stays NaN. The gradient is 0 at the bounds and beyond."""

    type = "clip"
    attrs = {"min": Float(-math.inf), "max": Float(math.inf)}
    accepts = NUMBERS

    @staticmethod
    def array(x: np.ndarray, *, min: float, max: float) -> np.ndarray:
        low, high = _bound(min, x.dtype.name), _bound(max, x.dtype.name)
        return np.minimum(np.maximum(x, low), high)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, min: float, max: float) -> n.Expr:
        low, high = k.attr(_bound(min, x.dtype), x.dtype), k.attr(_bound(max, x.dtype), x.dtype)
        return at_most(k.let(at_least(x, low, min)), high, max)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, min: float, max: float) -> Any:
        return b.mul(b.compare("greater_than", x, min), b.compare("less_than", x, max))


CHEAP_POWERS = (-1.0, -0.5, 0.5, 2.0, 3.0)
"""Those that `PowFactor` computes by simpler means than a call of pow."""


@register
class PowFactor(Unary):
    """X to the power `factor`. An integer X takes a whole factor and stays an integer."""

    type = "pow"
    attrs = {"factor": Float(1.0)}
    dtype_attr = "factor"
    accepts = NUMBERS
    may_raise = True

    @classmethod
    def may_raise_for(cls, ins: Sequence[TensorType], attrs: dict[str, Any]) -> bool:
        return not dtype.is_float(ins[0].dtype) and attrs["factor"] < 0

    @classmethod
    def compute_dtype(cls, in_dtypes: tuple[str, ...], attrs: dict[str, Any]) -> str:
        """An integer to a power that is not whole is computed in float32."""
        result = super().compute_dtype(in_dtypes, attrs)
        return result if dtype.is_float(result) or float(attrs["factor"]).is_integer() else "float32"

    @staticmethod
    def array(x: np.ndarray, *, factor: float) -> np.ndarray:
        if dtype.is_float(dtype.name_of(x)):
            return power(x, np.asarray(factor, x.dtype))
        return power(x, np.asarray(int(factor), "int64")).astype(x.dtype)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, factor: float) -> n.Expr:
        if dtype.is_float(x.dtype):
            # pow(-inf, -0.5) is 0; of 0.5 NumPy itself takes the root, so of -inf it is NaN
            inverse_root = lambda: n.select(x == -math.inf, 0.0, 1.0 / n.call("sqrt", x + 0.0))  # noqa: E731
            simple = {-1.0: lambda: 1.0 / x, -0.5: inverse_root, 0.5: lambda: n.call("sqrt", x), 2.0: lambda: x * x,
                      3.0: lambda: x * x * x}.get(factor)  # fmt: skip
            return n.call("pow", x, k.attr(factor, x.dtype)) if simple is None else simple()
        e = k.attr(int(factor), "int64")
        k.fail_if((x == 0) & (e < 0))
        return n.cast(power_of_integer(n.cast(x, "int64"), e), x.dtype)

    @staticmethod
    def derivative(b: Any, x: Any, out: Any, *, factor: float) -> Any:
        if factor == 0.0:
            return b.zeros_like(x)
        return b.scaled(b.op("pow", X=x, factor=factor - 1.0), factor)
