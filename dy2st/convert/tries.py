"""`try` around staged code: what only the run can raise, no `except` of the traced function can catch."""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from dy2st_runtime.errors import Location
from dy2st_runtime.ops.check import EXCEPTIONS

from ..errors import StructureError
from ..transpiler import locate

# what ops raise because of values, unless they say it themselves
_BY_VALUE = (IndexError, ZeroDivisionError, ValueError)


def require_uncaught(exceptions: Sequence[type[BaseException]], location: Location | None) -> None:
    """StructureError if a `try` of the user around the current place would catch one of the exceptions in eager mode."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        place = locate(frame)
        if place is not None and _catches(frame, place, exceptions):
            raise StructureError(
                "a try statement cannot catch what is raised under a condition on tensors, or by an operation that "
                "fails because of values, nor print or raise in its `finally` then: only the run knows whether it is raised",
                location=location or place, hint="test for it with if, and compute the other value there",
            )  # fmt: skip
        frame = frame.f_back


def exceptions_of(op_type: str, exception: str | None) -> Sequence[type[BaseException]]:
    """What an op may raise: `exception` is the name that a `raise_if` has."""
    if op_type == "assert":
        return (AssertionError,)
    return _BY_VALUE if exception is None else (EXCEPTIONS[exception],)


def _catches(frame: FrameType, place: Location, exceptions: Sequence[type[BaseException]]) -> bool:
    return any(
        first <= place.line <= last and any(issubclass(e, _handler(h, frame)) for h in names for e in exceptions)
        for first, last, names in _tries(place.file)
    )


@functools.lru_cache(maxsize=64)
def _tries(file: str) -> list[tuple[int, int, list[str]]]:
    """The lines of the body of each `try` in a file that does something where an exception is raised, and the names of which."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:  # a cell of a notebook with magics, say: nothing is known then
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and (node.handlers or _shows(node.finalbody)):
            kinds = [h.type for h in node.handlers]
            names = [
                ast.unparse(t) for k in kinds if k is not None for t in (k.elts if isinstance(k, ast.Tuple) else [k])
            ]
            names += ["BaseException"] * (kinds.count(None) + _shows(node.finalbody))
            found.append((node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno, names))
    return found


def _shows(block: list[ast.stmt]) -> bool:
    """Whether code prints or raises: else nobody sees, after a call that fails, that it has not run."""
    return any(
        isinstance(n, (ast.Assert, ast.Raise)) or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print")
        for statement in block for n in ast.walk(statement)
    )  # fmt: skip


def _handler(name: str, frame: FrameType) -> tuple[type[BaseException], ...]:
    """The classes that a handler names, as far as its frame knows them: any, if it does not."""
    first, *rest = name.split(".")
    missing = object()
    kind: Any = frame.f_locals.get(first, frame.f_globals.get(first, getattr(builtins, first, missing)))
    for attribute in rest:
        kind = getattr(kind, attribute, missing)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if all(isinstance(k, type) and issubclass(k, BaseException) for k in kinds):
        return kinds
    return (BaseException,)
