"""What iterates over a deque, and looks, as Python's own iterators do, whether that has been changed meanwhile.

A `Deque`, which a function has made, counts its changes. A deque of the outside is one of Python's, and what a block that is traced
changes in it is taken back at its end, where Python's iterators see one change more. So its entries are read by their places here, and
its changes are counted for it (`OuterDeque`): an attribute that a block gives a value to, as any other, so that only the run knows it
where a condition decides. That Python's deque has changed only an iterator of it says that is older; it is asked, and made anew, where
a block begins or ends and where a loop asks for the next item.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...errors import StructureError
from ...library.queues import Changing, OuterDeque
from ...tensor.location import user_location
from ..hub import need_tracer

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


class Entries(Iterator):
    """Gives the entries that a deque has at these places when it is asked for them."""

    def __init__(self, of: deque, places: Iterable[int]):
        self.of, self.places = of, iter(places)

    def __next__(self) -> Any:
        return self.of[next(self.places)]

    def __copy__(self) -> Entries:
        return Entries(self.of, copy.copy(self.places))


class Walk(Iterator):
    """What iterates over a deque.

    Args:
        of: counts the changes of the deque.
        items: the iterator over its entries; a loop of the Program has its own.

    Attributes:
        is_second: it is asked for its next item behind another iterator, which may have none: where it is not asked it does not look.
        in_loop: the loop that takes items of it looks.
    """

    def __init__(self, of: Changing, items: Iterator[Any]):
        self.of, self.items, self.changes = of, items, of._changes
        self.is_second = self.in_loop = False

    def require_same(self) -> None:
        """
        Raises:
            StructureError: the deque may have changed since; a RuntimeError, as in Python, if it has in every run.
        """
        need_tracer("a deque").walks.count()
        if self.of._changes is self.changes:
            return
        if isinstance(self.of._changes, int):
            self.of.require_unchanged(self.changes)
        raise StructureError(
            "a deque is changed, or may be, while something iterates over it, where Python raises a RuntimeError",
            location=user_location(), hint="iterate over a copy of it: for i, x in enumerate(list(d))",
        )  # fmt: skip

    def __next__(self) -> Any:
        if not self.in_loop:
            self.require_same()
        return next(self.items)

    def __copy__(self) -> Walk:
        return Walk(self.of, copy.copy(self.items))


class OuterWalks:
    """The deques of the outside over which something iterates."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        # each with an iterator that is as old as the last count
        self._found: list[tuple[OuterDeque, deque, Iterator[Any]]] = []

    def over(self, d: deque, places: Iterable[int]) -> Walk:
        """What iterates over the entries of a deque at these places."""
        self.count()
        of = OuterDeque()
        self.tracer.watch(of)
        self._found.append((of, d, iter(d)))
        return Walk(of, Entries(d, places))

    def count(self) -> None:
        """Counts the changes since the last time."""
        for i, (of, d, since) in enumerate(self._found):
            if _has_changed(since):
                of._changes = of._changes + 1
                self._found[i] = of, d, iter(d)

    def __len__(self) -> int:
        return len(self._found)

    def leave(self, before: int) -> None:
        """The end of a block, which has begun with so many of them: what it has changed is taken back, which is no change."""
        self._found = [(of, d, iter(d)) for of, d, _ in self._found[:before]]


def _has_changed(since: Iterator[Any]) -> bool:
    try:
        next(since, None)
    except RuntimeError:
        return True
    return False
