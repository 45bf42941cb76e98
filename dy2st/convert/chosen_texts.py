"""Texts of which a part is that of one of several objects: which one, the run knows (`print(f"{step}: {mode}")`).

While they are put together a mark stands for the part (`texts.MARK`), whose spec has the texts that it may be. A text with no other
marks is one of several texts itself: it is compared, returned and kept as these are.
"""

from __future__ import annotations

import enum
import json
import sys
import types
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from types import FrameType
from typing import Any

import numpy as np

from ..tensor import Tensor
from ..tensor.location import is_own_code
from ..transpiler import is_generated
from . import hub
from .foreign import is_foreign
from .hub import current_tracer
from .met import FORMATTING
from .options import OneOf, Options, looked_up, values_of
from .texts import MARK, StagedText, text

CHOICE = "|"  # see the runtime's `ops.message`
MOST = 16
"""How many texts one of several may be. With more it can only be shown: in a loop each iteration might make others."""
_PLAIN = (str, bytes, bool, int, float, complex, type(None), type)


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


def is_text(x: Any) -> bool:
    """Whether a value is a text in all runs, one of several perhaps."""
    return all(isinstance(v, str) for v in values_of(x))


def marked(x: Any) -> Any:
    """One of several texts as a text with a mark, which functions of Python's take; any other value is as it was."""
    return str(x) if isinstance(x, OneOf) and is_text(x) else x


def joined(a: Any, b: Any) -> Any:
    """`a + b` of two texts."""
    return text(str.__str__(marked(a)) + str.__str__(marked(b)))


def options_of_mark(shown: str) -> list[str] | None:
    """The texts that the part with this spec may be; None if it is that of a tensor."""
    return json.loads(shown[len(CHOICE) :]) if shown.startswith(CHOICE) else None  # type: ignore[no-any-return]


def one_of_texts(said: str) -> Any:
    """A text with marks as one of several texts, if the run only chooses one; else the same, as one that only the run knows."""

    if (tracer := current_tracer()) is None:
        return StagedText(said)
    pieces = MARK.split(said)
    parts = [tracer.marked[int(n)] for n in pieces[1::2]]
    options = [texts for _, shown in parts if (texts := options_of_mark(shown)) is not None]
    if len(options) < len(parts):
        return StagedText(said)
    # each mark has a tensor of its own: what is chosen by one number has one variable
    by = [id(index._value) for index, _ in parts]
    indices = {key: index for key, (index, _) in zip(by, parts, strict=True)}
    counts = dict(zip(by, map(len, options), strict=True))
    if prod(counts.values()) > MOST:
        return StagedText(said)
    made = []
    for numbers in product(*map(range, counts.values())):
        chosen = dict(zip(counts, numbers, strict=True))
        texts = [texts[chosen[key]] for key, texts in zip(by, options, strict=True)]
        made.append(pieces[0] + "".join(map("".join, zip(texts, pieces[2::2], strict=True))))
    return _one_of(list(indices.values()), list(counts.values()), made)


def _one_of(indices: Sequence[Tensor], counts: Sequence[int], made: Sequence[str]) -> Any:
    """One of the texts, of which there is one for all numbers below each of `counts`: the run knows these, the `indices`."""
    texts = list(dict.fromkeys(made))
    if len(texts) == 1:
        return texts[0]
    at = indices[0]
    for index, count in zip(indices[1:], counts[1:], strict=True):
        at = at * count + index
    if len(texts) < len(made):
        at = looked_up([texts.index(t) for t in made], at)
    return OneOf(at, Options(texts))
