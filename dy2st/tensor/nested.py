"""Lists with numbers or tensors in them that only the run knows, as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from dy2st_runtime.dtype import to_numpy

from ..errors import DTypeError
from . import dispatch
from .dispatch import ops
from .tensor import Tensor, to_array


def any_staged(data: Any) -> bool:
    """Whether a value, or one in a nested list, belongs to the program being built."""
    if isinstance(data, (list, tuple)):
        return any(map(any_staged, data))
    return isinstance(data, Tensor) and (data.is_symbolic or not dispatch.in_dynamic_mode())


def stacked(data: Any, dtype: str | None = None) -> Tensor:
    """A nested list as one tensor, without a gradient, in the dtype that `to_array` finds for entries of the same kinds."""
    t = _stacked(data, to_array(_samples(data)).dtype.name if dtype is None else dtype)
    t.set_stop(True)
    return t


def _stacked(data: Any, dtype: str) -> Tensor:
    from .promotion import cast

    if isinstance(data, (list, tuple)):
        return ops.op("stack", X=[_stacked(d, dtype) for d in data], axis=0)
    if hasattr(type(data), "require"):  # it may be None, as only the run knows
        data = data.require("a tensor cannot be made of NoneType None", DTypeError)
    return cast(data, dtype) if isinstance(data, Tensor) else dispatch.constant(to_array(data, dtype))


def _samples(entry: Any) -> Any:
    if isinstance(entry, (list, tuple)):
        return [_samples(e) for e in entry]
    if not isinstance(entry, Tensor):
        return np.zeros(1, entry.dtype) if isinstance(entry, np.ndarray) else type(entry)(1)
    zero = np.zeros((), to_numpy(entry.dtype))
    return zero.item() if entry._weak else zero
