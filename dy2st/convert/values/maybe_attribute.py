"""`MaybeAttribute`: what stands in an object for an attribute that it has in some runs only."""

from __future__ import annotations

from typing import Any

from ..pyfacts.undefined import NoAttribute, Unread


def is_absent(value: object) -> bool:
    """Whether the state says that something is not there."""
    return isinstance(value, NoAttribute)


class MaybeAttribute:
    """The value of an attribute, and in which runs the object has it: `has` is a bool that only the run knows.

    Where it has not, what is in `value` may be absent.
    """

    __slots__ = ("has", "value")

    def __init__(self, value: Any, has: Any):
        self.value, self.has = value, has


def attribute(value: Any, has: Any) -> Any:
    """What stands for an attribute of which it is known, or not known yet, whether the object has it."""
    if has is False:
        return NoAttribute("an attribute")
    return value if has is True else MaybeAttribute(value, has)


def halves(value: Any) -> tuple[Any, Any]:
    """The value of an attribute, and whether the object has it."""
    if isinstance(value, MaybeAttribute):
        return value.value, value.has
    return (Unread(value.name), False) if isinstance(value, NoAttribute) else (value, True)
