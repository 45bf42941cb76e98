"""Two-dimensional pooling and its gradients.

The gradient of a maximum goes to the first element of the window that has it. Both gradients are linear in the gradient
of the output, so they are differentiable again: average pooling's by average pooling, maximum pooling's by
`max_pool2d_pick`, which reads another image where X has its maxima.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import dims
from ..dtype import widened
from ..errors import AttributeValueError
from . import pool_lowering, windows
from .checked import CheckedOp
from .pool_geometry import axes, cells, counts, is_adaptive
from .registry import Bool, Ints, Str, TensorType, register
from .softmax import float_type

ATTRS = {
    "pooling_type": Str("max"),
    "ksize": Ints(),
    "strides": Ints([1, 1]),
    "paddings": Ints([0, 0]),
    "padding_algorithm": Str("EXPLICIT"),
    "global_pooling": Bool(False),
    "adaptive": Bool(False),
    "ceil_mode": Bool(False),
    "exclusive": Bool(True),
    "data_format": Str("NCHW"),
}


def spans(sizes: Sequence[int], attrs: dict[str, Any]) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """For each output index of both axes: start and stop of the window inside the image, and its size with the
    padding."""
    if is_adaptive(attrs):
        first, second = ([(c.start(i), c.stop(i), c.stop(i) - c.start(i)) for i in range(c.count)]
                         for c in cells(sizes, attrs))  # fmt: skip
        return first, second
    first, second = ([_span(axis, i) for i in range(axis.count)] for axis in axes(sizes, attrs))
    return first, second


def _span(axis: windows.Axis, i: int) -> tuple[int, int, int]:
    start = i * axis.stride - axis.before
    stop = min(start + axis.kernel, axis.size + axis.after)
    return max(start, 0), max(min(stop, axis.size), max(start, 0)), stop - start


def each_window(x: np.ndarray, attrs: dict[str, Any]) -> Iterator[tuple[int, int, np.ndarray, slice, slice, int]]:
    """(row, column, window, its slices, the divisor of an average) for each output position of an image [N, C, H,
    W]."""
    rows, cols = spans(x.shape[2:], attrs)
    for i, (top, bottom, height) in enumerate(rows):
        for j, (left, right, width) in enumerate(cols):
            area = (bottom - top) * (right - left) if attrs["exclusive"] or is_adaptive(attrs) else height * width
            h, w = slice(top, bottom), slice(left, right)
            yield i, j, x[:, :, h, w], h, w, max(area, 1)


def flat_windows(window: np.ndarray) -> np.ndarray:
    """[N, C, h, w] as [N, C, h * w], also of an empty batch, which leaves NumPy no size to find for a -1."""
    return window.reshape(*window.shape[:2], window.shape[2] * window.shape[3])


def first_maximum(window: np.ndarray) -> np.ndarray:
    """The flat position of the first maximum (or NaN) of each window [N, C, h, w], as [N, C]."""
    return flat_windows(window).argmax(-1)


def pooling_type(op: str, attrs: dict[str, Any]) -> str:
    kind = attrs["pooling_type"]
    if kind not in ("max", "avg"):
        raise AttributeValueError(f"{op}: pooling_type {kind!r} is unknown", hint="use 'max' or 'avg'")
    return kind


def check_like_output(op: str, x: TensorType, y: TensorType, attrs: dict[str, Any]) -> None:
    expected = Pool2D.infer(x, **attrs)
    dims.require_same_shape(y.shape, expected.shape, f"{op}: the tensor does not have the shape of the pool's output")


@register
class Pool2D(CheckedOp):
    """X [N, C, H, W] → Out [N, C, OH, OW]: the maximum or the average of each window (or channels last, see
    data_format).

    OH = floor((H + paddings - ksize) / stride) + 1, rounded up with `ceil_mode`. With `adaptive` ksize is the size of
    the output, with `global_pooling` the output is one pixel. An average is over the elements inside the image if
    `exclusive`, else over the padded ones too. ShapeError where the output would be empty.

        y = b.pool2d(x, pooling_type="avg", ksize=[2, 2], strides=[2, 2])
    """

    type = "pool2d"
    attrs = ATTRS

    @classmethod
    def infer(cls, x: TensorType, **attrs: Any) -> TensorType:
        float_type(cls.title, x)
        pooling_type(cls.title, attrs)
        dims.require_equal(x.rank, 4, f"{cls.title}: the image must have 4 dims")
        last = windows.channel_last(attrs["data_format"])
        image = windows.to_first(x.shape, last)
        size = counts(image[2:], attrs)
        for count in size:
            dims.require_at_least(
                count, 1, f"{cls.title}: the window is larger than the padded image, the output has size"
            )
        return x.with_shape(windows.from_first((*image[:2], *size), last))

    @classmethod
    def reference(cls, x: np.ndarray, **attrs: Any) -> np.ndarray:
        last = windows.channel_last(attrs["data_format"])
        image = windows.array_to_first(x, last).astype(widened(x.dtype.name), copy=False)
        largest = attrs["pooling_type"] == "max"
        out = np.empty((*image.shape[:2], *counts(image.shape[2:], attrs)), image.dtype)
        if is_adaptive(attrs):
            for i, j, window, _, _, area in each_window(image, attrs):
                out[:, :, i, j] = window.max((2, 3), initial=-np.inf) if largest else window.sum((2, 3)) / area
        else:
            rows, cols = axes(image.shape[2:], attrs)
            parts = windows.taps(windows.pad(image, rows, cols, -np.inf if largest else 0.0), rows, cols)
            out[...] = -np.inf if largest else 0.0
            for i in range(rows.kernel):
                for j in range(cols.kernel):
                    (np.maximum if largest else np.add)(out, parts[:, :, i, j], out=out)
            if not largest:
                out /= areas(image, attrs)
        return windows.array_from_first(out, last).astype(x.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, **attrs: Any) -> None:
        pool_lowering.forward(cx, x, out, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return (b.pool2d_grad(ins[0], outs[0], douts[0], **attrs),)


def areas(image: np.ndarray, attrs: dict[str, Any]) -> np.ndarray:
    """What the sums of the windows are divided by, [OH, OW]."""
    rows, cols = spans(image.shape[2:], attrs)
    inside = attrs["exclusive"] or is_adaptive(attrs)
    height, width = (
        np.array([stop - start if inside else full for start, stop, full in axis], image.dtype) for axis in (rows, cols)
    )
    return np.maximum(np.outer(height, width), 1)


@register
class Pool2DGrad(CheckedOp):
    """The gradient of pool2d: X (of an average only its shape), Out, gradient of Out → a tensor like X."""

    type = "pool2d_grad"
    inputs = ("X", "Out", "Out@GRAD")
    outputs = ("X@GRAD",)
    attrs = ATTRS

    @classmethod
    def infer(cls, x: TensorType, out: TensorType, dout: TensorType, **attrs: Any) -> TensorType:
        check_like_output(cls.title, x, dout, attrs)
        return x

    @classmethod
    def reference(cls, x: np.ndarray, out: np.ndarray, dout: np.ndarray, **attrs: Any) -> np.ndarray:
        last = windows.channel_last(attrs["data_format"])
        name = widened(x.dtype.name)
        image, grad = (windows.array_to_first(v, last).astype(name, copy=False) for v in (x, dout))
        dx = np.zeros_like(image)
        if attrs["pooling_type"] == "max":
            for i, j, window, h, w, _ in each_window(image, attrs):
                if window.shape[2] and window.shape[3]:
                    put = np.zeros((*window.shape[:2], window.shape[2] * window.shape[3]), name)
                    np.put_along_axis(put, first_maximum(window)[..., None], grad[:, :, i, j, None], -1)
                    dx[:, :, h, w] += put.reshape(window.shape)
        else:
            share = grad / areas(image, attrs)
            for i, j, _, h, w, _ in each_window(image, attrs):
                dx[:, :, h, w] += share[:, :, i, j, None, None]
        return windows.array_from_first(dx, last).astype(x.dtype, copy=False)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, dout: Any, dx: Any, **attrs: Any) -> None:
        pool_lowering.gradient(cx, x, out, dout, dx, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, c = ins[0], douts[0]
        if attrs["pooling_type"] == "avg":
            return None, None, b.pool2d(c, **attrs)
        return None, None, b.max_pool2d_pick(x, c, **attrs)


@register
class MaxPool2DPick(CheckedOp):
    """Y, an image like X, read where X has the first maximum of each window → Out with the shape of X's pool."""

    type = "max_pool2d_pick"
    inputs = ("X", "Y")
    attrs = ATTRS

    @classmethod
    def infer(cls, x: TensorType, y: TensorType, **attrs: Any) -> TensorType:
        dims.require_same_shape(x.shape, y.shape, f"{cls.title}: the images differ in size")
        return Pool2D.infer(x, **attrs)

    @classmethod
    def reference(cls, x: np.ndarray, y: np.ndarray, **attrs: Any) -> np.ndarray:
        last = windows.channel_last(attrs["data_format"])
        image, values = windows.array_to_first(x, last), windows.array_to_first(y, last)
        out = np.zeros((*image.shape[:2], *counts(image.shape[2:], attrs)), y.dtype)
        for i, j, window, h, w, _ in each_window(image, attrs):
            if window.shape[2] and window.shape[3]:
                flat = flat_windows(values[:, :, h, w])
                out[:, :, i, j] = np.take_along_axis(flat, first_maximum(window)[..., None], -1)[..., 0]
        return windows.array_from_first(out, last)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any, **attrs: Any) -> None:
        pool_lowering.pick(cx, x, y, out, attrs)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, _ = ins
        # pool2d_grad reads only the shape of Out where X has the maxima
        return None, b.pool2d_grad(x, outs[0], douts[0], **attrs)
