"""Normalization of each sample by itself: layer_norm, group_norm, instance_norm.

All three see X as [outer, groups, depth, inner], normalize over the last two axes, and have one scale and one bias for
each (group, depth). The statistics are those of one sample, so training and inference do the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError
from ..loopir import nodes as n
from . import images, windows
from .axes import is_one
from .checked import CheckedOp
from .registry import Float, Int, Str, TensorType, register
from .vjp import vjp


class View(NamedTuple):
    """The sizes of X seen as four axes."""

    outer: Any
    groups: Any
    depth: Any
    inner: Any

    @property
    def rows(self) -> Any:
        return self.outer * self.groups

    @property
    def cols(self) -> Any:
        return self.depth * self.inner

    @property
    def params(self) -> Any:
        return self.groups * self.depth


class RowNorm(CheckedOp):
    """Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias.

    The second and third output are the mean and the variance (or the inverse standard deviation: `saves_inverse_std`)
    of each row, in float32 for float16. Subclasses say how X is seen.
    """

    inputs = ("X", "Scale?", "Bias?")
    saves_inverse_std = False

    @classmethod
    def view_of(cls, shape: Sequence[dims.Dim], attrs: dict[str, Any]) -> View:
        """The sizes of X, channels first."""
        raise NotImplementedError

    @classmethod
    def named_view(cls, k: Any, shape: Sequence[Any], attrs: dict[str, Any]) -> View:
        """The view inside a kernel, each size computed once."""
        with dims.checks():  # the kernel has them from `infer`
            view = cls.view_of(shape, attrs)
        return View(*(k.let(v) if isinstance(v, n.Expr) else v for v in view))

    @classmethod
    def stat_shape(cls, view: View) -> tuple[dims.Dim, ...]:
        """The shape of the statistics."""
        return (view.rows,)

    @classmethod
    def last(cls, attrs: dict[str, Any]) -> bool:
        return "data_layout" in attrs and windows.channel_last(attrs["data_layout"])

    @classmethod
    def infer(cls, x: TensorType, scale: TensorType | None, bias: TensorType | None, **attrs: Any) -> tuple:
        if x.dtype not in dtype.FLOATS:
            raise DTypeError(f"{cls.title} takes floating-point tensors, got {x.dtype}")
        view = cls.view_of(windows.to_first(x.shape, cls.last(attrs)), attrs)
        for what, t in (("Scale", scale), ("Bias", bias)):
            if t is not None:
                dims.require_equal(dims.product(t.shape), view.params, f"{cls.title}: the number of elements of {what}")
        stats = TensorType(widened(x.dtype), cls.stat_shape(view))
        return x, stats, stats

    @classmethod
    def arrays(cls, x: np.ndarray, attrs: dict[str, Any]) -> tuple[np.ndarray, View]:
        """X as [outer, groups, depth, inner] in the dtype of computation."""
        first = windows.array_to_first(x, cls.last(attrs))
        view = cls.view_of(first.shape, attrs)
        return first.reshape(view).astype(widened(x.dtype.name), copy=False), view

    @classmethod
    def restore(cls, y: np.ndarray, like: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
        last = cls.last(attrs)
        first = y.reshape(windows.to_first(like.shape, last))
        return windows.array_from_first(first, last).astype(like.dtype, copy=False)

    @classmethod
    def reference(cls, x: np.ndarray, scale: np.ndarray | None, bias: np.ndarray | None, **attrs: Any) -> tuple:
        rows, view = cls.arrays(x, attrs)
        mean = rows.mean((2, 3), keepdims=True)
        centered = rows - mean
        variance = np.square(centered).mean((2, 3), keepdims=True)
        inverse = 1 / np.sqrt(variance + rows.dtype.type(attrs["epsilon"]))
        y = centered * inverse
        if scale is not None:
            y = y * per_channel(scale, view, rows.dtype)
        if bias is not None:
            y = y + per_channel(bias, view, rows.dtype)
        shape = cls.stat_shape(view)
        saved = inverse if cls.saves_inverse_std else variance
        return cls.restore(y, x, attrs), mean.reshape(shape), saved.reshape(shape)

    @classmethod
    def by_rows(cls, rank: int, attrs: dict[str, Any]) -> bool:
        """Whether what is normalized together is a run of elements, so that `lower` takes a chain."""
        return not cls.last(attrs)

    @staticmethod
    def split(attrs: dict[str, Any]) -> int | None:
        """How many axes of X number the rows; None if no axis begins with them."""
        return None

    @classmethod
    def lower(cls, cx: Any, x: Any, scale: Any, bias: Any, y: Any, mean: Any, variance: Any, *, chain: Any = None, **attrs: Any) -> None:
        """`chain` (see `lowering.rows`) is done to each row, too."""
        last = cls.last(attrs)
        inputs = [v for v in (x, scale, bias) if v is not None]
        image, target = (x, y) if not last else (images.plain(cx, x, last), images.target_for(cx, y, last))
        compute = widened(x.dtype)
        stats = [v if v is not None else cx.temp(compute, 1) for v in (mean, variance)]
        params = inputs[1:]

        def loops(k: Any, src: Any, refs: Sequence[Any], dst: Any, saved: Sequence[Any], *around: Any) -> None:
            by_name = dict(zip((v.name for v in params), refs, strict=True))
            view = cls.named_view(k, dst.shape, attrs)
            for given, ref in zip((mean, variance), saved, strict=True):
                if given is None:
                    k.set_shape(ref, [view.rows])
            factor, shift = (None if v is None else by_name[v.name] for v in (scale, bias))
            cls._rows(k, view, src, factor, shift, dst, saved, attrs, *around)

        if chain is not None:
            run = lambda k, sizes: cls.named_view(k, sizes, attrs).cols  # noqa: E731
            with chain.kernel(cx, params, stats, cls.split(attrs), run) as (k, src, refs, dst, saved, begin, end):
                loops(k, src, refs, dst, saved, begin, end)
            return
        with images.producing(cx, [image], inputs, target, y, stats, last) as (k, (src,), (_, *refs), dst, saved):
            loops(k, src, refs, dst, saved)
        images.deliver(cx, target, y, inputs, last)

    @classmethod
    def _rows(cls, k: Any, view: View, src: Any, scale: Any, bias: Any, dst: Any, saved: Sequence[Any], attrs: dict[str, Any],
              *around: Any) -> None:  # fmt: skip
        """The loops. `around`: what begins a row and what ends it."""
        compute = widened(src.dtype)
        epsilon, count = k.attr(attrs["epsilon"], compute), k.let(n.cast(view.cols, compute))
        with k.parallel(view.rows) as row:
            start = k.let(row * view.cols)
            if around:
                around[0](row)
            at = lambda i: n.cast(src[start + i], compute)  # noqa: E731
            average = k.let(total(k, view.cols, compute, at) / count)
            squares = total(k, view.cols, compute, lambda i: (at(i) - average) * (at(i) - average))
            spread = k.let(squares / count)
            inverse = k.let(1.0 / n.call("sqrt", spread + epsilon))
            saved[0][row] = average
            saved[1][row] = inverse if cls.saves_inverse_std else spread
            channel = k.let(row % view.groups * view.depth)
            with k.loop(view.depth) as d:
                a, c = inverse, n.as_expr(0.0, compute)
                if scale is not None:
                    a = a * n.cast(scale[channel + d], compute)
                if bias is not None:
                    c = n.cast(bias[channel + d], compute)
                if not inner_is_one(view):
                    a, c = k.let(a), k.let(c)
                with inner_loop(k, view) as p:
                    i = d * view.inner + p
                    dst[start + i] = n.cast((at(i) - average) * a + c, dst.dtype)
            if around:
                around[1](row)

    @classmethod
    def compose(cls, b: Any, x: Any, scale: Any, bias: Any, *, attrs: dict[str, Any]) -> tuple:
        """The op written with basic ops: (Y, mean, variance or inverse standard deviation)."""
        raise NotImplementedError

    @classmethod
    def standardized(cls, b: Any, x: Any, axes: list[int], attrs: dict[str, Any]) -> tuple:
        """(x - mean) / sqrt(variance + epsilon) over some axes, the mean, and what is saved, with basic ops."""
        mean = b.op("reduce_mean", X=x, dim=axes, keep_dim=True)
        centered = b.sub(x, mean)
        variance = b.op("reduce_mean", X=b.mul(centered, centered), dim=axes, keep_dim=True)
        inverse = b.op("rsqrt", X=b.scaled(variance, 1.0, attrs["epsilon"]))
        saved = inverse if cls.saves_inverse_std else variance
        return b.mul(centered, inverse), mean, saved

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, scale, bias = ins
        dy, *dstats = douts
        if any(d is not None for d in dstats):
            return vjp(b, lambda r, *v: cls.compose(r, *v, attrs=attrs), (x, scale, bias), douts)
        dx, dscale, dbias = b.op(cls.type + "_grad", X=x, Scale=scale, Bias=bias, Mean=outs[1], Variance=outs[2],
                                 **{"Y@GRAD": dy}, **attrs)  # fmt: skip
        return dx, dscale, dbias


def inner_is_one(view: View) -> bool:
    return is_one(view.inner)


def inner_loop(k: Any, view: View) -> Any:
    """The loop over the last axis; none where that has one element, so that `depth` is innermost."""
    return contextlib.nullcontext(0) if inner_is_one(view) else k.loop(view.inner)


def total(k: Any, count: Any, name: str, element: Any) -> n.Expr:
    """The sum of element(i) for i below count."""
    acc = k.var(0.0, name)
    with k.loop(count) as i:
        acc.add(element(i))
    return acc.get()


def per_channel(values: np.ndarray, view: View, name: np.dtype) -> np.ndarray:
    """Scale or Bias with the axes of the view."""
    return values.astype(name, copy=False).reshape(1, view.groups, view.depth, 1)


def reshape_like(b: Any, x: Any, like: Any, start: int = 0) -> Any:
    """x with the sizes of `like` from axis `start` on."""
    shape = list(like.shape[start:])
    if shape.count(-1) <= 1:
        return b.op("reshape2", X=x, shape=shape)
    sizes = b.op("shape", Input=like)
    if start:
        sizes = b.op("slice", Input=sizes, axes=[0], starts=[start], ends=[len(like.shape)])
    return b.op("reshape2", X=x, Shape=sizes)


@register
class LayerNorm(RowNorm):
    """Normalizes over the axes from `begin_norm_axis` on. Scale and Bias are flat, Mean and Variance too.

    ShapeError where Scale or Bias do not have as many elements as the normalized axes.

        y, mean, variance = b.layer_norm(x, scale, bias, begin_norm_axis=1, epsilon=1e-5)
    """

    type = "layer_norm"
    outputs = ("Y", "Mean", "Variance")
    attrs = {"epsilon": Float(1e-5), "begin_norm_axis": Int(1)}

    @staticmethod
    def split(attrs: dict[str, Any]) -> int | None:
        return attrs["begin_norm_axis"]

    @classmethod
    def view_of(cls, shape: Sequence[dims.Dim], attrs: dict[str, Any]) -> View:
        begin = attrs["begin_norm_axis"]
        if not 0 < begin < len(shape):
            raise AttributeValueError(f"layer_norm: begin_norm_axis {begin} must be above 0 and below {len(shape)}")
        return View(dims.product(shape[:begin]), 1, dims.product(shape[begin:]), 1)

    @classmethod
    def compose(cls, b: Any, x: Any, scale: Any, bias: Any, *, attrs: dict[str, Any]) -> tuple:
        begin = attrs["begin_norm_axis"]
        y, mean, saved = cls.standardized(b, x, list(range(begin, len(x.shape))), attrs)
        if scale is not None:
            y = b.mul(y, reshape_like(b, scale, x, begin))
        if bias is not None:
            y = b.add(y, reshape_like(b, bias, x, begin))
        return y, b.op("reshape2", X=mean, shape=[-1]), b.op("reshape2", X=saved, shape=[-1])


@register
class GroupNorm(RowNorm):
    """Normalizes each of `groups` groups of channels of each sample. X is [N, C, ...]; Mean and Variance are [N,
    groups].

    y, mean, variance = b.group_norm(x, scale, bias, groups=4)
    """

    type = "group_norm"
    outputs = ("Y", "Mean", "Variance")
    attrs = {"epsilon": Float(1e-5), "groups": Int(1), "data_layout": Str("NCHW")}

    @classmethod
    def view_of(cls, shape: Sequence[dims.Dim], attrs: dict[str, Any]) -> View:
        groups = attrs["groups"]
        if groups < 1:
            raise AttributeValueError(f"group_norm: groups must be positive, got {groups}")
        dims.require_at_least(len(shape), 2, "group_norm: the number of dims")
        dims.require_divisible(shape[1], groups, "group_norm: the number of channels must be divisible by groups")
        return View(shape[0], groups, shape[1] // groups, dims.product(shape[2:]))

    @classmethod
    def named_view(cls, k: Any, shape: Sequence[Any], attrs: dict[str, Any]) -> View:
        """The view inside a kernel, each size computed once."""
        with dims.checks():  # the kernel has them from `infer`
            view = cls.view_of(shape, attrs)
        return View(*(k.let(v) if isinstance(v, n.Expr) else v for v in view))

    @classmethod
    def stat_shape(cls, view: View) -> tuple[dims.Dim, ...]:
        return (view.outer, view.groups)

    @classmethod
    def compose(cls, b: Any, x: Any, scale: Any, bias: Any, *, attrs: dict[str, Any]) -> tuple:
        rank, last = len(x.shape), cls.last(attrs)
        first = b.op("transpose2", X=x, axis=list(windows.to_first(range(rank), True))) if last else x
        grouped = b.op("reshape2", X=first, shape=[0, attrs["groups"], -1])
        y, mean, saved = cls.standardized(b, grouped, [2], attrs)
        y = affine(b, reshape_like(b, y, first), scale, bias)
        if last:
            y = b.op("transpose2", X=y, axis=list(windows.from_first(range(rank), True)))
        return y, b.op("squeeze2", X=mean, axes=[2]), b.op("squeeze2", X=saved, axes=[2])


def affine(b: Any, y: Any, scale: Any, bias: Any, axis: int = 1) -> Any:
    """y * scale + bias with one value for each index of an axis."""
    if scale is not None:
        y = b.op("elementwise_mul", X=y, Y=scale, axis=axis)
    if bias is not None:
        y = b.op("elementwise_add", X=y, Y=bias, axis=axis)
    return y


@register
class InstanceNorm(RowNorm):
    """Normalizes each channel of each sample. X is [N, C, ...]; SavedMean and SavedVariance are [N * C].

    SavedVariance is the inverse standard deviation, as in Paddle.

    y, mean, inverse_std = b.instance_norm(x, scale, bias)
    """

    type = "instance_norm"
    outputs = ("Y", "SavedMean", "SavedVariance")
    attrs = {"epsilon": Float(1e-5)}
    saves_inverse_std = True

    @staticmethod
    def split(attrs: dict[str, Any]) -> int | None:
        return 2

    @classmethod
    def view_of(cls, shape: Sequence[dims.Dim], attrs: dict[str, Any]) -> View:
        dims.require_at_least(len(shape), 3, "instance_norm: the number of dims")
        return View(shape[0], shape[1], 1, dims.product(shape[2:]))

    @classmethod
    def compose(cls, b: Any, x: Any, scale: Any, bias: Any, *, attrs: dict[str, Any]) -> tuple:
        y, mean, saved = cls.standardized(b, x, list(range(2, len(x.shape))), attrs)
        return affine(b, y, scale, bias), b.op("reshape2", X=mean, shape=[-1]), b.op("reshape2", X=saved, shape=[-1])
