"""Iterators that are there before a call, or before a branch or a loop: to advance them is a change that no Program can make."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from ..errors import StagedValueError
from ..library.iteration import next_or
from ..tensor.location import user_location
from .containers import LEAVES
from .dicts import StagedDict
from .iterables import Lazy, Staged, staged
from .maybe_value import MaybeValue
from .running import named_variables, variables
from .special import bound
from .tracer import current_tracer

if TYPE_CHECKING:
    from .tracer import Tracer

# whose iterators keep their position where no code can see it; those of users' classes have it in attributes
_MODULES = {"builtins", "itertools", "collections", "_io", "_collections", "_random"}


def is_iterator(x: Any) -> bool:
    """Whether a value has a position that `next` advances."""
    if isinstance(x, Staged):
        return x.once
    kind = type(x)
    return isinstance(x, (types.GeneratorType, Lazy)) or (hasattr(kind, "__next__") and kind.__module__ in _MODULES)


def iterators_around(tracer: Tracer) -> dict[int, Any]:
    """The iterators that variables of the traced functions, and what is watched, hold now, by id."""
    own = {id(value): value for _, _, value in variables() if type(value) not in LEAVES and is_iterator(value)}
    return own | {key: x for key, x in tracer.iterators.items() if is_iterator(x)}


def fresh(iterable: Any) -> Any:
    """The value, the keys of a dict that has some only in some runs, or what the `__iter__` of a class of the user's gives for it.

    Raises:
        StagedValueError: it is an iterator that is older than what is being traced, or of which only the run knows how far it is.
    """
    if isinstance(iterable, MaybeValue):
        iterable = iterable._dy_bare("'NoneType' object is not iterable")
    if isinstance(iterable, StagedDict):
        return iterable.keys()
    tracer = current_tracer()
    if tracer is None:
        return iterable
    own = bound(iterable, "__iter__")
    if own is not None:
        iterable = own()
    if is_iterator(iterable):
        _require_fresh(tracer, iterable)
    if isinstance(iterable, types.GeneratorType):
        tracer.suspended.add(iterable)
    if isinstance(iterable, Staged) and iterable.once:
        tracer.left[id(iterable)] = iterable
        return Staged(iterable.length, iterable.item, iterable.what, lists=iterable.lists, live=iterable.live)
    return iterable


def leave(tracer: Tracer, iterable: Any) -> None:
    """Notes that only the run knows how far a loop over this has come.

    Raises:
        StagedValueError: it is an iterator of a class of the user's, whose attributes say so, and there is a variable for it.
    """
    if is_iterator(iterable):
        tracer.left[id(iterable)] = iterable
    elif bound(iterable, "__next__") is not None and (id(iterable) in tracer.before or any(v is iterable for *_, v in named_variables())):
        raise StagedValueError(
            f"how far a {type(iterable).__name__} has come would depend on a tensor: a loop over it ends under a condition",
            location=user_location(2), hint="make it in the header of the loop, or use a list and an index",
        )  # fmt: skip


def with_fresh(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of Python's, which may use up iterators."""
    return f(*map(fresh, args), **kwargs)


def iter_(x: Any, *sentinel: Any) -> Any:
    """`iter`."""
    from .generators import generator

    x = fresh(x)
    return iter(x, *sentinel) if sentinel or staged(x) is None else generator(x, lambda item: item)


def next_(iterator: Any, *default: Any) -> Any:
    from .generators import Generator

    iterator = fresh(iterator)
    if isinstance(iterator, Staged):
        iterator = Generator(iterator, lambda item: item, None, False)
    if isinstance(iterator, Lazy):
        return iterator.first(*default)
    if default and current_tracer() is not None and bound(iterator, "__next__") is not None:
        from .calls import call

        return call(next_or)(iterator, *default)  # only the run may know whether it has come to its end
    return next(iterator, *default)


def _require_fresh(tracer: Tracer, iterator: Any) -> None:
    name = iterator.what if isinstance(iterator, Staged) else type(iterator).__name__
    if id(iterator) in tracer.before:
        raise StagedValueError(
            f"a {name} that is there before the call would be advanced once, while tracing, and not by each call",
            location=user_location(2), hint="make it in the function, or take its items outside and pass them",
        )  # fmt: skip
    if id(iterator) in tracer.left:
        raise StagedValueError(
            f"how far a {name} has come, over which a loop has run, depends on a tensor",
            location=user_location(2), hint="make another one, or use a list and an index",
        )  # fmt: skip
    if any(id(iterator) in frame.iterators for frame in tracer.frames):
        raise StagedValueError(
            f"a {name} is advanced in a branch or a loop that depends on a tensor: only the run knows how far",
            location=user_location(2), hint="use a list and an index, or a for loop over what the iterator gives",
        )  # fmt: skip
