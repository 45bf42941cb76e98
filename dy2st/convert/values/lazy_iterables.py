"""What can be iterated over while a function is traced: a length and an item for each index, or an iterator that is used up later."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

from ...errors import DTypeError, StagedValueError
from ...tensor import Tensor
from ...tensor.indexing import getitem
from ...tensor.kinds import resolved
from ...tensor.location import user_location
from ...tensor.promotion import no_number
from ..hub import is_staged, need_tracer
from ..pyfacts.iterable_sources import NO_SOURCES, Sources, with_code
from .dynamic_list import DynamicList
from .maybe_none import MaybeNone

_CLASSES: dict[str, type] = {
    "range()": range, "zip()": zip, "map()": map, "enumerate()": enumerate, "reversed()": type(reversed([])),
}  # fmt: skip


class Staged:
    """Something to iterate over whose length is only known at run time.

    Args:
        length: the number of items, an int or an integer tensor; evaluated once.
        item: an index, a tensor or an int → the item.
        what: names it in errors.
        once: it stands for an iterator, which has no items left when it was looped over.
        sources: what its items come from.
        live: the number of items at the moment, if that may change while a loop runs.

    Attributes:
        runs: whether functions of the user's make its items.
        finish: what Python does where it asks for an item behind the last one; None if nothing.
    """

    runs = False
    finish: Callable[[], None] | None = None

    def __init__(self, length: Any, item: Callable[[Any], Any], what: str, once: bool = False, sources: Sources = NO_SOURCES,
                 live: Callable[[], Any] | None = None):  # fmt: skip
        self.length, self.item, self.what, self.once, self.sources, self.live = length, item, what, once, sources, live

    @property
    def kind(self) -> type:
        """The class that it is of to the user."""
        return _CLASSES.get(self.what, types.GeneratorType)

    def __iter__(self) -> Iterator[Any]:
        if not isinstance(self.length, Tensor):
            return map(self.item, range(self.length))
        raise StagedValueError(
            f"{self.what} has a length that is only known at run time; it can be the iterable of a for loop, "
            "but not be used here",
            location=user_location(2), hint="loop over it with for",
        )  # fmt: skip

    def size(self) -> Any:
        """The number of items: the length, which is below 0 for a range that ends before it begins."""
        return self.length

    def __len__(self) -> int:
        raise StagedValueError(f"len() of {self.what} is only known at run time", location=user_location(2))


class Lazy(Iterator):
    """An iterator that Python, or a loop of the Program, can use up.

    Attributes:
        kept: a container that nobody else knows.
    """

    kept: Any = None

    def staged(self) -> Staged | None:
        """How to loop over it in the Program; None if Python has to iterate over it."""
        raise NotImplementedError

    def first(self, *default: Any) -> Any:
        """`next(self, *default)`."""
        raise NotImplementedError

    def sources(self) -> list[Any]:
        """What it takes its items from."""
        raise NotImplementedError

    def functions(self) -> list[Callable]:
        """What it makes items of these by."""
        raise NotImplementedError

    def as_map(self) -> tuple[Callable, list[Any]] | None:
        """The function that it calls with each item of an iterator of Python's, and that; None if it is none."""
        raise NotImplementedError


def like(x: Staged, new: Staged, by: Callable | None = None) -> Staged:
    """An iterable that gives something for each item of another one, which a function may make of it: what Python runs for that."""
    new.runs, new.finish = x.runs or bool(by and with_code([by])), x.finish
    return new


def staged(x: Any) -> Staged | None:
    """How to loop over a value in the Program; None if Python has to iterate over it.

    Raises:
        DTypeError: a tensor without dims.
    """
    if isinstance(x, Staged):
        return x
    if isinstance(x, Lazy):
        return x.staged()
    if isinstance(x, DynamicList):
        return Staged(x.length(), x.visited, "a list of dynamic length", live=x.length)
    if is_staged(x):
        x = x.require("'NoneType' object is not iterable") if isinstance(x, MaybeNone) else x
        if x._weak:
            no_number(x, "'{}' object is not iterable")
        if x.ndim == 0:
            raise DTypeError("a 0-d tensor cannot be iterated over", location=user_location(2))
        # x itself, not its value now: rows that the loop modifies in place are read as they are then
        return Staged(resolved(x).shape[0], lambda i: _row(resolved(x), i), "a tensor")
    return None


def _row(x: Tensor, i: Any) -> Any:
    """A row that a loop over all rows comes to."""
    with need_tracer("a loop").tries.certain():
        return getitem(x, i)
