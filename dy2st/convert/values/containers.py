"""The kinds of containers whose contents code can change in place: how these are copied, compared and put back.

Subclasses count: a `defaultdict`, a `Counter`, a user's own list. What a subclass does besides holding its contents is left alone,
as all that is done here goes by the methods of the built-in class.
"""

from __future__ import annotations

import enum
import io
import operator
import queue
import types
from array import array
from collections import ChainMap, OrderedDict, UserDict, UserList, deque
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

import numpy as np

from ...tensor import Parameter, Tensor
from .. import hub
from ..pyfacts.conversions import conversion_of, has_attributes
from ..pyfacts.foreign import BUILTINS_OF_NAMESPACES, is_layer
from .dynamic_list import DynamicList
from .holders import is_of_a_call, parts_of
from .maybe_attribute import MaybeAttribute
from .maybe_value import MaybeObject, MaybeValue
from .staged_dict import StagedDict

# the built-in classes themselves, of which nearly all containers are
BUILT_IN = frozenset({list, dict, OrderedDict, set})
# those that hold others, and have no attributes
_BARE = frozenset({list, dict, set, tuple})
_FILES = (io.StringIO, io.BytesIO)
_KINDS = (list, dict, deque, set, bytearray, array, np.ndarray, *_FILES)
# of these the guards compare all contents at once
COMPARED_AS_A_WHOLE = (set, bytearray, array, np.ndarray, *_FILES)
# of exactly these classes is what most variables and attributes hold: there are no containers in it, and no attributes that count
LEAVES = frozenset({Tensor, Parameter, bool, int, float, complex, str, bytes, type(None)})
# classes of Python's that keep what they hold in attributes, as users' classes do
OF_THE_LIBRARY = (UserDict, UserList, ChainMap, ExitStack, queue.Queue, WeakKeyDictionary, WeakValueDictionary, WeakSet)
# and those whose attributes users name
WITH_ATTRIBUTES = (*OF_THE_LIBRARY, types.SimpleNamespace)


_OF_FLAGS = {"_value_", "_name_", "__objclass__", "_sort_order_", "_inverted_"}


def is_container(x: Any) -> bool:
    """Whether a value has contents that can change in place."""
    return isinstance(x, _KINDS)


def held_by(container: Any) -> Iterable[Any]:
    """The values in a container, which may be containers themselves."""
    if type(container) in BUILT_IN and not container:  # as most dicts of layers are
        return ()
    if isinstance(container, dict):
        return list(dict.values(container))
    return entries_of(container) if isinstance(container, (list, deque, set)) else ()


def entries_of(container: Any) -> list[Any]:
    """The entries of a list, deque, set or tuple as it keeps them, whatever its class says."""
    kind = next(kind for kind in (list, deque, set, frozenset, tuple) if isinstance(container, kind))
    return list(kind.__iter__(container))


def copied(container: Any) -> Any:
    """The contents, as a plain container: a list for what is in order, a dict, a set, bytes or an array; text and place of a file."""
    if type(container) is dict:  # as nearly all are
        return container.copy()
    if isinstance(container, OrderedDict):
        return OrderedDict(OrderedDict.items(container))  # its own `copy` calls the class, which may want other arguments
    if isinstance(container, dict):
        return dict.copy(container)
    if isinstance(container, (list, deque)):
        return entries_of(container)
    if isinstance(container, set):
        return set(entries_of(container))
    if isinstance(container, bytearray):
        return bytes(container)
    if isinstance(container, array):
        return container[:]
    if isinstance(container, _FILES):
        return None if container.closed else (container.getvalue(), container.tell())
    return container.copy()


def put(container: Any, contents: Iterable[Any]) -> None:
    """Gives a container other than a dict its contents."""
    if isinstance(container, list):
        list.__setitem__(container, slice(None), list(contents))
    elif isinstance(container, deque):
        items = list(contents)
        if len(items) == len(container):  # in their places: a loop may be running over it
            for i, x in enumerate(items):
                deque.__setitem__(container, i, x)
        else:
            deque.clear(container)
            deque.extend(container, items)
    elif isinstance(container, set):
        set.clear(container)
        set.update(container, contents)
    elif isinstance(container, _FILES):
        _rewrite(container, contents)
    else:
        container[... if isinstance(container, np.ndarray) else slice(None)] = contents


def _rewrite(file: Any, contents: Any) -> None:
    text, place = contents
    file.seek(0)
    file.truncate()
    file.write(text)
    file.seek(place)


def differ(container: Any, contents: Any) -> bool:
    """Whether a container other than a dict has other contents than the copy: other objects, other members or other values."""
    if isinstance(container, np.ndarray):
        if container.dtype.hasobject:
            return not all(map(operator.is_, container.flat, contents.flat))
        return bool(container.tobytes() != contents.tobytes())  # NaN is NaN
    if isinstance(container, array):
        return container.tobytes() != contents.tobytes()
    if isinstance(container, _FILES):
        return copied(container) != contents
    if isinstance(container, (list, deque)):
        return len(container) != len(contents) or not all(map(operator.is_, container, contents))
    return bool(container != contents)


def is_plain_object(x: Any) -> bool:
    """Whether it is an object of a user's class; the attributes of layers are known from their methods."""
    if type(x) in LEAVES or isinstance(x, (Tensor, DynamicList, StagedDict, type, types.ModuleType, types.FunctionType, types.MethodType)):
        return False
    return hasattr(x, "__dict__") and not is_layer(x) and (isinstance(x, WITH_ATTRIBUTES) or not hub.is_ignored(type(x)))


def containers_of(*values: Any, attributes: dict[int, Any] | None = None, holders: dict[int, Any] | None = None) -> Iterable[Any]:
    """The containers in values: lists and dicts, nested; the attributes of the values, and of layers and users' objects in them.

    Args:
        attributes: gets the objects of which the containers are the attributes, by the ids of these.
        holders: gets what else holds others (see `holders`), by id.
    """
    seen: dict[int, Any] = {}
    met: dict[int, Any] = {} if holders is None else holders
    for value in values:
        if type(value) not in LEAVES:
            _collect(value, seen, attributes, met)
    return seen.values()


def lists_in(value: Any) -> Iterable[DynamicList]:
    """The lists of dynamic length that a value is, also as an item of a tuple, or on some paths only."""
    if isinstance(value, DynamicList):
        return [value]
    if isinstance(value, (MaybeObject, MaybeAttribute, MaybeValue)):
        return lists_in(value._dy_value if isinstance(value, MaybeValue) else value.value)
    return [x for v in value for x in lists_in(v)] if isinstance(value, tuple) else []


def _collect(value: Any, seen: dict[int, Any], attributes: dict[int, Any] | None, met: dict[int, Any]) -> None:
    stack = [value]
    while stack:
        x, parts = stack.pop(), None
        kind = type(x)
        if kind in LEAVES:
            continue
        if kind in _BARE:  # nearly all are of these, and this is asked at each branch
            known = met if kind is tuple else seen
            if id(x) not in known and x is not BUILTINS_OF_NAMESPACES:
                known[id(x)] = x
                stack += [v for v in (x.values() if kind is dict else x) if type(v) not in LEAVES]
            continue
        if is_container(x):
            if id(x) in seen:
                continue
            seen[id(x)] = x
            stack += held_by(x)
        elif (parts := parts_of(x)) is not None:
            if id(x) in met:
                continue
            met[id(x)] = x
            stack += parts
        elif isinstance(x, (Tensor, DynamicList, types.ModuleType)) or (
            x is not value and not hasattr(kind, "sublayers") and not isinstance(x, WITH_ATTRIBUTES) and hub.is_ignored(kind)
        ):
            continue
        if is_of_a_call(kind):
            stack.append(kind)
        if isinstance(x, types.FunctionType):
            if not has_attributes(x.__dict__):
                continue
            conversion_of(x)
        own = getattr(x, "__dict__", None)  # a user's own dict or list may have attributes too
        if isinstance(x, enum.Flag) and own is not None and own.keys() <= _OF_FLAGS:
            continue  # what a member keeps of itself, where it is asked for it
        if isinstance(own, dict) and id(own) not in seen and (own or parts is None or isinstance(x, (BaseException, tuple))):
            seen[id(own)] = own
            stack += own.values()
            if attributes is not None:
                attributes[id(own)] = x
