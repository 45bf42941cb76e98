"""Lists that become lists of dynamic length while a function is traced, and dicts that have some keys only in some runs: under all their
names, and in all that holds them."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from ...errors import StructureError
from ...tensor.location import user_location
from .. import hub, roles
from ..effects.cells import Cell, EntryCell, OrderCell, OuterVariable, defaults_of, read_outside
from ..effects.region_frames import Frame, Growth
from ..guards.places import AttributeVariable
from ..pyfacts.python_frames import assign, frames, named_variables, variables
from ..pyfacts.undefined import Undefined
from ..values.dynamic_list import DynamicList, is_in_place
from ..values.holders import globals_in, is_replaced_on_change, mapped, places_in
from ..values.holders import parts_of as held_in
from ..values.record_list import dynamic_list, parts_of
from ..values.staged_dict import CLASSES, StagedDict

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))

if TYPE_CHECKING:
    from ...tensor import Tensor
    from ..trace.tracer import Tracer

ROLE = roles.BOOKKEEPING


def gained_key(tracer: Tracer, cell: Cell, before: Any, after: Any) -> tuple[Any, Any] | None:
    """The dict that has an entry on one path only, with the key; None if the cell is none of such a dict."""
    if not isinstance(cell, EntryCell) or isinstance(before, Undefined) == isinstance(after, Undefined):
        return None
    known = tracer.partial.get(id(cell.target))
    if known is not None:
        return (known, cell.entry) if cell.target is known.has else None
    return (cell.target, cell.entry) if type(cell.target) in CLASSES and id(cell.target) not in tracer.attributes else None


def reordered(tracer: Tracer, cell: Cell, orders: Sequence[tuple]) -> tuple[Any, list] | None:
    """The dict whose keys are in another order on each path, with all keys; None if the cell is none of such a dict.

    Raises:
        StructureError: it is of a class that keeps an order of its own.
    """
    if not isinstance(cell, OrderCell) or orders[0] == orders[1]:
        return None
    if type(cell.target) in CLASSES:
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


@hub.primitive
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
    outside = [f for f in tracer.functions.values() if not tracer.is_inner(f)]
    if any(v is items for f in outside for v in defaults_of(f)):
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
    tracer.know_outside(items)
    staged: DynamicList | StagedDict
    if isinstance(items, dict):
        staged = StagedDict(items, later.has if isinstance(later, StagedDict) else later)
    else:
        try:
            staged = dynamic_list(items, later, name)
        except StructureError as error:  # the block has ended, at whose header the user's code is
            _, last, place = tracer.grew.get(id(items), (None, None, None))
            if place is not None and type(later) is list and later and later[-1] is last:
                error.location = place
            raise
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


def repeated(tracer: Tracer, items: list, times: Tensor, frame: FrameType) -> Any:
    """`items * times`, which code of this frame says, where only the run knows how often."""
    in_place = is_in_place(frame)
    if not items:
        return items if in_place else []
    if in_place:
        return promote(tracer, items, []).__imul__(times)
    return dynamic_list(items, [], "a list that is repeated") * times


def substitute(tracer: Tracer, items: Any, staged: DynamicList | StagedDict) -> None:
    """Gives a list's place in all that holds it to one of dynamic length, until the block that is traced ends.

    Raises:
        StructureError: something cannot be given it, and would go on showing the old one.
    """
    frame, holders = tracer.frames[-1] if tracer.frames else None, tracer.watch_holders()
    # what was made in the block goes on as it is: where a function that holds it outlives the block, the old one would be wrong
    is_new = frame is not None and items not in frame.containers

    def now(value: Any) -> Any:
        return mapped(value, lambda x: staged if x is items else x, tracer.methods)

    for container in list(tracer.containers):
        if isinstance(container, (list, deque)):
            found: list[tuple[Any, Any]] = list(enumerate(container))
        else:
            found = list(container.items()) if isinstance(container, (dict, OuterVariable)) else []
        for entry, value in found:
            new = now(value)
            if new is not value:
                tracer.know_outside(container)
                container[entry] = new
    for owner, variable, value in list(variables()):
        new = now(value)
        if new is not value:
            if frame is not None and not is_new:
                frame.renamed.append((owner, variable, value))
            assign(owner, variable, new)
    for holder in holders:
        given = frame.given if frame is not None else tracer.given_outside
        for places, is_kept in ((places_in(holder), frame is not None or tracer.was_before(holder)), (globals_in(holder), True)):
            for value, put in places:
                new = now(value)
                if new is not value:
                    put(new)
                    given += [partial(put, value)] if is_kept and not is_new else []
        if not is_replaced_on_change(holder):
            _require_replaceable(holder, items, staged)


def _require_replaceable(holder: Any, items: Any, staged: DynamicList | StagedDict) -> None:
    """StructureError if what cannot be given another object holds this one."""
    if all(substituted(part, items, staged) is part for part in held_in(holder) or ()):
        return
    if isinstance(holder, _VIEWS):
        raise StructureError(
            f"a dict gets or loses keys in some runs only, while something holds a view of it ({type(holder).__name__[5:]}())",
            location=user_location(), hint="ask the dict for them again behind that, or take a list of them before",
        )  # fmt: skip
    what = "a dict gets or loses keys" if isinstance(staged, StagedDict) else "a list changes its length"
    name = f"the generator {holder.__name__!r}" if isinstance(holder, types.GeneratorType) else f"a {type(holder).__name__}"
    raise StructureError(
        f"{what} in a loop or branch that depends on a tensor, while {name} holds it, which goes on showing the old one",
        location=user_location(), hint="make it again behind that; or give it what holds the list: a dict, or an object with an attribute",
    )  # fmt: skip


def substituted(value: Any, old: Any, new: Any) -> Any:
    """The value with one object in the place of another, also in tuples."""
    return mapped(value, lambda x: new if x is old else x)


def current(tracer: Tracer | None, value: Any) -> Any:
    """The value with lists of dynamic length in the place of those that have become such, also in tuples."""
    if tracer is None or not tracer.replaced:
        return value
    replaced = tracer.replaced
    return mapped(value, lambda x: replaced.get(id(x), (None, x))[1] if isinstance(x, (list, dict)) else x)


def take_back(frame: Frame) -> None:
    """Gives the variables, and all else but containers, their old lists at the end of a branch or loop body."""
    alive = {id(f) for f in frames()}
    for owner, variable, value in reversed(frame.renamed):
        if id(owner) in alive:
            assign(owner, variable, value)
    for put in reversed(frame.given):
        put()


def put_back(tracer: Tracer) -> None:
    """Gives the containers, and the variables outside of the functions, their lists of Python again, at the end of the trace: these
    are the objects that get the new contents."""
    while tracer.given_outside:
        tracer.given_outside.pop()()
    if not tracer.replaced:
        return
    outside = [OuterVariable(*v) for f in tracer.functions.values() for v in read_outside(f)]
    holders = [c for c in (*tracer.containers, *outside) if isinstance(c, (list, deque, dict, OuterVariable))]
    for items, staged in tracer.replaced.values():
        # those of classes come first: they say whether an attribute of an object hides them
        for container in sorted(holders, key=lambda c: not isinstance(c, OuterVariable)):
            for entry, value in list(enumerate(container) if isinstance(container, (list, deque)) else container.items()):
                new = mapped(value, partial(_as_before, tracer, items, staged))
                if new is items and isinstance(container, dict) and _of_class(tracer, container, entry, items):
                    del container[entry]
                elif new is not value:
                    container[entry] = new


def _as_before(tracer: Tracer, items: Any, staged: Any, x: Any) -> Any:
    return items if x is staged else tracer.methods.get(id(x), (None, x))[1]


def _of_class(tracer: Tracer, attributes: dict, name: str, items: list) -> bool:
    """Whether an attribute hides one of the class, which is the list that has grown."""
    return not tracer.root.had(attributes, name) and any(
        isinstance(c, AttributeVariable) and c.name == name and c.get(name) is items for c in tracer.containers
    )
