"""Python's numbers in a Program: ints are int64, and an error where 64 bits do not hold them.

What `int(t)` or `len(xs)` is while a function is traced, is a Python int in eager mode, which has no limits. An op on such numbers
is `checked`: rather than wrap around, as integers of tensors do, it fails. It does not count among the ops that may raise: it raises
nothing that eager code would, so it may be moved, merged and dropped like any other arithmetic.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .. import dtype
from ..errors import DTypeError, IntegerRangeError
from ..loopir import nodes as n
from .elementwise import Binary, Unary
from .registry import Bool, DType, Int, TensorType, register

# a product is checked as a float64, whose last digit here is 1024: the limit keeps that distance from 2 ** 63
LIMIT = 2.0**63 - 2.0**13
_SIGNS: dict[Any, str] = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.pow: "**", operator.lshift: "<<"}


class Counting(Binary):
    """A binary op that has a `checked` form, for 0-d operands that stand for Python's ints (powers: floats too).

    Subclasses give `python`, the operator; their `scalar` fails where the result is out of range.
    """

    attrs = {"axis": Int(-1), "checked": Bool(False, own=True)}
    python: ClassVar[Callable[[Any, Any], Any]]

    @classmethod
    def infer(cls, x: TensorType, y: TensorType, *, axis: int, checked: bool = False) -> TensorType:  # type: ignore[override]
        return super().infer(x, y, axis=axis)

    @classmethod
    def check_numbers(cls, x: Any, y: Any) -> None:  # type: ignore[override]
        require_in_range(cls.python, x, y)


@register
class PythonInt(Unary):
    """`int(x)` of one float: without its fraction; ValueError for NaN and OverflowError for infinity, as in Python."""

    type = "python_int"
    accepts = dtype.FLOATS
    differentiable = False
    may_raise = True

    @classmethod
    def result_dtype(cls, compute: str, attrs: dict[str, Any]) -> str:
        return "int64"

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        value = int(x.item())
        if not -LIMIT < value < LIMIT:
            raise IntegerRangeError(
                f"int() of a tensor gives a number beyond 64 bits: {x.item():g}", hint="keep it a float, or a tensor of floats"
            )
        return np.asarray(value)

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        k.fail_if(~in_range(n.cast(x, "float64")))
        return n.cast(x, "int64")


@register
class FittedInt(Unary):
    """A Python int in the integer dtype `out_dtype` of the tensor that it meets, which must have room for it; of a float what is before the
    point."""

    type = "fitted_int"
    attrs = {"out_dtype": DType("int32")}
    dtype_attr = "out_dtype"
    accepts = ("int64", "float64")
    differentiable = False
    may_raise = True

    @classmethod
    def result_dtype(cls, compute: str, attrs: dict[str, Any]) -> str:
        return attrs["out_dtype"]

    @staticmethod
    def array(x: np.ndarray, *, out_dtype: str) -> np.ndarray:
        for value in x.flat:
            require_room(value.item(), out_dtype)
        return x

    @staticmethod
    def scalar(k: Any, x: n.Expr, *, out_dtype: str) -> n.Expr:
        low, high = _limits(out_dtype)
        if dtype.is_float(x.dtype):
            # of 64 bits no float lies between low - 1 and low, and low - 1 is none
            above = x > float(low - 1) if float(low - 1) < low else x >= float(low)
            k.fail_if(~(above & (x < float(high + 1))))  # of NaN no comparison holds
        else:
            k.fail_if((x < k.attr(low)) | (x > k.attr(high)))
        return n.cast(x, out_dtype)


def require_room(value: float, name: str) -> None:
    """An error if an integer dtype does not hold a number, without its fraction.

    Raises:
        DTypeError: it is infinite or NaN.
        IntegerRangeError: it is too large.
    """
    if not math.isfinite(value):
        raise DTypeError(f"{value} cannot be an {name}")
    low, high = _limits(name)
    if not low <= int(value) <= high:
        raise IntegerRangeError(f"{value} is out of range for {name}", hint="cast the tensor it meets to a wider dtype")


@functools.cache
def _limits(name: str) -> tuple[int, int]:
    """The least and the greatest number of an integer dtype."""
    info = np.iinfo(name)
    return int(info.min), int(info.max)


def in_range(x: n.Expr) -> n.Expr:
    """Whether a float64 is a number that int64 holds."""
    return (x > -LIMIT) & (x < LIMIT)


def require_in_range(op: Any, x: Any, y: Any) -> None:
    """IntegerRangeError if the op on Python's ints has a result that is no int64; of floats, what Python raises for their power.

    Raises:
        DTypeError: a power is of another kind than those of other numbers are.
    """
    sign = _SIGNS[op]
    if isinstance(x, float):
        if isinstance(op(x, y), complex):
            raise DTypeError(f"{x} {sign} {y} is a complex number, where others would be floats: only the run knows which")
        return
    if op is operator.lshift and y < 0:
        return  # which raises ValueError, as Python does
    if op is operator.pow and y < 0:
        raise DTypeError(
            f"{x} {sign} {y} is a float, where a power that is not negative would be an int: only the run knows which",
            hint=f"make the base a float: {float(x)} {sign} ...",
        )
    exact = op in (operator.add, operator.sub)
    if op is operator.lshift:
        fits = x == 0 or (y < 64 and -(2**63) <= x << y < 2**63)
    elif op is operator.pow:
        # the power itself may have more digits than there is memory for
        fits = -LIMIT < _float_power(x, y) < LIMIT
    else:
        fits = -(2**63) <= op(x, y) < 2**63 if exact else -LIMIT < float(x) * float(y) < LIMIT
    if not fits:
        raise IntegerRangeError(
            f"a Python int that depends on tensors has left the range of 64 bits: {x} {sign} {y}",
            hint="count in floats (start from 1.0, or use float()), or keep the number small, with a remainder say",
        )


def _float_power(x: int, y: int) -> float:
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(x), np.float64(y)))
