"""Context managers that would have to see what the run raises inside of their `with`.

The body of a `with` is traced once, as code that comes to its end. For nearly all managers that is enough: a static call that fails leaves
everything as it was. One that suppresses exceptions, or raises others, decides how the call goes on, and what one prints, logs or warns
is seen also where the call fails: so what only the run knows to be raised is refused inside of these. The same holds for `except*`.
"""

from __future__ import annotations

import ast
import contextlib
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..hub import current_tracer
from ..purity.unconverted_code import runs_as_it_is
from ..pyfacts.enclosing_handlers import EnclosingHandler
from ..pyfacts.foreign import is_foreign
from ..trace.active_tries import known_kinds
from ..trace.raising import is_of_tracing
from ..values.one_of import OneOf
from .unconverted_calls import code_of, driven
from .with_effects import runs, shows, source_of

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

Takes = Callable[[type[BaseException]], bool]


class Through(BaseException):
    """An error of tracing on its way through handlers that Python has, of `except*` and of generators: none of these is meant."""

    def __init__(self, error: Exception):
        self.error = error


def manager(x: Any) -> Any:
    """What stands for the context manager of a `with`."""
    if isinstance(x, OneOf):
        x._dy_fail("the manager of a with statement")
    tracer = current_tracer()
    if tracer is None or type(x).__module__.partition(".")[0] == "dy2st":
        return x
    if isinstance(x, contextlib.suppress):
        known_kinds(x._exceptions)  # type: ignore[attr-defined]
    if isinstance(x, contextlib._GeneratorContextManager):
        follow(x)
        tracer.suspended.add(x.gen)
    takes = _takes(x)
    return _Watched(tracer, x, takes) if takes is not None or runs(x) else x


def follow(x: contextlib._GeneratorContextManager) -> None:
    """Lets a manager that code has made which runs as it is be looked at each time that it is resumed."""
    code, function = x.gen.gi_code, x.func  # type: ignore[attr-defined]
    if isinstance(function, types.FunctionType) and function.__code__ is code and runs_as_it_is(function):
        x.gen = driven(function, "the function that has made it is not", x.gen)  # type: ignore[attr-defined]


def except_star() -> Any:
    """The context manager of the body of a `try` with `except*`."""
    tracer = current_tracer()
    if tracer is None:
        return contextlib.nullcontext()
    return _Handled(tracer, EnclosingHandler(_all, "except*", "use except, or test for it with if", len(tracer.tries.active)))


def tried(alone: bool) -> Any:
    """The context manager of the body of a `try` in a generator function.

    Args:
        alone: it suspends nothing, so that what is raised while it is traced is raised in it.
    """
    tracer = current_tracer()
    if tracer is None:
        return contextlib.nullcontext()
    what, hint = "a handler in a generator function", "write the try in a function that the generator calls"
    return _Handled(tracer, EnclosingHandler(_all, what, hint, len(tracer.tries.active)) if alone else None)


class _Watched:
    """A manager that may suppress exceptions, or print, log or warn where its `with` is left."""

    def __init__(self, tracer: Tracer, original: Any, takes: Takes | None):
        self.tracer, self.original = tracer, original
        depth, name = len(tracer.tries.active), f"the {_name(original)}() of a with statement"
        self.showing = EnclosingHandler(
            lambda kind: shows(original) or (None if runs(original) else False), f"{name}, which then prints, logs or warns",
            "do that behind the with statement, or raise it before or behind that", depth, sizes=False,
        )  # fmt: skip
        self.enclosing_handlers = [self.showing]
        if takes is not None:
            self.enclosing_handlers.append(EnclosingHandler(takes, f"{name}, which may keep it from going on or raise another one",
                                           "catch it with try and except inside of the with statement", depth))  # fmt: skip

    def __enter__(self) -> Any:
        value = type(self.original).__enter__(self.original)
        self.tracer.tries.enclosing_handlers += self.enclosing_handlers
        return value

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        for handler in self.enclosing_handlers:
            self.tracer.tries.enclosing_handlers.remove(handler)
        if error is not None and is_of_tracing(error):
            return False
        self.tracer.note_missing(error)
        before = self.tracer.shown
        answer = type(self.original).__exit__(self.original, kind, error, traceback)
        if self.showing.passed is not None and self.tracer.shown > before:  # which its code does not tell
            raise self.showing.refusal(*self.showing.passed)
        return answer


class _Handled:
    """The body of what has handlers that are Python's; nothing that the run raises may matter to these."""

    def __init__(self, tracer: Tracer, enclosing_handler: EnclosingHandler | None):
        self.tries, self.enclosing_handler = tracer.tries, enclosing_handler

    def __enter__(self) -> None:
        if self.enclosing_handler is not None:
            self.tries.enclosing_handlers.append(self.enclosing_handler)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self.enclosing_handler is not None:
            self.tries.enclosing_handlers.remove(self.enclosing_handler)
        if isinstance(error, Exception) and is_of_tracing(error):
            raise Through(error)


def _name(x: Any) -> str:
    return _generator(x).co_name if isinstance(x, contextlib._GeneratorContextManager) else type(x).__name__


def _generator(x: Any) -> types.CodeType:
    return code_of(x.gen)


# ---- which managers ----
def _takes(x: Any) -> Takes | None:
    """Which exceptions a manager may suppress or replace; None if none."""
    if isinstance(x, contextlib.suppress):
        return lambda kind: issubclass(kind, x._exceptions)  # type: ignore[attr-defined]
    if isinstance(x, contextlib.ExitStack):
        return lambda kind: any(takes(kind) for takes in _inside(x))
    if isinstance(x, contextlib._GeneratorContextManager):
        return _all if _decides(_generator(x), _catches) else None
    leave = getattr(type(x), "__exit__", None)
    leave = getattr(leave, "_dy2st_function", leave)
    if not isinstance(leave, types.FunctionType) or is_foreign(leave.__module__):
        return None
    return _all if _decides(leave.__code__, _answers) else None


def _all(kind: type[BaseException]) -> bool:
    return issubclass(kind, Exception)


def _inside(stack: contextlib.ExitStack) -> Iterator[Takes]:
    """Those of the managers in a stack that may suppress exceptions."""
    for _, leave in stack._exit_callbacks:  # type: ignore[attr-defined]
        if isinstance(leave, types.MethodType):
            takes = _takes(leave.__self__)
        else:  # a function that was pushed, or a callback, which is wrapped
            known = hasattr(leave, "__wrapped__") or not isinstance(leave, types.FunctionType)
            takes = None if known or not _decides(leave.__code__, _answers) else _all
        if takes is not None:
            yield takes


def _decides(code: types.CodeType, test: Callable[[Any], bool]) -> bool:
    """Whether a function does something that makes it decide about exceptions; True if there is no source."""
    node = source_of(code)
    return node is None or test(node)


def _answers(function: Any) -> bool:
    """Whether an `__exit__` may answer that an exception ends there, or raise another one."""
    for node in ast.walk(function):
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Return) and not (node.value is None or (isinstance(node.value, ast.Constant) and not node.value.value)):
            return True
    return False


def _catches(function: Any) -> bool:
    """Whether the `yield` of a generator stands where an exception ends, or becomes another one."""
    for node in ast.walk(function):
        yields = [n for n in ast.walk(node) if isinstance(n, (ast.Yield, ast.YieldFrom))]
        if not yields:
            continue
        if isinstance(node, ast.With) and any("suppress" in ast.unparse(i) or "ExitStack" in ast.unparse(i) for i in node.items):
            return True
        if isinstance(node, ast.Try) and not all(goes_on(h.body[-1]) for h in node.handlers):
            return True
        if isinstance(node, ast.Try) and any(isinstance(n, (ast.Return, ast.Raise)) for s in node.finalbody for n in ast.walk(s)):
            return True
        if node.__class__.__name__ == "TryStar":
            return True
    return False


def goes_on(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Raise) and statement.exc is None
