"""Lists with numbers or tensors in them that only the run knows, as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from dy2st_runtime.dtype import to_numpy

from ..errors import DTypeError
from ..framework.dtype import get_default_dtype
from . import dispatch
from .dispatch import ops
from .failures import raise_if
from .tensor import Tensor, to_array


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
        samples, dynamic = _samples(data), list(_dynamic(data))
        # only the run knows whether their lengths are those of other rows
        dtype = to_array([*_flat(samples)] if dynamic else samples).dtype.name
        for items in dynamic if dtype != get_default_dtype() else ():  # without entries eager mode makes a tensor of that
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


def _flat(samples: Any) -> Iterator[Any]:
    if isinstance(samples, list):
        for x in samples:
            yield from _flat(x)
    else:
        yield samples


def _stacked(data: Any, dtype: str) -> Tensor:
    from .promotion import cast

    if hasattr(type(data), "as_tensor"):
        return cast(data.as_tensor(), dtype)
    if isinstance(data, (list, tuple)):
        return ops.op("stack", X=[_stacked(d, dtype) for d in data], axis=0)
    if hasattr(type(data), "require"):  # it may be None, as only the run knows
        data = data.require("a tensor cannot be made of NoneType None", DTypeError)
    return cast(data, dtype) if isinstance(data, Tensor) else dispatch.constant(to_array(data, dtype))


def _samples(entry: Any) -> Any:
    if isinstance(entry, (list, tuple)):
        return [_samples(e) for e in entry]
    if hasattr(type(entry), "as_tensor"):
        return [entry.sample()]
    if not isinstance(entry, Tensor):
        return np.zeros(1, entry.dtype) if isinstance(entry, np.ndarray) else type(entry)(1)
    zero = np.zeros((), to_numpy(entry.dtype))
    return zero.item() if entry._weak else zero
