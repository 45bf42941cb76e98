"""Python's `max`, `min`, `any`, `all` and `sum`, as they are for tensors too."""

from __future__ import annotations

import builtins
import functools
import math
import operator
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.failures import message_of, raise_if
from ...tensor.kinds import without_bool
from ...tensor.location import user_location
from ...tensor.promotion import as_tensor, cast
from .. import hub, roles
from ..control.for_stmt import for_stmt
from ..control.if_stmt import if_expr, truth
from ..control.logical import and_, compare, not_, or_, python_bool
from ..control.sorting import order
from ..guards.special_methods import bound
from ..hub import current_tracer, is_staged, need_tracer
from ..iteration.outer_iterators import fresh
from ..iteration.underlying import is_iterator
from ..pyfacts.undefined import Undefined
from ..values import one_of as options
from ..values.dynamic_list import DynamicList
from ..values.kind_codes import all_numbers, codes_of
from ..values.lazy_iterables import Lazy, Staged, staged
from ..values.maybe_value import MaybeObject
from ..values.one_of import OneOf
from ..values.record_list import RecordList
from ..values.staged_list import StagedList, unlike
from ..values.trees import flatten
from .rounding import number_where

ROLE = roles.ACTING

# whether this Python's sum() of floats makes up for what rounding loses
COMPENSATED = sys.version_info >= (3, 12)


def _value(x: Any) -> Any:
    return x


def extreme(which: str) -> Callable:
    """`max` or `min`."""
    plain = getattr(builtins, which)

    def choose(*args: Any, key: Callable | None = None, **kwargs: Any) -> Any:
        if isinstance(key, OneOf):
            items = args if len(args) > 1 else (fresh(args[0]),)
            return options.choose(key, lambda one: choose(*items, key=one, **kwargs))
        if kwargs and len(args) > 1:
            return plain(*args, **kwargs)  # which says that it takes no default then
        values: Any = args if len(args) > 1 else fresh(args[0])
        if isinstance(values, (Lazy, Staged)) and key is None and not kwargs:
            values = hub.list_(values)
        if isinstance(values, DynamicList) and key is None and not kwargs:
            if isinstance(values, RecordList):
                return values[_place_of_record(which, values)]
            values.require_scalars(f"{which}()")
            _require_some(which, values.length())
            return values[_place(which, values.flat())]
        if len(args) == 1 and is_staged(values) and key is None and not kwargs and values.ndim == 1:
            _require_some(which, values.shape[0])
            return values[_place(which, values)]
        if len(args) == 1 and (isinstance(values, Lazy) or staged(values) is not None):
            return _best(which, values, _value if key is None else hub.call(key), kwargs)
        if len(args) == 1:
            args = (list(values),)  # an iterator gives them once
            values = args[0]
            if not values:
                return plain(values, **kwargs)
        rank = hub.call(key) if key is not None else None
        keys = values if rank is None else [rank(v) for v in values]
        if not any(map(is_staged, flatten(tuple(keys))[0])) and not any(bound(k, "__lt__", "__gt__") for k in keys):
            if rank is None:
                return plain(*args, **kwargs)
            chosen = plain(builtins.range(len(values)), key=keys.__getitem__)
            return values[chosen]
        best, best_key = values[0], keys[0]
        for v, k in zip(values[1:], keys[1:], strict=True):
            better = compare(">" if which == "max" else "<", k, best_key)
            best, best_key = if_expr(better, partial(_value, (v, k)), partial(_value, (best, best_key)))
        return best

    return choose


def _there(x: Any) -> Any:
    """What a variable holds, where a flag has said that it has a value."""
    return x.value if isinstance(x, MaybeObject) else x


def _best(which: str, items: Any, rank: Callable[[Any], Any], default: dict[str, Any]) -> Any:
    """The item whose rank is extreme, the first of several, of what a `for` loop can run over."""
    plain = getattr(builtins, which)
    state: tuple = (Undefined("the best item"), Undefined("its rank"), False)

    def body(x: Any) -> None:
        nonlocal state
        best, highest, found = map(_there, state)  # where there is an item
        new = rank(x)

        def better() -> Any:
            return if_expr(compare(">" if which == "max" else "<", new, highest), lambda: (x, new), lambda: (best, highest))

        state = (*if_expr(found, better, lambda: (x, new)), True)

    def set_state(values: tuple) -> None:
        nonlocal state
        state = values

    for_stmt(items, body, None, lambda: state, set_state, ("the best item", "its rank", "whether there is an item"))
    best, _, found = state
    if default:
        return if_expr(found, lambda: _there(best), lambda: default["default"])
    raise_if(as_tensor(not_(found)), ValueError, message_of(ValueError, plain, ()))
    return need_tracer(f"{which}()").defined(best, "the best item")


def _place(which: str, x: Tensor) -> Tensor:
    """Where Python finds the extreme: the first of several that are equal; NaN only if that is the first element."""
    find = partial(ops.op, f"arg_{which}", axis=0)
    x = cast(x, "int64") if x.dtype == "bool" else x
    if not x.dtype.startswith("float"):
        return find(X=x)
    worst = dispatch.constant(-np.inf if which == "max" else np.inf, x.dtype)
    missing = ops.op("isnan_v2", X=x)
    numbers = ops.op("where", Condition=missing, X=worst, Y=x)
    return ops.op("where", Condition=missing[0], X=dispatch.constant(0, "int64"), Y=find(X=numbers))


def _place_of_record(which: str, items: RecordList) -> Tensor:
    """The same for tuples."""
    found = order(items, which == "max", f"{which}()")
    _require_some(which, items.length())
    return found[0]


def _require_some(which: str, size: Any) -> None:
    """ValueError, in the words of this version of Python, if there are no elements."""
    if isinstance(size, Tensor) or size == 0:
        empty = size == 0 if isinstance(size, Tensor) else dispatch.constant(True)
        raise_if(empty, ValueError, message_of(ValueError, getattr(builtins, which), ()))


def quantifier(which: str) -> Callable:
    """`any` or `all`."""
    plain, combine = getattr(builtins, which), and_ if which == "all" else or_

    def of_rows(x: Tensor) -> Tensor:
        if x.ndim != 1:
            raise StagedValueError(
                f"{which}() of a tensor with {x.ndim} dims asks for the truth of its rows",
                location=user_location(2), hint=f"use x.{which}() for the truth of the elements",
            )  # fmt: skip
        return ops.op(f"reduce_{which}", X=x != 0 if x.dtype != "bool" else x, reduce_all=True)

    def test(values: Any) -> Any:
        if current_tracer() is None:
            return plain(values)
        values = fresh(values)
        if isinstance(values, (Lazy, Staged)) or is_iterator(values):
            return _until(values, which == "any")
        if isinstance(values, DynamicList):
            return python_bool(if_expr(values.length() > 0, lambda: of_rows(values.stack()), lambda: which == "all"))
        if is_staged(values):
            return python_bool(of_rows(values))
        values = list(values)
        if not values:
            return plain(values)
        return python_bool(combine(*[lambda v=v: truth(v) for v in values]))

    return test


def _until(items: Any, stop_on: bool) -> Any:
    """Whether an item has the truth `stop_on`; those behind the first one that has it are not asked for."""
    stopped: list[Any] = [False]

    def body(x: Any) -> None:
        decided = truth(x)
        stopped[0] = python_bool(decided if stop_on else not_(decided)) if isinstance(decided, Tensor) else decided is stop_on

    def set_state(values: tuple) -> None:
        stopped[0] = values[0]

    for_stmt(items, body, lambda: not_(stopped[0]), lambda: (stopped[0],), set_state, ("the truth of an item",))
    return stopped[0] if stop_on else not_(stopped[0])


def combined(f: Callable[[Any, Any], Any], items: Any, *start: Any) -> Any:
    """What `functools.reduce` makes of what a `for` loop can run over."""
    total = [*(start or (Undefined("the first item"),)), bool(start)]

    def body(x: Any) -> None:
        total[0] = if_expr(total[1], lambda: f(_there(total[0]), x), lambda: x)
        total[1] = True

    def set_state(values: tuple) -> None:
        total[:] = values

    for_stmt(items, body, None, lambda: tuple(total), set_state, ("the result", "whether there is an item"))
    if start:
        return total[0]
    raise_if(as_tensor(not_(total[1])), TypeError, message_of(TypeError, functools.reduce, f, []))
    return need_tracer("a reduction").defined(total[0], "the result")


def sum_(values: Any, start: Any = 0) -> Any:
    """`sum`."""
    values = fresh(values)
    of_floats = isinstance(values, StagedList) and values.of_numbers() and values.dtype == "float64"
    if isinstance(values, (Lazy, Staged, RecordList)) or of_floats:
        return _sum_in_turn(values, start)
    if isinstance(values, DynamicList):
        return if_expr(values.length() > 0, lambda: _number_or_tensor(values) + start, lambda: start)
    if is_staged(values):
        rows = staged(values)
        assert rows is not None
        # docs/reference/limits.md: where only the run knows that there are no rows, the sum of none is a tensor too
        return start if not isinstance(rows.length, Tensor) and rows.length == 0 else _total(values) + start
    values = list(values)
    if not (COMPENSATED and any(map(is_staged, values)) and any(map(_is_float, values))):
        return sum(values, start)
    total: tuple[Any, Any] = (start, 0.0)
    for x in values:
        total = _compensated(*total, x)
    return _with_rest(*total)


def _sum_in_turn(items: Any, start: Any) -> Any:
    """The sum of what a `for` loop can run over, one item after the other."""
    if not COMPENSATED:
        return combined(operator.add, items, start)
    total: tuple[Any, Any] = (start, 0.0)

    def body(x: Any) -> None:
        nonlocal total
        total = _compensated(*total, x)

    def set_state(values: tuple) -> None:
        nonlocal total
        total = values

    for_stmt(items, body, None, lambda: total, set_state, ("the sum", "what its rounding has lost"))
    return _with_rest(*total)


def _is_float(x: Any) -> bool:
    return (x._weak and x.dtype == "float64") if isinstance(x, Tensor) else isinstance(x, float)


def _compensated(total: Any, rest: Any, x: Any) -> tuple[Any, Any]:
    """The next total, and the sum of what the roundings have lost so far (Neumaier's sum, as in Python 3.12)."""
    new = total + x
    begun = _is_float(total) or (type(total) is int and total == 0)
    if not (begun and _is_float(x)):
        # with a tensor the sum of floats is at its end
        return (_with_rest(total, rest) + x, 0.0) if isinstance(x, Tensor) and not x._weak else (new, rest)
    return new, rest + number_where(abs(total) >= abs(x), (total - new) + x, (x - new) + total)


def _with_rest(total: Any, rest: Any) -> Any:
    if not isinstance(rest, Tensor):
        return total + rest if rest and math.isfinite(rest) else total
    return if_expr((rest != 0) & (rest - rest == 0), lambda: total + rest, lambda: total)


def _number_or_tensor(values: DynamicList) -> Tensor:
    """The sum of 0-d entries: a number if they are numbers."""
    found = _total(values.stack())
    assert isinstance(values, StagedList)
    if len({k.weak for k in values.kinds}) < 2:
        found._weak = values.of_numbers()
        return found
    codes = codes_of(values)
    found._weak, found._kinds = True, without_bool(replace(unlike(values.kinds), number=None if codes is None else all_numbers(codes)))
    return found


def _total(x: Tensor) -> Tensor:
    """The sum of the rows in their dtype, where that of a tensor of small integers is int64."""
    found = ops.op("reduce_sum", X=x, dim=[0])
    return found if x.dtype == "bool" else cast(found, x.dtype)
