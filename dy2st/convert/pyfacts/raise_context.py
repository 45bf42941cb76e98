"""What stands between a raise and the `try` that catches it, in the user's source."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from types import FrameType
from typing import Any

from ...transpiler import locate
from ...transpiler.again import tree_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Python 3.10 does not have it
_GROUPS: tuple[Any, ...] = (ast.TryStar,) if hasattr(ast, "TryStar") else ()


def refused_by(until: FrameType, line: int) -> str:
    """What of the user's would see an exception that is raised now on its way to a `try` and cannot be shown it; empty if nothing would.

    Args:
        until: the frame of the `try`.
        line: the line of its `try`.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not until:
        place = locate(frame)
        if place is not None:
            for node in _around(place.file, place.line):
                if node.lineno <= line and _holds(node, line):
                    break  # the `try` is in it
                if isinstance(node, ast.With) and not all(_sets_a_mode(item.context_expr, frame) for item in node.items):
                    return "inside of a with statement, which would see the exception"
                if isinstance(node, _GROUPS) and node.body[0].lineno <= place.line <= (node.body[-1].end_lineno or 0):
                    return "inside of another try statement, which has except*"
        frame = frame.f_back
    return ""


def _around(file: str, line: int) -> Iterator[Any]:
    """The `with` and `try` statements around a line in its function, from the inside out."""
    found = [n for n in _compound(file) if _holds(n, line)]
    for node in sorted(found, key=lambda n: (n.lineno, -n.end_lineno), reverse=True):
        if isinstance(node, _FUNCTIONS):
            return
        yield node


def _holds(node: Any, line: int) -> bool:
    return bool(node.lineno <= line <= node.end_lineno)


@functools.lru_cache(maxsize=64)
def _compound(file: str) -> list[Any]:
    kinds = (*_FUNCTIONS, ast.With, *_GROUPS)
    return [n for n in ast.walk(tree_of(file)) if isinstance(n, kinds)]


def _sets_a_mode(expression: ast.expr, frame: FrameType) -> bool:
    """Whether a context manager is one of this package (`no_grad`, ...), which exceptions pass without a trace."""
    names = ast.unparse(expression.func if isinstance(expression, ast.Call) else expression).split(".")
    missing = object()
    found: Any = frame.f_locals.get(names[0], frame.f_globals.get(names[0], getattr(builtins, names[0], missing)))
    for attribute in names[1:]:
        found = getattr(found, attribute, missing)
    module = getattr(found, "__module__", None) or type(found).__module__
    return found is nullcontext or module.partition(".")[0] == "dy2st"
