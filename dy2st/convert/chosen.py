"""Changes of a list or dict that is one of two, as only the run knows: `(a if t > 0 else b).append(x)`.

The values of both paths are merged into one that can be read. To change that is to change the one that was chosen: a branch on the
same condition does it. Where that cannot be done, `alternatives` finds out whether it would show.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Block, Variable

from ..tensor import Tensor
from .containers import held_by
from .lists import StagedList
from .running import named_variables

if TYPE_CHECKING:
    from .tracer import Tracer


@dataclass(frozen=True)
class Chosen:
    """A merged container: of which two, by which condition, and in which block."""

    value: Any
    sides: tuple[Any, Any]
    test: Tensor
    block: Block


def note(tracer: Tracer, test: Tensor, sides: tuple[Any, Any], merged: Any, outside: Collection[int]) -> None:
    """Remembers of which containers a value has been merged; `outside` are the ids of those that were there before."""
    a, b = sides
    new = merged is not a and merged is not b and a is not b
    if new and all(type(x) in (list, dict, StagedList) and _existed(tracer, x, outside) for x in sides):
        tracer.chosen[id(merged)] = Chosen(merged, sides, test, tracer.block)


def _existed(tracer: Tracer, x: Any, outside: Collection[int]) -> bool:
    if isinstance(x, StagedList):
        return isinstance(x._value, Variable) and tracer.can_read(x._value)
    return id(x) in outside


def chooses(change: Callable[..., Any], names: int = 1) -> Callable[..., Any]:
    """Decorator: a change of a container, its first argument, is one of the container that was chosen.

    Args:
        names: how many of the user's variables may hold it: one that gets what the change returns, or none.
    """

    @wraps(change)
    def on_either(a: Any, /, *args: Any, **kwargs: Any) -> Any:
        from .if_stmt import if_expr
        from .tracer import current_tracer

        tracer = current_tracer()
        choice = None if tracer is None else tracer.chosen.get(id(a))
        if tracer is None or choice is None or choice.block is not tracer.block or _holders(tracer, a) > names:
            return change(a, *args, **kwargs)
        del tracer.chosen[id(a)]
        tracer.alternatives.forget(a)
        x, y = choice.sides
        return if_expr(choice.test, partial(change, x, *args, **kwargs), partial(change, y, *args, **kwargs))

    return on_either


def _holders(tracer: Tracer, x: Any) -> int:
    """The number of variables and containers that hold a value."""
    found = {name for _, name, value in named_variables() if value is x}
    return len(found) + sum(c is not x and any(v is x for v in held_by(c)) for c in tracer.containers)
