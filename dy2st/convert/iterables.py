"""What staged `for` loops run over: a length and an item for each index."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from ..errors import DTypeError, StagedValueError
from ..tensor import Tensor, dispatch
from ..tensor.attribute import count
from ..tensor.dispatch import ops
from ..tensor.failures import raise_if
from ..tensor.indexing import getitem
from ..tensor.kinds import as_number, require_whole
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor, weak_dtype
from .dynamic import DynamicList
from .lists import StagedList, element_type, stackable
from .optional import MaybeNone
from .tracer import is_staged, renamed
from .walks import Walk

_MOST_ITEMS = 100_000


class Staged:
    """Something to iterate over whose length is only known at run time.

    Args:
        length: the number of items, an int or an integer tensor; evaluated once.
        item: an index, a tensor or an int → the item.
        what: names it in errors.
        once: it stands for an iterator, which has no items left when it was looped over.
        lists: those of Python whose entries it gives as they are now: what becomes of them meanwhile it does not see; and `Walk`s.
        live: the number of items at the moment, if that may change while a loop runs.
    """

    def __init__(self, length: Any, item: Callable[[Any], Any], what: str, once: bool = False, lists: Sequence[Any] = (),
                 live: Callable[[], Any] | None = None):  # fmt: skip
        self.length, self.item, self.what, self.once, self.lists, self.live = length, item, what, once, lists, live

    def __iter__(self) -> Iterator[Any]:
        if not isinstance(self.length, Tensor):
            return map(self.item, range(self.length))
        raise StagedValueError(
            f"{self.what} has a length that is only known at run time; it can be the iterable of a for loop, "
            "but not be used here",
            location=user_location(2), hint="loop over it with for",
        )  # fmt: skip

    def __len__(self) -> int:
        raise StagedValueError(f"len() of {self.what} is only known at run time", location=user_location(2))


class Lazy(Iterator):
    """An iterator that Python, or a loop of the Program, can use up."""

    def staged(self) -> Staged | None:
        """How to loop over it in the Program; None if Python has to iterate over it."""
        raise NotImplementedError

    def first(self, *default: Any) -> Any:
        """`next(self, *default)`."""
        raise NotImplementedError

    def sources(self) -> list[Any]:
        """What it takes its items from."""
        raise NotImplementedError


class StagedRange(Staged):
    """`range` with bounds that are tensors."""

    def __init__(self, start: Any, stop: Any, step: Any):
        start, stop, step = (self._bound(b) for b in (start, stop, step))
        zero = "range() arg 3 must not be zero"
        if not isinstance(step, Tensor) and step == 0:
            raise ValueError(zero)
        if isinstance(step, Tensor):
            raise_if(step == 0, ValueError, zero)
        self.start, self.stop, self.step = start, stop, step
        length = stop - start if isinstance(step, int) and step == 1 else -((start - stop) // step)
        plain = isinstance(start, int) and start == 0 and isinstance(step, int) and step == 1
        super().__init__(length, lambda i: _index(i) if plain else _weak(i * step + start), "range()")

    def __eq__(self, other: object) -> Any:
        from .logical import compare

        return compare("==", self, other)

    def __ne__(self, other: object) -> Any:
        from .logical import compare

        return compare("!=", self, other)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def _bound(b: Any) -> Any:
        if not isinstance(b, Tensor):
            return b.__index__()
        number = count(b)
        require_whole(b)
        if not b.dtype.startswith(("int", "uint", "bool")) or (isinstance(number, int) and number != 1):
            raise _no_index(b)
        if isinstance(number, Tensor):
            from .raising import raise_where

            raise_where(as_tensor(number != 1), _no_index(b))
        return _index(b)


def _no_index(b: Tensor) -> DTypeError:
    return DTypeError(f"only an integer tensor with one element can be an index, got {b.dtype}{b.shape}", location=user_location(4))


def _weak(t: Any) -> Any:
    return as_number(t) if isinstance(t, Tensor) else t


def _index(t: Tensor) -> Tensor:
    """A one-element integer tensor as a weak 0-d one."""
    if t.ndim:
        t = ops.op("reshape2", X=t, shape=[])
    if t.dtype != "int64":
        t = ops.op("cast", X=t, in_dtype=t.dtype, out_dtype="int64")
    else:
        t = renamed(t)  # an object of its own: the other may be modified in place
    return _weak(t)


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
        if x.ndim == 0:
            raise DTypeError("a 0-d tensor cannot be iterated over", location=user_location(2))
        # x itself, not its value now: rows that the loop modifies in place are read as they are then
        return Staged(x.shape[0], lambda i: getitem(x, i), "a tensor")
    return None


def indexed(x: Any, what: str) -> Staged:
    """How to loop over a value beside one of dynamic length (in `zip`): Python sequences become tensors."""
    from .behind import lists_behind
    from .iterators import used_up

    found = staged(x)
    if found is not None:
        return found
    if isinstance(x, range):
        return Staged(len(x), lambda i: _weak(i * x.step + x.start), "range()")
    lists = lists_behind(x)
    items = listed(used_up(x))
    if not items:
        return Staged(0, lambda i: i, what, lists=lists)
    if other := [v for v in items if not stackable(v)]:
        raise StagedValueError(
            f"what zip() runs over has a length that only the run knows, so that {what} can hold tensors and numbers only, "
            f"not {type(other[0]).__name__}",
            location=user_location(2), hint="loop over the other argument, and index the tensor",
        )  # fmt: skip
    entry = element_type(items, what)
    dtype, shape = entry.dtype, entry.shape
    if not any(isinstance(v, Tensor) for v in items) and len({weak_dtype(v) for v in items}) == 1:
        table = as_tensor(items, dtype)
        return Staged(len(items), lambda i: _weak(getitem(table, i)), what, lists=lists)
    array = StagedList.of(items, dtype, shape)
    return Staged(len(items), lambda i: array[i], what, lists=lists)


_LIST_ITERATOR = type(iter([1]))


def is_seen_through(x: Any) -> bool:
    """Whether what is in an iterable of Python's can be looked at without using it up."""
    return isinstance(x, (range, list, tuple)) or type(x) in (_LIST_ITERATOR, Walk)


def ahead(x: Iterable) -> Iterable:
    """What such an iterable will give."""
    return x if isinstance(x, Sequence) else copy.copy(x)


def listed(x: Iterable) -> list:
    """The items of an iterable of Python's; StagedValueError if there is no end of them."""
    if isinstance(x, Sequence):
        return list(x)
    items = list(itertools.islice(x, _MOST_ITEMS + 1))
    if len(items) > _MOST_ITEMS:
        raise StagedValueError(
            f"more than {_MOST_ITEMS} items of a {type(x).__name__} beside something whose length only the run knows",
            location=user_location(2), hint="use enumerate(), or range() with an end",
        )  # fmt: skip
    return items


def staged_zip(xs: Sequence[Any], strict: bool = False) -> Staged:
    """`zip` of iterables of which at least one is staged; with `strict` it is a ValueError at the begin if their lengths differ."""
    parts = [indexed(x, "an argument of zip()") for x in xs]
    length = parts[0].length
    for i, p in enumerate(parts[1:], start=1):
        for word, differs in (("shorter", p.length < length), ("longer", p.length > length)) if strict else ():
            others = "argument 1" if i == 1 else f"arguments 1-{i}"
            raise_if(as_tensor(differs), ValueError, f"zip() argument {i + 1} is {word} than {others}")
        length = minimum(length, p.length)
    return Staged(length, lambda i: tuple(p.item(i) for p in parts), "zip()", once=True, lists=[v for p in parts for v in p.lists],
                  live=partial(_shortest, parts) if any(p.live for p in parts) else None)  # fmt: skip


def _shortest(parts: Sequence[Staged]) -> Any:
    return reduce(minimum, [p.length if p.live is None else p.live() for p in parts])


def staged_enumerate(x: Staged, start: Any = 0) -> Staged:
    return Staged(x.length, lambda i: (_weak(i + start), x.item(i)), "enumerate()", once=True, lists=x.lists, live=x.live)


def staged_reversed(x: Staged) -> Staged:
    return Staged(x.length, lambda i: x.item(_weak(x.length - 1 - i)), "reversed()", once=True, lists=x.lists)


def staged_map(f: Callable[..., Any], x: Staged) -> Staged:
    """`map` over what `staged_zip` gives."""
    return Staged(x.length, lambda i: f(*x.item(i)), "map()", once=True, lists=x.lists, live=x.live)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two sizes, ints or weak tensors."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return min(a, b)
    a, b = (t if isinstance(t, Tensor) else dispatch.constant(t, "int64") for t in (a, b))
    return _weak(ops.op("elementwise_min", X=a, Y=b))
