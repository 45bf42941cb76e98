"""Linear, Embedding, Dropout, Flatten and other layers with little in them."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError
from ..tensor import Tensor, autograd, dispatch, manipulation
from . import functional as F
from .initializer import Constant
from .layer import Layer


class Identity(Layer):
    """Gives its input; takes and ignores any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Layer):
    """x @ weight + bias: [..., in_features] → [..., out_features].

    Args:
        in_features, out_features: sizes.
        weight_attr, bias_attr: see `ParamAttr`; bias_attr False: no bias.

    >>> Linear(3, 2)(Tensor([[1.0, 2.0, 3.0]])).shape
    [1, 2]
    """

    def __init__(self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._dtype}"


class Bilinear(Layer):
    """x1 @ weight[k] @ x2 + bias[k] for each output k."""

    def __init__(self, in1_features: int, in2_features: int, out_features: int, weight_attr: Any = None,
                 bias_attr: Any = None, name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Tensor:
        return F.bilinear(x1, x2, self.weight, self.bias)


class Embedding(Layer):
    """Rows of a table: integers [...] → [..., embedding_dim].

    Args:
        num_embeddings, embedding_dim: the shape of the table.
        padding_idx: this row is zero to begin with, gives zeros and gets no gradient; negative: from the end.
        sparse: without effect: gradients are dense.
        weight_attr: see `ParamAttr`.

    Raises:
        AttributeValueError: padding_idx is no row.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, sparse: bool = False,
                 weight_attr: Any = None, name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self._weight_attr = weight_attr
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AttributeValueError(f"Embedding: padding_idx {padding_idx} is out of range for {num_embeddings} rows")
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        if padding_idx is not None and not self.weight.is_symbolic:
            with autograd.no_grad(), dispatch.eager():
                self.weight[padding_idx] = 0.0

    def forward(self, x: Any) -> Tensor:
        return F.embedding(x, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}, padding_idx={self.padding_idx}"


class Dropout(Layer):
    """Sets elements to zero at random in training; see `functional.dropout`."""

    def __init__(self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None):
        super().__init__()
        self.p, self.axis, self.mode = p, axis, mode

    def forward(self, input: Any) -> Tensor:
        return F.dropout(input, self.p, self.axis, self.training, self.mode)

    def extra_repr(self) -> str:
        return f"p={self.p}, axis={self.axis}, mode={self.mode}"


class Dropout2D(Layer):
    """Sets whole channels of images to zero at random in training."""

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None):
        super().__init__()
        self.p, self.data_format = p, data_format

    def forward(self, input: Any) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.data_format)


class Dropout3D(Layer):
    """Sets whole channels of volumes to zero at random in training."""

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None):
        super().__init__()
        self.p, self.data_format = p, data_format

    def forward(self, input: Any) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.data_format)


class AlphaDropout(Layer):
    """Dropout that keeps mean and variance behind `SELU`; see `functional.alpha_dropout`."""

    def __init__(self, p: float = 0.5, name: str | None = None):
        super().__init__()
        self.p = p

    def forward(self, input: Any) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class Unflatten(Layer):
    """Splits an axis into several: the inverse of `Flatten`. One of the new sizes may be -1."""

    def __init__(self, axis: int, shape: Any, name: str | None = None):
        super().__init__()
        self.axis, self.shape = axis, shape

    def forward(self, input: Any) -> Tensor:
        return manipulation.unflatten(input, self.axis, self.shape)


class Flatten(Layer):
    """Joins the axes from `start_axis` to `stop_axis` into one."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1):
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Tensor:
        return manipulation.flatten(input, self.start_axis, self.stop_axis)


class Upsample(Layer):
    """Images in another size; see `functional.interpolate`."""

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False,
                 align_mode: int = 0, data_format: str = "NCHW", name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.options = (size, scale_factor, mode, align_corners, align_mode, data_format)

    def forward(self, x: Any) -> Tensor:
        return F.interpolate(x, *self.options)


class UpsamplingNearest2D(Upsample):
    """`Upsample` with mode "nearest"."""

    def __init__(self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None):
        super().__init__(size, scale_factor, "nearest", data_format=data_format)


class UpsamplingBilinear2D(Upsample):
    """`Upsample` with mode "bilinear" and aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None):
        super().__init__(size, scale_factor, "bilinear", True, data_format=data_format)


class _Pad(Layer):
    rank = 2
    formats = "NCHW"

    def __init__(self, padding: Any, mode: str = "constant", value: float = 0.0, data_format: str | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.padding = [padding] * (2 * self.rank) if isinstance(padding, int) else list(padding)
        self.mode, self.value, self.data_format = mode, value, data_format or self.formats

    def forward(self, x: Any) -> Tensor:
        return F.pad(x, self.padding, self.mode, self.value, self.data_format)


class Pad1D(_Pad):
    """`functional.pad` of sequences: [left, right]."""

    rank, formats = 1, "NCL"


class Pad2D(_Pad):
    """`functional.pad` of images: [left, right, top, bottom]."""


class Pad3D(_Pad):
    """`functional.pad` of volumes: [left, right, top, bottom, front, back]."""

    rank, formats = 3, "NCDHW"


class ZeroPad2D(_Pad):
    """Zeros around images: [left, right, top, bottom]."""

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None):
        super().__init__(padding, data_format=data_format)


class CosineSimilarity(Layer):
    """The cosine of the angle between vectors along an axis."""

    def __init__(self, axis: int = 1, eps: float = 1e-8):
        super().__init__()
        self.axis, self.eps = axis, eps

    def forward(self, x1: Any, x2: Any) -> Tensor:
        return F.cosine_similarity(x1, x2, self.axis, self.eps)


class PairwiseDistance(Layer):
    """The p-norm of x - y over the last axis."""

    def __init__(self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None):
        super().__init__()
        self.p, self.epsilon, self.keepdim = p, epsilon, keepdim

    def forward(self, x: Any, y: Any) -> Tensor:
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim)


class PixelShuffle(Layer):
    """[N, C * r * r, H, W] → [N, C, H * r, W * r]."""

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None):
        super().__init__()
        self.factor, self.data_format = upscale_factor, data_format

    def forward(self, x: Any) -> Tensor:
        return F.pixel_shuffle(x, self.factor, self.data_format)


class PixelUnshuffle(Layer):
    """[N, C, H * r, W * r] → [N, C * r * r, H, W]."""

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None):
        super().__init__()
        self.factor, self.data_format = downscale_factor, data_format

    def forward(self, x: Any) -> Tensor:
        return F.pixel_unshuffle(x, self.factor, self.data_format)


class ChannelShuffle(Layer):
    """The channels of groups in turn; see `functional.channel_shuffle`."""

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None):
        super().__init__()
        self.groups, self.data_format = groups, data_format

    def forward(self, x: Any) -> Tensor:
        return F.channel_shuffle(x, self.groups, self.data_format)


class Unfold(Layer):
    """The windows of images as columns; see `functional.unfold`, which has its arguments in another order, as in PaddlePaddle."""

    def __init__(self, kernel_sizes: Any, dilations: Any = 1, paddings: Any = 0, strides: Any = 1, name: str | None = None):
        super().__init__()
        self.options = (kernel_sizes, strides, paddings, dilations)

    def forward(self, x: Any) -> Tensor:
        return F.unfold(x, *self.options)


class Fold(Layer):
    """The sum of windows given as columns; see `functional.fold`, which has its arguments in another order, as in PaddlePaddle."""

    def __init__(self, output_sizes: Any, kernel_sizes: Any, dilations: Any = 1, paddings: Any = 0, strides: Any = 1,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.options = (output_sizes, kernel_sizes, strides, paddings, dilations)

    def forward(self, x: Any) -> Tensor:
        return F.fold(x, *self.options)


class PReLU(Layer):
    """x where x > 0, else weight * x; the weight is learned, one for all or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, weight_attr: Any = None, data_format: str = "NCHW",
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__()
        self.data_format = data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Any) -> Tensor:
        return F.prelu(x, self._weight, self.data_format)
