"""Texts with values in them, made at run time: messages of assertions and exceptions, and what `print` prints.

Attributes: `parts` are the literal parts, one more than there are values; `specs` say how each value is shown. A spec is what an f-string
has after the expression: an optional conversion (`!r`, `!s`) and an optional format (`:.3f`). A leading `=` marks a value that is a
Python number to the user (a length, a loop counter) and is shown as one. Other values are tensors; a leading `^` marks one that gradients
flow to, which eager printing tells (`stop_gradient=False`). Some specs are of a bool that shows nothing itself: where that of `?` is true,
the next value is None; where that of `#int` (or `#bool`, `#float`) is, it is a Python number of this class. A spec that begins with `|`
is a list of texts, in JSON: an int says which of them is shown.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..errors import AttributeValueError

TensorText = Callable[[np.ndarray, bool], str]
_CLASSES = {"#bool": bool, "#int": int, "#float": float}


def _plain(array: np.ndarray, stop_gradient: bool) -> str:
    return str(array)


_tensor_text: TensorText = _plain


def set_tensor_text(function: TensorText) -> None:
    """Sets how a whole tensor is shown, given the array and `stop_gradient`: a front end's printing is the same in eager and in static."""
    global _tensor_text
    _tensor_text = function


class _Silence(threading.local):
    on = False


class _Waiting(threading.local):
    texts: list[Callable[[], object]] | None = None


silence = _Silence()
"""Whether this thread prints, logs and warns nothing: what it runs has done so before."""
_waiting = _Waiting()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """For what is run once more."""
    before, silence.on = silence.on, True
    try:
        yield
    finally:
        silence.on = before


@contextlib.contextmanager
def held_back(unless: tuple[type[Exception], ...]) -> Iterator[None]:
    """For what will be run once more if it raises one of these: what it prints, logs and warns of comes at its end, or then not at all."""
    texts: list[Callable[[], object]] = []
    before, _waiting.texts = _waiting.texts, texts
    dropped = False
    try:
        yield
    except unless:
        dropped = True
        raise
    finally:
        _waiting.texts = before
        for text in () if dropped else texts:
            say(text)


def say(text: Callable[[], object]) -> None:
    """Prints, logs or warns, as soon as it is known that it is to be."""
    if _waiting.texts is None:
        text()
    else:
        _waiting.texts.append(text)


def check(op: str, parts: Sequence[str], specs: Sequence[str], count: int) -> None:
    """AttributeValueError unless the parts and the specs fit `count` values."""
    if (parts and len(parts) != count + 1) or (specs and len(specs) != count):
        raise AttributeValueError(f"{op}: {count} values need {count + 1} parts and {count} specs, got {len(parts)} and {len(specs)}")


def compose(parts: Sequence[str], specs: Sequence[str], values: Sequence[np.ndarray]) -> str:
    """The text.

    >>> compose(["loss ", " after ", " steps"], [":.2f", "="], [np.array(0.123), np.array(7)])
    'loss 0.12 after 7 steps'
    >>> compose(["best ", "", ""], ["?", "="], [np.array(True), np.array(0)])
    'best None'
    >>> compose(["total ", "", ""], ["#int", ""], [np.array(True), np.array(0.0)])
    'total 0'
    >>> compose(["it is ", ""], ['|["even", "odd"]'], [np.array(1)])
    'it is odd'
    """
    said, is_none, cls = parts[0], False, None
    for value, spec, part in zip(values, specs or [""] * len(values), parts[1:], strict=True):
        if spec == "?":
            is_none = bool(value)
        elif spec in _CLASSES:
            cls = _CLASSES[spec] if value else None
        else:
            one = value if cls is None or is_none else np.asarray(cls(value.item()))
            said += show(None if is_none else one, spec if cls is None else "=" + spec.lstrip("^"))
            is_none, cls = False, None
        said += part
    return said


def show(array: np.ndarray | None, spec: str) -> str:
    """One value by its spec."""
    if array is not None and spec.startswith("|"):
        return json.loads(spec[1:])[int(array.item())]  # type: ignore[no-any-return]
    number, gradient = spec.startswith("="), spec.startswith("^")
    rest = spec[1:] if number or gradient else spec
    conversion, _, form = rest.partition(":")
    if array is None:
        return format(None if conversion == "" else "None", form)
    # with a conversion it is the text of the tensor that has the format, else its item
    if number or (form and not conversion and array.size == 1):
        value = array.reshape(()).item()
        return format(repr(value) if conversion == "!r" else str(value) if conversion == "!s" else value, form)
    return format(_tensor_text(array, not gradient), form)
