"""Tracebacks as users want them: their own frames, at their own lines."""

from __future__ import annotations

import ast
import os
import sys
import types
from collections.abc import Iterator

import dy2st_runtime
from dy2st_runtime import config

from ..errors import Dy2stError, Location, with_location
from ..transpiler import locate
from .location import frame_location, user_location

_OWN = tuple(
    os.path.join(os.path.dirname(os.path.abspath(f)), "")
    for f in (os.path.dirname(__file__), dy2st_runtime.__file__)
    if f
)


_RECURSION = (
    "a function calls itself without end while it is traced; recursion that ends by a condition on a tensor cannot be "
    "staged yet: write it as a loop"
)


def for_user(error: BaseException) -> BaseException:
    """The exception, naming the user's line and with a traceback of the user's frames only.

    `DY2ST_FULL_TRACEBACK` leaves the traceback as it is.
    """
    places = list(_places(error.__traceback__))
    if places and not _has_location(error):
        with_location(error, places[-1])
    if isinstance(error, RecursionError):
        error.args = (_RECURSION,)
    where = getattr(error, "location", None)
    if where is not None and (not places or where[:2] != places[-1][:2]):
        places.append(where)  # the line of the op that failed, long after it was traced
    if isinstance(error, Dy2stError):
        error.at(user_location())  # an argument is at fault, no line of what was called: it is the line of this call
    return error if config.FULL_TRACEBACK.get() else error.with_traceback(_stand_ins(places))


def _has_location(error: BaseException) -> bool:
    if isinstance(error, Dy2stError):
        return error.location is not None
    return bool(getattr(error, "__notes__", ()))


def _places(tb: types.TracebackType | None) -> Iterator[Location]:
    """The user's places on the way to an exception, outermost first."""
    while tb is not None:
        found = locate(tb)
        file = tb.tb_frame.f_code.co_filename
        if found is not None:
            if not found.file.startswith(_OWN):
                yield found
        elif not file.startswith(_OWN) and os.path.exists(file) and not _library(file):
            yield frame_location(tb.tb_frame)._replace(line=tb.tb_lineno)
        tb = tb.tb_next


def _library(file: str) -> bool:
    return file.startswith(os.path.dirname(os.__file__))


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
