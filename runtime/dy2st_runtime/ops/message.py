"""Texts with values in them, made at run time: messages of assertions and exceptions, and what `print` prints.

Attributes: `parts` are the literal parts, one more than there are values; `specs` say how each value is shown. A spec is what an f-string
has after the expression: an optional conversion (`!r`, `!s`) and an optional format (`:.3f`). A leading `=` marks a value that is a
Python number to the user (a length, a loop counter) and is shown as one. Other values are tensors; a leading `^` marks one that gradients
flow to, which eager printing tells (`stop_gradient=False`). The spec `?` is of a bool that shows nothing itself: where it is true, the
value after it is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import AttributeValueError

TensorText = Callable[[np.ndarray, bool], str]


def _plain(array: np.ndarray, stop_gradient: bool) -> str:
    return str(array)


_tensor_text: TensorText = _plain


def set_tensor_text(function: TensorText) -> None:
    """Sets how a whole tensor is shown, given the array and `stop_gradient`: a front end's printing is the same in eager and in static."""
    global _tensor_text
    _tensor_text = function


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
    """
    specs = specs or [""] * len(values)
    none = [i > 0 and specs[i - 1] == "?" and bool(values[i - 1]) for i in range(len(values))]
    shown = [show(None if n else v, s) for v, s, n in zip(values, specs, none, strict=True)]
    return parts[0] + "".join(text + part for text, part in zip(shown, parts[1:], strict=True))


def show(array: np.ndarray | None, spec: str) -> str:
    """One value by its spec."""
    if spec == "?":
        return ""
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
