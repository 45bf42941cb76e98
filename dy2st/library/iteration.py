"""What Python's functions on iterators do with those of the user's classes, as plain Python, which is converted with the code that uses it."""

from __future__ import annotations

from typing import Any


def next_or(iterator: Any, default: Any) -> Any:
    """`next(iterator, default)`."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default
