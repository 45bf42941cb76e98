"""Comparisons, logic, bits, `where`. None but `where` has a gradient."""

from __future__ import annotations

import operator
from typing import Any, ClassVar

import numpy as np

from .. import dtype
from ..errors import AttributeValueError, DTypeError
from ..loopir import nodes as n
from .elementwise import Binary, Elementwise, Unary
from .python_int import Counting
from .registry import Bool, Int, TensorType, register

BITS = ("bool", *dtype.INTS)


class _Comparison(Binary):
    """A bool for each pair of elements; a comparison with NaN is False, but for `not_equal`."""

    attrs = {"axis": Int(-1), "force_cpu": Bool(False)}
    differentiable = False
    compare: ClassVar[Any]
    """Python's operator: it serves arrays and expressions alike."""

    @classmethod
    def infer(cls, x: TensorType, y: TensorType, *, axis: int, force_cpu: bool = False) -> TensorType:  # type: ignore[override]
        return super().infer(x, y, axis=axis)

    @classmethod
    def result_dtype(cls, compute: str, attrs: dict[str, Any]) -> str:
        return "bool"

    @classmethod
    def array(cls, x: np.ndarray, y: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return cls.compare(x, y)

    @classmethod
    def scalar(cls, k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:  # type: ignore[override]
        return cls.compare(x, y)


@register
class Equal(_Comparison):
    type = "equal"
    compare = operator.eq


@register
class NotEqual(_Comparison):
    type = "not_equal"
    compare = operator.ne


@register
class LessThan(_Comparison):
    type = "less_than"
    compare = operator.lt


@register
class LessEqual(_Comparison):
    type = "less_equal"
    compare = operator.le


@register
class GreaterThan(_Comparison):
    type = "greater_than"
    compare = operator.gt


@register
class GreaterEqual(_Comparison):
    type = "greater_equal"
    compare = operator.ge


class _Truth:
    """Operands of any dtype count as `!= 0`."""

    @classmethod
    def compute_dtype(cls, in_dtypes: tuple[str, ...], attrs: dict[str, Any]) -> str:
        return "bool"


class _Logical(_Truth, Binary):
    """A bool for each pair; both operands are evaluated (short circuit is control flow)."""

    differentiable = False
    combine: ClassVar[Any]

    @classmethod
    def array(cls, x: np.ndarray, y: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return cls.combine(x, y)

    @classmethod
    def scalar(cls, k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:  # type: ignore[override]
        return cls.combine(x, y)


@register
class LogicalAnd(_Logical):
    type = "logical_and"
    combine = operator.and_


@register
class LogicalOr(_Logical):
    type = "logical_or"
    combine = operator.or_


@register
class LogicalXor(_Logical):
    type = "logical_xor"
    combine = operator.xor


@register
class LogicalNot(_Truth, Unary):
    type = "logical_not"
    differentiable = False

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return ~x

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return ~x


class _Bitwise(Binary):
    """On the bits of integers, or on bools."""

    accepts = BITS
    differentiable = False
    combine: ClassVar[Any]

    @classmethod
    def array(cls, x: np.ndarray, y: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return cls.combine(x, y)

    @classmethod
    def scalar(cls, k: Any, x: n.Expr, y: n.Expr, **_: Any) -> n.Expr:  # type: ignore[override]
        return cls.combine(x, y)


@register
class BitwiseAnd(_Bitwise):
    type = "bitwise_and"
    combine = operator.and_


@register
class BitwiseOr(_Bitwise):
    type = "bitwise_or"
    combine = operator.or_


@register
class BitwiseXor(_Bitwise):
    type = "bitwise_xor"
    combine = operator.xor


@register
class BitwiseNot(Unary):
    type = "bitwise_not"
    accepts = BITS
    differentiable = False

    @staticmethod
    def array(x: np.ndarray) -> np.ndarray:
        return ~x

    @staticmethod
    def scalar(k: Any, x: n.Expr) -> n.Expr:
        return ~x


class _Shift(Binary):
    """A negative count raises ValueError, as in Python; a count of the dtype's width or more shifts everything out."""

    accepts = dtype.INTS
    differentiable = False
    may_raise = True
    left: ClassVar[bool]

    @classmethod
    def array(cls, x: np.ndarray, y: np.ndarray) -> np.ndarray:  # type: ignore[override]
        if np.any(y < 0):
            raise AttributeValueError("negative shift count")
        return np.left_shift(x, y) if cls.left else np.right_shift(x, y)

    @classmethod
    def scalar(cls, k: Any, x: n.Expr, y: n.Expr, *, checked: bool = False, **_: Any) -> n.Expr:  # type: ignore[override]
        k.fail_if(y < 0)
        width = 8 * dtype.size(x.dtype)
        # the machine takes the count modulo the width
        count = n.select(y < width, y, width - 1)
        if cls.left:
            if checked:
                k.fail_if((x != 0) & ((y >= width) | (((x << count) >> count) != x)))
            return n.select(y < width, x << count, 0)
        return x >> count if x.dtype != "uint8" else n.select(y < width, x >> count, 0)


@register
class LeftShift(_Shift, Counting):
    type = "bitwise_left_shift"
    python = operator.lshift
    left = True


@register
class RightShift(_Shift):
    """Keeps the sign."""

    type = "bitwise_right_shift"
    left = False


@register
class ReplacedValue(Elementwise):
    """Value, in the place of X, which has the same shape and dtype: the gradient of the result is that of X. It is what a variable is
    after its value was set apart from the computation (`set_value`, in-place functions under `no_grad`)."""

    type = "replaced_value"
    inputs = ("X", "Value")

    @staticmethod
    def array(x: np.ndarray, value: np.ndarray) -> np.ndarray:
        return value

    @staticmethod
    def scalar(k: Any, x: n.Expr, value: n.Expr) -> n.Expr:
        return value

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return (lambda: douts[0]), None


@register
class Where(Elementwise):
    """X where the Condition holds, else Y; the three broadcast."""

    type = "where"
    inputs = ("Condition", "X", "Y")
    as_they_are = 1

    @classmethod
    def compute_dtype(cls, in_dtypes: tuple[str, ...], attrs: dict[str, Any]) -> str:
        if in_dtypes[0] != "bool":
            raise DTypeError(f"where takes a bool condition, got {in_dtypes[0]}")
        return dtype.promote(*in_dtypes[1:])

    @staticmethod
    def array(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(condition, x, y)

    @staticmethod
    def scalar(k: Any, condition: n.Expr, x: n.Expr, y: n.Expr) -> n.Expr:
        # the condition comes in the dtype of the result, like every operand
        return n.select(condition if condition.dtype == "bool" else condition != 0, x, y)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        condition, x, y = ins
        (dout,) = douts

        def of_x() -> Any:
            masked = b.op("where", Condition=condition, X=dout, Y=b.constant(0.0, dout.dtype))
            return b.cast_to(b.sum_to(masked, x), x.dtype)

        def of_y() -> Any:
            masked = b.op("where", Condition=condition, X=b.constant(0.0, dout.dtype), Y=dout)
            return b.cast_to(b.sum_to(masked, y), y.dtype)

        return None, of_x, of_y
