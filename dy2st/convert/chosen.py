"""Changes of a list, dict or tensor that is one of several, as only the run knows: `(a if t > 0 else b).append(x)`, `rows[i].append(x)`.

The values of all paths are merged into one that can be read. To change that is to change the one that was chosen: a branch on the
same condition, or by the same index, does it. Where that cannot be done, `alternatives` finds out whether it would show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Block, Variable

from ..tensor import Tensor
from .containers import held_by, put
from .growing import current, substitute
from .holders import parts_of
from .lists import StagedList
from .maybe_value import MaybeValue
from .running import named_variables

if TYPE_CHECKING:
    from .tracer import Tracer


@dataclass(frozen=True)
class Chosen:
    """A merged container, made in a block of these; `pick(f)` is `f` of the one that was chosen."""

    value: Any
    pick: Callable[[Callable[[Any], Any]], Any]
    block: Block
    items: Sequence[Any]


def note(tracer: Tracer, test: Tensor, sides: tuple[Any, Any], merged: Any, outside: Collection[int]) -> None:
    """Remembers of which containers, or tensors, a value has been merged; `outside` are the ids of those that were there before."""
    a, b = sides
    new = merged is not a and merged is not b and a is not b
    if new and _are_of_a_kind(merged, sides) and all(_existed(tracer, x, outside) for x in sides):

        def pick(f: Callable[[Any], Any]) -> Any:
            from .if_stmt import if_expr

            return if_expr(test, partial(f, a), partial(f, b))

        tracer.chosen[id(merged)] = Chosen(merged, pick, tracer.block, sides)


def note_item(tracer: Tracer, index: Tensor, items: Sequence[Any], merged: Any) -> None:
    """`note` of a value that has been merged from items, all there before: the one at the index was chosen."""
    if _are_of_a_kind(merged, items) and all(x is not merged for x in items):
        pick = partial(_at_index, index, items)
        tracer.chosen[id(merged)] = Chosen(merged, pick, tracer.block, items)


def _at_index(index: Tensor, items: Sequence[Any], f: Callable[[Any], Any]) -> Any:
    from .options import by_index

    return by_index(index, len(items), lambda i: f(items[i]))


def _are_of_a_kind(merged: Any, items: Sequence[Any]) -> bool:
    """Whether a value has been merged of containers, or of tensors."""
    if isinstance(merged, Tensor):
        return all(type(x) is Tensor and not x._weak for x in items)
    return all(type(x) in (list, dict, StagedList) for x in items)


def _existed(tracer: Tracer, x: Any, outside: Collection[int]) -> bool:
    if isinstance(x, Tensor):
        return not isinstance(x._value, Variable) or tracer.can_read(x._value)
    if isinstance(x, StagedList):
        return isinstance(x._value, Variable) and tracer.can_read(x._value)
    return id(x) in outside


def chooses(change: Callable[..., Any], gives: str = "container") -> Callable[..., Any]:
    """Decorator: a change of a container, its first argument, is one of the container that was chosen.

    Args:
        gives: what the change returns: the "container" as it is then, this and a value ("both"), or a "value".
    """

    @wraps(change)
    def on_either(a: Any, /, *args: Any, **kwargs: Any) -> Any:
        from .tracer import current_tracer

        tracer = current_tracer()
        if isinstance(a, MaybeValue):
            given = on_either(_there(a, change, args), *args, **kwargs)
            now = current(tracer, a)
            return now if gives == "container" else (now, given[1]) if gives == "both" else given
        choice = None if tracer is None else tracer.chosen.get(id(a))
        if tracer is None or choice is None or choice.block is not tracer.block or tracer.alternatives.has_changed(a):
            return change(a, *args, **kwargs)
        if isinstance(a, Tensor):
            if _is_held(tracer, a):  # which is read again, as it is then
                return change(a, *args, **kwargs)
            choice.pick(lambda x: _only_changed(change, x, *args))
            return a

        def one(x: Any) -> tuple[Any, Any]:
            result = change(x, *args, **kwargs)
            value = None if gives == "container" else result[1] if gives == "both" else result
            return current(tracer, x), value

        pairs = tracer.alternatives.forget(a)
        contents, value = choice.pick(one)
        new = _given(tracer, choice, contents)
        if new is a and _is_held(tracer, a):
            tracer.alternatives.remember(pairs)
        return new if gives == "container" else (new, value) if gives == "both" else value

    return on_either


def _only_changed(change: Callable[..., Any], x: Any, *args: Any) -> None:
    change(x, *args)


_OF_NONE = {"setitem": "does not support item assignment", "delitem": "doesn't support item deletion"}


def _there(a: MaybeValue, change: Callable[..., Any], args: tuple) -> Any:
    """The container that is changed; where it is None the run raises what Python raises."""
    name = change.__name__
    if name in _OF_NONE:
        return a._dy_bare(f"'NoneType' object {_OF_NONE[name]}")
    return a._dy_attribute(name.removeprefix("list_") if name.startswith("list_") else args[0])


def _given(tracer: Tracer, choice: Chosen, contents: Any) -> Any:
    """The merged container with the contents that the chosen one has now, under all its names."""
    a = choice.value
    tracer.alternatives.forget(contents)
    if isinstance(contents, StagedList):
        substitute(tracer, a, contents)
        tracer.chosen[id(contents)] = replace(choice, value=contents)
        return contents
    if isinstance(a, dict):
        dict.clear(a)
        dict.update(a, contents)
    else:
        put(a, contents)
    return a


def _is_held(tracer: Tracer, x: Any) -> bool:
    """Whether a variable of the user's, a container or anything else (see `holders`) holds a value."""
    named = any(value is x for _, _, value in named_variables())
    in_container = named or any(c is not x and any(v is x for v in held_by(c)) for c in tracer.containers)
    return in_container or any(v is x for holder in tracer.watch_holders() for v in parts_of(holder) or ())
