"""What Python's functions do with iterators of the user's classes, as Python that is converted with the code that uses it."""

from __future__ import annotations

from typing import Any


def next_or(iterator: Any, default: Any) -> Any:
    """`next(iterator, default)`."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default


class ByIndex:
    """What `iter` gives for an object that has no `__iter__`, but a `__getitem__`."""

    def __init__(self, items: Any):
        self._items: Any = items
        self._at = 0

    def __iter__(self) -> ByIndex:
        return self

    def __next__(self) -> Any:
        if self._items is None:
            raise StopIteration
        try:
            item = self._items[self._at]
        except IndexError:
            self._items = None
            raise StopIteration from None
        self._at += 1
        return item


def require_keys(d: Any, keys: list[Any]) -> None:
    """RuntimeError if a dict over which a loop runs has other keys than these."""
    if len(d) != len(keys):
        raise RuntimeError("dictionary changed size during iteration")
    for key in keys:
        if key not in d:
            raise RuntimeError("dictionary keys changed during iteration")
