"""Code of the user's that runs as it is: what it asks of values that only the run knows nobody sees.

Converted code asks the runtime whether `v is None`, or what `isinstance(n, int)` is. A function without source, or one that is marked
`not_to_static`, asks Python, for which what stands for such a value is an object like any other. So what the code can reach, from its
arguments, its variables and the attributes that it names, is looked at before it is called.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Iterable
from typing import Any

from ...errors import StagedValueError
from ...tensor import Tensor
from ...tensor.location import is_own, user_location
from ...transpiler import is_generated
from ..effects.cells import contents_of, defaults_of
from ..hub import is_staged, need_tracer
from ..pyfacts.attribute_lookup import dict_of, held
from ..pyfacts.bytecode import Instruction, instructions
from ..pyfacts.code_names import codes_in, names_of
from ..pyfacts.foreign import (
    ANNOTATING,
    LAYER_STORES,
    is_foreign,
    is_foreign_class,
    is_layer,
    is_library,
    is_of_dataclass,
)
from ..pyfacts.python_frames import held_by_generator
from ..values.containers import LEAVES, held_by, is_container
from ..values.dynamic_list import DynamicList
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeValue
from ..values.one_of import OneOf
from ..values.staged_dict import StagedDict
from .python_random import GENERATORS

_NONE, _IDENTITY, _CLASS, _RAISED = "is None", "is", "isinstance, type or match", "try"
_OF_CLASSES = {"isinstance", "issubclass", "type", "callable", "hasattr", "getattr", "__class__", "singledispatch", "is_tensor"}
_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_SIZES = {"shape", "size"}
_LOOKED_AT = (Tensor, MaybeValue, OneOf, DynamicList, StagedDict)


def runs_as_it_is(f: types.FunctionType) -> bool:
    """Whether a function that has no conversion is code of the user's, with none that is called in its place."""
    inner = inspect.unwrap(f)  # a function of a library may stand around one of the user's
    of_library = not isinstance(inner, types.FunctionType) or is_library(inner.__globals__.get("__name__"))
    if of_library or is_own(inner.__code__.co_filename) or hasattr(f, "_dy2st_function"):  # the step of an optimizer knows what runs do
        return False
    return not is_generated(f.__code__) or bool(f.__code__.co_flags & _ASYNC)


def require_plain(f: types.FunctionType, reason: str, args: tuple, kwargs: dict[str, Any]) -> list[Any]:
    """Looks at what a function that runs as it is can reach.

    Args:
        reason: why it is not converted.
        args, kwargs: what it is called with.

    Returns:
        the random generators that it can reach.

    Raises:
        StagedValueError: it asks something that only the run can answer, or can reach an iterator that is there before the call.
    """
    reached = _Reached()
    if not args or not is_of_dataclass(f, type(args[0])):
        reached.add(f, args, kwargs)
    asked = frozenset[str]().union(*map(_questions, reached.codes.values()))
    sizes = _CLASS in asked and sorted(_SIZES & reached.names)
    for x in reached.values.values() if asked else ():
        what = _distinguished(x, asked)
        if what is None and sizes and isinstance(x, Tensor) and x.is_symbolic and any(n < 0 for n in x._value.shape):
            what = f"the {sizes[0]} of a tensor of any size"
        if what is not None:
            raise StagedValueError(
                f"{f.__name__!r} runs as it is, and may ask what only the run knows ({', '.join(sorted(asked))}): it can reach {what}",
                location=user_location(2), hint=f"ask before the call, and give it the answer; it is not converted, as {reason}",
            )  # fmt: skip
    before = need_tracer("a call").before
    for x in reached.others:
        if hasattr(type(x), "__next__") and id(x) in before:
            raise StagedValueError(
                f"{f.__name__!r} runs as it is, and can reach a {type(x).__name__} that is there before the call, which it may advance",
                location=user_location(2), hint=f"take its items before the call, and pass them; it is not converted, as {reason}",
            )  # fmt: skip
    return [x for x in reached.others if isinstance(x, GENERATORS)]


def _distinguished(x: Any, asked: frozenset[str]) -> str | None:
    """What a value is, if code that asks this would take what stands for it for the value; None if not."""
    if isinstance(x, (MaybeNone, MaybeValue)):
        return "a value that is None in some runs"
    if isinstance(x, OneOf):
        return "one of several objects"
    if (_CLASS in asked or _RAISED in asked) and isinstance(x, (DynamicList, StagedDict)):
        return f"a {'list' if isinstance(x, DynamicList) else 'dict'} of dynamic length"
    if isinstance(x, Tensor) and x._kinds is not None and asked != {_NONE}:
        return "a number in some runs, and a tensor in others"
    if isinstance(x, Tensor) and x._weak and is_staged(x) and (asked & {_CLASS, _RAISED} or (_IDENTITY in asked and x.dtype == "bool")):
        return "a number"
    return None


@functools.lru_cache(4096)
def _questions(code: types.CodeType) -> frozenset[str]:
    """What code asks of values that is not answered by their methods."""
    found = set()
    for part in codes_in(code):
        last: Instruction | None = None
        handlers = 0
        for i in instructions(part):
            if i.opname == "IS_OP":
                of_none = last is not None and last.opname.startswith("LOAD_") and last.argval is None
                found.add(_NONE if of_none else _IDENTITY)
            elif i.opname.endswith("_NONE"):
                found.add(_NONE)
            elif i.opname.startswith("MATCH_"):
                found.add(_CLASS)
            elif i.opname in ("PUSH_EXC_INFO", "SETUP_FINALLY"):
                handlers += 1
            elif i.opname == "WITH_EXCEPT_START" and sys.version_info >= (3, 11):  # that of a `with`
                handlers -= 1
            last = i
        if handlers:  # what raises in some runs only is raised by these, behind it
            found.add(_RAISED)
        if not _OF_CLASSES.isdisjoint(part.co_names):
            found.add(_CLASS)
    return frozenset(found)


class _Reached:
    """The code of the user's that runs where a function runs as it is, and the values that this may get hold of.

    Attributes:
        codes: by id.
        values: those that stand for others, and tensors; by id.
        names: of the attributes that it reads.
        others: iterators, and random generators.
    """

    def __init__(self) -> None:
        self.codes: dict[int, types.CodeType] = {}
        self.values: dict[int, Any] = {}
        self.names: set[str] = set()
        self.others: list[Any] = []
        self._looked: set[str] = set()
        self._visited: dict[int, Any] = {}
        self._pending: list[Any] = []
        # in which a name that comes later may be found
        self._bearers: list[Any] = []

    def add(self, *values: Any) -> None:
        """Adds values and all that can be reached from them."""
        self._pending += values
        while self._pending or self.names != self._looked:
            while self._pending:
                self._enter(self._pending.pop())
            new = self.names - self._looked
            self._looked |= new
            for x in self._bearers:
                self._attributes(x, new)

    def _enter(self, x: Any) -> None:
        if id(x) in self._visited or (type(x) in LEAVES and not isinstance(x, Tensor)):
            return
        self._visited[id(x)] = x
        if isinstance(x, _LOOKED_AT):
            self.values[id(x)] = x
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, (types.MethodType, types.BuiltinMethodType)):
            self._pending += (x.__self__, getattr(x, "__func__", None))
        elif isinstance(x, functools.partial):
            self._pending += (x.func, x.args, x.keywords)
        elif isinstance(x, (staticmethod, classmethod)):
            self._pending.append(x.__func__)
        elif isinstance(x, property):
            self._pending += (x.fget, x.fset)
        elif isinstance(x, types.GeneratorType):
            self.others.append(x)
            if x.gi_frame is not None and not is_generated(x.gi_code):
                self._code(x.gi_code, x.gi_frame.f_globals)
                self._pending += held_by_generator(x)
        else:
            if isinstance(x, GENERATORS) or hasattr(type(x), "__next__"):
                self.others.append(x)
            self._pending += x if isinstance(x, tuple) else held_by(x)
            if not is_container(x) or dict_of(x):
                self._bearer(x)

    def _bearer(self, x: Any) -> None:
        cls = x if isinstance(x, type) else type(x)
        if isinstance(x, types.ModuleType):
            if is_foreign(x.__name__):
                return
        elif is_foreign_class(cls) and not hasattr(cls, "sublayers"):
            return
        else:
            for c in cls.__mro__:
                if not is_foreign_class(c):
                    special = [f for name, f in vars(c).items() if name.startswith("__") and name not in ANNOTATING]
                    self._pending += (f for f in special if isinstance(f, types.FunctionType) and not is_of_dataclass(f, c))
        self._attributes(x, self._looked)
        self._bearers.append(x)

    def _function(self, f: types.FunctionType) -> None:
        if runs_as_it_is(f):
            self._code(f.__code__, f.__globals__)
            self._pending += (*map(contents_of, f.__closure__ or ()), *defaults_of(f))

    def _code(self, code: types.CodeType, namespace: dict[str, Any]) -> None:
        self.codes[id(code)] = code
        names = names_of(code)
        self.names |= names.attributes
        self._pending += (namespace[name] for name in names.globals & namespace.keys())

    def _attributes(self, x: Any, names: Iterable[str]) -> None:
        for name in names:
            if isinstance(x, types.ModuleType):
                self._pending.append(vars(x).get(name))
                continue
            self._pending.append(held(x, name))
            if is_layer(x):  # which may not have been initialized yet
                self._pending += ((vars(x).get(store) or {}).get(name) for store in LAYER_STORES)
            for c in (x if isinstance(x, type) else type(x)).__mro__:
                if not is_foreign_class(c) and name in vars(c):
                    self._pending.append(vars(c)[name])
                    break
