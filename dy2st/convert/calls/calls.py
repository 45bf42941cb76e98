"""`_dy.call(f)`: what transformed code calls instead of `f`."""

from __future__ import annotations

import array
import contextlib
import functools
import inspect
import math
import operator
import sys
import types
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime import forks

from ...tensor import Tensor
from ...tensor.location import is_own
from ...tensor.promotion import no_number
from ...transpiler import ConversionError, Converted, convert, is_generated
from .. import hub, roles
from ..builtins import named_special_methods as slots
from ..builtins.builtin_functions import FUNCTIONS, classes, of_each
from ..builtins.container_methods import method
from ..contexts.printing import print_, written
from ..contexts.unconverted_calls import call_as_it_is
from ..control.recursion import enter
from ..guards.namespaces import run_code
from ..hub import current_tracer
from ..iteration.outer_iterators import advanced, next_, with_fresh
from ..purity.functools_caches import cached
from ..purity.python_random import GENERATORS, drawing
from ..purity.unconverted_code import runs_as_it_is
from ..purity.untraceable import require_traceable_method
from ..purity.world_reads import subclasses
from ..pyfacts import foreign
from ..pyfacts.breakpoints import is_debugger
from ..pyfacts.conversions import conversion_of
from ..pyfacts.foreign import is_foreign, is_foreign_class
from ..values.containers import is_container
from ..values.dynamic_list import DynamicList
from ..values.maybe_none import MaybeNone
from ..values.one_of import OneOf
from ..values.staged_dict import StagedDict
from ..values.symbolic_texts import reading, require_known, shown, text
from .api_calls import call_of_api
from .library_functions import (
    OF_BYTES,
    OF_TEXTS,
    READING,
    calling,
    home_of,
    of_library,
    of_math,
    of_numpy,
    of_texts,
    reading_texts,
)
from .named_attributes import by_name, changed_by_name, named

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.ACTING

# what these modules define runs as it is; the others are plain Python over layers, like users' code
_CONVERTED = {"dy2st.autograd", "dy2st.utils", "dy2st.library.iteration", "dy2st.tensor.arrays",
              *(f"dy2st.nn.{name}" for name in ("layer", "container", "rnn", "rnn_cells", "attention", "transformer",
                                                "functional.decoding", "functional.margin")),
              "dy2st.distributed.collective", "dy2st.distributed.parallel", "dy2st.distributed.communication.stream",
              *(f"dy2st.vision.models.{name}" for name in ("parts", "lenet", "vgg", "resnet", "mobilenetv2"))}  # fmt: skip

# what `total_ordering` gives a class is written with the comparisons that this has
_ORDERING = ("__lt__", "__le__", "__gt__", "__ge__")

_lock = forks.reentrant_lock()
# whose classes know numbers that only the run knows, or say themselves what is wrong with them
_OURS = {"builtins", "dy2st", "dy2st_runtime"}

# why the control flow of functions that run as they are could not be converted
_reasons: dict[types.CodeType, str] = {}


def ignore_module(modules: list[Any]) -> None:
    """Functions that these modules define are called as they are, not converted.

    Args:
        modules: modules or their names.
    """
    foreign.ignored_modules.update(m if isinstance(m, str) else m.__name__ for m in modules)


def not_to_static(function: Callable | None = None) -> Any:
    """Decorator: the function runs as it is, also where it is called by a converted one."""
    if function is None:
        return not_to_static
    function.__dict__["_dy2st_not_to_static"] = True
    return function


@hub.primitive
def call(f: Any) -> Any:
    """What to call in the place of `f`: its converted form, a function that knows tensors for a built-in one, or `f`."""
    tracer = current_tracer()
    if tracer is not None and is_debugger(f):
        return f if tracer.stops.is_new(sys._getframe(1)) else _no_debugger
    found = _called(f, tracer)
    if tracer is None or (found is not f and isinstance(f, types.FunctionType)):
        return found
    home = home_of(f)
    if home in READING and written(f) is None:
        return functools.partial(reading_texts, f, found)
    if home == "inspect":
        return of_each(found)
    if home in OF_TEXTS:
        return functools.partial(of_texts, f, found)
    if found is f and home == "math":
        return functools.partial(of_math, f)
    if found is f and home in OF_BYTES:
        return functools.partial(of_library, f)
    return found


def _no_debugger(*args: Any, **kwargs: Any) -> None:
    """What is called where the debugger has stopped before."""


def _called(f: Any, tracer: Tracer | None) -> Any:
    if isinstance(f, OneOf):
        return f.__call__
    try:
        # a class of the user's may have a `__hash__` of its own, which nobody has called
        replacement = FUNCTIONS.get(f) if f.__hash__ and is_foreign(type(f).__module__) else None
    except TypeError:
        replacement = None
    if replacement is not None:
        return replacement
    if tracer is not None and (isinstance(f, np.ufunc) or getattr(f, "__module__", None) == "numpy"):
        return functools.partial(of_numpy, f)
    if tracer is not None and getattr(f, "__module__", None) in ("itertools", "statistics") and f not in hub.BUILTINS:
        return functools.partial(of_library, f)
    if isinstance(f, (operator.attrgetter, operator.methodcaller)) and tracer is not None:
        return functools.partial(named, tracer, f)
    if isinstance(f, types.FunctionType):
        return _function(f, tracer)
    if isinstance(f, types.MethodType):
        return _method(f, tracer)
    if isinstance(f, functools.partial):
        return functools.partial(call(f.func), *f.args, **f.keywords)
    if isinstance(f, (types.BuiltinFunctionType, type)):
        return functools.partial(_reading, f) if tracer is not None and f in _READING else _builtin(f, tracer)
    if tracer is not None and isinstance(f, (types.MethodWrapperType, types.WrapperDescriptorType)) and f.__objclass__ in slots.OWNERS:
        return functools.partial(slots.slot, f)
    if tracer is not None and isinstance(f, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return of_each(functools.partial(reading, f) if f.__objclass__ is str else functools.partial(_unbound, tracer, f))
    if tracer is not None and isinstance(f, functools._lru_cache_wrapper):
        return functools.partial(cached, tracer, f)
    if isinstance(f, types.MethodWrapperType) and f.__name__ == "__next__":
        return functools.partial(next_, f.__self__)
    original = getattr(type(f), "_dy2st_function", None)
    if original is not None:
        return call(original.__get__(f))
    own = inspect.getattr_static(type(f), "__call__", None)
    if isinstance(own, types.FunctionType):
        return _method(types.MethodType(own, f), tracer)
    return f


def converted(f: types.FunctionType) -> Converted | None:
    """The conversion of a function; None if its source cannot be had, or it is not to be converted."""
    with _lock:
        known = conversion_of(f)
        if known.code is not f.__code__:
            known.found, known.code = _convert(f), f.__code__
        found = known.found
        if found is not None:  # default arguments may be replaced too
            found.fn.__defaults__, found.fn.__kwdefaults__ = f.__defaults__, f.__kwdefaults__  # type: ignore[attr-defined]
        return found


def _convert(f: types.FunctionType) -> Converted | None:
    if is_ignored(f) or is_generated(f.__code__):
        return None
    if f.__code__.co_flags & inspect.CO_GENERATOR and is_own(f.__code__.co_filename):
        return None  # of a layer of ours: what it asks of the user's values is about their places
    if f.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        _reasons[f.__code__] = "it is an async function: make it a plain one"
        return None
    try:
        return convert_function(f)
    except ConversionError as error:
        if "source" in error.message or "lambda" in error.message or f.__code__.co_flags & inspect.CO_GENERATOR:
            # it runs unconverted: where its control flow depends on a tensor, that is an error
            _reasons[f.__code__] = f"{error.message}: {error.hint}"
            return None
        raise


@hub.primitive
def why_unconverted(code: types.CodeType | None) -> str | None:
    """What to say of a function whose branches and loops are Python's where they depend on a tensor; None if nothing kept it."""
    reason = None if code is None else _reasons.get(code)
    if code is not None and code.co_flags & inspect.CO_GENERATOR and is_generated(code):
        reason = "it is a generator function: make it a plain one that returns a list"
    return None if reason is None else f"the branches and loops of {code.co_name!r} are not converted, as {reason}"  # type: ignore[union-attr]


def _reason(f: types.FunctionType) -> str:
    return _reasons.get(f.__code__, "the user has told so (`not_to_static`, `ignore_module`)")


@hub.primitive
def is_called_unconverted() -> bool:
    """Whether the innermost function of the user's that is running runs as it is, as it cannot be converted."""
    frame = sys._getframe(1)
    while frame is not None and not is_generated(frame.f_code):
        if frame.f_code is print_.__code__:  # which looks at no text
            return False
        if frame.f_code in _reasons:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def convert_function(f: types.FunctionType) -> Converted:
    """The conversion of a function.

    Raises:
        ConversionError: its source cannot be had, or it has syntax that is not supported.
    """
    return convert(f, hub.runtime)


@hub.primitive
def is_ignored(f: Any) -> bool:
    """Whether a function runs as it is."""
    if getattr(f, "_dy2st_not_to_static", False):
        return True
    module = getattr(f, "__module__", None) or ""
    if module == "functools" and getattr(f, "__name__", None) in _ORDERING:
        return False
    return module not in _CONVERTED and (is_foreign_class(f) if isinstance(f, type) else is_foreign(module))


def _function(f: types.FunctionType, tracer: Tracer | None) -> Callable:
    # a function that jit has decorated stands for the one it wraps
    inner = getattr(f, "_dy2st_function", None)
    if inner is not None:
        return call(inner)
    found = converted(f)
    new = f if found is None else found.fn
    if tracer is not None:
        tracer.enter(f, new)
    if tracer is None:
        return new
    if found is None and runs_as_it_is(f):
        return functools.partial(call_as_it_is, f, _reason(f))
    if found is None:  # one inside a converted function is converted as well
        if is_generated(f.__code__):
            return functools.partial(enter, tracer, f, f)
        return functools.partial(call_of_api, f) if is_own(f.__code__.co_filename) else f
    return functools.partial(_watched, tracer, f, new)


def _watched(tracer: Tracer, original: types.FunctionType, f: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a converted function; what it gets is known to the journal, as it may change it."""
    tracer.watch(*(a for a in (*args, *kwargs.values()) if is_container(a)))
    return enter(tracer, original, f, *args, **kwargs)


def _managed(f: types.FunctionType, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The manager that `contextlib.contextmanager` makes of a generator function, which is called there."""
    return contextlib._GeneratorContextManager(_called(f, current_tracer()), args, kwargs)


def _method(f: types.MethodType, tracer: Tracer | None) -> Callable:
    owner = bare = f.__self__
    if tracer is not None:
        if isinstance(owner, GENERATORS):
            return drawing(tracer, f, owner)
        require_traceable_method(owner, f.__name__)
    if isinstance(owner, MaybeNone) and tracer is not None:
        bare = owner.attribute(f.__name__)
    if tracer is not None and isinstance(bare, Tensor) and bare._weak and f.__name__.startswith("__") and len(classes(bare)) == 1:
        return functools.partial(slots.slot_of, hub.type_(bare), f.__name__, bare)
    if isinstance(bare, Tensor) and bare._kinds is not None and any(hasattr(c, f.__name__) for c in classes(bare) - {Tensor}):
        raise bare._kinds.fail(f"what its method {f.__name__!r} does depends on that")
    if isinstance(bare, Tensor) and (bare._kinds is not None or (bare._weak and not hasattr(hub.type_(bare), f.__name__))):
        bare = no_number(bare, f"'{{}}' object has no attribute {f.__name__!r}", AttributeError)
    if bare is owner:
        return _bound(f, tracer)
    return functools.partial(_of_bare, owner, bare, _bound(types.MethodType(f.__func__, bare), tracer))


def _of_bare(owner: Any, bare: Any, method: Callable, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a method of the tensor that a value is in this run; one that gives its tensor, as those do which modify it, gives the value."""
    out = method(*args, **kwargs)
    return owner if out is bare else out


def _bound(f: types.MethodType, tracer: Tracer | None) -> Callable:
    function, owner = f.__func__, f.__self__
    if tracer is not None and isinstance(owner, contextlib.ExitStack) and f.__name__ in ("callback", "push", "enter_context"):
        return functools.partial(calling, f)
    replacement = FUNCTIONS.get(function)
    if replacement is not None:
        return functools.partial(replacement, owner)
    if isinstance(owner, DynamicList) and tracer is not None and getattr(type(owner), f.__name__, None) is function:
        return _container_method(owner, f.__name__)
    if tracer is not None and isinstance(function, functools._lru_cache_wrapper):
        return functools.partial(cached, tracer, function, owner)
    if not isinstance(function, types.FunctionType):
        return f
    inner = getattr(function, "_dy2st_function", None)
    if inner is not None:
        function = inner
    found = converted(function)
    if found is None:
        if tracer is not None and not is_ignored(function):
            tracer.enter(function, function, owner)
        if tracer is not None and runs_as_it_is(function):
            return functools.partial(call_as_it_is, function, _reason(function), owner)
        if tracer is not None and is_generated(function.__code__):  # of a class inside a converted function
            return functools.partial(enter, tracer, function, function, owner)
        if inner is not None:
            return types.MethodType(function, owner)
        of_tensor = tracer is not None and isinstance(owner, Tensor) and is_own(function.__code__.co_filename)
        return functools.partial(call_of_api, f) if of_tensor else f
    if tracer is None:
        return types.MethodType(found.fn, owner)
    tracer.enter(function, found.fn, owner)
    if not isinstance(owner, (Tensor, DynamicList, type)):
        tracer.own(owner)
    return functools.partial(enter, tracer, function, found.fn, owner)


def _builtin(f: Any, tracer: Tracer | None) -> Any:
    if f in hub.BUILTINS:
        return hub.BUILTINS[f]
    if tracer is not None and f is contextlib._GeneratorContextManager:
        return _managed
    if tracer is not None and (f is eval or f is exec):
        return functools.partial(run_code, f)
    if tracer is not None and (f is getattr or f is hasattr):
        return functools.partial(by_name, tracer, f)
    if tracer is not None and (f is setattr or f is delattr):
        return functools.partial(changed_by_name, tracer, f)
    if tracer is not None and isinstance(f, type) and not is_ignored(f):
        tracer.special.convert(f)
    if tracer is not None and type(f) is type and f.__new__ in _NEW and not is_ignored(f):
        return functools.partial(_created, tracer, f)
    owner = getattr(f, "__self__", None)
    if tracer is not None and isinstance(owner, type) and f.__name__ == "__subclasses__":
        return functools.partial(subclasses, owner)
    if tracer is not None and is_container(owner):
        tracer.about_to_be_called(owner)
    elif tracer is not None and f.__name__ != "close":
        advanced(owner)
    if tracer is not None and type(owner) in (list, dict, tuple):
        return _container_method(owner, f.__name__)
    if tracer is not None and f is format:
        return lambda value, spec="": text(shown(value, "", text(spec)))
    if tracer is not None and any(f is g for g in _MAKING_TEXTS):
        return lambda *args, **kwargs: text(f(*args, **kwargs))
    if tracer is not None and isinstance(owner, str):
        return functools.partial(with_fresh, functools.partial(reading, f))
    if tracer is not None:
        if (of_output := written(f)) is not None:
            return of_output
        if isinstance(owner, GENERATORS):
            return drawing(tracer, f, owner)
        require_traceable_method(owner, f.__name__)
    if tracer is None or (isinstance(f, type) and not is_ignored(f)):  # which keeps what it is given
        return f
    fills = isinstance(owner, _FILLED) and f.__name__ not in _OF_ONE_ITEM
    takes_all = fills or any(f is g for g in _TAKING_ALL) or (tracer.used_iterators and not any(f is g for g in _OF_WHO_CALLS))
    wants_numbers = isinstance(f, type) and is_foreign_class(f) and f.__module__.partition(".")[0] not in _OURS
    found = functools.partial(_created_by_library, tracer, f) if wants_numbers else f
    return functools.partial(with_fresh, found) if takes_all else found


def _unbound(tracer: Tracer, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`list.append(items, x)`, by whatever name: a method of a class that is written in C."""
    if args and isinstance(args[0], (DynamicList, StagedDict)) and f.__objclass__ in (list, dict):
        return _container_method(args[0], f.__name__)(*args[1:], **kwargs)
    if args and is_container(args[0]):
        tracer.about_to_be_called(args[0])
        if type(args[0]) is f.__objclass__ and type(args[0]) in (list, dict):
            return _container_method(args[0], f.__name__)(*args[1:], **kwargs)
    return f(*args, **kwargs)


def _reading(f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function of Python's that looks at the characters of texts, or at numbers."""
    require_known(*args, *kwargs.values())
    return of_library(f, *args, **kwargs)


_READING: set[Any] = {bytes, bytearray, complex, ord, str.maketrans, bytes.fromhex, bytearray.fromhex, float.fromhex, operator.concat,
                      math.ldexp}  # fmt: skip
# of classes whose objects can change, where Python makes them and not a `__new__` of the user's
_NEW = {object.__new__, dict.__new__, list.__new__, set.__new__, deque.__new__, bytearray.__new__}
# what makes a text of anything, which may hold tensors; they only look at iterators
_MAKING_TEXTS = (str, repr, ascii)
# functions of Python's, not known otherwise, that use up iterators; those for which it counts who calls them, or that only look at values
_TAKING_ALL = (set, frozenset, bytes, bytearray)
# and the methods of these, but for those that take an item as it is
_FILLED = (set, frozenset, bytearray, array.array, deque)
_OF_ONE_ITEM = {"add", "append", "appendleft", "count", "discard", "index", "insert", "remove"}
_OF_WHO_CALLS = (globals, locals, vars, dir, eval, exec, breakpoint, sys._getframe, hash, callable)


def _created(tracer: Tracer, cls: type, /, *args: Any, **kwargs: Any) -> Any:
    """An object of a class of the user's: what becomes of it is no matter of the next call."""
    new = cls(*args, **kwargs)
    tracer.make(new)
    return new


def _created_by_library(tracer: Tracer, cls: type, /, *args: Any, **kwargs: Any) -> Any:
    """An object of a class of a library, which only the library knows how to make anew."""
    new = of_library(cls, *args, **kwargs)
    tracer.state_made.note_object(cls, new)
    return new


def _container_method(items: Any, name: str) -> Callable:
    return functools.partial(method, items, name)
