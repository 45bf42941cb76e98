"""List comprehensions: `[f(x) for x in xs if c(x)]` is `_dy.list_comp(xs, lambda x: f(x), lambda x: c(x))`; lists with `*`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ..errors import StagedValueError
from ..tensor import Tensor
from ..tensor.location import user_location
from .dynamic import DynamicList
from .for_stmt import for_stmt
from .growing import current
from .if_stmt import if_stmt, truth
from .iterables import Lazy, staged
from .iterators import fresh
from .mutation import list_append, list_extend
from .tracer import current_tracer
from .undefined import nothing

_NAMES = ("the list of a comprehension",)


def list_comp(xs: Iterable, element: Callable[[Any], Any], test: Callable[[Any], Any] | None = None, flat: bool = False) -> Any:
    """The list of `element(x)` for all x for which `test(x)` holds; with `flat` of the entries of the lists that these are."""
    tracer = current_tracer()
    if tracer is None:
        found = [element(x) for x in xs if test is None or test(x)]
        return [x for part in found for x in part] if flat else found
    state: list[tuple] = [([],)]
    add = list_extend if flat else list_append

    def get_state() -> tuple:
        return state[0]

    def set_state(values: tuple) -> None:
        state[0] = values

    def put(x: Any) -> None:
        state[0] = (add(state[0][0], element(x)),)

    def put_anew(x: Any) -> None:
        # nothing else holds the list: of a variable with a new value it is known sooner of what kind it is than of a list that changes
        state[0] = (list_join(state[0][0], element(x)) if flat else _and_one(state[0][0], tracer.facts.certain(element(x))),)

    def body(x: Any, put: Callable[[Any], None] = put_anew) -> None:
        decided = True if test is None else truth(test(x))
        if isinstance(decided, Tensor):
            if_stmt(decided, partial(put_anew, x), nothing, get_state, set_state, _NAMES)
        elif decided:
            put(x)

    xs = fresh(current(tracer, xs))
    over = None if isinstance(xs, Lazy) else staged(xs)
    if isinstance(xs, Lazy) or (over is not None and isinstance(over.length, Tensor)):
        for_stmt(xs, body, None, get_state, set_state, _NAMES)
    else:
        for x in xs if over is None else map(over.item, range(over.length)):
            body(x, put)
    return state[0][0]


def _and_one(items: Any, x: Any) -> Any:
    """`[*items, x]`"""
    return items.and_one(x) if isinstance(items, DynamicList) else [*items, x]


def comprehension_test(test: Any, kind: str) -> Any:
    """The condition of a dict or set comprehension.

    Raises:
        StagedValueError: only the run knows it, and so which keys or members there are.
    """
    decided = truth(test)
    if isinstance(decided, Tensor) and current_tracer() is not None:
        what = "keys a dict" if kind == "dict" else "members a set"
        raise StagedValueError(
            f"which {what} comprehension gives depends on a tensor", location=user_location(2),
            hint="make a list: [(k, v) for ... if ...], or fill it in a for loop over keys that Python knows, if it is a dict",
        )  # fmt: skip
    return decided


def list_join(*parts: Any) -> Any:
    """`[*a, *b]`, for the parts `a` and `b`."""
    joined: Any = []
    for part in parts:
        part = fresh(current(current_tracer(), part))
        joined = joined + (part if isinstance(part, (list, DynamicList)) else list_comp(part, _itself))
    return joined


def _itself(x: Any) -> Any:
    return x


def list_(xs: Any = ()) -> Any:
    """`list(xs)`."""
    return xs.copy() if isinstance(xs, DynamicList) else list_comp(xs, _itself)
