"""Where in the user's source the current op is, and by which calls the program got there."""

from __future__ import annotations

import dis
import linecache
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, NamedTuple, TypeVar

import dy2st_runtime
import numpy as np

from ..errors import Location
from ..transpiler import is_generated, locate, place_of, positions

_OWN = tuple(
    os.path.join(os.path.dirname(os.path.abspath(f)), "")
    for f in (os.path.dirname(__file__), dy2st_runtime.__file__)
    if f is not None
)
# code of these is neither the user's nor converted; packages may lie in the folder of the standard library
_LIBRARIES = tuple(os.path.join(os.path.dirname(os.path.abspath(file)), "") for file in (os.__file__, np.__file__))
_PACKAGES = tuple(os.path.join(_LIBRARIES[0], name, "") for name in ("site-packages", "dist-packages"))

F = TypeVar("F", bound=Callable)


class Step(NamedTuple):
    """Where a frame of the user's is. `part`: it is no call of the user's but a part of the function around it, a branch say."""

    location: Location
    part: bool


def user_location(depth: int = 1) -> Location | None:
    """The innermost frame of the user's code: outside dy2st, generated code mapped to its origin.

    Args:
        depth: how many frames to skip to begin with.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        step = _step(frame, frame.f_lasti)
        if step is not None:
            return step.location
        frame = frame.f_back
    return None


def user_frame() -> FrameType | None:
    """That frame."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _step(frame, frame.f_lasti) is None:
        frame = frame.f_back
    return frame


def instruction(frame: FrameType) -> str:
    """The name of the instruction that a frame executes, and what it is about."""
    return next((f"{i.opname} {i.argrepr}" for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti), "")


def warn(text: str) -> None:
    """A UserWarning at the line where the user's program is."""
    place = user_location(2)
    warnings.warn_explicit(text, UserWarning, *(("dy2st", 0) if place is None else (place.file, place.line)))


def user_path(depth: int = 1) -> Location | None:
    """The same with the calls that led there, as far as the function that is traced, as `caller`."""
    steps: list[Step] = []
    frame: FrameType | None = sys._getframe(depth)
    # this is asked for each op: by the identity of the code, as code is compared and hashed by all that is in it
    while frame is not None and (code := id(frame.f_code)) not in _entries:
        if code not in _passed:
            step = _step(frame, frame.f_lasti)
            if step is not None:
                steps.append(step)
        frame = frame.f_back
    key = tuple(map(id, steps))
    known = _paths.get(key)
    if known is None:
        known = _remember(_paths, key, (steps, joined(calls(reversed(steps)))))
    return known[1]


def path_of(error: BaseException) -> Location | None:
    """The innermost place of the user's on the way to an exception that is caught here, with all calls that led there."""
    path, steps = user_path(2), traceback_steps(error.__traceback__)
    while path is not None:
        steps.insert(0, Step(path, False))
        path = path.caller
    return joined(calls(steps))


_entries: dict[int, CodeType] = {}


def entry(function: F) -> F:
    """Decorator of what calls the function that is traced: what is further out is no part of a `user_path`."""
    code = function.__code__  # type: ignore[attr-defined]
    _entries[id(code)] = code
    return function


def traceback_calls(tb: TracebackType | None) -> list[Location]:
    """The user's places on the way to an exception, outermost first."""
    return calls(traceback_steps(tb))


def traceback_steps(tb: TracebackType | None) -> list[Step]:
    """The same with the parts of functions apart."""
    steps: list[Step] = []
    while tb is not None:
        step = _step(tb.tb_frame, tb.tb_lasti)
        if step is not None and (is_generated(code := tb.tb_frame.f_code) or os.path.exists(code.co_filename)):
            steps.append(step)
        tb = tb.tb_next
    return steps


def converted_places(tb: TracebackType | None) -> list[Location]:
    """The places on the way to an exception, outermost first: the user's, and those in what is converted of dy2st itself."""
    found: list[Location] = []
    while tb is not None:
        place = locate(tb)
        if place is not None:
            found.append(place)
        else:
            found += traceback_calls(TracebackType(None, tb.tb_frame, tb.tb_lasti, tb.tb_lineno))
        tb = tb.tb_next
    return found


def calls(steps: Iterable[Step]) -> list[Location]:
    """One place for each call: the innermost of those that are parts of one function."""
    found: list[Location] = []
    for location, part in steps:
        if part and found and (found[-1].file, found[-1].function) == (location.file, location.function):
            found.pop()
        found.append(location)
    return found


def joined(places: Iterable[Location]) -> Location | None:
    """The last of the places, with those before it as `caller`."""
    result: Location | None = None
    for place in places:
        result = place._replace(caller=result)
    return result


_DEBUGGERS = {"pdb", "bdb", "cmd", "reprlib", "pprint", "code"}


def asked_by_debugger() -> bool:
    """Whether the first frame outside of dy2st belongs to a debugger: it wants to show what there is, and no program sees the answer."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_code(frame.f_code):
        frame = frame.f_back
    return by_debugger(frame)


def by_debugger(frame: FrameType | None) -> bool:
    """Whether code runs for a debugger: its own, or what was typed there."""
    if frame is not None and frame.f_code.co_filename.startswith("<"):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") in _DEBUGGERS


def is_own(file: str) -> bool:
    """Whether a file is one of dy2st's."""
    return file.startswith(_OWN)


def is_own_code(code: CodeType) -> bool:
    """Whether code is dy2st's as it was written: what is converted of its layers does what the user's code does."""
    return code.co_filename.startswith(_OWN) and not is_generated(code)


def in_own_layer() -> bool:
    """Whether the innermost converted code that is running is that of one of dy2st's own layers."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_generated(frame.f_code):
        frame = frame.f_back
    return frame is not None and is_own(frame.f_code.co_filename)


def _library(file: str) -> bool:
    return file.startswith(_LIBRARIES) and (file.startswith(_LIBRARIES[1]) or not file.startswith(_PACKAGES))


# What is known by the identity of something is kept with that, so that its identity is not given to another:
# the code of dy2st and of libraries,
_passed: dict[int, CodeType] = {}
# the steps of (code, instruction), None for other frames that are nobody's,
_known: dict[tuple[int, int], tuple[CodeType, Step | None]] = {}
# and the paths of several steps.
_paths: dict[tuple[int, ...], tuple[list[Step], Location | None]] = {}
_MOST = 20_000

K = TypeVar("K")
V = TypeVar("V")


def _remember(known: dict[K, V], key: K, value: V) -> V:
    if len(known) >= _MOST:
        known.clear()
    known[key] = value
    return value


def _step(frame: FrameType, instruction: int) -> Step | None:
    code = frame.f_code
    if id(code) in _passed:
        return None
    key = id(code), instruction
    known = _known.get(key)
    if known is None:
        known = _remember(_known, key, (code, _located(frame, instruction)))
    return known[1]


def _located(frame: FrameType, instruction: int) -> Step | None:
    code = frame.f_code
    line = _line(code, instruction)
    found = place_of(code, instruction, line)
    if found is None:
        if is_own(code.co_filename) or _library(code.co_filename):
            _remember(_passed, id(code), code)
            return None
        if _is_made(code):
            return None
        return Step(_location(code, line, instruction, frame.f_globals), False)
    if is_own(found.file):  # the layers of dy2st itself are converted too
        return None
    name = code.co_name
    # the lambda around the right side of an `and` stands on the line that it was made of, a lambda of the user's need not
    return Step(found, name != found.function and name != "<lambda>")


def _is_made(code: CodeType) -> bool:
    """Whether it is a method that a library has made of a text, as `dataclass` does."""
    if code.co_filename != "<string>" or not code.co_name.startswith("__"):
        return False
    # from Python 3.13 on there are lines for this name in a process that was started with `python -c`
    return getattr(code, "co_qualname", "").startswith("__create_fn__.") or not linecache.getlines(code.co_filename)


def place_of_result(function: FunctionType) -> Location:
    """The `return` of a function if there is one only, else its `def`."""
    code = function.__code__
    returns = [i.offset for i in dis.get_instructions(code) if i.opname.startswith("RETURN_") and i.opname != "RETURN_GENERATOR"]
    lines = {_line(code, at): at for at in returns}
    if len(lines) == 1:
        ((line, at),) = lines.items()
        return place_of(code, at, line) or _location(code, line, at, function.__globals__)
    line = code.co_firstlineno
    found = place_of(code, -1, line)
    while found is None and linecache.getline(code.co_filename, line, function.__globals__).lstrip().startswith("@"):
        line += 1
    return found or _location(code, line, -1, function.__globals__)


def _line(code: CodeType, instruction: int) -> int:
    return positions.table(code).line(instruction) or code.co_firstlineno


def _location(code: CodeType, line: int, instruction: int, namespace: dict[str, Any]) -> Location:
    """The place of an instruction; with columns where Python knows them (3.11 and newer)."""
    text = linecache.getline(code.co_filename, line, namespace)
    col, end_col = _columns(code, instruction, line, text)
    name = code.co_name
    return Location(code.co_filename, line, col, end_col, "" if name == "<module>" else name, text.rstrip("\n"))


def _columns(code: CodeType, instruction: int, line: int, text: str) -> tuple[int, int | None]:
    indent = len(text) - len(text.lstrip())
    if instruction < 0:
        return indent, len(text.rstrip("\n"))
    if sys.version_info < (3, 11):
        return indent, None
    found = positions.table(code).positions
    first, last, start, stop = found[instruction // 2] if instruction // 2 < len(found) else (None,) * 4
    if first != line or start is None:
        return indent, None
    raw = text.encode()
    # positions count bytes of UTF-8
    begin = len(raw[:start].decode(errors="replace"))
    end = len(raw[:stop].decode(errors="replace")) if last == line and stop is not None else len(text.rstrip("\n"))
    return begin, end
