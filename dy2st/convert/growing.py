"""Lists that become lists of dynamic length while a function is traced, and dicts that have some keys only in some runs: under all their
names, and in all that holds them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import StructureError
from ..tensor.location import user_location
from .cells import Cell, EntryCell, OrderCell, OuterVariable, read_outside
from .dicts import StagedDict
from .dynamic import DynamicList
from .frames import Frame, Growth
from .maybe_attribute import MaybeAttribute
from .maybe_value import MaybeValue
from .places import AttributeVariable
from .records import dynamic_list, parts_of
from .running import assign, frames, named_variables, variables
from .structure import MaybeObject
from .undefined import Undefined

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))

if TYPE_CHECKING:
    from .tracer import Tracer


def gained_key(tracer: Tracer, cell: Cell, before: Any, after: Any) -> tuple[Any, Any] | None:
    """The dict that has an entry on one path only, with the key; None if the cell is none of such a dict."""
    if not isinstance(cell, EntryCell) or isinstance(before, Undefined) == isinstance(after, Undefined):
        return None
    known = tracer.partial.get(id(cell.target))
    if known is not None:
        return (known, cell.entry) if cell.target is known.has else None
    return (cell.target, cell.entry) if type(cell.target) is dict and id(cell.target) not in tracer.attributes else None


def reordered(tracer: Tracer, cell: Cell, orders: Sequence[tuple]) -> tuple[Any, list] | None:
    """The dict whose keys are in another order on each path, with all keys; None if the cell is none of such a dict.

    Raises:
        StructureError: it is of a class that keeps an order of its own.
    """
    if not isinstance(cell, OrderCell) or orders[0] == orders[1]:
        return None
    if type(cell.target) is dict:
        return cell.target, list(dict.fromkeys([*orders[0], *orders[1]]))
    if set(orders[0]) == set(orders[1]):
        raise StructureError(
            f"the order of the keys of a {type(cell.target).__name__} depends on a condition on tensors", location=user_location(),
            hint="give it its keys in the same order on all paths, or keep the order in a list",
        )  # fmt: skip
    return None


def grown(frame: Frame) -> list[Growth]:
    """The lists from before a branch or loop body that have become lists of dynamic length in it, each with that."""
    return [(items, staged) for items, staged in frame.promoted.values() if items in frame.containers]


def promote(tracer: Tracer, items: Any, later: Any, what: str = "") -> Any:
    """Makes a list one of dynamic length, `later` has entries of the kind that it gets; or a dict one that may get the keys `later`.

    The variables of all functions that are being traced, and the containers that are watched, hold the new list from then on (until
    the branch or loop body that is being traced ends, as with any change).

    Raises:
        StructureError: it has been made such a list before, and something still holds the old one; it is a default argument; its entries
            differ.
    """
    if isinstance(items, StagedDict):
        items.declare(later)
        return items
    name = what or next(iter(repr(k) for _, k, v in named_variables() if v is items), "a list")
    if any(v is items for f in tracer.functions.values() for v in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())):
        raise StructureError(
            f"{name}, which is a default argument, changes its length or its keys in a loop or branch that depends on a tensor",
            location=user_location(2), hint="keep it in a variable or an attribute, and pass it",
        )  # fmt: skip
    if id(items) in tracer.replaced:
        raise StructureError(
            f"{name} changes its length in a loop or branch that depends on a tensor, and something holds it that cannot be "
            "given the list of dynamic length",
            location=user_location(),
            hint="keep the list in a local variable, an attribute or a container of the function, or return a new list",
        )
    tracer.watch_locals()
    staged: DynamicList | StagedDict
    if isinstance(items, dict):
        staged = StagedDict(items, later.has if isinstance(later, StagedDict) else later)
    else:
        staged = dynamic_list(items, later, name)
        for part in parts_of(staged):
            tracer.aliases.replaces(part, items)
        tracer.sharing.same(items, staged)
        tracer.alternatives.became(items, staged)
        if tracer.entries.holds(items):
            tracer.entries.lent(staged)
    tracer.replaced[id(items)] = (items, staged)
    frame = tracer.frames[-1] if tracer.frames else None
    if frame is not None:
        frame.promoted[id(items)] = (items, staged)
    substitute(tracer, items, staged)
    return staged


def substitute(tracer: Tracer, items: Any, staged: DynamicList | StagedDict) -> None:
    """Gives a list's place in variables and containers to one of dynamic length, until the block that is traced ends.

    Raises:
        StructureError: one of them holds a view of a dict, which would go on showing the old one.
    """
    frame = tracer.frames[-1] if tracer.frames else None
    for container in list(tracer.containers):
        if isinstance(container, list):
            for i, value in enumerate(container):
                container[i] = substituted(value, items, staged)
        elif isinstance(container, (dict, OuterVariable)):
            for entry, value in list(container.items()):
                new = substituted(value, items, staged)
                if new is not value:
                    container[entry] = new
    for owner, variable, value in list(variables()):
        new = substituted(value, items, staged)
        if new is not value:
            if frame is not None:
                frame.renamed.append((owner, variable, value))
            assign(owner, variable, new)


def substituted(value: Any, old: Any, new: Any) -> Any:
    """The value with one object in the place of another, also in tuples."""

    def to(x: Any) -> Any:
        if type(x) in _VIEWS and any(held is old for held in gc.get_referents(x)):
            raise StructureError(
                f"a dict gets or loses keys in some runs only, while something holds a view of it ({type(x).__name__[5:]}())",
                location=user_location(), hint="ask the dict for them again behind that, or take a list of them before",
            )  # fmt: skip
        return new if x is old else x

    return _mapped(value, to)


def current(tracer: Tracer | None, value: Any) -> Any:
    """The value with lists of dynamic length in the place of those that have become such, also in tuples."""
    if tracer is None or not tracer.replaced:
        return value
    replaced = tracer.replaced
    return _mapped(value, lambda x: replaced.get(id(x), (None, x))[1] if isinstance(x, (list, dict)) else x)


def _mapped(value: Any, to: Callable[[Any], Any]) -> Any:
    """What a value becomes, or a tuple by what becomes of its items; the same tuple if nothing does."""
    new = to(value)
    if isinstance(new, MaybeAttribute):
        inner = _mapped(new.value, to)
        return new if inner is new.value else MaybeAttribute(inner, new.has)
    if isinstance(new, MaybeObject):
        inner = _mapped(new.value, to)
        return new if inner is new.value else MaybeObject(inner, new.token)
    if isinstance(new, MaybeValue):
        inner = _mapped(new._dy_value, to)
        return new if inner is new._dy_value else MaybeValue(inner, new._dy_is_none)
    if new is not value or type(value) is not tuple:
        return new
    parts = tuple(_mapped(v, to) for v in value)
    return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value


def take_back(frame: Frame) -> None:
    """Gives the variables their old lists at the end of a branch or loop body."""
    alive = {id(f) for f in frames()}
    for owner, variable, value in reversed(frame.renamed):
        if id(owner) in alive:
            assign(owner, variable, value)


def put_back(tracer: Tracer) -> None:
    """Gives the containers, and the variables outside of the functions, their lists of Python again, at the end of the trace: these
    are the objects that get the new contents."""
    if not tracer.replaced:
        return
    outside = [OuterVariable(*v) for f in tracer.functions.values() for v in read_outside(f)]
    holders = [c for c in (*tracer.containers, *outside) if isinstance(c, (list, dict, OuterVariable))]
    for items, staged in tracer.replaced.values():
        # those of classes come first: they say whether an attribute of an object hides them
        for container in sorted(holders, key=lambda c: not isinstance(c, OuterVariable)):
            for entry, value in list(enumerate(container) if isinstance(container, list) else container.items()):
                new = substituted(value, staged, items)
                if new is items and isinstance(container, dict) and _of_class(tracer, container, entry, items):
                    del container[entry]
                elif new is not value:
                    container[entry] = new


def _of_class(tracer: Tracer, attributes: dict, name: str, items: list) -> bool:
    """Whether an attribute hides one of the class, which is the list that has grown."""
    return not tracer.root.had(attributes, name) and any(
        isinstance(c, AttributeVariable) and c.name == name and c.get(name) is items for c in tracer.containers
    )
