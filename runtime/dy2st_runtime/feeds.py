"""Checks of what is fed: one set of messages for the Predictor, the Executor and static calls."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import dims
from .dtype import name_of
from .errors import FeedError
from .ir.program import Variable


def check_feeds(variables: Sequence[Variable], given: Mapping[str, Any] | Sequence[Any]) -> list[np.ndarray]:
    """The arrays to feed, in the order of the variables.

    Args:
        variables: data variables.
        given: arrays by name, or in order. Numbers and (nested) lists take the variable's dtype, if it is of their kind
            or a wider one; arrays must have it.

    Raises:
        FeedError: a feed is missing, unknown, or has another dtype or shape; the message names the variable, both
            types, and the line where the variable was made, if that is known.
    """
    if not isinstance(given, Mapping):
        if len(given) != len(variables):
            raise FeedError(f"{len(given)} arrays were fed, the program takes {len(variables)}: {_names(variables)}")
        given = {v.name: value for v, value in zip(variables, given, strict=True)}
    known = [v.name for v in variables]
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, 1)
            raise FeedError(f"the program takes no feed {name!r}, it takes: {_names(variables)}",
                            hint=f"did you mean {close[0]!r}?" if close else None)  # fmt: skip
    missing = [v for v in variables if v.name not in given]
    if missing:
        raise FeedError(f"not fed: {_names(missing)}", location=missing[0].info.get("location"),
                        hint="pass an array for each of them")  # fmt: skip
    return [check_feed(v, given[v.name]) for v in variables]


def check_feed(v: Variable, value: Any) -> np.ndarray:
    """One value as an array of the variable's dtype; see `check_feeds`."""
    location = v.info.get("location")
    try:
        array = np.asarray(value)
        if not hasattr(value, "dtype"):
            # A list has no dtype of its own: it is read as the variable's. NumPy would make NaN of None and 1 of 1.5.
            if array.size and not np.can_cast(array.dtype, v.dtype, "same_kind"):
                raise TypeError(f"{_kind(value)} is no {v.dtype}")
            array = np.asarray(value, dtype=v.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise FeedError(f"feed {v.name!r} cannot be read as {v.type}: {error}", location=location) from None
    if name_of(array) != v.dtype:
        raise FeedError(f"feed {v.name!r} is {_shown(array)}, the program expects {v.type}", location=location,
                        hint=f"pass array.astype({v.dtype!r})")  # fmt: skip
    if not dims.admits(v.shape, array.shape):
        raise FeedError(f"feed {v.name!r} is {_shown(array)}, the program expects {v.type}", location=location,
                        hint="? stands for any size; reshape the array or declare the dim as open (None)")  # fmt: skip
    return array


def _shown(array: np.ndarray) -> str:
    return f"{name_of(array)}{dims.show(array.shape)}"


def _kind(value: Any) -> str:
    """What a value that is no array is, or the first in a list that makes it no array of numbers."""
    while isinstance(value, (list, tuple)) and value:
        value = next((v for v in value if not isinstance(v, (int, float, list, tuple))), value[0])
    return repr(value)


def _names(variables: Iterable[Variable]) -> str:
    return ", ".join(f"{v.name!r} ({v.type})" for v in variables) or "nothing"
