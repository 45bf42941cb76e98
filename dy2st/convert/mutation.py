"""Lists, dicts and tensors that change in branches and loops: `a.append(x)` is `a = _dy.list_append(a, x)`."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .calls import call
from .lists import StagedList, element_type
from .tracer import current_tracer, is_staged


def _list(a: Any) -> bool:
    return isinstance(a, (list, StagedList))


def list_append(a: Any, x: Any) -> Any:
    """`a.append(x)`; returns what `a` is then."""
    if _list(a):
        a.append(x)
    else:
        call(a.append)(x)
    return a


def list_extend(a: Any, xs: Any) -> Any:
    """`a.extend(xs)`; returns what `a` is then."""
    if type(a) is list and isinstance(xs, StagedList):
        a = _staged(a, xs)
    if _list(a):
        a.extend(xs)
    else:
        call(a.extend)(xs)
    return a


def list_insert(a: Any, i: Any, x: Any) -> Any:
    """`a.insert(i, x)`; returns what `a` is then."""
    _list(a)
    call(a.insert)(i, x)
    return a


def list_clear(a: Any) -> Any:
    """`a.clear()`; returns what `a` is then."""
    if _list(a):
        a.clear()
    else:
        call(a.clear)()
    return a


def list_pop(a: Any, *args: Any) -> tuple[Any, Any]:
    """What `a` is after `a.pop(...)`, and the value."""
    value = a.pop(*args) if _list(a) else call(a.pop)(*args)
    return a, value


def setitem(a: Any, key: Any, value: Any) -> Any:
    """`a[key] = value`; returns what `a` is then."""
    if type(a) is list and is_staged(key):
        a = _staged(a, [*a, value])
    _list(a)
    a[key] = value
    return a


def delitem(a: Any, key: Any) -> Any:
    """`del a[key]`; returns what `a` is then."""
    _list(a)
    del a[key]
    return a


def _staged(a: list, like: Any) -> StagedList:
    """The list as one of dynamic length; `like` has entries of the same kind."""
    tracer = current_tracer()
    assert tracer is not None
    if isinstance(like, StagedList):
        dtype, shape = like.dtype, like.element_shape
    else:
        dtype, shape = element_type([x for x in like if isinstance(x, Tensor)] or like, "a list")
    staged = StagedList.of(a, dtype, shape)
    tracer.replaced[id(a)] = (a, staged)
    return staged
