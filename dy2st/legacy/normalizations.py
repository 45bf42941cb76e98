"""Layers of `fluid.dygraph` for normalization, and PReLU, whose arguments are in another order than those of the 2.x layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import nn
from ..errors import AttributeValueError
from ..framework.dtype import default_dtype
from ..nn import functional as F
from ..nn.functional.by_name import activate
from ..nn.initializer import Constant
from ..tensor import Tensor
from ..tensor.promotion import as_tensor


class LayerNorm(nn.LayerNorm):
    """Normalizes the last axes.

    Args:
        normalized_shape: their sizes: an int or a list.
        scale, shift: whether there are weights, and biases.
        epsilon: added to the variance.
        param_attr, bias_attr: `ParamAttr`, name, initializer.
        act: name of an activation.
    """

    def __init__(self, normalized_shape: Any, scale: bool = True, shift: bool = True, epsilon: float = 1e-5,
                 param_attr: Any = None, bias_attr: Any = None, act: str | None = None, dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(normalized_shape, epsilon, param_attr if scale else False, bias_attr if shift else False)
        self._act = act

    def forward(self, input: Any) -> Tensor:
        return activate(super().forward(as_tensor(input)), self._act)


class GroupNorm(nn.GroupNorm):
    """Normalizes groups of channels of each image.

    Args:
        channels, groups: how many.
        epsilon: added to the variance.
        param_attr, bias_attr: `ParamAttr`, name, initializer; False: none.
        act: name of an activation.
    """

    def __init__(self, channels: int, groups: int, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None,
                 act: str | None = None, data_layout: str = "NCHW", dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(groups, channels, epsilon, param_attr, bias_attr, data_layout)
        self._act = act

    def forward(self, input: Any) -> Tensor:
        return activate(super().forward(as_tensor(input)), self._act)


class PReLU(nn.Layer):
    """x where x > 0, else weight * x; the weight is learned, and is 1 at first.

    Args:
        mode: "all": one weight; "channel": one for each of `channel` channels; "element": one for each element of a sample of
            `input_shape`, which has the batch first.
        param_attr: `ParamAttr`, name, initializer.

    Raises:
        AttributeValueError: the mode is unknown, or what it needs is not given.
    """

    def __init__(self, mode: str, channel: int | None = None, input_shape: Sequence[int] | None = None, param_attr: Any = None,
                 dtype: Any = "float32") -> None:  # fmt: skip
        super().__init__(dtype=dtype)
        if mode == "all":
            shape = [1]
        elif mode == "channel" and channel is not None:
            shape = [1, channel, 1, 1]
        elif mode == "element" and input_shape is not None:
            shape = [1, *input_shape[1:]]
        else:
            raise AttributeValueError(f"PReLU cannot be of mode {mode!r}",
                                      hint="use 'all', 'channel' with `channel`, or 'element' with `input_shape`")  # fmt: skip
        self.weight = self.create_parameter(shape, param_attr, default_initializer=Constant(1.0))

    def forward(self, input: Any) -> Tensor:
        x = as_tensor(input)
        return F.relu(x) - self.weight * F.relu(-x)
