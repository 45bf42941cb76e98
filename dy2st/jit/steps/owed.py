"""Gradients that a step has computed and nobody has asked for yet."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Sequence
from typing import Any

from dy2st_runtime import forks
from dy2st_runtime.ops.control import ABSENT

from ...tensor import Tensor, due


def gradient(session: Any, descriptor: int) -> Tensor | None:
    """A gradient that a run has computed; None if it is absent."""
    value = session.frame.value(descriptor)
    return None if value is ABSENT else Tensor.wrap(value)


class Owed:
    """The gradients of the last step of a loop, in the memory of its run.

    It is in `due.debtors`, which lives as long as the process, so it has nothing that keeps the parameters alive: what they are owed is
    forgotten with the last of them.

    Args:
        params, where: the parameters, and the descriptors of their gradients; None: there is none.
        of_inputs: the descriptors of the gradients of inputs, which may be other tensors in each step.
    """

    def __init__(self, params: Sequence[Tensor], where: Sequence[int | None], of_inputs: Sequence[int | None]) -> None:
        self._params = [(weakref.ref(p, self._gone), d) for p, d in zip(params, where, strict=True) if d is not None]
        self._all = frozenset(map(id, params))
        self._of_inputs = of_inputs
        self._inputs: list[tuple[weakref.ref[Tensor], int]] = []
        self._session: Any = None
        self._lock = forks.reentrant_lock()

    def owe(self, session: Any, inputs: Sequence[Tensor]) -> None:
        """A step has run; it was about these inputs."""
        with self._lock:
            if inputs:
                where = zip(inputs, self._of_inputs, strict=True)
                self._inputs = [(weakref.ref(t, self._gone), d) for t, d in where if d is not None]
            self._session = session
            if self not in due.debtors:
                due.debtors.append(self)

    def deliver(self) -> None:
        with self._lock:
            if self._session is None:
                return
            self._give(self._params)
            self._give(self._inputs)
            self._settle()

    def forget(self, tensors: Collection[Any]) -> None:
        with self._lock:
            ids = {*map(id, tensors)}
            if self._session is None or not self._all <= ids:
                return self.deliver()
            if self._inputs:
                self._give([(known, d) for known, d in self._inputs if id(known()) not in ids])
            self._settle()

    def _give(self, owed: Sequence[tuple[weakref.ref[Tensor], int]]) -> None:
        for known, d in owed:
            t = known()
            if t is not None:
                t._grad = gradient(self._session, d)

    def _settle(self) -> None:
        self._session, self._inputs = None, []
        if self in due.debtors:
            due.debtors.remove(self)

    def _gone(self, _: object) -> None:
        if all(known() is None for known, _ in (*self._params, *self._inputs)):
            with self._lock:
                self._settle()
