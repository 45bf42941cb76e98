"""`collections.deque` while a function is traced."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any


def _said_of_an_absent_item() -> str:
    nothing: deque[int] = deque()
    try:
        nothing.remove(0)
    except ValueError as error:
        return str(error)
    return ""


_ABSENT = _said_of_an_absent_item()
_NAMED = _ABSENT.startswith("0 ")  # which depends on the version of Python


class Changing:
    """What counts, in `_changes`, what Python's deques notice while a loop runs over them: other entries or other places of theirs."""

    def __init__(self) -> None:
        self._changes = 0

    def require_unchanged(self, changes: int) -> None:
        """RuntimeError if it has changed more often than that."""
        if self._changes != changes:
            raise RuntimeError("deque mutated during iteration")


class OuterDeque(Changing):
    """The changes of a deque of the outside."""


class Deque(Changing):
    """What `collections.deque` is, on a list: only the run may know how many entries it has.

    Its methods are converted as a user's are.
    """

    def __init__(self, iterable: Iterable = (), maxlen: int | None = None):
        if maxlen is not None and maxlen < 0:
            raise ValueError("maxlen must be non-negative")
        super().__init__()
        self._entries: list[Any] = []
        self._maxlen = maxlen
        self.extend(iterable)

    @property
    def maxlen(self) -> int | None:
        return self._maxlen

    # ---- at the ends ----
    def append(self, x: Any) -> None:
        self._changes += 1
        self._entries.append(x)
        if self._maxlen is not None and len(self._entries) > self._maxlen:
            self._entries.pop(0)

    def appendleft(self, x: Any) -> None:
        self._changes += 1
        self._entries.insert(0, x)
        if self._maxlen is not None and len(self._entries) > self._maxlen:
            self._entries.pop()

    def extend(self, iterable: Iterable) -> None:
        items = list(iterable)
        if self._maxlen is None:
            self._changes += len(items)
            self._entries.extend(items)
        else:
            for x in items:
                self.append(x)

    def extendleft(self, iterable: Iterable) -> None:
        for x in list(iterable):
            self.appendleft(x)

    def pop(self) -> Any:
        if len(self._entries) == 0:
            raise IndexError("pop from an empty deque")
        self._changes += 1
        return self._entries.pop()

    def popleft(self) -> Any:
        if len(self._entries) == 0:
            raise IndexError("pop from an empty deque")
        self._changes += 1
        return self._entries.pop(0)

    def rotate(self, n: int = 1) -> None:
        if len(self._entries) > 1:
            self._changes += 1
            n = n % len(self._entries)
            for _ in range(n):
                self._entries.insert(0, self._entries.pop())

    # ---- anywhere ----
    def insert(self, i: int, x: Any) -> None:
        if self._maxlen is not None and len(self._entries) >= self._maxlen:
            raise IndexError("deque already at its maximum size")
        self._changes += 1
        self._entries.insert(i, x)

    def remove(self, x: Any) -> None:
        if x not in self._entries:
            raise ValueError(f"{x!r} is not in deque" if _NAMED else _ABSENT)
        self._entries.remove(x)
        self._changes += 1

    def index(self, x: Any, *bounds: int) -> Any:
        if len(bounds) == 0 and x not in self._entries:
            raise ValueError(f"{x!r} is not in deque")
        return self._entries.index(x, *bounds)

    def count(self, x: Any) -> Any:
        return self._entries.count(x)

    def reverse(self) -> None:
        self._entries.reverse()

    def clear(self) -> None:
        self._changes += 1
        self._entries.clear()

    def copy(self) -> Deque:
        return Deque(self._entries, self._maxlen)

    __copy__ = copy

    def __getitem__(self, i: Any) -> Any:
        self._require_index(i)
        return self._entries[i]

    def __setitem__(self, i: Any, x: Any) -> None:
        self._require_index(i)
        self._entries[i] = x

    def __delitem__(self, i: Any) -> None:
        self._require_index(i)
        self._changes += 1
        del self._entries[i]

    def _require_index(self, i: Any) -> None:
        if isinstance(i, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        if i >= len(self._entries) or i < -len(self._entries):
            raise IndexError("deque index out of range")

    # ---- as a whole ----
    def __len__(self) -> int:
        return len(self._entries)

    def __bool__(self) -> bool:
        return len(self._entries) > 0

    def __iter__(self) -> Iterator:
        return iter(self._entries)

    def __reversed__(self) -> Iterator:
        return reversed(self._entries)

    def __contains__(self, x: Any) -> bool:
        return x in self._entries

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, deque):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        new = self.copy()
        new.extend(other)
        return new

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __mul__(self, times: int) -> Deque:
        return Deque(self._entries * times, self._maxlen)

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Any:
        entries = self._entries * times
        self.clear()
        self.extend(entries)
        return self

    # as parts of tuples that are written out, which are compared item by item in the run
    def __eq__(self, other: object) -> Any:
        return (self._entries,) == (list(other),) if isinstance(other, deque) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return (self._entries,) != (list(other),) if isinstance(other, deque) else NotImplemented

    def __lt__(self, other: object) -> Any:
        return (self._entries,) < (list(other),) if isinstance(other, deque) else NotImplemented

    def __le__(self, other: object) -> Any:
        return (self._entries,) <= (list(other),) if isinstance(other, deque) else NotImplemented

    def __gt__(self, other: object) -> Any:
        return (self._entries,) > (list(other),) if isinstance(other, deque) else NotImplemented

    def __ge__(self, other: object) -> Any:
        return (self._entries,) >= (list(other),) if isinstance(other, deque) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        more = "" if self._maxlen is None else f", maxlen={self._maxlen}"
        return f"deque({self._entries!r}{more})"
