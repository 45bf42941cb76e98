"""Iterators that are there before a call, or before a branch or a loop: to advance them is a change that no Program can make."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import StagedValueError
from ..tensor.location import user_location
from .iterables import Lazy
from .running import variables
from .tracer import current_tracer

if TYPE_CHECKING:
    from .tracer import Tracer

# whose iterators keep their position where no code can see it; those of users' classes have it in attributes
_MODULES = {"builtins", "itertools", "collections", "_io", "_collections", "_random"}


def is_iterator(x: Any) -> bool:
    """Whether a value has a position that `next` advances."""
    return isinstance(x, (types.GeneratorType, Lazy)) or (isinstance(x, Iterator) and type(x).__module__ in _MODULES)


def iterators_around() -> dict[int, Any]:
    """The iterators that variables of the traced functions hold now, by id."""
    return {id(value): value for _, _, value in variables() if is_iterator(value)}


def fresh(iterable: Any) -> Any:
    """The value; StagedValueError if it is an iterator that is older than what is being traced."""
    tracer = current_tracer()
    if tracer is not None and is_iterator(iterable):
        _require_fresh(tracer, iterable)
    return iterable


def next_(iterator: Any, *default: Any) -> Any:
    iterator = fresh(iterator)
    return iterator.first(*default) if isinstance(iterator, Lazy) else next(iterator, *default)


def _require_fresh(tracer: Tracer, iterator: Any) -> None:
    name = type(iterator).__name__
    if id(iterator) in tracer.before:
        raise StagedValueError(
            f"a {name} that is there before the call would be advanced once, while tracing, and not by each call",
            location=user_location(2), hint="make it in the function, or take its items outside and pass them",
        )  # fmt: skip
    if any(id(iterator) in frame.iterators for frame in tracer.frames):
        raise StagedValueError(
            f"a {name} is advanced in a branch or a loop that depends on a tensor: only the run knows how far",
            location=user_location(2), hint="use a list and an index, or a for loop over what the iterator gives",
        )  # fmt: skip
