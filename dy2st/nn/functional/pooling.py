"""Pooling: maxima and averages of windows."""

from __future__ import annotations

from typing import Any

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, manipulation, reduction
from ...tensor.arguments import staged
from ...tensor.attribute import is_size
from ...tensor.dispatch import ops
from ...tensor.promotion import as_tensor
from .conv import paddings, pair, sides


def _pool(x: Any, kind: str, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, exclusive: bool,
          data_format: str) -> Tensor:  # fmt: skip
    x, (pads, algorithm) = as_tensor(x), paddings(padding, data_format)
    stride = kernel_size if stride is None else stride
    size, step = ([*v] if isinstance(v, (list, tuple)) else [v] * 2 for v in (kernel_size, stride))
    if any(map(staged, size)) and not any(pads) and algorithm != "SAME":
        # a window as high and as wide as the image is all of it, whatever the run says that this is
        first = 1 if data_format == "NHWC" else 2
        whole = [i for i, n in enumerate(size) if is_size(n, x, first + i)]
        if len(whole) == 2:
            return ops.op("pool2d", X=x, pooling_type=kind, global_pooling=True, data_format=data_format)
        if whole and kind == "avg":  # the gradient of a maximum goes to the first in the window: not so of a maximum of maxima
            x = reduction.mean(x, [first + i for i in whole], keepdim=True)
            size, step = ([1 if i in whole else n for i, n in enumerate(given)] for given in (size, step))
    return ops.op("pool2d", X=x, pooling_type=kind, ksize=pair(size, "kernel_size"), strides=pair(step, "stride"), paddings=pads,
                  padding_algorithm=algorithm, ceil_mode=ceil_mode, exclusive=exclusive,
                  data_format=data_format)  # fmt: skip


def max_pool2d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False,
               ceil_mode: bool = False, data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The maximum of each window.

    Args:
        x: Tensor [N, C, H, W] (or [N, H, W, C] with data_format "NHWC").
        kernel_size, stride: an int or two; the stride is the kernel size by default. Sizes that only the run knows can be
            `x.shape[2:]`: all of the image.
        padding: as in `conv2d`; padded elements never win.
        ceil_mode: output sizes are rounded up.

    Raises:
        ShapeError: the output would be empty.

    >>> max_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 2).numpy()
    array([[[[4.]]]], dtype=float32)
    """
    if return_mask:
        raise AttributeValueError("max_pool2d: return_mask is not supported")
    return _pool(x, "max", kernel_size, stride, padding, ceil_mode, True, data_format)


def avg_pool2d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               exclusive: bool = True, divisor_override: Any = None, data_format: str = "NCHW",
               name: str | None = None) -> Tensor:  # fmt: skip
    """The average of each window.

    Args:
        exclusive: of the elements inside the image only, not of the padded ones.
        divisor_override: what the sum of a window is divided by, instead of their number.
        kernel_size: also the height or the width of x and another number.

    The rest is as in `max_pool2d`.
    """
    if divisor_override is not None:
        size = kernel_size if isinstance(kernel_size, (list, tuple)) else [kernel_size] * 2
        out = _pool(x, "avg", kernel_size, stride, padding, ceil_mode, False, data_format)
        return out * (size[0] * size[1] / divisor_override)
    return _pool(x, "avg", kernel_size, stride, padding, ceil_mode, exclusive, data_format)


def _adaptive(x: Any, kind: str, output_size: Any, data_format: str) -> Tensor:
    x = as_tensor(x)
    size = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * 2
    spatial = x.shape[1:3] if data_format == "NHWC" else x.shape[2:]
    size = [spatial[i] if n is None else n for i, n in enumerate(size)]
    if -1 in [n for n in size if not isinstance(n, Tensor)]:
        raise ShapeError("adaptive pooling to None needs a size that is known when the program is built")
    return ops.op("pool2d", X=x, pooling_type=kind, ksize=pair(size, "output_size"), adaptive=True,
                  data_format=data_format)  # fmt: skip


def adaptive_avg_pool2d(x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The averages of a grid of `output_size` cells that covers the image; None keeps a size.

    >>> adaptive_avg_pool2d(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1).numpy()
    array([[[[2.5]]]], dtype=float32)
    """
    return _adaptive(x, "avg", output_size, data_format)


def adaptive_max_pool2d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Tensor:
    """The maxima of a grid of `output_size` cells that covers the image; None keeps a size."""
    if return_mask:
        raise AttributeValueError("adaptive_max_pool2d: return_mask is not supported")
    return _adaptive(x, "max", output_size, "NCHW")


def _one(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) else value


def _as_image(x: Any) -> Tensor:
    x = as_tensor(x)
    if x.ndim != 3:
        raise ShapeError(f"pooling of sequences takes a tensor of 3 dims, got {x.ndim}")
    return manipulation.unsqueeze(x, 2)


def _pool1d(x: Any, kind: str, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, exclusive: bool) -> Tensor:
    stride = kernel_size if stride is None else stride
    size, step = pair(kernel_size, "kernel_size", 1), pair(stride, "stride", 1)
    out = _pool(_as_image(x), kind, [1, *size], [1, *step], sides(padding), ceil_mode, exclusive, "NCHW")
    return manipulation.squeeze(out, 2)


def max_pool1d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False,
               ceil_mode: bool = False, name: str | None = None) -> Tensor:  # fmt: skip
    """The maximum of each window of sequences [N, C, L]."""
    if return_mask:
        raise AttributeValueError("max_pool1d: return_mask is not supported")
    return _pool1d(x, "max", kernel_size, stride, padding, ceil_mode, True)


def avg_pool1d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, exclusive: bool = True,
               ceil_mode: bool = False, name: str | None = None) -> Tensor:  # fmt: skip
    """The average of each window of sequences [N, C, L]."""
    return _pool1d(x, "avg", kernel_size, stride, padding, ceil_mode, exclusive)


def adaptive_avg_pool1d(x: Any, output_size: Any, name: str | None = None) -> Tensor:
    """The averages of `output_size` cells that cover sequences [N, C, L]."""
    return manipulation.squeeze(_adaptive(_as_image(x), "avg", [1, _one(output_size)], "NCHW"), 2)


def adaptive_max_pool1d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Tensor:
    """The maxima of `output_size` cells that cover sequences [N, C, L]."""
    if return_mask:
        raise AttributeValueError("adaptive_max_pool1d: return_mask is not supported")
    return manipulation.squeeze(_adaptive(_as_image(x), "max", [1, _one(output_size)], "NCHW"), 2)
