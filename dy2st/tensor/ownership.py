"""Who has the array of a tensor: one that is written to in place must have its own."""

from __future__ import annotations

import sys

import numpy as np

from .tensor import Tensor


def make_alone(t: Tensor) -> None:
    """Gives a tensor an array that nobody else has: no other tensor, no node of the tape, no call that waits for gradients, no view."""
    if not _is_alone(t):
        t._value = np.array(t._value, order="C")


def _references(t: Tensor) -> int:
    return sys.getrefcount(t._value)


_ALONE = _references(Tensor.wrap(np.zeros(1)))


def _is_alone(t: Tensor) -> bool:
    return _references(t) == _ALONE and t._value.base is None and t._value.flags.carray  # type: ignore[union-attr]
