"""What `cond`, `while_loop`, `case` and `switch_case` do, as a user would write it: converted with the code that calls them, so that the
functions which they are given may do what those of any branch or loop may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def either(pred: Any, true_fn: Callable[[], Any] | None, false_fn: Callable[[], Any] | None) -> Any:
    """`true_fn()` or `false_fn()`; None where there is none."""
    if pred:
        return None if true_fn is None else true_fn()
    return None if false_fn is None else false_fn()


def repeated(cond: Callable[..., Any], body: Callable[..., Any], values: list[Any], unpacked: Callable[..., list[Any]]) -> list[Any]:
    """The values after the loop; `unpacked` makes a list like `values` of what the body returns."""
    while cond(*values):
        values = unpacked(body(*values), values)
    return values


def first(pairs: list[Any], default: Callable[[], Any]) -> Any:
    """The function of the first pair whose condition is true, or `default`."""
    for pred, function in pairs:
        if pred:
            return function()
    return default()


def numbered(index: Any, pairs: list[Any], default: Callable[[], Any]) -> Any:
    """The function whose number is the index, or `default`."""
    for number, function in pairs:
        if index == number:
            return function()
    return default()
