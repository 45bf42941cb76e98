"""Python's built-in functions, as they are for tensors too."""

from __future__ import annotations

import bisect
import copy
import functools
import heapq
import inspect
import itertools
import operator
import types
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from dy2st_runtime import dims

from ...errors import DTypeError, ShapeError, StagedValueError
from ...library import bisection, heaps
from ...library.queues import Deque
from ...tensor import Tensor, api, creation, dispatch, operators
from ...tensor.dispatch import ops
from ...tensor.failures import message_of, raise_if
from ...tensor.kinds import as_number, kinds_of, python_dtype, require_one_kind, resolved
from ...tensor.location import user_location
from ...tensor.nested import any_staged
from ...tensor.promotion import NUMBERS, as_tensor, no_number, weak_dtype
from .. import hub, roles
from ..contexts.printing import LOGGING, PRETTY, SHOWING, WARNINGS, print_
from ..control import sorting
from ..control.generators import Generator, generator, numbered
from ..control.if_stmt import or_none, truth
from ..control.logical import compare, not_, or_, python_bool
from ..control.membership import in_
from ..control.number_kinds import by_kind
from ..control.object_ids import id_
from ..control.symbolic_items import as_index
from ..guards.namespaces import OF_NAMESPACES
from ..guards.special_methods import as_length, bound
from ..hub import BUILTINS, current_tracer, is_staged
from ..iteration.outer_iterators import advanced, fresh, iter_, next_, walked
from ..iteration.staged_iterables import (
    StagedRange,
    is_like_a_tensor,
    staged_enumerate,
    staged_map,
    staged_reversed,
    staged_zip,
)
from ..iteration.tensor_functions import OF_TENSORS
from ..iteration.underlying import Opened, beside
from ..purity.untraceable import OF_THE_MOMENT
from ..purity.world_reads import OF_THE_WORLD, note_classes
from ..pyfacts.control_flow_calls import HAND_WRITTEN
from ..pyfacts.python_frames import frames
from ..values.dynamic_list import DynamicList
from ..values.lazy_iterables import Lazy, Staged, staged
from ..values.list_indices import integer
from ..values.maybe_none import MaybeNone, wrong_operands
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf, choose
from ..values.staged_dict import StagedDict, StagedView
from ..values.symbolic_texts import StagedText, require_known
from . import copying
from .math_functions import MATH
from .reductions import combined, extreme, quantifier, sum_
from .rounding import rounded

ROLE = roles.ACTING


def _staged_any(*values: Any) -> bool:
    return any(isinstance(v, (Staged, DynamicList)) or is_staged(v) for v in values)


def range_(*args: Any) -> Any:
    args = tuple(map(as_index, args))
    if not _staged_any(*args):
        return range(*args)
    args = tuple(x.require("'NoneType' object cannot be interpreted as an integer") if isinstance(x, MaybeNone) else x for x in args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    return StagedRange(start, stop, step)


def of_each(f: Callable) -> Callable:
    """A function that asks each of the objects that its argument may be."""

    @functools.wraps(f)
    def asked(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], OneOf):
            return choose(args[0], lambda one: f(one, *args[1:], **kwargs), plain=True)
        return f(*args, **kwargs)

    return asked


@of_each
def len_(*args: Any) -> Any:
    x: Any = args[0] if len(args) == 1 else len(*args)  # which says what is wrong with these
    if isinstance(x, MaybeValue):
        x = x._dy_bare("object of type 'NoneType' has no len()")
    if isinstance(x, MaybeNone):
        x = x.require("object of type 'NoneType' has no len()")
    if isinstance(x, (DynamicList, StagedDict, StagedView)):
        return x.length()
    if isinstance(x, Staged):
        if x.once:
            raise TypeError(f"object of type '{x.kind.__name__}' has no len()")
        return x.size()
    if is_staged(x):
        if x._weak:
            x = no_number(x, "object of type '{}' has no len()")
        if x.ndim == 0:
            raise DTypeError("len() of a 0-d tensor", location=user_location(2))
        return x.shape[0]
    own = bound(x, "__len__")
    return len(x) if own is None else _as_python(own(), as_length)


def _number(x: Tensor, dtype: str, what: str) -> Tensor:
    """A one-element tensor as a weak scalar."""
    if np.prod([d for d in x._value.shape if d != -1], dtype=int) != 1:
        raise ShapeError(
            f"{what} needs a tensor with one element, got shape {dims.show(x._value.shape)}", location=user_location(3)
        )
    x = resolved(x)
    t = x if x.ndim == 0 else ops.op("reshape2", X=x, shape=[])
    if dtype == "int64" and t.dtype.startswith("float"):
        t = ops.op("python_int", X=t)
    else:
        t = ops.op("cast", X=t, in_dtype=t.dtype, out_dtype=dtype)
    return as_number(t)


def _present(x: Any, function: Callable[[Any], Any]) -> Any:
    """The argument of a function that raises a TypeError for None."""
    return x.require(message_of(TypeError, function, None)) if isinstance(x, MaybeNone) else x


def _as_python(x: Any, check: Callable[[Any], Any]) -> Any:
    """What a special method of the user's gives; Python checks it, if it is known."""
    return x if is_staged(x) else check(x)


@of_each
def int_(x: Any = 0, *args: Any, **kwargs: Any) -> Any:
    if is_staged(x):
        if args or kwargs:
            raise TypeError("int() can't convert non-string with explicit base")
        return _number(_present(x, int), "int64", "int()")
    require_known(x)
    own = None if args or kwargs else bound(x, "__int__")
    return int(x, *args, **kwargs) if own is None else _as_python(own(), int)


@of_each
def float_(x: Any = 0.0) -> Any:
    if is_staged(x):
        return _number(_present(x, float), "float64", "float()")
    require_known(x)
    own = bound(x, "__float__")
    return float(x) if own is None else _as_python(own(), float)


def bool_(x: Any = False) -> Any:
    decided = truth(x)
    return _number(decided, "bool", "bool()") if isinstance(decided, Tensor) else decided


def item(x: Tensor, *args: Any) -> Any:
    """`x.item()`: a weak scalar of the kind of the dtype."""
    if not is_staged(x):
        return x.item(*args)
    if args:
        x = operators.element(x, args)
    return _number(x, python_dtype(x.dtype), "item()")


def enumerate_(x: Iterable, start: Any = 0) -> Any:
    x, start = fresh(x), as_index(start)
    start = as_number(integer(start)) if is_staged(start) else operator.index(start)
    if isinstance(x, Opened) or (isinstance(x, Generator) and x.chooses()):
        return numbered(x, start)
    over = staged(x)
    if over is not None:
        return staged_enumerate(over, start)
    return numbered(x, start) if is_staged(start) else enumerate(x, start)


def zip_(*xs: Any, strict: bool = False) -> Any:
    values = [fresh(x) for x in xs]
    beside(values)
    overs = [staged(x) for x in values]  # which uses up a generator
    if all(over is None for over in overs):
        return zip(*values, strict=strict)
    known = all(over is None or not isinstance(over.length, Tensor) for over in overs)
    parts = [x if over is None else over for x, over in zip(values, overs, strict=True)]
    if known and not all(isinstance(part, Staged) or is_like_a_tensor(part) for part in parts):
        return zip(*parts, strict=strict)  # the others may hold anything, if Python does the loop
    return staged_zip(parts, strict)


def reversed_(x: Any) -> Any:
    if type(x) is Deque:
        return walked(x, reversed(x))
    tracer = current_tracer()
    if tracer is not None and isinstance(x, deque) and bound(x, "__reversed__") is None:
        return tracer.walks.over(x, reversed(range(len(x))))
    over = None if isinstance(x, Lazy) else staged(x)
    return reversed(x) if over is None else staged_reversed(over)


def map_(f: Callable, *xs: Any) -> Any:
    if len(xs) == 1 and isinstance(xs[0], Lazy):
        return generator(xs[0], hub.call(f))
    xs = tuple(map(fresh, xs))
    beside(xs)
    overs = [staged(x) for x in xs]
    if all(over is None for over in overs):
        return map(hub.call(f), *xs)
    return staged_map(hub.call(f), staged_zip([x if over is None else over for x, over in zip(xs, overs, strict=True)]))


def filter_(f: Callable | None, xs: Iterable) -> Any:
    if isinstance(f, OneOf) and None in f._dy_options.values:  # for which it means another thing
        f._dy_fail("the function of filter()")
    return generator(xs, _itself, _itself if f is None else hub.call(f))


def _itself(x: Any) -> Any:
    return x


def reduce_(f: Callable, xs: Any, *start: Any) -> Any:
    """`functools.reduce`."""
    if isinstance(xs, (Lazy, Staged, DynamicList, StagedDict, StagedView)) or is_staged(xs):
        return combined(hub.call(f), xs, *start)
    return functools.reduce(hub.call(f), fresh(xs), *start)


def classes(x: Tensor) -> set[type]:
    """The classes that a tensor may be of: a weak scalar is the Python number that it stands for."""
    numbers = {"bool": bool, "int64": int, "float64": float}
    return {numbers[k.dtype] if k.weak else Tensor for k in kinds_of(x)}


def _own_check(kind: Any) -> Any:
    """The `__instancecheck__` that a metaclass of the user's gives a class, in its converted form; None if there is none."""
    own = inspect.getattr_static(type(kind), "__instancecheck__", None)
    return hub.call(types.MethodType(own, kind)) if isinstance(own, types.FunctionType) and not hub.is_ignored(own) else None


def _is_one(cls: type, kinds: Any) -> bool:
    """Whether objects of a class are of some kinds. A protocol looks at an object: at one of the numbers, which are all alike."""
    return issubclass(cls, kinds) if cls is Tensor else isinstance(cls(), kinds)


def isinstance_(x: Any, kinds: Any) -> Any:
    """A weak scalar counts as the Python number that it stands for.

    Raises:
        DTypeError: it depends on the path.
    """
    if isinstance(kinds, OneOf):
        return choose(kinds, lambda one: isinstance_(x, one))
    if isinstance(kinds, tuple) and any(isinstance(kind, (OneOf, tuple)) for kind in kinds):
        return or_(*[lambda kind=kind: isinstance_(x, kind) for kind in kinds])
    if isinstance(x, OneOf):
        return choose(x, lambda one: isinstance_(one, kinds))
    if isinstance(x, (MaybeNone, MaybeValue)):
        return or_none(x, lambda one: isinstance_(one, kinds))
    if isinstance(x, (Tensor, DynamicList, StagedDict)):
        own = [_own_check(kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        if any(own):
            return or_(*[lambda kind=kind: isinstance_(x, kind) for kind in kinds]) if isinstance(kinds, tuple) else bool_(own[0](x))
    if isinstance(x, Tensor) and x._weak:
        answers = {_is_one(c, kinds) for c in classes(x)}
        if len(answers) > 1 and x._kinds is not None and x._kinds.number is not None:
            known = {_is_one(c, kinds) for c in classes(x) - {Tensor}}
            if len(known) == 1:
                number = python_bool(x._kinds.number)
                return number if known.pop() else not_(number)
        if len(answers) > 1:
            require_one_kind(x, "what isinstance() says depends on that")
        return answers.pop()
    if isinstance(x, (DynamicList, StagedDict)):
        return issubclass(list if isinstance(x, DynamicList) else x.kind, kinds)
    if isinstance(x, Staged) or type(x) is Deque:
        return issubclass(type_(x), kinds)
    note_classes(type(x), kinds, x)
    return isinstance(x, kinds)


def _is_tensor(x: Any) -> Any:
    return isinstance_(x, Tensor)


def callable_(x: Any) -> Any:
    if isinstance(x, (MaybeNone, MaybeValue)):
        return or_none(x, callable_)
    return choose(x, callable_) if isinstance(x, OneOf) else callable(x)


@hub.primitive
def type_(x: Any, *args: Any, **kwargs: Any) -> Any:
    """`type(x)`, with the Python number for a weak scalar, and list for a list of dynamic length."""
    if isinstance(x, (MaybeNone, MaybeValue)) and not args:
        return or_none(x, type_)
    if isinstance(x, Tensor) and x._weak and not args:
        require_one_kind(x, "its type() depends on that")
        return classes(x).pop()
    if isinstance(x, (DynamicList, StagedDict)):
        return list if isinstance(x, DynamicList) else x.kind
    if isinstance(x, OneOf) and not args:
        return choose(x, type_)
    if isinstance(x, Staged):
        return x.kind
    if type(x) is Deque:
        return deque
    if isinstance(x, StagedText) and not args:
        return str
    if isinstance(x, Tensor) and not args and (tracer := current_tracer()) is not None:
        tracer.note_class(x)
    new = type(x, *args, **kwargs)
    if args and "__module__" not in args[-1]:
        new.__module__ = next((f.f_globals["__name__"] for f in frames()), new.__module__)  # that of the function that calls it
    return new


def class_of(x: Any) -> Any:
    """`x.__class__`, which is `type(x)` for what stands for another value."""
    return type_(x) if isinstance(x, (Tensor, DynamicList, StagedDict, Staged, OneOf, MaybeValue)) else x.__class__


def divmod_(*args: Any) -> Any:
    if len(args) != 2:
        return divmod(*args)  # type: ignore[misc]  # Python says what is wrong with these
    return _divided(*(x.require(wrong_operands("divmod()", *args)) if isinstance(x, MaybeNone) else x for x in args))


@by_kind
def _divided(a: Any, b: Any) -> Any:
    # tensors have no divmod(), numbers that depend on tensors do
    numbers = all(x._weak if isinstance(x, Tensor) else isinstance(x, NUMBERS) for x in (a, b))
    if not numbers or not _staged_any(a, b):
        return divmod(a, b)
    if isinstance(b, Tensor) or b == 0:
        one = 1.0 if "float64" in (weak_dtype(a), weak_dtype(b)) else 1
        raise_if(as_tensor(b) == 0, ZeroDivisionError, message_of(ZeroDivisionError, divmod, one, 0))
    return a // b, a % b


def pow_(a: Any, b: Any, mod: Any = None) -> Any:
    if mod is None:
        return a**b if _staged_any(a, b) else pow(a, b)
    return _power_modulo(a, b, mod)


@by_kind
def _power_modulo(a: Any, b: Any, mod: Any) -> Any:
    numbers = [x for x in (a, b, mod) if is_staged(x)]
    if not numbers or not all(x._weak for x in numbers):  # a tensor has no such power, and says so
        return pow(a, b, mod)
    for x in numbers:
        if len({issubclass(c, int) for c in classes(x)}) > 1:
            require_one_kind(x, "pow() with a third argument takes ints only")
    if any(not issubclass(c, int) for x in (a, b, mod) for c in (classes(x) if is_staged(x) else {type(x)})):
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return a**b % mod


def round_(x: Any, digits: int | None = None) -> Any:
    return _rounded(_present(x, round), digits) if is_staged(x) else round(x, digits)


@by_kind
def _rounded(x: Tensor, digits: int | None) -> Any:
    if not x._weak:  # a tensor has no rounding of Python's, and says so
        return round(x, digits)
    if digits is not None:
        return as_number(rounded(x, digits))
    x = resolved(x)  # an int, whatever the number is
    return _number(ops.op("round", X=x) if x.dtype == "float64" else x, "int64", "round()")


def tensor_(*args: Any, **kwargs: Any) -> Tensor:
    """`Tensor(...)`: while tracing a constant of the program, so that each call begins with a new one."""
    if any_staged(args[0] if args else kwargs.get("data")):
        return _tensor_of(*args, **kwargs)
    new = Tensor(*args, **kwargs)
    if not new.is_symbolic and not dispatch.in_dynamic_mode():
        stop = new._stops
        new = dispatch.constant(new._value)
        if not stop:
            new.stop_gradient = False
    return new


def _tensor_of(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True, name: str | None = None) -> Tensor:
    """`Tensor(...)` of what only the run knows."""
    new = creation.to_tensor(data, dtype, place, stop_gradient)
    new._name = name
    return new


def list_(*args: Any) -> Any:
    return hub.list_(*map(fresh, args))


def dict_(*args: Any, **kwargs: Any) -> Any:
    if not (len(args) == 1 and isinstance(args[0], StagedDict)):
        return dict(*map(advanced, args), **kwargs)
    new = args[0].copy(dict)
    new.update(kwargs)
    return new


def tuple_(*args: Any) -> Any:
    items = list_(*args)
    if isinstance(items, DynamicList):
        raise StagedValueError(
            "tuple() of something whose length only the run knows is not supported", location=user_location(2),
            hint="use list(): a list may have a length that depends on tensors",
        )  # fmt: skip
    return tuple(items)


def sorted_(xs: Iterable, /, **kwargs: Any) -> Any:
    return sorting.sorted_(fresh(xs), **kwargs)


def _index(x: Any) -> Any:
    return int_(x) if is_staged(x) and not x.dtype.startswith(("float", "bool")) else operator.index(x)


def _contains(items: Any, x: Any) -> Any:
    return in_(x, items)


def _filterfalse(test: Any, xs: Iterable) -> Any:
    if current_tracer() is None:
        return itertools.filterfalse(test, xs)

    return filter_(lambda x: not_(x if test is None else hub.call(test)(x)), xs)


def _converted(f: Callable, own: Callable) -> Callable:
    """A function or class of the library, of which `own` is written in Python: that one while a function is traced."""

    def call_it(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs) if current_tracer() is None else hub.call(own)(*args, **kwargs)

    return call_it


BUILTINS.update({
    range: range_, len: len_, int: int_, float: float_, bool: bool_, enumerate: enumerate_, zip: zip_,
    reversed: reversed_, map: map_, filter: filter_, max: extreme("max"), min: extreme("min"),
    all: quantifier("all"), any: quantifier("any"), sum: sum_, isinstance: isinstance_, divmod: divmod_, pow: pow_,
    callable: callable_,
    next: next_, iter: iter_, round: round_, print: print_, list: list_, dict: dict_, tuple: tuple_, sorted: sorted_, type: type_,
    id: id_, Tensor: tensor_, itertools.filterfalse: _filterfalse, deque: _converted(deque, Deque),
})  # fmt: skip
for _python, _ours in BUILTINS.items():
    if isinstance(_ours, types.FunctionType):  # what Python says of wrong arguments names the function
        _ours.__module__, _ours.__qualname__ = _python.__module__, _python.__qualname__
FUNCTIONS: dict[Any, Callable] = {
    api.is_tensor: _is_tensor, **MATH, **LOGGING, **WARNINGS, **SHOWING, **PRETTY, **OF_THE_MOMENT, **OF_THE_WORLD, **OF_NAMESPACES,
    functools.reduce: reduce_, operators.item: item, **OF_TENSORS,
    operator.is_: functools.partial(compare, "is"), operator.is_not: functools.partial(compare, "is not"),
    operator.not_: not_, operator.truth: bool_, operator.index: _index, operator.contains: _contains,
    **{f: _converted(f, getattr(heaps, f.__name__)) for f in (
        heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop, heapq.nlargest, heapq.nsmallest)},
    **{f: _converted(f, getattr(bisection, f.__name__)) for f in (
        bisect.bisect_left, bisect.bisect_right, bisect.insort_left, bisect.insort_right)},
    **HAND_WRITTEN, copy.copy: copying.shallow, copy.deepcopy: copying.deep, object.__new__: copying.new, **copying.OF_DATACLASSES,
}  # fmt: skip
