"""Reductions: sums, means, extremes, norms, cumulative sums."""

from __future__ import annotations

import functools
import math as _math
from typing import Any

from dy2st_runtime.ops import registry
from dy2st_runtime.ops.registry import OpDef

from ..framework.dtype import convert_dtype
from . import math
from .arguments import axes, axis_number
from .attribute import sizes
from .dispatch import ops
from .promotion import as_tensor, cast
from .tensor import Tensor


def _reduce(op_type: str, x: Any, axis: Any, keepdim: bool) -> Tensor:
    if not isinstance(x, Tensor):
        x = as_tensor(x)
    if (axis is None or type(axis) is int) and type(keepdim) is bool:
        op, attrs = _prepared(op_type, axis, keepdim)
        return ops.apply(op, (x,), attrs)[0]
    dim = axes(axis)
    return ops.of(op_type, x, dim=dim, keep_dim=keepdim, reduce_all=not dim)


@functools.lru_cache(maxsize=256)
def _prepared(op_type: str, axis: int | None, keepdim: bool) -> tuple[type[OpDef], dict[str, Any]]:
    """The record and all attributes of a reduction: to put them together takes as long as adding two small arrays."""
    op, dim = registry.get(op_type), axes(axis)
    return op, op.complete_attrs({"dim": dim, "keep_dim": keepdim, "reduce_all": not dim})


def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The sum over some axes; bool and int32 are summed as int64.

    Args:
        x: Tensor of any shape.
        axis: an int, a list of ints, or None for all axes.
        dtype: x is cast to it first.
        keepdim: keeps the axes with size 1.

    Raises:
        AttributeValueError: an axis is out of range.

    >>> sum(Tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).numpy()
    array([3., 7.], dtype=float32)
    """
    return _reduce("reduce_sum", x if dtype is None else cast(as_tensor(x), convert_dtype(dtype)), axis, keepdim)


def mean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The mean over some axes (None: all) of a floating-point tensor.

    >>> mean(Tensor([1.0, 2.0, 6.0])).numpy()
    array(3., dtype=float32)
    """
    return _reduce("reduce_mean", x, axis, keepdim)


def max(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The largest element over some axes (None: all); NaN if there is one.

    >>> max(Tensor([[1, 5], [4, 2]]), axis=0).numpy()
    array([4, 5])
    """
    return _reduce("reduce_max", x, axis, keepdim)


def min(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The smallest element over some axes (None: all); NaN if there is one."""
    return _reduce("reduce_min", x, axis, keepdim)


def amax(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """`max`, whose gradient the elements that are the largest share; each of them has the whole one of `max`."""
    return _reduce("reduce_amax", x, axis, keepdim)


def amin(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """`min`, whose gradient the elements that are the smallest share; each of them has the whole one of `min`."""
    return _reduce("reduce_amin", x, axis, keepdim)


def prod(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None, name: str | None = None) -> Tensor:
    """The product over some axes (None: all).

    >>> prod(Tensor([2, 3, 4])).numpy()
    array(24)
    """
    x = as_tensor(x)
    return _reduce("reduce_prod", x if dtype is None else cast(x, convert_dtype(dtype)), axis, keepdim)


def all(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether all elements over some axes (None: all) are true.

    >>> all(Tensor([True, False])).numpy()
    array(False)
    """
    return _reduce("reduce_all", cast(as_tensor(x), "bool"), axis, keepdim)


def any(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """Whether any element over some axes (None: all) is true."""
    return _reduce("reduce_any", cast(as_tensor(x), "bool"), axis, keepdim)


def logsumexp(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """log(sum(exp(x))) over some axes (None: all), without overflow.

    >>> round(logsumexp(Tensor([0.0, 0.0])).item(), 4)
    0.6931
    """
    dim = axes(axis)
    return ops.op("logsumexp", X=as_tensor(x), axis=dim or [0], keepdim=keepdim, reduce_all=not dim)


def cumsum(x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """The cumulative sum along an axis; without one, of the flattened tensor.

    >>> cumsum(Tensor([1, 2, 3])).numpy()
    array([1, 3, 6])
    """
    x = as_tensor(x)
    x = x if dtype is None else cast(x, convert_dtype(dtype))
    if axis is None:
        return ops.op("cumsum", X=x, flatten=True)
    return ops.op("cumsum", X=x, axis=axis_number(axis))


def _count(x: Tensor, axis: Any) -> Any:
    """How many elements one entry of the reduction over `axis` covers."""
    shape = sizes(x)
    dim = axes(axis) or range(x.ndim)
    return _math.prod(shape[a] for a in dim)


def var(x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The variance over some axes (None: all); `unbiased` divides by n - 1.

    >>> var(Tensor([1.0, 2.0, 3.0])).numpy()
    array(1., dtype=float32)
    """
    x = as_tensor(x)
    centered = math.subtract(x, mean(x, axis, keepdim=True))
    if not unbiased:
        return mean(math.square(centered), axis, keepdim)
    return math.divide(sum(math.square(centered), axis, keepdim=keepdim), _count(x, axis) - 1)


def std(x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The standard deviation, as `var`."""
    return math.sqrt(var(x, axis, unbiased, keepdim))


def norm(x: Any, p: Any = "fro", axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """A norm of vectors or of the whole tensor.

    Args:
        x: Tensor of a floating-point dtype.
        p: "fro" (the square root of the sum of squares), or the order: a number, inf or -inf.
        axis: an int; a list of two ints for "fro"; None: the flattened tensor.

    >>> norm(Tensor([3.0, 4.0])).numpy()
    array(5., dtype=float32)
    """
    x = as_tensor(x)
    if p == "fro" and not (isinstance(axis, int) or axis is None):
        return math.sqrt(sum(math.square(x), axis, keepdim=keepdim))
    order = 2.0 if p == "fro" else float(p)
    if axis is None:
        return ops.op("p_norm", X=x, porder=order, axis=-1, keepdim=keepdim, asvector=True)
    dim = axes(axis)
    if len(dim) == 1:
        return ops.op("p_norm", X=x, porder=order, axis=dim[0], keepdim=keepdim)
    if order == float("inf"):
        return max(math.abs(x), dim, keepdim)
    if order == -float("inf"):
        return min(math.abs(x), dim, keepdim)
    return math.pow(sum(math.pow(math.abs(x), order), dim, keepdim=keepdim), 1.0 / order)


def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The p-norm of x - y."""
    return norm(math.subtract(x, y), p)


def cumprod(x: Tensor, dim: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """The cumulative product along an axis, of a tensor with known size there.

    >>> cumprod(Tensor([1.0, 2.0, 3.0]), dim=0).numpy()
    array([1., 2., 6.], dtype=float32)
    """
    from .manipulation import reshape, stack, unbind

    x = as_tensor(x)
    x = x if dtype is None else cast(x, convert_dtype(dtype))
    if dim is None:
        x, dim = reshape(x, [-1]), 0
    parts = unbind(x, dim)
    if not parts:
        return x
    for i in range(1, len(parts)):
        parts[i] = math.multiply(parts[i - 1], parts[i])
    return stack(parts, dim)


def count_nonzero(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """How many elements over some axes (None: all) are not 0, as int64."""
    return sum(cast(cast(as_tensor(x), "bool"), "int64"), axis, keepdim=keepdim)
