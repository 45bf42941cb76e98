"""Special methods and properties of the user's classes: Python calls these itself, so that they are converted on the class.

`a + b`, `len(a)` or `a.p` run what stands in the class of `a`. For as long as a trace runs, the classes that it meets have in its
place a method that runs the converted form in threads that trace, and the user's own in all others.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

from dy2st_runtime import forks

from .. import hub, roles
from ..hub import current_tracer
from ..pyfacts.foreign import is_foreign_class, is_of_dataclass
from ..values.attributes import deleting, reading, setting
from .classification import NEVER, OF_CLASSES

ROLE = roles.ACTING

# what is about the object as such, and what this package itself would run on its way
_NEVER = NEVER | {"__getattribute__"}
_MISSING = object()


class _Replaced:
    """What stood in classes before, with the number of traces that need the replacement; for all threads."""

    def __init__(self) -> None:
        self.lock = forks.lock()
        self.entries: dict[tuple[type, str], tuple[Any, int]] = {}

    def enter(self, cls: type) -> list[tuple[type, str]]:
        """Replaces the methods of a class; returns which."""
        found = []
        with self.lock:
            own = dict(vars(cls))
            if "__eq__" in own:
                own.setdefault("__ne__", _MISSING)
            for name, value in own.items():
                key = cls, name
                if key in self.entries:
                    old, users = self.entries[key]
                    self.entries[key] = old, users + 1
                elif (new := _by_fields(cls, name, value) or _replacement(name, value)) is not None:
                    self.entries[key] = value, 1
                    type.__setattr__(cls, name, new)
                else:
                    continue
                found.append(key)
        return found

    def put(self, cls: type, name: str, make: Callable[[Any], Any]) -> tuple[type, str]:
        """Gives a class what is made of the method that it has, or inherits."""
        key = cls, name
        with self.lock:
            if key in self.entries:
                old, users = self.entries[key]
                self.entries[key] = old, users + 1
            else:
                self.entries[key] = vars(cls).get(name, _MISSING), 1
                type.__setattr__(cls, name, make(getattr(cls, name)))
        return key

    def leave(self, keys: list[tuple[type, str]]) -> None:
        with self.lock:
            for key in keys:
                old, users = self.entries.pop(key)
                if users > 1:
                    self.entries[key] = old, users - 1
                elif old is _MISSING:
                    type.__delattr__(*key)
                else:
                    type.__setattr__(*key, old)


_replaced = _Replaced()


class SpecialMethods:
    """Those that one trace has replaced."""

    def __init__(self) -> None:
        self._classes: set[type] = set()
        self._put: set[tuple[type, str]] = set()
        self._keys: list[tuple[type, str]] = []

    def convert(self, cls: type) -> None:
        """Lets the special methods and properties of a class, of its bases, and of their class, be the converted ones."""
        for c in (*cls.__mro__, *inspect.getmro(type(cls))):
            if c not in self._classes:
                self._classes.add(c)
                if not is_foreign_class(c):
                    self._keys += _replaced.enter(c)

    def ask(self, cls: type) -> None:
        """Lets Python ask for each attribute of the objects of a class: one of them has an attribute in some runs only."""
        self._give(cls, __getattribute__=reading, __delattr__=deleting)

    def tell(self, cls: type) -> None:
        """Lets the trace know before an object of a class of this package gets or loses an attribute."""
        self._give(cls, __setattr__=setting, __delattr__=deleting)

    def direct(self, cls: type, choosing: Callable[[Any], Any]) -> None:
        """Lets what an object of a class is given be given to another one too: it stands for one of several (see `chosen`)."""
        self._give(cls, __setattr__=choosing)

    def compare(self, cls: type) -> None:
        """Lets the trace know before an object of a class, which is equal to itself only, is told from others."""
        self._give(cls, __eq__=_telling, __hash__=_telling)

    def _give(self, cls: type, **methods: Callable[[Any], Any]) -> None:
        """Gives a class what is made of its methods, once."""
        for name, make in methods.items():
            if (cls, name) not in self._put:
                self._put.add((cls, name))
                self._keys.append(_replaced.put(cls, name, make))

    def restore(self) -> None:
        """Gives the classes their own methods again."""
        _replaced.leave(self._keys)
        self._keys, self._classes, self._put = [], set(), set()


def as_length(n: Any) -> int:
    """What a `__len__` of the user's gives, as Python takes it.

    Raises:
        TypeError, ValueError: it is no int, or less than 0.
    """
    n = operator.index(n)
    if n < 0:
        raise ValueError("__len__() should return >= 0")
    return n


def bound(x: Any, *names: str) -> Callable[..., Any] | None:
    """The first of these special methods that the class of a value has, if it is one of the user's, in its converted form."""
    if current_tracer() is None:
        return None
    for name in names:
        for c in type(x).__mro__:
            if name in vars(c):
                return getattr(x, name) if (c, name) in _replaced.entries else None
    return None


def _replacement(name: str, value: Any) -> Any:
    """What stands for an entry of a class; None if it stays."""
    if value is _MISSING:
        return _not_equal
    if type(value) is property:
        parts = [None if f is None else _method(f) for f in (value.fget, value.fset, value.fdel)]
        return property(parts[0], parts[1], parts[2], value.__doc__)
    if type(value) is functools.cached_property:
        new = functools.cached_property(_method(value.func))
        new.attrname = value.attrname
        return new
    if name in ("__setattr__", "__delattr__") and isinstance(value, types.WrapperDescriptorType):
        return _watched(value)
    if name.startswith("__") and name.endswith("__") and name not in _NEVER:
        if isinstance(value, types.FunctionType):
            return _method(value, new=name in ("__init__", "__post_init__"))
        if name in OF_CLASSES and isinstance(value, classmethod) and isinstance(value.__func__, types.FunctionType):
            return classmethod(_method(value.__func__))
        if isinstance(value, staticmethod) and isinstance(value.__func__, types.FunctionType):
            return staticmethod(_method(value.__func__, static=True))
    return None


def _watched(raw: Any) -> Any:
    """`__setattr__ = dict.__setitem__`: to set an attribute changes the object as a container."""

    @functools.wraps(raw)
    def method(self: Any, *args: Any) -> Any:
        tracer = current_tracer()
        if tracer is not None:
            tracer.own(self)
        return raw(self, *args)

    return method


_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _by_fields(cls: type, name: str, raw: Any) -> Any:
    """What stands for a comparison that `dataclass` has made, of which there is no source; None for anything else."""
    if name not in (*_ORDER, "__eq__") or not is_of_dataclass(raw, cls):
        return None
    fields = [f.name for f in dataclasses.fields(cls) if f.compare]

    @functools.wraps(raw)
    def method(self: Any, other: Any) -> Any:
        if current_tracer() is None or other.__class__ is not self.__class__:
            return raw(self, other)
        if name == "__eq__" and _FIELD_BY_FIELD:
            return hub.and_(*[lambda f=f: hub.compare("==", getattr(self, f), getattr(other, f)) for f in fields]) if fields else True
        return hub.compare(_ORDER.get(name, "=="), *(tuple([getattr(x, f) for f in fields]) for x in (self, other)))

    return method


# whether `==` of dataclasses compares field by field, not a tuple of all
_FIELD_BY_FIELD = sys.version_info >= (3, 13)


def _telling(raw: Any) -> Any:
    """`==` and `hash()` of objects that are equal to themselves only."""

    @functools.wraps(raw)
    def method(*values: Any) -> Any:
        tracer = current_tracer()
        if tracer is not None:
            for x in values:
                tracer.stand_ins.require_objects(x)
        return raw(*values)

    return method


def _not_equal(self: Any, other: Any) -> Any:
    """`__ne__` of a class that has only `__eq__`: Python itself would ask for the truth of what that gives."""
    equal = type(self).__eq__(self, other)  # type: ignore[call-arg]
    return equal if equal is NotImplemented else hub.not_(equal)


def _method(raw: Any, new: bool = False, static: bool = False) -> Any:
    """What runs the converted form of a method while a trace runs; `new`: its object is being made."""
    if not isinstance(raw, types.FunctionType):
        return raw

    @functools.wraps(raw)
    def method(*args: Any, **kwargs: Any) -> Any:
        tracer = current_tracer()
        if tracer is None:
            return raw(*args, **kwargs)
        if new and isinstance(args[0], BaseException):  # which branches do not take apart: it has more than attributes
            tracer.watch_arguments(args[0])
        elif new:
            tracer.make(args[0])
        if new or static:
            return hub.call(raw)(*args, **kwargs)
        seen_by = hub.enclosing_handler(tracer, raw.__name__, args[0], sys._getframe(1))
        if seen_by is None:
            return hub.call(types.MethodType(raw, args[0]))(*args[1:], **kwargs)
        tracer.tries.enclosing_handlers.append(seen_by)
        try:
            return hub.call(types.MethodType(raw, args[0]))(*args[1:], **kwargs)
        finally:
            tracer.tries.enclosing_handlers.remove(seen_by)

    method._dy2st_function = raw  # type: ignore[attr-defined]
    return method
