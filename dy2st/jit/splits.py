"""`to_static(full_graph=False)`: a function that cannot be staged as a whole is cut at the statement that is the reason.

That statement runs in Python; what is before and behind it are static functions of their own, which are cut in turn if need be
(`transpiler/splitting.py` makes them). Each is a node of the tape, so gradients pass; what they change is changed when the
next statement runs, so state, exceptions and results are those of eager mode.
"""

from __future__ import annotations

import inspect
import types
import warnings
import weakref
from collections.abc import Callable, Iterator, MappingView, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime.ops.message import held_back

from ..convert.values.trees import Tree, flatten
from ..errors import (
    DTypeError,
    Dy2stError,
    EagerStatementWarning,
    GradientError,
    IntegerRangeError,
    LeakError,
    Location,
    ShapeError,
    StagedValueError,
    StructureError,
    shorten_path,
)
from ..tensor import Tensor, dispatch
from ..tensor.location import converted_places, is_own
from ..transpiler import ConversionError
from ..transpiler.splitting import (
    CALLED,
    Mixed,
    Piece,
    differentiates_gradients,
    only_statement,
    readers,
    reads_its_frame,
    split,
    statement_at,
)

if TYPE_CHECKING:
    from .signature import Arguments
    from .static_function import StaticFunction

_SURE = (ConversionError, StagedValueError, StructureError, LeakError, RecursionError)
REFUSALS = (*_SURE, DTypeError, ShapeError, GradientError, IntegerRangeError)
"""What tracing raises where a static function cannot do what eager mode can; the last ones may be errors in eager mode too."""

RUN_REFUSALS = (DTypeError, IntegerRangeError, StructureError, GradientError)
"""What a run raises where a number of Python would be of another kind, or beyond 64 bits; and before it, for arguments known twice, and for
gradients and hooks of which a Program does not know."""

TRACES = 64
"""How many traces a piece may have before it runs eagerly: its arguments are others at each call."""


class Shared:
    """What a function, its pieces and the functions that its cut statements call have in common.

    Args:
        make: makes a static function of one, which is cut in the ways that `splits` says.

    Attributes:
        reasons: for each statement that runs eagerly, by its place, what was said of it.
    """

    def __init__(self, make: Callable[..., StaticFunction]) -> None:
        self.make = make
        self.reasons: dict[tuple[str, int, int], str] = {}
        self._refusing: list[tuple[str, int]] = []
        self._static: weakref.WeakKeyDictionary[types.FunctionType, StaticFunction] = weakref.WeakKeyDictionary()

    def say(self, location: Location | None, name: str, why: str) -> None:
        """Warns, once for each statement, that it runs eagerly."""
        key = (name, 0, 0) if location is None else (location.file, location.line, location.col)
        if key in self.reasons:
            return
        if location is None:
            what, place = f"{name!r}, as a whole,", ("<dy2st>", 1)
        else:
            what, place = f"{shorten_path(location.file)}:{location.line}: `{location.text.strip()}`", location[:2]
        self.reasons[key] = text = f"{what} runs eagerly, not as part of a Program, because {why}"
        warnings.warn_explicit(text, EagerStatementWarning, *place)

    def refused(self, place: Location) -> None:
        """A function that was called has refused, at this place: it is to be cut itself."""
        self._refusing.append((place.file, place.line))

    def called(self, f: Any) -> Any:
        """What a cut statement calls in the place of `f`: a static function if it is one that was refused, else `f`."""
        function, owner = _function_of(f)
        if function is None or not any(_holds(function.__code__, *place) for place in self._refusing):
            return f
        static = self._static.get(function)
        if static is None:
            static = self._static[function] = self.make(function, splits=Splits(function, self, exact=True))
        bound = static if owner is None else static.__get__(owner)
        return lambda *args, **kwargs: f(*args, **kwargs) if _unknown((args, kwargs)) else bound(*args, **kwargs)


class Splits:
    """The ways in which one function is cut.

    Args:
        function: as the user wrote it, or a piece.
        shared: what it has in common with others.
        exact: Python goes on with its results, that of the function of which it is a piece, or that which calls it: they must be just
            what eager mode has there.
    """

    def __init__(self, function: types.FunctionType, shared: Shared, exact: bool = False):
        self.function = function
        self.shared = shared
        self.exact = exact
        self._known: dict[Any, types.FunctionType] = {}

    def call(self, static: StaticFunction, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Calls the function that `static` makes static, as a whole if that is possible."""
        arguments = static.arguments(args, kwargs)
        mixed = static.mixed.get(arguments.key)
        if mixed is not None:
            return _run(mixed, static, args, kwargs)
        refusal: BaseException
        try:
            concrete = static.find(arguments)
        except REFUSALS as error:
            refusal = error
        else:
            try:
                with held_back(RUN_REFUSALS):
                    return static.run(concrete, arguments)
            except RUN_REFUSALS as error:
                refusal = error
        mixed, blamed = self._after(refusal, static.instance is not None)
        if isinstance(refusal, _SURE):
            self._keep(static, arguments, mixed, blamed, refusal)
            return _run(mixed, static, args, kwargs)
        result = _run(mixed, static, args, kwargs)  # it may be an error in eager mode too
        self._keep(static, arguments, mixed, blamed, refusal)
        return result

    def _keep(self, static: StaticFunction, arguments: Arguments, mixed: types.FunctionType, blamed: Location | None,
              refusal: BaseException) -> None:  # fmt: skip
        static.mixed[arguments.key] = mixed
        if blamed is not None or mixed is self.function:
            self.shared.say(blamed, self.function.__qualname__, _reason(refusal))

    def _after(self, error: BaseException, method: bool) -> tuple[types.FunctionType, Location | None]:
        """What to run in the place of the function, whose trace or run has raised this error; and the statement that is the
        reason, if it is known: if not, the pieces will tell."""
        places = converted_places(error.__traceback__)
        location = getattr(error, "location", None)
        if vars(error).get("of_results"):
            places = []  # no statement is the reason, but what the piece leaves behind
        elif location is not None:
            places.append(location)
        cut = beyond = None
        try:
            if reads_its_frame(self.function) or differentiates_gradients(self.function):
                return self.function, None
            for i, place in enumerate(places):
                if (found := statement_at(self.function, place)) is not None:
                    cut = found
                    beyond = next((p for p in places[i + 1 :] if statement_at(self.function, p) is None), None)
            if beyond is not None:
                self.shared.refused(beyond)
            if cut is not None:
                made = self._cut((cut,), method, beyond is not None)
                return made, next((p for p in reversed(places) if not is_own(p.file)), cut)
            only = only_statement(self.function)
            return self._cut(() if only is None else (only,), method, False, apart=only is None), only
        except ConversionError:  # there is no source that could be cut
            return self.function, None

    def reading(self, unknown: dict[str, str], method: bool) -> types.FunctionType:
        """What to run where these parameters are what a Program does not know: all but what reads them is static."""
        key = (frozenset(unknown.items()), method)
        if key not in self._known:
            cuts = readers(self.function, unknown)
            text = " and ".join(f"{n!r}, {what}" for n, what in sorted(unknown.items()))
            for cut in cuts:
                self.shared.say(cut, self.function.__qualname__, f"it reads {text}, which a Program does not know")
            self._known[key] = self._cut(tuple(cuts), method, False)
        return self._known[key]

    def _cut(self, cuts: Sequence[Location], method: bool, through: bool, apart: bool = False) -> types.FunctionType:
        key = (cuts, method, through)
        if key not in self._known:
            self._known[key] = self._bound(split(self.function, cuts, cuts if through else (), apart=apart, method=method), method)
        return self._known[key]

    def _bound(self, mixed: Mixed, method: bool) -> types.FunctionType:
        """The mixed function; the function itself if nothing of it could be static."""
        if not mixed.pieces and not mixed.through:
            return self.function
        values: dict[str, object] = {p.name: _Running(p, self, method and mixed.method) for p in mixed.pieces}
        return mixed.bind(self.function, {**values, CALLED: self.shared.called})


class _Running:
    """A piece as the mixed function calls it."""

    def __init__(self, piece: Piece, of: Splits, method: bool):
        self.raw, self.shared, self.method = piece.function, of.shared, method
        self.splits = Splits(piece.function, of.shared, of.exact or not piece.returns)
        self.static = of.shared.make(piece.function, splits=self.splits)
        self.names = piece.function.__code__.co_varnames[method : piece.function.__code__.co_argcount]
        self._seen: dict[str, Any] = {}
        self._varying: set[str] = set()
        self._fixed: set[str] = set()

    def __call__(self, *args: Any) -> Any:
        if not dispatch.is_grad_enabled() and any(_wants_gradient(v) for v in args[self.method :]):
            return self.raw(*args)  # it may hand on on one path, with its graph, what it makes anew without one on another
        unknown = {n: what for n, v in zip(self.names, args[self.method :], strict=True) if (what := _unknown(v))}
        if unknown:
            return self.splits.reading(unknown, self.method)(*args)
        static, rest = (self.static.__get__(args[0]), args[1:]) if self.method else (self.static, args)
        numbers = self._numbers(rest)
        if numbers:
            try:
                arguments = static.arguments(rest, {}, numbers)
                concrete = static.find(arguments)
                with held_back(REFUSALS):
                    return static.run(concrete, arguments)
            except REFUSALS:
                self._fixed |= numbers  # Python needs the number itself: a trace for each value
        if static.is_one_too_many(static.arguments(rest, {}), TRACES):
            self.shared.say(None, f"{self.raw.__qualname__} (from line {self.raw.__code__.co_firstlineno})",
                            f"{' or '.join(map(repr, self.names))} is another object at each call")  # fmt: skip
            return self.raw(*args)
        return static(*rest)

    def _numbers(self, values: Sequence[Any]) -> frozenset[str]:
        """The parameters whose numbers change from call to call: they are inputs of the Program, rather than part of it."""
        for name, value in zip(self.names, values, strict=True):
            if type(value) in (int, float) and self._seen.setdefault(name, value) != value:
                self._varying.add(name)
        return frozenset(n for n, v in zip(self.names, values, strict=True)
                         if n in self._varying and n not in self._fixed and _fits(v))  # fmt: skip


def _run(function: types.FunctionType, static: StaticFunction, args: tuple, kwargs: dict[str, Any]) -> Any:
    return (function if static.instance is None else types.MethodType(function, static.instance))(*args, **kwargs)


def _fits(value: Any) -> bool:
    if type(value) is float:
        return value == value  # Python finds a NaN in a list as the object that it is
    return type(value) is int and -(2**63) <= value < 2**63


def _unknown(value: Any) -> str:
    """What there is in a value that no argument of a static function should be; "" if there is nothing."""
    if isinstance(value, Tensor):
        return ""
    leaves, tree = flatten(value)
    if _has_tensors_as_keys(tree):
        return "a dict with tensors as keys"  # which it would look for with others
    for x in leaves:
        if isinstance(x, (np.ndarray, np.generic)):
            return "a NumPy array"  # which it would take for a tensor
        if hasattr(type(x), "__next__"):
            return "an iterator"  # which it would advance while tracing
        if isinstance(x, (set, frozenset)) and any(isinstance(y, Tensor) for y in flatten(tuple(x))[0]):
            return "a set of tensors"
        if isinstance(x, (MappingView, types.MappingProxyType)):
            return "a view of a dict"  # of which it would change another one
    return ""


def _has_tensors_as_keys(tree: Tree) -> bool:
    return any(isinstance(k, Tensor) for k in flatten(tree.keys)[0]) or any(map(_has_tensors_as_keys, tree.children))


def _wants_gradient(value: Any) -> bool:
    return any(isinstance(x, Tensor) and not x._stops for x in flatten(value)[0])


def _reason(error: BaseException) -> str:
    if isinstance(error, Dy2stError):
        return f"{error.message} [{error.code}]"
    return f"of a {type(error).__name__}: {error}"


def _function_of(f: Any) -> tuple[types.FunctionType | None, Any]:
    """The Python function that a call of `f` runs, and the object that it is a method of."""
    raw, owner = getattr(f, "raw", None), getattr(f, "instance", None)
    if raw is not None and hasattr(type(f), "_dy2st_function"):
        return raw, owner
    if isinstance(f, types.MethodType):
        return (f.__func__, f.__self__) if isinstance(f.__func__, types.FunctionType) else (None, None)
    if isinstance(f, types.FunctionType):
        return f, None
    own = inspect.getattr_static(type(f), "__call__", None)
    return (own, f) if isinstance(own, types.FunctionType) else (None, None)


def _holds(code: types.CodeType, file: str, line: int) -> bool:
    """Whether a line of a file belongs to a function."""
    return code.co_filename == file and code.co_firstlineno <= line <= max(_lines(code))


def _lines(code: types.CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line is not None)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _lines(inner)


def describe(static: StaticFunction) -> list[str]:
    """The statements that run eagerly, for `explain()`."""
    return [] if static.splits is None else list(static.splits.shared.reasons.values())

