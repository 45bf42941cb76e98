"""Handlers around code that is being traced which are not converted: those of Python where it takes items, and of functions of libraries.

Python itself calls the special methods of the user's classes. A StopIteration tells it that an iterator has come to its end, and the
function that a method is called for may catch what it raises, as `get` of `collections.abc.Mapping` does with a KeyError. Neither can be
shown what only the run knows to be raised.
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from ...tensor.location import is_own
from ...transpiler import is_generated
from .. import hub
from ..pyfacts.bytecode import instructions
from ..pyfacts.enclosing_handlers import EnclosingHandler
from .context_managers import goes_on
from .with_effects import functions_of

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

_HANDLING = {"SETUP_FINALLY", "PUSH_EXC_INFO"}  # of code with handlers, the former before Python 3.11


@hub.primitive
def enclosing_handler(tracer: Tracer, method: str, owner: Any, caller: FrameType | None) -> EnclosingHandler | None:
    """What would see an exception of a special method that Python has called; None if nothing would.

    Args:
        method: its name.
        owner: the object whose method it is.
        caller: the frame of the code that Python has called it for.
    """
    depth = len(tracer.tries.active)
    if method == "__next__":
        hint = "loop over the iterator itself with for, or call next() of it in a try statement"
        return EnclosingHandler(_is_end, f"what takes items from {type(owner).__name__}()", hint, depth)
    kinds: list[Any] = []
    name = ""
    while caller is not None and not is_own(caller.f_code.co_filename) and not is_generated(caller.f_code):
        name = name or caller.f_code.co_name
        kinds += _caught(caller)
        caller = caller.f_back
    if not kinds:
        return None
    hint = f"catch it in the {method}() of {type(owner).__name__}, or test with if before the call"
    return EnclosingHandler(lambda kind: issubclass(kind, tuple(kinds)), f"a handler of {name}(), which is not converted", hint, depth)


def _is_end(kind: type[BaseException]) -> bool:
    return issubclass(kind, StopIteration)


def _caught(frame: FrameType) -> Iterator[type[BaseException]]:
    """The classes of what would be caught where a function is."""
    code = frame.f_code
    file = code.co_filename
    if file.startswith("<frozen"):
        file = frame.f_globals.get("__file__") or file
    function = functions_of(file).get(code.co_firstlineno)
    if function is None:
        if any(i.opname in _HANDLING for i in instructions(code)):
            yield BaseException  # there is no source that says which
        return
    for first, last, named in _tries(function):
        if first <= frame.f_lineno <= last:
            yield from [BaseException] if named is None else _classes(named, frame)


@functools.lru_cache(maxsize=256)
def _tries(function: ast.AST) -> Sequence[tuple[int, int, ast.expr | None]]:
    """The bodies of the `try`s of a function: where they begin and end, and what a handler names. Handlers that let everything go on are
    none."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Try) or node.__class__.__name__ == "TryStar":
            handlers = [h for h in node.handlers if not goes_on(h.body[-1])]  # type: ignore[attr-defined]
            found += [(*_lines(node.body), h.type) for h in handlers]  # type: ignore[attr-defined]
        if isinstance(node, ast.With) and any("suppress" in ast.unparse(item) for item in node.items):
            found.append((*_lines(node.body), None))
    return found


def _lines(body: Sequence[ast.stmt]) -> tuple[int, int]:
    return body[0].lineno, body[-1].end_lineno or body[-1].lineno


def _classes(named: ast.expr, frame: FrameType) -> list[type[BaseException]]:
    """The classes that a handler names; all, if that is not told by names that its function finds outside."""
    if isinstance(named, ast.Tuple):
        return [kind for part in named.elts for kind in _classes(part, frame)]
    found: Any = None
    if isinstance(named, ast.Name):
        found = frame.f_globals.get(named.id, getattr(builtins, named.id, None))
    kinds = found if isinstance(found, tuple) else (found,)
    return list(kinds) if all(isinstance(k, type) and issubclass(k, BaseException) for k in kinds) else [BaseException]
