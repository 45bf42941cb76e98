"""`Traces`: those of one function, with what is known of it from one trace to the next."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from dy2st_runtime import config, forks

from ..convert.guards.activations import Kind
from ..errors import Location
from ..tensor import Tensor
from .concrete import ConcreteProgram
from .numbers import Numbers
from .reasons import Counter
from .signature import Key, Parameters

_CALLED_AT = attrgetter("called_at")


class Traces:
    """The traces of a function, or of a method of one object; it does not keep the object alive."""

    def __init__(self) -> None:
        self.lock = forks.reentrant_lock()
        # calls that change what is outside run one at a time, each with all that the one before has left; how many there were
        self.changing, self.changes = forks.reentrant_lock(), 0
        self.by_key: dict[Key, list[ConcreteProgram]] = {}
        self.order: list[ConcreteProgram] = []
        self.called: Callable[[], ConcreteProgram | None] = _nothing  # the one that served the last call
        self.count = 0  # how many there have been, also for objects that are gone
        # those that were only made to be saved: one for each kind of arguments
        self.saved: dict[Key, ConcreteProgram] = {}
        self._open_captures: dict[int, tuple[weakref.ref[Tensor], tuple[int, ...]]] = {}
        self._arguments: dict[Key, list[weakref.ref]] = {}  # the objects among the arguments
        # the functions that call themselves deeper than they are unrolled, which the next trace need not find again
        self.recursive: set[Kind] = set()
        # likewise the loops over ranges that have to be unrolled
        self.unrolled: set[Location | None] = set()
        # where the sizes of the arguments decide how many dims `squeeze` leaves
        self.squeezes: set[Location | None] = set()
        self.numbers = Numbers()
        self.causes = Counter()
        self.makers = 0  # how many of them have made parameters, buffers or optimizers
        self.warned_of_sizes = self.judged = False
        self.stopped: dict[tuple[int, int], int] = {}  # where the traces of the present call have called a debugger
        self.mixed: dict[Key, types.FunctionType] = {}
        # how calls are bound, and the code and defaults that this is for
        self.parameters: Parameters | None = None
        self.defaults: tuple[Any, ...] = ()

    def keep(self, concrete: ConcreteProgram, key: Key) -> None:
        """Adds a trace, for as long as the objects live that calls with this key have as arguments."""
        if concrete.state_made:  # what was made before serves no call any more
            self.by_key = {k: [c for c in group if not c.state_made] for k, group in self.by_key.items()}
            self.order = [c for c in self.order if not c.state_made]
        if key not in self.by_key:
            gone = functools.partial(_forget, weakref.ref(self), key)
            self._arguments[key] = [weakref.ref(x, gone) for x in key.objects()]
        self.by_key.setdefault(key, []).append(concrete)
        self.count += 1
        concrete.called_at = self.count
        while len(self.order) >= config.TRACES.get():
            # each value of a Python argument has one, and there may be as many as steps of the training
            self.drop(min(self.order, key=_CALLED_AT))
        self.order = [*self.order, concrete]

    def drop(self, concrete: ConcreteProgram) -> None:
        """A trace serves no calls any more."""
        self.by_key = {k: left for k, group in self.by_key.items() if (left := [c for c in group if c is not concrete])}
        self.order = [c for c in self.order if c is not concrete]
        for key in self._arguments.keys() - self.by_key.keys():
            del self._arguments[key]

    def prefer(self, key: Key, concrete: ConcreteProgram, other: ConcreteProgram) -> None:
        """Calls look at a trace before another one, for which the outside is another now: after `eval()` it is so at each call, and
        finding that out costs as much as a call."""
        with self.lock:
            group = self.by_key.get(key, [])
            rest = [c for c in group if c is not concrete]
            if len(rest) < len(group) and other in rest:
                at = rest.index(other)
                self.by_key[key] = [*rest[:at], concrete, *rest[at:]]

    def forget(self, key: Key) -> None:
        """An argument of calls with this key is gone. That may be anywhere: a list that somebody reads at that time stays as it is."""
        self._arguments.pop(key, None)
        self.saved.pop(key, None)
        gone = self.by_key.pop(key, [])
        self.order = [c for c in self.order if all(c is not x for x in gone)]

    def open_capture(self, t: Tensor, shape: tuple[int, ...]) -> None:
        """A tensor of the outside is to be traced with this shape from now on."""
        self._open_captures[id(t)] = weakref.ref(t), shape

    def open_captures(self) -> dict[int, tuple[int, ...]]:
        """The shapes of such tensors by id; without those that are gone, whose ids others may have."""
        return {key: shape for key, (t, shape) in self._open_captures.items() if t() is not None}


def _nothing() -> None:
    return None


def _forget(traces: weakref.ref[Traces], key: Key, _: weakref.ref) -> None:
    there = traces()
    if there is not None:
        there.forget(key)


class ByObject:
    """The traces of a method by object: by identity, as objects may be equal, and for as long as each one lives."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Callable[[], Any], Traces]] = {}

    def of(self, instance: Any) -> Traces:
        """The traces of an object; it gets them at the first call."""
        key = id(instance)
        known = self._found.get(key)
        if known is None or known[0]() is not instance:
            try:
                alive: Callable[[], Any] = weakref.ref(instance, lambda _: self._found.pop(key, None))
            except TypeError:  # __slots__ without a place for weak references
                alive = functools.partial(_same, instance)
            known = self._found[key] = alive, Traces()
        return known[1]


def _same(x: Any) -> Any:
    return x
