"""Who has the array of a tensor: one that is written to in place must have its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import attrgetter, is_
from sys import getrefcount
from typing import Any

import numpy as np

from .tensor import Tensor


def make_alone(t: Tensor) -> None:
    """Gives a tensor an array that nobody else has: no other tensor, no node of the tape, no call that waits for gradients, no view."""
    if not _is_alone(t):
        t._value = np.array(t._value, order="C")


class Owned:
    """Arrays of tensors, of which nobody else has those that are written to.

    Args:
        names: what the tensors are called in `state`.
        written: how many of them, from the first one on, are written to.
        value_of: gives the array of a tensor.

    Attributes:
        state: the arrays by these names, as `update` has found them.
        same: another object whenever it has found other arrays.
    """

    def __init__(self, names: Sequence[str], tensors: Sequence[Tensor], written: int, value_of: Callable[[Tensor], Any]):
        self._value_of = value_of
        self._names, self._tensors, self._written = names, tensors, [*tensors[:written]]
        self._arrays: list[Any] = []
        self.state: dict[str, Any] = {}
        self.same = object()
        self._ours = _OURS * written
        self._held: list[int] = self._ours

    def update(self) -> None:
        """Looks at the arrays: one that somebody else has too is copied, if it is written to. What was lent is given back."""
        self._held = self._ours
        if not self.is_up_to_date():
            self._arrays, self.state = [], {}
            for t in self._written:
                make_alone(t)
            self._arrays = [*map(self._value_of, self._tensors)]
            self.state = dict(zip(self._names, self._arrays, strict=True))
            self.same = object()

    def lend(self) -> None:
        """Somebody has got the arrays who may have them; from now on nobody else is to get one that is written to."""
        self._held = [*map(getrefcount, map(_VALUE, self._written))]

    def is_up_to_date(self) -> bool:
        """Whether the arrays are those in `state`, and nobody else has got one that is written to."""
        if len(self._arrays) != len(self._tensors) or not all(map(is_, map(self._value_of, self._tensors), self._arrays)):
            return False
        return not self._written or [*map(getrefcount, map(_VALUE, self._written))] == self._held


_VALUE = attrgetter("_value")


def _ours() -> list[int]:
    t = Tensor.wrap(np.zeros(1))
    held = [t._value], {"t": t._value}
    counts = [*map(getrefcount, map(_VALUE, [t]))]
    assert held
    return counts


_OURS = _ours()
"""The references to an array that a tensor and an `Owned` have, while it looks at them."""


def _references(t: Tensor) -> int:
    return sys.getrefcount(t._value)


_ALONE = _references(Tensor.wrap(np.zeros(1)))


def _is_alone(t: Tensor) -> bool:
    return _references(t) == _ALONE and t._value.base is None and t._value.flags.carray  # type: ignore[union-attr]
