"""What the walk of `reach` meets: which classes and functions are the user's, and what has others in it, or behind it."""

from __future__ import annotations

import enum
import functools
import gc
import types
import weakref
from collections import deque
from typing import Any

import numpy as np

from ...tensor import Tensor
from ..pyfacts.attribute_lookup import dict_of
from ..pyfacts.foreign import ANNOTATING, BUILTINS_OF_NAMESPACES, is_foreign, is_foreign_class, is_stateful
from ..pyfacts.tensor_attributes import OF_TENSORS
from ..values.containers import OF_THE_LIBRARY
from ..values.dynamic_list import DynamicList

# the end of every way
PLAIN = (bool, int, float, complex, str, bytes, type(None), Tensor, DynamicList, np.generic, np.dtype, range, slice)
# special methods that run only where a class is called, where values are compared, where they become a text; or never
MAKING = {"__init__", "__new__", "__post_init__"}
COMPARING = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
NEVER = ANNOTATING | {
    "__del__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__dir__",
    "__sizeof__", "__hash__", "__copy__", "__deepcopy__",
}  # fmt: skip
# which Python makes class methods of
OF_CLASSES = {"__init_subclass__", "__class_getitem__"}
# what wraps functions, and how to get at them
INSIDE = ("__func__", "__self__", "__wrapped__", "func", "dispatcher", "args", "keywords", "fget", "fset", "fdel", "_dy2st_function")
# of what is in modules of Python and of libraries; a file such as `sys.stdout` is asked for where something is printed
SEEN_IN_MODULES = (types.FunctionType, types.BuiltinFunctionType, type, bool, int, float, str, tuple, list, type(None))
BUILT_IN_METHODS = (types.BuiltinMethodType, types.MethodWrapperType)
WRAPPERS = (types.MethodType, functools.partial, functools.singledispatchmethod, staticmethod, classmethod, property, *BUILT_IN_METHODS)
_SHOWING_ALL = {("types", "SimpleNamespace"), ("argparse", "Namespace")}


class ClassKind:
    """What kind of class it is.

    Attributes:
        foreign: its code runs as it is.
        stateful: it is one of this package whose objects are state, or made of one.
        of_the_library: its objects keep what they hold in attributes that only its own methods name.
        own: it is one of this package.
        showing_all: the text of its objects, and what makes two of them equal, is all that they have.
    """

    __slots__ = ("foreign", "of_the_library", "own", "showing_all", "stateful")

    def __init__(self, cls: type):
        self.foreign = is_left_alone(cls)
        self.stateful = any(is_stateful(c.__module__) for c in cls.__mro__)
        self.of_the_library = issubclass(cls, OF_THE_LIBRARY)
        self.own = is_own(cls)
        self.showing_all = any((c.__module__, c.__name__) in _SHOWING_ALL for c in cls.__mro__)


def has_own_attributes(x: Any) -> bool:
    """Whether a tensor has attributes that are not those of all tensors: a parameter's, or what users set; or a number or text of a class
    of the user's has a dict for them."""
    if isinstance(x, Tensor):
        return not vars(x).keys() <= OF_TENSORS
    return type(x) not in _PLAIN_CLASSES and not isinstance(x, enum.Enum) and hasattr(x, "__dict__") and not is_foreign_class(type(x))


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_PLAIN_CLASSES = frozenset(PLAIN)


def is_users_module(x: Any) -> bool:
    return isinstance(x, types.ModuleType) and not is_left_alone(x)


def referent(x: Any) -> Any:
    """What a value refers to that does not hold it: a weak reference or proxy, a view."""
    if isinstance(x, weakref.ref):
        return x()
    if type(x) in weakref.ProxyTypes:
        return x.__repr__.__self__  # a proxy has no other way to the object itself
    if isinstance(x, (types.MappingProxyType, *_VIEWS)):
        return gc.get_referents(x)[0]
    return x.obj if isinstance(x, memoryview) else None


def is_object(x: Any) -> bool:
    """Whether a value is what it has in it: a list, a dict, an object with attributes."""
    if isinstance(x, (*PLAIN, *WRAPPERS, type, types.ModuleType, types.FunctionType, enum.Enum)):  # a member is itself
        return False
    return isinstance(x, (list, dict, deque)) or dict_of(x) is not None


def is_own(cls: Any) -> bool:
    """Whether a class, or a function, is one of this package."""
    return str(cls.__module__).partition(".")[0] == "dy2st"


def is_left_alone(x: Any) -> bool:
    """Whether a function, class or module, or the dict of the built-in ones, is one whose code runs as it is and is taken not to change."""
    if x is BUILTINS_OF_NAMESPACES:
        return True
    if isinstance(x, types.ModuleType):
        return is_foreign(x.__name__)
    if isinstance(x, types.FunctionType):
        return is_foreign(x.__module__) and "_dy2st_function" not in vars(x)
    return isinstance(x, type) and is_foreign_class(x) and not hasattr(x, "sublayers")
