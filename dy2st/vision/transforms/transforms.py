"""Transforms of images as objects: the base, and those that draw nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import AttributeValueError
from . import geometry as F
from .images import borders, kind, pair


class Compose:
    """Transforms one after the other.

    Args:
        transforms: functions of one argument.

    Example:
        >>> import numpy as np
        >>> from dy2st.vision import transforms
        >>> prepare = transforms.Compose([transforms.CenterCrop(2), transforms.ToTensor()])
        >>> prepare(np.zeros((4, 4, 3), "uint8")).shape
        [3, 2, 2]

    Source: `paddle.vision.transforms.Compose`.
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {transform}" for transform in self.transforms), ")"])


class BaseTransform:
    """What transforms are derived from. A class of yours has `_apply_image(image)`, and the like for other keys.

    Args:
        keys: what the items of an input tuple are: "image", "coords", "boxes" or "mask". Items beyond stay as they are. None: an image.

    `_get_params(inputs)` is called before each input; its result is `self.params`.

    Raises:
        AttributeValueError: the keys are no sequence.
        NotImplementedError: the class has no `_apply_...` of a key.

    Source: `paddle.vision.transforms.BaseTransform`.
    """

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence):
            raise AttributeValueError(f"{type(self).__name__}: keys is a sequence, not {keys!r}")
        for key in keys:
            if self._get_apply(key) is None:
                raise NotImplementedError(f"{type(self).__name__}: there is no key {key!r}")
        self.keys = keys
        self.params: Any = None

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        """What all items of an input share."""

    def __call__(self, inputs: Any) -> Any:
        if not isinstance(inputs, tuple):
            inputs = (inputs,)
        self.params = self._get_params(inputs)
        outputs = [self._get_apply(key)(item) for key, item in zip(self.keys, inputs, strict=False)]
        outputs += inputs[len(self.keys) :]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _get_apply(self, key: str) -> Any:
        return getattr(self, f"_apply_{key}", None)

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_image")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_boxes")

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_mask")

    def _apply_coords(self, coords: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_coords")


class ToTensor(BaseTransform):
    """`to_tensor` as a transform. Source: `paddle.vision.transforms.ToTensor`."""

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


class Normalize(BaseTransform):
    """`normalize` as a transform; one number of `mean` or `std` is that of three channels.

    Source: `paddle.vision.transforms.Normalize`.
    """

    def __init__(self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0, data_format: str = "CHW",
                 to_rgb: bool = False, keys: Sequence[str] | None = None) -> None:  # fmt: skip
        super().__init__(keys)
        self.mean = [mean] * 3 if isinstance(mean, (int, float)) else mean
        self.std = [std] * 3 if isinstance(std, (int, float)) else std
        self.data_format = data_format
        self.to_rgb = to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Resize(BaseTransform):
    """`resize` as a transform. Source: `paddle.vision.transforms.Resize`."""

    def __init__(self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        pair(size, "Resize")
        self.size = size
        self.interpolation = interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """`center_crop` as a transform. Source: `paddle.vision.transforms.CenterCrop`."""

    def __init__(self, size: int | Sequence[int], keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size = pair(size, "CenterCrop")

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class Transpose(BaseTransform):
    """The dimensions of an image in another order, (2, 0, 1) as a rule: (H, W, C) to (C, H, W).

    A PIL image becomes an array, and one without channels has one.

    Source: `paddle.vision.transforms.Transpose`.
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> Any:
        which = kind(image, "Transpose")
        if which == "tensor":
            return image.transpose(self.order)
        array = np.asarray(image)
        return (array[..., None] if array.ndim == 2 else array).transpose(self.order)


class Pad(BaseTransform):
    """`pad` as a transform. Source: `paddle.vision.transforms.Pad`."""

    def __init__(self, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant",
                 keys: Sequence[str] | None = None) -> None:  # fmt: skip
        borders(padding, "Pad")
        super().__init__(keys)
        self.padding = tuple(padding) if isinstance(padding, list) else padding
        self.fill = tuple(fill) if isinstance(fill, list) else fill
        self.padding_mode = padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class Grayscale(BaseTransform):
    """`to_grayscale` as a transform. Source: `paddle.vision.transforms.Grayscale`."""

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return F.to_grayscale(image, self.num_output_channels)
