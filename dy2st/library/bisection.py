"""The functions of `bisect` while a function is traced, for what only the run can compare. They are converted as a user's are."""

from __future__ import annotations

from typing import Any


def bisect_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> Any:
    low, high = _bounds(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        if ((a[middle] if key is None else key(a[middle])),) < (x,):
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> Any:
    low, high = _bounds(a, lo, hi)
    while low < high:
        middle = (low + high) // 2
        if (x,) < ((a[middle] if key is None else key(a[middle])),):
            high = middle
        else:
            low = middle + 1
    return low


def insort_left(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> None:
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


def _bounds(a: Any, lo: int, hi: int | None) -> tuple[Any, Any]:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi is None else hi
