"""Reductions over axes: sum, mean, max, min, prod, all, any.

Paddle's attributes: `dim` lists the axes (negative ones count from the end; empty means all), `keep_dim` keeps them with size 1,
`reduce_all` means all axes whatever `dim` says. A reduction over all axes gives a 0-d tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError
from ..loopir import nodes as n
from . import folding
from .arithmetic import NUMBERS, larger, smaller
from .checked import remembered
from .registry import Bool, DType, Ints, TensorType, register


def axes_of(rank: int, dim: Sequence[int], reduce_all: bool) -> tuple[int, ...]:
    """The reduced axes in ascending order."""
    if reduce_all or not dim or (rank == 0 and all(d in (0, -1) for d in dim)):
        return tuple(range(rank))
    axes = [dims.normalize_axis(d, rank) for d in dim]
    if len(set(axes)) != len(axes):
        raise AttributeValueError(f"an axis is named twice: {list(dim)}")
    return tuple(sorted(axes))


def reduced_shape(shape: Sequence[dims.Dim], axes: Sequence[int], keep: bool) -> dims.Shape:
    if keep:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)


def with_axes(b: Any, v: Any, rank: int, axes: Sequence[int], keep: bool) -> Any:
    """A result of a reduction so shaped that it broadcasts against the input: with the reduced axes in it as size 1."""
    if keep or list(axes) == list(range(len(axes))) or len(v.shape) == rank:
        return v  # leading axes need not be there
    return b.op("unsqueeze2", X=v, axes=list(axes))


@remembered
def _plan(op: type[Reduction], x: np.dtype, rank: int, dim: tuple[int, ...] | None,
          out_dtype: str | None) -> tuple[np.dtype, np.dtype, tuple[int, ...]]:  # fmt: skip
    """The dtypes of the result and of the computation, and the axes; `dim` is None for all."""
    name = x.name
    result = op.result_dtype(name, out_dtype)
    return dtype.to_numpy(result), dtype.to_numpy(widened(out_dtype or name)), axes_of(rank, dim or (), dim is None)


class Reduction(folding.Folding):
    """Base: subclasses give `array(x, axes, keep)` on NumPy arrays and `how`, the fold of the native code."""

    attrs = {"dim": Ints([0]), "keep_dim": Bool(False), "reduce_all": Bool(False), "in_dtype": DType(None), "out_dtype": DType(None)}
    accepts: ClassVar[tuple[str, ...]] = dtype.ALL
    needs_elements: ClassVar[bool] = False
    """Has no value for no elements."""

    array: ClassVar[Callable[..., Any]]

    @classmethod
    def result_dtype(cls, name: str, out_dtype: str | None) -> str:
        if name not in cls.accepts:
            raise DTypeError(f"{cls.title} does not take {name}", hint=f"cast to one of {', '.join(cls.accepts)}")
        return out_dtype or name

    @classmethod
    def infer(cls, x: TensorType, *, dim: list[int], keep_dim: bool, reduce_all: bool, in_dtype: str | None = None,
              out_dtype: str | None = None) -> TensorType:  # fmt: skip
        axes = axes_of(x.rank, dim, reduce_all)
        cls.check_count([x.shape[a] for a in axes])
        return TensorType(cls.result_dtype(x.dtype, out_dtype), reduced_shape(x.shape, axes, keep_dim))

    @classmethod
    def check_count(cls, sizes: Sequence[dims.Dim]) -> None:
        if cls.needs_elements:
            dims.require_at_least(dims.product(sizes), 1, f"{cls.title} of no elements has no value: count")

    @classmethod
    def reference(cls, x: np.ndarray, **attrs: Any) -> np.ndarray:
        return cls.evaluate((x,), attrs)

    @classmethod
    def evaluate(cls, ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> np.ndarray:
        (x,) = ins
        dim = None if attrs["reduce_all"] else tuple(attrs["dim"])
        result, wide, axes = _plan(cls, x.dtype, x.ndim, dim, attrs.get("out_dtype"))
        if cls.needs_elements:
            cls.check_count([x.shape[a] for a in axes])
        if x.dtype is not wide:
            x = x.astype(wide)
        out = np.asarray(cls.array(x, axes, attrs["keep_dim"]))
        return out if out.dtype is result else out.astype(result)

    @classmethod
    def sides(cls, shape: Sequence[Any], others: Sequence[Any], attrs: dict[str, Any]) -> list[tuple[Any, Any]]:
        return folding.sides_of(shape, axes_of(len(shape), attrs["dim"], attrs["reduce_all"]))


@register
class ReduceSum(Reduction):
    """The sum. Bools and integers of less than 64 bits are summed in int64."""

    type = "reduce_sum"

    @classmethod
    def result_dtype(cls, name: str, out_dtype: str | None) -> str:
        return out_dtype or (name if dtype.is_float(name) else "int64")

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        wide = x if x.dtype.kind == "f" else x.astype("int64", copy=False)
        return np.add.reduce(wide, axis=axes, keepdims=keep)  # type: ignore[call-overload]

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        return folding.Fold(n.cast(0, name) if name != "bool" else False, plus if name != "bool" else _or, free="+")

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, dim: list[int], keep_dim: bool, reduce_all: bool, **_: Any) -> tuple:
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            dout = b.cast_to(douts[0], x.dtype)
            return b.expand_to(with_axes(b, dout, rank, axes_of(rank, dim, reduce_all), keep_dim), x)

        return (of_x,)


def plus(acc: n.Expr, value: n.Expr) -> n.Expr:
    return acc + value


def _or(acc: n.Expr, value: n.Expr) -> n.Expr:
    return acc | value


def _and(acc: n.Expr, value: n.Expr) -> n.Expr:
    return acc & value


@register
class ReduceMean(Reduction):
    """The mean of floats; NaN of no elements."""

    type = "reduce_mean"
    accepts = dtype.FLOATS

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        count = math.prod([x.shape[a] for a in axes])
        return np.add.reduce(x, axis=axes, keepdims=keep) / x.dtype.type(count)  # type: ignore[call-overload]

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        size = k.let(n.cast(count, name))
        return folding.Fold(n.cast(0.0, name), plus, finish=lambda acc, o: acc / size, free="+")

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, dim: list[int], keep_dim: bool, reduce_all: bool, **_: Any) -> tuple:
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            axes = axes_of(rank, dim, reduce_all)
            dout = b.cast_to(douts[0], x.dtype)
            counts = [x.shape[a] for a in axes]
            if -1 not in counts:
                share = b.scaled(dout, 1.0 / max(math.prod(counts), 1))
            else:
                count = b.div(b.cast_to(b.size(x), x.dtype), b.cast_to(b.size(douts[0]), x.dtype))
                share = b.div(dout, count)
            return b.expand_to(with_axes(b, share, rank, axes, keep_dim), x)

        return (of_x,)


@register
class Mean(Reduction):
    """The mean over all axes (Paddle's op of 1.x)."""

    type = "mean"
    attrs = {}

    @staticmethod
    def infer(x: TensorType) -> TensorType:  # type: ignore[override]
        return ReduceMean.infer(x, dim=[], keep_dim=False, reduce_all=True)

    @classmethod
    def evaluate(cls, ins: tuple[np.ndarray, ...], attrs: dict[str, Any]) -> np.ndarray:
        return ReduceMean.evaluate(ins, {"dim": [], "keep_dim": False, "reduce_all": True})

    @classmethod
    def sides(cls, shape: Sequence[Any], others: Sequence[Any], attrs: dict[str, Any]) -> list[tuple[Any, Any]]:
        return folding.sides_of(shape, range(len(shape)))

    how = ReduceMean.how

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return ReduceMean.grad(b, ins, outs, douts, dim=[], keep_dim=False, reduce_all=True)


class _Extreme(Reduction):
    """NaN if an element is NaN. Every element that equals the result gets the whole gradient, as in Paddle."""

    needs_elements = True

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, dim: list[int], keep_dim: bool, reduce_all: bool, **_: Any) -> tuple:
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            axes = axes_of(rank, dim, reduce_all)
            out = with_axes(b, outs[0], rank, axes, keep_dim)
            dout = with_axes(b, b.cast_to(douts[0], x.dtype), rank, axes, keep_dim)
            return b.mul(b.cast_to(b.equal(x, out), x.dtype), dout)

        return (of_x,)


def largest(acc: n.Expr, value: n.Expr) -> n.Expr:
    """The maximum so far; NaN if an element is NaN."""
    return n.call("maximum", acc, value) if dtype.is_float(acc.dtype) else larger(acc, value)


def smallest(acc: n.Expr, value: n.Expr) -> n.Expr:
    return n.call("minimum", acc, value) if dtype.is_float(acc.dtype) else smaller(acc, value)


def lowest(name: str) -> n.Expr:
    if name == "bool":
        return n.Const(False, "bool")
    return n.Const(-math.inf if dtype.is_float(name) else int(np.iinfo(name).min), name)


def highest(name: str) -> n.Expr:
    if name == "bool":
        return n.Const(True, "bool")
    return n.Const(math.inf if dtype.is_float(name) else int(np.iinfo(name).max), name)


@register
class ReduceMax(_Extreme):
    type = "reduce_max"

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        return x.max(axis=axes, keepdims=keep)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        return folding.Fold(lowest(name), largest)


@register
class ReduceMin(_Extreme):
    type = "reduce_min"

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        return x.min(axis=axes, keepdims=keep)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        return folding.Fold(highest(name), smallest)


def shared(of_all: Callable[..., tuple]) -> Callable[..., tuple]:
    """The gradient of an extreme where the elements that equal the result share it."""

    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, dim: list[int], keep_dim: bool, reduce_all: bool, **others: Any) -> tuple:
        x, rank = ins[0], len(ins[0].shape)
        (whole,) = of_all(b, ins, outs, douts, dim=dim, keep_dim=keep_dim, reduce_all=reduce_all, **others)

        def of_x() -> Any:
            axes = axes_of(rank, dim, reduce_all)
            equal = b.cast_to(b.equal(x, with_axes(b, outs[0], rank, axes, keep_dim)), x.dtype)
            return b.div(whole(), b.op("reduce_sum", X=equal, dim=list(axes), keep_dim=True, reduce_all=False))

        return (of_x,)

    return grad


@register
class ReduceAmax(ReduceMax):
    """`reduce_max` whose elements that equal the result share the gradient."""

    type = "reduce_amax"
    grad = staticmethod(shared(ReduceMax.grad))


@register
class ReduceAmin(ReduceMin):
    """`reduce_min` whose elements that equal the result share the gradient."""

    type = "reduce_amin"
    grad = staticmethod(shared(ReduceMin.grad))


@register
class ReduceProd(Reduction):
    """The product. Its gradient divides by X, as in Paddle, so it is NaN where X is 0."""

    type = "reduce_prod"
    accepts = NUMBERS

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        return x.prod(axis=axes, keepdims=keep, dtype=x.dtype)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        return folding.Fold(n.cast(1, name), lambda acc, value: acc * value, free="*")

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, dim: list[int], keep_dim: bool, reduce_all: bool, **_: Any) -> tuple:
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            total = b.mul(b.cast_to(douts[0], x.dtype), b.cast_to(outs[0], x.dtype))
            return b.div(with_axes(b, total, rank, axes_of(rank, dim, reduce_all), keep_dim), x)

        return (of_x,)


class _Quantifier(Reduction):
    """Of bools."""

    accepts = ("bool",)
    differentiable = False

    @classmethod
    def result_dtype(cls, name: str, out_dtype: str | None) -> str:
        return super().result_dtype(name, None)


@register
class ReduceAll(_Quantifier):
    """Whether all are true; True of no elements."""

    type = "reduce_all"

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> Any:
        return x.all(axis=axes, keepdims=keep)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        return folding.Fold(n.Const(True, "bool"), _and)


@register
class ReduceAny(_Quantifier):
    """Whether one is true; False of no elements."""

    type = "reduce_any"

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> Any:
        return x.any(axis=axes, keepdims=keep)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        return folding.Fold(n.Const(False, "bool"), _or)
