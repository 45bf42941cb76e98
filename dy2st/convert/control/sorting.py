"""`sorted`, and `sort`, `index`, `count` and `remove` of lists, where only the run knows how entries compare."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import StagedValueError, StructureError
from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.failures import message_of, raise_if
from ...tensor.kinds import as_number
from ...tensor.location import user_location
from ...tensor.promotion import as_tensor, cast
from .. import hub, roles
from ..alias.points_to import objects_in
from ..hub import current_tracer, is_staged, need_tracer
from ..pyfacts.safe_repr import is_of_users
from ..regions.list_promotion import promote
from ..trace.raising import raise_where
from ..values.dynamic_list import DynamicList
from ..values.leaf_types import element_type, type_of
from ..values.one_of import OneOf, choose
from ..values.record_list import RecordList, dynamic_list
from ..values.staged_list import StagedList
from ..values.symbolic_texts import text
from ..values.trees import flatten, unflatten
from .comprehensions import list_, list_comp
from .if_stmt import if_expr, truth
from .join import is_option
from .logical import compare, is_one, not_, python_bool
from .membership import in_
from .mutation import delitem
from .symbolic_items import at_one, fits_array, select


def sorted_(xs: Iterable, /, *, key: Callable | None = None, reverse: Any = False) -> Any:
    """`sorted`."""
    found = _in_order(list_(xs), key, reverse)
    _settle()
    return found


def _settle() -> None:
    if (tracer := current_tracer()) is not None:
        tracer.alternatives.settle()


@hub.primitive
def list_sort(items: Any, *, key: Callable | None = None, reverse: Any = False) -> None:
    """`items.sort()`."""
    found = _in_order(items, key, reverse)
    if isinstance(items, DynamicList):
        items.become(found)
        return
    items[:] = found
    _settle()


def _in_order(items: Any, key: Callable | None, reverse: Any) -> Any:
    """The entries of a list in their order, in a new one of the same kind."""
    if isinstance(key, OneOf):
        return choose(key, lambda one: _in_order(items, one, reverse))
    keys: Any = items if key is None else list_comp(items, hub.call(key))
    if isinstance(items, DynamicList):
        return items.taken(order(keys, reverse))
    if (known := _known(keys)) is not None:
        return [items[i] for i in sorted(range(len(items)), key=known.__getitem__, reverse=bool(reverse))]
    in_order = order(_compared(keys), reverse)
    leaves, trees = zip(*map(flatten, items), strict=True)
    places = [ops.op("slice", Input=in_order, axes=[0], starts=[i], ends=[i + 1], decrease_axis=[0]) for i in range(len(items))]
    alike = all(tree == trees[0] for tree in trees)
    # lists of several lengths in them, or of lengths that only the run knows
    if not alike or any(isinstance(x, DynamicList) for of_item in leaves for x in of_item):
        table = dynamic_list(items, [], "a list that is sorted by tensors")
        found = [table[at] for at in places]
        if not alike:
            return found
    else:
        columns = [_column(column) for column in zip(*leaves, strict=True)]
        found = [unflatten(trees[0], [column(at) for column in columns]) for at in places]
    tracer = need_tracer("a list that is sorted by tensors")
    group = [(new, others) for value in found for new, *others in zip(objects_in(value), *map(objects_in, items), strict=True)]
    tracer.alternatives.stand_for(group)
    for new, others in group:
        for x in others:
            tracer.sharing.stands_for(new, x, tracer.block)
    return found


def _known(keys: Sequence[Any]) -> Sequence[Any] | None:
    """The keys, or of tuples the parts in front, if they tell the order without the run; else None."""
    if not any(_is_of_the_run(k) for k in keys):
        return keys
    if not all(type(k) is tuple for k in keys):
        return None
    count = min(next((i for i, part in enumerate(k) if _is_of_the_run(part)), len(k)) for k in keys)
    fronts = [k[:count] for k in keys]
    return None if any(a == b for a, b in itertools.combinations(fronts, 2)) else fronts


def _is_of_the_run(x: Any) -> bool:
    return any(map(is_staged, flatten(x)[0]))


def _column(values: Sequence[Any]) -> Callable[[Tensor], Any]:
    """What gives the entry at an index of values that are one object, or tensors and numbers of one type."""
    if all(v is values[0] for v in values):
        return lambda at: values[0]
    tracer = need_tracer("a list that is sorted by tensors")
    if all(is_option(tracer, v) for v in values):
        return lambda at: select(tracer, values, as_number(at))
    items = _listed(values, "a list that is sorted by tensors")
    return lambda at: items[at]


def _compared(keys: Any) -> StagedList | RecordList:
    """Keys as a list of dynamic length, which knows what of them is compared."""
    what = "the keys of a list that is sorted"
    own = next((k for k in keys if type_of(k) is None and is_of_users(k)), None) if type(keys) is list else None
    if own is not None:
        raise StructureError(
            f"the order of objects of class {type(own).__name__} is that of their `__lt__`, whose results only the run knows",
            location=user_location(2), hint="give a key of numbers, texts, or tuples of these",
        )  # fmt: skip
    table = dynamic_list(keys, [], what) if type(keys) is list and any(isinstance(key, (tuple, list, str, OneOf)) for key in keys) else None
    return table if isinstance(table, RecordList) else _listed(keys, what)


def _listed(values: Any, what: str) -> StagedList:
    if isinstance(values, StagedList):
        return values
    entry = element_type(values, what)
    return StagedList.of(values, entry.dtype, entry.shape)


def order(keys: StagedList | RecordList, reverse: Any = False, what: str = "a sort") -> Tensor:
    """The indices of the entries in their order; of equal ones the first comes first, as in Python.

    Of tuples what is behind decides only where all before is equal. What has no order (a vector, a list of a length of its own, an object)
    may follow: where the run finds two entries that are equal up to there it raises an error.
    """
    if is_staged(reverse):
        raise StagedValueError("reverse= depends on a tensor", location=user_location(), hint="sort in a branch for each order")
    columns, is_all = keys.compared(what)

    def sorted_by_all() -> Tensor:
        indices: Tensor | None = None
        parts = [_comparable(column()) for column in reversed(columns)]
        for values in parts:
            if indices is None:
                indices = _sorted_by(values, reverse)
            else:
                values = ops.op("gather", X=values, Index=indices, axis=0)
                indices = ops.op("gather", X=indices, Index=_sorted_by(values, reverse), axis=0)
        assert indices is not None
        if not is_all:
            _require_unlike([ops.op("gather", X=values, Index=indices, axis=0) for values in parts], what)
        return indices

    return if_expr(keys.length() > 0, sorted_by_all, lambda: dispatch.constant(np.zeros(0, np.int64)))


def _require_unlike(parts: Sequence[Tensor], what: str) -> None:
    """The run raises an error where two neighbours are equal in all these parts."""
    same = functools.reduce(operator.and_, [values[1:] == values[:-1] for values in parts])
    raise_where(ops.op("reduce_any", X=same, reduce_all=True), StagedValueError(
        f"{what} finds two entries that are equal up to a part whose order is not known to a Program (a vector, a list, an object)",
        hint="put a number before it that tells them apart, as a counter does, or give a key",
    ))  # fmt: skip


def _comparable(values: Tensor) -> Tensor:
    if values.dtype.startswith("float"):
        missing = ops.op("reduce_any", X=ops.op("isnan_v2", X=values), reduce_all=True)
        raise_if(missing, ValueError, "a list with NaN in it has no order")
    return cast(values, "int64") if values.dtype == "bool" else values


def _sorted_by(values: Tensor, reverse: Any) -> Tensor:
    _, indices = ops.op("argsort", X=values, axis=0, descending=bool(reverse), stable=True)
    return indices


@hub.primitive
def list_count(items: StagedList, value: Any) -> Any:
    """`items.count(value)`."""

    def count() -> Tensor:
        return as_number(ops.op("reduce_sum", X=cast(items.equal_to(value, "count()"), "int64"), reduce_all=True))

    return if_expr(items.length() > 0, count, lambda: 0)


@hub.primitive
def list_index(items: StagedList, value: Any, *, missing: Callable[[Any], Any] = [].index) -> Any:
    """`items.index(value)`; `missing` raises what is raised where there is none."""

    def found() -> Any:
        return python_bool(ops.op("reduce_any", X=items.equal_to(value, "index()"), reduce_all=True))

    absent = not_(if_expr(items.length() > 0, found, lambda: False))
    raise_where(as_tensor(absent), ValueError(text(message_of(ValueError, missing, value))))
    return as_number(ops.op("arg_max", X=cast(items.equal_to(value, "index()"), "int64"), axis=0))


@hub.primitive
def list_remove(items: StagedList, value: Any) -> None:
    """`items.remove(value)`."""
    del items[list_index(items, value, missing=[].remove)]


_SEARCHING = ("count", "index", "remove")
# of which each is looked at in a branch
_MOST_ENTRIES = 64


def _of_each(items: list | tuple, name: str, value: Any) -> Any:
    """A method for entries that are no numbers and tensors of one kind: it looks at one after the other, as Python does."""

    def is_it(x: Any) -> Any:
        return True if is_one(x, value) else truth(compare("==", x, value))

    def place(first: int) -> Any:
        if first == len(items):
            missing = text(message_of(ValueError, getattr(type(items)(), name), value))
            raise_where(dispatch.constant(np.ones((), np.bool_)), ValueError(missing))
            return 0
        return if_expr(is_it(items[first]), lambda: first, lambda: place(first + 1))

    if name == "count":
        return sum((if_expr(is_it(x), lambda: 1, lambda: 0) for x in items), 0)
    at = place(0)
    if name == "index":
        return at
    delitem(items, at)
    return None


def _of_one_inside(items: list | tuple, name: str, first: int, value: Any) -> Any:
    """A method for a value that is an entry itself, the first time at this place."""
    if name == "count":
        others = [x for x in items if not is_one(x, value)]
        same = len(items) - len(others)
        return same + list_method(others, "count")(value) if others else same
    at: Any = first
    if before := items[:first]:
        _listed(before, "a list that is searched").require_scalars(f"{name}()")
        at = if_expr(in_(value, before), lambda: list_method(before, "index")(value), lambda: first)
    if name == "remove":
        delitem(items, at)
        return None
    return at


def list_method(items: list | tuple, name: str) -> Callable[..., Any]:
    """A method of a list or tuple of Python for arguments, or entries, that only the run can compare; its own one for all others."""
    own = getattr(items, name)

    @roles.calls_user_code
    def method(*args: Any) -> Any:
        if len(args) != 1 or name not in _SEARCHING or not any(map(_is_of_the_run, (*items, *args))):
            return own(*args)
        if isinstance(args[0], OneOf):
            return at_one(items, args[0], lambda of, one: list_method(of, name)(one))
        if not items:
            return own(*args)
        if not fits_array(items, []) and len(items) <= _MOST_ENTRIES:
            return _of_each(items, name, *args)
        first = next((i for i, x in enumerate(items) if is_one(x, *args)), None)
        if first is not None:  # which is found without a look at what it is: NaN, too
            return _of_one_inside(items, name, first, *args)
        if name == "remove" and isinstance(items, list):
            return list_remove(promote(need_tracer("a list"), items, []), *args)
        entries = _listed(items, f"a {type(items).__name__} whose {name}() is asked for")
        return list_count(entries, *args) if name == "count" else list_index(entries, *args, missing=type(items)().index)

    return list_sort.__get__(items) if name == "sort" else method
