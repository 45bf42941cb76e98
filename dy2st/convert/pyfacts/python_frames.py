"""The functions that are being traced, as Python runs them: their frames and variables."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, GeneratorType
from typing import Any

from ...transpiler import is_generated, made_functions, made_variables
from .. import roles


def is_statement(code: CodeType) -> bool:
    """Whether what code of this package raises is what Python says of a statement of the user's."""
    return code.co_filename in roles.statements


def frames() -> Iterator[FrameType]:
    """The frames of the functions that are being traced, from the inside out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_generated(frame.f_code):
            yield frame
        frame = frame.f_back


def variable_values() -> Iterable[Any]:
    """What their variables hold, each value once: many name the same layer.

    The functions that the transpiler has made of their statements are left out: these hold nothing but the same variables.
    """
    found: dict[int, Any] = {}
    for frame in frames():
        functions = made_functions(frame.f_code)
        found |= {id(value): value for name, value in frame.f_locals.items() if name not in functions}
    return found.values()


def variables() -> Iterator[tuple[FrameType, str, Any]]:
    """Their variables: each with its frame, its name and its value."""
    for frame in frames():
        for name, value in list(frame.f_locals.items()):
            yield frame, name, value


def named_variables() -> Iterator[tuple[FrameType, str, Any]]:
    """Those of them that are the user's."""
    return (v for v in variables() if v[1] not in made_variables(v[0].f_code) and v[1] not in made_functions(v[0].f_code))


def held_by_generator(x: GeneratorType) -> list[Any]:
    """What a generator that is suspended holds: in its variables, and what its loops run over."""
    frame = x.gi_frame
    if frame is None:
        return []
    variables = frame.f_locals
    excluded = (frame.f_code, frame.f_globals, frame.f_builtins, variables)
    inside = gc.get_referents(x if sys.version_info >= (3, 11) else frame)  # whose frame was an object of its own
    return [*(v for v in inside if not any(v is other for other in excluded)), *variables.values()]


def assign(frame: FrameType, name: str, value: Any) -> None:
    """Assigns to a variable of a function that is running."""
    frame.f_locals[name] = value
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
