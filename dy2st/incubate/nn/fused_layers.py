"""`FusedLinear`, `FusedDropoutAdd`."""

from __future__ import annotations

from typing import Any

from ...nn import Layer
from ...tensor import Tensor
from . import functional as F


class FusedLinear(Layer):
    """x @ weight + bias: [..., in_features] → [..., out_features]; `nn.Linear` computes the same.

    Args:
        in_features, out_features: sizes.
        weight_attr, bias_attr: see `ParamAttr`; bias_attr False: no bias.
        transpose_weight: whether the weight has the shape [out_features, in_features].

    >>> FusedLinear(3, 2, transpose_weight=True).weight.shape
    [2, 3]
    """

    def __init__(self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None,
                 transpose_weight: bool = False, name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.transpose_weight = transpose_weight
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Tensor:
        return F.fused_linear(input, self.weight, self.bias, self.transpose_weight)


class FusedDropoutAdd(Layer):
    """dropout(x) + y.

    Args:
        p: the share of x that is dropped.
        mode: see `nn.Dropout`.
    """

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, x: Any, y: Any) -> Tensor:
        return F.fused_dropout_add(x, y, self.p, self.training, self.mode)

    def extra_repr(self) -> str:
        return f"p={self.p}, mode={self.mode}"
