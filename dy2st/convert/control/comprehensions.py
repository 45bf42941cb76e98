"""Comprehensions: `[f(x) for x in xs if c(x)]` is `_dy.list_comp(xs, lambda x: f(x), lambda x: c(x))`, and so are those of dicts; lists
with `*`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.location import user_location
from .. import hub, roles
from ..hub import current_tracer
from ..iteration.outer_iterators import fresh
from ..pyfacts.undefined import nothing
from ..regions.list_promotion import current
from ..values.dynamic_list import DynamicList
from ..values.lazy_iterables import Lazy, staged
from .for_stmt import for_stmt
from .if_stmt import if_stmt, truth
from .mutation import list_append, list_extend, setitem

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


@hub.primitive
@roles.calls_user_code
def list_comp(xs: Iterable, element: Callable[[Any], Any], test: Callable[[Any], Any] | None = None, flat: bool = False) -> Any:
    """The list of `element(x)` for all x for which `test(x)` holds; with `flat` of the entries of the lists that these are."""
    tracer = current_tracer()
    if tracer is None:
        found = [element(x) for x in xs if test is None or test(x)]
        return [x for part in found for x in part] if flat else found
    add = list_extend if flat else list_append

    def put(items: Any, x: Any) -> Any:
        return add(items, element(x))

    def put_anew(items: Any, x: Any) -> Any:
        # nothing else holds the list: of a variable with a new value it is known sooner of what kind it is than of a list that changes
        return list_join(items, element(x)) if flat else _and_one(items, tracer.facts.certain(element(x)))

    return _filled(tracer, [], xs, put, put_anew, test, "the list of a comprehension")


@roles.calls_user_code
def dict_comp(xs: Iterable, element: Callable[[Any], tuple[Any, Any]], test: Callable[[Any], Any] | None = None) -> Any:
    """The dict of the keys and values `element(x)` for all x for which `test(x)` holds."""
    tracer = current_tracer()
    if tracer is None:
        return dict(element(x) for x in xs if test is None or test(x))

    def put(items: Any, x: Any) -> Any:
        return setitem(items, *element(x))

    return _filled(tracer, {}, xs, put, put, test, "the dict of a comprehension")


@roles.calls_user_code
def _filled(tracer: Tracer, empty: Any, xs: Iterable, put: Callable[[Any, Any], Any], put_anew: Callable[[Any, Any], Any],
            test: Callable[[Any], Any] | None, name: str) -> Any:  # fmt: skip
    """What becomes of an empty list or dict as the items of an iterable are put into it; `put_anew` where only the run knows which."""
    state: list[tuple] = [(empty,)]

    def get_state() -> tuple:
        return state[0]

    def set_state(values: tuple) -> None:
        state[0] = values

    def add(x: Any, put: Callable[[Any, Any], Any]) -> None:
        state[0] = (put(state[0][0], x),)

    def body(x: Any, put: Callable[[Any, Any], Any] = put_anew) -> None:
        decided = True if test is None else truth(test(x))
        if isinstance(decided, Tensor):
            if_stmt(decided, partial(add, x, put_anew), nothing, get_state, set_state, (name,))
        elif decided:
            add(x, put)

    xs = fresh(current(tracer, xs))
    over = None if isinstance(xs, Lazy) else staged(xs)
    if isinstance(xs, Lazy) or (over is not None and isinstance(over.length, Tensor)):
        for_stmt(xs, body, None, get_state, set_state, (name,))
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


@hub.primitive
def list_(xs: Any = ()) -> Any:
    """`list(xs)`."""
    return xs.copy() if isinstance(xs, DynamicList) else list_comp(xs, _itself)
