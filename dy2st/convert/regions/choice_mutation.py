"""Changes of a list, dict, object or tensor that is one of several, as only the run knows: `rows[i].append(x)`, `nodes[i].count += 1`.

The values of all paths are merged into one that can be read. To change that is to change the one that was chosen: a branch on the
same condition, or by the same index, does it. Where that cannot be done, `alternatives` finds out whether it would show.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Block, Variable

from ...tensor import Tensor
from .. import hub, roles
from ..hub import current_tracer
from ..pyfacts.attribute_lookup import MISSING, defined, dict_of, held, may_change_class
from ..pyfacts.foreign import is_foreign_class
from ..pyfacts.python_frames import named_variables
from ..pyfacts.undefined import moving
from ..values.containers import BUILT_IN, LEAVES, held_by, put
from ..values.dynamic_list import DynamicList
from ..values.holders import parts_of
from ..values.maybe_attribute import MaybeAttribute
from ..values.maybe_value import MaybeValue
from ..values.one_of import by_index
from ..values.record_list import RecordList
from ..values.record_list import parts_of as columns_of
from ..values.staged_list import StagedList
from ..values.trees import is_frozen
from .list_promotion import current, substitute

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

roles.runs_statements(__file__)

_CONTAINERS = (list, dict, StagedList, RecordList)


@dataclass(frozen=True)
class Chosen:
    """A container, object or tensor that has been merged, made in a block, of `items`.

    Attributes:
        pick: `pick(f)` is `f` of the one that was chosen.
        above: what was merged around it.
    """

    value: Any
    pick: Callable[[Callable[[Any], Any]], Any]
    block: Block
    items: Sequence[Any]
    above: tuple[Any, ...] = ()


def note(tracer: Tracer, test: Tensor, sides: tuple[Any, Any], merged: Any, outside: Collection[int]) -> None:
    """Remembers of which containers a value has been merged; `outside` are the ids of those that were there before."""

    def pick(parts: Sequence[Any], f: Callable[[Any], Any]) -> Any:
        one, other = parts
        return hub.if_expr(test, partial(f, one), partial(f, other))

    _note(tracer, merged, sides, pick, lambda x: _existed(tracer, x, outside))


@hub.primitive
def note_item(tracer: Tracer, index: Tensor, items: Sequence[Any], merged: Any) -> None:
    """`note` of a value that has been merged from items, all there before: the one at the index was chosen."""
    _note(tracer, merged, items, partial(_at_index, index), lambda x: True)


def _note(tracer: Tracer, merged: Any, parts: Sequence[Any], pick: Callable[[Sequence[Any], Callable[[Any], Any]], Any],
          existed: Callable[[Any], bool], above: tuple[Any, ...] = ()) -> None:  # fmt: skip
    """Remembers it of a value and of what is in it; `above` is what has been merged around it."""
    if isinstance(merged, Tensor):
        # one in something that has been merged has a place there, where it is read again
        if not above and all(type(x) is Tensor and not x._weak and x is not merged and existed(x) for x in parts):
            tracer.chosen[id(merged)] = Chosen(merged, partial(pick, parts), tracer.block, parts)
        return
    if type(merged) in LEAVES or any(x is merged for x in parts) or all(x is parts[0] for x in parts):
        return
    is_object = _is_object(type(merged)) and all(type(x) is type(merged) for x in parts)
    if is_object or all(type(x) in _CONTAINERS for x in parts):
        if not all(map(existed, parts)):
            return
        tracer.chosen[id(merged)] = Chosen(merged, partial(pick, parts), tracer.block, parts, above)
        above = *above, merged
        if is_object:
            tracer.special.direct(type(merged), choosing)
    for value, *within in _in_each(merged, parts):
        _note(tracer, value, within, pick, existed, above)


def _is_object(cls: type) -> bool:
    """Whether objects of a class keep their attributes as Python does, so that to set one is to change nothing else."""
    plain = cls.__setattr__ is object.__setattr__ or getattr(cls.__setattr__, "_dy_chooses", False)
    own = plain and may_change_class(cls) and not is_foreign_class(cls)
    return own and not is_frozen(cls) and not issubclass(cls, (tuple, *BUILT_IN))


def _in_each(merged: Any, parts: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """What is in the same place of a value and of each of these, if they are of one kind."""
    together, cls = [merged, *parts], type(merged)
    if any(type(x) is not cls for x in together):
        return
    if cls in (list, tuple):
        if all(len(x) == len(merged) for x in parts):
            yield from zip(*together, strict=True)
    elif cls is dict or _is_object(cls):
        first, *others = held = [x if cls is dict else dict_of(x) or {} for x in together]
        if all(x.keys() == first.keys() for x in others):
            yield from (tuple(x[key] for x in held) for key in first)


def _at_index(index: Tensor, items: Sequence[Any], f: Callable[[Any], Any]) -> Any:
    return by_index(index, len(items), lambda i: f(items[i]))


def _existed(tracer: Tracer, x: Any, outside: Collection[int]) -> bool:
    if isinstance(x, Tensor):
        return not isinstance(x._value, Variable) or tracer.can_read(x._value)
    if isinstance(x, DynamicList):
        return all(isinstance(c._value, Variable) and tracer.can_read(c._value) for c in columns_of(x))
    return id(x if type(x) in _CONTAINERS else dict_of(x)) in outside


def chooses(change: Callable[..., Any], gives: str = "container") -> Callable[..., Any]:
    """Decorator: a change of a container, its first argument, is one of the container that was chosen.

    Args:
        gives: what the change returns: the "container" as it is then, this and a value ("both"), or a "value".
    """

    @wraps(change)
    def on_either(a: Any, /, *args: Any, **kwargs: Any) -> Any:
        tracer = current_tracer()
        if isinstance(a, MaybeValue):
            given = on_either(_there(a, change, args), *args, **kwargs)
            now = current(tracer, a)
            return now if gives == "container" else (now, given[1]) if gives == "both" else given
        choice = None if tracer is None else _choice(tracer, a)
        if tracer is None or choice is None:
            return change(a, *args, **kwargs)
        if isinstance(a, Tensor):
            if _is_held(tracer, a):  # which is read again, as it is then
                return change(a, *args, **kwargs)
            choice.pick(lambda x: _done(change(x, *args)))
            return a
        if isinstance(a, dict):
            with _changing(tracer, choice):
                given = change(a, *args, **kwargs)
                choice.pick(lambda x: _done(change(x, *args, **kwargs)))
            return given

        def one(x: Any) -> tuple[Any, Any]:
            result = change(x, *args, **kwargs)
            value = None if gives == "container" else result[1] if gives == "both" else result
            return current(tracer, x), value

        pairs = tracer.alternatives.forget(a)
        with tracer.alternatives.following(*choice.above):
            contents, value = choice.pick(one)
            new = _given(tracer, choice, contents)
        if new is a and _is_held(tracer, a):
            tracer.alternatives.remember(pairs)
        return new if gives == "container" else (new, value) if gives == "both" else value

    return on_either


def _choice(tracer: Tracer, a: Any) -> Chosen | None:
    """What is known of a value that stands for one of several, if to change it can be to change that."""
    choice = tracer.chosen.get(id(a))
    if choice is None or choice.value is not a:
        return None
    # a list of dynamic length becomes another object, which is not the one that there is behind an inner block
    known = choice.block is tracer.block if isinstance(a, (list, DynamicList, Tensor)) else tracer.is_around(choice.block)
    if not known:
        return None
    return None if any(map(tracer.alternatives.has_changed, (a, *choice.above))) else choice


def choosing(inherited: Callable[[Any, str, Any], None]) -> Callable[[Any, str, Any], None]:
    """`__setattr__` of a class with an object that stands for one of several: the one that was chosen gets the attribute, too."""
    raw = getattr(inherited, "_dy_chooses", inherited)  # of a base that has got one of these: each asks once

    def __setattr__(self: Any, name: str, value: Any) -> None:
        tracer = current_tracer()
        if tracer is None or moving.state or hasattr(type(defined(type(self), name)), "__set__"):
            raw(self, name, value)
            return
        others = _standing_for(tracer, self, name)
        own = _choice(tracer, self)
        together = [c.value for c in others] if own is None else [self, *(c.value for c in others)]
        with tracer.alternatives.following(*together):
            _set(tracer, self, name, value)
            for c in others:
                raw(c.value, name, c.pick(lambda one: held(one, name)))
        if own is not None and own.block is tracer.block and not _is_held(tracer, self):
            tracer.alternatives.forget(self)

    __setattr__._dy_chooses = raw  # type: ignore[attr-defined]
    return __setattr__


def _set(tracer: Tracer, x: Any, name: str, value: Any) -> None:
    """Sets an attribute of an object, and of the one that it stands for."""
    choice = _choice(tracer, x)
    if choice is None:
        object.__setattr__(x, name, value)
        return
    with _changing(tracer, choice):
        object.__setattr__(x, name, value)  # first, so that something holds the value
        choice.pick(lambda one: _set(tracer, one, name, value))


def _standing_for(tracer: Tracer, x: Any, name: str) -> list[Chosen]:
    """The choices of objects, but the one of this, that may have come to it, or to one that it stands for: these follow its changes.

    Only the last ones of many: in a loop of Python each iteration makes some. The others may not be read any more (see `alternatives`).
    """
    changing, left = {id(x)}, [x]
    while left:
        choice = tracer.chosen.get(id(left.pop()))
        new = [i for i in choice.items if id(i) not in changing] if choice is not None else []
        changing.update(map(id, new))
        left += new
    found = []
    for c in tracer.chosen.values():  # those that are made of others come after these
        if id(c.value) not in changing and _is_object(type(c.value)) and any(id(i) in changing for i in c.items):
            kept = [held(i, name) for i in c.items]
            if not any(v is MISSING or isinstance(v, MaybeAttribute) for v in kept) and _choice(tracer, c.value) is c:
                found.append(c)
                changing.add(id(c.value))
    return found[-_FOLLOWING:]


_FOLLOWING = 16
_OF_NONE = {"setitem": "does not support item assignment", "delitem": "doesn't support item deletion"}


def _there(a: MaybeValue, change: Callable[..., Any], args: tuple) -> Any:
    """The container that is changed; where it is None the run raises what Python raises."""
    name = change.__name__
    if name in _OF_NONE:
        return a._dy_bare(f"'NoneType' object {_OF_NONE[name]}")
    return a._dy_attribute(name.removeprefix("list_") if name.startswith("list_") else args[0])


def _done(_: Any) -> None:
    """What a change gives is what stands for the others."""


@contextlib.contextmanager
def _changing(tracer: Tracer, choice: Chosen) -> Iterator[None]:
    """Within it what stands for one of several changes, and the one that was chosen in the same way."""
    a = choice.value
    if choice.block is not tracer.block:
        with tracer.alternatives.following(a, *choice.above):
            yield
        return
    pairs = tracer.alternatives.forget(a)
    with tracer.alternatives.following(*choice.above):
        yield
    # this makes what is held state: asked before, what has been done would be a change of the block
    if _is_held(tracer, a):
        tracer.alternatives.remember(pairs)


def _given(tracer: Tracer, choice: Chosen, contents: Any) -> Any:
    """The merged list with the contents that the chosen one has now, under all its names."""
    a = choice.value
    tracer.alternatives.forget(contents)
    if isinstance(contents, DynamicList):
        substitute(tracer, a, contents)
        tracer.chosen[id(contents)] = replace(choice, value=contents)
        return contents
    put(a, contents)
    return a


def _is_held(tracer: Tracer, x: Any) -> bool:
    """Whether a variable of the user's, a container or anything else (see `holders`) holds a value."""
    named = any(value is x for _, _, value in named_variables())
    in_container = named or any(c is not x and any(v is x for v in held_by(c)) for c in tracer.containers)
    return in_container or any(v is x for holder in tracer.watch_holders() for v in parts_of(holder) or ())
