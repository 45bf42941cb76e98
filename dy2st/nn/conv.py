"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from ..errors import AttributeValueError
from ..tensor import Tensor
from . import functional as F
from .functional.conv import pair
from .initializer import Normal
from .layer import Layer


class _Conv(Layer):
    """What convolutions share: the filter [out, in / groups, *kernel] and the bias [out]."""

    rank = 2
    transposed = False

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCHW") -> None:  # fmt: skip
        super().__init__()
        if in_channels % groups or out_channels % groups:
            raise AttributeValueError(f"{in_channels} and {out_channels} channels cannot be split in {groups} groups",
                                 hint="both must be divisible by groups")  # fmt: skip
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise AttributeValueError(f"padding_mode {padding_mode!r} is unknown")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = pair(kernel_size, "kernel_size", self.rank)
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.padding_mode, self.data_format = padding_mode, data_format
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        if self.transposed:
            shape, default = [in_channels, out_channels // groups, *self.kernel_size], None
        else:
            shape = [out_channels, in_channels // groups, *self.kernel_size]
            default = Normal(0.0, math.sqrt(2.0 / (in_channels * math.prod(self.kernel_size))))
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=default)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def _padded(self, x: Any) -> tuple[Any, Any]:
        """The input and the padding that is left to the convolution."""
        if self.padding_mode == "zeros":
            return x, self.padding
        sides = [p for n in pair(self.padding, "padding", self.rank)[::-1] for p in (n, n)]
        return F.pad(x, sides, self.padding_mode, data_format=self.data_format), 0

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, default in (("padding", 0), ("dilation", 1), ("groups", 1)):
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return f"{text}, data_format={self.data_format}"


class Conv2D(_Conv):
    """The convolution of images: [N, in_channels, H, W] → [N, out_channels, OH, OW].

    Args:
        in_channels, out_channels: numbers of channels.
        kernel_size, stride, dilation: an int or two.
        padding: an int, two ints, [top, bottom, left, right], "SAME" or "VALID".
        groups: channels are convolved in so many separate groups.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
        weight_attr, bias_attr: see `ParamAttr`; bias_attr False: no bias.
        data_format: "NCHW" or "NHWC".

    Raises:
        AttributeValueError: the groups do not divide the channels.

    >>> from dy2st import zeros
    >>> Conv2D(3, 8, 3, padding=1)(zeros([1, 3, 5, 5])).shape
    [1, 8, 5, 5]
    """

    def forward(self, x: Any) -> Tensor:
        x, padding = self._padded(x)
        return F.conv2d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups, self.data_format)


class Conv1D(_Conv):
    """The convolution of sequences: [N, in_channels, L] → [N, out_channels, OL]; arguments as for `Conv2D`."""

    rank = 1

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCL") -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode,
                         weight_attr, bias_attr, data_format)  # fmt: skip

    def forward(self, x: Any) -> Tensor:
        x, padding = self._padded(x)
        return F.conv1d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups, self.data_format)


class Conv2DTranspose(_Conv):
    """The transposed convolution of images: [N, in_channels, H, W] → [N, out_channels, OH, OW], OH = (H - 1) * stride -
    2 * padding + dilation * (KH - 1) + output_padding + 1."""

    transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 output_padding: Any = 0, dilation: Any = 1, groups: int = 1, weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCHW") -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, "zeros",
                         weight_attr, bias_attr, data_format)  # fmt: skip
        self.output_padding = output_padding

    def forward(self, x: Any, output_size: Any = None) -> Tensor:
        return F.conv2d_transpose(x, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.dilation, self.groups, output_size, self.data_format)  # fmt: skip


class Conv1DTranspose(_Conv):
    """The transposed convolution of sequences: [N, in_channels, L] → [N, out_channels, OL]; arguments as for `Conv2DTranspose`."""

    rank, transposed = 1, True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 output_padding: Any = 0, groups: int = 1, dilation: Any = 1, weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCL") -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, "zeros",
                         weight_attr, bias_attr, data_format)  # fmt: skip
        self.output_padding = output_padding

    def forward(self, x: Any, output_size: Any = None) -> Tensor:
        return F.conv1d_transpose(x, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.groups, self.dilation, output_size, self.data_format)  # fmt: skip


class Conv3D(_Conv):
    """The convolution of volumes: [N, in_channels, D, H, W] → [N, out_channels, OD, OH, OW]; arguments as for `Conv2D`, with three
    numbers for two."""

    rank = 3

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCDHW") -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode,
                         weight_attr, bias_attr, data_format)  # fmt: skip

    def forward(self, x: Any) -> Tensor:
        x, padding = self._padded(x)
        return F.conv3d(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups, self.data_format)


class Conv3DTranspose(_Conv):
    """The transposed convolution of volumes; arguments as for `Conv2DTranspose`, with three numbers for two."""

    rank, transposed = 3, True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 output_padding: Any = 0, dilation: Any = 1, groups: int = 1, weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCDHW") -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, "zeros",
                         weight_attr, bias_attr, data_format)  # fmt: skip
        self.output_padding = output_padding

    def forward(self, x: Any, output_size: Any = None) -> Tensor:
        return F.conv3d_transpose(x, self.weight, self.bias, self.stride, self.padding, self.output_padding,
                                  self.groups, self.dilation, output_size, self.data_format)  # fmt: skip
