"""Tensors as text, in the form of PaddlePaddle 2.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from dy2st_runtime import formats
from dy2st_runtime.ir import Variable
from dy2st_runtime.ops import message

from .tensor import Parameter, Tensor


@dataclass
class PrintOptions:
    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    sci_mode: bool = False
    linewidth: int = 80


_options = PrintOptions()


def set_printoptions(precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
                     sci_mode: bool | None = None, linewidth: int | None = None) -> None:  # fmt: skip
    """Sets how tensors are printed.

    Args:
        precision: digits after the point (8).
        threshold: tensors with more elements are shortened (1000).
        edgeitems: how many items a shortened axis shows at each end (3).
        sci_mode: scientific notation (False).
        linewidth: longer rows are broken (80).

    >>> set_printoptions(precision=2); print(Tensor([0.123])); set_printoptions(precision=8)
    Tensor(shape=[1], dtype=float32, place=CPUPlace, stop_gradient=True,
           [0.12])
    """
    numbers = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in numbers.items():
        if value is not None:
            if not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} must be a non-negative int, got {value!r}")
            setattr(_options, name, value)
    if sci_mode is not None:
        _options.sci_mode = bool(sci_mode)


def to_text(t: Tensor) -> str:
    """What `print(t)` prints."""
    if isinstance(t._value, Variable) and getattr(t._value.block.program, "hand_built", False):
        return formats.variable_to_text(t._value)  # as PaddlePaddle prints the variables of a static program
    prefix = "Parameter containing:\n" if isinstance(t, Parameter) else ""
    head = f"{prefix}Tensor(shape={list(t._form.shape)}, dtype={t.dtype}, "
    if isinstance(t._value, Variable):
        return f"{head}name={t._value.name}, stop_gradient={t._stops}, symbolic)"
    return f"{head}place={t.place}, stop_gradient={t._stops},\n       {array_to_text(t._value, 7)})"


def array_to_text(array: np.ndarray, indent: int = 0) -> str:
    """An array in the form of Paddle; all items have the width of the longest."""
    edges = _edges(array)
    signed = bool((edges < 0).any())
    width = max((len(_item(v)) for v in edges.reshape(-1)), default=0)
    return _rows(array, array.size > _options.threshold, indent, width, signed)


def _edges(array: np.ndarray) -> np.ndarray:
    """What a shortened print shows: the width of the items is that of these."""
    n = _options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * n:
            array = np.take(array, [*range(n), *range(size - n, size)], axis)
    return array


def _item(value: Any, width: int = 0, signed: bool = False) -> str:
    if value.dtype.kind == "f":
        if _options.sci_mode:
            text = f"{value:.{_options.precision}e}"
        elif np.ceil(value) == value:
            text = f"{value:.0f}."
        else:
            text = f"{value:.{_options.precision}f}"
    else:
        text = str(value)
    if width <= len(text):
        return text
    return (" " + text if signed and not value < 0 else text).ljust(width)


def _rows(array: np.ndarray, short: bool, indent: int, width: int, signed: bool) -> str:
    if array.ndim == 0:
        return _item(array[()], width, signed)
    n = _options.edgeitems
    inner = [
        _rows(v, short, indent + 1, width, signed) if array.ndim > 1 else _item(v, width, signed)
        for v in _shown(array, short)
    ]
    if short and len(array) > 2 * n:
        inner.insert(n, "...")
    indentation = " " * (indent + 1)
    if array.ndim > 1:
        separator = "," + "\n" * (array.ndim - 1) + indentation
        return f"[{separator.join(inner)}]"
    count = max((_options.linewidth - indent) // (width + 2), 1)
    separator = ",\n" + indentation
    return f"[{separator.join(', '.join(inner[i : i + count]) for i in range(0, len(inner), count))}]"


def _shown(array: np.ndarray, short: bool) -> list:
    n = _options.edgeitems
    return [*array[:n], *array[len(array) - n :]] if short and len(array) > 2 * n else list(array)


def _array_as_tensor(array: np.ndarray, stop_gradient: bool) -> str:
    t = Tensor.wrap(array)
    t.set_stop(stop_gradient)
    return to_text(t)


# what a static program prints is what eager prints
message.set_tensor_text(_array_as_tensor)
