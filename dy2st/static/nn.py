"""Layers as functions: they make their parameters in the default programs, `fc(x, 10)`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dy2st_runtime import dims

from ..errors import AttributeValueError, ShapeError
from ..missing_names import explain_missing as _explain_missing
from ..nn import functional as F
from ..nn import initializer as init
from ..nn.functional.by_name import activate
from ..nn.parameter import make_buffer, make_parameter
from ..tensor import Tensor, manipulation
from ..tensor import math as tensor_math
from ..tensor.dispatch import ops
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor
from ..unique_name import generate
from .control_flow import case as case
from .control_flow import cond as cond
from .control_flow import switch_case as switch_case
from .control_flow import while_loop as while_loop


def fc(x: Any, size: int, num_flatten_dims: int = 1, weight_attr: Any = None, bias_attr: Any = None,
       activation: str | None = None, name: str | None = None) -> Tensor:  # fmt: skip
    """A fully connected layer: `act(x @ w + b)`.

    Args:
        x: of any rank above `num_flatten_dims`, or a list: each has a weight of its own, the products are added.
        size: number of outputs.
        num_flatten_dims: so many leading dims stay; the others are one dim for the product, and must have known sizes.
        weight_attr, bias_attr: `ParamAttr`, name, initializer; False: none.
        activation: name of an activation.

    Returns:
        of shape `x.shape[:num_flatten_dims] + [size]`.

    Example:
        >>> from dy2st import static
        >>> with static.program_guard(static.Program(), static.Program()):
        ...     fc(static.data("x", [None, 3, 4]), 10).shape
        [-1, 10]
    """
    layer = name or generate("fc")
    total: Any = None
    for one in x if isinstance(x, (list, tuple)) else [x]:
        t = as_tensor(one)
        keep = num_flatten_dims if num_flatten_dims >= 0 else t.ndim + num_flatten_dims
        if not 0 < keep < t.ndim:
            raise ShapeError(f"fc cannot keep {num_flatten_dims} dims of a tensor with {t.ndim}", location=user_location())
        rows = _known(t, range(keep, t.ndim), "fc")
        w = make_parameter([math.prod(rows), size], weight_attr, t.dtype, prefix=layer)
        product = ops.op("mul", X=t, Y=w, x_num_col_dims=keep, y_num_col_dims=1)
        total = product if total is None else tensor_math.add(total, product)
    b = make_parameter([size], bias_attr, total.dtype, is_bias=True, prefix=layer)
    return activate(total if b is None else tensor_math.add(total, b), activation)


def conv2d(input: Any, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int | None = None, param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True,
           act: str | None = None, name: str | None = None, data_format: str = "NCHW") -> Tensor:  # fmt: skip
    """A 2-D convolution layer.

    Args:
        input: [N, C, H, W]; C must be known.
        num_filters: number of output channels.
        filter_size, stride, dilation: an int, or two.
        padding: an int, two, four, "SAME" or "VALID".
        groups: default 1.
        param_attr, bias_attr: `ParamAttr`, name, initializer; False: none.
        act: name of an activation.

    Returns:
        [N, num_filters, H', W'].
    """
    x, layer = as_tensor(input), name or generate("conv2d")
    (channels,) = _known(x, [1 if data_format == "NCHW" else -1], "conv2d")
    kernel = list(filter_size) if isinstance(filter_size, (list, tuple)) else [filter_size] * 2
    count = groups or 1
    if channels % count or num_filters % count:
        raise ShapeError(f"conv2d with {count} groups takes neither {channels} channels nor {num_filters} filters",
                         location=user_location(), hint="both must be divisible by groups")  # fmt: skip
    std = math.sqrt(2.0 / (math.prod(kernel) * channels))
    w = make_parameter([num_filters, channels // count, *kernel], param_attr, x.dtype,
                       default_initializer=init.Normal(0.0, std), prefix=layer)  # fmt: skip
    b = make_parameter([num_filters], bias_attr, x.dtype, is_bias=True, prefix=layer)
    return activate(F.conv2d(x, w, b, stride, padding, dilation, count, data_format), act)


def batch_norm(input: Any, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-5,
               param_attr: Any = None, bias_attr: Any = None, data_layout: str = "NCHW", in_place: bool = False,
               name: str | None = None, moving_mean_name: str | None = None, moving_variance_name: str | None = None,
               do_model_average_for_mean_and_var: bool = True, use_global_stats: bool = False) -> Tensor:  # fmt: skip
    """Batch normalization over all axes but that of the channels, with running statistics.

    Args:
        input: [N, C, ...]; C must be known.
        is_test: normalize by the running statistics.
        act: name of an activation.
    """
    x, layer = as_tensor(input), name or generate("batch_norm")
    (channels,) = _known(x, [1 if data_layout == "NCHW" else -1], "batch_norm")
    w = make_parameter([channels], param_attr, x.dtype, default_initializer=init.Constant(1.0), prefix=layer)
    b = make_parameter([channels], bias_attr, x.dtype, is_bias=True, prefix=layer)
    mean = make_buffer([channels], 0.0, x.dtype, moving_mean_name or generate(f"{layer}.w"))
    variance = make_buffer([channels], 1.0, x.dtype, moving_variance_name or generate(f"{layer}.w"))
    out = F.batch_norm(x, mean, variance, w, b, training=not is_test, momentum=momentum, epsilon=epsilon,
                       data_format=data_layout, use_global_stats=use_global_stats or None)  # fmt: skip
    return activate(out, act)


def layer_norm(input: Any, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-5,
               param_attr: Any = None, bias_attr: Any = None, act: str | None = None,
               name: str | None = None) -> Tensor:  # fmt: skip
    """Layer normalization over the axes from `begin_norm_axis` on; their sizes must be known."""
    x, layer = as_tensor(input), name or generate("layer_norm")
    sizes = _known(x, range(begin_norm_axis, x.ndim), "layer_norm")
    shape = [math.prod(sizes)]
    w = make_parameter(shape, param_attr, x.dtype, default_initializer=init.Constant(1.0), prefix=layer) if scale else None
    b = make_parameter(shape, bias_attr, x.dtype, is_bias=True, prefix=layer) if shift else None
    return activate(F.layer_norm(x, sizes, w, b, epsilon), act)


def embedding(input: Any, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False,
              padding_idx: int | None = None, param_attr: Any = None, dtype: Any = "float32") -> Tensor:  # fmt: skip
    """Rows of a table of shape `size` by their numbers; see `nn.functional.embedding`."""
    w = make_parameter(list(size), param_attr, dtype, default_initializer=init.XavierUniform(),
                       prefix=generate("embedding"))  # fmt: skip
    return F.embedding(input, w, padding_idx=padding_idx)


def pool2d(input: Any, pool_size: Any = -1, pool_type: str = "max", pool_stride: Any = 1, pool_padding: Any = 0,
           global_pooling: bool = False, use_cudnn: bool = True, ceil_mode: bool = False, name: str | None = None,
           exclusive: bool = True, data_format: str = "NCHW") -> Tensor:  # fmt: skip
    """2-D pooling, in the form of the 1.x API.

    Args:
        input: [N, C, H, W].
        pool_type: "max" or "avg".
        global_pooling: over the whole image, whatever `pool_size` says.
    """
    if pool_type not in ("max", "avg"):
        raise AttributeValueError(f"pool_type must be 'max' or 'avg', got {pool_type!r}", location=user_location())
    x = as_tensor(input)
    if global_pooling:
        axes = [2, 3] if data_format == "NCHW" else [1, 2]
        reduce = ops.reduce_max if pool_type == "max" else ops.reduce_mean
        return reduce(x, dim=axes, keep_dim=True)
    if pool_type == "max":
        return F.max_pool2d(x, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode, data_format=data_format)
    return F.avg_pool2d(x, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode, exclusive=exclusive,
                        data_format=data_format)  # fmt: skip


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Tensor:
    """The part of the rows whose label is among the k highest scores.

    Args:
        input: scores [N, classes].
        label: [N, 1] integers.

    Returns:
        float32 of shape [1].
    """
    scores, wanted = as_tensor(input), as_tensor(label)
    _, found = ops.op("top_k_v2", X=scores, k=k)
    wanted = manipulation.reshape(wanted, [-1, 1])
    hits = ops.op("reduce_any", X=ops.op("equal", X=found, Y=wanted), dim=[1])
    return manipulation.reshape(ops.op("reduce_mean", X=ops.op("cast", X=hits, out_dtype="float32"), reduce_all=True), [1])


def _known(x: Tensor, axes: Any, what: str) -> list[int]:
    """The sizes of axes that parameters depend on."""
    sizes = [int(x._value.shape[axis]) for axis in axes]
    if -1 in sizes:
        raise ShapeError(f"{what} needs to know the sizes of all dims that its parameters depend on, got {dims.show(x._value.shape)}",
                         location=user_location(2), hint="give them when the data is declared, or reshape")  # fmt: skip
    return sizes


_explain_missing(__name__)
