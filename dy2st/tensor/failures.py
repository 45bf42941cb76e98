"""Exceptions of Python's that a Program raises where a value that only the run knows asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ShapeError
from .dispatch import ops
from .location import user_location
from .tensor import Tensor


def raise_if(condition: Tensor, exception: type[Exception], *parts: str, data: tuple[Tensor, ...] = ()) -> None:
    """Raises where the program runs, if a bool tensor with one element is true.

    Args:
        parts: the message, in the parts around the values of `data`.
    """
    specs = ["=" if t._weak else "" if t.stop_gradient else "^" for t in data]
    ops.op("raise_if", Cond=condition, Data=[*data], exception=exception.__name__, parts=[*parts], specs=specs)


def require_sizes(fit: bool | Tensor, message: Callable[[], str], hint: str | None = None) -> None:
    """ShapeError unless sizes fit; where only the run knows, it raises.

    Args:
        fit: what a comparison of sizes gives: a bool, or a tensor where one of them is open (see `attribute.size_of`).
        message: makes the text, for which eager mode has no time where all is well.
    """
    if isinstance(fit, Tensor):
        raise_if(ops.op("logical_not", X=fit), ShapeError, message())
    elif not fit:
        raise ShapeError(message(), location=user_location(2), hint=hint)


def message_of(exception: type[Exception], function: Callable[..., Any], *args: Any) -> str:
    """What this version of Python says of arguments that a function has no result for: the words differ between versions.

    >>> message_of(ValueError, int, "x")
    "invalid literal for int() with base 10: 'x'"
    """
    try:
        function(*args)
    except exception as error:
        return str(error)
    raise AssertionError(f"{function} has a result for {args}")
