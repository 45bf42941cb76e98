"""Reductions over axes: sum, mean, max, min, prod, all, any, logsumexp, p_norm.

Paddle's attributes: `dim` lists the axes (negative ones count from the end; empty means all), `keep_dim` keeps them with size 1,
`reduce_all` means all axes whatever `dim` says. A reduction over all axes gives a 0-d tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..errors import AttributeValueError, DTypeError
from ..loopir import nodes as n
from . import folding
from .arithmetic import NUMBERS, larger, smaller
from .elementwise import widened
from .registry import Bool, DType, Float, Int, Ints, OpDef, TensorType, register


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


class Reduction(OpDef):
    """Base: subclasses give `array(x, axes, keep)` on NumPy arrays and `how(k, count, dtype)`, the fold of the native code."""

    attrs = {"dim": Ints([0]), "keep_dim": Bool(False), "reduce_all": Bool(False), "in_dtype": DType(None), "out_dtype": DType(None)}
    accepts: ClassVar[tuple[str, ...]] = dtype.ALL
    needs_elements: ClassVar[bool] = False
    """Has no value for no elements."""

    array: ClassVar[Callable[..., Any]]
    how: ClassVar[Callable[..., folding.Fold]]

    @classmethod
    def result_dtype(cls, name: str, out_dtype: str | None) -> str:
        if name not in cls.accepts:
            raise DTypeError(f"{cls.type} does not take {name}", hint=f"cast to one of {', '.join(cls.accepts)}")
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
            dims.require_at_least(dims.product(sizes), 1, f"{cls.type} of no elements has no value: count")

    @classmethod
    def reference(cls, x: np.ndarray, *, dim: list[int], keep_dim: bool, reduce_all: bool, in_dtype: str | None = None,
                  out_dtype: str | None = None) -> np.ndarray:  # fmt: skip
        result = cls.result_dtype(x.dtype.name, out_dtype)
        axes = axes_of(x.ndim, dim, reduce_all)
        cls.check_count([x.shape[a] for a in axes])
        if out_dtype is not None:
            x = x.astype(out_dtype, copy=False)
        return np.asarray(cls.array(x.astype(widened(x.dtype.name), copy=False), axes, keep_dim)).astype(result, copy=False)

    @classmethod
    def lower(cls, cx: Any, x: Any, out: Any, *, dim: list[int], keep_dim: bool, reduce_all: bool, **_: Any) -> None:
        axes = axes_of(len(x.shape), dim, reduce_all)
        with cx.kernel([x], [out]) as (k, (x_ref,), (o,)):
            # floats of 16 bits are folded in 32
            accumulator = widened(o.dtype)
            count = folding.product(x_ref.shape[a] for a in axes)
            how = cls.how(k, n.cast(n.as_expr(count, n.INDEX), accumulator) if accumulator != "bool" else None, accumulator)
            folding.fold(k, x_ref, o, folding.split_axes(k, x_ref.shape, axes), how, accumulator)


@register
class ReduceSum(Reduction):
    """The sum. Bools and integers of less than 64 bits are summed in int64."""

    type = "reduce_sum"

    @classmethod
    def result_dtype(cls, name: str, out_dtype: str | None) -> str:
        return out_dtype or (name if dtype.is_float(name) else "int64")

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        wide = x if dtype.is_float(x.dtype.name) else x.astype("int64", copy=False)
        return wide.sum(axis=axes, keepdims=keep)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str) -> folding.Fold:
        return folding.Fold(n.cast(0, name) if name != "bool" else False, _add if name != "bool" else _or, additive=True)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, dim: list[int], keep_dim: bool, reduce_all: bool, **_: Any) -> tuple:
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            dout = b.cast_to(douts[0], x.dtype)
            return b.expand_to(with_axes(b, dout, rank, axes_of(rank, dim, reduce_all), keep_dim), x)

        return (of_x,)


def _add(acc: n.Expr, value: n.Expr) -> n.Expr:
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
        count = math.prod(x.shape[a] for a in axes)
        return x.sum(axis=axes, keepdims=keep) / x.dtype.type(count)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str) -> folding.Fold:
        size = k.let(count)
        return folding.Fold(n.cast(0.0, name), _add, finish=lambda acc, o: acc / size, additive=True)

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

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:  # type: ignore[override]
        return ReduceMean.reference(x, dim=[], keep_dim=False, reduce_all=True)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any) -> None:  # type: ignore[override]
        ReduceMean.lower(cx, x, out, dim=[], keep_dim=False, reduce_all=True)

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


def _lowest(name: str) -> n.Expr:
    if name == "bool":
        return n.Const(False, "bool")
    return n.Const(-math.inf if dtype.is_float(name) else int(np.iinfo(name).min), name)


def _highest(name: str) -> n.Expr:
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
    def how(k: Any, count: n.Expr, name: str) -> folding.Fold:
        return folding.Fold(_lowest(name), larger)


@register
class ReduceMin(_Extreme):
    type = "reduce_min"

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        return x.min(axis=axes, keepdims=keep)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str) -> folding.Fold:
        return folding.Fold(_highest(name), smaller)


@register
class ReduceProd(Reduction):
    """The product. Its gradient divides by X, as in Paddle, so it is NaN where X is 0."""

    type = "reduce_prod"
    accepts = NUMBERS

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
        return x.prod(axis=axes, keepdims=keep, dtype=x.dtype)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str) -> folding.Fold:
        return folding.Fold(n.cast(1, name), lambda acc, value: acc * value)

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
    def how(k: Any, count: n.Expr, name: str) -> folding.Fold:
        return folding.Fold(n.Const(True, "bool"), _and)


@register
class ReduceAny(_Quantifier):
    """Whether one is true; False of no elements."""

    type = "reduce_any"

    @staticmethod
    def array(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> Any:
        return x.any(axis=axes, keepdims=keep)

    @staticmethod
    def how(k: Any, count: n.Expr, name: str) -> folding.Fold:
        return folding.Fold(n.Const(False, "bool"), _or)


@register
class LogSumExp(OpDef):
    """log(sum(exp(X))) over axes, without overflow."""

    type = "logsumexp"
    attrs = {"axis": Ints([0]), "keepdim": Bool(False), "reduce_all": Bool(False)}

    @staticmethod
    def infer(x: TensorType, *, axis: list[int], keepdim: bool, reduce_all: bool) -> TensorType:
        if not dtype.is_float(x.dtype):
            raise DTypeError(f"logsumexp takes floats, got {x.dtype}")
        axes = axes_of(x.rank, axis, reduce_all)
        dims.require_at_least(dims.product([x.shape[a] for a in axes]), 1, "logsumexp of no elements has no value: count")
        return TensorType(x.dtype, reduced_shape(x.shape, axes, keepdim))

    @staticmethod
    def reference(x: np.ndarray, *, axis: list[int], keepdim: bool, reduce_all: bool) -> np.ndarray:
        LogSumExp.infer(TensorType.of(x), axis=axis, keepdim=keepdim, reduce_all=reduce_all)
        axes = axes_of(x.ndim, axis, reduce_all)
        wide = x.astype(widened(x.dtype.name), copy=False)
        top = wide.max(axis=axes, keepdims=True)
        base = np.where(np.isfinite(top), top, 0)
        out = np.log(np.exp(wide - base).sum(axis=axes, keepdims=True)) + base
        return (out if keepdim else out.squeeze(axes)).astype(x.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, axis: list[int], keepdim: bool, reduce_all: bool) -> None:
        axes = axes_of(len(x.shape), axis, reduce_all)
        wide = widened(x.dtype)
        top = cx.temp(wide, 1)
        with cx.kernel([x], [top], shapes=False) as (k, (x_ref,), (t,)):
            parts = folding.split_axes(k, x_ref.shape, axes)
            k.set_shape(t, [folding.product(a.kept for a in parts)])
            finite = lambda acc, o: n.select(n.call("isfinite", acc), acc, 0.0)  # noqa: E731
            folding.fold(k, x_ref, t, parts, folding.Fold(_lowest(wide), larger, finish=finite), wide)
        with cx.kernel([x, top], [out]) as (k, (x_ref, t), (o,)):
            how = folding.Fold(n.cast(0.0, wide), _add, load=lambda value, at: n.call("exp", value - t[at]),
                               finish=lambda acc, at: n.call("log", acc) + t[at], additive=True)  # fmt: skip
            folding.fold(k, x_ref, o, folding.split_axes(k, x_ref.shape, axes), how, wide)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: list[int], keepdim: bool, reduce_all: bool) -> tuple:
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            axes = axes_of(rank, axis, reduce_all)
            shares = b.exp(b.sub(x, with_axes(b, outs[0], rank, axes, keepdim)))
            return b.mul(shares, with_axes(b, douts[0], rank, axes, keepdim))

        return (of_x,)


@register
class PNorm(OpDef):
    """The p-norm along an axis, or of all elements (`asvector`). porder may be 0 (how many are not 0), inf and -inf.

    `epsilon` keeps the gradient finite at 0.
    """

    type = "p_norm"
    attrs = {"porder": Float(2.0), "axis": Int(-1), "epsilon": Float(1e-12), "keepdim": Bool(False), "asvector": Bool(False)}

    @staticmethod
    def infer(x: TensorType, *, porder: float, axis: int, epsilon: float, keepdim: bool, asvector: bool) -> TensorType:
        if not dtype.is_float(x.dtype):
            raise DTypeError(f"p_norm takes floats, got {x.dtype}")
        axes = axes_of(x.rank, [axis], asvector)
        if math.isinf(porder):
            dims.require_at_least(dims.product([x.shape[a] for a in axes]), 1, "an infinite norm of no elements has no value: count")
        return TensorType(x.dtype, reduced_shape(x.shape, axes, keepdim))

    @staticmethod
    def reference(x: np.ndarray, *, porder: float, axis: int, epsilon: float, keepdim: bool, asvector: bool) -> np.ndarray:
        PNorm.infer(TensorType.of(x), porder=porder, axis=axis, epsilon=epsilon, keepdim=keepdim, asvector=asvector)
        axes = axes_of(x.ndim, [axis], asvector)
        size = np.abs(x.astype(widened(x.dtype.name), copy=False))
        if porder == math.inf:
            out = size.max(axis=axes, keepdims=keepdim)
        elif porder == -math.inf:
            out = size.min(axis=axes, keepdims=keepdim)
        elif porder == 0:
            out = (size != 0).sum(axis=axes, keepdims=keepdim)
        elif porder == 2:
            out = np.sqrt((size * size).sum(axis=axes, keepdims=keepdim))
        else:
            p = size.dtype.type(porder)
            out = np.power(np.power(size, p).sum(axis=axes, keepdims=keepdim), 1 / p)
        return np.asarray(out).astype(x.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, porder: float, axis: int, epsilon: float, keepdim: bool, asvector: bool) -> None:
        wide = widened(x.dtype)
        size = lambda value: n.call("abs", value)  # noqa: E731
        with cx.kernel([x], [out]) as (k, (x_ref,), (o,)):
            zero = n.cast(0.0, wide)
            if porder == math.inf:
                how = folding.Fold(_lowest(wide), larger, load=lambda value, at: size(value))
            elif porder == -math.inf:
                how = folding.Fold(_highest(wide), smaller, load=lambda value, at: size(value))
            elif porder == 0:
                how = folding.Fold(zero, _add, load=lambda value, at: n.cast(value != 0.0, wide), additive=True)
            elif porder == 1:
                how = folding.Fold(zero, _add, load=lambda value, at: size(value), additive=True)
            elif porder == 2:
                how = folding.Fold(zero, _add, load=lambda value, at: value * value, finish=lambda acc, at: n.call("sqrt", acc),
                                   additive=True)  # fmt: skip
            else:
                p = k.attr(porder, wide)
                how = folding.Fold(zero, _add, load=lambda value, at: n.call("pow", size(value), p),
                                   finish=lambda acc, at: n.call("pow", acc, 1.0 / p), additive=True)  # fmt: skip
            axes = axes_of(len(x.shape), [axis], asvector)
            folding.fold(k, x_ref, o, folding.split_axes(k, x_ref.shape, axes), how, wide)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, porder: float, axis: int, epsilon: float, keepdim: bool,
             asvector: bool) -> tuple:  # fmt: skip
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            axes = axes_of(rank, [axis], asvector)
            out, dout = (with_axes(b, v, rank, axes, keepdim) for v in (outs[0], douts[0]))
            if porder == 0:
                return b.zeros_like(x)
            if math.isinf(porder):
                return b.mul(b.mul(b.cast_to(b.equal(b.abs(x), out), x.dtype), b.sign(x)), dout)
            if porder == 1:
                return b.mul(b.sign(x), dout)
            if porder == 2:
                return b.mul(x, b.div(dout, b.scaled(out, 1.0, epsilon)))
            power = b.mul(b.sign(x), b.op("pow", X=b.abs(x), factor=porder - 1.0))
            return b.mul(power, b.div(dout, b.scaled(b.op("pow", X=out, factor=porder - 1.0), 1.0, epsilon)))

        return (of_x,)
