"""The functions that are being traced, as Python runs them: their frames and variables."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..transpiler import is_generated


def frames() -> Iterator[FrameType]:
    """The frames of the functions that are being traced, from the inside out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_generated(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def variables() -> Iterator[tuple[FrameType, str, Any]]:
    """Their variables: each with its frame, its name and its value."""
    for frame in frames():
        for name, value in list(frame.f_locals.items()):
            yield frame, name, value


def named_variables() -> Iterator[tuple[FrameType, str, Any]]:
    """Those of them that are the user's."""
    return (v for v in variables() if not is_generated_name(v[1]))


def is_generated_name(name: str) -> bool:
    """Whether a name is one that the transpiler made."""
    return name.rstrip("0123456789").endswith("_")


def assign(frame: FrameType, name: str, value: Any) -> None:
    """Assigns to a variable of a function that is running."""
    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
