"""Lists, dicts and tensors that change in branches and loops: `a.append(x)` is `a = _dy.list_append(a, x)`."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

from ..tensor import Tensor
from ..tensor.location import user_location
from .calls import call
from .chosen import chooses
from .dicts import CLASSES, StagedDict, StagedView
from .dynamic import DynamicList
from .followed import require_items_followed
from .growing import current, promote
from .hub import current_tracer, is_staged, need_tracer
from .if_stmt import or_none
from .items import as_index, at_one, fits_array, get, getitem, is_unknown, optional_part, require_key, store, with_part
from .iterables import Lazy, Staged
from .iterators import advanced, fresh
from .options import OneOf
from .spaces import about_to_set


def _list(a: Any) -> Any:
    """The list of dynamic length that a list has become, if it has."""
    return current(current_tracer(), a)


def _has_grown(a: Any) -> None:
    """Remembers where a list of Python got its last entry in a branch or a loop: whether that is possible turns out when this ends."""
    tracer = current_tracer()
    if tracer is not None and tracer.frames and type(a) is list and a:
        tracer.grew[id(a)] = a, a[-1], user_location(3)


def _certain(x: Any) -> Any:
    """What a list gets: where it is known here whether a value is None, it is that."""
    tracer = current_tracer()
    return x if tracer is None else tracer.facts.certain(x)


@chooses
def list_append(a: Any, x: Any) -> Any:
    """`a.append(x)`; returns what `a` is then."""
    a = _list(a)
    if isinstance(a, (list, DynamicList)):
        a.append(_certain(x))
        _has_grown(a)
    else:
        call(a.append)(x)
    return a


@chooses
def list_extend(a: Any, xs: Any) -> Any:
    """`a.extend(xs)`; returns what `a` is then."""
    a = _list(a)
    if isinstance(a, (list, DynamicList)) and not isinstance(xs, (list, DynamicList)):
        from .comprehensions import list_

        xs = fresh(xs) if isinstance(xs, (StagedDict, StagedView)) else xs
        xs = list_(xs) if is_staged(xs) or isinstance(xs, (Staged, Lazy)) else fresh(xs)
    if type(a) is list and isinstance(xs, DynamicList):
        a = _promoted(a, xs)
    if isinstance(a, (list, DynamicList)):
        a.extend(xs)
        _has_grown(a)
    else:
        call(a.extend)(xs)
    return a


@chooses
def list_insert(a: Any, i: Any, x: Any) -> Any:
    """`a.insert(i, x)`; returns what `a` is then."""
    a = _list(a)
    if type(a) is list and is_staged(i):
        a = _promoted(a, [x])
    if isinstance(a, (list, DynamicList)):
        a.insert(i, x)
    else:
        call(a.insert)(i, x)
    return a


@chooses
def list_clear(a: Any) -> Any:
    """`a.clear()`; returns what `a` is then."""
    a = _list(a)
    if isinstance(a, (list, DynamicList)):
        a.clear()
    else:
        call(a.clear)()
    return a


@partial(chooses, gives="both")
def list_pop(a: Any, *args: Any) -> tuple[Any, Any]:
    """What `a` is after `a.pop(...)`, and the value."""
    a = _list(a)
    if type(a) is list and a and args and is_staged(args[0]):
        a = _promoted(a, [])
    if type(a) is list and not a:
        args = tuple(0 if is_staged(i) else i for i in args)  # which says that there is none
    value = a.pop(*args) if isinstance(a, (list, DynamicList)) else call(a.pop)(*args)
    return a, value


@chooses
def setitem(a: Any, key: Any, value: Any) -> Any:
    """`a[key] = value`; returns what `a` is then."""
    key = as_index(key) if type(a) is list or isinstance(a, DynamicList) else key
    require_items_followed(a)
    about_to_set(a, key)
    a = _list(a)
    if isinstance(key, slice) and isinstance(a, (list, DynamicList)) and (is_staged(value) or isinstance(value, (Staged, Lazy))):
        from .comprehensions import list_

        value = list_(value)
    if type(a) is list:
        if is_staged(key) and not fits_array(a, [value]):
            store(a, key, value)
            return _list(a)
        if is_staged(key):
            a = _promoted(a, [value])
        elif _staged_slice(key) or (isinstance(key, slice) and isinstance(value, DynamicList)):
            a = _promoted(a, value)
    elif type(a) in CLASSES and is_unknown(key):
        store(a, key, value)
        return _list(a)
    if isinstance(a, Tensor) and (part := optional_part(key := _certain(key))) is not None:
        or_none(part, lambda one: _nothing(setitem(a, with_part(key, part, one), value)))
        return a
    a[key] = value
    return a


@chooses
def delitem(a: Any, key: Any) -> Any:
    """`del a[key]`; returns what `a` is then."""
    key = as_index(key) if type(a) is list or isinstance(a, DynamicList) else key
    require_items_followed(a)
    about_to_set(a, key)
    a = _list(a)
    if type(a) is list and (is_staged(key) or _staged_slice(key)):
        if not a and isinstance(key, slice):
            return a
        if not a:
            raise IndexError("list assignment index out of range")
        a = _promoted(a, [])
    if isinstance(key, OneOf) and isinstance(a, (dict, StagedDict)):
        at_one(a, key, operator.delitem)
        return _list(a)
    del a[key]
    return a


def method(a: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """`a.name(...)` of a list, tuple or dict: of dynamic length, or called with what is, or one that this makes such."""
    return (_changed if name in _CHANGES else _called)(a, name, *args, **kwargs)


# the methods that compare items
_COMPARING: dict[type, tuple[str, ...]] = {list: ("sort", "remove", "index", "count"), tuple: ("index", "count")}


def _called(a: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    a = _list(a)
    if isinstance(a, (list, DynamicList)) and name in _OF_LISTS and not kwargs:
        return _OF_LISTS[name](a, *args)
    if name in _COMPARING.get(type(a), ()):
        from .sorting import list_method

        return list_method(a, name)(*args, **kwargs)
    if type(a) in CLASSES and name == "get" and args and is_unknown(args[0]):
        return get(a, *args)
    if type(a) is dict and name == "update":
        args = tuple(map(advanced, args))
    if isinstance(a, (dict, StagedDict)) and args:
        require_key(args[0])
    if name == "pop" and args and isinstance(args[0], OneOf) and isinstance(a, (dict, StagedDict)):
        return at_one(a, args[0], lambda of, key: of.pop(key, *args[1:]))
    if name == "setdefault" and type(a) is dict and args and isinstance(args[0], OneOf):
        # it has the key before that is read: what changes the value then changes what is in it
        at_one(a, args[0], lambda of, key: _nothing(of.setdefault(key, *args[1:])))
        return getitem(_list(a), args[0])
    return getattr(a, name)(*args, **kwargs)


_OF_LISTS = {
    "extend": lambda a, *args: _nothing(list_extend(a, *args)),
    "insert": lambda a, *args: _nothing(list_insert(a, *args)),
    "pop": lambda a, *args: list_pop(a, *args)[1],
}
_CHANGES = {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update"}
_changed = chooses(_called, gives="value")


def _nothing(_: Any) -> None:
    """What Python's methods give that change a list."""


def _staged_slice(key: Any) -> bool:
    return isinstance(key, slice) and any(map(is_staged, (key.start, key.stop, key.step)))


def _promoted(a: list, like: Any) -> DynamicList:
    """The list as one of dynamic length; `like` has entries that it gets."""
    if not isinstance(like, DynamicList) and any(isinstance(x, Tensor) for x in a):
        like = [x for x in like if isinstance(x, Tensor)]  # a number takes the dtype of the tensors
    return promote(need_tracer("a list"), a, like)
