"""Where in the user's source the current op is."""

from __future__ import annotations

import linecache
import os
import sys
from itertools import islice
from types import FrameType

import dy2st_runtime

from ..errors import Location
from ..transpiler import locate

_OWN = tuple(
    os.path.join(os.path.dirname(os.path.abspath(f)), "")
    for f in (os.path.dirname(__file__), dy2st_runtime.__file__)
    if f is not None
)


def user_location(depth: int = 1) -> Location | None:
    """The innermost frame of the user's code: outside dy2st, generated code mapped to its origin.

    Args:
        depth: how many frames to skip to begin with.
    """
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        found = locate(frame)  # generated code
        if found is not None:
            # the layers of dy2st itself are converted too
            if not found.file.startswith(_OWN):
                return found
        elif not frame.f_code.co_filename.startswith(_OWN):
            return frame_location(frame)
        frame = frame.f_back
    return None


def frame_location(frame: FrameType) -> Location:
    """The place a frame is at; with columns where Python knows them (3.11 and newer)."""
    code = frame.f_code
    line = frame.f_lineno or code.co_firstlineno
    text = linecache.getline(code.co_filename, line, frame.f_globals)
    col, end_col = _columns(frame, line, text)
    name = code.co_name
    return Location(code.co_filename, line, col, end_col, "" if name == "<module>" else name, text.rstrip("\n"))


def _columns(frame: FrameType, line: int, text: str) -> tuple[int, int | None]:
    indent = len(text) - len(text.lstrip())
    if sys.version_info < (3, 11) or frame.f_lasti < 0:
        return indent, None
    first, last, start, stop = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    if first != line or start is None:
        return indent, None
    raw = text.encode()
    # positions count bytes of UTF-8
    begin = len(raw[:start].decode(errors="replace"))
    end = len(raw[:stop].decode(errors="replace")) if last == line and stop is not None else None
    return begin, end
