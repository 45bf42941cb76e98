"""Convolutions."""

from __future__ import annotations

from typing import Any

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, manipulation, math
from ...tensor.arguments import known
from ...tensor.dispatch import ops
from ...tensor.promotion import as_tensor


def pair(value: Any, what: str, count: int = 2) -> list[int]:
    """An int or a list of `count` ints as a list.

    Raises:
        AttributeValueError: it is neither.
        StagedValueError: only the run knows one of them.
    """
    entries = list(value) if isinstance(value, (list, tuple)) else [value] * count
    entries = [known(v, what) for v in entries]
    if len(entries) != count or any(isinstance(v, float) and v != int(v) for v in entries):
        raise AttributeValueError(f"{what} must be an int or {count} ints, got {value!r}")
    return [int(v) for v in entries]


def sides(padding: Any) -> Any:
    """The padding of a sequence as that of an image of height 1: an int, [both], [left, right], "SAME" or "VALID".

    Raises:
        AttributeValueError: it is none of these.
    """
    if isinstance(padding, str):
        return padding
    both = not isinstance(padding, (list, tuple)) or len(padding) == 1
    left, right = pair(padding, "padding", 1) * 2 if both else pair(padding, "padding")
    return [0, 0, left, right]


def paddings(padding: Any, data_format: str) -> tuple[list[int], str]:
    """The attributes `paddings` and `padding_algorithm` for what a user gives: an int, [height, width], [top, bottom,
    left, right], a pair for each axis of the tensor, "SAME" or "VALID".

    Raises:
        AttributeValueError: it is none of these.
    """
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise AttributeValueError(f"padding {padding!r} is unknown", hint="use 'SAME', 'VALID' or numbers")
        return [0, 0], padding.upper()
    if isinstance(padding, (list, tuple)) and padding and isinstance(padding[0], (list, tuple)):
        pairs = [list(map(int, p)) for p in padding]
        if len(pairs) == 4:
            channel = [pairs[3] if data_format == "NHWC" else pairs[1], pairs[0]]
            if any(map(any, channel)):
                raise AttributeValueError(f"padding {padding!r} must be zero for the batch and the channels")
            pairs = pairs[1:3] if data_format == "NHWC" else pairs[2:]
        return [n for p in pairs for n in p], "EXPLICIT"
    if isinstance(padding, (list, tuple)) and len(padding) == 4:
        return [int(p) for p in padding], "EXPLICIT"
    return pair(padding, "padding"), "EXPLICIT"


def _add_bias(out: Tensor, bias: Tensor | None, data_format: str) -> Tensor:
    if bias is None:
        return out
    if data_format == "NHWC":
        return math.add(out, bias)
    return ops.op("elementwise_add", X=out, Y=bias, axis=1)


def conv2d(x: Any, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1, data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The cross-correlation of images with filters.

    Args:
        x: Tensor [N, C, H, W] (or [N, H, W, C] with data_format "NHWC").
        weight: Tensor [M, C / groups, KH, KW].
        bias: Tensor [M], or None.
        stride, dilation: an int or two.
        padding: see `paddings`.
        groups: channels are convolved in so many separate groups.

    Returns:
        Tensor [N, M, OH, OW], OH = floor((H + padding - dilation * (KH - 1) - 1) / stride) + 1.

    Raises:
        ShapeError: channels, filter and groups do not fit, or the filter is larger than the padded image.
    """
    pads, algorithm = paddings(padding, data_format)
    x = as_tensor(x)
    channels = x.shape[3 if data_format == "NHWC" else 1] if x.ndim == 4 else None
    depthwise = groups != 1 and groups == channels and weight.shape[0] % groups == 0
    out = ops.op("depthwise_conv2d" if depthwise else "conv2d", Input=x, Filter=weight, strides=pair(stride, "stride"),
                 paddings=pads, padding_algorithm=algorithm, dilations=pair(dilation, "dilation"), groups=groups,
                 data_format=data_format)  # fmt: skip
    return _add_bias(out, bias, data_format)


def conv2d_transpose(x: Any, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, dilation: Any = 1, groups: int = 1, output_size: Any = None,
                     data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The transposed convolution: the gradient of `conv2d` with respect to its input, as a function.

    Args:
        x: Tensor [N, C, H, W].
        weight: Tensor [C, M / groups, KH, KW].
        output_padding: added to the size at the bottom and the right.
        output_size: the spatial size of the result, where the stride leaves a choice.

    `dilation` stands before `groups`, unlike in the functions for sequences and volumes, as in PaddlePaddle.
    """
    pads, algorithm = paddings(padding, data_format)
    size = [] if output_size is None else pair(output_size, "output_size")
    extra = [] if output_padding == 0 else pair(output_padding, "output_padding")
    out = ops.op("conv2d_transpose", Input=as_tensor(x), Filter=weight, strides=pair(stride, "stride"), paddings=pads,
                 padding_algorithm=algorithm, dilations=pair(dilation, "dilation"), groups=groups,
                 data_format=data_format, output_size=size, output_padding=extra)  # fmt: skip
    return _add_bias(out, bias, data_format)


def conv1d(x: Any, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int = 1, data_format: str = "NCL", name: str | None = None) -> Tensor:  # fmt: skip
    """The cross-correlation of sequences with filters: [N, C, L] and [M, C / groups, K] → [N, M, OL].

    Args:
        padding: an int, [left, right], "SAME" or "VALID"; the rest as in `conv2d`.
    """
    x = as_tensor(x)
    if x.ndim != 3:
        raise ShapeError(f"conv1d takes a tensor of 3 dims, got {x.ndim}")
    last = data_format == "NLC"
    image = manipulation.unsqueeze(x, 1 if last else 2)
    out = conv2d(image, manipulation.unsqueeze(weight, 2), bias, [1, *pair(stride, "stride", 1)], sides(padding),
                 [1, *pair(dilation, "dilation", 1)], groups, "NHWC" if last else "NCHW")  # fmt: skip
    return manipulation.squeeze(out, 1 if last else 2)


def conv1d_transpose(x: Any, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
                     output_padding: Any = 0, groups: int = 1, dilation: Any = 1, output_size: Any = None,
                     data_format: str = "NCL", name: str | None = None) -> Tensor:  # fmt: skip
    """The transposed convolution of sequences: [N, C, L] and [C, M / groups, K] → [N, M, OL]; arguments as in `conv2d_transpose`."""
    x = as_tensor(x)
    if x.ndim != 3:
        raise ShapeError(f"conv1d_transpose takes a tensor of 3 dims, got {x.ndim}")
    last = data_format == "NLC"
    extra = 0 if output_padding in (0, [0], (0,)) else [0, *pair(output_padding, "output_padding", 1)]
    size = None if output_size is None else [1, *pair(output_size, "output_size", 1)]
    out = conv2d_transpose(manipulation.unsqueeze(x, 1 if last else 2), manipulation.unsqueeze(weight, 2), bias,
                           [1, *pair(stride, "stride", 1)], sides(padding), extra,
                           [1, *pair(dilation, "dilation", 1)], groups, size, "NHWC" if last else "NCHW")  # fmt: skip
    return manipulation.squeeze(out, 1 if last else 2)
