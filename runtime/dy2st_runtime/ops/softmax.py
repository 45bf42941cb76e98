"""softmax and log_softmax along one axis, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dims, dtype
from ..errors import DTypeError
from ..loopir import nodes as n
from . import images
from .checked import CheckedOp
from .registry import Int, TensorType, register


def float_type(op: str, x: TensorType) -> None:
    if x.dtype not in dtype.FLOATS:
        raise DTypeError(f"{op} takes a floating-point tensor, got {x.dtype}", hint="cast it to float32 first")


def lanes_of(x: np.ndarray) -> np.ndarray:
    """x in the dtype of computation, with at least one axis: a 0-d tensor is a lane of one element."""
    return np.atleast_1d(x).astype(images.compute_dtype(x.dtype.name), copy=False)


class Lanes:
    """A tensor in a kernel seen as [outer, size, inner] around one axis; the elements of a lane differ in that axis
    only."""

    def __init__(self, k: Any, shape: Any, axis: int):
        self.k = k
        axis = axis if axis >= 0 else axis + len(shape)
        self.outer, self.size = k.let(dims.product(shape[:axis])), shape[axis] if shape else 1
        inner = dims.product(shape[axis + 1 :])
        self.inner = inner if isinstance(inner, int) else k.let(inner)

    def each(self, body: Callable[[Any, Any], None]) -> None:
        """body(lane, start): lane counts them in the order of a tensor that has size 1 along the axis."""
        k = self.k
        with k.parallel(n.as_expr(self.outer) * self.inner) as lane:
            body(lane, self.start(lane))

    def start(self, lane: Any) -> n.Expr:
        """The flat index of a lane's first element."""
        return self.k.let(lane // self.inner * self.size * self.inner + lane % self.inner)

    def reduce(self, initial: float, name: str, step: Callable[[n.Expr, Any], n.Expr], start: Any) -> n.Expr:
        """Folds step(acc, index) over the lane that starts there."""
        acc = self.k.var(initial, name)
        with self.k.loop(self.size) as j:
            acc.set(step(acc.get(), start + j * self.inner))
        return self.k.let(acc.get())

    def maximum(self, name: str, load: Callable[[Any], n.Expr], start: Any) -> n.Expr:
        """The largest element of a lane (a NaN may be passed over: what follows finds it again)."""
        return self.reduce(float("-inf"), name, lambda acc, i: n.maximum(load(i), acc), start)

    def store(self, start: Any, out: Any, value: Callable[[Any], n.Expr]) -> None:
        with self.k.loop(self.size) as j:
            i = self.k.let(start + j * self.inner)
            out[i] = n.cast(value(i), out.dtype)


def exponentials(k: Any, lanes: Lanes, x: Any, start: Any, compute: str) -> tuple[n.Expr, n.Expr]:
    """The maximum m of a lane and the sum of exp(x - m)."""
    load = lambda i: n.cast(x[i], compute)  # noqa: E731
    top = lanes.maximum(compute, load, start)
    return top, lanes.reduce(0.0, compute, lambda acc, i: acc + n.call("exp", load(i) - top), start)


class SoftmaxBase(CheckedOp):
    """X → Out, of the same shape."""

    attrs = {"axis": Int(-1)}

    @classmethod
    def infer(cls, x: TensorType, *, axis: int) -> TensorType:
        float_type(cls.type, x)
        dims.normalize_axis(axis, max(x.rank, 1), f"{cls.type}: axis")
        return x

    @classmethod
    def result(cls, x: n.Expr, top: n.Expr, total: n.Expr) -> n.Expr:
        """One element, given the lane's maximum and sum of exponentials."""
        raise NotImplementedError

    @classmethod
    def lower(cls, cx: Any, x: Any, out: Any, *, axis: int) -> None:
        compute = images.compute_dtype(x.dtype)
        with cx.kernel([x], [out]) as (k, (src,), (dst,)):
            lanes = Lanes(k, src.shape, axis)

            def lane(_: Any, start: Any) -> None:
                top, total = exponentials(k, lanes, src, start, compute)
                last = cls.prepare(k, total)
                lanes.store(start, dst, lambda i: cls.result(n.cast(src[i], compute), top, last))

            lanes.each(lane)

    @classmethod
    def prepare(cls, k: Any, total: n.Expr) -> n.Expr:
        """What `result` needs of the sum, once for each lane."""
        raise NotImplementedError


@register
class Softmax(SoftmaxBase):
    """Out = exp(X) / sum(exp(X)) along `axis`, computed without overflow. AttributeValueError if the axis is out of
    range.

    y = b.softmax(x, axis=-1)
    """

    type = "softmax"

    @staticmethod
    def reference(x: np.ndarray, *, axis: int) -> np.ndarray:
        lane = lanes_of(x)
        e = np.exp(lane - lane.max(axis, keepdims=True, initial=-np.inf))
        return (e / e.sum(axis, keepdims=True)).reshape(x.shape).astype(x.dtype, copy=False)

    @classmethod
    def prepare(cls, k: Any, total: n.Expr) -> n.Expr:
        return k.let(1.0 / total)

    @classmethod
    def result(cls, x: n.Expr, top: n.Expr, total: n.Expr) -> n.Expr:
        return n.call("exp", x - top) * total

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
    def prepare(cls, k: Any, total: n.Expr) -> n.Expr:
        return k.let(n.call("log", total))

    @classmethod
    def result(cls, x: n.Expr, top: n.Expr, total: n.Expr) -> n.Expr:
        return (x - top) - total

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
        dims.require_same_shape(y.shape, dy.shape, f"{cls.type}: the gradient does not have the shape of the output")
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
        compute = images.compute_dtype(y.dtype)
        with cx.kernel([y, dy], [dx]) as (k, (out, grad), (dst,)):
            lanes = Lanes(k, out.shape, axis)

            def lane(_: Any, start: Any) -> None:
                load = lambda ref, i: n.cast(ref[i], compute)  # noqa: E731
                dot = lanes.reduce(0.0, compute, lambda acc, i: acc + load(grad, i) * load(out, i), start)
                lanes.store(start, dst, lambda i: (load(grad, i) - dot) * load(out, i))

            lanes.each(lane)

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
        compute = images.compute_dtype(y.dtype)
        with cx.kernel([y, dy], [dx]) as (k, (out, grad), (dst,)):
            lanes = Lanes(k, out.shape, axis)

            def lane(_: Any, start: Any) -> None:
                load = lambda ref, i: n.cast(ref[i], compute)  # noqa: E731
                total = lanes.reduce(0.0, compute, lambda acc, i: acc + load(grad, i), start)
                lanes.store(start, dst, lambda i: load(grad, i) - n.call("exp", load(out, i)) * total)

            lanes.each(lane)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        y, dy = ins
        c = douts[0]

        def of_out() -> Any:
            return b.scaled(b.mul(b.mul(c, b.op("exp", X=y)), axis_sum(b, dy, axis)), -1.0)

        return of_out, lambda: b.sub(c, axis_sum(b, b.mul(c, b.op("exp", X=y)), axis))
