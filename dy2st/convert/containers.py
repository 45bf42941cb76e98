"""The kinds of containers whose contents code can change in place: how these are copied, compared and put back.

Subclasses count: a `defaultdict`, a `Counter`, a user's own list. What a subclass does besides holding its contents is left alone,
as all that is done here goes by the methods of the built-in class.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Any

import numpy as np

_KINDS = (list, dict, deque, set, bytearray, np.ndarray)


def is_container(x: Any) -> bool:
    """Whether a value has contents that can change in place."""
    return isinstance(x, _KINDS)


def held_by(container: Any) -> Iterable[Any]:
    """The values in a container, which may be containers themselves."""
    if isinstance(container, dict):
        return list(dict.values(container))
    return list(container) if isinstance(container, (list, deque, set)) else ()


def copied(container: Any) -> Any:
    """The contents, as a plain container: a list for what is in order, a dict, a set, bytes or an array."""
    if isinstance(container, OrderedDict):
        return OrderedDict.copy(container)
    if isinstance(container, dict):
        return dict.copy(container)
    if isinstance(container, (list, deque)):
        return list(container)
    if isinstance(container, set):
        return set(container)
    if isinstance(container, bytearray):
        return bytes(container)
    return container.copy()


def put(container: Any, contents: Iterable[Any]) -> None:
    """Gives a container other than a dict its contents."""
    if isinstance(container, list):
        list.__setitem__(container, slice(None), list(contents))
    elif isinstance(container, deque):
        deque.clear(container)
        deque.extend(container, contents)
    elif isinstance(container, set):
        set.clear(container)
        set.update(container, contents)
    else:
        container[... if isinstance(container, np.ndarray) else slice(None)] = contents


def differ(container: Any, contents: Any) -> bool:
    """Whether a container other than a dict has other contents than the copy: other objects, other members or other values."""
    if isinstance(container, np.ndarray):
        if container.dtype.hasobject:
            return not all(map(operator.is_, container.flat, contents.flat))
        return bool(container.tobytes() != contents.tobytes())  # NaN is NaN
    if isinstance(container, (list, deque)):
        return len(container) != len(contents) or not all(map(operator.is_, container, contents))
    return bool(container != contents)
