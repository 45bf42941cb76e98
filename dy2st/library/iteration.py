"""What Python's functions do with iterators of the user's classes, as Python that is converted with the code that uses it."""

from __future__ import annotations

from typing import Any


def next_or(iterator: Any, default: Any) -> Any:
    """`next(iterator, default)`."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default
