"""Layers of `fluid.dygraph` whose arguments differ from the 2.x layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import nn
from ..framework.dtype import default_dtype
from ..nn import functional as F
from ..nn.functional.by_name import activate
from ..static.nn import pool2d
from ..tensor import Tensor
from ..tensor import math as tensor_math
from ..tensor.dispatch import ops
from ..tensor.promotion import as_tensor
from .functional import dropout_mode


class Conv2D(nn.Conv2D):
    """A 2-D convolution.

    Args:
        num_channels, num_filters: input and output channels.
        filter_size, stride, padding, dilation: an int, or two.
        param_attr, bias_attr: `ParamAttr`, name, initializer; False: none.
        act: name of an activation.
    """

    def __init__(self, num_channels: int, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int | None = None, param_attr: Any = None, bias_attr: Any = None,
                 use_cudnn: bool = True, act: str | None = None, dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(num_channels, num_filters, filter_size, stride, padding, dilation, groups or 1,
                             weight_attr=param_attr, bias_attr=bias_attr)  # fmt: skip
        self._act = act

    def forward(self, input: Any) -> Tensor:
        return activate(super().forward(as_tensor(input)), self._act)


class Pool2D(nn.Layer):
    """2-D pooling; arguments as for `fluid.layers.pool2d`."""

    def __init__(self, pool_size: Any = -1, pool_type: str = "max", pool_stride: Any = 1, pool_padding: Any = 0,
                 global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, exclusive: bool = True,
                 data_format: str = "NCHW") -> None:  # fmt: skip
        super().__init__()
        self._options = {"pool_size": pool_size, "pool_type": pool_type, "pool_stride": pool_stride,
                         "pool_padding": pool_padding, "global_pooling": global_pooling, "ceil_mode": ceil_mode,
                         "exclusive": exclusive, "data_format": data_format}  # fmt: skip

    def forward(self, input: Any) -> Tensor:
        return pool2d(input, **self._options)


class Linear(nn.Linear):
    """A fully connected layer: [..., input_dim] → [..., output_dim].

    Args:
        param_attr, bias_attr: `ParamAttr`, name, initializer; False: none.
        act: name of an activation.
    """

    def __init__(self, input_dim: int, output_dim: int, param_attr: Any = None, bias_attr: Any = None,
                 act: str | None = None, dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(input_dim, output_dim, param_attr, bias_attr)
        self._act = act

    def forward(self, input: Any) -> Tensor:
        return activate(super().forward(as_tensor(input)), self._act)


class FC(nn.Layer):
    """A fully connected layer of 1.5 and 1.6: the weight is made at the first call, when the size of the input is known.

    Args:
        name_scope: the stem of the layer's name.
        size: number of outputs.
        num_flatten_dims: so many leading dims stay; the others are one dim for the product.
        param_attr, bias_attr: `ParamAttr`, name, initializer; False: none.
        act: name of an activation.
    """

    def __init__(self, name_scope: str, size: int, num_flatten_dims: int = 1, param_attr: Any = None,
                 bias_attr: Any = None, act: str | None = None, is_test: bool = False, dtype: Any = "float32") -> None:  # fmt: skip
        super().__init__(name_scope, dtype)
        self._size, self._keep, self._act = size, num_flatten_dims, act
        self._attrs = param_attr, bias_attr
        self._is_built = False

    def _make(self, input: Tensor) -> None:
        rows = math.prod(int(d) for d in input.shape[self._keep :])
        self.weight = self.create_parameter([rows, self._size], self._attrs[0])
        self.bias = self.create_parameter([self._size], self._attrs[1], is_bias=True)
        self._is_built = True

    def forward(self, input: Any) -> Tensor:
        x = as_tensor(input)
        if not self._is_built:
            self._make(x)
        out = ops.op("mul", X=x, Y=self.weight, x_num_col_dims=self._keep, y_num_col_dims=1)
        return activate(out if self.bias is None else tensor_math.add(out, self.bias), self._act)


class Embedding(nn.Embedding):
    """Rows of a table by their numbers; `size` is [rows, columns]."""

    def __init__(self, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False,
                 padding_idx: int | None = None, param_attr: Any = None, dtype: Any = "float32") -> None:  # fmt: skip
        with default_dtype(dtype):
            super().__init__(size[0], size[1], padding_idx, is_sparse, param_attr)


class Dropout(nn.Layer):
    """Sets elements to zero at random in training; arguments as for `fluid.layers.dropout`."""

    def __init__(self, p: float = 0.5, seed: int | None = None, dropout_implementation: str = "downgrade_in_infer",
                 is_test: bool = False) -> None:  # fmt: skip
        super().__init__()
        self._p, self._implementation, self._is_test = p, dropout_implementation, is_test

    def forward(self, input: Any) -> Tensor:
        training = self.training and not self._is_test
        return F.dropout(as_tensor(input), self._p, training=training, mode=dropout_mode(self._implementation))
