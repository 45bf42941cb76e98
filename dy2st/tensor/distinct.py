"""Distinct elements. How many there are only the values tell, so static functions find them by sorting, as eager mode does."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..framework.dtype import convert_dtype
from . import creation, dispatch, logic, manipulation, math, reduction, search
from .arguments import axis_number
from .autograd import no_grad
from .promotion import as_tensor, cast
from .tensor import Tensor


def unique(x: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:  # fmt: skip
    """The distinct elements, sorted; no gradient flows through them. All NaN are one element, the last.

    Args:
        return_index: also the position of the first of each in the flattened tensor.
        return_inverse: also the position of each element of the flattened tensor in the result.
        return_counts: also how often each occurs.
        axis: slices along this axis are what is compared, in eager mode only.
        dtype: of positions and numbers.

    Returns:
        Tensor [n], and those asked for behind it in a tuple.

    Raises:
        StagedValueError: an axis is given while a program is built.

    >>> values, counts = unique(Tensor([3, 1, 3]), return_counts=True)
    >>> values.numpy(), counts.numpy()
    (array([1, 3]), array([1, 2]))
    """
    asked = return_index, return_inverse, return_counts
    with no_grad():
        found = _elements(as_tensor(x), *asked) if axis is None else _slices(as_tensor(x), axis_number(axis))
        parts = [cast(part, convert_dtype(dtype)) for part, wanted in zip(found[1:], asked, strict=True) if wanted]
    return (found[0], *parts) if parts else found[0]


def _elements(x: Tensor, index: bool, inverse: bool, counts: bool) -> list[Any]:
    flat = manipulation.reshape(x, [-1])
    order = search.argsort(flat)  # of equal ones the first comes first
    values = manipulation.gather(flat, order)
    differs = values[1:] != values[:-1]
    if x.dtype.startswith("float"):
        differs = logic.logical_and(differs, logic.logical_not(math.isnan(values[:-1])))
    is_first = manipulation.concat([creation.ones_like(values[:1], "bool"), differs])
    found: list[Any] = [search.masked_select(values, is_first), None, None, None]
    if index:
        found[1] = search.masked_select(order, is_first)
    places = reduction.cumsum(cast(is_first, "int64")) - 1
    if inverse:
        found[2] = manipulation.scatter(places, order, places)
    if counts:
        found[3] = manipulation.scatter_nd_add(
            creation.zeros_like(found[0], "int64"), manipulation.unsqueeze(places, 1), creation.ones_like(places)
        )
    return found


def _slices(x: Tensor, axis: int) -> list[Any]:
    value = dispatch.read(x, "unique() along an axis")
    found = np.unique(value, True, True, True, axis)
    return [Tensor.wrap(part.reshape(-1) if i else part) for i, part in enumerate(found)]
