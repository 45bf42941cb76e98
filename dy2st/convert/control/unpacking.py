"""`a, b = value`, where only the run knows of how many parts the value is."""

from __future__ import annotations

import sys
from typing import Any

from ...tensor.failures import raise_if
from ...tensor.promotion import no_number
from ...tensor.tensor import Tensor
from ..hub import is_staged
from ..iteration.outer_iterators import fresh
from ..values.dynamic_list import DynamicList
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from .comprehensions import list_


def unpacked(value: Any, count: int) -> Any:
    """The parts of a value for a target with `count` names.

    Raises at run time, as Python does, where there are more or fewer.
    """
    value, size = _measured(value)
    if size is None:
        return value
    many = f"too many values to unpack (expected {count})"
    few = f"not enough values to unpack (expected {count}, got "
    raise_if(size > count, ValueError, many)
    raise_if(size < count, ValueError, few, ")", data=(size,))
    return tuple(value[i] for i in range(count))


def unpacked_rest(value: Any, before: int, after: int) -> tuple:
    """The parts of a value for a target with `before` names, then `*rest`, then `after` names: the rest is a list.

    Raises at run time, as Python does, where there are too few.
    """
    value, size = _measured(value)
    few = f"not enough values to unpack (expected at least {before + after}, got "
    if size is None:
        (*items,) = value  # unpacked, as the error that Python raises has it
        if len(items) < before + after:
            raise ValueError(f"{few}{len(items)})")
        end = len(items) - after
        return (*items[:before], items[before:end], *items[end:])
    raise_if(size < before + after, ValueError, few, ")", data=(size,))
    rest = value[before : size - after]
    rest = rest if isinstance(rest, DynamicList) else list_(rest)
    return (*(value[i] for i in range(before)), rest, *(value[size - after + i] for i in range(after)))


def _measured(value: Any) -> tuple[Any, Tensor | None]:
    """The value, and of how many parts it is, if only the run knows."""
    if isinstance(value, MaybeValue):
        value = value._dy_bare("cannot unpack non-iterable NoneType object")
    if isinstance(value, MaybeNone):
        value = value.require("cannot unpack non-iterable NoneType object")
    if isinstance(value, Tensor) and value._weak:
        value = no_number(value, "cannot unpack non-iterable {} object")
    value = fresh(value)
    size = None
    if isinstance(value, DynamicList):
        size = value.length()
    elif is_staged(value) and value.ndim:
        size = value.shape[0]
    return value, size if isinstance(size, Tensor) else None


def unpack(item: Any, count: int) -> tuple:
    """The parts of an item, as many as there are names in a target that is not one of an assignment."""
    given = unpacked(item, count)
    (*parts,) = given
    if len(parts) > count:
        got = f", got {len(parts)}" if sys.version_info >= (3, 14) and isinstance(given, (list, tuple, dict)) else ""
        raise ValueError(f"too many values to unpack (expected {count}{got})")
    if len(parts) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(parts)})")
    return tuple(parts)
