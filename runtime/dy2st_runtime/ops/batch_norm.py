"""batch_norm: normalization by the statistics of the batch, or by running statistics."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import dims, dtype
from ..errors import DTypeError
from . import batch_norm_lowering as loops
from . import windows
from .checked import CheckedOp
from .elementwise import widened_array
from .registry import Bool, Float, Str, TensorType, register
from .row_norm import affine
from .vjp import vjp

ATTRS = {
    "momentum": Float(0.9),
    "epsilon": Float(1e-5),
    "is_test": Bool(False),
    "use_global_stats": Bool(False),
    "trainable_statistics": Bool(False),
    "data_layout": Str("NCHW"),
}


def uses_running(attrs: dict[str, Any]) -> bool:
    """Whether X is normalized by the running statistics."""
    return attrs["use_global_stats"] or (attrs["is_test"] and not attrs["trainable_statistics"])


def channels_middle(x: np.ndarray, last: bool) -> np.ndarray:
    """X as [outer, channels, inner] in the dtype of computation."""
    x = widened_array(x)
    # an empty batch leaves NumPy no size to find for a -1
    return x.reshape(prod(x.shape[:-1]), x.shape[-1], 1) if last else x.reshape(*x.shape[:2], prod(x.shape[2:]))


def per_channel(values: np.ndarray, name: np.dtype) -> np.ndarray:
    return values.astype(name, copy=False)[None, :, None]


def _mean(x3: np.ndarray) -> np.ndarray:
    """The mean of each channel of [N, C, inner]; NaN of no elements, without NumPy's warning."""
    return x3.mean((0, 2)) if x3.size else np.full(x3.shape[1], np.nan, x3.dtype)


def check_channels(op: str, x: TensorType, params: dict[str, TensorType], attrs: dict[str, Any]) -> None:
    """X is floating-point with at least 2 dims, and each parameter has an element for each channel."""
    if x.dtype not in dtype.FLOATS:
        raise DTypeError(f"{op} takes floating-point tensors, got {x.dtype}")
    dims.require_at_least(x.rank, 2, f"{op}: the number of dims of X")
    channels = windows.to_first(x.shape, windows.channel_last(attrs["data_layout"]))[1]
    for name, t in params.items():
        dims.require_equal(t.rank, 1, f"{op}: the number of dims of {name}")
        dims.require_equal(t.shape[0], channels, f"{op}: {name} must have one element for each channel of X")


@register
class BatchNorm(CheckedOp):
    """Y = (X - mean) / sqrt(variance + epsilon) * Scale + Bias, for each channel of X [N, C, ...].

    In training mean and variance (the sum divided by N) are those of the batch, and the running ones are updated:
    MeanOut = momentum * Mean + (1 - momentum) * mean. With `is_test` or `use_global_stats` the running ones are used
    and stay as they are. SavedMean and SavedVariance (the inverse standard deviation, as in Paddle) are what Y was
    computed with. No gradient flows through the statistics that are put out. ShapeError where a parameter does not
    have one element for each channel.

        y, mean, variance, saved_mean, saved_inverse_std = b.batch_norm(x, scale, bias, mean, variance)
    """

    type = "batch_norm"
    inputs = ("X", "Scale", "Bias", "Mean", "Variance")
    outputs = ("Y", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance")
    attrs = ATTRS
    inplace = {"MeanOut": "Mean", "VarianceOut": "Variance"}

    @classmethod
    def changes(cls, attrs: dict[str, Any]) -> dict[str, str]:
        return {} if uses_running(attrs) else cls.inplace

    @classmethod
    def infer(
        cls, x: TensorType, scale: TensorType, bias: TensorType, mean: TensorType, variance: TensorType, **attrs: Any
    ) -> tuple:
        params = {"Scale": scale, "Bias": bias, "Mean": mean, "Variance": variance}
        check_channels(cls.title, x, params, attrs)
        return x, mean, variance, mean, variance

    @staticmethod
    def reference(
        x: np.ndarray, scale: np.ndarray, bias: np.ndarray, mean: np.ndarray, variance: np.ndarray, **attrs: Any
    ) -> tuple:
        x3 = channels_middle(x, windows.channel_last(attrs["data_layout"]))
        name = x3.dtype
        if uses_running(attrs):
            used_mean, used_variance = mean.astype(name), variance.astype(name)
            mean_out, variance_out = mean, variance
        else:
            used_mean = _mean(x3)
            used_variance = _mean(np.square(x3 - used_mean[None, :, None]))
            keep = attrs["momentum"]
            mean_out, variance_out = ((old * keep + new * (1 - keep)).astype(old.dtype)
                                      for old, new in ((mean, used_mean), (variance, used_variance)))  # fmt: skip
        inverse = 1 / np.sqrt(used_variance + name.type(attrs["epsilon"]))
        y = (x3 - used_mean[None, :, None]) * (inverse * scale)[None, :, None] + per_channel(bias, name)
        y = y.reshape(x.shape).astype(x.dtype, copy=False)
        return y, mean_out, variance_out, used_mean.astype(mean.dtype), inverse.astype(variance.dtype)

    @staticmethod
    def lower(cx: Any, *values: Any, **attrs: Any) -> None:
        loops.forward(cx, values[:5], values[5:], attrs, uses_running(attrs))

    @staticmethod
    def compose(b: Any, x: Any, scale: Any, bias: Any, mean: Any, variance: Any, *, attrs: dict[str, Any]) -> tuple:
        """All outputs written with basic ops."""
        rank, last = len(x.shape), windows.channel_last(attrs["data_layout"])
        channel = rank - 1 if last else 1
        if uses_running(attrs):
            used_mean, used_variance, mean_out, variance_out = mean, variance, mean, variance
        else:
            axes = [a for a in range(rank) if a != channel]
            used_mean = b.op("reduce_mean", X=x, dim=axes)
            centered = b.op("elementwise_sub", X=x, Y=used_mean, axis=channel)
            used_variance = b.op("reduce_mean", X=b.mul(centered, centered), dim=axes)
            keep = attrs["momentum"]
            mean_out, variance_out = (
                b.add(b.scaled(old, keep), b.scaled(new, 1.0 - keep))
                for old, new in ((mean, used_mean), (variance, used_variance))
            )
        inverse = b.op("rsqrt", X=b.scaled(used_variance, 1.0, attrs["epsilon"]))
        centered = b.op("elementwise_sub", X=x, Y=used_mean, axis=channel)
        return affine(b, centered, b.mul(inverse, scale), bias, channel), mean_out, variance_out, used_mean, inverse

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        # a program that was saved for inference does not have the outputs that only the gradient reads
        if any(d is not None for d in douts[1:]) or outs[3] is None or outs[4] is None:
            return vjp(b, lambda r, *v: cls.compose(r, *v, attrs=attrs), ins, douts)
        x, scale = ins[:2]
        grads = b.batch_norm_grad(x, scale, outs[3], outs[4], douts[0], **attrs)
        return (*grads, None, None)


@register
class BatchNormStatistics(CheckedOp):
    """What `batch_norm` gives in training, but for Y. The pass `split_norm` makes these ops, behind the gradient."""

    type = "batch_norm_statistics"
    inputs = ("X", "Mean", "Variance")
    outputs = BatchNorm.outputs[1:]
    attrs = ATTRS
    inplace = BatchNorm.inplace
    differentiable = False

    @classmethod
    def infer(cls, x: TensorType, mean: TensorType, variance: TensorType, **attrs: Any) -> tuple:
        check_channels(cls.title, x, {"Mean": mean, "Variance": variance}, attrs)
        return mean, variance, mean, variance

    @staticmethod
    def reference(x: np.ndarray, mean: np.ndarray, variance: np.ndarray, **attrs: Any) -> tuple:
        unit = np.ones_like(mean)
        return BatchNorm.reference(x, unit, unit, mean, variance, **attrs)[1:]

    @staticmethod
    def lower(cx: Any, *values: Any, **attrs: Any) -> None:
        loops.statistics(cx, values[:3], values[3:], attrs)


@register
class BatchNormGrad(CheckedOp):
    """The gradients of batch_norm in X, Scale and Bias, from X, Scale, what it saved, and the gradient of Y."""

    type = "batch_norm_grad"
    inputs = ("X", "Scale", "SavedMean", "SavedVariance", "Y@GRAD")
    outputs = ("X@GRAD", "Scale@GRAD", "Bias@GRAD")
    attrs = ATTRS

    @classmethod
    def infer(
        cls, x: TensorType, scale: TensorType, mean: TensorType, inverse: TensorType, dy: TensorType, **attrs: Any
    ) -> tuple:
        check_channels(cls.title, x, {"Scale": scale, "SavedMean": mean, "SavedVariance": inverse}, attrs)
        dims.require_same_shape(dy.shape, x.shape, f"{cls.title}: the gradient does not have the shape of the output")
        return x, scale, scale

    @staticmethod
    def reference(
        x: np.ndarray, scale: np.ndarray, mean: np.ndarray, inverse: np.ndarray, dy: np.ndarray, **attrs: Any
    ) -> tuple:
        last = windows.channel_last(attrs["data_layout"])
        x3, grads = channels_middle(x, last), channels_middle(dy, last)
        name = x3.dtype
        normal = (x3 - per_channel(mean, name)) * per_channel(inverse, name)
        dscale, dbias = (grads * normal).sum((0, 2)), grads.sum((0, 2))
        factor = per_channel(inverse * scale, name)
        if uses_running(attrs):
            dx = grads * factor
        else:
            count = name.type(max(x3.shape[0] * x3.shape[2], 1))
            dx = factor * (grads - per_channel(dbias / count, name) - normal * per_channel(dscale / count, name))
        return dx.reshape(x.shape).astype(x.dtype, copy=False), dscale.astype(scale.dtype), dbias.astype(scale.dtype)

    @staticmethod
    def lower(cx: Any, *values: Any, **attrs: Any) -> None:
        loops.backward(cx, values[:5], values[5:], attrs, uses_running(attrs))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, scale, mean, inverse, dy = ins
        # the running variance from the inverse standard deviation: both are constants here
        variance = b.scaled(b.op("reciprocal", X=b.mul(inverse, inverse)), 1.0, -attrs["epsilon"])
        bias = b.scaled(scale, 0.0)

        def first(r: Any, x: Any, scale: Any, dy: Any) -> tuple:
            return vjp(
                r,
                lambda s, x, w, c: BatchNorm.compose(s, x, w, c, mean, variance, attrs=attrs)[0],
                (x, scale, bias),
                (dy,),
            )

        dx, dscale, ddy = vjp(b, first, (x, scale, dy), douts)
        return dx, dscale, None, None, ddy
