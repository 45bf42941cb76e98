"""ResNet (He et al., "Deep Residual Learning for Image Recognition", 2015), with its wide and its grouped forms."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...errors import AttributeValueError
from ...tensor import Tensor
from .parts import refuse_pretrained


def _conv(size: int, in_channels: int, out_channels: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2D:
    padding = dilation * (size - 1) // 2
    return nn.Conv2D(in_channels, out_channels, size, stride, padding, dilation, groups, bias_attr=False)


class BasicBlock(nn.Layer):
    """Two 3 x 3 convolutions, added to the input.

    Args:
        inplanes, planes: channels of the input and of the result.
        stride: of the first convolution.
        downsample: a layer that brings the input to the shape of the result, or None.
        norm_layer: what makes the normalizations.
    """

    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: Any = None, groups: int = 1,
                 base_width: int = 64, dilation: int = 1, norm_layer: Any = None) -> None:  # fmt: skip
        super().__init__()
        if groups != 1 or base_width != 64 or dilation != 1:
            raise AttributeValueError("BasicBlock has one group, base_width 64 and no dilation", hint="use BottleneckBlock")
        norm_layer = nn.BatchNorm2D if norm_layer is None else norm_layer
        self.conv1, self.bn1, self.relu = _conv(3, inplanes, planes, stride), norm_layer(planes), nn.ReLU()
        self.conv2, self.bn2 = _conv(3, planes, planes), norm_layer(planes)
        self.downsample, self.stride = downsample, stride

    def forward(self, x: Any) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class BottleneckBlock(nn.Layer):
    """A 1 x 1, a 3 x 3 and a 1 x 1 convolution, added to the input; the result has 4 * planes channels.

    Args:
        inplanes, planes, downsample, norm_layer: as for `BasicBlock`.
        stride, groups, dilation: of the 3 x 3 convolution, which has planes * base_width / 64 channels in each group.
    """

    expansion = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample: Any = None, groups: int = 1,
                 base_width: int = 64, dilation: int = 1, norm_layer: Any = None) -> None:  # fmt: skip
        super().__init__()
        norm_layer = nn.BatchNorm2D if norm_layer is None else norm_layer
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1, self.bn1 = _conv(1, inplanes, width), norm_layer(width)
        self.conv2, self.bn2 = _conv(3, width, width, stride, groups, dilation), norm_layer(width)
        self.conv3, self.bn3 = _conv(1, width, planes * self.expansion), norm_layer(planes * self.expansion)
        self.relu, self.downsample, self.stride = nn.ReLU(), downsample, stride

    def forward(self, x: Any) -> Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


_BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class ResNet(nn.Layer):
    """[N, 3, H, W] → [N, num_classes].

    Args:
        block: `BasicBlock` or `BottleneckBlock`.
        depth: 18, 34, 50, 101 or 152.
        width: channels of the 3 x 3 convolutions of bottlenecks, for each 64 planes and group.
        num_classes: 0: no classifier.
        with_pool: average over the image.
        groups: of the 3 x 3 convolutions of bottlenecks.

    Raises:
        AttributeValueError: the depth is none of these.

    >>> from dy2st import zeros
    >>> ResNet(BasicBlock, 18, num_classes=5)(zeros([1, 3, 32, 32])).shape
    [1, 5]
    """

    def __init__(self, block: Any, depth: int = 50, width: int = 64, num_classes: int = 1000, with_pool: bool = True,
                 groups: int = 1) -> None:  # fmt: skip
        super().__init__()
        if depth not in _BLOCKS:
            raise AttributeValueError(f"there is no ResNet of depth {depth}", hint=f"use one of {', '.join(map(str, _BLOCKS))}")
        self.groups, self.base_width, self.num_classes, self.with_pool = groups, width, num_classes, with_pool
        self.inplanes, self.dilation, self._norm_layer = 64, 1, nn.BatchNorm2D
        self.conv1 = nn.Conv2D(3, 64, 7, stride=2, padding=3, bias_attr=False)
        self.bn1, self.relu = self._norm_layer(64), nn.ReLU()
        self.maxpool = nn.MaxPool2D(3, 2, 1)
        for i, count in enumerate(_BLOCKS[depth]):
            self.add_sublayer(f"layer{i + 1}", self._make_layer(block, 64 << i, count, 1 if i == 0 else 2))
        if with_pool:
            self.avgpool = nn.AdaptiveAvgPool2D((1, 1))
        if num_classes > 0:
            self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block: Any, planes: int, blocks: int, stride: int = 1, dilate: bool = False) -> nn.Sequential:
        """Blocks in a row; subclasses of PaddlePaddle's users call it, with these arguments.

        Args:
            block: `BasicBlock` or `BottleneckBlock`.
            planes: of each block.
            blocks: how many.
            stride: of the first one.
            dilate: the blocks of later calls are dilated by so much more, instead of a stride.
        """
        size, dilation, norm_layer = planes * block.expansion, self.dilation, self._norm_layer
        if dilate:
            self.dilation *= stride
            stride = 1
        downsample = None
        if stride != 1 or self.inplanes != size:
            downsample = nn.Sequential(_conv(1, self.inplanes, size, stride), norm_layer(size))
        layers = []
        for i in range(blocks):
            first = (stride, downsample) if i == 0 else (1, None)
            dilated = dilation if i == 0 else 1
            layers.append(block(self.inplanes, planes, *first, self.groups, self.base_width, dilated, norm_layer))
            self.inplanes = size
        return nn.Sequential(*layers)

    def forward(self, x: Any) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        if self.with_pool:
            x = self.avgpool(x)
        if self.num_classes > 0:
            x = self.fc(x.flatten(1))
        return x


def _resnet(name: str, block: Any, depth: int, pretrained: bool, options: dict[str, Any], **more: Any) -> ResNet:
    refuse_pretrained(pretrained, name)
    return ResNet(block, depth, **{**more, **options})


def resnet18(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 18 layers; further arguments are those of `ResNet`."""
    return _resnet("resnet18", BasicBlock, 18, pretrained, kwargs)


def resnet34(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 34 layers; further arguments are those of `ResNet`."""
    return _resnet("resnet34", BasicBlock, 34, pretrained, kwargs)


def resnet50(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers; further arguments are those of `ResNet`."""
    return _resnet("resnet50", BottleneckBlock, 50, pretrained, kwargs)


def resnet101(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers; further arguments are those of `ResNet`."""
    return _resnet("resnet101", BottleneckBlock, 101, pretrained, kwargs)


def resnet152(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 152 layers; further arguments are those of `ResNet`."""
    return _resnet("resnet152", BottleneckBlock, 152, pretrained, kwargs)


def resnext50_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 50 layers, 32 groups of width 4; further arguments are those of `ResNet`."""
    return _resnet("resnext50_32x4d", BottleneckBlock, 50, pretrained, kwargs, groups=32, width=4)


def resnext101_32x4d(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNeXt with 101 layers, 32 groups of width 4; further arguments are those of `ResNet`."""
    return _resnet("resnext101_32x4d", BottleneckBlock, 101, pretrained, kwargs, groups=32, width=4)


def wide_resnet50_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 50 layers, the 3 x 3 convolutions twice as wide; further arguments are those of `ResNet`."""
    return _resnet("wide_resnet50_2", BottleneckBlock, 50, pretrained, kwargs, width=128)


def wide_resnet101_2(pretrained: bool = False, **kwargs: Any) -> ResNet:
    """ResNet with 101 layers, the 3 x 3 convolutions twice as wide; further arguments are those of `ResNet`."""
    return _resnet("wide_resnet101_2", BottleneckBlock, 101, pretrained, kwargs, width=128)
