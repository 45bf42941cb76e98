"""The tensors of the outside that a trace reads."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from dy2st_runtime import dims
from dy2st_runtime.executor import identities_of
from dy2st_runtime.ir import Variable

from ..convert.guards.places import Place
from ..tensor import Tensor
from ..tensor.random import STATE_NAME
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

    def unfit(self, t: Any) -> str | None:
        """Why what is in its place now, `t`, cannot be fed; None if it can."""
        v = self.variable
        if not isinstance(t, Tensor):
            return f"tensor {v.name!r} is a {type(t).__name__} now"
        if type(t) is not type(self.tensor):
            return f"tensor {v.name!r} is a {type(t).__name__} now, traced was a {type(self.tensor).__name__}"
        if t.dtype != v.dtype or not dims.admits(v.shape, t._value.shape):
            return f"tensor {v.name!r} is {t.dtype}{list(t._value.shape)}, traced was {v.type}"
        if t.stop_gradient != self.stop_gradient:
            return f"stop_gradient of {v.name!r} is {t.stop_gradient}, traced was {self.stop_gradient}"
        return None


class View:
    """What a call reads.

    Attributes:
        tensors: the captured ones.
        arrays: their values, which live as long as the call.
        same: one object for all calls in which the arrays, all but the state of the random generator, are the same; None: it is not known.
    """

    __slots__ = ("arrays", "same", "tensors")

    def __init__(self, tensors: Sequence[Any], arrays: list[Any], same: object):
        self.tensors, self.arrays, self.same = tensors, arrays, same

    def by_name(self, names: Sequence[str]) -> dict[str, Any]:
        """The values by the names of their variables."""
        return dict(zip(names, self.arrays, strict=True))


class _Fitting:
    """Arrays that were found to fit: who they are, as long as none of them is gone, and what stands for just these."""

    def __init__(self, arrays: Sequence[np.ndarray]):
        self._identities = identities_of(arrays)
        self._gone: list[weakref.ref] = []
        self._references = [weakref.ref(a, self._gone.append) for a in arrays]
        self.same = object()

    def are(self, arrays: list[Any]) -> bool:
        """Whether they are these, which stay alive meanwhile."""
        return self._identities.are(arrays) and not self._gone


class Captures(Sequence[Captured]):
    """All of a trace, in order. As long as their arrays are those of the call before that is all there is to look at."""

    def __init__(self, captured: Iterable[Captured]):
        self._all = list(captured)
        self._fitting: _Fitting | None = None

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

    @functools.cached_property
    def _generator(self) -> int | None:
        """Which is the state of the random generator: another array in each call that draws."""
        return next((i for i, name in enumerate(self.names) if name == STATE_NAME), None)

    def view(self, now: Sequence[Any]) -> View | str:
        """The values of what is in their places, `now`; why one of them cannot be fed, if so."""
        try:
            arrays = [t._value for t in now]
        except AttributeError:
            arrays = []
        generator, fitting = self._generator, self._fitting
        compared = arrays if generator is None else arrays[:generator] + arrays[generator + 1 :]
        if fitting is not None and fitting.are(compared) and [t._stop for t in now] == self._stops:
            return View(now, arrays, fitting.same)
        reason = next((reason for c, t in zip(self._all, now, strict=True) if (reason := c.unfit(t)) is not None), None)
        if reason is not None:
            return reason
        fitting = self._fitting = _Fitting(compared)
        return View(now, arrays, fitting.same)

    def view_of_any(self, now: Sequence[Any] | None = None) -> View:
        """The values now, whether or not they can be fed: what runs the program will tell."""
        now = self.now() if now is None else now
        view = self.view(now)
        return View(now, [t._value for t in now], None) if isinstance(view, str) else view
