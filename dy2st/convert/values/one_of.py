"""`OneOf`: a variable that holds one of several Python objects (texts, functions, layers, ...), as only the run knows.

What is done with it is done in a branch for each of them: `mode == "a"`, `layer(x)`, `config.rate`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

import numpy as np

from ...errors import Dy2stError, StagedValueError
from ...tensor import Tensor, dispatch
from ...tensor.indexing import getitem
from ...tensor.kinds import as_number
from ...tensor.location import user_location
from ...tensor.promotion import NUMBERS, is_weak
from ...transpiler import is_generated
from .. import hub, roles
from ..hub import need_tracer
from ..pyfacts.attribute_lookup import MISSING, defined, held
from ..pyfacts.undefined import Undefined
from .maybe_value import MaybeObject

roles.runs_statements(__file__)


class Options:
    """The objects that a variable may hold, in the order in which they were found."""

    def __init__(self, values: Sequence[Any]):
        self.values = tuple(values)

    def place(self, value: Any) -> int | None:
        """Which one a value is; None if it is none of them."""
        return next((i for i, one in enumerate(self.values) if hub.same(one, value)), None)

    def joined(self, values: Sequence[Any]) -> Options:
        """These and others; the same object if these are all."""
        new = [v for v in values if self.place(v) is None]
        return Options([*self.values, *new]) if new else self


class OneOf:
    """One of several objects: `_dy_index` says which."""

    __slots__ = ("_dy_index", "_dy_options")

    def __init__(self, index: Tensor, options: Options):
        object.__setattr__(self, "_dy_index", index)
        object.__setattr__(self, "_dy_options", options)

    def __getattr__(self, name: str) -> Any:
        # what this package looks for in values of its own is not asked of the objects
        if name in ("_value", "_who", "_kinds") or (name.startswith("__") and not is_generated(sys._getframe(1).f_code)):
            raise AttributeError(name)
        found = choose(self, lambda one: getattr(one, name))
        self._dy_note(name, found)
        return found

    def _dy_note(self, name: str, found: Any) -> None:
        """A list in an attribute of the object that it is, say, may be changed: this is one that all of them keep."""
        items = [MISSING if hasattr(type(defined(type(one), name)), "__set__") else held(one, name) for one in self._dy_options.values]
        if not any(x is MISSING for x in items):
            hub.note_item(need_tracer("an attribute"), self._dy_index, items, found)

    def __setattr__(self, name: str, value: Any) -> None:
        tracer = need_tracer("an attribute")
        tracer.watch(*self._dy_options.values)
        choose(self, lambda one: setattr(one, name, value))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return choose(self, lambda one: hub.call(one)(*args, **kwargs))

    def __getitem__(self, key: Any) -> Any:
        return choose(self, lambda one: hub.getitem(one, key))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """What the attribute of a class is for an object: of functions, properties and other descriptors what each of them gives."""
        return choose(self, lambda one: type(one).__get__(one, instance, owner) if hasattr(type(one), "__get__") else one)

    def __invert__(self) -> Any:
        return choose(self, operator.invert)

    def __str__(self) -> str:
        return hub.shown_chosen(self, str)

    def __repr__(self) -> str:
        return hub.shown_chosen(self, repr)

    def __format__(self, spec: str) -> str:
        return hub.shown_chosen(self, lambda one: format(one, spec))

    def __hash__(self) -> int:
        self._dy_fail("used as a key")

    def _dy_fail(self, use: str) -> NoReturn:
        raise StagedValueError(
            f"a value is one of several objects ({hub.listed(self._dy_options.values)}), as a condition on tensors "
            f"decides; it cannot be {use}",
            location=user_location(3), hint="compare it, call it or read its attributes, or do this in the branches that set it",
        )  # fmt: skip


def _refusing(use: str) -> Callable[..., NoReturn]:
    def refuse(self: OneOf, *args: Any) -> NoReturn:
        self._dy_fail(use)

    return refuse


for _name, _use in {
    "__bool__": "used as a condition here", "__len__": "measured here", "__iter__": "iterated over", "__delattr__": "changed",
    "__setitem__": "changed", "__delitem__": "changed", "__dir__": "asked for the names of all that it has",
}.items():  # fmt: skip
    setattr(OneOf, _name, _refusing(_use))


class _Documentation:
    """`__doc__` of each of the objects; of the class that which it has."""

    def __init__(self, own: str | None):
        self.own = own

    def __get__(self, x: OneOf | None, owner: type) -> Any:
        return self.own if x is None else choose(x, lambda one: one.__doc__)


OneOf.__doc__ = cast(Any, _Documentation(OneOf.__doc__))


def _comparison(op: str) -> Callable[[OneOf, Any], Any]:
    def compared(self: OneOf, other: Any) -> Any:
        return hub.compare(op, self, other)

    return compared


for _name, _op in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(OneOf, f"__{_name}__", _comparison(_op))


def _operator(f: Callable[[Any, Any], Any], reflected: bool, of_flags: bool) -> Callable[[OneOf, Any], Any]:
    def operate(self: OneOf, other: Any) -> Any:
        if f is operator.add and is_text(self) and is_text(other):
            return hub.joined_texts(other, self) if reflected else hub.joined_texts(self, other)
        # what is no flag, number or tensor would be another object in each iteration of a loop, and there could be more and more
        of_tensor = all(v is None or isinstance(v, NUMBERS) for v in values_of(self)) and isinstance(other, Tensor) and not other._weak
        of_number = all(isinstance(v, int) for v in values_of(self)) and is_weak(other)  # members of an IntEnum
        if not of_flags and not of_tensor and not of_number:
            self._dy_fail("an operand")
        return choose(self, lambda one: f(other, one) if reflected else f(one, other), plain=not of_flags)

    return operate


for _name in ("and", "or", "xor", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    _of_flags = _name in ("and", "or", "xor")
    setattr(OneOf, f"__{_name}__", _operator(getattr(operator, f"__{_name}__"), False, _of_flags))
    setattr(OneOf, f"__r{_name}__", _operator(getattr(operator, f"__{_name}__"), True, _of_flags))


def choose(x: OneOf, f: Callable[[Any], Any], *, plain: bool = False) -> Any:
    """`f` of the object that it is; `plain`: f is Python's own, so that whatever it raises is about the object."""
    values = x._dy_options.values
    errors: list[Exception] = []
    found = by_index(x._dy_index, len(values), lambda i: _attempted(f, values[i], plain, errors))
    if isinstance(found, Undefined) and errors:
        raise errors[-1]  # each of them raises; which one, has been said before
    return found.value if isinstance(found, MaybeObject) else found  # what is not there has been raised before


def by_index(index: Tensor, count: int, f: Callable[[int], Any], first: int = 0, name: str = "the value of the expression") -> Any:
    """`f(i)` in a branch for each i from `first` on, of which `index` is one: as a tree, so that a run decides log2(count) times."""
    if count == 1:
        return f(first)
    half = count // 2
    middle = first + half
    return hub.if_expr(
        index < middle, lambda: by_index(index, half, f, first, name), lambda: by_index(index, count - half, f, middle, name), name
    )  # fmt: skip


def _attempted(f: Callable[[Any], Any], value: Any, plain: bool, errors: list[Exception]) -> Any:
    """`f(value)`; what Python says of it, if that is an error, only the run with this value raises."""
    try:
        return f(value)
    except (AttributeError, TypeError, LookupError, ValueError) as error:
        own = plain and not isinstance(error, Dy2stError)
        if not own and not hub.is_of_python(error):
            raise  # what the user's code raises is staged with the branch
        hub.raise_where(dispatch.constant(True), error)
        errors.append(error)
        return Undefined("the result")


class Position:
    """Which of the options a value is: told in the block that is left with it."""

    def __init__(self, options: Options, value: Any):
        self.options, self.value = options, value

    def index(self) -> Any:
        """An int, or a number that the run knows."""
        options, value = self.options, self.value
        if not isinstance(value, OneOf):
            return options.place(value)
        if value._dy_options is options:
            return value._dy_index
        return looked_up([options.place(v) for v in value._dy_options.values], value._dy_index)


def looked_up(table: Sequence[int | None], index: Tensor) -> Tensor:
    """A number of a table of the trace, at an index that is surely one of it: no `try` of the user's is meant."""
    with need_tracer("one of several objects").tries.certain():
        return as_number(getitem(dispatch.constant(np.array(table, np.int64)), index))


def values_of(x: Any) -> tuple[Any, ...]:
    """What a value may be."""
    return x._dy_options.values if isinstance(x, OneOf) else (x,)


def is_text(x: Any) -> bool:
    """Whether a value is a text in all runs, one of several perhaps."""
    return all(isinstance(v, str) for v in values_of(x))


def marked(x: Any) -> Any:
    """One of several texts as a text with a mark, which functions of Python's take; any other value is as it was."""
    return str(x) if isinstance(x, OneOf) and is_text(x) else x
