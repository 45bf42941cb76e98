"""The three kinds of images: what one is, and how large."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...errors import AttributeValueError
from ...tensor import Tensor


def pillow(module: str = "Image") -> Any:
    """A module of Pillow, which only images of its own need.

    Raises:
        ImportError: Pillow is not installed.
    """
    try:
        import PIL.Image
        import PIL.ImageEnhance
        import PIL.ImageOps
    except ImportError as error:
        raise ImportError('Pillow is not installed; it is in the extra "vision": pip install "dy2st[vision]"', name="PIL") from error
    return getattr(PIL, module)


def is_pil(img: Any) -> bool:
    """Whether this is an image of Pillow's. Where nobody has imported Pillow there are none."""
    image = sys.modules.get("PIL.Image")
    return image is not None and isinstance(img, image.Image)


def kind(img: Any, name: str) -> str:
    """Of what kind an image is: "pil", "array" (H, W or H, W, C) or "tensor" (C, H, W or N, C, H, W).

    Raises:
        TypeError: it is none of them.
        AttributeValueError: a tensor does not have 3 or 4 dimensions.
    """
    if isinstance(img, Tensor):
        if len(img.shape) not in (3, 4):
            raise AttributeValueError(f"{name}: an image that is a tensor has 3 or 4 dimensions, this one has the shape {img.shape}")
        return "tensor"
    if is_pil(img):
        return "pil"
    if isinstance(img, np.ndarray) and img.ndim in (2, 3):
        return "array"
    found = f"an array of {img.ndim} dimensions" if isinstance(img, np.ndarray) else type(img).__name__
    raise TypeError(f"{name}: an image is a PIL image, an array of 2 or 3 dimensions or a tensor, not {found}")


def size_of(img: Any, name: str) -> tuple[int, int]:
    """The height and the width of an image, in pixels."""
    which = kind(img, name)
    if which == "pil":
        width, height = img.size
        return height, width
    height, width = img.shape[:2] if which == "array" else img.shape[-2:]
    return int(height), int(width)


def pair(size: Any, name: str) -> tuple[int, int]:
    """A height and a width, of one number or two."""
    if isinstance(size, (int, float, np.number)):
        return int(size), int(size)
    if not isinstance(size, (list, tuple)) or len(size) != 2:
        raise TypeError(f"{name}: the size is a number, or a height and a width, not {size!r}")
    return int(size[0]), int(size[1])


def borders(padding: Any, name: str) -> tuple[int, int, int, int]:
    """The left, top, right and bottom border, of one number, of two (left and right, top and bottom) or of four."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    if not isinstance(padding, (list, tuple)):
        raise TypeError(f"{name}: the padding is a number, or a tuple of 2 or 4, not {padding!r}")
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    if len(padding) != 4:
        raise AttributeValueError(f"{name}: the padding has 1, 2 or 4 numbers, not {len(padding)}")
    return padding[0], padding[1], padding[2], padding[3]
