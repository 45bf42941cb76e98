"""Calls of a debugger (`breakpoint()`) in a function that is traced."""

from __future__ import annotations

import sys
import types
from typing import Any

from ...transpiler import DEBUGGERS
from .foreign import is_foreign


def is_debugger(f: Any) -> bool:
    """Whether a function starts a debugger: `breakpoint`, or `set_trace` of pdb, of an object of its, and of others in its place."""
    return isinstance(f, _FUNCTIONS) and f.__name__ in DEBUGGERS and is_foreign(f.__module__)


def is_quit(error: BaseException) -> bool:
    """Whether the user has ended the program in a debugger, which raises that in the code that it shows: it is no exception of the code."""
    bdb = sys.modules.get("bdb")  # no debugger, no exception of its
    return bdb is not None and isinstance(error, bdb.BdbQuit)


_FUNCTIONS = types.FunctionType, types.BuiltinFunctionType, types.MethodType


class Stops:
    """Where the debugger has been called.

    A loop is traced until it is known which of its variables vary, and a function may be traced again with other sizes. The user sees the
    first of these traces: in the others the debugger is not called where it was called then.

    Attributes:
        seen: how often each place was come by in the traces before, the present one included; shared by the traces of one call.
        now: how often in the present one.
    """

    def __init__(self) -> None:
        self.seen: dict[tuple[int, int], int] = {}
        self.now: dict[tuple[int, int], int] = {}

    def is_new(self, frame: types.FrameType) -> bool:
        """Whether no trace before has come by the call that a frame is at as often as this one now."""
        place = id(frame.f_code), frame.f_lasti
        times = self.now[place] = self.now.get(place, 0) + 1
        is_new = times > self.seen.get(place, 0)
        if is_new:
            self.seen[place] = times
        return is_new
