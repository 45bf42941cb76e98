"""Objects of Python other than lists, tuples, dicts and objects of the user's: how each call makes them anew, and what they keep; and
functions, which no call makes anew."""

from __future__ import annotations

import copy
import types
from argparse import Namespace
from array import array
from collections import ChainMap, OrderedDict, UserDict, UserList, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from io import BytesIO, StringIO
from typing import Any

import numpy as np

from ..convert.calls.calls import is_ignored
from ..convert.pyfacts.conversions import has_attributes
from ..convert.pyfacts.undefined import NoAttribute
from ..convert.values.containers import LEAVES, WITH_ATTRIBUTES, held_by, is_container
from ..convert.values.dynamic_list import DynamicList
from ..convert.values.holders import parts_of
from ..convert.values.one_of import OneOf
from ..convert.values.staged_dict import StagedDict
from ..convert.values.trees import split
from ..errors import StructureError, of_results
from ..tensor import Tensor
from ..tensor.location import user_location

# of these a copy is another one with the same values, which are no tensors
_COPIED = (set, bytearray, array, np.ndarray, StringIO, BytesIO)
_OF_ATTRIBUTES = (types.SimpleNamespace, Namespace, ChainMap, UserDict, UserList)


class Shell:
    """The kind of node that such an object is in a recipe. The keys: one like it, with nothing in it, the names of its attributes, and the
    keys of its items if it is a dict."""


def decomposed(value: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """The keys and the children of the node for a value; None if it is of no such class."""
    if isinstance(value, _COPIED):
        return (value, (), None), []
    slots = _slots(value)
    if not isinstance(value, (list, dict, *_OF_ATTRIBUTES)) and not slots:
        return None
    own = getattr(value, "__dict__", {})
    attributes = {**({} if own is value else own), **slots}
    keys = tuple(value) if isinstance(value, dict) else None
    items = list(dict.values(value)) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    return (_emptied(value), tuple(attributes), keys), [*attributes.values(), *items]


def put_together(keys: Sequence[Any], children: Sequence[Any]) -> Any:
    """The object of a node with these keys and children."""
    shell, names, items = keys
    if isinstance(shell, _COPIED):
        return copy.deepcopy(shell) if isinstance(shell, (StringIO, BytesIO)) else copy.copy(shell)
    new = _emptied(shell)
    for name, value in zip(names, children, strict=False):
        if isinstance(new, BaseException) and getattr(new, name, None) is value:
            continue  # None is not the same as nothing in all slots: an OSError shows it
        if not isinstance(value, NoAttribute):
            object.__setattr__(new, name, value)
    rest = children[len(names) :]
    if items is not None:
        store = OrderedDict.__setitem__ if isinstance(new, OrderedDict) else dict.__setitem__
        for key, value in zip(items, rest, strict=True):
            store(new, key, value)
    elif isinstance(new, list):
        list.extend(new, rest)
    return new


def _emptied(value: Any) -> Any:
    """One of its class with nothing in it. What the user's own `__new__` and `__init__` do, which may be anything, they have done."""
    base: Any = next(c for c in type(value).__mro__ if c.__module__ in ("builtins", "collections", "types"))
    new = base.__new__(type(value))
    if getattr(value, "__dict__", None) is value:  # a dict whose attributes are its items
        object.__setattr__(new, "__dict__", new)
    if isinstance(value, defaultdict):
        new.default_factory = value.default_factory
    return new


def _slots(value: Any) -> dict[str, Any]:
    """What is in the slots of an object of the user's, or of an exception, as it is kept there."""
    is_exception = isinstance(value, BaseException)
    found: dict[str, Any] = _beside_attributes(value) if is_exception else {}
    for c in () if is_ignored(type(value)) and not is_exception else type(value).__mro__:
        for name, slot in vars(c).items():
            if is_exception and name in _OF_EXCEPTIONS:
                continue
            if isinstance(slot, types.MemberDescriptorType):
                try:
                    found[name] = slot.__get__(value)
                except AttributeError:  # there is nothing in it
                    continue
    return found


_OF_EXCEPTIONS = ("__suppress_context__", "obj")
"""Slots of exceptions that are for who shows the error: the object that lacks an attribute may be anything of the trace."""


def _beside_attributes(error: BaseException) -> dict[str, Any]:
    """What an exception holds that is neither an attribute nor in a slot."""
    cause = error.__cause__
    return {"args": error.args} if cause is None else {"args": error.args, "__cause__": cause}


def kept_by(value: Any, outside: Container[Any], slots: Container[tuple], made: Callable[[type], bool]) -> Iterator[Any]:
    """What an object of Python keeps, at any depth: tensors and plain values. Into containers of the outside, and `slots` of objects of the
    outside, nobody looks, and of classes only into those that are `made` by the call."""
    left, seen = [value], {id(value): value}
    while left:
        x = left.pop()
        parts = _parts(x, x is value, outside, slots, made)
        if parts is None:
            yield x
        for part in parts or ():
            if id(part) not in seen:
                seen[id(part)] = part
                left.append(part)


def _parts(x: Any, is_root: bool, outside: Container[Any], slots: Container[tuple], made: Callable[[type], bool]) -> list[Any] | None:
    """What an object holds; None for a leaf."""
    if isinstance(x, type) and made(x):
        return [*vars(x).values(), *x.__bases__]
    if type(x) in LEAVES or isinstance(x, (Tensor, DynamicList, StagedDict, str, type, types.ModuleType, types.CodeType, int)):
        return None
    parts: list[Any] = []
    if is_container(x):
        parts += held_by(x) if x not in outside else ()
    elif (held := parts_of(x)) is not None:
        parts += [*held, x._dy_index] if isinstance(x, OneOf) else held
    elif not is_root and is_ignored(type(x)) and not isinstance(x, WITH_ATTRIBUTES):
        return [*(split(x)[1] or ())]  # what stands for a value that is there in some runs
    own = getattr(x, "__dict__", None)
    if isinstance(own, dict) and own not in outside:
        parts += own.values()
    return [*parts, type(x), *(v for name, v in _slots(x).items() if (id(x), name) not in slots)]


class Untouched:
    """A function as a trace has made it: as long as it is that, it does not tell that calls do not make it anew."""

    def __init__(self, function: types.FunctionType):
        self.function, self._defaults, self._keywords = function, function.__defaults__, dict(function.__kwdefaults__ or {})

    def require(self, name: str) -> None:
        """StructureError if it has got attributes or other default arguments since the static function of this name has left it behind."""
        f = self.function
        keywords = f.__kwdefaults__ or {}
        same = keywords.keys() == self._keywords.keys() and all(keywords[name] is value for name, value in self._keywords.items())
        if has_attributes(f.__dict__) or f.__defaults__ is not self._defaults or not same:
            raise of_results(StructureError(
                f"the function {f.__name__!r}, which {name!r} makes and leaves behind, has got attributes or other default arguments "
                "since, and would be the same object at each call", location=user_location(), hint="make it outside of the static function",
            ))  # fmt: skip
