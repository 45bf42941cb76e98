"""Generator expressions: `(f(x) for x in xs if c(x))` is `_dy.generator(xs, lambda x: f(x), lambda x: c(x))`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.failures import raise_if
from ...tensor.location import user_location
from ...tensor.promotion import as_tensor
from .. import hub
from ..hub import current_tracer, need_tracer
from ..iteration.outer_iterators import fresh, with_effect
from ..iteration.staged_iterables import indexed
from ..iteration.underlying import underlying_sources
from ..pyfacts.undefined import Undefined, nothing
from ..regions.list_promotion import current
from ..values.lazy_iterables import Lazy, Staged, like, staged
from .if_stmt import State, if_stmt, truth


@hub.primitive
def generator(xs: Iterable, element: Callable[[Any], Any], test: Callable[[Any], Any] | None = None, flat: bool = False) -> Any:
    """The generator of `element(x)` for all x for which `test(x)` holds; with `flat` of the items of the generators that these are."""
    if current_tracer() is None:
        return _items(xs, element, test, flat)
    return Generator(xs, element, test, flat)


def _items(xs: Iterable, element: Callable[[Any], Any], test: Callable[[Any], Any] | None, flat: bool) -> Iterator[Any]:
    return _of_iterator(iter(xs), element, test, flat)


def _of_iterator(xs: Iterator, element: Callable[[Any], Any], test: Callable[[Any], Any] | None, flat: bool) -> Iterator[Any]:
    for x in xs:
        if test is None or test(x):
            if flat:
                yield from element(x)
            else:
                yield element(x)


class Generator(Lazy):
    """A generator expression while tracing: Python iterates over it as long as all that it decides is known to Python.

    Where its iterable has a length, or its condition a truth, that only the run knows, a `for` loop and the functions that take all
    items (`sum`, `any`, `list`, ...) can use it up.
    """

    def __init__(self, xs: Any, element: Callable[[Any], Any], test: Callable[[Any], Any] | None, flat: bool):
        self.element, self.test, self.flat = element, test, flat
        self.over: Staged | None = None
        self._python: Iterator[Any] | None = None
        self.source: Any = fresh(current(current_tracer(), xs))
        self._begun = False
        if not isinstance(self.source, Lazy):
            self._begin()

    def _begin(self) -> None:
        """Of another iterator nothing is taken before an item is wanted: others may take it."""
        if self._begun or self._is_chained():
            return
        self._begun = True
        xs, over = self.source, staged(self.source)
        if over is not None and not isinstance(over.length, Tensor):
            xs, over = map(over.item, range(over.length)), None
        self.over, self.source = over, over
        if over is None:
            self.source = iter(xs)
            self._python = _of_iterator(self.source, self.element, self._known, self.flat)

    def _is_chained(self) -> bool:
        """Whether it takes its items from a generator of which only the run knows which it gives: only a loop can."""
        return isinstance(self.source, Generator) and self.source.chooses()

    def chooses(self) -> bool:
        """Whether only the run knows which items it gives, or how many of each that it takes: to know them all it has to make them all."""
        self._begin()
        return self._is_chained() or (self.over is not None and (self.test is not None or self.flat))

    def _known(self, x: Any) -> bool:
        kept = True if self.test is None else truth(self.test(x))
        if isinstance(kept, Tensor):
            raise StagedValueError(
                "which items a generator gives depends on a tensor, so that Python cannot iterate over it",
                location=user_location(2), hint="use list(...) of it, or a for loop",
            )  # fmt: skip
        return kept

    def __next__(self) -> Any:
        fresh(self.source)
        self._begin()
        return next(iter(self.source) if self._python is None else self._python)

    def staged(self) -> Staged | None:
        """How to loop over it in the Program; None if Python has to iterate over it."""
        if self.chooses():
            return self._as_list()
        if self.over is None:
            return None
        over, element = self._taken(False), self.element  # who takes the items may not take all of them
        found = Staged(over.length, lambda i: element(over.item(i)), "a generator", sources=over.sources, live=over.live)
        return like(over, found, element)

    def _as_list(self) -> Staged:
        """The same where all items have to be made for that."""
        element, test, flat, sources = self.element, self.test, self.flat, underlying_sources(self)
        made, sources = with_effect(self, sources, lambda: hub.list_comp(self._taken(False), element, test, flat))
        found = indexed(made, "a generator")
        return Staged(found.length, found.item, "a generator", sources=sources)

    def sources(self) -> list[Any]:
        return [self.source]

    def functions(self) -> list[Callable]:
        return [self.element] if self.test is None else [self.element, self.test]

    def as_map(self) -> tuple[Callable, list[Any]] | None:
        if self.test is not None or self.flat or self._python is None:
            return None
        return self.element, [self.source]

    def _taken(self, to_the_end: bool = True) -> Any:
        """What it iterates over; a loop over that takes the items from it."""
        source = self.source
        if self._is_chained():
            self.source = iter(()) if to_the_end else _Spent()
        elif self.over is not None:
            self.source = self._python = iter(()) if to_the_end else _Spent()
            self.over = None
        return source

    def first(self, *default: Any) -> Any:
        """`next(self, *default)`: where the run decides which item that is, nothing can be said of the others."""
        fresh(self.source)
        if not self.chooses() and self.over is None and not self.flat:
            for x in self.source:
                kept = True if self.test is None else truth(self.test(x))
                if isinstance(kept, Tensor):
                    self.source = itertools.chain((_Tested(x, kept),), self.source)
                    break
                if kept:
                    return self.element(x)
            else:
                return next(iter(()), *default)
        found = first(self, *default)
        self.source = self._python = _Spent()
        return found

    def looped(self, body: Callable[[Any], None], extra_test: Callable[[], Any] | None, get_state: State,
               set_state: Callable[[tuple], None], names: tuple[str, ...]) -> tuple[Any, Callable[[Any], None]]:  # fmt: skip
        """What a `for` loop over it iterates over instead, and its body then."""
        self._begin()
        element, test, flat = self.element, self.test, self.flat

        def item(x: Any) -> None:
            if flat:
                hub.for_stmt(element(x), body, extra_test, get_state, set_state, names)
            else:
                body(element(x))

        def filtered(x: Any) -> None:
            assert test is not None
            x, kept = (x.item, x.kept) if isinstance(x, _Tested) else (x, test(x))
            if_stmt(kept, lambda: item(x), nothing, get_state, set_state, names)

        return self._taken(extra_test is None), item if test is None else filtered


def numbered(xs: Iterable, start: Any) -> Generator:
    """`enumerate` of a generator or an iterator of which only the run may know which items it gives."""
    count = {"the next number": start}
    need_tracer("enumerate()").watch(count)

    def element(x: Any) -> tuple[Any, Any]:
        number = count["the next number"]
        count["the next number"] = number + 1
        return number, x

    found = Generator(xs, element, None, False)
    found.kept = count
    return found


@dataclass
class _Tested:
    """An item whose condition has been computed, which has its effects once."""

    item: Any
    kept: Tensor


class _Spent(Iterator):
    def __next__(self) -> Any:
        raise StagedValueError(
            "how far a generator has come depends on a tensor", location=user_location(2), hint="make another one",
        )  # fmt: skip


def first(items: Any, *default: Any) -> Any:
    """The first item of what a `for` loop can run over."""
    state: list[Any] = [False, *(default or (Undefined("the next item"),))]

    def body(x: Any) -> None:
        state[:] = True, x

    def set_state(values: tuple) -> None:
        state[:] = values

    hub.for_stmt(items, body, lambda: hub.not_(state[0]), lambda: tuple(state), set_state, ("whether there is an item", "the next item"))
    if default:
        return state[1]
    raise_if(as_tensor(hub.not_(state[0])), StopIteration)
    return need_tracer("next()").defined(state[1], "the next item")
