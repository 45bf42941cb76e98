"""Lists that become lists of dynamic length while a function is traced: under all their names, and in all that holds them."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..errors import StructureError
from ..tensor.location import user_location
from ..transpiler import is_generated
from .cells import OuterVariable, read_outside
from .frames import Frame, Growth
from .lists import StagedList, element_type
from .reach import AttributeVariable

if TYPE_CHECKING:
    from .tracer import Tracer



def grown(frame: Frame) -> list[Growth]:
    """The lists from before a branch or loop body that have become lists of dynamic length in it, each with that."""
    return [(items, staged) for items, staged in frame.promoted.values() if items in frame.containers]


def promote(tracer: Tracer, items: list, later: list | StagedList, what: str = "") -> StagedList:
    """Makes a list one of dynamic length; `later` has entries of the kind that it gets.

    The variables of all functions that are being traced, and the containers that are watched, hold the new list from then on (until
    the branch or loop body that is being traced ends, as with any change).

    Raises:
        StructureError: it has been made such a list before, and something still holds the old one; its entries differ.
    """
    name = what or next(iter(repr(k) for _, k, v in variables() if v is items and not _is_ours(k)), "a list")
    if id(items) in tracer.replaced:
        raise StructureError(
            f"{name} changes its length in a loop or branch that depends on a tensor, and something holds it that cannot be "
            "given the list of dynamic length",
            location=user_location(),
            hint="keep the list in a local variable, an attribute or a container of the function, or return a new list",
        )
    tracer.watch_locals()
    if isinstance(later, StagedList):
        staged = StagedList.of(items, later.dtype, later.element_shape)
    else:
        entry = element_type([*items, *later], name)
        staged = StagedList.of(items, entry.dtype, entry.shape)
    tracer.replaced[id(items)] = (items, staged)
    frame = tracer.frames[-1] if tracer.frames else None
    if frame is not None:
        frame.promoted[id(items)] = (items, staged)
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
            _assign(owner, variable, new)
    return staged


def substituted(value: Any, old: Any, new: Any) -> Any:
    """The value with one object in the place of another, also in tuples."""
    if value is old:
        return new
    if type(value) is not tuple:
        return value
    parts = tuple(substituted(v, old, new) for v in value)
    return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value


def current(tracer: Tracer | None, value: Any) -> Any:
    """The value with lists of dynamic length in the place of those that have become such, also in tuples."""
    if tracer is None or not tracer.replaced:
        return value
    if isinstance(value, list):
        return tracer.replaced.get(id(value), (None, value))[1]
    if type(value) is not tuple:
        return value
    parts = tuple(current(tracer, v) for v in value)
    return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value


def take_back(frame: Frame) -> None:
    """Gives the variables their old lists at the end of a branch or loop body."""
    alive = {id(f) for f in _frames()}
    for owner, variable, value in reversed(frame.renamed):
        if id(owner) in alive:
            _assign(owner, variable, value)


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


def _frames() -> Iterator[FrameType]:
    """The frames of the functions that are being traced."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_generated(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def variables() -> Iterator[tuple[FrameType, str, Any]]:
    """The variables of the functions that are being traced, with their frames and names."""
    for frame in _frames():
        for name, value in list(frame.f_locals.items()):
            yield frame, name, value


def _is_ours(name: str) -> bool:
    """Whether a name is one of the transpiler's own."""
    return name.rstrip("0123456789").endswith("_")


def _assign(frame: FrameType, name: str, value: Any) -> None:
    """Assigns to a variable of a function that is running."""
    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
