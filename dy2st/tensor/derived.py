"""Functions, element by element, that are written with others."""

from __future__ import annotations

import math as _math
from typing import Any

from . import logic, manipulation, math, reduction, scaling
from .kinds import divided
from .promotion import as_tensor, mark, operands
from .tensor import Tensor


def frac(x: Any, name: str | None = None) -> Tensor:
    """x without its integer part, with the sign of x.

    >>> frac(Tensor([1.5, -1.5])).numpy()
    array([ 0.5, -0.5], dtype=float32)
    """
    return math.subtract(x, math.trunc(x))


def deg2rad(x: Any, name: str | None = None) -> Tensor:
    """Degrees as radians.

    >>> deg2rad(Tensor([180.0])).numpy().round(2)
    array([3.14], dtype=float32)
    """
    return math.multiply(x, _math.pi / 180.0)


def rad2deg(x: Any, name: str | None = None) -> Tensor:
    """Radians as degrees.

    >>> rad2deg(Tensor([0.0])).numpy()
    array([0.], dtype=float32)
    """
    return math.multiply(x, 180.0 / _math.pi)


def fmax(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger one; where one is NaN, the other.

    >>> fmax(Tensor([1.0, float("nan")]), Tensor([2.0, 3.0])).numpy()
    array([2., 3.], dtype=float32)
    """
    return _without_nan(x, y, math.maximum)


def fmin(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller one; where one is NaN, the other.

    >>> fmin(Tensor([1.0, float("nan")]), Tensor([2.0, 3.0])).numpy()
    array([1., 3.], dtype=float32)
    """
    return _without_nan(x, y, math.minimum)


def _without_nan(x: Any, y: Any, choose: Any) -> Tensor:
    x, y, kind = operands(x, y)
    both = choose(x, y)
    if not x.dtype.startswith("float") and not y.dtype.startswith("float"):
        return mark(both, kind)
    return mark(logic.where(math.isnan(x), y, logic.where(math.isnan(y), x, both)), kind)


def logaddexp(x: Any, y: Any, name: str | None = None) -> Tensor:
    """log(exp(x) + exp(y)), without overflow.

    >>> logaddexp(Tensor([0.0]), Tensor([0.0])).numpy().round(3)
    array([0.693], dtype=float32)
    """
    x, y, kind = operands(x, y)
    top = math.maximum(x, y).detach()
    top = logic.where(math.isfinite(top), top, 0.0)
    return mark(top + math.log(math.exp(x - top) + math.exp(y - top)), divided(kind))


def hypot(x: Any, y: Any, name: str | None = None) -> Tensor:
    """sqrt(x ** 2 + y ** 2).

    >>> hypot(Tensor([3.0]), Tensor([4.0])).numpy()
    array([5.], dtype=float32)
    """
    return math.sqrt(math.add(math.square(x), math.square(y)))


def logit(x: Any, eps: float | None = None, name: str | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of the sigmoid.

    Args:
        eps: x is limited to eps ... 1 - eps first; without it, what is outside of 0 ... 1 gives NaN.

    >>> logit(Tensor([0.5])).numpy()
    array([0.], dtype=float32)
    """
    x = as_tensor(x) if eps is None else scaling.clip(x, eps, 1.0 - eps)
    return math.log(x / (1.0 - x))


def nan_to_num(x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None,
               name: str | None = None) -> Tensor:  # fmt: skip
    """x with numbers for NaN and infinities; by default 0 and the largest and smallest of the dtype.

    >>> nan_to_num(Tensor([1.0, float("nan"), float("inf")]), posinf=9.0).numpy()
    array([1., 0., 9.], dtype=float32)
    """
    import numpy as np

    x = as_tensor(x)
    if not x.dtype.startswith("float"):
        return x
    limits = np.finfo(x.dtype)
    x = logic.where(math.isnan(x), nan, x)
    x = logic.where(x == _math.inf, float(limits.max) if posinf is None else posinf, x)
    return logic.where(x == -_math.inf, float(limits.min) if neginf is None else neginf, x)


def nansum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The sum of what is not NaN.

    >>> nansum(Tensor([1.0, float("nan"), 2.0])).numpy()
    array(3., dtype=float32)
    """
    x = as_tensor(x)
    return reduction.sum(logic.where(math.isnan(x), 0.0, x), axis, dtype, keepdim)


def nanmean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The mean of what is not NaN.

    >>> nanmean(Tensor([1.0, float("nan"), 2.0])).numpy()
    array(1.5, dtype=float32)
    """
    x = as_tensor(x)
    counted = manipulation.cast(logic.logical_not(math.isnan(x)), x.dtype)
    return nansum(x, axis, None, keepdim) / reduction.sum(counted, axis, None, keepdim)
