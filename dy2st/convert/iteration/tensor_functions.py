"""Functions and methods of tensors that are others while a function is traced: they take or give lists, which may be of dynamic length, or
go over the slices of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...library import tensors
from ...tensor import Tensor, manipulation, operators, reduction
from ...tensor.arguments import axis_number
from .. import hub
from ..hub import current_tracer
from ..values.maybe_value import MaybeValue
from .outer_iterators import fresh


def _stack(x: Any, axis: int = 0, name: str | None = None) -> Tensor:
    x = fresh(x) if isinstance(x, MaybeValue) else x
    return manipulation.stack(x, axis, name)


def _unbind(input: Any, axis: Any = 0) -> Any:
    """`unbind`: a list of dynamic length where only the run knows how many slices there are."""
    return hub.list_(manipulation.moveaxis(input, axis, 0)) if _is_open(input, axis) else manipulation.unbind(input, axis)


def _concat(x: Any, axis: Any = 0, name: str | None = None) -> Tensor:
    x = fresh(x) if isinstance(x, MaybeValue) else x
    return manipulation.concat(x, axis, name)


def _is_open(x: Any, axis: Any) -> bool:
    """Whether only the run knows how many slices a tensor has along an axis."""
    if not isinstance(x, Tensor) or current_tracer() is None:
        return False
    number = axis_number(axis)
    return -x.ndim <= number < x.ndim and x._value.shape[number] == -1


def _tolist(x: Tensor) -> Any:
    return hub.call(tensors.tolist)(x) if current_tracer() is not None and x.ndim <= tensors.DEPTH else x.tolist()


def _cumprod(x: Any, dim: Any = None, dtype: Any = None, name: str | None = None) -> Tensor:
    if isinstance(x, Tensor) and dim is None and x.ndim != 1:
        x, dim = manipulation.reshape(x, [-1]), 0
    axis = 0 if dim is None else dim
    if not _is_open(x, axis):
        return reduction.cumprod(x, dim, dtype)
    rows = manipulation.moveaxis(x if dtype is None else x.astype(dtype), axis, 0)
    found = hub.if_expr(rows.shape[0] > 0, lambda: _stack(hub.call(tensors.products)(rows)), rows.clone)
    return manipulation.moveaxis(found, 0, axis)


OF_TENSORS: dict[Any, Callable] = {
    manipulation.stack: _stack, manipulation.concat: _concat, manipulation.unbind: _unbind, operators.tolist: _tolist,
    reduction.cumprod: _cumprod,
}  # fmt: skip
