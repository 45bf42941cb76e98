"""The windows of convolutions, transposed ones too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dims
from ..errors import AttributeValueError
from . import windows


def geometry(
    image: Sequence[dims.Dim], kernel: Sequence[dims.Dim], attrs: dict[str, Any]
) -> tuple[windows.Axis, windows.Axis]:
    """The windows over the last two sizes of an image [N, C, H, W]."""
    return windows.axes(
        image[2:], kernel, attrs["strides"], attrs["paddings"], attrs["padding_algorithm"], attrs["dilations"]
    )


def transposed_geometry(
    op: str, image: Sequence[dims.Dim], kernel: Sequence[dims.Dim], attrs: dict[str, Any]
) -> tuple[windows.Axis, windows.Axis]:
    """The windows over the output of a transposed convolution, as many as its input [N, M, H, W] has elements."""
    sizes, extra = attrs["output_size"], attrs["output_padding"] or [0]
    found = []
    for i, axis in enumerate(geometry(image, kernel, attrs)):
        more: dims.Dim = windows.pair(extra, "output_padding", 0)[i]
        smallest = (axis.size - 1) * axis.stride - axis.before - axis.after + axis.extent
        size: dims.Dim = smallest + more
        if sizes:
            size = windows.pair(sizes, "output_size", 1)[i]
            more = size - smallest
            if not dims.known(more):
                dims.require_at_least(more, 0, f"{op}: output_size is too small")
                dims.require_at_least(axis.stride - 1 - more, 0, f"{op}: output_size is too large")
        if dims.known(more) and not 0 <= more < axis.stride:
            raise AttributeValueError(
                f"{op}: the output may exceed its smallest size {smallest} by 0 to {axis.stride - 1}, not by {more}",
                hint="change output_size or output_padding",
            )
        found.append(windows.Axis(size, axis.kernel, axis.stride, axis.dilation, axis.before, axis.after))
    return found[0], found[1]
