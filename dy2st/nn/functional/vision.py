"""Functions of images: blocks to channels and back, windows as columns, sampling on grids."""

from __future__ import annotations

from typing import Any

from dy2st_runtime import dims

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, creation, linalg, logic, manipulation, math
from ...tensor.arguments import numbers, staged
from ...tensor.attribute import size_of
from ...tensor.dispatch import ops
from ...tensor.failures import require_sizes
from ...tensor.promotion import as_tensor, cast
from .common import known_size, pad
from .conv import pair


def pixel_unshuffle(x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """[N, C, H * r, W * r] → [N, C * r * r, H, W]: the inverse of `pixel_shuffle`."""
    if data_format != "NCHW":
        raise AttributeValueError("pixel_unshuffle: only NCHW is supported")
    x, r = as_tensor(x), downscale_factor
    n, c, h, w = x.shape
    if any(isinstance(size, int) and size > 0 and size % r for size in (h, w)):
        raise ShapeError(f"pixel_unshuffle: {h} x {w} pixels are not a multiple of {r}")
    x = manipulation.reshape(x, [n, c, h // r, r, w // r, r])
    return manipulation.reshape(manipulation.transpose(x, [0, 1, 3, 5, 2, 4]), [n, c * (r * r), h // r, w // r])


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The channels of `groups` groups in turn: channel g * (C / groups) + i becomes i * groups + g.

    >>> channel_shuffle(Tensor([[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]]), 2).numpy().ravel().tolist()
    [0.0, 2.0, 1.0, 3.0]
    """
    x = as_tensor(x)
    last = data_format == "NHWC"
    sizes = x.shape
    c = sizes[-1 if last else 1]
    if isinstance(c, int) and c % groups:
        raise ShapeError(f"channel_shuffle: {c} channels are not a multiple of {groups}")
    axis = x.ndim - 1 if last else 1
    split = manipulation.reshape(x, [*sizes[:axis], groups, c // groups, *sizes[axis + 1 :]])
    return manipulation.reshape(manipulation.swapaxes(split, axis, axis + 1), sizes)


def temporal_shift(x: Any, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW") -> Tensor:
    """Some channels of frames [N * seg_num, C, H, W] from the frame before, as many from the frame after; zeros at the ends."""
    if data_format != "NCHW":
        raise AttributeValueError("temporal_shift: only NCHW is supported")
    x = as_tensor(x)
    _, c, h, w = x.shape
    frames = manipulation.reshape(x, [-1, seg_num, c, h, w])
    part = int(known_size(x, 1, "temporal_shift") * shift_ratio)
    blank = frames[:, :1] * 0.0
    before = manipulation.concat([blank, frames[:, :-1]], 1)[:, :, :part]
    after = manipulation.concat([frames[:, 1:], blank], 1)[:, :, part : 2 * part]
    return manipulation.reshape(manipulation.concat([before, after, frames[:, :, 2 * part :]], 2), [-1, c, h, w])


def _window_places(sizes: tuple[Any, Any], kernel: list[int], stride: list[int], dilation: list[int]) -> tuple[Tensor, list[Any]]:
    """The flat places in an image of each element of each window, [KH * KW * OH * OW], and [OH, OW]."""
    counts = [(n - (d * (k - 1) + 1)) // s + 1 for n, k, s, d in zip(sizes, kernel, stride, dilation, strict=True)]
    for n, k, d, count in zip(sizes, kernel, dilation, counts, strict=True):

        def message(window: int = d * (k - 1) + 1, size: Any = n) -> str:
            return f"a window of {window} does not fit into a padded size of {size if isinstance(size, int) else 'that many'}"

        require_sizes(count >= 1, message)
    along = []
    for k, s, d, count in zip(kernel, stride, dilation, counts, strict=True):
        along.append(manipulation.unsqueeze(creation.arange(k) * d, 1) + creation.arange(count) * s)
    places = manipulation.unsqueeze(along[0], [1, 3]) * sizes[1] + manipulation.unsqueeze(along[1], [0, 2])
    return manipulation.reshape(places, [-1]), counts


def _margins(paddings: Any) -> list[int]:
    """[left, right, top, bottom] for one number, two (height, width), or four (top, left, bottom, right)."""
    if isinstance(paddings, (list, tuple)) and len(paddings) == 4:
        top, left, bottom, right = paddings
        return [left, right, top, bottom]
    height, width = pair(paddings, "paddings")
    return [width, width, height, height]


def unfold(x: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1,
           name: str | None = None) -> Tensor:  # fmt: skip
    """The windows of images as columns: [N, C, H, W] → [N, C * KH * KW, number of windows].

    Args:
        kernel_sizes, strides, dilations: an int or two.
        paddings: zeros around the image: an int, [height, width], or [top, left, bottom, right].

    Raises:
        ShapeError: a window does not fit.

    >>> unfold(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), [1, 2]).numpy().tolist()
    [[[1.0, 3.0], [2.0, 4.0]]]
    """
    x = as_tensor(x)
    if x.ndim != 4:
        raise ShapeError(f"unfold takes images [N, C, H, W], got {x.ndim} dims")
    margins = _margins(paddings)
    if any(margins):
        x = pad(x, margins)
    n, c, h, w = x.shape
    kernel = pair(kernel_sizes, "kernel_sizes")
    places, (rows, cols) = _window_places((h, w), kernel, pair(strides, "strides"), pair(dilations, "dilations"))
    columns = ops.op("gather", X=manipulation.reshape(x, [n, c, h * w]), Index=places, axis=2)
    return manipulation.reshape(columns, [n, c * (kernel[0] * kernel[1]), rows * cols])


def fold(x: Any, output_sizes: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1,
         name: str | None = None) -> Tensor:  # fmt: skip
    """The sum of windows given as columns, the adjoint of `unfold`: [N, C * KH * KW, number of windows] → `[N, C, *output_sizes]`.

    Raises:
        ShapeError: the columns are not those of such an image.

    >>> fold(Tensor([[[1.0, 3.0], [2.0, 4.0]]]), [2, 2], [1, 2]).numpy().tolist()
    [[[[1.0, 2.0], [3.0, 4.0]]]]
    """
    x = as_tensor(x)
    kernel, size = pair(kernel_sizes, "kernel_sizes"), pair(output_sizes, "output_sizes")
    left, right, top, bottom = _margins(paddings)
    h, w = size[0] + top + bottom, size[1] + left + right
    places, (rows, cols) = _window_places((h, w), kernel, pair(strides, "strides"), pair(dilations, "dilations"))
    taps = kernel[0] * kernel[1]

    def message() -> str:
        return f"fold takes [N, channels * {taps}, {rows * cols}] for this image, got {dims.show(x._form.shape)}"

    require_sizes(x.ndim == 3, message)
    require_sizes(size_of(x, 1) % taps == 0, message)
    require_sizes(size_of(x, 2) == rows * cols, message)
    n, c = x.shape[0], x.shape[1] // taps
    flat = manipulation.reshape(x, [n, c, taps * rows * cols])
    image = ops.op("gather_grad", X=creation.zeros([n, c, h * w], x.dtype), Index=places, axis=2, **{"Out@GRAD": flat})
    return manipulation.reshape(image, [n, c, h, w])[:, :, top : top + size[0], left : left + size[1]]


def affine_grid(theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Tensor:
    """Where an affine map takes the pixels of an image: [N, 2, 3] → [N, H, W, 2], as (x, y) in -1 ... 1.

    Args:
        theta: the maps.
        out_shape: [N, C, H, W]: a list of ints and one-element tensors, or a tensor.
        align_corners: -1 and 1 are the centres of the corner pixels, else the edges of the image.
    """
    theta = as_tensor(theta)
    _, _, h, w = numbers(out_shape, "affine_grid: out_shape", 4)
    y, x = (_centres(size, align_corners, theta.dtype) for size in (h, w))
    x = manipulation.expand(manipulation.unsqueeze(x, 0), [h, w])
    y = manipulation.expand(manipulation.unsqueeze(y, 1), [h, w])
    points = manipulation.reshape(manipulation.stack([x, y, creation.ones_like(x)], -1), [h * w, 3])
    return manipulation.reshape(linalg.matmul(points, theta, transpose_y=True), [theta.shape[0], h, w, 2])


def _centres(size: Any, align_corners: bool, dtype: str) -> Tensor:
    at = creation.arange(0, size, 1, dtype)
    if align_corners and staged(size):
        return logic.where(size > 1, at * (2.0 / math.maximum(size - 1, 1)) - 1.0, 0.0)
    if align_corners:
        return at * (2.0 / (size - 1)) - 1.0 if size > 1 else at * 0.0
    return (at * 2.0 + 1.0) / size - 1.0


def grid_sample(x: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = True,
                name: str | None = None) -> Tensor:  # fmt: skip
    """Images at places that lie between pixels: [N, C, H, W] and [N, OH, OW, 2] → [N, C, OH, OW].

    Args:
        grid: the places, as (x, y) in -1 ... 1.
        mode: "bilinear" or "nearest".
        padding_mode: what lies outside: "zeros", "border" (the nearest pixel) or "reflection".
        align_corners: -1 and 1 are the centres of the corner pixels, else the edges of the image.

    Raises:
        AttributeValueError: a mode is unknown.
        ShapeError: x or grid have another rank.
    """
    if mode not in ("bilinear", "nearest") or padding_mode not in ("zeros", "border", "reflection"):
        raise AttributeValueError(f"grid_sample: mode {mode!r} with padding_mode {padding_mode!r} is unknown",
                                  hint="use 'bilinear' or 'nearest', and 'zeros', 'border' or 'reflection'")  # fmt: skip
    x, grid = as_tensor(x), as_tensor(grid)
    if x.ndim != 4 or grid.ndim != 4:
        raise ShapeError(f"grid_sample takes images of 4 dims and a grid of 4 dims, got {x.ndim} and {grid.ndim}")
    n, c, h, w = x.shape
    flat = manipulation.reshape(x, [n, c, h * w])
    places = []
    for k, size in ((1, h), (0, w)):
        at = grid[:, :, :, k]
        at = (at + 1.0) * (size - 1) * 0.5 if align_corners else ((at + 1.0) * size - 1.0) * 0.5
        if padding_mode == "reflection":
            at = _reflected(at, size, align_corners)
        if padding_mode != "zeros":
            at = math.minimum(math.maximum(at, 0.0), size - 1)
        places.append(at)
    if mode == "nearest":
        return _pixels(flat, math.round(places[0]), math.round(places[1]), h, w)
    top, left = (math.floor(at) for at in places)
    down, right = places[0] - top, places[1] - left
    total = None
    for dy, weight_y in ((0, 1.0 - down), (1, down)):
        for dx, weight_x in ((0, 1.0 - right), (1, right)):
            term = _pixels(flat, top + dy, left + dx, h, w) * manipulation.unsqueeze(weight_y * weight_x, 1)
            total = term if total is None else total + term
    assert total is not None
    return total


def _reflected(at: Tensor, size: Any, align_corners: bool) -> Tensor:
    """Places mirrored at the corner pixels, or at the edges of the image."""
    low, span = (0.0, size - 1) if align_corners else (-0.5, size)
    if isinstance(span, int) and span == 0:
        return at * 0.0
    period = span * 2
    off = math.abs(at - low)
    off = off - math.floor(off / period) * period
    return math.minimum(off, period - off) + low


def _pixels(flat: Tensor, rows: Tensor, cols: Tensor, h: Any, w: Any) -> Tensor:
    """The pixels at whole places [N, OH, OW], 0 outside: [N, C, OH, OW]."""
    inside = logic.logical_and(logic.logical_and(rows >= 0, rows <= h - 1), logic.logical_and(cols >= 0, cols <= w - 1))
    n, c = flat.shape[:2]
    oh, ow = rows.shape[1:]
    index = cast(logic.where(inside, rows, 0.0), "int64") * w + cast(logic.where(inside, cols, 0.0), "int64")
    index = manipulation.expand(manipulation.reshape(index, [n, 1, oh * ow]), [n, c, oh * ow])
    found = manipulation.reshape(manipulation.take_along_axis(flat, index, 2), [n, c, oh, ow])
    return logic.where(manipulation.unsqueeze(inside, 1), found, 0.0)
