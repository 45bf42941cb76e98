"""softmax and log_softmax along one axis, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import DTypeError
from ..loopir import nodes as n
from .checked import CheckedOp
from .elementwise import widened_array
from .lanes import Group, Lanes, OfLane, scratch
from .registry import Int, TensorType, register


def float_type(op: str, x: TensorType) -> None:
    if x.dtype not in dtype.FLOATS:
        raise DTypeError(f"{op} takes a floating-point tensor, got {x.dtype}", hint="cast it to float32 first")


def lanes_of(x: np.ndarray) -> np.ndarray:
    """x in the dtype of computation, with at least one axis: a 0-d tensor is a lane of one element."""
    return widened_array(x if x.ndim else x.reshape(1))


def lane_softmax(group: Group, x: Any, out: Any, compute: str) -> tuple[OfLane, OfLane]:
    """Writes the softmax of a group of lanes (not where `out` is None); returns the maximum and the sum of exp(x -
    maximum)."""
    load = lambda i: n.cast(x[i], compute)  # noqa: E731
    top = group.maximum(compute, load)
    exponential = lambda i, lane: n.call("exp", load(i) - top(lane))  # noqa: E731
    if out is None:
        return top, group.total(compute, exponential)
    kept = out.dtype == compute  # the exponentials wait in the output for their sum
    total = group.stored_total(compute, out, exponential) if kept else group.total(compute, exponential)
    inverse = group.of_lane(compute, lambda lane: 1.0 / total(lane))
    group.store(out, lambda i, lane: (out[i] if kept else exponential(i, lane)) * inverse(lane))
    return top, total


class SoftmaxBase(CheckedOp):
    """X → Out, of the same shape."""

    attrs = {"axis": Int(-1)}

    @classmethod
    def infer(cls, x: TensorType, *, axis: int) -> TensorType:
        float_type(cls.title, x)
        dims.normalize_axis(axis, max(x.rank, 1), f"{cls.title}: axis")
        return x

    @classmethod
    def lane_results(cls, group: Group, x: Any, out: Any, compute: str) -> None:
        """Writes the results of a group of lanes."""
        raise NotImplementedError

    @staticmethod
    def by_rows(rank: int, attrs: dict[str, Any]) -> bool:
        """Whether the lanes are rows, so that `lower` takes a chain."""
        return rank > 0 and attrs["axis"] in (-1, rank - 1)

    @classmethod
    def lower(cls, cx: Any, x: Any, out: Any, *, axis: int, chain: Any = None) -> None:
        """`chain` (see `lowering.rows`) is done to each row, too."""
        compute = widened(x.dtype)
        if chain is not None:
            with (
                chain.kernel(cx, [], [], len(x.shape) - 1) as (k, src, _, dst, _, begin, end),
                Lanes(k, dst.shape, -1).groups() as group,
            ):
                begin(group.outer)
                cls.lane_results(group, src, dst, compute)
                end(group.outer)
            return
        with (
            cx.kernel([x], [out, *scratch(cx, x, axis, 3, compute)]) as (k, (src,), (dst, *temps)),
            Lanes(k, src.shape, axis, temps).groups() as group,
        ):
            cls.lane_results(group, src, dst, compute)


@register
class Softmax(SoftmaxBase):
    """Out = exp(X) / sum(exp(X)) along `axis`, computed without overflow. AttributeValueError if the axis is out of
    range.

    y = b.softmax(x, axis=-1)
    """

    type = "softmax"

    @staticmethod
    def reference(x: np.ndarray, *, axis: int) -> np.ndarray:
        lane = x if x.ndim and x.dtype.char != "e" else lanes_of(x)
        e = np.exp(lane - np.maximum.reduce(lane, axis, keepdims=True, initial=-np.inf))
        out = e / np.add.reduce(e, axis, keepdims=True)
        return out if out.dtype is x.dtype and x.ndim else out.reshape(x.shape).astype(x.dtype, copy=False)

    @classmethod
    def lane_results(cls, group: Group, x: Any, out: Any, compute: str) -> None:
        lane_softmax(group, x, out, compute)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return (b.softmax_grad(outs[0], douts[0], axis=axis),)


@register
class LogSoftmax(SoftmaxBase):
    """Out = X - log(sum(exp(X))) along `axis`, computed without overflow.

    y = b.log_softmax(x, axis=-1)
    """

    type = "log_softmax"

    @staticmethod
    def reference(x: np.ndarray, *, axis: int) -> np.ndarray:
        lane = lanes_of(x)
        shifted = lane - lane.max(axis, keepdims=True, initial=-np.inf)
        out = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
        return out.reshape(x.shape).astype(x.dtype, copy=False)

    @classmethod
    def lane_results(cls, group: Group, x: Any, out: Any, compute: str) -> None:
        load = lambda i: n.cast(x[i], compute)  # noqa: E731
        top = group.maximum(compute, load)
        total = group.total(compute, lambda i, lane: n.call("exp", load(i) - top(lane)))
        shift = group.of_lane(compute, lambda lane: n.call("log", total(lane)))
        group.store(out, lambda i, lane: (load(i) - top(lane)) - shift(lane))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return (b.log_softmax_grad(outs[0], douts[0], axis=axis),)


class LaneGrad(CheckedOp):
    """Out and its gradient → the gradient of X."""

    inputs = ("Out", "Out@GRAD")
    outputs = ("X@GRAD",)
    attrs = {"axis": Int(-1)}

    @classmethod
    def infer(cls, y: TensorType, dy: TensorType, *, axis: int) -> TensorType:
        dims.require_same_shape(y.shape, dy.shape, f"{cls.title}: the gradient does not have the shape of the output")
        return y


def axis_sum(b: Any, x: Any, axis: int) -> Any:
    """The sum along one axis, which stays with size 1."""
    return b.op("reduce_sum", X=x, dim=[axis], keep_dim=True) if len(x.shape) else x


@register
class SoftmaxGrad(LaneGrad):
    """dX = (dOut - sum(dOut * Out)) * Out."""

    type = "softmax_grad"

    @staticmethod
    def reference(y: np.ndarray, dy: np.ndarray, *, axis: int) -> np.ndarray:
        out, grad = lanes_of(y), lanes_of(dy)
        dx = (grad - (grad * out).sum(axis, keepdims=True)) * out
        return dx.reshape(y.shape).astype(y.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, y: Any, dy: Any, dx: Any, *, axis: int) -> None:
        compute = widened(y.dtype)
        with (
            cx.kernel([y, dy], [dx, *scratch(cx, y, axis, 1, compute)]) as (k, (out, grad), (dst, *temps)),
            Lanes(k, out.shape, axis, temps).groups() as group,
        ):
            SoftmaxGrad.lane_results(group, out, grad, dst, compute)

    @staticmethod
    def lane_results(group: Group, out: Any, grad: Any, dst: Any, compute: str) -> None:
        """Writes the gradient of a group of lanes, which may take the place of either operand."""
        load = lambda ref, i: n.cast(ref[i], compute)  # noqa: E731
        dot = group.total(compute, lambda i, lane: load(grad, i) * load(out, i))
        group.store(dst, lambda i, lane: (load(grad, i) - dot(lane)) * load(out, i))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        y, dy = ins
        c = douts[0]

        def of_out() -> Any:
            inner = b.sub(dy, axis_sum(b, b.mul(dy, y), axis))
            return b.sub(b.mul(c, inner), b.mul(dy, axis_sum(b, b.mul(c, y), axis)))

        return of_out, lambda: b.softmax_grad(y, c, axis=axis)


@register
class LogSoftmaxGrad(LaneGrad):
    """dX = dOut - exp(Out) * sum(dOut)."""

    type = "log_softmax_grad"

    @staticmethod
    def reference(y: np.ndarray, dy: np.ndarray, *, axis: int) -> np.ndarray:
        out, grad = lanes_of(y), lanes_of(dy)
        return (grad - np.exp(out) * grad.sum(axis, keepdims=True)).reshape(y.shape).astype(y.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, y: Any, dy: Any, dx: Any, *, axis: int) -> None:
        compute = widened(y.dtype)
        with cx.kernel([y, dy], [dx, *scratch(cx, y, axis, 1, compute)]) as (k, (out, grad), (dst, *temps)):
            load = lambda ref, i: n.cast(ref[i], compute)  # noqa: E731
            with Lanes(k, out.shape, axis, temps).groups() as group:
                total = group.total(compute, lambda i, lane: load(grad, i))
                group.store(dst, lambda i, lane: load(grad, i) - n.call("exp", load(out, i)) * total(lane))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        y, dy = ins
        c = douts[0]

        def of_out() -> Any:
            return b.scaled(b.mul(b.mul(c, b.op("exp", X=y)), axis_sum(b, dy, axis)), -1.0)

        return of_out, lambda: b.sub(c, axis_sum(b, b.mul(c, b.op("exp", X=y)), axis))
