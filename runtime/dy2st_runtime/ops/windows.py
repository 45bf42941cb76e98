"""Sliding windows over images, shared by convolution and pooling: sizes, paddings, and the NumPy views.

Sizes are dims (see `dims`), so the same functions serve inference, the reference and lowering. Images are [N, C, H, W]
here; the records turn other layouts to this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError

CHANNEL_LAST = ("NHWC", "NLC", "NDHWC")
CHANNEL_FIRST = ("NCHW", "NC", "NCL", "NCDHW", "AnyLayout")


@dataclass(frozen=True)
class Axis:
    """The windows along one axis: `count` of them, over `size` elements with `before` and `after` added at the ends."""

    size: dims.Dim
    kernel: dims.Dim
    stride: int
    dilation: int
    before: dims.Dim
    after: dims.Dim
    ceil: bool = False

    @property
    def extent(self) -> dims.Dim:
        """Elements from the first to the last tap of a window."""
        return self.dilation * (self.kernel - 1) + 1

    @property
    def count(self) -> dims.Dim:
        rounding = self.stride - 1 if self.ceil else 0
        return (self.size + self.before + self.after - self.extent + rounding) // self.stride + 1

    @property
    def padded(self) -> bool:
        """Whether windows may reach beyond the elements."""
        return self.ceil or not (_is_zero(self.before) and _is_zero(self.after))


Axes = tuple[Axis, Axis]


def _is_zero(d: dims.Dim) -> bool:
    return dims.known(d) and d == 0


def channel_last(data_format: str) -> bool:
    """Whether the channels are the last axis; AttributeValueError for an unknown layout."""
    if data_format in CHANNEL_LAST:
        return True
    if data_format in CHANNEL_FIRST:
        return False
    raise AttributeValueError(f"data_format {data_format!r} is not supported", hint="use 'NCHW' or 'NHWC'")


def to_first(shape: Sequence[Any], last: bool) -> tuple[Any, ...]:
    """The shape of an image, or any values in its order, with the channels (last or not) second: [N, C, H, W]."""
    return (shape[0], shape[-1], *shape[1:-1]) if last else tuple(shape)


def from_first(shape: Sequence[Any], last: bool) -> tuple[Any, ...]:
    """The inverse of `to_first`."""
    return (shape[0], *shape[2:], shape[1]) if last else tuple(shape)


def array_to_first(x: np.ndarray, last: bool) -> np.ndarray:
    return np.moveaxis(x, -1, 1) if last else x


def array_from_first(x: np.ndarray, last: bool) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)) if last else x


def pair(values: Sequence[int], what: str, minimum: int) -> tuple[int, int]:
    """An attribute with one value for both axes, or one each."""
    if len(values) not in (1, 2) or any(v < minimum for v in values):
        raise AttributeValueError(f"{what} must be 2 integers >= {minimum}, got {list(values)}")
    return (values[0], values[-1])


def axes(
    sizes: Sequence[dims.Dim],
    kernels: Sequence[dims.Dim],
    strides: Sequence[int],
    paddings: Sequence[int],
    algorithm: str,
    dilations: Sequence[int] = (1, 1),
    ceil: bool = False,
) -> tuple[Axis, Axis]:
    """The two spatial axes with the paddings that `padding_algorithm` asks for.

    EXPLICIT takes `paddings` (2 values, or 4: top, bottom, left, right). VALID has none. SAME gives ceil(size / stride)
    windows and, as in Paddle, no dilation.
    """
    steps, spread = pair(strides, "strides", 1), pair(dilations, "dilations", 1)
    if algorithm == "SAME":
        first, second = (_same(*row) for row in zip(sizes, kernels, steps, strict=True))
        return first, second
    if algorithm == "VALID":
        pads = ((0, 0), (0, 0))
    elif algorithm == "EXPLICIT":
        pads = explicit(paddings)
    else:
        raise AttributeValueError(f"padding_algorithm {algorithm!r} is unknown", hint="use EXPLICIT, SAME or VALID")
    first, second = (
        Axis(s, k, st, d, *p, ceil) for s, k, st, d, p in zip(sizes, kernels, steps, spread, pads, strict=True)
    )
    return first, second


def axes_of(image: Sequence[dims.Dim], filter_shape: Sequence[dims.Dim], attrs: dict[str, Any]) -> Axes:
    """The axes of a convolution's windows, by its attributes; both shapes have their sizes last."""
    return axes(
        image[2:], filter_shape[2:], attrs["strides"], attrs["paddings"], attrs["padding_algorithm"], attrs["dilations"]
    )


def explicit(paddings: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The attribute `paddings` as (before, after) of both axes."""
    if len(paddings) not in (1, 2, 4) or any(p < 0 for p in paddings):
        raise AttributeValueError(f"paddings must be 2 or 4 integers >= 0, got {list(paddings)}")
    if len(paddings) == 4:
        return (paddings[0], paddings[1]), (paddings[2], paddings[3])
    return (paddings[0], paddings[0]), (paddings[-1], paddings[-1])


def _same(size: dims.Dim, kernel: dims.Dim, stride: int) -> Axis:
    total = dims.maximum(((size + stride - 1) // stride - 1) * stride + kernel - size, 0)
    return Axis(size, kernel, stride, 1, total // 2, total - total // 2)


# ---- NumPy ----------------------------------------------------------------------------------------------------------


def pad(x: np.ndarray, rows: Axis, cols: Axis, value: float = 0.0) -> np.ndarray:
    """The image with its paddings, and as much more as the windows of `ceil` reach."""
    height, width = (max((a.count - 1) * a.stride + a.extent, a.before + a.size) for a in (rows, cols))
    if (height, width) == x.shape[2:]:
        return x
    out = np.full((*x.shape[:2], height, width), value, x.dtype)
    out[:, :, rows.before : rows.before + rows.size, cols.before : cols.before + cols.size] = x
    return out


def taps(x: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray:
    """A view [N, C, KH, KW, OH, OW] of a padded image: element i, j of each window."""
    sn, sc, sh, sw = x.strides
    shape = (*x.shape[:2], rows.kernel, cols.kernel, rows.count, cols.count)
    strides = (sn, sc, sh * rows.dilation, sw * cols.dilation, sh * rows.stride, sw * cols.stride)
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)


def add_taps(values: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray:
    """The adjoint of `pad` and `taps`: adds [N, C, KH, KW, OH, OW] to the elements that the windows show."""
    height, width = (max((a.count - 1) * a.stride + a.extent, a.before + a.size) for a in (rows, cols))
    out = np.zeros((*values.shape[:2], height, width), values.dtype)
    for i in range(rows.kernel):
        for j in range(cols.kernel):
            top, left = i * rows.dilation, j * cols.dilation
            out[:, :, top : top + rows.count * rows.stride : rows.stride,
                left : left + cols.count * cols.stride : cols.stride] += values[:, :, i, j]  # fmt: skip
    return out[:, :, rows.before : rows.before + rows.size, cols.before : cols.before + cols.size]
