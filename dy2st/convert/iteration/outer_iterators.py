"""Iterators that are there before a call, or before a branch or a loop: to advance them is a change that no Program can make."""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Operator
from dy2st_runtime.ir.visit import all_ops

from ...errors import StagedValueError
from ...library.iteration import ByIndex, next_or
from ...library.queues import Deque
from ...tensor import Tensor
from ...tensor.location import user_location
from .. import hub, roles
from ..effects.cells import contents_of
from ..guards.special_methods import bound
from ..hub import current_tracer, need_tracer
from ..pyfacts.attribute_lookup import dict_of
from ..pyfacts.checked_iterators import Walk
from ..pyfacts.iterable_sources import Sources
from ..pyfacts.python_frames import named_variables, variable_values
from ..values.containers import LEAVES, containers_of, held_by, is_container
from ..values.holders import parts_of
from ..values.lazy_iterables import Lazy, Staged, like, staged
from ..values.maybe_value import MaybeValue
from ..values.staged_dict import StagedDict, StagedView
from .underlying import Opened, advanced_by, is_iterator, runs_code

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.ACTING


def iterators_around(tracer: Tracer) -> dict[int, Any]:
    """The iterators that variables of the traced functions, and what is watched, hold now, by id."""
    own = {id(value): value for value in variable_values() if type(value) not in LEAVES and is_iterator(value)}
    return own | {key: x for key, x in tracer.iterators.items() if is_iterator(x)}


def fresh(iterable: Any) -> Any:
    """The value, the keys of a dict that has some only in some runs, or what the `__iter__` of a class of the user's gives for it.

    Raises:
        StagedValueError: it is an iterator that is older than what is being traced, or of which only the run knows how far it is.
    """
    if isinstance(iterable, MaybeValue):
        iterable = iterable._dy_bare("'NoneType' object is not iterable")
    if isinstance(iterable, StagedDict):
        iterable = iterable.keys()
    if isinstance(iterable, StagedView):
        return iterable.each()
    tracer = current_tracer()
    if tracer is None:
        return iterable
    own = bound(iterable, "__iter__")
    if own is None:
        if isinstance(iterable, deque):
            return tracer.walks.over(iterable, range(len(iterable)))
        return Opened(_by_index(iterable)) if _is_by_index(iterable) else advanced(iterable)
    return walked(iterable, own()) if type(iterable) is Deque else advanced(_opened(own()))


def walked(of: Deque, items: Any) -> Any:
    """What iterates over the entries of a deque, and looks whether that has changed."""
    over = staged(items)
    if over is None:
        return advanced(Walk(of, iter(items)))
    sources = over.sources + Sources(walks=(Walk(of, iter(())),))
    return Staged(over.length, over.item, "a deque of dynamic length", over.once, sources, over.live)


def _is_by_index(x: Any) -> bool:
    """Whether Python takes the items of an object of the user's by their indices, until there is an IndexError."""
    way = getattr(type(x), "__iter__", Sequence.__iter__)
    return way is Sequence.__iter__ and bound(x, "__getitem__") is not None


def _by_index(x: Any) -> Any:
    return hub.call(ByIndex)(x)


def _opened(iterator: Any) -> Any:
    """What an `__iter__` of the user's gives, so that nobody asks that for an iterator once more."""
    if hasattr(type(iterator), "__next__"):
        is_own = bound(iterator, "__next__") is not None or bound(iterator, "__iter__") is not None
        return Opened(iterator) if is_own else iterator
    if is_iterator(iterator):
        return iterator
    raise TypeError(f"iter() returned non-iterator of type {type(iterator).__name__!r}")


def advanced(iterator: Any) -> Any:
    """A value that is going to be iterated over, if it may be.

    Raises:
        StagedValueError: it is an iterator that is older than what is being traced, or of which only the run knows how far it is.
    """
    tracer = current_tracer()
    if tracer is None or type(iterator) in LEAVES or not is_iterator(iterator):
        return iterator
    for one in filter(is_iterator, advanced_by(iterator)):
        _require_fresh(tracer, one)
        if isinstance(one, types.GeneratorType):
            tracer.suspended.add(one)
    if not isinstance(iterator, Staged):
        return iterator
    tracer.used_iterators[id(iterator)] = iterator
    return like(iterator, Staged(iterator.length, iterator.item, iterator.what, sources=iterator.sources, live=iterator.live))


def use_up(iterators: Iterable[Any]) -> None:
    """Notes that all items of these are taken, where Python would take no more than it needs: nobody may ask for the rest."""
    need_tracer("an iterator").used_iterators.update((id(x), x) for x in iterators)


def leave(tracer: Tracer, iterable: Any) -> dict[int, Any]:
    """Notes that only the run knows how far a loop over this has come; returns the iterators that are advanced by it, by id.

    Raises:
        StagedValueError: one of them is of a class of the user's, whose attributes say so, and there is a variable for it.
    """
    found = {id(x): x for x in advanced_by(iterable)}
    for x in found.values():
        if bound(x, "__next__") is not None and is_known(tracer, x):
            raise StagedValueError(
                f"how far a {type(x).__name__} has come would depend on a tensor: a loop over it ends under a condition",
                location=user_location(2), hint="make it in the header of the loop, or use a list and an index",
            )  # fmt: skip
    tracer.used_iterators.update(found)
    return found


def is_known(tracer: Tracer, x: Any) -> bool:
    """Whether somebody else may ask an iterator of a class of the user's how far it is."""
    return id(x) in tracer.before or any(v is x for *_, v in named_variables())


class Onward:
    """Takes items from an iterator, while tracing, to where only some runs come.

    Attributes:
        known: the iterators that are advanced by that.
    """

    def __init__(self, tracer: Tracer, items: Iterator[Any]) -> None:
        self.tracer, self.items = tracer, items
        self.known = leave(tracer, items)
        self._runs_code = runs_code(items)

    def next(self, default: Any) -> Any:
        """`next(items, default)`.

        Raises:
            StagedValueError: that has effects, which only those runs should have that come there.
        """
        tracer = self.tracer
        tracer.onward.append(self.known)
        try:
            if not self._runs_code:
                return next(self.items, default)
            item, effect = observed(tracer, self.items, lambda: next(self.items, default))
            if effect:
                raise StagedValueError(
                    f"to take an item from what the loop runs over {effect}, which only the runs should do that have not left the loop",
                    location=user_location(2), hint="take the items in the body of a while loop",
                )  # fmt: skip
            return item
        finally:
            tracer.onward.pop()


def observed(tracer: Tracer, iterable: Any, take: Callable[[], Any]) -> tuple[Any, str]:
    """Items that are taken from an iterable, and what that does besides; "" if nothing."""
    tracer.watch_locals()
    snapshot, ops, mutations = tracer.snapshot(), len(tracer.block.ops), tracer.aliases.mutations
    kept, cells = list(_kept_by(tracer, iterable)), _cells(tracer, iterable)
    with tracer.noting() as variables:
        items = take()
    effect = _effect(tracer.block.ops[ops:])
    if effect is not None:
        return items, "prints" if effect.type == "print" else "has an effect"
    changed = {id(cell.target) for cell in snapshot.changed()}
    # but what only the iterators know
    assigned = any(contents_of(cell) is not before for cell, before in cells.values())
    assigned = assigned or any(variable.now() is not before for variable, before in variables)
    if assigned or tracer.aliases.mutations > mutations or (changed and changed - {id(c) for c in (*kept, *_kept_by(tracer, iterable))}):
        return items, "changes what is used elsewhere"
    return items, ""


def _cells(tracer: Tracer, iterable: Any) -> dict[int, tuple[types.CellType, Any]]:
    """The variables that functions assign which are functions inside, with what they hold, but for those that only the iterators know:
    calls of such functions are none that anybody watches."""
    found: dict[int, tuple[types.CellType, Any]] = {}
    seen = {id(x): x for x in advanced_by(iterable)}
    left = [value for *_, value in named_variables()]
    while left:
        x = left.pop()
        if type(x) in LEAVES or id(x) in seen or id(x) in tracer.before:
            continue
        seen[id(x)] = x
        if isinstance(x, types.FunctionType):
            found |= {id(cell): (cell, contents_of(cell)) for cell in x.__closure__ or ()}
        if isinstance(x, (types.FunctionType, types.MethodType, functools.partial, tuple)):
            left += parts_of(x) or ()
        elif is_container(x):
            left += held_by(x)
        elif id(x) in tracer.created:
            left += (dict_of(x) or {}).values()
    return found


def with_effect(iterable: Any, sources: Sources, take: Callable[[], Any]) -> tuple[Any, Sources]:
    """All items of an iterable, and what they come from, with what it does besides to take them."""
    items, effect = observed(need_tracer("an iterable"), iterable, take)
    return items, sources + Sources(effect=effect)


def _effect(ops: Iterable[Operator]) -> Operator | None:
    """The first of the ops that does something."""
    inside = ((op, [inner for block in op.blocks for inner in all_ops(block)]) for op in ops)
    return next((op for outer, inner in inside for op in (outer, *inner) if op.record.effect), None)


def _kept_by(tracer: Tracer, iterable: Any) -> Iterable[Any]:
    """The containers that only iterators know: those of users' classes in their attributes, generators in their variables."""
    owners: list[Any] = []
    for x in advanced_by(iterable):
        if bound(x, "__next__") is not None:
            owners.append(x)
        elif isinstance(x, Lazy):
            owners.append(x.kept)
        elif (frame := getattr(x, "gi_frame", None)) is not None:
            owners += frame.f_locals.values()
    known = {id(c) for c in containers_of(*(v for *_, v in named_variables()), *tracer.put_outside())}
    return [c for c in containers_of(*owners) if id(c) not in known and id(c) not in tracer.before]


def with_fresh(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of Python's, which may use up iterators."""
    # what only the run knows says so here: Python's functions take that for what cannot be iterated over at all
    return f(*(iter(x) if isinstance(x, Staged) else x for x in map(advanced, args)), **kwargs)


def iter_(x: Any, *sentinel: Any) -> Any:
    """`iter`."""
    x = x if sentinel else fresh(x)
    if isinstance(x, Opened):
        return x.iterator
    if isinstance(x, Lazy):
        return x
    return iter(x, *sentinel) if sentinel or staged(x) is None else hub.generator(x, lambda item: item)


def iterated(xs: Any) -> Any:
    """What a loop of a generator function, which Python runs, takes its items from.

    Raises:
        StagedValueError: only the run knows how many there are.
    """
    if current_tracer() is None:
        return xs
    xs = fresh(xs)
    over = None if isinstance(xs, Lazy) else staged(xs)  # that would use up a generator
    if over is not None and isinstance(over.length, Tensor):
        raise StagedValueError(
            f"{over.what} has a length that is only known at run time; Python runs the loops of a generator function",
            location=user_location(2), hint="make it a function that returns a list, or loop in the function that uses the items",
        )  # fmt: skip
    return iter_(xs)


@hub.primitive
def next_(iterator: Any, *default: Any) -> Any:
    if isinstance(iterator, MaybeValue):
        iterator = iterator._dy_bare("'NoneType' object is not an iterator")
    iterator = advanced(iterator)
    if isinstance(iterator, Staged):
        iterator = hub.generator(iterator, lambda item: item)
    if isinstance(iterator, Lazy):
        return iterator.first(*default)
    own = bound(iterator, "__next__")
    if own is None:
        return next(iterator, *default)

    # only the run may know whether it has come to its end
    return hub.call(next_or)(iterator, *default) if default else hub.call(own)()


def _require_fresh(tracer: Tracer, iterator: Any) -> None:
    name = iterator.what if isinstance(iterator, Staged) else "generator" if isinstance(iterator, Lazy) else type(iterator).__name__
    if id(iterator) in tracer.before:
        raise StagedValueError(
            f"a {name} that is there before the call would be advanced once, while tracing, and not by each call",
            location=user_location(2), hint="make it in the function, or take its items outside and pass them",
        )  # fmt: skip
    if id(iterator) in tracer.used_iterators and not any(id(iterator) in known for known in tracer.onward):
        raise StagedValueError(
            f"how far a {name} has come, over which a loop has run, depends on a tensor",
            location=user_location(2), hint="make another one, or use a list and an index",
        )  # fmt: skip
    if any(id(iterator) in frame.iterators for frame in tracer.frames):
        raise StagedValueError(
            f"a {name} is advanced in a branch or a loop that depends on a tensor: only the run knows how far",
            location=user_location(2), hint="use a list and an index, or a for loop over what the iterator gives",
        )  # fmt: skip
    if tracer.onward:
        tracer.onward[-1][id(iterator)] = tracer.used_iterators[id(iterator)] = iterator
