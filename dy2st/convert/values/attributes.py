"""Attributes: where objects keep them, and what reads those that an object has in some runs only.

A branch or a loop carries the place in which an object keeps an attribute: the entry of its `__dict__`, or its slot. What properties,
descriptors and `__setattr__` do is the user's code, which runs where the user's program says so and nowhere else.

An attribute that one path sets or deletes is a `MaybeAttribute` there afterwards. While there is one, its class has a method that
Python asks for each attribute (`special.SpecialMethods.ask`): reading it is a branch, in which Python looks for
it in an object that has it, or in one that has not: in the class, by `__getattr__`, or in vain.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import StagedValueError, StructureError
from ...tensor import Tensor
from ...tensor.location import user_location
from ...tensor.promotion import no_number
from ...transpiler import is_generated
from .. import hub, roles
from ..hub import current_tracer, need_tracer
from ..pyfacts.attribute_lookup import _SLOTS, MISSING, defined, dict_of, held, may_change_class
from ..pyfacts.foreign import LAYER_STORES, is_foreign_class, is_layer
from ..pyfacts.safe_repr import named
from ..pyfacts.tensor_attributes import OF_TENSORS
from ..pyfacts.undefined import NoAttribute, Undefined, Unread, moving
from .maybe_attribute import MaybeAttribute
from .maybe_value import MaybeValue
from .one_of import OneOf
from .staged_dict import StagedDict

ROLE = roles.ACTING

# whose attributes nobody assigns; they lead to what may change
_READ_ONLY = (functools.partial, types.MethodType, types.BuiltinMethodType, types.MappingProxyType)
class Stored:
    """An object as the place of its attributes and items: reading and writing them runs no code of its class."""

    __slots__ = ("_dy_owner",)

    def __init__(self, owner: Any):
        object.__setattr__(self, "_dy_owner", _there(owner))

    def __getattribute__(self, name: str) -> Any:
        owner = object.__getattribute__(self, "_dy_owner")
        if name == "_dy_owner":
            return owner
        if isinstance(owner, Undefined):
            return NoAttribute(name)
        if not _keeps(owner, name):
            return getattr(owner, name) if _place(owner, name) is None else NoAttribute(name)
        found = held(owner, name)
        return NoAttribute(name) if found is MISSING else found

    def __setattr__(self, name: str, value: Any) -> None:
        owner = self._dy_owner
        if isinstance(owner, Undefined):
            return
        if isinstance(owner, type) and name[:2] == name[-2:] == "__" and type(value) is OneOf:
            raise StagedValueError(
                f"which {name}() class {owner.__name__} has is only known when the program runs", location=user_location(2),
                hint="make a class of each kind, or let the method decide what it does",
            )  # fmt: skip
        if name == "__class__" and not issubclass(type(value), type):
            raise StagedValueError(
                f"of which class an object is, here {type(owner).__name__} on one path, is only known when the program runs",
                location=user_location(2), hint="make an object of each class, or keep what differs in an attribute",
            )  # fmt: skip
        if name == "__dict__" and value is dict_of(owner):
            return
        if not _keeps(owner, name):
            # a view of an array is made at each reading; what is written to it is in the array
            is_view = isinstance(owner, np.ndarray) and isinstance(value, np.ndarray)
            if _place(owner, name) is None and not isinstance(owner, _READ_ONLY) and not isinstance(value, Undefined) and not is_view:
                setattr(owner, name, value)
        elif not isinstance(value, Undefined):
            put(owner, name, value)
        elif held(owner, name) is not MISSING:
            remove(owner, name)

    def __getitem__(self, key: Any) -> Any:
        owner = self._dy_owner
        if isinstance(owner, Undefined) or _computes_items(owner):
            return Unread(named(key))
        if isinstance(owner, StagedDict):  # whether it has the key is asked where the user's code does
            owner = owner.values_of
        if isinstance(owner, dict):  # without `__missing__`
            return dict.get(owner, key, Unread(named(key)))
        try:
            return owner[key]
        except IndexError:
            return Unread(named(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        owner = self._dy_owner
        if isinstance(owner, (Undefined, tuple)) or _computes_items(owner):
            return
        if not isinstance(value, Undefined):
            # whether such a dict has the key is told beside its values
            is_known = isinstance(owner, StagedDict) and key in owner.has
            (owner.values_of if is_known else owner)[key] = value
        elif isinstance(owner, dict):
            dict.pop(owner, key, None)


def _there(owner: Any) -> Any:
    """The object in what stands for one in some runs only. What is one of several has no place of its own: each of these has."""
    if isinstance(owner, MaybeAttribute):
        owner = owner.value
    owner = owner._dy_value if isinstance(owner, MaybeValue) else owner
    return NoAttribute("") if isinstance(owner, OneOf) else owner


def stored(owner: Any) -> Stored:
    """An object as the place of its attributes and items, in which a branch or a loop finds and leaves them."""
    return Stored(owner)


def reached(owner: Any, name: str) -> Any:
    """An attribute on the way to such a place, if there is one that no code of a class computes."""
    owner = _there(owner)
    place = None if isinstance(owner, Undefined) else _place(owner, name)
    if place is None:
        return NoAttribute(name) if isinstance(owner, Undefined) else getattr(owner, name)
    found = held(owner, name) if place == "own" else MISSING
    if found is MISSING:
        found = defined(owner if isinstance(owner, type) else type(owner), name)
        if hasattr(type(found), "__get__"):
            return NoAttribute(name)
    return NoAttribute(name) if found is MISSING else found


def _computes_items(owner: Any) -> bool:
    """Whether code of a user's class finds the items of an object, or keeps them."""
    cls = type(owner)
    if cls in (list, dict, tuple):
        return False
    homes = [next((c for c in cls.__mro__ if name in vars(c)), cls) for name in ("__getitem__", "__setitem__")]
    return any(isinstance(vars(c).get(n), types.FunctionType) and not is_foreign_class(c)
               for c, n in zip(homes, ("__getitem__", "__setitem__"), strict=True))  # fmt: skip


def _place(owner: Any, name: str) -> str | None:
    """Where an object of a user's class keeps an attribute: "own", or "computed" if code of the class does.

    None: it is left to Python. So it is for what stands for several objects or for none, for objects of libraries,
    and for what a layer keeps elsewhere.
    """
    cls = type(owner)
    if isinstance(owner, (type, types.ModuleType, types.FunctionType)):
        return "own"
    layer = is_layer(owner)
    foreign = hub.is_ignored(cls) and not layer
    found, attributes = defined(cls, name), dict_of(owner)
    if hasattr(type(found), "__set__") or hasattr(type(found), "__delete__"):
        if foreign or isinstance(found, types.GetSetDescriptorType):  # of a class that is written in C, as the `args` of exceptions
            return None
        return "own" if isinstance(found, types.MemberDescriptorType) else "computed"
    if attributes is None or (foreign and not isinstance(owner, Tensor) and isinstance(defined(cls, "__setattr__"), types.FunctionType)):
        return None  # that of tensors is only `setting`
    if layer and name not in attributes and any(name in attributes.get(s, ()) for s in LAYER_STORES):
        return None
    return "own"


def _keeps(owner: Any, name: str) -> bool:
    return _place(owner, name) == "own"


def put(owner: Any, name: str, value: Any) -> None:
    """Lets an object keep a value."""
    if isinstance(value, MaybeAttribute):
        require_asked(owner, name)
    if name == "__cause__" and isinstance(value, OneOf):
        value._dy_fail("what an exception is raised from")
    _note_change(owner, name)
    attributes = dict_of(owner)
    if isinstance(owner, type):
        type.__setattr__(owner, name, value)
    elif attributes is not None and not isinstance(defined(type(owner), name), _SLOTS):
        if is_layer(owner) and name not in attributes and not isinstance(value, MaybeAttribute):
            setattr(owner, name, value)  # a parameter or a layer has its place elsewhere
        else:
            attributes[name] = value
    else:
        object.__setattr__(owner, name, value)


def remove(owner: Any, name: str) -> None:
    """Takes away what an object keeps."""
    _note_change(owner, name)
    if isinstance(owner, type):
        type.__delattr__(owner, name)
    elif isinstance(slot := defined(type(owner), name), types.MemberDescriptorType):
        slot.__delete__(owner)
    else:
        attributes = dict_of(owner)
        assert attributes is not None
        del attributes[name]


def _note_change(owner: Any, name: str) -> None:
    """An object is given an attribute, or loses one: those of tensors are not watched before."""
    if isinstance(owner, Tensor) and (tracer := current_tracer()) is not None:
        tracer.about_to_change(owner, name)


# ---- attributes that are there in some runs ----
def require_asked(owner: Any, name: str) -> None:
    """Lets Python ask for each attribute of an object, as only the run knows whether it has one.

    Raises:
        StructureError: it is an object of a class that cannot change.
    """
    cls = type(owner)
    if not may_change_class(cls):
        what = f"class {owner.__name__!r}" if isinstance(owner, type) else f"a {cls.__name__}"
        raise StructureError(
            f"{what} gets or loses the attribute {name!r} under a condition on tensors, so that only the run knows whether it has it",
            location=user_location(), hint="give it the attribute on all paths, with None say, or use an object of a class of your own",
        )  # fmt: skip
    tracer = need_tracer("an attribute")
    tracer.watch(owner)
    tracer.uncertain_attributes.setdefault((id(owner), name), owner)
    tracer.special.ask(cls)


def maybe_there(owner: Any, name: str) -> MaybeAttribute | None:
    """The attribute of this name, if the object has it in some runs only."""
    found = held(owner, name)
    return found if type(found) is MaybeAttribute else None


def looked_up(owner: Any, name: str, found: MaybeAttribute, look: Callable[[], Any]) -> Any:
    """What `look` gives for an object that may have the attribute: where it has it, and where it has not."""

    def there() -> Any:
        put(owner, name, need_tracer("an attribute").defined(found.value, name))
        return look()

    def missing() -> Any:
        remove(owner, name)
        return look()

    return hub.if_expr(found.has, there, missing, f"attribute {name!r}")


def _require_there(owner: Any, name: str, found: MaybeAttribute, look: Callable[[], Any]) -> None:
    """The object has the attribute from here on: in the other runs it is raised what `look` raises without it."""
    remove(owner, name)
    try:
        look()
    except AttributeError as error:
        hub.raise_where(hub.not_(found.has), AttributeError(*error.args))
    put(owner, name, need_tracer("an attribute").defined(found.value, name))


def _is_only_there(owner: Any, name: str) -> bool:
    """Whether Python finds an attribute nowhere else."""
    cls = type(owner)
    nowhere = defined(cls, name) is MISSING or isinstance(defined(cls, name), types.MemberDescriptorType)
    return nowhere and ("sublayers" in dir(cls) or defined(cls, "__getattr__") is MISSING)


def reading(raw: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """`__getattribute__` of a class with an object that has an attribute in some runs only."""

    def __getattribute__(self: Any, name: str) -> Any:
        if not moving.state and current_tracer() is not None:
            if name == "__dict__":
                _require_known(self)
            elif not name.startswith("__") and (found := maybe_there(self, name)) is not None:
                if not _is_only_there(self, name):
                    return looked_up(self, name, found, lambda: getattr(self, name))
                _require_there(self, name, found, lambda: raw(self, name))
        return raw(self, name)

    return __getattribute__


def deleting(raw: Callable[[Any, str], None]) -> Callable[[Any, str], None]:
    """`__delattr__` of such a class, and of tensors."""

    def __delattr__(self: Any, name: str) -> None:
        if not moving.state and current_tracer() is not None:
            _note_change(self, name)
            if (found := maybe_there(self, name)) is not None:
                _require_there(self, name, found, lambda: raw(self, name))
        raw(self, name)

    return __delattr__


# what Python says, since 3.13, where an attribute is set that a value without others does not have
_AND_NO_DICT = " and no __dict__ for setting new attributes" if sys.version_info >= (3, 13) else ""


def setting(raw: Callable[[Any, str, Any], None]) -> Callable[[Any, str, Any], None]:
    """`__setattr__` of tensors while code is traced that may give them attributes."""

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if name not in OF_TENSORS:
            if self._weak and type(self) is Tensor:
                no_number(self, f"'{{}}' object has no attribute {name!r}{_AND_NO_DICT}", AttributeError)
            _note_change(self, name)
        raw(self, name, value)

    return __setattr__


def _require_known(owner: Any) -> None:
    """StagedValueError if the user's code wants all attributes of an object, and has some of them only in some runs."""
    attributes = dict_of(owner) or {}
    names = [name for name, value in attributes.items() if type(value) is MaybeAttribute]
    if names and is_generated(sys._getframe(2).f_code):
        raise StagedValueError(
            f"which attributes a {type(owner).__name__} has is only known when the program runs: it has {names[0]!r} on some paths",
            location=user_location(2), hint="ask for the attribute itself (hasattr, getattr), or give it a value on all paths",
        )  # fmt: skip
