"""What a context manager prints, logs or warns where an exception leaves its `with`: the trace of a body that ends has none of that."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...transpiler.again import tree_of
from ..pyfacts.foreign import is_foreign
from . import printing
from .unconverted_calls import code_of

# what shows something, by the names of functions and methods
_SHOWING = {
    "print", "pprint", "pp", "write", "writelines", "warn", "warn_explicit", "debug", "info", "warning", "error", "exception", "critical",
    "fatal", "print_exc", "print_exception", "print_stack", "print_tb",
}  # fmt: skip


class _Part(NamedTuple):
    """Statements that run, the globals of their function, and the class that this is a method of."""

    statements: Sequence[ast.AST]
    globals: dict[str, Any]
    owner: type | None


def runs(manager: Any) -> bool:
    """Whether code of the user's runs where an exception leaves the `with` of a manager."""
    return any(True for _ in _parts(manager))


def shows(manager: Any) -> bool:
    """Whether that code can be seen to print, log or warn, itself or in functions of its module and methods of its class."""
    seen: set[int] = set()
    return any(_shows(part, seen) for part in _parts(manager))


def _parts(manager: Any) -> Iterator[_Part]:
    if isinstance(manager, contextlib.ExitStack):
        for _, leave in manager._exit_callbacks:  # type: ignore[attr-defined]
            if isinstance(leave, types.MethodType) and leave.__name__ == "__exit__":
                yield from _parts(leave.__self__)
            else:  # a function that was pushed, or a callback, which is wrapped
                yield from _whole(inspect.unwrap(leave), None)
    elif isinstance(manager, contextlib._GeneratorContextManager):
        frame = manager.gen.gi_frame  # type: ignore[attr-defined]
        node = source_of(code_of(manager.gen))
        if node is not None and frame is not None and not is_foreign(frame.f_globals.get("__name__")):
            for n in ast.walk(node):
                if isinstance(n, (ast.Try, ast.With)) and _suspends(n):
                    yield _Part(_on_exception(n), frame.f_globals, None)
    else:
        yield from _whole(getattr(type(manager), "__exit__", None), type(manager))


def _whole(f: Any, owner: type | None) -> Iterator[_Part]:
    """All of a function of the user's."""
    if isinstance(f, types.MethodType):
        f, owner = f.__func__, type(f.__self__)
    elif isinstance(f, functools.partial):  # which may stand for the call of a converted function
        for inner in (f.func, *f.args):
            yield from _whole(inner, None)
    if (module := getattr(f, "__module__", None)) == printing.__name__ or (module == "builtins" and f.__qualname__ == "print"):
        yield _Part([ast.parse("print()")], {}, None)
    f = getattr(f, "_dy2st_function", f)
    if isinstance(f, types.FunctionType) and not is_foreign(f.__module__):
        node = source_of(f.__code__)
        yield _Part([] if node is None else node.body, f.__globals__, owner)


def _suspends(node: ast.Try | ast.With) -> bool:
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for s in node.body for n in ast.walk(s))


def _on_exception(node: ast.Try | ast.With) -> Sequence[ast.AST]:
    """What runs where an exception leaves the body."""
    return node.items if isinstance(node, ast.With) else [*node.handlers, *node.finalbody]


def _shows(part: _Part, seen: set[int]) -> bool:
    for node in (n for s in part.statements for n in ast.walk(s) if isinstance(n, ast.Call)):
        called = node.func
        if isinstance(called, ast.Name):
            name, found, owner = called.id, part.globals.get(called.id), None
        elif isinstance(called, ast.Attribute):
            of_itself = part.owner is not None and isinstance(called.value, ast.Name) and called.value.id == "self"
            name, owner = called.attr, part.owner if of_itself else None
            found = getattr(owner, name, None) if of_itself else None
        else:
            continue
        if name in _SHOWING and found is None:
            return True
        if id(found) not in seen:
            seen.add(id(found))
            if any(_shows(inner, seen) for inner in _whole(found, owner)):
                return True
    return False


def source_of(code: types.CodeType) -> Any:
    """The definition of a function; None if there is no source."""
    return functions_of(code.co_filename).get(code.co_firstlineno)


@functools.lru_cache(maxsize=64)
def functions_of(file: str) -> dict[int, Any]:
    """The functions of a file by the line at which their code begins."""
    found = [n for n in ast.walk(tree_of(file)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {min([n.lineno, *(d.lineno for d in n.decorator_list)]): n for n in found}
