"""What staged `for` loops run over: a length and an item for each index."""

from __future__ import annotations

import copy
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from ...errors import DTypeError, StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.attribute import count
from ...tensor.dispatch import ops
from ...tensor.failures import raise_if
from ...tensor.kinds import as_number, require_whole
from ...tensor.location import user_location
from ...tensor.promotion import as_tensor, weak_dtype
from .. import hub
from ..hub import renamed
from ..pyfacts.iterable_sources import NO_SOURCES
from ..pyfacts.undefined import nothing
from ..values.lazy_iterables import Staged, _row, like, staged
from ..values.leaf_types import element_type, stackable
from ..values.staged_list import StagedList
from .outer_iterators import use_up, with_effect
from .underlying import advanced_by, is_repeatable, parts_of_map, underlying_sources

_MOST_ITEMS = 100_000
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


def indexed(x: Any, what: str) -> Staged:
    """How to loop over a value beside one of dynamic length (in `zip`): Python sequences become tensors."""
    found = staged(x)
    found = _mapped(x) if found is None else found
    if found is not None:
        return found
    if isinstance(x, range):
        return Staged(len(x), lambda i: _weak(i * x.step + x.start), "range()")
    sources = underlying_sources(x)
    used = advanced_by(x)
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
    found = parts_of_map(x)
    if found is None or not all(map(is_like_a_tensor, found[1])):
        return None
    use_up(advanced_by(x))
    return staged_map(found[0], staged_zip(found[1]))


def is_like_a_tensor(x: Any) -> bool:
    """Whether an iterable of Python's gives, or calls a function with, tensors and numbers only, as far as that can be seen without
    using it up."""
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
