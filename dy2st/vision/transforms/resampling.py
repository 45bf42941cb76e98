"""Arrays in another size. PaddlePaddle leaves this to OpenCV; the formulas of `nearest`, `bilinear` and `bicubic` are those."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import AttributeValueError, DTypeError

_DTYPES = ("uint8", "uint16", "int16", "float32", "float64")  # that OpenCV resizes


def resized(img: NDArray, height: int, width: int, interpolation: str) -> NDArray:
    """An array (H, W) or (H, W, C) in another size, of the same dtype. Pixels beyond an edge are those at the edge."""
    if height < 1 or width < 1:
        raise AttributeValueError(f"resize: the size ({height}, {width}) has no pixels")
    if img.dtype.name not in _DTYPES:
        raise DTypeError(f"resize: arrays of {img.dtype} are not resized; use one of {', '.join(_DTYPES)}")
    if interpolation == "nearest":
        return img[_nearest(img.shape[0], height)][:, _nearest(img.shape[1], width)]
    if interpolation not in ("bilinear", "bicubic"):
        raise AttributeValueError(f"resize: interpolation={interpolation!r} of arrays is not there",
                                  hint='use "nearest", "bilinear" or "bicubic", or a PIL image')  # fmt: skip
    if img.shape[:2] == (height, width):
        return img.copy()
    out = img.astype(np.float64 if img.dtype == np.float64 else np.float32)
    for axis, size in ((1, width), (0, height)):
        positions, weights = _taps(img.shape[axis], size, interpolation)
        shape = [1] * img.ndim
        shape[axis] = size
        terms = (np.take(out, p, axis) * w.astype(out.dtype).reshape(shape) for p, w in zip(positions, weights, strict=True))
        out = sum(terms, np.zeros((), out.dtype))
    if img.dtype.kind == "f":
        return out
    limits = np.iinfo(img.dtype)
    return np.rint(out).clip(limits.min, limits.max).astype(img.dtype)


def _nearest(old: int, new: int) -> NDArray:
    """The pixel that each new pixel is a copy of."""
    return np.minimum(np.floor(np.arange(new) * (old / new)).astype(np.int64), old - 1)


def _taps(old: int, new: int, interpolation: str) -> tuple[list[NDArray], list[NDArray]]:
    """The old pixels, and their weights, of which each new pixel is the sum. The centers of pixels are at 0.5, 1.5, ..."""
    centers = (np.arange(new) + 0.5) * (old / new) - 0.5
    first = np.floor(centers).astype(np.int64)
    t = centers - first
    if interpolation == "bilinear":
        offsets, weights = [0, 1], [1 - t, t]
    else:
        offsets, weights = [-1, 0, 1, 2], [_cubic(t + 1), _cubic(t), _cubic(1 - t), _cubic(2 - t)]
    return [np.clip(first + offset, 0, old - 1) for offset in offsets], weights


def _cubic(x: NDArray, a: float = -0.75) -> NDArray:
    """The cubic convolution kernel (Keys 1981) at distances between 0 and 2."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, far)
