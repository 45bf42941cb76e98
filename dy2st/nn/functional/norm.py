"""Normalization."""

from __future__ import annotations

import math as _math
from typing import Any

from dy2st_runtime import dims

from ...errors import ShapeError
from ...tensor import Tensor, creation, manipulation, math, scaling
from ...tensor.attribute import size_of
from ...tensor.dispatch import ops
from ...tensor.failures import require_sizes
from ...tensor.promotion import as_tensor


def batch_norm(x: Any, running_mean: Tensor, running_var: Tensor, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.9, epsilon: float = 1e-5,
               data_format: str = "NCHW", use_global_stats: bool | None = None,
               name: str | None = None) -> Tensor:  # fmt: skip
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, for each channel over all other axes.

    Args:
        x: Tensor [N, C], [N, C, L], [N, C, H, W] or [N, C, D, H, W], or with the channels last.
        running_mean, running_var: Tensors [C]; in training updated in place to momentum * old + (1 - momentum) * new,
            otherwise used as the statistics.
        weight, bias: Tensors [C]; None: ones and zeros.
        training: whether the statistics are those of x.
        use_global_stats: True: the running statistics in training too.
    """
    x = as_tensor(x)
    channels = running_mean.shape
    weight = creation.ones(channels, running_mean.dtype) if weight is None else weight
    bias = creation.zeros(channels, running_mean.dtype) if bias is None else bias
    layout = "NHWC" if data_format.endswith("C") and len(data_format) > 2 else "NCHW"
    return ops.op("batch_norm", X=x, Scale=weight, Bias=bias, Mean=running_mean, Variance=running_var,
                  momentum=float(momentum), epsilon=float(epsilon), is_test=not training, data_layout=layout,
                  use_global_stats=(not training) if use_global_stats is None else bool(use_global_stats))[0]  # fmt: skip


def layer_norm(x: Any, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None,
               epsilon: float = 1e-5, name: str | None = None) -> Tensor:  # fmt: skip
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, over the last axes.

    Args:
        x: Tensor whose last sizes are `normalized_shape` (an int or a list).
        weight, bias: Tensors of `normalized_shape`, or None.

    Raises:
        ShapeError: the last sizes of x differ.

    >>> layer_norm(Tensor([[1.0, 3.0]]), 2).numpy().round(3)
    array([[-1.,  1.]], dtype=float32)
    """
    x = as_tensor(x)
    shape = [int(normalized_shape)] if isinstance(normalized_shape, int) else [int(d) for d in normalized_shape]
    begin = x.ndim - len(shape)

    def message() -> str:
        return f"layer_norm: the last sizes of {dims.show(x._form.shape)} are not {shape}"

    hint = "normalized_shape is that of the axes to normalize over"
    require_sizes(begin >= 0, message, hint)
    for i, n in enumerate(shape):
        require_sizes(size_of(x, begin + i) == n, message, hint)
    flat = [_math.prod(shape)]
    scale, shift = (None if p is None else as_tensor(p) for p in (weight, bias))
    scale, shift = (p if p is None or p.ndim == 1 else manipulation.reshape(p, flat) for p in (scale, shift))
    return ops.op("layer_norm", X=x, Scale=scale, Bias=shift, epsilon=float(epsilon), begin_norm_axis=begin)[0]


def group_norm(x: Any, num_groups: int, epsilon: float = 1e-5, weight: Tensor | None = None, bias: Tensor | None = None,
               data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """Normalizes groups of channels of each image."""
    return ops.op("group_norm", X=as_tensor(x), Scale=weight, Bias=bias, epsilon=float(epsilon), groups=int(num_groups),
                  data_layout=data_format)[0]  # fmt: skip


def instance_norm(x: Any, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.9, eps: float = 1e-5, data_format: str = "NCHW",
                  name: str | None = None) -> Tensor:  # fmt: skip
    """Normalizes each channel of each image."""
    return ops.op("instance_norm", X=as_tensor(x), Scale=weight, Bias=bias, epsilon=float(eps))[0]


def local_response_norm(x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0,
                        data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """x / (k + alpha * mean of the squares of `size` neighbouring channels) ** beta."""
    x = as_tensor(x)
    if x.ndim != 4 or data_format != "NCHW":
        raise ShapeError("local_response_norm takes a tensor [N, C, H, W]")
    from .common import pad

    n, c, h, w = x.shape
    squares = manipulation.reshape(math.square(x), [n, 1, c, h * w])
    padded = pad(squares, [0, 0, 0, 0, size // 2, (size - 1) // 2, 0, 0])
    means = ops.op("pool2d", X=padded, pooling_type="avg", ksize=[size, 1], exclusive=False)
    return x / math.pow(scaling.scale(manipulation.reshape(means, [n, c, h, w]), alpha, k), beta)
