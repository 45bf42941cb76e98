"""What iterators advance besides themselves, and the lists over which they run in the end."""

from __future__ import annotations

import gc
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

from ...library.iteration import ByIndex
from .. import hub
from ..pyfacts.checked_iterators import Entries, Walk
from ..pyfacts.iterable_sources import Sources, with_code
from ..pyfacts.python_frames import held_by_generator
from ..values.containers import LEAVES
from ..values.lazy_iterables import Lazy, Staged

# whose iterators keep their position where no code can see it; those of users' classes have it in attributes
_MODULES = {"builtins", "itertools", "collections", "_io", "_csv", "_collections", "_random"}
_EMPTY: list[Any] = []
_OF_LISTS = (type(iter(_EMPTY)), type(reversed(_EMPTY)))
# which give what other iterators give, and run code of the user's at most in functions that they are given
_OF_ITERATORS = (zip, enumerate, map, filter, *(t for t in vars(itertools).values() if isinstance(t, type) and hasattr(t, "__next__")))
# which run no code of the user's
_KEYS: dict[Any, Any] = {}
_ITERABLES: tuple[Any, ...] = ((), range(1), range(2**70), _KEYS, _KEYS.values(), _KEYS.items(), set(), "", b"")
_VIEWS = (type(_KEYS.keys()), type(_KEYS.values()), type(_KEYS.items()))
_OF_DICTS = (*(type(iter(c)) for c in _ITERABLES[3:6]), *(type(reversed(c)) for c in _ITERABLES[3:6]))
_OF_CONTAINERS: tuple[type, ...] = (Entries, *_OF_LISTS, *_OF_DICTS, *(type(iter(c)) for c in _ITERABLES))
_HOLDERS = (tuple, list)


class Opened(Lazy):
    """An iterator of a class of the user's: Python iterates over it as long as Python knows whether there is another item.

    It is not asked for an iterator again, as Python would do.
    """

    def __init__(self, iterator: Any):
        self.iterator = iterator

    def __next__(self) -> Any:
        return next(self.iterator)

    def staged(self) -> None:
        return None

    def first(self, *default: Any) -> Any:
        return hub.next_(self.iterator, *default)

    def sources(self) -> list[Any]:
        return [self.iterator]

    def functions(self) -> list[Callable]:
        return []

    def as_map(self) -> None:
        return None


def beside(iterators: Sequence[Any]) -> None:
    """Items are taken from the first of these, and then from the others."""
    for walk in (w for x in iterators[1:] for w in walks(x)):
        walk.is_second = True


def walks(x: Any) -> list[Walk]:
    """Those from which an iterable takes its items."""
    return list(x.sources.walks) if isinstance(x, Staged) else [w for w in advanced_by(x) if type(w) is Walk]


def is_iterator(x: Any) -> bool:
    """Whether a value has a position that `next` advances, and which no attribute tells."""
    if isinstance(x, Staged):
        return x.once
    kind = type(x)
    return hasattr(kind, "__next__") and (kind.__module__ in _MODULES or isinstance(x, Lazy))


def advanced_by(x: Any) -> list[Any]:
    """The iterators that are advanced with this one: itself, and those from which it takes its items; also those of users' classes."""
    found: dict[int, Any] = {}
    left: list[Any] = [x]
    while left:
        x = left.pop()
        if type(x) not in LEAVES and id(x) not in found and (is_iterator(x) or hasattr(type(x), "__next__")):
            found[id(x)] = x
            left += _taken_from(x)
    return list(found.values())


def _taken_from(x: Any) -> list[Any]:
    if isinstance(x, Walk):
        return [x.items]
    if isinstance(x, Lazy):
        return x.sources()
    if isinstance(x, types.GeneratorType):
        # in its variables, those outside of the function too, or what its loops run over; objects of users' classes show what it changes
        return [v for v in held_by_generator(x) if type(v) not in LEAVES and is_iterator(v)]
    if not isinstance(x, _OF_ITERATORS):
        return []
    inside = gc.get_referents(x)
    if isinstance(x, itertools.chain):  # the iterables that are to come are entries of what it iterates over
        inside += [v for part in inside for held in gc.get_referents(part) if type(held) in _HOLDERS for v in held]
    return [v for part in inside for v in (part if type(part) is tuple else (part,))]


def runs_code(x: Any) -> bool:
    """Whether functions of the user's may run where an iterator is advanced."""
    return any(not isinstance(v, (Walk, *_OF_CONTAINERS, *_OF_ITERATORS)) or isinstance(v, (map, filter)) for v in advanced_by(x))


def is_repeatable(x: Any) -> bool:
    """Whether an iterable of Python's is no iterator, or one of which a copy gives the same items."""
    return isinstance(x, (Walk, *_OF_CONTAINERS)) or not hasattr(type(x), "__next__")


def underlying_containers(x: Any) -> list[Any]:
    """The lists, deques and dicts of Python whose entries an iterable gives: itself, or those that iterators in it run over."""
    if type(x) is list:
        return [x]
    if type(x) in _VIEWS:
        return [v for v in gc.get_referents(x) if type(v) is dict]
    found: list[Any] = []
    for part in advanced_by(x):
        if type(part) in _OF_LISTS or type(part) in _OF_DICTS:
            found += [v for v in gc.get_referents(part) if type(v) is list or type(v) is dict]
        elif type(part) is Entries:
            found.append(part.of)
    return found


def underlying_sources(x: Any) -> Sources:
    """What an iterable of Python's takes its items from, if all are taken now."""
    run = [] if hasattr(type(x), "__next__") else [x]  # a class of the user's may say what it gives
    for part in advanced_by(x):
        if isinstance(part, Lazy):
            run += part.functions()
        elif isinstance(part, (map, filter)):
            run += [f for f in gc.get_referents(part) if callable(f)]
        elif not isinstance(part, (Walk, *_OF_CONTAINERS, *_OF_ITERATORS)):
            run.append(part)
        if isinstance(part, ByIndex):
            run.append(vars(part)["_items"])
    return Sources(tuple(underlying_containers(x)), tuple(walks(x)), tuple(with_code(run)))


def parts_of_map(x: Any) -> tuple[Callable, list[Any]] | None:
    """The function of a `map`, or of a generator, and the iterators whose items it is called with."""
    if isinstance(x, Lazy):
        return x.as_map()
    if type(x) is not map:
        return None
    held = gc.get_referents(x)
    iterators = next(v for v in held if type(v) is tuple)
    return next(v for v in held if v is not iterators), list(iterators)
