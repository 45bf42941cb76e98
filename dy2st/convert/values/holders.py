"""What holds what: the values that hold others and are no containers themselves, and which of these can be given others instead.

Nobody sees a list that has become one of dynamic length in the place of the one that it was, as long as all that holds it gets the new one.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import operator
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...transpiler import is_generated
from ..pyfacts.code_names import names_of
from ..pyfacts.foreign import ANNOTATING, is_foreign, is_foreign_class
from ..pyfacts.python_frames import assign, held_by_generator
from .maybe_attribute import MaybeAttribute
from .maybe_value import MaybeObject, MaybeValue
from .one_of import OneOf, values_of
from .staged_dict import StagedDict, StagedView

# modules of Python whose classes keep what they hold where no code can see it
_MODULES = {"builtins", "itertools", "collections", "functools", "operator", "_io", "_collections", "_functools", "_operator", "_random"}
_METHODS = (types.BuiltinMethodType, types.MethodWrapperType)
# what leads to all that there is, or nowhere
_CLOSED = (types.ModuleType, types.CodeType, types.FrameType, types.TracebackType)

Parts = Callable[[Any], Iterable[Any]]


def parts_of(x: Any) -> Iterable[Any] | None:
    """What a value holds that is no container and no object with attributes of the user's; None if it is no such value."""
    cls = type(x)
    try:
        parts = _of_classes[cls]
    except KeyError:
        parts = _of_classes[cls] = _kind(cls)
    return None if parts is None else parts(x)


def is_holder(x: Any) -> bool:
    """Whether there is anything that it holds so."""
    return bool(parts_of(x))


# what is known of classes
_of_classes: weakref.WeakKeyDictionary[type, Parts | None] = weakref.WeakKeyDictionary()
_made_by_calls: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def _kind(cls: type) -> Parts | None:
    if issubclass(cls, _CLOSED):
        return None
    for known, parts in _KINDS.items():
        if issubclass(cls, known):
            return parts
    if cls.__module__.startswith("dy2st.convert.") and hasattr(cls, "__next__"):
        return _attributes
    return gc.get_referents if cls.__module__ in _MODULES and not cls.__dictoffset__ else None


def _function(f: types.FunctionType) -> Iterable[Any]:
    if (f.__closure__ is None and f.__defaults__ is None and f.__kwdefaults__ is None) or _is_own(f) or f.__name__ in ANNOTATING:
        return ()
    return [*(c.cell_contents for c in f.__closure__ or () if has_contents(c)), *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]


def is_of_a_call(cls: type) -> bool:
    """Whether a class is of the user's, and none that its module has: a function has made it."""
    known = _made_by_calls.get(cls)
    if known is None:
        known = _made_by_calls[cls] = not is_foreign_class(cls) and not _is_in_its_module(cls)
    return known


def _is_in_its_module(cls: type) -> bool:
    found: Any = sys.modules.get(cls.__module__)
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is cls


def _is_own(f: types.FunctionType) -> bool:
    """Whether a function is one of this package: what it holds is no matter of the user's."""
    return (f.__module__ or "").startswith("dy2st.") and not is_generated(f.__code__)


def has_contents(cell: types.CellType) -> bool:
    """Whether a variable of a function has a value."""
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:
        return False


def _proxy(x: types.MappingProxyType) -> Iterable[Any]:
    return [held for held in gc.get_referents(x) if "__module__" not in held]  # that is one of a class


def _attributes(x: Any) -> Iterable[Any]:
    return vars(x).values()


_KINDS: dict[Any, Parts] = {
    tuple: lambda x: x,
    type: lambda x: vars(x).values() if is_of_a_call(x) else (),
    (staticmethod, classmethod): lambda x: (x.__func__,),
    property: lambda x: (x.fget, x.fset, x.fdel),
    types.FunctionType: _function,
    types.MethodType: lambda x: (x.__self__, x.__func__),
    functools.partial: lambda x: (x.func, x.args, x.keywords),
    types.CellType: lambda x: (x.cell_contents,) if has_contents(x) else (),
    types.GeneratorType: held_by_generator,
    types.MappingProxyType: _proxy,
    BaseException: lambda x: x.args,
    contextlib._GeneratorContextManager: lambda x: (x.gen,),
    MaybeObject: lambda x: (x.value,),
    MaybeAttribute: lambda x: (x.value,),
    MaybeValue: lambda x: (x._dy_value,),
    OneOf: values_of,
    StagedDict: lambda x: x.parts,
    StagedView: lambda x: (x.of,),
}


def places_in(x: Any) -> Iterable[tuple[Any, Callable[[Any], None]]]:
    """The places in which a value can be given others, but for containers: each with what is there, and what puts another one there."""
    if isinstance(x, types.FunctionType):
        return _places_of_function(x)
    if isinstance(x, types.GeneratorType):
        variables = {} if x.gi_frame is None else x.gi_frame.f_locals
        return [(value, functools.partial(_set_variable, x, name)) for name, value in variables.items()]
    if isinstance(x, type):
        return [(value, functools.partial(type.__setattr__, x, name)) for name, value in vars(x).items()] if is_of_a_call(x) else ()
    if isinstance(x, types.CellType):
        return [(x.cell_contents, functools.partial(setattr, x, "cell_contents"))] if has_contents(x) else []
    if isinstance(x, functools.partial):
        return [(x.func, functools.partial(_set_function, x)), (x.args, functools.partial(_set_arguments, x))]
    if isinstance(x, BaseException):
        return [(x.args, functools.partial(setattr, x, "args"))]
    return ()


def _places_of_function(f: types.FunctionType) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    for cell in f.__closure__ or ():
        if has_contents(cell):
            yield cell.cell_contents, functools.partial(setattr, cell, "cell_contents")
    if f.__defaults__ is not None:
        yield f.__defaults__, functools.partial(setattr, f, "__defaults__")
    keywords = f.__kwdefaults__ or {}
    for name, value in keywords.items():
        yield value, functools.partial(keywords.__setitem__, name)


def globals_in(x: Any) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """The same of the global variables that a function names."""
    if isinstance(x, types.FunctionType) and not is_foreign(x.__module__):
        for name in names_of(x.__code__).globals & x.__globals__.keys():
            yield x.__globals__[name], functools.partial(x.__globals__.__setitem__, name)


def _set_variable(x: types.GeneratorType, name: str, value: Any) -> None:
    if x.gi_frame is not None:
        assign(x.gi_frame, name, value)


def _set_function(x: functools.partial, function: Any) -> None:
    x.__setstate__((function, x.args, x.keywords, x.__dict__ or None))  # type: ignore[attr-defined]


def _set_arguments(x: functools.partial, args: tuple) -> None:
    x.__setstate__((x.func, args, x.keywords, x.__dict__ or None))  # type: ignore[attr-defined]


def mapped(value: Any, to: Callable[[Any], Any], methods: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """What a value becomes where `to` says what becomes of what it holds, if it is made anew for that, as a tuple is; else the same value.

    Args:
        methods: gets the bound methods that are made anew, by id, each with the one that it was.
    """
    new = to(value)
    if isinstance(new, MaybeAttribute):
        inner = mapped(new.value, to, methods)
        return new if inner is new.value else MaybeAttribute(inner, new.has)
    if isinstance(new, MaybeObject):
        inner = mapped(new.value, to, methods)
        return new if inner is new.value else MaybeObject(inner, new.token)
    if isinstance(new, MaybeValue):
        inner = mapped(new._dy_value, to, methods)
        return new if inner is new._dy_value else MaybeValue(inner, new._dy_is_none)
    if new is not value or not isinstance(value, _MADE_ANEW):
        return new
    if isinstance(value, tuple):
        parts = [mapped(v, to, methods) for v in value]
        return value if all(map(operator.is_, parts, value)) else _tuple_like(value, parts)
    owner = mapped(value.__self__, to, methods)
    method = value if owner is value.__self__ else _method_like(value, owner)
    if method is value:
        return value
    if methods is not None:
        methods[id(method)] = method, value
    return method


_MADE_ANEW = (tuple, types.MethodType, *_METHODS)


def _method_like(value: Any, owner: Any) -> Any:
    """A bound method as one of another object. A list has other methods than one of dynamic length has, under the same names."""
    if isinstance(value, types.MethodType) and getattr(type(value.__self__), value.__name__, None) is not value.__func__:
        return types.MethodType(value.__func__, owner)
    return getattr(owner, value.__name__, value)  # the lists of Python have not all that ours have


def is_replaced_on_change(x: Any) -> bool:
    """Whether there is another one in the place of a value where what it holds changes."""
    return isinstance(x, (*_MADE_ANEW, MaybeAttribute, MaybeObject, MaybeValue))


def _tuple_like(value: tuple, parts: Iterable[Any]) -> tuple:
    new = tuple.__new__(type(value), parts)
    if hasattr(value, "__dict__"):
        vars(new).update(vars(value))
    return new
