"""What staged `for` loops run over: a length and an item for each index."""

from __future__ import annotations

import copy
import itertools
import operator
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from ..errors import DTypeError, StagedValueError
from ..tensor import Tensor, dispatch
from ..tensor.attribute import count
from ..tensor.dispatch import ops
from ..tensor.failures import raise_if
from ..tensor.indexing import getitem
from ..tensor.kinds import as_number, require_whole, resolved
from ..tensor.location import user_location
from ..tensor.promotion import as_tensor, no_number, weak_dtype
from . import hub
from .dynamic import DynamicList
from .hub import is_staged, need_tracer, renamed
from .lists import StagedList, element_type, stackable
from .optional import MaybeNone
from .sources import NO_SOURCES, Sources, with_code
from .undefined import nothing

_MOST_ITEMS = 100_000
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

    def size(self) -> Any:
        return _at_least_none(self.length)

    def __eq__(self, other: object) -> Any:
        return hub.compare("==", self, other)

    def __ne__(self, other: object) -> Any:
        return hub.compare("!=", self, other)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def _bound(b: Any) -> Any:
        if not isinstance(b, Tensor):
            return operator.index(b)
        number = count(b)
        require_whole(b)
        if not b.dtype.startswith(("int", "uint", "bool")) or (isinstance(number, int) and number != 1):
            raise _no_index(b)
        if isinstance(number, Tensor):
            hub.raise_where(as_tensor(number != 1), _no_index(b))
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


def indexed(x: Any, what: str) -> Staged:
    """How to loop over a value beside one of dynamic length (in `zip`): Python sequences become tensors."""
    from .behind import behind, sources_behind
    from .iterators import use_up, with_effect

    found = staged(x)
    found = _mapped(x) if found is None else found
    if found is not None:
        return found
    if isinstance(x, range):
        return Staged(len(x), lambda i: _weak(i * x.step + x.start), "range()")
    sources = sources_behind(x)
    used = behind(x)
    items, sources = with_effect(x, sources, lambda: listed(x)) if sources.run else (listed(x), sources)
    use_up(used)
    if not items:
        return Staged(0, lambda i: i, what, sources=sources)
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
        return Staged(len(items), lambda i: _weak(_row(table, i)), what, sources=sources)
    array = StagedList.of(items, dtype, shape)
    return Staged(len(items), lambda i: array[i], what, sources=sources)


def _mapped(x: Any) -> Staged | None:
    """`map`, or a generator, over what becomes a tensor: what it makes of an item is made where that is wanted."""
    from .behind import behind, parts_of_map
    from .iterators import use_up

    found = parts_of_map(x)
    if found is None or not all(map(is_like_a_tensor, found[1])):
        return None
    use_up(behind(x))
    return staged_map(found[0], staged_zip(found[1]))


def is_like_a_tensor(x: Any) -> bool:
    """Whether an iterable of Python's gives, or calls a function with, tensors and numbers only, as far as that can be seen without
    using it up."""
    from .behind import is_repeatable, parts_of_map

    if isinstance(x, range):
        return True
    found = parts_of_map(x)
    if found is not None:
        return all(map(is_like_a_tensor, found[1]))
    return is_repeatable(x) and all(map(stackable, copy.copy(x) if isinstance(x, Iterator) else x))


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
    length = parts[0].size()
    for i, p in enumerate(parts[1:], start=1):
        size = p.size()
        for word, differs in (("shorter", size < length), ("longer", size > length)) if strict else ():
            others = "argument 1" if i == 1 else f"arguments 1-{i}"
            raise_if(as_tensor(differs), ValueError, f"zip() argument {i + 1} is {word} than {others}")
        length = minimum(length, size)
    found = Staged(length, lambda i: tuple(p.item(i) for p in parts), "zip()", once=True,
                   sources=sum((p.sources for p in parts), NO_SOURCES),
                   live=partial(_shortest, parts) if any(p.live for p in parts) else None)  # fmt: skip
    found.runs = any(p.runs for p in parts)
    if any(p.finish or (p.runs and p is not parts[-1]) for p in parts):
        found.finish = partial(_ask_in_turn, parts, found)
    return found


def _ask_in_turn(parts: Sequence[Staged], of: Staged) -> None:
    """Asks each part for an item behind the last one of all, up to the first that has none."""

    if not parts:
        return
    first, *rest = parts

    def ask() -> None:
        if first.runs:
            first.item(_now(of))
        _ask_in_turn(rest, of)

    hub.if_stmt(_now(first) > _now(of), ask, first.finish or nothing, _no_variables, _set_none, ())


def _now(x: Staged) -> Any:
    """The number of items."""
    return x.size() if x.live is None else x.live()


def _no_variables() -> tuple:
    return ()


def _set_none(values: tuple) -> None:
    pass


def like(x: Staged, new: Staged, by: Callable | None = None) -> Staged:
    """An iterable that gives something for each item of another one, which a function may make of it: what Python runs for that."""
    new.runs, new.finish = x.runs or bool(by and with_code([by])), x.finish
    return new


def _shortest(parts: Sequence[Staged]) -> Any:
    return reduce(minimum, map(_now, parts))


def staged_enumerate(x: Staged, start: Any = 0) -> Staged:
    return like(x, Staged(x.length, lambda i: (_weak(i + start), x.item(i)), "enumerate()", once=True, sources=x.sources, live=x.live))


def staged_reversed(x: Staged) -> Staged:
    return Staged(x.length, lambda i: x.item(_weak(x.length - 1 - i)), "reversed()", once=True, sources=x.sources)


def staged_map(f: Callable[..., Any], x: Staged) -> Staged:
    """`map` over what `staged_zip` gives."""
    return like(x, Staged(x.length, lambda i: f(*x.item(i)), "map()", once=True, sources=x.sources, live=x.live), f)


def _at_least_none(size: Any) -> Any:
    return _weak(ops.op("elementwise_max", X=size, Y=dispatch.constant(0, "int64"))) if isinstance(size, Tensor) else max(size, 0)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two sizes, ints or weak tensors."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return min(a, b)
    a, b = (t if isinstance(t, Tensor) else dispatch.constant(t, "int64") for t in (a, b))
    return _weak(ops.op("elementwise_min", X=a, Y=b))
