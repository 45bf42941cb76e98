"""What objects and classes keep under a name, looked up without running code of theirs."""

from __future__ import annotations

import threading
import types
from typing import Any

from .foreign import HEAP_TYPE


class _Missing:
    """What stands for no value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "not there"


MISSING: Any = _Missing()


# where objects keep what is not in their `__dict__`: slots, and what classes written in C compute, as the `args` of exceptions
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


_IMMUTABLE_TYPE = 1 << 8


def defined(cls: type, name: str) -> Any:
    """What a class or one of its bases has under a name, as it stands there, or `MISSING`."""
    for c in cls.__mro__:
        if name in c.__dict__:
            return c.__dict__[name]
    return MISSING


# those of the running thread
_local = threading.local.__getattribute__


def dict_of(owner: Any) -> dict | None:
    """The attributes of an object, without running code of its class."""
    try:
        found = (_local if isinstance(owner, threading.local) else object.__getattribute__)(owner, "__dict__")
    except AttributeError:
        return None
    return found if isinstance(found, dict) else None


# ---- what an object itself keeps ----
def may_change_class(cls: type) -> bool:
    """Whether an object of a class can become one of another, by `x.__class__ = other`."""
    return bool(cls.__flags__ & HEAP_TYPE) and not cls.__flags__ & _IMMUTABLE_TYPE


def is_slot(found: Any) -> bool:
    """Whether what a class has is a slot, or what a class that is written in C keeps elsewhere (the `args` of an exception)."""
    return isinstance(found, _SLOTS) and found.__name__ not in ("__dict__", "__class__", "__weakref__")


def held(owner: Any, name: str) -> Any:
    """What an object keeps under a name, or `MISSING`."""
    if isinstance(owner, type):
        return vars(owner).get(name, MISSING)
    slot = defined(type(owner), name)
    if isinstance(slot, _SLOTS):
        try:
            return slot.__get__(owner)
        except AttributeError:
            return MISSING
    return (dict_of(owner) or {}).get(name, MISSING)
