"""`x.__class__ = c`, `x.__dict__ = d`, `c.__bases__ = b`, `f.__closure__[0].cell_contents = v`: what an object has elsewhere than among
its attributes, which nobody watches."""

from __future__ import annotations

import types
from typing import Any

from ...errors import StagedValueError
from ...tensor.location import user_location
from ..hub import current_tracer
from ..values.one_of import OneOf

NAMES = {"__class__": "class", "__dict__": "dict", "__bases__": "bases", "cell_contents": "contents"}
_HINTS = {
    "__class__": "make an object of the other class, or keep what differs in an attribute",
    "__dict__": "change the attributes themselves, or the dict in place",
    "__bases__": "make a class with these bases",
    "cell_contents": "let a function set the variable that it declares as nonlocal",
}


class StructuralState:
    """The object of a statement that assigns its class, its dict, its bases or the value of a cell."""

    __slots__ = ("owner",)
    owner: Any

    def __init__(self, owner: Any):
        object.__setattr__(self, "owner", owner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.owner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        exchange(self.owner, name, value)


def exchange(owner: Any, name: str, value: Any) -> None:
    """`setattr`, for one of these.

    Raises:
        StagedValueError: the call has not made the object: it would get another one once, while tracing.
    """
    if getattr(owner, name, None) is value:  # as `x.__dict__[key] = v` sets the dict again
        return
    tracer = current_tracer()
    is_one = not isinstance(owner, OneOf) and (name != "cell_contents" or isinstance(owner, types.CellType))
    if tracer is not None and is_one and id(owner) not in tracer.created:
        raise StagedValueError(
            f"the {NAMES[name]} of {_named(owner)} would be exchanged once, while tracing, and not by each call",
            location=user_location(), hint=_HINTS[name],
        )  # fmt: skip
    setattr(owner, name, value)


def _named(owner: Any) -> str:
    return f"class {owner.__name__}" if isinstance(owner, type) else f"an object of class {type(owner).__name__}"
