"""`a, b = value`, where only the run knows of how many parts the value is."""

from __future__ import annotations

from typing import Any

from ..tensor.failures import raise_if
from ..tensor.indexing import getitem
from ..tensor.tensor import Tensor
from .dynamic import DynamicList
from .iterators import fresh
from .maybe_tuple import MaybeTuple
from .tracer import is_staged


def unpacked(value: Any, count: int) -> Any:
    """The parts of a value for a target with `count` names.

    Raises at run time, as Python does, where there are more or fewer.
    """
    value = fresh(value)
    if isinstance(value, MaybeTuple):
        value = value.bare("cannot unpack non-iterable NoneType object")
    if isinstance(value, DynamicList):
        size = value.length()
    elif is_staged(value) and value.ndim:
        size = value.shape[0]
    else:
        return value
    if not isinstance(size, Tensor):
        return value
    many = f"too many values to unpack (expected {count})"
    few = f"not enough values to unpack (expected {count}, got "
    raise_if(size > count, ValueError, many)
    raise_if(size < count, ValueError, few, ")", data=(size,))
    return tuple(value[i] if isinstance(value, DynamicList) else getitem(value, i) for i in range(count))


def unpack(item: Any, count: int) -> tuple:
    """The parts of an item, as many as there are names in a target that is not one of an assignment."""
    parts = tuple(unpacked(item, count))
    if len(parts) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    if len(parts) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(parts)})")
    return parts
