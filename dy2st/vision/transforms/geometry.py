"""Sizes, parts and values of images: PIL images, arrays (H, W, C) and tensors (C, H, W)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import nn
from ... import tensor as ops
from ...errors import AttributeValueError, DTypeError
from ...tensor import Tensor
from .images import borders, is_pil, kind, pair, pillow, size_of
from .resampling import resized

_MODES = ("constant", "edge", "reflect", "symmetric")
_GRAY = (0.2989, 0.587, 0.114)  # of red, green and blue, in tensors


def to_tensor(pic: Any, data_format: str = "CHW") -> Tensor:
    """A tensor of an image. Bytes become float32 between 0 and 1; other dtypes stay.

    Args:
        pic: a PIL image, an array (H, W) or (H, W, C), or a tensor (C, H, W).
        data_format: "CHW" or "HWC", of the result.

    Returns:
        The tensor; a tensor itself for "CHW".

    Raises:
        TypeError: `pic` is no image.
        AttributeValueError: the data format is another.

    Example:
        >>> import numpy as np
        >>> import dy2st as paddle
        >>> paddle.vision.transforms.to_tensor(np.zeros((4, 5, 3), "uint8")).shape
        [3, 4, 5]

    Source: `paddle.vision.transforms.to_tensor`.
    """
    if data_format not in ("CHW", "HWC"):
        raise AttributeValueError(f"to_tensor: data_format is 'CHW' or 'HWC', not {data_format!r}")
    which = kind(pic, "to_tensor")
    if which == "tensor":
        return pic if data_format == "CHW" else pic.transpose((1, 2, 0))
    array = _array_of_pil(pic) if which == "pil" else pic
    if array.ndim == 2:
        array = array[:, :, None]
    if data_format == "CHW":
        array = array.transpose((2, 0, 1))
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / np.float32(255)
    return ops.to_tensor(np.ascontiguousarray(array))


def _array_of_pil(pic: Any) -> Any:
    """The pixels of a PIL image, as `to_tensor` takes them."""
    if pic.mode in ("I", "I;16"):
        return np.asarray(pic, np.int32)
    if pic.mode == "1":
        return np.asarray(pic, np.uint8) * np.uint8(255)
    return np.asarray(pic)


def normalize(img: Any, mean: Sequence[float], std: Sequence[float], data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """`(img - mean) / std`, by channels.

    Args:
        img: a PIL image, an array or a tensor, of this data format.
        mean, std: a number for each channel.
        data_format: "CHW" or "HWC". A PIL image has "HWC".
        to_rgb: whether the last dimension of an array or PIL image is reversed first.

    Returns:
        A tensor for a tensor, else an array.

    Source: `paddle.vision.transforms.normalize`.
    """
    if data_format not in ("CHW", "HWC"):
        raise AttributeValueError(f"normalize: data_format is 'CHW' or 'HWC', not {data_format!r}")
    shape = (-1, 1, 1) if data_format == "CHW" else (-1,)
    means, stds = (np.asarray(value, np.float32).reshape(shape) for value in (mean, std))
    if isinstance(img, Tensor):
        kind(img, "normalize")
        if not img.is_floating_point():
            raise DTypeError(f"normalize: a tensor has floats, not {img.dtype}", hint="use `to_tensor` or `astype` first")
        return (img - ops.to_tensor(means)) / ops.to_tensor(stds)
    if is_pil(img):
        img = np.asarray(img).astype(np.float32)
    if to_rgb:
        img = img[..., ::-1]
    return (img - means) / stds


def resize(img: Any, size: int | Sequence[int], interpolation: str = "bilinear") -> Any:
    """An image in another size.

    Args:
        img: a PIL image, an array or a tensor (C, H, W).
        size: the height and width, or the length of the shorter side: the other one keeps the ratio.
        interpolation: of PIL images "nearest", "bilinear", "bicubic", "box", "lanczos" or "hamming", by Pillow. Of arrays "nearest",
            "bilinear" or "bicubic"; they are ours, by the formulas of OpenCV, which PaddlePaddle calls: a value of an integer dtype
            may differ from OpenCV's by 1. Of tensors a mode of `nn.functional.interpolate`.

    Raises:
        TypeError: `size` is no size.
        AttributeValueError: the interpolation is not there.

    Source: `paddle.vision.transforms.resize`.
    """
    which = kind(img, "resize")
    old_height, old_width = size_of(img, "resize")
    if isinstance(size, int):
        if min(old_height, old_width) == size:
            return img
        if old_width < old_height:
            height, width = int(size * old_height / old_width), size
        else:
            height, width = size, int(size * old_width / old_height)
    else:
        height, width = pair(size, "resize")
    if which == "array":
        return resized(img, height, width, interpolation)
    if which == "pil":
        names = ("nearest", "bilinear", "bicubic", "box", "lanczos", "hamming")
        if interpolation not in names:
            raise AttributeValueError(f"resize: interpolation={interpolation!r} of a PIL image is none of {', '.join(names)}")
        return img.resize((width, height), pillow().Resampling[interpolation.upper()])
    if len(img.shape) == 4:
        raise AttributeValueError("resize: a tensor has 3 dimensions", hint="use `nn.functional.interpolate` for batches")
    return nn.functional.interpolate(img.unsqueeze(0), size=[height, width], mode=interpolation.lower()).squeeze(0)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of an image, whose upper left pixel is at (`top`, `left`). Beyond its edges a PIL image is black, and others end.

    Source: `paddle.vision.transforms.crop`.
    """
    which = kind(img, "crop")
    if which == "pil":
        return img.crop((left, top, left + width, top + height))
    if which == "array":
        return img[top : top + height, left : left + width]
    if len(img.shape) == 4:
        raise AttributeValueError("crop: a tensor has 3 dimensions", hint="write `img[:, :, top:bottom, left:right]` for batches")
    return img[:, top : top + height, left : left + width]


def center_crop(img: Any, output_size: int | Sequence[int]) -> Any:
    """The middle of an image.

    Args:
        output_size: the height and width; a number is both.

    Source: `paddle.vision.transforms.center_crop`.
    """
    old_height, old_width = size_of(img, "center_crop")
    height, width = pair(output_size, "center_crop")
    return crop(img, round((old_height - height) / 2), round((old_width - width) / 2), height, width)


def hflip(img: Any) -> Any:
    """An image with left and right exchanged. An array (H, W, 1) stays one; PaddlePaddle's is then (H, W).

    Source: `paddle.vision.transforms.hflip`.
    """
    which = kind(img, "hflip")
    if which == "pil":
        return img.transpose(pillow().Transpose.FLIP_LEFT_RIGHT)
    return np.ascontiguousarray(img[:, ::-1]) if which == "array" else img.flip(axis=[-1])


def vflip(img: Any) -> Any:
    """An image upside down. Source: `paddle.vision.transforms.vflip`."""
    which = kind(img, "vflip")
    if which == "pil":
        return img.transpose(pillow().Transpose.FLIP_TOP_BOTTOM)
    return np.ascontiguousarray(img[::-1]) if which == "array" else img.flip(axis=[-2])


def pad(img: Any, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant") -> Any:
    """An image with borders.

    Args:
        padding: pixels; one number for all borders, two (left and right, top and bottom) or four (left, top, right, bottom).
        fill: the color of a constant border: a number, or one for each channel of a PIL image or an array. For an array a number
            fills the first channel only, as PaddlePaddle does; a tensor has one number.
        padding_mode: "constant", "edge" (the pixels at the edge), "reflect" (mirrored, without them) or "symmetric" (with them).

    Raises:
        AttributeValueError: the mode is another, or "symmetric" for a tensor.

    Source: `paddle.vision.transforms.pad`.
    """
    if padding_mode not in _MODES:
        raise AttributeValueError(f"pad: padding_mode={padding_mode!r} is none of {', '.join(_MODES)}")
    left, top, right, bottom = borders(padding, "pad")
    which = kind(img, "pad")
    if which == "tensor":
        if padding_mode == "symmetric" or len(img.shape) == 4:
            raise AttributeValueError("pad: a tensor has 3 dimensions, and is not padded by `symmetric`", hint='use "reflect" or "edge"')
        mode = "replicate" if padding_mode == "edge" else padding_mode
        return nn.functional.pad(img.unsqueeze(0), [left, right, top, bottom], mode=mode, value=float(fill)).squeeze(0)
    if which == "array":
        return _pad_array(img, (left, top, right, bottom), fill, padding_mode)
    if padding_mode == "constant":
        out = pillow("ImageOps").expand(img, border=(left, top, right, bottom), fill=fill)
    else:
        out = pillow().fromarray(_pad_array(np.asarray(img), (left, top, right, bottom), fill, padding_mode))
    if img.mode == "P":
        out.putpalette(img.getpalette())
    return out


def _pad_array(img: Any, sides: tuple[int, int, int, int], fill: Any, mode: str) -> Any:
    left, top, right, bottom = sides
    widths = [(top, bottom), (left, right), (0, 0)][: img.ndim]
    if mode != "constant":
        return np.pad(img, widths, mode)  # type: ignore[call-overload]
    out = np.pad(img, widths)
    colors = list(fill) if isinstance(fill, (list, tuple)) else [fill]
    channels = img.shape[2] if img.ndim == 3 else 1
    color = np.asarray((colors + [0] * channels)[:channels]).astype(img.dtype)
    inside = np.zeros(out.shape[:2], bool)
    inside[top : top + img.shape[0], left : left + img.shape[1]] = True
    out[~inside] = color if img.ndim == 3 else color[0]
    return out


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """An image without colors.

    Args:
        img: a PIL image, an array (H, W, 3) of uint8 or float32, or a float tensor (3, H, W).
        num_output_channels: 1, or 3 that are alike.

    Returns:
        An image of the kind and dtype; an array has three dimensions.

    Source: `paddle.vision.transforms.to_grayscale`.
    """
    if num_output_channels not in (1, 3):
        raise AttributeValueError(f"to_grayscale: num_output_channels is 1 or 3, not {num_output_channels!r}")
    which = kind(img, "to_grayscale")
    if which == "pil":
        gray = img.convert("L")
        return gray if num_output_channels == 1 else pillow().merge("RGB", (gray, gray, gray))
    if which == "array":
        return np.repeat(luma(img, "to_grayscale")[:, :, None], num_output_channels, axis=2)
    if not img.is_floating_point():
        raise DTypeError(f"to_grayscale: a tensor has floats, not {img.dtype}", hint="use `to_tensor` or `astype` first")
    weights = ops.to_tensor(np.asarray(_GRAY, np.float32).reshape(3, 1, 1)).astype(img.dtype)
    gray_tensor = (img * weights).sum(axis=-3, keepdim=True)
    return gray_tensor if num_output_channels == 1 else ops.concat([gray_tensor] * 3, axis=-3)


def luma(img: Any, name: str) -> Any:
    """How bright the pixels of an array (H, W, 3) are (ITU-R BT.601); bytes by integers, as OpenCV does."""
    if img.ndim != 3 or img.shape[2] != 3 or img.dtype not in (np.uint8, np.float32):
        raise AttributeValueError(f"{name}: the array has the shape (H, W, 3), and uint8 or float32, not {img.shape} and {img.dtype}")
    if img.dtype == np.uint8:
        return ((img.astype(np.int64) @ np.array([9798, 19235, 3735]) + (1 << 14)) >> 15).astype(np.uint8)
    return img @ np.array([0.299, 0.587, 0.114], np.float32)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """An image with a rectangle of another color or pattern.

    Args:
        i, j, h, w: top, left, height and width of the rectangle.
        v: what it is filled with: a number, or an array or tensor of a shape that fits.
        inplace: whether an array or a tensor is changed itself.

    Returns:
        An image of the kind.

    Raises:
        AttributeValueError: a PIL image is not in RGB.

    Source: `paddle.vision.transforms.erase`.
    """
    which = kind(img, "erase")
    if which == "pil":
        if img.mode != "RGB":
            raise AttributeValueError(f"erase: the image has the mode {img.mode}", hint='use `img.convert("RGB")` first')
        array = np.array(img, np.uint8)
        array[i : i + h, j : j + w] = v
        return pillow().fromarray(array)
    if which == "array":
        out = img if inplace else img.copy()
        out[i : i + h, j : j + w] = v
        return out
    image = img if inplace else img.clone()
    image[..., i : i + h, j : j + w] = v
    return image
