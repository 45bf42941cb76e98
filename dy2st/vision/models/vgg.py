"""VGG (Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image Recognition", 2014)."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...tensor import Tensor
from .parts import refuse_pretrained

# convolutions in each of the five stages, which halve the image and have 64, 128, 256, 512 and 512 channels
_STAGES = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class VGG(nn.Layer):
    """[N, 3, H, W] → [N, num_classes].

    Args:
        features: the convolutions.
        num_classes: 0: no classifier.
        with_pool: average to 7 x 7 behind the convolutions.
    """

    def __init__(self, features: nn.Layer, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.features, self.num_classes, self.with_pool = features, num_classes, with_pool
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((7, 7))
        if num_classes > 0:
            self.classifier = nn.Sequential(
                nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(),
                nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(),
                nn.Linear(4096, num_classes),
            )  # fmt: skip

    def forward(self, x: Any) -> Tensor:
        x = self.features(x)
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.classifier(x.flatten(1))
        return x


def _features(depth: int, batch_norm: bool) -> nn.Sequential:
    layers: list[nn.Layer] = []
    size = 3
    for count, channels in zip(_STAGES[depth], (64, 128, 256, 512, 512), strict=True):
        for _ in range(count):
            layers.append(nn.Conv2D(size, channels, 3, padding=1))
            if batch_norm:
                layers.append(nn.BatchNorm2D(channels))
            layers.append(nn.ReLU())
            size = channels
        layers.append(nn.MaxPool2D(2, 2))
    return nn.Sequential(*layers)


def _vgg(depth: int, pretrained: bool, batch_norm: bool, options: dict[str, Any]) -> VGG:
    refuse_pretrained(pretrained, f"vgg{depth}")
    return VGG(_features(depth, batch_norm), **options)


def vgg11(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 11 layers; further arguments are those of `VGG`."""
    return _vgg(11, pretrained, batch_norm, kwargs)


def vgg13(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 13 layers; further arguments are those of `VGG`."""
    return _vgg(13, pretrained, batch_norm, kwargs)


def vgg16(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 16 layers; further arguments are those of `VGG`."""
    return _vgg(16, pretrained, batch_norm, kwargs)


def vgg19(pretrained: bool = False, batch_norm: bool = False, **kwargs: Any) -> VGG:
    """VGG with 19 layers; further arguments are those of `VGG`."""
    return _vgg(19, pretrained, batch_norm, kwargs)
