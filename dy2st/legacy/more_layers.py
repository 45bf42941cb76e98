"""More layers of `fluid.dygraph` whose arguments differ from the 2.x layers: volumes, transposed convolutions, a GRU's step."""

from __future__ import annotations

from typing import Any

from .. import nn
from ..errors import AttributeValueError
from ..framework.dtype import default_dtype
from ..nn import functional as F
from ..nn.functional.by_name import activate
from ..tensor import Tensor, linalg, manipulation
from ..tensor.promotion import as_tensor


class Conv2DTranspose(nn.Conv2DTranspose):
    """A transposed 2-D convolution.

    Args:
        num_channels, num_filters: input and output channels.
        filter_size, stride, padding, dilation: an int, or two.
        output_size: of the images, where the stride leaves a choice.
        param_attr, bias_attr: `ParamAttr`, name, initializer; False: none.
        act: name of an activation.
    """

    def __init__(self, num_channels: int, num_filters: int, filter_size: Any, output_size: Any = None, padding: Any = 0,
                 stride: Any = 1, dilation: Any = 1, groups: int | None = None, param_attr: Any = None,
                 bias_attr: Any = None, use_cudnn: bool = True, act: str | None = None, dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(num_channels, num_filters, filter_size, stride, padding, 0, dilation, groups or 1, param_attr, bias_attr)
        self._size, self._act = output_size, act

    def forward(self, input: Any) -> Tensor:  # type: ignore[override]
        return activate(super().forward(as_tensor(input), self._size), self._act)


class Conv3D(nn.Conv3D):
    """A 3-D convolution; arguments as for `Conv2D`, with three numbers for two."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
                 use_cudnn: bool = True, act: str | None = None, dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(num_channels, num_filters, filter_size, stride, padding, dilation, groups or 1,
                             weight_attr=param_attr, bias_attr=bias_attr)  # fmt: skip
        self._act = act

    def forward(self, input: Any) -> Tensor:
        return activate(super().forward(as_tensor(input)), self._act)


class Conv3DTranspose(nn.Conv3DTranspose):
    """A transposed 3-D convolution; arguments as for `Conv2DTranspose`, with three numbers for two."""

    def __init__(self, num_channels: int, num_filters: int, filter_size: Any, padding: Any = 0, stride: Any = 1,
                 dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
                 use_cudnn: bool = True, act: str | None = None, dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(num_channels, num_filters, filter_size, stride, padding, 0, dilation, groups or 1, param_attr, bias_attr)
        self._act = act

    def forward(self, input: Any) -> Tensor:  # type: ignore[override]
        return activate(super().forward(as_tensor(input)), self._act)


class InstanceNorm(nn.InstanceNorm2D):
    """Normalizes each channel of each sample, for any number of dims behind the channels."""

    def __init__(self, num_channels: int, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None,
                 dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(num_channels, epsilon, weight_attr=param_attr, bias_attr=bias_attr)


class GRUUnit(nn.Layer):
    """One step of a GRU whose input is projected already.

    Args:
        size: three times the size of the hidden state.
        param_attr, bias_attr: of the weight [size / 3, size] and the bias [1, size]; False for the bias: none.
        activation, gate_activation: names of activations.
        origin_mode: the update gate says how much of the old state is kept, not how much is new.

    Called with the input [N, size] and the hidden state [N, size / 3].

    Returns:
        the new hidden state, the old one times the reset gate, and the gates [N, size]: update, reset, candidate.

    Raises:
        AttributeValueError: the size is not a multiple of 3.
    """

    def __init__(self, size: int, param_attr: Any = None, bias_attr: Any = None, activation: str = "tanh",
                 gate_activation: str = "sigmoid", origin_mode: bool = False, dtype: Any = "float32") -> None:  # fmt: skip
        super().__init__(dtype=dtype)
        if size % 3:
            raise AttributeValueError(f"GRUUnit: the size must be a multiple of 3, got {size}")
        self._hidden, self._origin_mode = size // 3, origin_mode
        self._activation, self._gate_activation = getattr(F, activation), getattr(F, gate_activation)
        self.weight = self.create_parameter([self._hidden, size], param_attr)
        self.bias = self.create_parameter([1, size], bias_attr, is_bias=True)

    def forward(self, input: Any, hidden: Any) -> tuple[Tensor, Tensor, Tensor]:
        x, h, n = as_tensor(input), as_tensor(hidden), self._hidden
        if self.bias is not None:
            x = x + self.bias
        gates = self._gate_activation(x[:, : 2 * n] + linalg.matmul(h, self.weight[:, : 2 * n]))
        update, reset = gates[:, :n], gates[:, n:]
        kept = reset * h
        candidate = self._activation(x[:, 2 * n :] + linalg.matmul(kept, self.weight[:, 2 * n :]))
        old, new = (update, 1.0 - update) if self._origin_mode else (1.0 - update, update)
        return old * h + new * candidate, kept, manipulation.concat([gates, candidate], 1)
