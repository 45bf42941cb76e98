"""Transforms that draw numbers: from `random` and `np.random`, in PaddlePaddle's order, so that seeds give the same images."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import tensor as ops
from ...errors import AttributeValueError
from . import geometry as F
from .images import kind, pair, size_of
from .transforms import BaseTransform


class RandomCrop(BaseTransform):
    """A part of an image, anywhere.

    Args:
        size: its height and width; a number is both.
        padding, fill, padding_mode: of `pad`, which comes first; None: no padding.
        pad_if_needed: whether an image that is too small is padded, by what it lacks on both sides.

    Raises:
        AttributeValueError: at the call, the image is too small.

    Source: `paddle.vision.transforms.RandomCrop`.
    """

    def __init__(self, size: int | Sequence[int], padding: int | Sequence[int] | None = None, pad_if_needed: bool = False,
                 fill: Any = 0, padding_mode: str = "constant", keys: Sequence[str] | None = None) -> None:  # fmt: skip
        super().__init__(keys)
        self.size = pair(size, "RandomCrop")
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    def _apply_image(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        new_height, new_width = self.size
        height, width = size_of(image, "RandomCrop")
        if self.pad_if_needed and width < new_width:
            image = F.pad(image, (new_width - width, 0), self.fill, self.padding_mode)
        if self.pad_if_needed and height < new_height:
            image = F.pad(image, (0, new_height - height), self.fill, self.padding_mode)
        height, width = size_of(image, "RandomCrop")
        if (height, width) == self.size:
            return F.crop(image, 0, 0, height, width)
        if height < new_height or width < new_width:
            raise AttributeValueError(f"RandomCrop: the image of {height} x {width} is smaller than {new_height} x {new_width}",
                                      hint="set `pad_if_needed=True`")  # fmt: skip
        top, left = random.randint(0, height - new_height), random.randint(0, width - new_width)
        return F.crop(image, top, left, new_height, new_width)


class RandomResizedCrop(BaseTransform):
    """A part of an image of any area and ratio, in one size.

    Args:
        size: the height and width of the result; a number is both.
        scale: the least and the largest area of the part, of that of the image.
        ratio: the least and the largest ratio of width to height.
        interpolation: of `resize`.

    Source: `paddle.vision.transforms.RandomResizedCrop`; Szegedy et al., Going deeper with convolutions, 2015.
    """

    def __init__(self, size: int | Sequence[int], scale: Sequence[float] = (0.08, 1.0), ratio: Sequence[float] = (3 / 4, 4 / 3),
                 interpolation: str = "bilinear", keys: Sequence[str] | None = None) -> None:  # fmt: skip
        super().__init__(keys)
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            raise AttributeValueError(f"RandomResizedCrop: scale={scale} and ratio={ratio} are the least and the largest")
        self.size = pair(size, "RandomResizedCrop")
        self.scale = scale
        self.ratio = ratio
        self.interpolation = interpolation

    def _rectangle(self, height: int, width: int) -> tuple[int, int, int, int]:
        """Top, left, height and width of the part: one of ten tries, else the middle."""
        for _ in range(10):
            area = np.random.uniform(self.scale[0], self.scale[1]) * (height * width)
            ratio = math.exp(np.random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < w <= width and 0 < h <= height:
                return random.randint(0, height - h), random.randint(0, width - w), h, w
        h, w = height, width
        if width / height < min(self.ratio):
            h = round(width / min(self.ratio))
        elif width / height > max(self.ratio):
            w = round(height * max(self.ratio))
        return (height - h) // 2, (width - w) // 2, h, w

    def _apply_image(self, image: Any) -> Any:
        part = F.crop(image, *self._rectangle(*size_of(image, "RandomResizedCrop")))
        return F.resize(part, self.size, self.interpolation)


def _check_probability(prob: float, name: str) -> None:
    if not 0 <= prob <= 1:
        raise AttributeValueError(f"{name}: prob is between 0 and 1, not {prob!r}")


class _RandomFlip(BaseTransform):
    """A flip, with a probability."""

    _flip: Callable[[Any], Any]

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        _check_probability(prob, type(self).__name__)
        self.prob = prob

    def _apply_image(self, image: Any) -> Any:
        return self._flip(image) if random.random() < self.prob else image


class RandomHorizontalFlip(_RandomFlip):
    """`hflip` with a probability. Source: `paddle.vision.transforms.RandomHorizontalFlip`."""

    _flip = staticmethod(F.hflip)


class RandomVerticalFlip(_RandomFlip):
    """`vflip` with a probability. Source: `paddle.vision.transforms.RandomVerticalFlip`."""

    _flip = staticmethod(F.vflip)


class RandomErasing(BaseTransform):
    """`erase` of a rectangle anywhere, with a probability.

    Args:
        prob: the probability.
        scale: the least and the largest area of the rectangle, of that of the image.
        ratio: the least and the largest ratio of height to width.
        value: the color: a number, one for each of three channels, or "random", which draws each value from a normal distribution.
        inplace: whether an array or a tensor is changed itself.

    Source: `paddle.vision.transforms.RandomErasing`; Zhong et al., Random Erasing Data Augmentation, 2017.
    """

    def __init__(self, prob: float = 0.5, scale: Sequence[float] = (0.02, 0.33), ratio: Sequence[float] = (0.3, 3.3), value: Any = 0,
                 inplace: bool = False, keys: Sequence[str] | None = None) -> None:  # fmt: skip
        super().__init__(keys)
        _check_probability(prob, "RandomErasing")
        if not 0 <= scale[0] <= scale[1] <= 1 or not 0 < ratio[0] <= ratio[1]:
            raise AttributeValueError(f"RandomErasing: scale={scale} is within [0, 1], ratio={ratio} positive; the least, then the largest")
        if isinstance(value, str) and value != "random":
            raise AttributeValueError(f"RandomErasing: the only text for value is 'random', not {value!r}")
        if isinstance(value, (list, tuple)) and len(value) not in (1, 3):
            raise AttributeValueError(f"RandomErasing: value is a number, or has 1 or 3 of them, not {len(value)}")
        self.prob = prob
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    def _color(self, image: Any, channels: int, height: int, width: int) -> Any:
        """What a rectangle is filled with."""
        tensor = kind(image, "RandomErasing") == "tensor"
        if isinstance(self.value, str):
            if tensor:
                return ops.normal(shape=[channels, height, width]).astype(image.dtype)
            return np.random.normal(size=[height, width, channels]) * 255
        color = np.asarray(self.value if isinstance(self.value, (list, tuple)) else [self.value])
        return ops.to_tensor(color.reshape(-1, 1, 1), dtype=image.dtype) if tensor else color

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        height, width = size_of(image, "RandomErasing")
        which = kind(image, "RandomErasing")
        channels = image.shape[-3] if which == "tensor" else np.asarray(image).reshape(height, width, -1).shape[2]
        for _ in range(10):
            area = np.random.uniform(self.scale[0], self.scale[1]) * (height * width)
            ratio = np.exp(np.random.uniform(np.log(self.ratio[0]), np.log(self.ratio[1])))
            h, w = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
            if h < height and w < width:
                color = self._color(image, channels, h, w)
                top, left = np.random.randint(0, height - h + 1), np.random.randint(0, width - w + 1)
                return F.erase(image, int(top), int(left), h, w, color, self.inplace)
        return image
