"""Reductions that are more than one fold: `logsumexp` and `p_norm`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import DTypeError
from ..loopir import nodes as n
from . import folding
from .checked import CheckedOp
from .elementwise import widened_array
from .reduce import axes_of, highest, largest, lowest, plus, reduced_shape, smallest, with_axes
from .registry import Bool, Float, Int, Ints, TensorType, register


@register
class LogSumExp(CheckedOp):
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
        axes = axes_of(x.ndim, axis, reduce_all)
        wide = widened_array(x)
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
            folding.fold(k, folding.Operands([x_ref]), t, parts, folding.Fold(lowest(wide), largest, finish=finite), wide)
        with cx.kernel([x, top], [out]) as (k, (x_ref, t), (o,)):
            how = folding.Fold(n.cast(0.0, wide), plus, load=lambda value, at: n.call("exp", value - t[at]),
                               finish=lambda acc, at: n.call("log", acc) + t[at], free="+")  # fmt: skip
            folding.fold(k, folding.Operands([x_ref]), o, folding.split_axes(k, x_ref.shape, axes), how, wide)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: list[int], keepdim: bool, reduce_all: bool) -> tuple:
        x, rank = ins[0], len(ins[0].shape)

        def of_x() -> Any:
            axes = axes_of(rank, axis, reduce_all)
            shares = b.exp(b.sub(x, with_axes(b, outs[0], rank, axes, keepdim)))
            return b.mul(shares, with_axes(b, douts[0], rank, axes, keepdim))

        return (of_x,)


@register
class PNorm(folding.Folding, CheckedOp):
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
        axes = axes_of(x.ndim, [axis], asvector)
        size = np.abs(widened_array(x))
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
    def sides(shape: Sequence[Any], others: Sequence[Any], attrs: dict[str, Any]) -> list[tuple[Any, Any]]:
        return folding.sides_of(shape, axes_of(len(shape), [attrs["axis"]], attrs["asvector"]))

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        size = lambda value: n.call("abs", value)  # noqa: E731
        porder, zero = attrs["porder"], n.cast(0.0, name)
        if porder == math.inf:
            return folding.Fold(lowest(name), largest, load=lambda value, at: size(value))
        if porder == -math.inf:
            return folding.Fold(highest(name), smallest, load=lambda value, at: size(value))
        if porder == 0:
            return folding.Fold(zero, plus, load=lambda value, at: n.cast(value != 0.0, name), free="+")
        if porder == 1:
            return folding.Fold(zero, plus, load=lambda value, at: size(value), free="+")
        if porder == 2:
            return folding.Fold(zero, plus, load=lambda value, at: value * value, finish=lambda acc, at: n.call("sqrt", acc), free="+")
        p = k.attr(porder, name)
        return folding.Fold(zero, plus, load=lambda value, at: n.call("pow", size(value), p),
                            finish=lambda acc, at: n.call("pow", acc, 1.0 / p), free="+")  # fmt: skip

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
