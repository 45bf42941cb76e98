"""Normalization layers."""

from __future__ import annotations

import math
from typing import Any

from dy2st_runtime import dims

from ..errors import ShapeError
from ..framework.dtype import get_default_dtype
from ..tensor import Tensor, autograd, linalg, manipulation
from . import functional as F
from .functional.by_name import activate
from .initializer import Constant, Normal
from .layer import Layer
from .param_attr import ParamAttr
from .parameter import make_buffer


class _BatchNorm(Layer):
    ranks: tuple[int, ...] = (2, 3, 4, 5)

    def __init__(self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCHW", use_global_stats: bool | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        # the statistics of float16 images would be too coarse
        super().__init__(dtype="float32" if get_default_dtype() == "float16" else None)
        self.num_features, self.momentum, self.epsilon = num_features, momentum, epsilon
        self.data_format, self.use_global_stats = data_format, use_global_stats
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        mean, variance = (f"{self._full_name}.w_1", f"{self._full_name}.w_2") if name is None else (f"{name}_mean", f"{name}_variance")
        self.register_buffer("_mean", make_buffer([num_features], 0.0, self._dtype, mean))
        self.register_buffer("_variance", make_buffer([num_features], 1.0, self._dtype, variance))

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in self.ranks:
            raise ShapeError(f"{type(self).__name__} takes a tensor of {self.ranks} dims, got shape {dims.show(input._form.shape)}")
        return F.batch_norm(input, self._mean, self._variance, self.weight, self.bias, self.training, self.momentum,
                            self.epsilon, self.data_format, self.use_global_stats)  # fmt: skip

    def extra_repr(self) -> str:
        return f"num_features={self.num_features}, momentum={self.momentum}, epsilon={self.epsilon}"


class BatchNorm1D(_BatchNorm):
    """Batch normalization of [N, C] or [N, C, L].

    Args:
        num_features: C.
        momentum: of the running statistics.
        epsilon: added to the variance.
        weight_attr, bias_attr: see `ParamAttr`; False: ones and zeros.
        use_global_stats: True: the running statistics in training too.
        name: the statistics are named `NAME_mean` and `NAME_variance`.
    """

    ranks = (2, 3)

    def __init__(self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCL", use_global_stats: bool | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


class BatchNorm2D(_BatchNorm):
    """Batch normalization of images [N, C, H, W]; arguments as for `BatchNorm1D`."""

    ranks = (4,)


class BatchNorm3D(_BatchNorm):
    """Batch normalization of volumes [N, C, D, H, W]; arguments as for `BatchNorm1D`."""

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization with the statistics of all devices; with one device, `BatchNorm`."""

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer itself: with one device there is nothing to convert."""
        return layer


class BatchNorm(Layer):
    """Batch normalization with the arguments of Paddle 1.x: any rank, an activation behind it.

    Args:
        num_channels: C.
        act: the name of an activation, or None.
        is_test: the running statistics in training too.
    """

    def __init__(self, num_channels: int, act: str | None = None, is_test: bool = False, momentum: float = 0.9,
                 epsilon: float = 1e-05, param_attr: Any = None, bias_attr: Any = None, dtype: Any = "float32",
                 data_layout: str = "NCHW", in_place: bool = False, moving_mean_name: str | None = None,
                 moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True,
                 use_global_stats: bool = False, trainable_statistics: bool = False) -> None:  # fmt: skip
        super().__init__(dtype=dtype)
        self.momentum, self.epsilon, self.data_layout, self.act = momentum, epsilon, data_layout, act
        self._param_attr, self._bias_attr = param_attr, bias_attr
        self.use_global_stats, self.trainable_statistics, self.is_test = use_global_stats, trainable_statistics, is_test
        self.weight = self.create_parameter([num_channels], param_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)
        names = moving_mean_name or f"{self._full_name}.w_1", moving_variance_name or f"{self._full_name}.w_2"
        self.register_buffer("_mean", make_buffer([num_channels], 0.0, self._dtype, names[0]))
        self.register_buffer("_variance", make_buffer([num_channels], 1.0, self._dtype, names[1]))

    def forward(self, input: Tensor) -> Tensor:
        training = (self.training and not self.is_test) or self.trainable_statistics
        out = F.batch_norm(input, self._mean, self._variance, self.weight, self.bias, training, self.momentum,
                           self.epsilon, self.data_layout, self.use_global_stats or not training)  # fmt: skip
        return activate(out, self.act)


class LayerNorm(Layer):
    """Normalizes the last axes.

    Args:
        normalized_shape: their sizes: an int or a list.
        epsilon: added to the variance.
        weight_attr, bias_attr: see `ParamAttr`; False: none.
    """

    def __init__(self, normalized_shape: Any, epsilon: float = 1e-05, weight_attr: Any = None, bias_attr: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self.epsilon, self._weight_attr, self._bias_attr = epsilon, weight_attr, bias_attr
        count = [math.prod(self.normalized_shape)]  # in one row, as in PaddlePaddle's files
        self.weight = self.create_parameter(count, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(count, bias_attr, is_bias=True)

    def forward(self, input: Any) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self.normalized_shape}, epsilon={self.epsilon}"


class GroupNorm(Layer):
    """Normalizes groups of channels of each image."""

    def __init__(self, num_groups: int, num_channels: int, epsilon: float = 1e-05, weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCHW", name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.num_groups, self.num_channels, self.epsilon, self.data_format = num_groups, num_channels, epsilon, data_format
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([num_channels], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Tensor:
        return F.group_norm(input, self.num_groups, self.epsilon, self.weight, self.bias, self.data_format)


class _InstanceNorm(Layer):
    def __init__(self, num_features: int, epsilon: float = 1e-05, momentum: float = 0.9, weight_attr: Any = None,
                 bias_attr: Any = None, data_format: str = "NCHW", name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.epsilon, self.momentum, self.data_format = num_features, epsilon, momentum, data_format
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Tensor:
        return F.instance_norm(input, weight=self.scale, bias=self.bias, eps=self.epsilon)


class InstanceNorm1D(_InstanceNorm):
    """Normalizes each channel of each sequence [N, C, L]."""


class InstanceNorm2D(_InstanceNorm):
    """Normalizes each channel of each image [N, C, H, W]."""


class InstanceNorm3D(_InstanceNorm):
    """Normalizes each channel of each volume [N, C, D, H, W]."""


class LocalResponseNorm(Layer):
    """Normalizes by neighbouring channels; see `functional.local_response_norm`."""

    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0, data_format: str = "NCHW",
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.size, self.alpha, self.beta, self.k, self.data_format = size, alpha, beta, k, data_format

    def forward(self, input: Any) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k, self.data_format)


class SpectralNorm(Layer):
    """A weight divided by its largest singular value, which power iterations estimate. Each call starts them from the same vectors.

    In PaddlePaddle: `paddle.nn.SpectralNorm`. Miyato et al. 2018, arXiv:1802.05957.

    Args:
        weight_shape: of the weights that `forward` takes.
        dim: the axis that has the rows of the matrix: 0, or 1 for the weights of transposed convolutions.
        power_iters: the number of iterations for each call.
        eps: the smallest norm that a vector is divided by.
        dtype: of the weights.

    Raises:
        ShapeError: a size is 0, or there is no such axis.

    >>> SpectralNorm([2, 2], power_iters=30)(Tensor([[2.0, 0.0], [0.0, 1.0]])).numpy().round(2)
    array([[1. , 0. ],
           [0. , 0.5]], dtype=float32)
    """

    def __init__(self, weight_shape: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12,
                 dtype: Any = "float32") -> None:  # fmt: skip
        super().__init__(dtype=dtype)
        shape = [int(n) for n in weight_shape]
        if 0 in shape or not 0 <= dim < len(shape):
            raise ShapeError(f"SpectralNorm: a weight of shape {shape} has no matrix with the rows of axis {dim}")
        self._dim, self._power_iters, self._eps = dim, power_iters, eps
        start = ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
        self.weight_u = self.create_parameter([shape[dim]], start)
        self.weight_v = self.create_parameter([math.prod(shape) // shape[dim]], start)

    def forward(self, x: Tensor) -> Tensor:
        matrix = as_matrix(x, self._dim)
        with autograd.no_grad():
            u, v = power_iteration(matrix, self.weight_u, self.weight_v, self._power_iters, self._eps)
        return x / linalg.dot(u, linalg.mv(matrix, v))


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix whose rows are the entries of an axis."""
    first = manipulation.transpose(weight, [dim, *(axis for axis in range(weight.ndim) if axis != dim)]) if dim else weight
    return manipulation.reshape(first, [first.shape[0], -1])


def power_iteration(matrix: Tensor, u: Tensor, v: Tensor, times: int, epsilon: float) -> tuple[Tensor, Tensor]:
    """The left and right vectors of the largest singular value, as near as `times` iterations come to them."""
    for _ in range(times):
        v = F.normalize(linalg.matmul(matrix, u, transpose_x=True), axis=0, epsilon=epsilon)
        u = F.normalize(linalg.mv(matrix, v), axis=0, epsilon=epsilon)
    return u, v
