"""Texts of which a part is that of one of several objects: which one, the run knows (`print(f"{step}: {mode}")`).

While they are put together a mark stands for the part (`texts.MARK`), whose spec has the texts that it may be. A text with no other
marks is one of several texts itself: it is compared, returned and kept as these are.
"""

from __future__ import annotations

import enum
import json
import sys
import types
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from ...tensor.location import is_own_code
from ...transpiler import is_generated
from .. import hub
from ..hub import current_tracer
from ..pyfacts.foreign import FORMATTING, is_foreign
from .one_of import OneOf, marked
from .symbolic_texts import CHOICE, StagedText, text

_PLAIN = (str, bytes, bool, int, float, complex, type(None), type)


@hub.primitive
def shown_chosen(x: OneOf, how: Callable[[Any], str]) -> StagedText:
    """What stands for the text of the object that it is, of which `how` gives the text.

    Raises:
        StagedValueError: the user's code says what the text of one of them is, or code that is not converted looks at it.
    """
    tracer = current_tracer()
    values = x._dy_options.values
    if tracer is None or hub.is_called_unconverted() or not _is_asked_by_converted_code() or not all(map(_is_plain, values)):
        x._dy_fail("made a text")
    return tracer.mark(x._dy_index, CHOICE + json.dumps([how(v) for v in values]))


def _is_asked_by_converted_code() -> bool:
    """Whether it is no function of a library that makes the text, which may do anything with it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and is_own_code(frame.f_code):
        frame = frame.f_back
    return frame is not None and is_generated(frame.f_code)


def _is_plain(value: Any) -> bool:
    """Whether Python, and no code of the user's, says what the text of a value is."""
    if type(value) in (tuple, frozenset):
        return all(map(_is_plain, value))
    if isinstance(value, enum.Enum):
        said = (getattr(type(value), name) for name in FORMATTING)
        return all(not isinstance(f, types.FunctionType) or is_foreign(f.__module__) for f in said)
    return type(value) in _PLAIN or isinstance(value, (np.generic, np.dtype))


@hub.primitive
def joined_texts(a: Any, b: Any) -> Any:
    """`a + b` of two texts."""
    return text(str.__str__(marked(a)) + str.__str__(marked(b)))
