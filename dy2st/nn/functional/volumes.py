"""Convolution and pooling of volumes, by those of images.

A window along the depth becomes channels: [N, C, D, H, W] is seen as N * OD images of C * KD channels. Pooling is done for height and
width, and then for the depth; a maximum of maxima is the maximum, and as the windows are boxes the same holds for averages.
"""

from __future__ import annotations

from typing import Any

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, manipulation
from ...tensor.dispatch import ops
from ...tensor.failures import require_sizes
from ...tensor.promotion import as_tensor
from .common import pad
from .conv import conv2d, conv2d_transpose, pair


def _margins(padding: Any, data_format: str) -> Any:
    """The padding as three pairs (before, after), or "SAME" or "VALID".

    Raises:
        AttributeValueError: it is neither of these, nor an int, 3 or 6 ints, or pairs for the axes.
    """
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise AttributeValueError(f"padding {padding!r} is unknown", hint="use 'SAME', 'VALID' or numbers")
        return padding.upper()
    if isinstance(padding, (list, tuple)) and padding and isinstance(padding[0], (list, tuple)):
        pairs = [tuple(map(int, p)) for p in padding]
        if len(pairs) == 5:
            spatial = pairs[1:4] if data_format == "NDHWC" else pairs[2:]
            if any(map(any, [p for p in pairs if p not in spatial])):
                raise AttributeValueError(f"padding {padding!r} must be zero for the batch and the channels")
            return spatial
        return pairs
    if isinstance(padding, (list, tuple)) and len(padding) == 6:
        return [(int(padding[i]), int(padding[i + 1])) for i in (0, 2, 4)]
    return [(p, p) for p in pair(padding, "padding", 3)]


def _volume(x: Any, data_format: str, what: str) -> Tensor:
    """[N, D, C, H, W] of a tensor in either layout."""
    x = as_tensor(x)
    if data_format not in ("NCDHW", "NDHWC"):
        raise AttributeValueError(f"{what}: data_format {data_format!r} is unknown", hint="use 'NCDHW' or 'NDHWC'")
    if x.ndim != 5:
        raise ShapeError(f"{what} takes a tensor of 5 dims, got {x.ndim}")
    return manipulation.transpose(x, [0, 1, 4, 2, 3] if data_format == "NDHWC" else [0, 2, 1, 3, 4])


def _depth_as_channels(x: Tensor, kernel: int, stride: int, dilation: int, what: str) -> tuple[Tensor, Any]:
    """[N, D, C, H, W] as images [N * OD, C * KD, H, W], and OD."""
    n, d, c, h, w = x.shape
    count = (d - (dilation * (kernel - 1) + 1)) // stride + 1
    require_sizes(count >= 1, lambda: f"{what}: the filter is larger than the padded volume")
    starts = [k * dilation for k in range(kernel)]
    parts = [x[:, s : s + (count - 1) * stride + 1 : stride] for s in starts]
    return manipulation.reshape(manipulation.stack(parts, 3), [n * count, c * kernel, h, w]), count


def _back(images: Tensor, n: Any, count: Any, data_format: str) -> Tensor:
    """Images [N * OD, M, OH, OW] as a volume in the layout."""
    _, m, h, w = images.shape
    out = manipulation.reshape(images, [n, count, m, h, w])
    return manipulation.transpose(out, [0, 1, 3, 4, 2] if data_format == "NDHWC" else [0, 2, 1, 3, 4])


def conv3d(x: Any, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1, data_format: str = "NCDHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The cross-correlation of volumes with filters.

    Args:
        x: Tensor [N, C, D, H, W] (or [N, D, H, W, C] with data_format "NDHWC").
        weight: Tensor [M, C / groups, KD, KH, KW].
        bias: Tensor [M], or None.
        stride, dilation: an int or three.
        padding: an int, three ints, [front, back, top, bottom, left, right], a pair for each axis, "SAME" (the depth must be
            known) or "VALID".
        groups: channels are convolved in so many separate groups.

    Raises:
        ShapeError: channels, filter and groups do not fit, or the filter is larger than the padded volume.
    """
    x = _volume(x, data_format, "conv3d")
    steps, spread = pair(stride, "stride", 3), pair(dilation, "dilation", 3)
    margins = _margins(padding, data_format)
    m, c, kd, kh, kw = weight.shape
    rest: Any = margins
    if margins == "SAME":
        depth, spread[0] = x._form.shape[1], 1
        if depth == -1:
            raise ShapeError("conv3d: padding 'SAME' needs a depth that is known when the program is built")
        total = max((-(-depth // steps[0]) - 1) * steps[0] + kd - depth, 0)
        front = (total // 2, total - total // 2)
    else:
        front = (0, 0) if margins == "VALID" else margins[0]
        rest = margins if margins == "VALID" else [n for p in margins[1:] for n in p]
    if any(front):
        x = pad(x, [0, 0, *front, 0, 0, 0, 0, 0, 0])
    images, count = _depth_as_channels(x, kd, steps[0], spread[0], "conv3d")
    flat = manipulation.reshape(weight, [m, c * kd, kh, kw])
    out = conv2d(images, flat, bias, steps[1:], rest, spread[1:], groups)
    return _back(out, x.shape[0], count, data_format)


def conv3d_transpose(x: Any, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1, output_size: Any = None,
                     data_format: str = "NCDHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The transposed convolution: the gradient of `conv3d` with respect to its input, as a function.

    Args:
        x: Tensor [N, C, D, H, W] (or [N, D, H, W, C] with data_format "NDHWC").
        weight: Tensor [C, M / groups, KD, KH, KW].
        padding: numbers as in `conv3d`.
        output_padding: added to the sizes at their ends.

    Raises:
        AttributeValueError: the padding is a word, or output_size is given.
    """
    margins = _margins(padding, data_format)
    if isinstance(margins, str) or output_size is not None:
        raise AttributeValueError("conv3d_transpose takes its padding in numbers, and output_padding instead of output_size")
    x = _volume(x, data_format, "conv3d_transpose")
    n, _, c, h, w = x.shape
    steps, spread, extra = pair(stride, "stride", 3), pair(dilation, "dilation", 3), pair(output_padding, "output_padding", 3)
    _, m, kd, kh, kw = weight.shape
    # zeros between the slices, and around them as far as the filter reaches; then it is a convolution with the reversed filter
    spaced = manipulation.reshape(pad(manipulation.unsqueeze(x, 2), [0, 0, 0, 0, 0, steps[0] - 1, *[0] * 6]), [n, -1, c, h, w])
    reach = spread[0] * (kd - 1)
    (before, after), *others = margins
    ends = (reach - before, reach - after + extra[0] - (steps[0] - 1))
    spaced = pad(spaced, [0, 0, max(ends[0], 0), max(ends[1], 0), *[0] * 6])
    if min(ends) < 0:
        spaced = spaced[:, max(-ends[0], 0) : spaced.shape[1] - max(-ends[1], 0)]
    images, count = _depth_as_channels(spaced, kd, 1, spread[0], "conv3d_transpose")
    reversed_depth = manipulation.flip(manipulation.transpose(weight, [0, 2, 1, 3, 4]), 1)
    flat = manipulation.reshape(reversed_depth, [c * kd, m, kh, kw])
    out = conv2d_transpose(images, flat, bias, steps[1:], [v for p in others for v in p], extra[1:], spread[1:], groups)
    return _back(out, n, count, data_format)


def _pool(x: Any, data_format: str, first: dict[str, Any], then: dict[str, Any], what: str) -> Tensor:
    x = manipulation.transpose(_volume(x, data_format, what), [0, 2, 1, 3, 4])
    n, c, d, h, w = x.shape
    x = ops.op("pool2d", X=manipulation.reshape(x, [n, c * d, h, w]), **first)
    h, w = x.shape[2:]
    x = ops.op("pool2d", X=manipulation.reshape(x, [n, c, d, h * w]), **then)
    x = manipulation.reshape(x, [n, c, x.shape[2], h, w])
    return manipulation.transpose(x, [0, 2, 3, 4, 1]) if data_format == "NDHWC" else x


def _windows(x: Any, kind: str, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, exclusive: bool,
             data_format: str, what: str) -> Tensor:  # fmt: skip
    size = pair(kernel_size, "kernel_size", 3)
    steps = size if stride is None else pair(stride, "stride", 3)
    margins = _margins(padding, data_format)
    common = {"pooling_type": kind, "ceil_mode": ceil_mode, "exclusive": exclusive}
    if isinstance(margins, str):
        pads = {"padding_algorithm": margins}
        first, then = pads, pads
    else:
        first, then = {"paddings": [*margins[1], *margins[2]]}, {"paddings": [*margins[0], 0, 0]}  # type: ignore[dict-item]
    return _pool(x, data_format, {**common, **first, "ksize": size[1:], "strides": steps[1:]},
                 {**common, **then, "ksize": [size[0], 1], "strides": [steps[0], 1]}, what)  # fmt: skip


def max_pool3d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False,
               ceil_mode: bool = False, data_format: str = "NCDHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The maximum of each window of volumes [N, C, D, H, W] (or as `data_format` says); arguments as for `max_pool2d`, with three
    numbers for two."""
    if return_mask:
        raise AttributeValueError("max_pool3d: return_mask is not supported")
    return _windows(x, "max", kernel_size, stride, padding, ceil_mode, True, data_format, "max_pool3d")


def avg_pool3d(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               exclusive: bool = True, divisor_override: Any = None, data_format: str = "NCDHW",
               name: str | None = None) -> Tensor:  # fmt: skip
    """The average of each window of volumes [N, C, D, H, W] (or as `data_format` says); arguments as for `avg_pool2d`, with three
    numbers for two."""
    if divisor_override is not None:
        d, h, w = pair(kernel_size, "kernel_size", 3)
        out = _windows(x, "avg", kernel_size, stride, padding, ceil_mode, False, data_format, "avg_pool3d")
        return out * (d * h * w / divisor_override)
    return _windows(x, "avg", kernel_size, stride, padding, ceil_mode, exclusive, data_format, "avg_pool3d")


def _adaptive(x: Any, kind: str, output_size: Any, data_format: str, what: str) -> Tensor:
    x = as_tensor(x)
    size = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * 3
    spatial = list(x._form.shape)[1:4] if data_format == "NDHWC" else list(x._form.shape)[2:]
    for i, n in enumerate(size):
        if n is None:
            if spatial[i] == -1:
                raise ShapeError(f"{what} to None needs a size that is known when the program is built")
            size[i] = spatial[i]
    d, h, w = pair(size, "output_size", 3)
    common = {"pooling_type": kind, "adaptive": True}
    # in the second step an image of d rows and h * w columns keeps its columns: each is a cell of its own
    return _pool(x, data_format, {**common, "ksize": [h, w]}, {**common, "ksize": [d, h * w]}, what)


def adaptive_avg_pool3d(x: Any, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> Tensor:
    """The averages of a grid of `output_size` cells that covers the volume; None keeps a size."""
    return _adaptive(x, "avg", output_size, data_format, "adaptive_avg_pool3d")


def adaptive_max_pool3d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Tensor:
    """The maxima of a grid of `output_size` cells that covers the volume; None keeps a size."""
    if return_mask:
        raise AttributeValueError("adaptive_max_pool3d: return_mask is not supported")
    return _adaptive(x, "max", output_size, "NCDHW", "adaptive_max_pool3d")
