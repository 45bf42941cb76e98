"""Lists, dicts and tensors that change in branches and loops: `a.append(x)` is `a = _dy.list_append(a, x)`."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

from ...tensor import Tensor
from ...tensor.location import user_location
from .. import hub, roles
from ..guards.namespaces import about_to_set
from ..hub import current_tracer, is_staged, need_tracer
from ..iteration.outer_iterators import fresh
from ..purity.untraceable import require_traceable_items
from ..regions.choice_mutation import chooses
from ..regions.list_promotion import current, promote
from ..values.dynamic_list import DynamicList
from ..values.lazy_iterables import Lazy, Staged
from ..values.one_of import OneOf
from ..values.staged_dict import CLASSES, StagedDict, StagedView
from .if_stmt import or_none
from .symbolic_items import as_index, at_one, fits_array, is_unknown, optional_part, store, with_part

roles.runs_statements(__file__)


def current_list(a: Any) -> Any:
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
    a = current_list(a)
    if isinstance(a, (list, DynamicList)):
        a.append(_certain(x))
        _has_grown(a)
    else:
        hub.call(a.append)(x)
    return a


@chooses
def list_extend(a: Any, xs: Any) -> Any:
    """`a.extend(xs)`; returns what `a` is then."""
    a = current_list(a)
    if isinstance(a, (list, DynamicList)) and not isinstance(xs, (list, DynamicList)):
        xs = fresh(xs) if isinstance(xs, (StagedDict, StagedView)) else xs
        xs = hub.list_(xs) if is_staged(xs) or isinstance(xs, (Staged, Lazy)) else fresh(xs)
    if type(a) is list and isinstance(xs, DynamicList):
        a = _promoted(a, xs)
    if isinstance(a, (list, DynamicList)):
        a.extend(xs)
        _has_grown(a)
    else:
        hub.call(a.extend)(xs)
    return a


@chooses
def list_insert(a: Any, i: Any, x: Any) -> Any:
    """`a.insert(i, x)`; returns what `a` is then."""
    a = current_list(a)
    if type(a) is list and is_staged(i):
        a = _promoted(a, [x])
    if isinstance(a, (list, DynamicList)):
        a.insert(i, x)
    else:
        hub.call(a.insert)(i, x)
    return a


@chooses
def list_clear(a: Any) -> Any:
    """`a.clear()`; returns what `a` is then."""
    a = current_list(a)
    if isinstance(a, (list, DynamicList)):
        a.clear()
    else:
        hub.call(a.clear)()
    return a


@partial(chooses, gives="both")
def list_pop(a: Any, *args: Any) -> tuple[Any, Any]:
    """What `a` is after `a.pop(...)`, and the value."""
    a = current_list(a)
    if type(a) is list and a and args and is_staged(args[0]):
        a = _promoted(a, [])
    if type(a) is list and not a:
        args = tuple(0 if is_staged(i) else i for i in args)  # which says that there is none
    value = a.pop(*args) if isinstance(a, (list, DynamicList)) else hub.call(a.pop)(*args)
    return a, value


@chooses
def setitem(a: Any, key: Any, value: Any) -> Any:
    """`a[key] = value`; returns what `a` is then."""
    key = as_index(key) if type(a) is list or isinstance(a, DynamicList) else key
    require_traceable_items(a)
    about_to_set(a, key)
    a = current_list(a)
    if isinstance(key, slice) and isinstance(a, (list, DynamicList)) and (is_staged(value) or isinstance(value, (Staged, Lazy))):
        value = hub.list_(value)
    if type(a) is list:
        if is_staged(key) and not fits_array(a, [value]):
            store(a, key, value)
            return current_list(a)
        if is_staged(key):
            a = _promoted(a, [value])
        elif _staged_slice(key) or (isinstance(key, slice) and isinstance(value, DynamicList)):
            a = _promoted(a, value)
    elif type(a) in CLASSES and is_unknown(key):
        store(a, key, value)
        return current_list(a)
    if isinstance(a, Tensor) and (part := optional_part(key := _certain(key))) is not None:
        or_none(part, lambda one: none_of(setitem(a, with_part(key, part, one), value)))
        return a
    a[key] = value
    return a


@chooses
def delitem(a: Any, key: Any) -> Any:
    """`del a[key]`; returns what `a` is then."""
    key = as_index(key) if type(a) is list or isinstance(a, DynamicList) else key
    require_traceable_items(a)
    about_to_set(a, key)
    a = current_list(a)
    if type(a) is list and (is_staged(key) or _staged_slice(key)):
        if not a and isinstance(key, slice):
            return a
        if not a:
            raise IndexError("list assignment index out of range")
        a = _promoted(a, [])
    if isinstance(key, OneOf) and isinstance(a, (dict, StagedDict)):
        at_one(a, key, operator.delitem)
        return current_list(a)
    del a[key]
    return a


def none_of(_: Any) -> None:
    """What Python's methods give that change a list."""


def _staged_slice(key: Any) -> bool:
    return isinstance(key, slice) and any(map(is_staged, (key.start, key.stop, key.step)))


def _promoted(a: list, like: Any) -> DynamicList:
    """The list as one of dynamic length; `like` has entries that it gets."""
    if not isinstance(like, DynamicList) and any(isinstance(x, Tensor) for x in a):
        like = [x for x in like if isinstance(x, Tensor)]  # a number takes the dtype of the tensors
    return promote(need_tracer("a list"), a, like)
