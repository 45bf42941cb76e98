"""Arithmetic on two operands, `scale` and `increment`."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtype
from ..errors import AttributeValueError, DivisionError
from ..loopir import nodes as n
from .elementwise import Binary, Unary
from .python_int import Counting, in_range, require_room
from .registry import Bool, Float, TensorType, register

NUMBERS = (*dtype.FLOATS, *dtype.INTS)


@register
class Add(Counting):
    """X + Y; `or` for bools."""

    type = "elementwise_add"
    array = np.add
    python = operator.add

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, *, checked: bool = False, **_: Any) -> n.Expr:
        if x.dtype == "bool":
            return x | y
        if not checked:
            return x + y
        out = k.let(x + y, "sum")
        k.fail_if(((x ^ out) & (y ^ out)) < 0)
        return out

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return dout

    grad_y = grad_x


@register
class Sub(Counting):
    """X - Y."""

    type = "elementwise_sub"
    array = np.subtract
    accepts = NUMBERS
    python = operator.sub

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, *, checked: bool = False, **_: Any) -> n.Expr:
        if not checked:
            return x - y
        out = k.let(x - y, "difference")
        k.fail_if(((x ^ y) & (x ^ out)) < 0)
        return out

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return dout

    @staticmethod
    def grad_y(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.scaled(dout, -1.0)


@register
class Mul(Counting):
    """X * Y; `and` for bools."""

    type = "elementwise_mul"
    array = np.multiply
    python = operator.mul

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, *, checked: bool = False, **_: Any) -> n.Expr:
        if x.dtype == "bool":
            return x & y
        if checked:
            k.fail_if(~in_range(n.cast(x, "float64") * n.cast(y, "float64")))
        return x * y

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.mul(dout, y)

    @staticmethod
    def grad_y(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.mul(dout, x)


@register
class Div(Binary):
    """True division; integers are divided in float32, as Paddle's `/` does."""

    type = "elementwise_div"
    array = np.divide

    @classmethod
    def compute_dtype(cls, in_dtypes: tuple[str, ...], attrs: dict[str, Any]) -> str:
        result = super().compute_dtype(in_dtypes, attrs)
        return result if dtype.is_float(result) else "float32"

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:
        return x / y

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.div(dout, y)

    @staticmethod
    def grad_y(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.scaled(b.div(b.mul(dout, out), y), -1.0)


class _IntegersRaise(Binary):
    """Integers (not floats) can raise DivisionError."""

    accepts = NUMBERS
    may_raise = True

    @classmethod
    def may_raise_for(cls, ins: Sequence[TensorType], attrs: dict[str, Any]) -> bool:
        return not dtype.is_float(cls.compute_dtype(tuple(t.dtype for t in ins), attrs))


def _check_divisor(x: np.ndarray, y: np.ndarray, what: str) -> None:
    # of no elements none is divided
    if x.size and not dtype.is_float(dtype.name_of(y)) and not np.all(y):
        raise DivisionError(f"integer {what} by zero")


@register
class Mod(_IntegersRaise):
    """The remainder of floor division: it has the sign of Y, as in Python. An integer modulo zero raises DivisionError."""

    type = "elementwise_mod"

    @staticmethod
    def array(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        _check_divisor(x, y, "modulo")
        return np.mod(x, y)

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:
        if not dtype.is_float(x.dtype):
            k.fail_if(y == 0)
            return n.select(y == -1, n.cast(n.as_expr(0), x.dtype), x % y) if x.dtype != "uint8" else x % y
        return x % y

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return dout

    @staticmethod
    def grad_y(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.scaled(b.mul(dout, b.floor(b.div(x, y))), -1.0)


@register
class FloorDiv(_IntegersRaise):
    """Division rounded towards minus infinity, as Python's `//`. An integer divided by zero raises DivisionError."""

    type = "elementwise_floordiv"
    differentiable = False

    @staticmethod
    def array(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        _check_divisor(x, y, "division")
        return np.floor_divide(x, y)

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:
        if dtype.is_float(x.dtype):
            # NumPy: x // 0 is x / 0
            return n.select(y == 0.0, x / y, x // y)
        k.fail_if(y == 0)
        # the quotient of the smallest integer and -1 wraps to itself, as in NumPy; the machine does not say what it is
        return n.select(y == -1, -x, x // y) if x.dtype != "uint8" else x // y


@register
class Pow(_IntegersRaise, Counting):
    """X to the power Y. Integers stay integers: a negative power of an integer is truncated towards zero, so it is 0 but for bases 1
    and -1; of zero it raises DivisionError. Of Python's ints it would be a float, which is an error."""

    type = "elementwise_pow"
    python = operator.pow

    @classmethod
    def may_raise_for(cls, ins: Sequence[TensorType], attrs: dict[str, Any]) -> bool:
        return not attrs["checked"] and super().may_raise_for(ins, attrs)

    @staticmethod
    def array(x: np.ndarray, y: np.ndarray, *, checked: bool) -> np.ndarray:
        if checked and dtype.is_float(dtype.name_of(x)):
            return np.asarray(x.item() ** y.item())  # of -inf and 0.5 not what NumPy gives
        return power(x, y)

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, *, checked: bool = False, **_: Any) -> n.Expr:
        if dtype.is_float(x.dtype):
            out = n.call("pow", x, y)
            if checked:
                out = k.let(out, "power")
                bad = ((x == 0.0) & (y < 0.0)) | ((x < 0.0) & (y != n.call("floor", y))) | n.call("isinf", out)
                k.fail_if(n.call("isfinite", x) & n.call("isfinite", y) & bad)
            return out
        if checked:
            k.fail_if((y < 0) | ~in_range(n.call("pow", n.cast(x, "float64"), n.cast(y, "float64"))))
        k.fail_if((x == 0) & (y < 0))
        return n.cast(power_of_integer(n.cast(x, "int64"), n.cast(y, "int64")), x.dtype)

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        y = b.cast_to(y, out.dtype)  # a bool has no arithmetic
        return b.mul(dout, b.mul(y, b.elementwise_pow(x, b.scaled(y, 1.0, -1.0))))

    @staticmethod
    def grad_y(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.mul(dout, b.mul(out, b.log(b.cast_to(x, out.dtype))))


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """NumPy's power, and for negative powers of integers what `Pow` says."""
    if dtype.is_float(dtype.name_of(x)):
        # `x ** 2`, for which power takes four times as long as a product
        if y.ndim == 0 and y == 2:
            return np.square(x)
        # NumPy 2.4 takes the root for a half, and 2.2 does not, which is another value at -inf and -0.0
        return np.sqrt(x) if y.ndim == 0 and y == 0.5 else np.power(x, y)
    if not np.any(y < 0):
        return np.power(x, y)
    if np.any((x == 0) & (y < 0)):
        raise DivisionError("zero to a negative integer power")
    # of 1 and -1 it is that of an exponent as odd or even; the least integer has no magnitude
    return np.where((y >= 0) | (np.abs(x) == 1), np.power(x, np.where(y < 0, y & 1, y)), np.zeros((), x.dtype))


def power_of_integer(x: n.Expr, y: n.Expr) -> n.Expr:
    """The same for one int64 element."""
    unit = (x == 1) | (x == -1)
    return n.select((y >= 0) | unit, n.call("pow", x, n.select(y < 0, -y, y)), 0)


@register
class Maximum(Binary):
    """The larger operand; NaN if one is NaN. Where both are equal the gradient goes to Y."""

    type = "elementwise_max"

    @staticmethod
    def array(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(x, y)

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:
        return larger(x, y)

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.mul(dout, b.cast_to(b.greater_than(x, y), dout.dtype))

    @staticmethod
    def grad_y(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.mul(dout, b.cast_to(b.less_equal(x, y), dout.dtype))


@register
class Minimum(Binary):
    """The smaller operand; NaN if one is NaN. Where both are equal the gradient goes to Y."""

    type = "elementwise_min"

    @staticmethod
    def array(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.minimum(x, y)

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:
        return smaller(x, y)

    @staticmethod
    def grad_x(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.mul(dout, b.cast_to(b.less_than(x, y), dout.dtype))

    @staticmethod
    def grad_y(b: Any, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return b.mul(dout, b.cast_to(b.greater_equal(x, y), dout.dtype))


def larger(x: n.Expr, y: n.Expr) -> n.Expr:
    """The maximum of two elements; NaN if one is NaN."""
    if x.dtype == "bool":
        return x | y
    # a NaN in y comes through because no comparison with it holds
    return n.select((x > y) | (x != x) if dtype.is_float(x.dtype) else x > y, x, y)


def smaller(x: n.Expr, y: n.Expr) -> n.Expr:
    """The minimum of two elements; NaN if one is NaN."""
    if x.dtype == "bool":
        return x & y
    return n.select((x < y) | (x != x) if dtype.is_float(x.dtype) else x < y, x, y)


def at_least(x: n.Expr, bound: n.Expr, value: float) -> n.Expr:
    """The maximum of an element and a bound of this value; NaN if one is NaN. One comparison where `larger` has to ask for NaN, too."""
    if math.isnan(value):
        return larger(x, bound)
    # without equality it is the one instruction that a machine has for it; but of two zeros the bound is taken, as by NumPy
    return n.select(x <= bound if value == 0 else x < bound, bound, x)


def at_most(x: n.Expr, bound: n.Expr, value: float) -> n.Expr:
    """The minimum of an element and a bound of this value; NaN if one is NaN."""
    if math.isnan(value):
        return smaller(x, bound)
    return n.select(x >= bound if value == 0 else x > bound, bound, x)


def number_for(op: str, name: str, value: float, dtype_name: str) -> float | int:
    """An attribute that is a float in Paddle, as a number of the tensor's dtype."""
    if dtype.is_float(dtype_name):
        return float(value)
    if not float(value).is_integer():
        raise AttributeValueError(f"{op}: {name}={value} is not a whole number, but X is {dtype_name}", hint="cast X to a float dtype")
    require_room(value, dtype_name)
    return int(value)


@register
class Scale(Unary):
    """`scale * X + bias`, or `scale * (X + bias)` if not `bias_after_scale`. X keeps its dtype: for integers both are whole numbers."""

    type = "scale"
    attrs = {"scale": Float(1.0), "bias": Float(0.0), "bias_after_scale": Bool(True)}
    accepts = NUMBERS

    @classmethod
    def infer(cls, x: TensorType, *, scale: float, bias: float, bias_after_scale: bool) -> TensorType:  # type: ignore[override]
        out = super().infer(x)
        number_for("scale", "scale", scale, x.dtype)
        number_for("scale", "bias", bias, x.dtype)
        return out

    @staticmethod
    def array(x: np.ndarray, *, scale: float, bias: float, bias_after_scale: bool) -> np.ndarray:
        s: float | int = scale
        c: float | int = bias
        if x.dtype.kind != "f":
            s, c = (number_for("scale", what, v, dtype.name_of(x)) for what, v in (("scale", scale), ("bias", bias)))
        if bias == 0:  # -0.0 stays what it is
            return x * s
        if scale == 1:
            return x + c
        return x * s + c if bias_after_scale else (x + c) * s

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, scale: float, bias: float, bias_after_scale: bool) -> n.Expr:
        s = k.attr(number_for("scale", "scale", scale, x.dtype), x.dtype)
        if bias == 0:
            return x * s
        c = k.attr(number_for("scale", "bias", bias, x.dtype), x.dtype)
        return x * s + c if bias_after_scale else (x + c) * s

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, scale: float, **_: Any) -> tuple:  # type: ignore[override]
        return (lambda: b.scaled(douts[0], scale),)


@register
class Increment(Unary):
    """X + step: a counter. X keeps its dtype."""

    type = "increment"
    attrs = {"step": Float(1.0)}
    accepts = NUMBERS

    @classmethod
    def infer(cls, x: TensorType, *, step: float) -> TensorType:  # type: ignore[override]
        out = super().infer(x)
        number_for("increment", "step", step, x.dtype)
        return out

    @staticmethod
    def array(x: np.ndarray, *, step: float) -> np.ndarray:
        return x + number_for("increment", "step", step, x.dtype.name)

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, step: float) -> n.Expr:
        return x + k.attr(number_for("increment", "step", step, x.dtype), x.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, step: float) -> tuple:  # type: ignore[override]
        return (douts[0],)
