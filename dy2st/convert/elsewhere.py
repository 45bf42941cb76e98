"""`x.__class__ = c`, `x.__dict__ = d`, `c.__bases__ = b`: what an object has elsewhere than among its attributes, which nobody watches."""

from __future__ import annotations

from typing import Any

from ..errors import StagedValueError
from ..tensor.location import user_location
from .tracer import current_tracer

NAMES = {"__class__": "class", "__dict__": "dict", "__bases__": "bases"}
_HINTS = {
    "__class__": "make an object of the other class, or keep what differs in an attribute",
    "__dict__": "change the attributes themselves, or the dict in place",
    "__bases__": "make a class with these bases",
}


class Elsewhere:
    """An object whose statement assigns one of these."""

    __slots__ = ("owner",)
    owner: Any

    def __init__(self, owner: Any):
        object.__setattr__(self, "owner", owner)

    def __setattr__(self, name: str, value: Any) -> None:
        require_made(self.owner, name)
        setattr(self.owner, name, value)


def require_made(owner: Any, name: str) -> None:
    """StagedValueError if an object that the call has not made is given another one of these: it would be once, while tracing."""
    tracer = current_tracer()
    if tracer is not None and id(owner) not in tracer.made:
        raise StagedValueError(
            f"the {NAMES[name]} of {_named(owner)} would be exchanged once, while tracing, and not by each call",
            location=user_location(), hint=_HINTS[name],
        )  # fmt: skip


def _named(owner: Any) -> str:
    return f"class {owner.__name__}" if isinstance(owner, type) else f"an object of class {type(owner).__name__}"
