"""Tracebacks as users want them: their own frames, at their own lines."""

from __future__ import annotations

import ast
import dis
import sys
import types
from typing import Any

from dy2st_runtime import config
from dy2st_runtime import errors as runtime_errors

from .. import missing_names
from ..errors import Dy2stError, Location, with_location
from .location import is_own, traceback_calls, user_location
from .tensor import Tensor

_WITHOUT_END = ("a function calls itself without end while it is traced, each time with other values that only Python knows",
                "let what changes from call to call be tensors or numbers")  # fmt: skip
_TOO_DEEP = ("it is nested deeper than Python, with its limit of {} calls, can follow here", "sys.setrecursionlimit(10_000), or nest less")
_FEW = 8  # users' calls from a line of which there is another call further out: more are recursion of the user's


def for_user(error: BaseException) -> BaseException:
    """The exception, naming the user's line and with a traceback of the user's frames only.

    `DY2ST_FULL_TRACEBACK` leaves the traceback as it is.
    """
    places = traceback_calls(error.__traceback__)
    if isinstance(error, RecursionError) and not isinstance(error, Dy2stError) and not _is_raised(error):
        again = len(places) - len({(place.file, place.line) for place in places})
        why, hint = _WITHOUT_END if again > _FEW else _TOO_DEEP
        error = runtime_errors.RecursionLimitError(
            why.format(sys.getrecursionlimit()), location=places[-1] if places else None, hint=hint
        ).with_traceback(error.__traceback__)
    if places and not _has_location(error):
        with_location(error, places[-1])
        note_missing_method(error)
    # the line of the op that failed, long after it was traced, and the calls that led there
    path, where = [], runtime_errors.location_of(error)
    while where is not None:
        path.append(where)
        where = where.caller
    known = {(place.file, place.line, place.function) for place in [*places, user_location()] if place is not None}
    places += [place for place in reversed(path) if (place.file, place.line, place.function) not in known]
    return error if config.FULL_TRACEBACK.get() else error.with_traceback(_stand_ins(places))


def _is_raised(error: BaseException) -> bool:
    """Whether a `raise` statement has raised it, and not Python itself."""
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb is not None and dis.opname[tb.tb_frame.f_code.co_code[tb.tb_lasti]] == "RAISE_VARARGS"


def install() -> None:
    """Lets errors name the line at which they arise, takes the frames of dy2st out of tracebacks that nobody catches, and lets those say
    what PaddlePaddle has of a method that tensors do not have."""
    if sys.excepthook is not _excepthook:
        global _next_hook
        _next_hook = sys.excepthook
        sys.excepthook = _excepthook
    runtime_errors.here = user_location


_next_hook: Any = None


def _excepthook(kind: type[BaseException], error: BaseException, tb: types.TracebackType | None) -> None:
    shown = tb if config.FULL_TRACEBACK.get() else without_own(error, tb)
    # Python prints the traceback that the exception has, not the one that the hook is given
    error.__traceback__ = shown
    note_missing_method(error)
    try:
        _next_hook(kind, error, shown)
    finally:
        error.__traceback__ = tb


def note_missing_method(error: BaseException) -> None:
    """Attaches to an AttributeError what is said of a method or attribute that PaddlePaddle's tensors have, and these do not.

    Python makes the text of the error. A `__getattr__` of the class could change it, but makes each look-up twice as slow.
    """
    if type(error) is AttributeError and isinstance(error.obj, Tensor) and error.name is not None:
        said = missing_names.remark(f"paddle.Tensor.{error.name}")
        if said is not None:
            runtime_errors.with_note(error, said)


def without_own(error: BaseException, tb: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the frames of dy2st, if the error is one that the user's code makes and not one of dy2st's."""
    entries = []
    while tb is not None:
        entries.append(tb)
        tb = tb.tb_next
    kept = [one for one in entries if not is_own(one.tb_frame.f_code.co_filename)]
    if not kept or (kept[-1] is not entries[-1] and not isinstance(error, Dy2stError)):
        kept = entries
    result: types.TracebackType | None = None
    for one in reversed(kept):
        result = types.TracebackType(result, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return result


def _has_location(error: BaseException) -> bool:
    if isinstance(error, Dy2stError):
        return error.is_located
    return bool(getattr(error, "__notes__", ()))


def _stand_ins(places: list[Location]) -> types.TracebackType | None:
    """A traceback with one entry for each place: frames of tiny programs that are compiled to stand at these lines."""
    result: types.TracebackType | None = None
    previous: Location | None = None
    for place in reversed(places):
        if previous is not None and (place.file, place.line, place.function) == (
            previous.file,
            previous.line,
            previous.function,
        ):
            continue  # an expression that became a function
        previous = place
        tb = _stand_in(place)
        result = types.TracebackType(result, tb.tb_frame, tb.tb_lasti, place.line)
    return result


def _stand_in(place: Location) -> types.TracebackType:
    end = place.end_col if place.end_col is not None and place.end_col > place.col else place.col + 1
    at = {"lineno": place.line, "end_lineno": place.line, "col_offset": place.col, "end_col_offset": end}
    tree = ast.Module([ast.Raise(ast.Name("error", ast.Load(), **at), None, **at)], [])
    code = compile(tree, place.file, "exec").replace(co_name=place.function or "<module>")
    try:
        exec(code, {"error": _Here()})
    except _Here:
        tb = sys.exc_info()[2]
    assert tb is not None
    assert tb.tb_next is not None
    return tb.tb_next


class _Here(Exception):
    pass
