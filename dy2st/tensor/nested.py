"""Lists with numbers or tensors in them that only the run knows, as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from dy2st_runtime.dtype import to_numpy

from ..errors import DTypeError
from ..framework.dtype import get_default_dtype
from . import dispatch
from .conversion import cast
from .dispatch import ops
from .failures import raise_if
from .tensor import Tensor, require_numbers, to_array


def any_staged(data: Any) -> bool:
    """Whether a value, or one in a nested list, belongs to the program being built."""
    if isinstance(data, (list, tuple)):
        return any(map(any_staged, data))
    if hasattr(type(data), "as_tensor"):  # a list of dynamic length
        return True
    return isinstance(data, Tensor) and (data.is_symbolic or not dispatch.in_dynamic_mode())


def stacked(data: Any, dtype: str | None = None) -> Tensor:
    """A nested list as one tensor, without a gradient, in the dtype that `to_array` finds for entries of the same kinds."""
    if dtype is None:
        dtype = to_array([*_samples(data)]).dtype.name
        for items in _dynamic(data) if dtype != get_default_dtype() else ():  # without entries eager mode makes a tensor of that
            raise_if(items.length() == 0, ValueError, "a tensor made of lists of which one has no entries in this run; make it by zeros()")
    t = _stacked(data, dtype)
    t.set_stop(True)
    return t


def _dynamic(data: Any) -> Iterator[Any]:
    """The lists of dynamic length in a nested list."""
    if isinstance(data, (list, tuple)):
        for d in data:
            yield from _dynamic(d)
    elif hasattr(type(data), "as_tensor"):
        yield data


def _stacked(data: Any, dtype: str) -> Tensor:
    if hasattr(type(data), "as_tensor"):
        return cast(data.as_tensor(), dtype)
    if isinstance(data, (list, tuple)) and any_staged(data):
        return ops.op("stack", X=[_stacked(d, dtype) for d in data], axis=0)
    if hasattr(type(data), "require"):  # it may be None, as only the run knows
        data = data.require("a tensor cannot be made of NoneType None", DTypeError)
    return cast(data, dtype) if isinstance(data, Tensor) else dispatch.constant(to_array(data, dtype))


def _samples(data: Any) -> Iterator[Any]:
    """For each number and array in a nested list a number of its kind: which of them have the same shape need not be known."""
    if isinstance(data, (list, tuple)):
        for d in data:
            yield from _samples(d)
    elif hasattr(type(data), "as_tensor"):
        yield from _samples(data.sample())
    elif isinstance(data, Tensor):
        zero = np.zeros((), to_numpy(data.dtype))
        yield zero.item() if data._weak else zero
    else:
        require_numbers(data)
        array = np.asarray(data)
        yield np.zeros((), array.dtype) if array.ndim else data
