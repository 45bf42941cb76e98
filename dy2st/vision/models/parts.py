"""What the models share."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...errors import AttributeValueError


def refuse_pretrained(pretrained: bool, name: str) -> None:
    """AttributeValueError if values from the net are asked for."""
    if pretrained:
        raise AttributeValueError(f"{name}: there are no pretrained values to download",
                                  hint="load a file that you have: model.set_state_dict(dy2st.load(path))")  # fmt: skip


class ConvNormActivation(nn.Sequential):
    """A convolution without bias that keeps sizes at stride 1, a normalization, and an activation.

    Args:
        in_channels, out_channels, kernel_size, stride, groups: of the convolution.
        norm_layer, activation_layer: what makes them; None: there is none.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int = 3, stride: int = 1, groups: int = 1,
                 norm_layer: Any = nn.BatchNorm2D, activation_layer: Any = nn.ReLU) -> None:  # fmt: skip
        layers: list[nn.Layer] = [nn.Conv2D(in_channels, out_channels, kernel_size, stride, (kernel_size - 1) // 2,
                                            groups=groups, bias_attr=None if norm_layer is None else False)]  # fmt: skip
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer())
        super().__init__(*layers)
