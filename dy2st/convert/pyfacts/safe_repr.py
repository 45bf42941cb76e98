"""Values as text, for what is said of a trace: no code of the user's runs for it, as its `__repr__` may fail, count or print."""

from __future__ import annotations

import reprlib
from typing import Any

_LENGTH = 60
_OURS = {"builtins", "dy2st", "numpy"}


class _Repr(reprlib.Repr):
    def repr_instance(self, x: Any, level: int) -> str:
        return f"<{type(x).__qualname__} at {id(x):#x}>" if is_of_users(x) else repr(x)

    def repr1(self, x: Any, level: int) -> str:
        # reprlib goes by the name of the class, which one of the user's may have too
        return super().repr1(x, level) if type(x).__module__ in ("builtins", "collections", "array") else self.repr_instance(x, level)


def is_of_users(x: Any) -> bool:
    """Whether a value is an object of a class that is not one of Python's, NumPy's or dy2st's own."""
    return type(x).__module__.partition(".")[0] not in _OURS


def shown(value: Any) -> str:
    """A value, in at most 60 characters but for texts and numbers of Python's.

    >>> shown([1, {"a": (2.5, None)}])
    "[1, {'a': (2.5, None)}]"
    """
    return repr(value) if type(value) in (str, int) else _repr.repr(value)[:_LENGTH]


def named(key: Any) -> str:
    """What the entry of a dict is called: its key, if that is a name."""
    return key if type(key) is str else shown(key)


_repr = _Repr()
_repr.maxstring = _repr.maxother = _LENGTH
