"""The bases of elementwise ops, and the arithmetic ops on two operands.

An elementwise op states `scalar`: its result for one element, as a loop IR expression. Lowering and fusion are built on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..errors import DTypeError
from ..loopir import nodes as n
from .registry import Int, OpDef, TensorType, register


class Elementwise(OpDef):
    """Output element i depends on element i of the (broadcast) inputs only.

    Subclasses give `scalar(k, *elements, **attrs) -> Expr`, the inputs already cast to the dtype that `compute_dtype` names, and
    `reference`. `k.attr(value, dtype)` makes an attribute a run-time argument.
    """

    reusable = True
    accepts: ClassVar[tuple[str, ...]] = dtype.ALL
    """The dtypes of the inputs (after promotion)."""

    scalar: ClassVar[Callable[..., n.Expr]]

    @classmethod
    def compute_dtype(cls, in_dtypes: tuple[str, ...], attrs: dict[str, Any]) -> str:
        """The dtype that the inputs are cast to before `scalar`."""
        result = in_dtypes[0]
        for d in in_dtypes[1:]:
            result = dtype.promote(result, d)
        if result not in cls.accepts:
            raise DTypeError(f"{cls.type} does not take {' and '.join(in_dtypes)}", hint=f"cast to one of {', '.join(cls.accepts)}")
        return result

    @classmethod
    def result_dtype(cls, compute: str, attrs: dict[str, Any]) -> str:
        """The dtype of the output, given the dtype of the computation."""
        return compute

    @classmethod
    def infer(cls, *ins: TensorType, **attrs: Any) -> TensorType:
        compute = cls.compute_dtype(tuple(t.dtype for t in ins), attrs)
        shape = ins[0].shape
        for t in ins[1:]:
            shape = dims.broadcast(shape, t.shape, cls.type)
        return TensorType(cls.result_dtype(compute, attrs), shape)

    @classmethod
    def lower(cls, cx: Any, *values: Any, **attrs: Any) -> None:
        cx.elementwise(cls, values[:-1], values[-1], attrs)


class Unary(Elementwise):
    """One input; Out has its shape."""

    inputs = ("X",)


class Binary(Elementwise):
    """X and Y, broadcast. `axis` is Paddle's 1.x alignment: Y's first axis is X's axis `axis` (-1: NumPy's rule)."""

    inputs = ("X", "Y")
    attrs = {"axis": Int(-1)}

    @classmethod
    def infer(cls, x: TensorType, y: TensorType, *, axis: int) -> TensorType:  # type: ignore[override]
        return super().infer(x, align(x, y, axis), axis=axis)


def align(x: TensorType, y: TensorType, axis: int) -> TensorType:
    """Y's type with trailing axes of size 1 so that its first axis meets X's axis `axis`."""
    if axis == -1 or y.rank >= x.rank:
        return y
    return y.with_shape(y.shape + (1,) * (x.rank - axis - y.rank))


def align_array(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    """The same for arrays."""
    if axis == -1 or y.ndim >= x.ndim:
        return y
    return y.reshape(y.shape + (1,) * (x.ndim - axis - y.ndim))


def promoted(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """The arrays cast to their common dtype."""
    result = arrays[0].dtype.name
    for a in arrays[1:]:
        result = dtype.promote(result, a.dtype.name)
    return tuple(a.astype(result, copy=False) for a in arrays)


@register
class Add(Binary):
    type = "elementwise_add"

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray, *, axis: int) -> np.ndarray:
        x, y = promoted(x, align_array(x, y, axis))
        return x + y

    @staticmethod
    def scalar(k: Any, x: n.Expr, y: n.Expr, *, axis: int) -> n.Expr:
        return x | y if x.dtype == "bool" else x + y

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        x, y = ins
        (dout,) = douts
        return lambda: b.sum_to(dout, x), lambda: unalign(b, b.sum_to(dout, aligned(b, x, y, axis)), y, axis)


def aligned(b: Any, x: Any, y: Any, axis: int) -> Any:
    """Y reshaped as `align` says, as an op."""
    if axis == -1 or len(y.shape) >= len(x.shape):
        return y
    return b.op("unsqueeze2", X=y, axes=list(range(len(y.shape), len(x.shape) - axis)))


def unalign(b: Any, dy: Any, y: Any, axis: int) -> Any:
    """The gradient of an aligned Y back in Y's own shape."""
    if len(dy.shape) == len(y.shape):
        return dy
    return b.op("squeeze2", X=dy, axes=list(range(len(y.shape), len(dy.shape))))
