"""Items of Python's lists, tuples and dicts at an index, or under a key, that only the run knows: `layers[i]`, `table[n]`.

The index is made one of 0 ... n-1, or the run raises what Python raises. Numbers are then read from a constant tensor; of layers, functions
and texts it says which one it is (`options.OneOf`); for anything else there is a branch for each item.
"""

from __future__ import annotations

import operator
import types
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Dy2stError, StagedValueError
from ...tensor import Tensor, dispatch, indexing
from ...tensor.dispatch import ops
from ...tensor.failures import message_of, raise_if
from ...tensor.kinds import as_number, is_number, require_one_kind, resolved
from ...tensor.location import user_location
from ...tensor.promotion import NUMBERS
from .. import hub, roles
from ..guards.special_methods import bound
from ..hub import current_tracer, is_staged, need_tracer, renamed
from ..regions.choice_mutation import note_item
from ..regions.list_promotion import current
from ..trace.raising import raise_where
from ..values.dynamic_list import DynamicList
from ..values.join_types import same
from ..values.leaf_types import element_type
from ..values.list_indices import integer
from ..values.maybe_none import MaybeNone, require_key
from ..values.one_of import OneOf, Options, by_index, choose, values_of
from ..values.record_list import dynamic_list
from ..values.staged_dict import StagedDict
from ..values.staged_list import StagedList
from .if_stmt import if_expr, or_none
from .join import is_option
from .logical import is_one, not_

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

roles.runs_statements(__file__)


@hub.primitive
def getitem(a: Any, key: Any, *more: Any) -> Any:
    """`a[key]`, or `a[key][...]` with more of them."""
    tracer = current_tracer()
    if tracer is not None and (type(a) in (list, tuple, str) or isinstance(a, DynamicList)):
        key = as_index(key)
    if tracer is not None and isinstance(a, Tensor) and (part := optional_part(key := tracer.facts.certain(key))) is not None:
        if adds_axis(key):
            raise StagedValueError("an index of a tensor is None in some runs, which adds an axis", location=user_location(),
                                   hint="decide with `if i is None`, and index where it is not")  # fmt: skip
        return or_none(part, lambda one: getitem(a, with_part(key, part, one), *more))
    if tracer is None or not is_unknown(key):
        value = a[key]
        return getitem(value, *more) if more else value
    found = _parts(a)
    if isinstance(key, OneOf) and type(a) is defaultdict and a.default_factory is not None:
        at_one(a, key, _ask)
        a = current(tracer, a)
    if isinstance(key, OneOf) and (more or not isinstance(a, StagedDict)):  # which has its own way
        chosen = choose(key, lambda one: getitem(a, one, *more))
        if (items := _known_items(a, values_of(key), more)) is not None:
            note_item(tracer, key._dy_index, items, chosen)
        return chosen
    if found is None:
        own = getattr(type(a), "__getitem__", None)
        value = a[key] if not isinstance(own, types.FunctionType) or hub.is_ignored(own) else hub.call(types.MethodType(own, a))(key)
    elif isinstance(found, dict) and isinstance(key, MaybeNone) and None in found:
        return or_none(key, lambda one: getitem(a, one, *more))
    elif isinstance(found, dict):
        return select(tracer, *_of_dict(found, key), more)
    elif isinstance(key, slice):
        value = _slice(found, key)
    else:
        return select(tracer, found, _position(found, key, _error_of(a)), more)
    return getitem(value, *more) if more else value


def item_for(f: Any, a: Any, *keys: Any) -> Any:
    """`a[key]`, or an item of it, as the argument of a call of `f`, which has nothing of it afterwards if it only looks at it; None: it
    is asked for its truth."""
    tracer = current_tracer()
    known = 0 if tracer is None else len(tracer.alternatives)
    item = getitem(a, *keys)
    if tracer is not None and _only_looks(f, item):
        tracer.alternatives.let_go(item, known)
    return item


def _only_looks(f: Any, item: Any) -> bool:
    """Whether a function has nothing of a list or dict afterwards, and runs no code of the user's, which may change what it stands for."""
    if type(item) not in (list, dict) and not isinstance(item, DynamicList):
        return False
    if any(f is looking for looking in (None, len, bool, list, tuple)):
        return True
    return any(f is asking for asking in (sum, any, all, min, max, sorted)) and _is_plain(item)


def _is_plain(x: Any) -> bool:
    """Whether to add or compare a value is to run nothing of the user's: a number, text or tensor, or lists and tuples of these."""
    if type(x) in (list, tuple):
        return all(map(_is_plain, x))
    return type(x) in (str, bool, int, float, Tensor) or isinstance(x, (np.generic, StagedList))


def at_one(a: Any, key: OneOf, f: Callable[[Any, Any], Any]) -> Any:
    """`f(a, key)` of a dict, which it changes, where only the run knows which of several the key is: a branch for each."""
    tracer = need_tracer("an item")
    tracer.watch(a)
    return choose(key, lambda one: f(current(tracer, a), one), plain=True)


def _ask(a: Any, key: Any) -> None:
    """`a[key]`, which gives a `defaultdict` a key that it does not have."""
    a[key]


def _known_items(a: Any, keys: Sequence[Any], more: Sequence[Any]) -> list[Any] | None:
    """The items of a list, tuple or dict under each of these keys, and there under more of them; None if Python alone cannot tell them."""
    found = []
    for key in keys:
        item = a
        for k in (key, *more):
            plain = type(item) in (list, tuple) and type(k) is int and -len(item) <= k < len(item)
            if not plain and (type(item) is not dict or is_unknown(k) or k not in item):
                return None
            item = item[k]
        found.append(item)
    return found


def as_index(x: Any) -> Any:
    """What the `__index__` of a class of the user's gives, where only the run may know that, also in a slice; any other value as it is."""
    if isinstance(x, slice):
        parts = x.start, x.stop, x.step
        found = tuple(map(as_index, parts))
        return x if all(map(operator.is_, parts, found)) else slice(*found)
    own = None if isinstance(x, (int, Tensor, OneOf)) else bound(x, "__index__")
    return x if own is None else own()


def getslice(a: Any, start: Any, stop: Any, step: Any) -> Any:
    """`a[start:stop:step]`."""
    return getitem(a, slice(start, stop, step))


def optional_part(key: Any) -> MaybeNone | None:
    """What may be None, as only the run knows, of an index of a tensor: the index, one in a tuple or a bound of a slice."""
    if isinstance(key, MaybeNone):
        return key
    if isinstance(key, slice):
        return optional_part((key.start, key.stop, key.step))
    parts = map(optional_part, key) if type(key) is tuple else ()
    return next((part for part in parts if part is not None), None)


def with_part(key: Any, part: MaybeNone, known: Any) -> Any:
    """The index with something else for such a part."""
    if isinstance(key, slice):
        return slice(*with_part((key.start, key.stop, key.step), part, known))
    if type(key) is tuple:
        return tuple(with_part(index, part, known) for index in key)
    return known if key is part else key


def adds_axis(key: Any) -> bool:
    """Whether an index of a tensor, or one in a tuple, may be None, as only the run knows."""
    return any(isinstance(index, MaybeNone) for index in (key if type(key) is tuple else (key,)))


def is_unknown(key: Any) -> bool:
    """Whether only the run knows what an index or a key is."""
    if isinstance(key, slice):
        return any(map(is_staged, (key.start, key.stop, key.step)))
    return isinstance(key, OneOf) or is_staged(key)


def get(a: dict, key: Any, default: Any = None) -> Any:
    """`a.get(key, default)` of a dict, where only the run knows the key."""
    if isinstance(key, OneOf):
        return choose(key, lambda one: a.get(one, default))
    if isinstance(key, MaybeNone):
        return or_none(key, lambda one: a.get(None, default) if one is None else get(a, one, default))
    if not key._weak and is_number(key) is False:
        return a[key] if has_tensor(a, key) else default
    values = list(a.values())
    if not values:
        return default
    place, found = place_of(list(a), key)
    return if_expr(found, lambda: select(need_tracer("a dict"), values, place), lambda: default)


def store(a: list | dict, key: Any, value: Any) -> None:
    """`a[key] = value` of a list or dict whose items differ in kind, where only the run knows the index or the key."""
    tracer = need_tracer("an item")

    def put(place: Any) -> None:
        current(tracer, a)[place] = value

    if isinstance(key, OneOf):
        choose(key, put)
        return
    if isinstance(a, list):
        places: Sequence[Any] = range(len(a))
        at = _position(a, key, "list assignment index out of range")
    else:
        places = [k for k in a if isinstance(k, NUMBERS)]
        at = _known_place(tracer, a, key)
    tracer.watch(a)
    by_index(at, len(places), lambda i: put(places[i]))


def fits_array(items: Sequence[Any], new: Sequence[Any]) -> bool:
    """Whether a list of these items, and of new ones, can be one of dynamic length."""
    together = (*items, *new)
    if any(isinstance(x, MaybeNone) for x in together):
        return False
    if any(isinstance(x, Tensor) and x.ndim for x in together) and any(not isinstance(x, Tensor) or x._weak for x in together):
        return False  # a number has no dims there
    try:
        element_type(together, "")
    except Dy2stError:
        return False
    return True


def select(tracer: Tracer, items: Sequence[Any], at: Tensor, more: Sequence[Any] = ()) -> Any:
    """The one of these items that an index, one of 0 ... n-1, tells; or the item of that under more keys."""
    if more:
        chosen = by_index(at, len(items), lambda i: getitem(current(tracer, items[i]), *more))
        within = [_known_items(current(tracer, x), more[:1], more[1:]) for x in items]
        if None not in within:
            note_item(tracer, at, [x for (x,) in filter(None, within)], chosen)
        return chosen
    first = items[0]
    if all(same(first, x) for x in items):
        return first
    kind = type(first)
    if kind in (bool, int, float) and all(type(x) is kind for x in items):
        table = dispatch.constant(items, {bool: "bool", int: "int64", float: "float64"}[kind])
        return as_number(indexing.getitem(table, at))
    if all(is_option(tracer, x) for x in items):
        options = Options(())
        for x in items:
            options = options.joined([x])
        table = dispatch.constant(np.array([options.place(x) for x in items], np.int64))
        return OneOf(as_number(indexing.getitem(table, at)), options)
    tracer.watch(*items)
    # one of them may have become a list of dynamic length, and `items` be no container that has it then
    chosen = by_index(at, len(items), lambda i: current(tracer, items[i]), name="the item")
    note_item(tracer, at, [current(tracer, x) for x in items], chosen)
    return chosen


def _parts(a: Any) -> Sequence[Any] | dict | None:
    """What items a value has, in order or under keys; None if Python does not know, or need not care."""
    if isinstance(a, dict):
        return a if type(a).__getitem__ is dict.__getitem__ and not hasattr(type(a), "__missing__") else None
    plain = isinstance(a, (list, tuple, str, range)) and type(a).__getitem__ in _GETTERS
    return a if plain else None


_GETTERS = (list.__getitem__, tuple.__getitem__, str.__getitem__, range.__getitem__)


def _error_of(a: Any) -> str:
    """What Python says of an index that is out of range."""
    kinds = {tuple: "tuple index", str: "string index", range: "range object index"}
    return next((text for kind, text in kinds.items() if isinstance(a, kind)), "list index") + " out of range"


def _position(items: Sequence[Any], key: Any, message: str) -> Tensor:
    """An index that may count from the end as one of 0 ... n-1; elsewhere the run raises an IndexError, or a TypeError for None."""
    count = len(items)
    if isinstance(key, MaybeNone):
        key = key.require(message_of(TypeError, operator.getitem, items, None))
    if not count:
        raise IndexError(message)
    at = renamed(integer(key))  # an object of its own: a tensor stays a tensor
    outside = ops.op("logical_or", X=_less(at, -count), Y=ops.op("logical_not", X=_less(at, count)))
    raise_if(outside, IndexError, message)
    negative = ops.op("cast", X=_less(at, 0), in_dtype="bool", out_dtype="int64")
    return as_number(ops.op("elementwise_add", X=at, Y=ops.op("elementwise_mul", X=negative, Y=integer(count))))


def _less(at: Tensor, bound: int) -> Tensor:
    return ops.op("less_than", X=at, Y=integer(bound))


def _of_dict(a: dict, key: Tensor) -> tuple[Sequence[Any], Tensor]:
    """The values of a dict, and the place of the one under a number."""
    if not key._weak:
        has_tensor(a, key)
        return [a[key]], integer(0)
    if not a:
        raise KeyError(key)
    at, found = place_of(list(a), key)
    raise_where(not_(found), KeyError(key))
    tracer = need_tracer("a dict")
    tracer.read_keys[id(a), id(key._value)] = (a, key._value, tuple(a), tracer.block)
    return list(a.values()), at


def has_tensor(a: dict, key: Tensor) -> bool:
    """`key in a` for a tensor, which is a key as the object that it is.

    Raises:
        StagedValueError: it may be one that was there before the call, of which another object stands for it in the call.
    """
    found = any(is_one(key, k) for k in a)
    if not found and any(isinstance(k, Tensor) and not k.is_symbolic for k in a):
        raise StagedValueError("a tensor is looked up in a dict that has tensors from outside of the function as keys",
                               location=user_location(), hint="take numbers or texts as keys")  # fmt: skip
    return found


def _known_place(tracer: Tracer, a: dict, key: Tensor) -> Tensor:
    """The place of a number among the keys of a dict that are numbers: the item under it must have been read, so that it surely is one.

    Raises:
        StagedValueError: it may be a new key.
    """
    require_key(key)
    read = tracer.read_keys.get((id(a), id(key._value)))
    if read is None or read[2] != tuple(a) or not tracer.is_around(read[3]):
        raise StagedValueError(
            "a dict may get a key here that only the run knows", location=user_location(2),
            hint="read the item first (d[k] += v does), use a list, or choose among the keys with if",
        )  # fmt: skip
    return place_of([k for k in a if isinstance(k, NUMBERS)], key)[0]


def place_of(keys: Sequence[Any], key: Any) -> tuple[Tensor, Tensor]:
    """Which of these keys a number is equal to, and whether it is any; where it is none, the place is some other."""
    number = is_number(key)
    if number is None or (key._kinds is not None and key.ndim):
        require_one_kind(key, "only a number is found by its value")
    if not key._weak:
        hash(key)  # which says what cannot be
    matches = [(i, k) for i, k in enumerate(keys) if isinstance(k, NUMBERS) and number is not False]
    place, found = as_number(integer(0)), as_number(dispatch.constant(np.zeros((), np.bool_)))
    value = key if number is True else resolved(key)
    for i, k in matches:
        equal = value == k
        found = ops.op("logical_or", X=found, Y=equal)
        place = place + i * equal
    if isinstance(number, Tensor):
        found = ops.op("logical_and", X=found, Y=number)
    return place, as_number(found)


def _slice(items: Sequence[Any], key: slice) -> DynamicList:
    if not isinstance(items, list) or not items:
        raise StagedValueError(
            f"a slice of a {type(items).__name__} has a length that only the run knows", location=user_location(2),
            hint="use a list of tensors or numbers of one dtype, or a tensor",
        )  # fmt: skip
    return dynamic_list(items, [], "what is sliced")[key]
