"""The tensors of the outside that a trace reads."""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from dy2st_runtime import dims
from dy2st_runtime.ir import Variable

from ..convert.places import Place
from ..tensor import Tensor
from .checks import NOT_THERE, reads


@dataclass
class Captured:
    """A tensor from outside. `place` is where it is found at each call, None for one that only the trace knows."""

    tensor: Tensor
    variable: Variable
    place: Place | None = None
    stop_gradient: bool = True

    def __post_init__(self) -> None:
        self.stop_gradient = self.tensor.stop_gradient

    def now(self) -> Any:
        """What is in its place now: a tensor, while the trace can serve a call."""
        return self.tensor if self.place is None else self.place.now()

    def unfit(self) -> str | None:
        """Why what is in its place now cannot be fed; None if it can."""
        t, v = self.now(), self.variable
        if not isinstance(t, Tensor):
            return f"tensor {v.name!r} is a {type(t).__name__} now"
        if t.dtype != v.dtype or not dims.admits(v.shape, t._value.shape):
            return f"tensor {v.name!r} is {t.dtype}{list(t._value.shape)}, traced was {v.type}"
        if t.stop_gradient != self.stop_gradient:
            return f"stop_gradient of {v.name!r} is {t.stop_gradient}, traced was {self.stop_gradient}"
        return None


class Captures(Sequence[Captured]):
    """All of a trace, in order. As long as their arrays are those of the call before that is all there is to look at."""

    def __init__(self, captured: Iterable[Captured]):
        self._all = list(captured)
        # the arrays that were found to fit, by weak reference
        self._fitting: list[Callable[[], Any]] = []

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Captured]:
        return iter(self._all)

    @overload
    def __getitem__(self, i: int) -> Captured: ...
    @overload
    def __getitem__(self, i: slice) -> list[Captured]: ...
    def __getitem__(self, i: Any) -> Any:
        return self._all[i]

    @functools.cached_property
    def _reads(self) -> list[Callable[[], tuple]]:
        return reads([Place({"tensor": c.tensor}, "tensor", "") if c.place is None else c.place for c in self._all])

    @functools.cached_property
    def _stops(self) -> list[bool]:
        return [c.stop_gradient for c in self._all]

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of their variables."""
        return [c.variable.name for c in self._all]

    def now(self) -> list[Any]:
        """What is in their places now: tensors, while the trace can serve a call."""
        try:
            return [t for read in self._reads for t in read()]
        except NOT_THERE:
            return [c.now() for c in self._all]

    def unfit(self, now: Sequence[Any]) -> str | None:
        """Why what is in one of their places, `now`, cannot be fed; None if all can."""
        known = [ref() for ref in self._fitting]
        values = [getattr(t, "_value", None) for t in now]
        if len(known) == len(values) and all(map(operator.is_, known, values)) and [t._stop for t in now] == self._stops:
            return None
        reason = next((reason for c in self._all if (reason := c.unfit()) is not None), None)
        if reason is None:
            self._fitting = [weakref.ref(a) for a in values]
        return reason
