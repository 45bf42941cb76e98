"""Elementwise arithmetic and mathematical functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from dy2st_runtime import dtype as _dtype
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.elementwise import Elementwise
from dy2st_runtime.ops.registry import OpDef

from ..errors import DTypeError
from . import dispatch
from .arguments import Entries, tensors
from .creation import tensor_of
from .dispatch import ops, plain
from .failures import message_of, raise_if
from .kinds import Kind, Kinds, divided, resolved, without_bool
from .promotion import NUMBERS, as_plain_tensor, as_tensor, cast, logical, mark, operands, scalar_cast
from .tensor import Tensor

ndarray = np.ndarray
_SCALE = registry.get("scale")


def binary(op_type: str, x: Any, y: Any) -> Tensor:
    """An elementwise op of two operands, numbers among them; the result of two weak operands is weak."""
    if isinstance(x, Tensor) and isinstance(y, Tensor) and not (x._weak or y._weak):
        op, attrs = plain(op_type)
        if x._form.dtype is not y._form.dtype and op_type in _BY_RANK:  # the usual case first: it takes no call
            x, y = scalar_cast(x, y)
        return ops.apply(op, (x, y), attrs)[0]  # as `operands` would say
    if op_type in _BY_SCALE and (_is_half_beside(x, y) or _is_half_beside(y, x)):
        x, y = (cast(v, "float32") if isinstance(v, Tensor) and not v._weak else v for v in (x, y))
        return cast(binary(op_type, x, y), "float16")
    number = y
    x, y, kind = operands(x, y, op_type in _BY_RANK)
    if op_type in _CHECKED or op_type == "bitwise_right_shift":
        x, y, kind = _counted(x, y, kind)
    if kind is True and op_type in _SHIFTS and (isinstance(number, Tensor) or number < 0):
        raise_if(ops.op("less_than", X=y, Y=dispatch.constant(0, y.dtype)), ValueError, "negative shift count")
    if kind is True and op_type in _CHECKED and (x.dtype == "int64" or op_type == "elementwise_pow"):
        return mark(ops.op(op_type, X=x, Y=y, checked=True), kind)
    return mark(ops.op(op_type, X=x, Y=y), kind)


_BY_RANK = {
    *(f"elementwise_{name}" for name in ("add", "sub", "mul", "div", "mod", "pow")),
    "equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal",
}  # fmt: skip
"""In which a 0-d tensor takes the dtype of one with dims, as in PaddlePaddle 3.3.1: not in `maximum`, `where`, `floor_divide`."""
_BY_SCALE = ("elementwise_add", "elementwise_sub", "elementwise_mul")


def _is_half_beside(x: Any, y: Any) -> bool:
    """Whether x is a float16 tensor and y a number that only the run knows: one of Python would be an attribute of `scale`, which is not
    rounded to float16 first."""
    return (isinstance(y, Tensor) and y._weak and y._kinds is None
            and isinstance(x, Tensor) and x.dtype == "float16" and not x._weak and x._kinds is None)  # fmt: skip


def is_python_int(x: Any) -> bool:
    """Whether a tensor stands for an int of Python, of which there is none that has no negative."""
    return isinstance(x, Tensor) and x._weak and x._kinds is None and x.dtype == "int64"


def _counted(x: Tensor, y: Tensor, kind: bool | Kinds) -> tuple[Tensor, Tensor, bool | Kinds]:
    """Two operands of arithmetic, and the kind of the result: bools of Python count as ints in it."""
    if kind is True and x.dtype == "bool":
        return cast(x, "int64"), cast(y, "int64"), kind
    if not isinstance(kind, Kinds):
        return x, y, kind
    counted = without_bool(kind)
    if x.dtype == "bool" and counted.all != kind.all:
        raise kind.fail("Python counts with its bools")
    return x, y, counted


# what can take Python's ints out of the range of 64 bits, or make another kind of number of them
_CHECKED = ("elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_pow", "bitwise_left_shift")
_SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")
# operators: the result of a number is a number of the same class
_OPERATORS = ("abs", "scale", "bitwise_not")


def unary(op_type: str, x: Any, **attrs: Any) -> Tensor:
    """An elementwise op of one operand; the result of a weak operand is weak, that of a function of what may be a tensor is a tensor."""
    x = as_tensor(x)
    if not x._weak and x._kinds is None:
        if attrs:
            return ops.of(op_type, x, **attrs)
        op, attrs = plain(op_type)
        return ops.apply(op, (x,), attrs)[0]
    if x._kinds is not None and op_type in _OPERATORS:
        return mark(ops.op(op_type, X=resolved(x), **attrs), without_bool(x._kinds))
    if x._kinds is not None and x._kinds.mixed:
        return _of_numbers_too(registry.get(op_type), x, attrs)
    return mark(ops.op(op_type, X=x, **attrs), x._weak)


def _of_numbers_too(op: type[OpDef], x: Tensor, attrs: dict[str, Any]) -> Tensor:
    """What a function makes of a tensor that may be a number."""
    kinds = x._kinds
    assert kinds is not None
    assert issubclass(op, Elementwise)
    attrs = op.complete_attrs(attrs)
    if any(k.dtype not in op.accepts for k in kinds.all):
        x = as_plain_tensor(x)
        return ops.apply(op, (x,), attrs)[0]
    results = frozenset(Kind(op.result_dtype(op.compute_dtype((k.dtype,), attrs), attrs), k.weak) for k in kinds.all)
    return tensor_of(mark(ops.apply(op, (resolved(x),), attrs)[0], replace(kinds, all=results, code=None)))


def _number_beside(x: Any, y: Any) -> float | None:
    """The value of y if it is a number beside a floating-point tensor: `scale` then needs no constant for it.

    `scale` by 1 keeps a tensor as it is, with -0.0 in it; so where a number is added, 0 (of which -0.0 + 0 is 0.0) needs one."""
    if (type(y) is float or isinstance(y, NUMBERS)) and isinstance(x, Tensor) and not x._weak:
        value = x._form
        if value.dtype.kind == "f" if type(value) is ndarray else _dtype.is_float(x.dtype):
            return float(y)
    return None


def _scaled(x: Tensor, scale: float, bias: float) -> Tensor:
    """scale * x + bias."""
    return ops.apply(_SCALE, (x,), {"scale": scale, "bias": bias, "bias_after_scale": True})[0]


def _require_divisor(number: Any, y: Tensor, divide: Callable[[Any, Any], Any], one: int | float, kind: bool | Kinds) -> None:
    """Python numbers that a program computes cannot be divided by zero either, as tensors can.

    Args:
        number, y: the divisor, as it was given and as a tensor.
        one: an int or a float, as the dividend is.
        kind: that of both.
    """
    if isinstance(number, Tensor) or number == 0:
        message = message_of(ZeroDivisionError, divide, one, one - one)
        zero = equal_zero(y)
        if isinstance(kind, Kinds) and kind.number is not None:
            zero = logical("and", kind.number, ops.op("reduce_all", X=zero, reduce_all=True))
        raise_if(zero, ZeroDivisionError, message)


def equal_zero(y: Tensor) -> Tensor:
    """y == 0 for a number y."""
    return ops.op("equal", X=y, Y=dispatch.constant(0, y.dtype))


def _number_like(x: Tensor, kind: bool | Kinds) -> int | float:
    """An int where x is one on the path on which it is a number, else a float."""
    floats = {k.dtype == "float64" for k in kind.all if k.weak} if isinstance(kind, Kinds) else {x.dtype == "float64"}
    return 1.0 if True in floats else 1


def _floor(op_type: str, x: Any, y: Any, divide: Callable[[Any, Any], Any]) -> Tensor:
    number = y
    x, y, kind = _counted(*operands(x, y, op_type in _BY_RANK))
    if kind:  # of tensors the op itself checks integers, with a message of its own
        _require_divisor(number, y, divide, _number_like(x, kind), kind)
    return mark(ops.op(op_type, X=x, Y=y), kind)


def _turned(x: Any, y: Tensor, quotient: Tensor) -> Tensor:
    """The quotient of two ints of Python; of the least int of 64 bits by -1 there is none, as that has no negative."""
    x, y, _ = operands(x, y)
    by_minus_one = ops.op("equal", X=y, Y=dispatch.constant(-1, "int64"))
    zero = dispatch.constant(0, "int64")
    negative = ops.op("elementwise_sub", X=zero, Y=ops.op("where", Condition=by_minus_one, X=x, Y=zero), checked=True)
    return mark(ops.op("where", Condition=by_minus_one, X=negative, Y=quotient), True)


# ---- two operands ----
def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y, broadcast; the dtypes are promoted, a number takes the dtype of the tensor beside it.

    So does a 0-d tensor beside one with dims, as in PaddlePaddle 3, if both are ints or both floats.

    Args:
        x, y: Tensors of any dtype, or one of them a number.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        ShapeError: the shapes do not broadcast.

    >>> add(Tensor([1, 2]), 0.5).numpy()
    array([1.5, 2.5], dtype=float32)
    """
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        if c := _number_beside(x, y):
            return _scaled(x, 1.0, c)
        if c := _number_beside(y, x):
            return _scaled(y, 1.0, c)
    return binary("elementwise_add", x, y)


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - y; operands as in `add`.

    >>> subtract(Tensor([1, 2]), 2).numpy()
    array([-1,  0])
    """
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        if c := _number_beside(x, y):
            return _scaled(x, 1.0, -c)
        if c := _number_beside(y, x):
            return _scaled(y, -1.0, c)
    return binary("elementwise_sub", x, y)


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y; operands as in `add`.

    >>> multiply(Tensor([1, 2]), 2).numpy()
    array([2, 4])
    """
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        if (c := _number_beside(x, y)) is not None:
            return _scaled(x, c, 0.0)
        if (c := _number_beside(y, x)) is not None:
            return _scaled(y, c, 0.0)
    return binary("elementwise_mul", x, y)


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y; operands as in `add`. Integers are divided as floats.

    >>> divide(Tensor([1, 2]), 2).numpy()
    array([0.5, 1. ], dtype=float32)
    """
    number = y
    x, y, kind = operands(x, y, by_rank=True)
    if kind is False:
        op, attrs = plain("elementwise_div")
        return ops.apply(op, (x, y), attrs)[0]
    _require_divisor(number, y, operator.truediv, _number_like(x, kind), kind)
    kind = divided(kind)
    if kind is True:  # Python's division of two ints is a float64
        x, y = cast(x, "float64"), cast(y, "float64")
    return mark(ops.op("elementwise_div", X=x, Y=y), kind)


def floor_divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x // y, rounded down as in Python; operands as in `add`.

    Raises:
        DivisionError: an integer is divided by zero.

    >>> floor_divide(Tensor([7, -7]), 2).numpy()
    array([ 3, -4])
    """
    if is_python_int(x) and isinstance(y, int) and y == -1:
        return neg(x)
    quotient = _floor("elementwise_floordiv", x, y, operator.floordiv)
    return _turned(x, y, quotient) if is_python_int(quotient) and is_python_int(y) else quotient


def remainder(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x % y, with the sign of y as in Python; operands as in `add`.

    Raises:
        DivisionError: an integer is divided by zero.

    >>> remainder(Tensor([7, -7]), 4).numpy()
    array([3, 1])
    """
    return _floor("elementwise_mod", x, y, operator.mod)


mod = floor_mod = remainder


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power y; operands as in `add`.

    >>> pow(Tensor([1, 2, 3]), 2).numpy()
    array([1, 4, 9])
    """
    return binary("elementwise_pow", x, y)


def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger of x and y, element by element; NaN where one is NaN. Operands as in `add`.

    >>> maximum(Tensor([1, 5]), Tensor([3, 2])).numpy()
    array([3, 5])
    """
    return binary("elementwise_max", x, y)


def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller of x and y, element by element; NaN where one is NaN. Operands as in `add`.

    >>> minimum(Tensor([1, 5]), Tensor([3, 2])).numpy()
    array([1, 2])
    """
    return binary("elementwise_min", x, y)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and dtype.

    >>> add_n([Tensor([1.0]), Tensor([2.0]), Tensor([3.0])]).numpy()
    array([6.], dtype=float32)
    """
    if isinstance(inputs, Entries):
        entries = inputs.stack()
        return cast(ops.op("reduce_sum", X=entries, dim=[0]), entries.dtype)
    return ops.op("sum", X=tensors([inputs] if isinstance(inputs, Tensor) else inputs, "add_n"))


# ---- one operand ----
def _function(op_type: str, what: str, x: str, y: str) -> Callable[..., Tensor]:
    """A function of one op; `x` and `y` are the argument and the result of its example."""

    def function(x: Any, name: str | None = None) -> Tensor:
        return unary(op_type, x)

    function.__name__ = function.__qualname__ = op_type
    function.__doc__ = f"""{what}, element by element.

    Args:
        x: Tensor of any shape and a floating-point dtype.

    Returns:
        Tensor of the shape of x.

    >>> {op_type}(Tensor([{x}])).numpy()
    array([{y}], dtype=float32)
    """
    return function


exp = _function("exp", "e to the power x", "0.0", "1.")
expm1 = _function("expm1", "exp(x) - 1, exact near 0", "0.0", "0.")
log = _function("log", "The natural logarithm", "1.0", "0.")
log2 = _function("log2", "The logarithm to the base 2", "8.0", "3.")
log10 = _function("log10", "The logarithm to the base 10", "1.0", "0.")
log1p = _function("log1p", "log(1 + x), exact near 0", "0.0", "0.")
sqrt = _function("sqrt", "The square root", "9.0", "3.")
rsqrt = _function("rsqrt", "1 / sqrt(x)", "4.0", "0.5")
reciprocal = _function("reciprocal", "1 / x", "4.0", "0.25")
square = _function("square", "x * x", "3.0", "9.")
abs = _function("abs", "The absolute value (of integers too)", "-3.0", "3.")
sign = _function("sign", "-1, 0 or 1", "-3.0", "-1.")
floor = _function("floor", "The largest integer <= x", "1.5", "1.")
ceil = _function("ceil", "The smallest integer >= x", "1.5", "2.")
round = _function("round", "The nearest integer, halves to the even one", "2.5", "2.")
trunc = _function("trunc", "The integer part", "-1.5", "-1.")
sin = _function("sin", "The sine", "0.0", "0.")
cos = _function("cos", "The cosine", "0.0", "1.")
tan = _function("tan", "The tangent", "0.0", "0.")
asin = _function("asin", "The inverse sine", "0.0", "0.")
acos = _function("acos", "The inverse cosine", "1.0", "0.")
atan = _function("atan", "The inverse tangent", "0.0", "0.")
sinh = _function("sinh", "The hyperbolic sine", "0.0", "0.")
cosh = _function("cosh", "The hyperbolic cosine", "0.0", "1.")
asinh = _function("asinh", "The inverse hyperbolic sine", "0.0", "0.")
acosh = _function("acosh", "The inverse hyperbolic cosine", "1.0", "0.")
atanh = _function("atanh", "The inverse hyperbolic tangent", "0.0", "0.")
tanh = _function("tanh", "The hyperbolic tangent", "0.0", "0.")
erf = _function("erf", "The error function", "0.0", "0.")


def isnan(x: Any, name: str | None = None) -> Tensor:
    """Whether x is NaN, element by element, as bool.

    >>> isnan(Tensor([1.0, float("nan")])).numpy()
    array([False,  True])
    """
    return unary("isnan_v2", x)


def isinf(x: Any, name: str | None = None) -> Tensor:
    """Whether x is infinite, element by element, as bool."""
    return unary("isinf_v2", x)


def isfinite(x: Any, name: str | None = None) -> Tensor:
    """Whether x is neither NaN nor infinite, element by element, as bool."""
    return unary("isfinite_v2", x)


def neg(x: Any, name: str | None = None) -> Tensor:
    """-x, in the dtype of x.

    >>> neg(Tensor([1, -2])).numpy()
    array([-1,  2])
    """
    x = as_tensor(x)
    if x.dtype == "bool":
        raise DTypeError("a bool tensor has no negative", hint="use logical_not, or cast it")
    return subtract(0, x) if is_python_int(x) else unary("scale", x, scale=-1.0)


def lerp(x: Tensor, y: Tensor, weight: Any, name: str | None = None) -> Tensor:
    """x + weight * (y - x).

    >>> lerp(Tensor([0.0]), Tensor([2.0]), 0.25).numpy()
    array([0.5], dtype=float32)
    """
    return add(x, multiply(weight, subtract(y, x)))


def stanh(x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Tensor:
    """scale_b * tanh(scale_a * x)."""
    return multiply(tanh(multiply(x, scale_a)), scale_b)
