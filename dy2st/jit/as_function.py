"""What a static function is besides what it computes: a function with attributes, or a method with its object."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any


def signature_of(function: Callable, *, follow_wrapped: bool = False) -> inspect.Signature:
    """The signature; annotations may name what is not there, which Python 3.14 would look for now.

    Args:
        follow_wrapped: of a decorator that `functools.wraps` has marked, that of the function inside, as it is shown to people.
    """
    options: dict[str, Any] = {"follow_wrapped": follow_wrapped}
    if sys.version_info >= (3, 14):
        import annotationlib

        options["annotation_format"] = annotationlib.Format.FORWARDREF
    return inspect.signature(function, **options)


def _of_function(name: str) -> property:
    """What a function says of itself, and may be told."""
    return property(lambda self: getattr(self.raw, name), lambda self, value: setattr(self.raw, name, value))


class AsFunction:
    """What stands for a function.

    Attributes:
        raw, instance: the function as the user wrote it, and the object it is a method of.
        unbound: for a method, what stands for the function in its class.
    """

    __slots__ = ("__dict__", "__weakref__", "instance", "raw", "unbound")

    def __init__(self, function: types.FunctionType, instance: Any):
        self.raw, self.instance = function, instance
        self.unbound: Any = function
        self.__dict__.update((name, value) for name, value in vars(function).items() if not name.startswith("_dy2st_"))
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__doc__, self.__module__ = function.__doc__, function.__module__

    __defaults__, __kwdefaults__, __annotations__ = map(_of_function, ("__defaults__", "__kwdefaults__", "__annotations__"))

    @property
    def original(self) -> Callable:
        """The function as the user wrote it (bound, for a method)."""
        return self.raw if self.instance is None else types.MethodType(self.raw, self.instance)

    # how `convert.call` finds what to convert
    _dy2st_function = original

    def __getattr__(self, name: str) -> Any:
        # those of a method only: a function has none
        if name in ("__self__", "__func__") and self.instance is not None:
            return self.instance if name == "__self__" else self.unbound
        raise AttributeError(f"{self.raw.__qualname__!r} has no attribute {name!r}", name=name, obj=self)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, AsFunction):
            return NotImplemented
        is_same_method = self.instance is not None and self.instance is other.instance and self.unbound is other.unbound
        return self is other or is_same_method

    def __hash__(self) -> int:
        return object.__hash__(self) if self.instance is None else hash((id(self.instance), id(self.unbound)))
