"""Loop nests on images that the lowerings of convolution, pooling and normalization share.

Kernels compute on [N, C, H, W] in float32 or float64; other layouts and float16 are converted before and after.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from .. import dims
from ..dtype import widened
from ..loopir import nodes as n
from . import windows


def plain(cx: Any, x: Any, last: bool = False) -> Any:
    """The image with channels second in the dtype of computation: x itself, or a temporary."""
    compute = widened(x.dtype)
    if not last and compute == x.dtype:
        return x
    t = cx.temp(compute, len(x.shape))
    with cx.kernel([x], [t], shapes=False) as (k, (src,), (dst,)):
        k.set_shape(dst, windows.to_first(src.shape, last))
        copy_image(k, src, dst, dst.shape, last, False)
    return t


def copy_image(k: Any, src: Any, dst: Any, sizes: Sequence[Any], src_last: bool, dst_last: bool) -> None:
    """Copies an image, `sizes` with channels second; each side has its own layout."""
    channels, area = sizes[1], k.let(dims.product(sizes[2:]))

    def flat(batch: Any, c: Any, p: Any, last: bool) -> Any:
        return (batch * area + p) * channels + c if last else (batch * channels + c) * area + p

    with k.parallel(sizes[0] * channels) as plane:
        batch, c = k.let(plane // channels), k.let(plane % channels)
        with k.loop(area) as p:
            dst[flat(batch, c, p, dst_last)] = n.cast(src[flat(batch, c, p, src_last)], dst.dtype)


def target_for(cx: Any, out: Any, last: bool = False) -> Any:
    """Where a kernel that computes in plain form writes the output: the output itself, or a temporary for `deliver`."""
    return out if writes_directly(out, last) else cx.temp(widened(out.dtype), len(out.shape))


def writes_directly(out: Any, last: bool) -> bool:
    """Whether an output is in plain form itself."""
    return not last and widened(out.dtype) == out.dtype


def deliver(cx: Any, target: Any, out: Any, inputs: Sequence[Any], last: bool = False) -> None:
    """Writes a temporary of `target_for` to the output; `inputs` are the op's."""
    if target is out:
        return
    with cx.kernel([target, *inputs], [out]) as (k, (src, *_), (dst,)):
        copy_image(k, src, dst, src.shape, False, last)


@contextlib.contextmanager
def producing(
    cx: Any,
    reads: Sequence[Any],
    inputs: Sequence[Any],
    target: Any,
    out: Any,
    temps: Sequence[Any] = (),
    last: bool = False,
) -> Iterator[Any]:
    """A kernel that writes `target`, with the sizes and checks that `infer` gives from the op's `inputs`.

    Yields (k, references to `reads`, references to `inputs`, the target's, those to `temps`).
    """
    with cx.kernel([*reads, *inputs], [target, *temps]) as (k, ins, (dst, *scratch)):
        if target is not out:
            refs = {v.name: ref for v, ref in zip([*reads, *inputs], ins, strict=True)}
            k.set_shape(dst, windows.to_first(cx.infer_sizes(k, refs)[out.name], last))
        yield k, ins[: len(reads)], ins[len(reads) :], dst, scratch


def named(k: Any, axis: windows.Axis) -> windows.Axis:
    """The axis with its sizes as names, each computed once."""
    name = lambda v: k.let(v) if isinstance(v, n.Expr) else v  # noqa: E731
    return windows.Axis(
        name(axis.size), name(axis.kernel), axis.stride, axis.dilation, name(axis.before), name(axis.after), axis.ceil
    )


def padded_size(k: Any, axis: windows.Axis) -> Any:
    """Elements along an axis with its paddings, at least what the windows reach."""
    total = axis.before + axis.size + axis.after
    return k.let(n.maximum(total, (axis.count - 1) * axis.stride + axis.extent)) if axis.ceil else k.let(total)


def fill(k: Any, dst: Any, start: Any, count: Any, value: Any) -> None:
    with k.loop(count) as i:
        dst[start + i] = value


class Frame:
    """Images with their paddings in a scratch tensor of planes, or, where there is no padding, the image itself."""

    def __init__(self, k: Any, rows: windows.Axis, cols: windows.Axis):
        self.k, self.rows, self.cols = k, rows, cols
        self.padded = rows.padded or cols.padded
        self.height = padded_size(k, rows) if self.padded else rows.size
        self.width = padded_size(k, cols) if self.padded else cols.size
        self.area = k.let(self.height * self.width)

    def load(self, src: Any, src_start: Any, dst: Any, dst_start: Any, planes: Any) -> None:
        """Copies planes of an image into the frame; the border keeps what it holds."""
        self._copy(src, src_start, dst, dst_start, planes, True)

    def unload(self, src: Any, src_start: Any, dst: Any, dst_start: Any, planes: Any) -> None:
        """Copies planes of the frame, without the border, to an image."""
        self._copy(src, src_start, dst, dst_start, planes, False)

    def _copy(self, src: Any, src_start: Any, dst: Any, dst_start: Any, planes: Any, inwards: bool) -> None:
        k, rows, cols = self.k, self.rows, self.cols
        with k.loop(planes) as c, k.loop(rows.size) as y:
            framed = (c * self.height + y + rows.before) * self.width + cols.before
            image = (c * rows.size + y) * cols.size
            here, there = (image, framed) if inwards else (framed, image)
            s, d = k.let(src_start + here), k.let(dst_start + there)
            with k.loop(cols.size) as x:
                dst[d + x] = src[s + x]
