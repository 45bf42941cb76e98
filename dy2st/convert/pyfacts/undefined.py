"""Variables without a value."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...errors import UndefinedError
from ...tensor.location import user_location


class Undefined:
    """What a variable holds before it has a value; any use of it raises UndefinedError."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def error(self) -> UndefinedError:
        """What it is to read the variable."""
        error = UndefinedError(
            f"local variable {self.name!r} is read where it has no value", location=user_location(2),
            hint=f"give {self.name!r} a value on every path that leads here",
        )  # fmt: skip
        error.name = self.name
        return error

    def __repr__(self) -> str:
        return f"Undefined({self.name!r})"


class Unread(Undefined):
    """The same, of what is never read before it has a value: nobody needs to know then on which paths it has one."""


class Dead(Unread):
    """The same on a path that never reads it: whatever it is on the others, it may be there too."""


def ldu(thunk: Callable[[], Any], name: str) -> Any:
    """The value of a variable, attribute or item; `Undefined` if there is none."""
    try:
        return quiet(thunk)()
    except (AttributeError, KeyError, IndexError, UndefinedError):
        return Unread(name)
    except NameError:  # of a global variable

        return NoAttribute(name)


class _Moving(threading.local):
    state = False


moving = _Moving()


def quiet(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that moves the state of a branch or loop. It is no use of the values: `moving.state` says so to those that may be None."""

    def quietly(*args: Any) -> Any:
        before, moving.state = moving.state, True
        try:
            return f(*args)
        finally:
            moving.state = before

    return quietly


def nothing() -> None:
    """The body of a branch, or of an `else`, that has none."""


class NoAttribute(Unread):
    """What the state of a branch or loop says of an attribute that the object itself does not have."""

    __slots__ = ()
