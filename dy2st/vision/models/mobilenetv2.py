"""MobileNetV2 (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018)."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...tensor import Tensor
from .parts import ConvNormActivation, refuse_pretrained

# expansion, channels, number of blocks, stride of the first
_STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def _divisible(value: float, divisor: int = 8) -> int:
    """The nearest multiple of the divisor, but no less than nine tenths of the value."""
    nearest = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * value else nearest


class InvertedResidual(nn.Layer):
    """A wide depthwise convolution between two narrow ends, added to the input where the shapes are the same.

    Args:
        inp, oup: channels of the input and of the result.
        stride: of the depthwise convolution.
        expand_ratio: how much wider it is than the input.
        norm_layer: what makes the normalizations.
    """

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: float, norm_layer: Any = nn.BatchNorm2D) -> None:
        super().__init__()
        hidden = round(inp * expand_ratio)
        self.stride, self.use_res_connect = stride, stride == 1 and inp == oup
        layers: list[nn.Layer] = []
        if expand_ratio != 1:
            layers.append(ConvNormActivation(inp, hidden, 1, norm_layer=norm_layer, activation_layer=nn.ReLU6))
        layers.append(ConvNormActivation(hidden, hidden, 3, stride, hidden, norm_layer, nn.ReLU6))
        layers += [nn.Conv2D(hidden, oup, 1, bias_attr=False), norm_layer(oup)]
        self.conv = nn.Sequential(*layers)

    def forward(self, x: Any) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Layer):
    """[N, 3, H, W] → [N, num_classes].

    Args:
        scale: of the channels of each layer.
        num_classes: 0: no classifier.
        with_pool: average over the image.

    >>> from dy2st import zeros
    >>> MobileNetV2(scale=0.25, num_classes=5)(zeros([1, 3, 32, 32])).shape
    [1, 5]
    """

    def __init__(self, scale: float = 1.0, num_classes: int = 1000, with_pool: bool = True) -> None:
        super().__init__()
        self.num_classes, self.with_pool = num_classes, with_pool
        size, last = _divisible(32 * scale), _divisible(1280 * max(1.0, scale))
        layers: list[nn.Layer] = [ConvNormActivation(3, size, 3, 2, activation_layer=nn.ReLU6)]
        for expansion, channels, count, stride in _STAGES:
            for i in range(count):
                out = _divisible(channels * scale)
                layers.append(InvertedResidual(size, out, stride if i == 0 else 1, expansion))
                size = out
        layers.append(ConvNormActivation(size, last, 1, activation_layer=nn.ReLU6))
        self.features = nn.Sequential(*layers)
        if with_pool:
            self.pool2d_avg = nn.AdaptiveAvgPool2D(1)
        if num_classes > 0:
            self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, num_classes))

    def forward(self, x: Any) -> Tensor:
        x = self.features(x)
        if self.with_pool:
            x = self.pool2d_avg(x)
        if self.num_classes > 0:
            x = self.classifier(x.flatten(1))
        return x


def mobilenet_v2(pretrained: bool = False, scale: float = 1.0, **kwargs: Any) -> MobileNetV2:
    """MobileNetV2; further arguments are those of `MobileNetV2`."""
    refuse_pretrained(pretrained, "mobilenet_v2")
    return MobileNetV2(scale, **kwargs)
