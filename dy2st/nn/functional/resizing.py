"""Images in other sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import AttributeValueError
from ...tensor import Tensor, creation, dispatch, linalg, logic, manipulation, math
from ...tensor.arguments import numbers, staged
from ...tensor.attribute import size_of
from ...tensor.dispatch import ops
from ...tensor.promotion import as_tensor, cast
from .pooling import adaptive_avg_pool2d


def interpolate(x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False,
                align_mode: int = 0, data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """Images in another size.

    Args:
        x: Tensor [N, C, H, W] (or as `data_format` says: "NHWC", "NCL" / "NCW", "NCDHW").
        size: the new spatial sizes: an int, a list of ints and one-element tensors, or a 1-d tensor.
        scale_factor: factors on the sizes, instead of `size`.
        mode: "nearest", "linear", "bilinear", "trilinear" or "area".
        align_corners: corner pixels of input and output coincide.
        align_mode: 1: pixel i is at i, not at i + 0.5 (without align_corners).

    Raises:
        AttributeValueError: the mode is unknown, not exactly one of size and scale_factor is given, or a new size is not positive.
        StagedValueError: only the run knows the new sizes, of mode "area".

    >>> interpolate(Tensor([[[[1.0, 2.0]]]]), size=[1, 4]).numpy()
    array([[[[1., 1., 2., 2.]]]], dtype=float32)
    """
    x = as_tensor(x)
    last = data_format.upper().endswith("C")
    axes = list(range(1, x.ndim - 1)) if last else list(range(2, x.ndim))
    if (size is None) == (scale_factor is None):
        raise AttributeValueError("interpolate takes either size or scale_factor")
    old = [size_of(x, a) for a in axes]
    factors: list[Any] = [None] * len(axes)
    if size is not None:
        new = numbers(size, "interpolate: size", len(axes))
    else:
        factors = numbers(scale_factor, "interpolate: scale_factor", len(axes), float)
        new = [_scaled(n, s) for n, s in zip(old, factors, strict=True)]
    if min((m for m in new if not staged(m)), default=1) < 1:
        raise AttributeValueError(f"interpolate: the sizes must be positive, got {new}", hint="change size or scale_factor")
    mode = mode.lower()
    if mode == "area":
        return adaptive_avg_pool2d(x, new, data_format)
    if mode not in ("nearest", "linear", "bilinear", "trilinear"):
        raise AttributeValueError(f"interpolate: the mode {mode!r} is not supported",
                                  hint="use nearest, linear, bilinear, trilinear or area")  # fmt: skip
    for axis, n, m, factor in zip(axes, old, new, factors, strict=True):
        if staged(n) or staged(m):
            x = _resized_in_the_run(x, axis, n, m, factor, mode == "nearest", align_corners, align_mode)
            continue
        ratio = _ratio(n, m, factor)
        if mode == "nearest":
            x = ops.op("gather", X=x, Index=dispatch.constant(_nearest(n, m, ratio, align_corners)), axis=axis)
        elif ratio != 1 or align_corners:
            x = _along(x, dispatch.constant(_linear_weights(n, m, ratio, align_corners, align_mode).astype(x.dtype)), axis)
    return x


upsample = interpolate


def _scaled(n: Any, factor: Any) -> Any:
    if staged(n) or staged(factor):
        return cast(math.multiply(_float64(n), _float64(factor)), "int64")
    return int(n * factor)


def _ratio(n: int, m: int, factor: float | None) -> float:
    """How far apart in the source two neighbouring target pixels are: what the sizes say, and where they are rounded, the factor."""
    return n / m if factor is None or n * factor == m else 1 / factor


def _float64(x: Any) -> Tensor:
    """A number as a tensor of float64: no number of Python's, which would take another dtype beside a tensor."""
    return Tensor.wrap(cast(as_tensor(x), "float64")._value, True)


def _resized_in_the_run(x: Tensor, axis: int, n: Any, m: Any, factor: Any, nearest: bool, align_corners: bool, align_mode: int) -> Tensor:
    """x with an axis of size n resized to m, where only the run knows one of them: the same as below by operations."""
    size, new = _float64(n), _float64(m)
    ratio = size / new
    if factor is not None:
        exact = _float64(factor)
        ratio = logic.where(size * exact == new, ratio, 1.0 / exact)
    at = creation.linspace(0, new - 1, cast(as_tensor(m), "int64"), "float64")  # fails if there is no element
    if align_corners:
        ratio = logic.where(new > 1, (size - 1) / math.maximum(new - 1, 1.0), 0.0)
    if nearest:
        places = math.minimum(ratio * at + 0.5 if align_corners else at * ratio, size - 1)
        return ops.op("gather", X=x, Index=cast(places, "int64"), axis=axis)
    if align_corners or align_mode == 1:
        at = at * ratio
    else:
        at = math.maximum((at + 0.5) * ratio - 0.5, 0.0)
    low = math.minimum(math.floor(at), size - 1)
    high = math.minimum(low + 1, size - 1)
    rows = manipulation.unsqueeze(creation.arange(0, n, 1, "float64"), 1)
    part = at - low
    weights = logic.where(rows == low, 1 - part, 0.0) + logic.where(rows == high, part, 0.0)
    found = _along(x, cast(weights, x.dtype), axis)
    if align_corners:
        return found
    # of the size that it has it stays as it is
    return logic.where(ratio == 1, ops.op("gather", X=x, Index=cast(low, "int64"), axis=axis), found)


def _nearest(n: int, m: int, ratio: float, align_corners: bool) -> np.ndarray:
    """The source pixel of each of m target pixels."""
    if align_corners:
        ratio = (n - 1) / (m - 1) if m > 1 else 0.0
        return np.minimum((ratio * np.arange(m) + 0.5).astype(np.int64), n - 1)
    return np.minimum((np.arange(m) * ratio).astype(np.int64), n - 1)


def _linear_weights(n: int, m: int, ratio: float, align_corners: bool, align_mode: int) -> np.ndarray:
    """A matrix [n, m] with the weights of the source pixels in each target pixel."""
    if align_corners:
        at = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0)
    elif align_mode == 1:
        at = np.arange(m) * ratio
    else:
        at = np.maximum((np.arange(m) + 0.5) * ratio - 0.5, 0)
    low = np.minimum(at.astype(np.int64), n - 1)
    high = np.minimum(low + 1, n - 1)
    weights = np.zeros((n, m))
    np.add.at(weights, (low, np.arange(m)), 1 - (at - low))
    np.add.at(weights, (high, np.arange(m)), at - low)
    return weights


def _along(x: Tensor, m: Tensor, axis: int) -> Tensor:
    """The product with a matrix along one axis."""
    if axis == x.ndim - 1:
        return linalg.matmul(x, m)
    return manipulation.swapaxes(linalg.matmul(manipulation.swapaxes(x, axis, -1), m), axis, -1)
