"""State that a function makes: parameters and buffers of layers, and optimizers, which eager mode makes anew in each call."""

from __future__ import annotations

import threading
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Location, StagedValueError
from ...tensor import random
from ...tensor.location import user_location

if TYPE_CHECKING:
    from ..trace.tracer import Tracer


# what changes although it is compared by what is in it, or is made by a function
_CHANGING = (types.MappingProxyType, memoryview, type(threading.Lock()), type(threading.RLock()), np.random.Generator)


class CreatedState:
    """What a trace has made.

    Attributes:
        name: of the first parameter, buffer, optimizer, or kept layer or object of a library; empty if there is none.
        layers: those that it has made, by id: one without parameters counts once the call keeps or returns it.
        objects: those of classes of libraries that it has made, by id, if they may change.
        read: the accumulators of optimizers that were asked for as a whole, with how many there were, by id.
    """

    def __init__(self, tracer: Tracer):
        self._tracer = tracer
        self.name = ""
        self.layers: dict[int, Any] = {}
        self.objects: dict[int, Any] = {}
        self.read: dict[int, tuple[dict, int]] = {}
        # a parameter that is made behind random numbers of the run: what was drawn before, its name and its place
        self._undrawn: tuple[Any, str, Location | None] | None = None

    def note(self, name: str) -> None:
        """Something is made.

        Raises:
            StagedValueError: a condition on tensors decides how often.
        """
        if self._tracer.frames or self._tracer.staged:
            raise StagedValueError(
                f"a layer, a parameter, a buffer or an optimizer ({name}) is made in a branch, a loop or a recursion on tensors: "
                "how often only the run knows",
                location=user_location(2), hint="make layers, parameters and optimizers outside, or where the function begins",
            )  # fmt: skip
        self.name = self.name or name

    def note_object(self, cls: type, new: Any) -> None:
        """A class of a library was called. Objects that are compared by what they are do not change."""
        if type(new) is cls and cls.__hash__ in (None, object.__hash__):
            self.objects[id(new)] = new

    def note_kept(self, value: Any) -> None:
        """An object is kept by the call, or is its result."""
        if id(value) in self.layers:
            self.note(value.full_name())

    def note_same(self, value: Any) -> None:
        """The object itself, which no call knows how to make anew, is kept or is the result."""
        if id(value) in self.objects or (type(value) in _CHANGING and id(value) not in self._tracer.before):
            self.note(f"a {type(value).__name__}")

    def note_accumulators(self, state: dict) -> None:
        """A step has made the accumulators that it needed: who has asked before for all of them will find more at the next call."""
        _, count = self.read.get(id(state), (state, len(state)))
        if len(state) > count:
            self.note(next(t.name for t in state.values()))

    def note_parameter(self, name: str) -> None:
        """A parameter or buffer is made, whose first values may be drawn next."""
        self.note(name)
        if self._undrawn is None and id(random.state) in self._tracer.captures:
            self._undrawn = random.state._value, name, user_location(2)

    def require_drawn_first(self) -> None:
        """StagedValueError if first values were drawn, while tracing, behind what each run draws."""
        if self._undrawn is not None and random.state._value is not self._undrawn[0]:
            raise StagedValueError(
                f"a parameter ({self._undrawn[1]}) is made, with random values, behind other random numbers of the same call",
                location=self._undrawn[2], hint="make layers and parameters in __init__, or where the function begins",
            )  # fmt: skip
