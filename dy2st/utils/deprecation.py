"""`deprecated`: marks a function of the user's that will go."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def _warn(text: str) -> None:
    """A warning at the caller of the function. In a static function it is given once, when that is traced."""
    warnings.warn(text, UserWarning, stacklevel=3)


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0) -> Callable[[_F], _F]:
    """Decorator: says in the docstring that a function is deprecated, and when it is called.

    Args:
        update_to: the name of what serves instead.
        since: the version since when.
        reason: why.
        level: 0: only the docstring says it; 1: a call is a UserWarning; 2: a call is a RuntimeError.

    >>> @deprecated(update_to="new", since="2.0")
    ... def old():
    ...     pass
    >>> print(old.__doc__)
    Deprecated since 2.0. Use `new`.
    """
    if level not in (0, 1, 2):
        raise ValueError(f"level must be 0, 1 or 2, got {level!r}")

    def decorate(function: _F) -> _F:
        words = [f"Deprecated since {since}." if since else "Deprecated.", f"Use `{update_to}`." if update_to else "", reason]
        text = " ".join(word for word in words if word)
        name = f"{function.__module__}.{function.__qualname__}"
        function.__doc__ = f"{text}\n\n{function.__doc__}" if function.__doc__ else text
        if level == 0:
            return function

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if level == 2:
                raise RuntimeError(f"{name}: {text}")
            _warn(f"{name}: {text}")
            return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate
