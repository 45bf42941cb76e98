"""Brightness, contrast, saturation and hue: the functions, and the transforms that draw their factors.

Tensors have floats between 0 and 1, and 1 or 3 channels.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import tensor as ops
from ...errors import AttributeValueError, DTypeError
from ...tensor import Tensor
from .geometry import luma, to_grayscale
from .images import kind, pillow
from .transforms import BaseTransform, Compose

_MIDDLE = 74  # the gray that contrast of arrays keeps


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """An image with its values times a factor: 0 is black, 1 the image itself.

    Args:
        img: a PIL image, an array, which becomes uint8, or a float tensor.
        brightness_factor: the factor, not negative for a tensor.

    Source: `paddle.vision.transforms.adjust_brightness`.
    """
    which = kind(img, "adjust_brightness")
    if which == "pil":
        return pillow("ImageEnhance").Brightness(img).enhance(brightness_factor)
    if which == "array":
        return _looked_up(img.astype(np.uint8), np.arange(256) * brightness_factor)
    return _blended(img, ops.zeros_like(img), brightness_factor, "adjust_brightness")


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """An image with its distance from a middle gray times a factor: 0 is gray, 1 the image itself.

    Args:
        img: a PIL image, an array of uint8, or a float tensor. The gray of an array is 74, that of others their mean.
        contrast_factor: the factor, not negative for a tensor.

    Source: `paddle.vision.transforms.adjust_contrast`.
    """
    which = kind(img, "adjust_contrast")
    if which == "pil":
        return pillow("ImageEnhance").Contrast(img).enhance(contrast_factor)
    if which == "array":
        if img.dtype != np.uint8:
            raise DTypeError(f"adjust_contrast: an array has uint8, not {img.dtype}")
        return _looked_up(img, (np.arange(256) - _MIDDLE) * contrast_factor + _MIDDLE)
    gray = to_grayscale(img) if img.shape[-3] == 3 else img
    return _blended(img, gray.mean(axis=[-3, -2, -1], keepdim=True), contrast_factor, "adjust_contrast")


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """An image with its distance from the gray one times a factor: 0 is gray, 1 the image itself.

    Args:
        img: a PIL image, an array (H, W, 3) in the order blue, green, red, or a float tensor.
        saturation_factor: the factor, not negative for a tensor. For an array the factor itself is drawn, by `np.random`, between
            `max(0, 1 - saturation_factor)` and `1 + saturation_factor`, as PaddlePaddle does.

    Source: `paddle.vision.transforms.functional.adjust_saturation`.
    """
    which = kind(img, "adjust_saturation")
    if which == "pil":
        return pillow("ImageEnhance").Color(img).enhance(saturation_factor)
    if which == "array":
        alpha = np.float32(np.random.uniform(max(0, 1 - saturation_factor), 1 + saturation_factor))
        values = img.astype(np.float32)
        gray = luma(values[..., ::-1], "adjust_saturation")[..., None]
        return (values * alpha + gray * (1 - alpha)).clip(0, 255).astype(img.dtype)
    if img.shape[-3] == 1:
        return img
    return _blended(img, to_grayscale(img), saturation_factor, "adjust_saturation")


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """A PIL image with its hues turned. Images without colors stay. Arrays and tensors are not supported.

    Args:
        hue_factor: between -0.5 and 0.5, in turns.

    Raises:
        AttributeValueError: the factor is another, or the image is an array or a tensor.

    Source: `paddle.vision.transforms.adjust_hue`.
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise AttributeValueError(f"adjust_hue: hue_factor is between -0.5 and 0.5, not {hue_factor}")
    if kind(img, "adjust_hue") != "pil":
        raise AttributeValueError("adjust_hue: only hues of PIL images are turned", hint="use `PIL.Image.fromarray` first")
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    turned = (np.asarray(hue).astype(np.int16) + int(hue_factor * 255)) % 256
    hue = pillow().fromarray(turned.astype(np.uint8))
    return pillow().merge("HSV", (hue, saturation, value)).convert(img.mode)


def _looked_up(img: Any, table: Any) -> Any:
    return table.clip(0, 255).astype(np.uint8)[img]


def _blended(img: Tensor, other: Tensor, factor: float, name: str) -> Tensor:
    """`factor` times the image, and the rest of the other one."""
    if factor < 0:
        raise AttributeValueError(f"{name}: the factor of a tensor is not negative, as {factor} is")
    if not img.is_floating_point():
        raise DTypeError(f"{name}: a tensor has floats, not {img.dtype}", hint="use `to_tensor` or `astype` first")
    if img.shape[-3] not in (1, 3):
        raise AttributeValueError(f"{name}: a tensor has 1 or 3 channels, not {img.shape[-3]}")
    return (other + float(factor) * (img - other)).clip(0.0, 1.0)


def _interval(value: Any, name: str, center: float = 1, low: float = 0, high: float = float("inf")) -> tuple[float, float] | None:
    """Between what a factor is drawn, of an interval or of the distance from its center; None if nothing would change."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise AttributeValueError(f"{name}: a single number is not negative, as {value} is")
        value = (center - value, center + value)
        if low == 0:
            value = (max(value[0], 0), value[1])
    elif not isinstance(value, (list, tuple)) or len(value) != 2:
        raise TypeError(f"{name}: the value is a number or two, not {value!r}")
    elif not low <= value[0] <= value[1] <= high:
        raise AttributeValueError(f"{name}: the value is the least and the largest between {low} and {high}, not {value}")
    return None if value[0] == value[1] == center else (value[0], value[1])


class _FactorTransform(BaseTransform):
    """A function of an image and a factor, which is drawn."""

    _adjust: Callable[[Any, float], Any]
    _limits: dict[str, float] = {}  # of `_interval`

    def __init__(self, value: float | Sequence[float], keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.value = _interval(value, type(self).__name__, **self._limits)

    def _apply_image(self, image: Any) -> Any:
        return image if self.value is None else self._adjust(image, random.uniform(*self.value))


class BrightnessTransform(_FactorTransform):
    """`adjust_brightness` by a factor drawn between `1 - value` (at least 0) and `1 + value`, or between two numbers.

    Source: `paddle.vision.transforms.BrightnessTransform`.
    """

    _adjust = staticmethod(adjust_brightness)


class ContrastTransform(_FactorTransform):
    """`adjust_contrast` by a factor drawn between `1 - value` (at least 0) and `1 + value`.

    Source: `paddle.vision.transforms.ContrastTransform`.
    """

    _adjust = staticmethod(adjust_contrast)


class SaturationTransform(_FactorTransform):
    """`adjust_saturation` by a factor drawn between `1 - value` (at least 0) and `1 + value`, or between two numbers.

    Source: `paddle.vision.transforms.SaturationTransform`.
    """

    _adjust = staticmethod(adjust_saturation)


class HueTransform(_FactorTransform):
    """`adjust_hue` by a factor drawn between `-value` and `value`, or between two numbers from -0.5 to 0.5.

    Source: `paddle.vision.transforms.HueTransform`.
    """

    _adjust = staticmethod(adjust_hue)
    _limits = {"center": 0, "low": -0.5, "high": 0.5}


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue by factors that are drawn, in an order that is drawn.

    Args:
        brightness, contrast, saturation, hue: the values of their transforms; 0 or None changes nothing. Hue takes PIL images only.

    Source: `paddle.vision.transforms.ColorJitter`.
    """

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0,
                 keys: Sequence[str] | None = None) -> None:  # fmt: skip
        super().__init__(keys)
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue

    def _apply_image(self, image: Any) -> Any:
        pairs = ((BrightnessTransform, self.brightness), (ContrastTransform, self.contrast),
                 (SaturationTransform, self.saturation), (HueTransform, self.hue))  # fmt: skip
        transforms: list[BaseTransform] = [make(value) for make, value in pairs if value is not None]
        random.shuffle(transforms)
        return Compose(transforms)(image)
