"""Two-dimensional convolution and its gradients, which are closed under differentiation.

With y = conv2d(x, f), the op is linear in x and in f. `conv2d_grad_input` is its adjoint in x and `conv2d_grad_filter`
its adjoint in f; the gradients of each of the three are the other two. `conv2d_transpose` is the adjoint in x under
Paddle's name and attributes. A filter is [out channels, in channels / groups, KH, KW] in every data format.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError, GradientError
from . import conv_lowering, windows
from .checked import CheckedOp
from .conv_geometry import geometry, transposed_geometry
from .registry import Int, Ints, Str, TensorType, register

ATTRS = {
    "strides": Ints([1, 1]),
    "paddings": Ints([0, 0]),
    "padding_algorithm": Str("EXPLICIT"),
    "dilations": Ints([1, 1]),
    "groups": Int(1),
    "data_format": Str("NCHW"),
}


def check_types(op: str, image: TensorType, other: TensorType) -> None:
    """Both operands have 4 dims and one floating-point dtype."""
    for what, t in (("the image", image), ("the filter", other)):
        dims.require_equal(t.rank, 4, f"{op}: {what} must have 4 dims", "a single image gets a batch of one: x.unsqueeze(0)")
    if image.dtype != other.dtype or image.dtype not in dtype.FLOATS:
        raise DTypeError(f"{op} takes two tensors of one floating-point dtype, got {image.dtype} and {other.dtype}")


def check_groups(op: str, channels: dims.Dim, filter_shape: Sequence[dims.Dim], groups: int) -> None:
    """The channels of the image fit the filter and the groups."""
    if groups < 1:
        raise AttributeValueError(f"{op}: groups must be positive, got {groups}")
    dims.require_equal(channels, filter_shape[1] * groups, f"{op}: the channels of the image are not those of the filter",
                       "images are [batch, channels, height, width], the filter [out channels, in channels / groups, ...]")  # fmt: skip
    dims.require_divisible(filter_shape[0], groups, f"{op}: the number of filters must be divisible by groups")


def columns(x: np.ndarray, rows: windows.Axis, cols: windows.Axis, groups: int) -> np.ndarray:
    """The windows of an image as [N, groups, C/groups * KH * KW, OH * OW] (im2col)."""
    view = windows.taps(windows.pad(x, rows, cols), rows, cols)
    batch, channels = x.shape[:2]
    return view.reshape(batch, groups, channels // groups * rows.kernel * cols.kernel, rows.count * cols.count)


class Convolution(CheckedOp):
    """Input [N, C, H, W] * Filter [M, C/groups, KH, KW] → Output [N, M, OH, OW] (or channels last, see data_format).

    Output sizes are floor((H + paddings - (dilation * (KH - 1) + 1)) / stride) + 1. ShapeError where channels, filter
    and groups do not fit or the output would be empty.

        y = b.conv2d(x, f, strides=[2, 2], paddings=[1, 1])
    """

    kernel_from = 1 << 13
    inputs = ("Input", "Filter")
    outputs = ("Output",)
    attrs = ATTRS

    @classmethod
    def infer(cls, x: TensorType, f: TensorType, **attrs: Any) -> TensorType:
        check_types(cls.title, x, f)
        last = windows.channel_last(attrs["data_format"])
        image = windows.to_first(x.shape, last)
        check_groups(cls.title, image[1], f.shape, attrs["groups"])
        rows, cols = geometry(image, f.shape[2:], attrs)
        for axis in (rows, cols):
            dims.require_at_least(axis.kernel, 1, f"{cls.title}: the filter has no elements along an axis, of size")
            dims.require_at_least(
                axis.count, 1, f"{cls.title}: the filter is larger than the padded image, so the output has size"
            )
        return x.with_shape(windows.from_first((image[0], f.shape[0], rows.count, cols.count), last))

    @classmethod
    def reference(cls, x: np.ndarray, f: np.ndarray, **attrs: Any) -> np.ndarray:
        last, groups = windows.channel_last(attrs["data_format"]), attrs["groups"]
        compute = widened(x.dtype.name)
        image = windows.array_to_first(x, last).astype(compute, copy=False)
        rows, cols = geometry(image.shape, f.shape[2:], attrs)
        weights = f.astype(compute, copy=False).reshape(groups, f.shape[0] // groups, math.prod(f.shape[1:]))
        out = np.matmul(weights, columns(image, rows, cols, groups))
        out = out.reshape(x.shape[0], f.shape[0], rows.count, cols.count)
        return windows.array_from_first(out, last).astype(x.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, f: Any, out: Any, **attrs: Any) -> None:
        conv_lowering.forward(cx, x, f, out, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, f = ins
        return lambda: b.conv2d_grad_input(f, douts[0], x, **attrs), lambda: b.conv2d_grad_filter(
            x, douts[0], f, **attrs
        )


@register
class Conv2D(Convolution):
    type = "conv2d"


@register
class DepthwiseConv2D(Convolution):
    """conv2d under the name that Paddle gives to groups == channels."""

    type = "depthwise_conv2d"


@register
class Conv2DGradInput(CheckedOp):
    """The gradient of conv2d in its Input: Filter, gradient of Output, Input (only its shape) → a tensor like Input."""

    type = "conv2d_grad_input"
    kernel_from = 1 << 13
    inputs = ("Filter", "Output@GRAD", "Input")
    outputs = ("Input@GRAD",)
    attrs = ATTRS
    shape_only = frozenset({"Input"})

    @classmethod
    def infer(cls, f: TensorType, dy: TensorType, x: TensorType, **attrs: Any) -> TensorType:
        y = Conv2D.infer(x, f, **attrs)
        dims.require_same_shape(dy.shape, y.shape, f"{cls.title}: the gradient does not have the shape of the output")
        return x

    @classmethod
    def reference(cls, f: np.ndarray, dy: np.ndarray, x: np.ndarray, **attrs: Any) -> np.ndarray:
        last = windows.channel_last(attrs["data_format"])
        image = windows.to_first(x.shape, last)
        dx = scatter(f, windows.array_to_first(dy, last), geometry(image, f.shape[2:], attrs), attrs["groups"])
        return windows.array_from_first(dx, last).astype(dy.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, f: Any, dy: Any, x: Any, out: Any, **attrs: Any) -> None:
        conv_lowering.grad_input(cx, f, dy, x, out, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        f, dy, _ = ins
        c = douts[0]
        return lambda: b.conv2d_grad_filter(c, dy, f, **attrs), lambda: b.conv2d(c, f, **attrs), None


def scatter(f: np.ndarray, dy: np.ndarray, axes: tuple[windows.Axis, windows.Axis], groups: int) -> np.ndarray:
    """The image that collects each output element, spread by the filter: the adjoint of convolution in its image."""
    rows, cols = axes
    compute = widened(dy.dtype.name)
    batch, filters = dy.shape[:2]
    weights = f.astype(compute, copy=False).reshape(groups, filters // groups, -1)
    out = dy.astype(compute, copy=False).reshape(batch, groups, filters // groups, rows.count * cols.count)
    values = np.matmul(weights.transpose(0, 2, 1), out)
    return windows.add_taps(
        values.reshape(batch, groups * f.shape[1], *f.shape[2:], rows.count, cols.count), rows, cols
    )


@register
class Conv2DGradFilter(CheckedOp):
    """The gradient of conv2d in its Filter: Input, gradient of Output, Filter (only its shape) → like Filter."""

    type = "conv2d_grad_filter"
    kernel_from = 1 << 13
    inputs = ("Input", "Output@GRAD", "Filter")
    outputs = ("Filter@GRAD",)
    attrs = ATTRS
    shape_only = frozenset({"Filter"})

    @classmethod
    def infer(cls, x: TensorType, dy: TensorType, f: TensorType, **attrs: Any) -> TensorType:
        y = Conv2D.infer(x, f, **attrs)
        dims.require_same_shape(dy.shape, y.shape, f"{cls.title}: the gradient does not have the shape of the output")
        return f

    @classmethod
    def reference(cls, x: np.ndarray, dy: np.ndarray, f: np.ndarray, **attrs: Any) -> np.ndarray:
        last, groups = windows.channel_last(attrs["data_format"]), attrs["groups"]
        compute = widened(x.dtype.name)
        image = windows.array_to_first(x, last).astype(compute, copy=False)
        rows, cols = geometry(image.shape, f.shape[2:], attrs)
        out = windows.array_to_first(dy, last).astype(compute, copy=False)
        out = out.reshape(x.shape[0], groups, f.shape[0] // groups, rows.count * cols.count)
        patches = columns(image, rows, cols, groups)
        if groups == 1:  # one matrix product over the whole batch
            df = np.tensordot(out[:, 0], patches[:, 0], axes=([0, 2], [0, 2]))
        else:
            df = np.matmul(out, patches.transpose(0, 1, 3, 2)).sum(0)
        return df.reshape(f.shape).astype(f.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, dy: Any, f: Any, out: Any, **attrs: Any) -> None:
        conv_lowering.grad_filter(cx, x, dy, f, out, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, dy, _ = ins
        c = douts[0]
        return lambda: b.conv2d_grad_input(c, dy, x, **attrs), lambda: b.conv2d(x, c, **attrs), None


class TransposedConvolution(CheckedOp):
    """Input [N, M, H, W], Filter [M, C/groups, KH, KW] → Output [N, C, OH, OW].

    OH = (H - 1) * stride - paddings + dilation * (KH - 1) + 1 + output_padding. `output_size` gives OH and OW instead;
    it may exceed the smallest size by less than the stride. SAME pads as for a convolution over the input.

        y = b.conv2d_transpose(x, f, strides=[2, 2], paddings=[1, 1], output_padding=[1, 1])
    """

    kernel_from = 1 << 13
    inputs = ("Input", "Filter")
    outputs = ("Output",)
    attrs = {**ATTRS, "output_size": Ints(), "output_padding": Ints()}

    @classmethod
    def infer(cls, x: TensorType, f: TensorType, **attrs: Any) -> TensorType:
        check_types(cls.title, x, f)
        last = windows.channel_last(attrs["data_format"])
        image = windows.to_first(x.shape, last)
        dims.require_equal(
            image[1], f.shape[0], f"{cls.title}: the channels of the input must be the filter's first size"
        )
        dims.require_divisible(
            f.shape[0], attrs["groups"], f"{cls.title}: the input's channels must be divisible by groups"
        )
        rows, cols = transposed_geometry(cls.title, image, f.shape[2:], attrs)
        for axis in (rows, cols):
            dims.require_at_least(axis.size, 1, f"{cls.title}: the output has size")
        return x.with_shape(windows.from_first((image[0], f.shape[1] * attrs["groups"], rows.size, cols.size), last))

    @classmethod
    def reference(cls, x: np.ndarray, f: np.ndarray, **attrs: Any) -> np.ndarray:
        last = windows.channel_last(attrs["data_format"])
        image = windows.array_to_first(x, last)
        out = scatter(f, image, transposed_geometry(cls.title, image.shape, f.shape[2:], attrs), attrs["groups"])
        return windows.array_from_first(out, last).astype(x.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, f: Any, out: Any, **attrs: Any) -> None:
        conv_lowering.transposed(cx, x, f, out, attrs)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, f = ins
        dy = douts[0]
        kept = {name: attrs[name] for name in ATTRS}
        if attrs["padding_algorithm"] == "SAME":
            image = windows.to_first(x.shape, windows.channel_last(attrs["data_format"]))
            if -1 in (*image[2:], *f.shape[2:]):
                raise GradientError(f"{cls.title} with padding SAME has no gradient where the input's size is open",
                                    hint="give the size, or explicit paddings")  # fmt: skip
            rows, cols = transposed_geometry(cls.title, image, f.shape[2:], attrs)
            kept |= {"padding_algorithm": "EXPLICIT", "paddings": [rows.before, rows.after, cols.before, cols.after],
                     "dilations": [1, 1]}  # fmt: skip
        return lambda: b.conv2d(dy, f, **kept), lambda: b.conv2d_grad_filter(dy, x, f, **kept)


@register
class Conv2DTranspose(TransposedConvolution):
    type = "conv2d_transpose"


@register
class DepthwiseConv2DTranspose(TransposedConvolution):
    """conv2d_transpose under the name that Paddle gives to groups == channels."""

    type = "depthwise_conv2d_transpose"
