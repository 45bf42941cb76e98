"""Gradients that a step has computed and nobody has asked for yet."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from dy2st_runtime import forks

from ...tensor import Tensor, due


class Owed:
    """The gradients of the last step of a loop, in the memory of its run.

    It is in `due.debtors`, which lives as long as the process, so it has nothing that keeps the parameters alive: what they are owed is
    forgotten with the last of them.

    Args:
        params, names: the parameters, and the names of their gradients; None: there is none.
        of_inputs: the names of the gradients of inputs, which may be other tensors in each step.
    """

    def __init__(self, params: Sequence[Tensor], names: Sequence[str | None], of_inputs: Sequence[str | None]) -> None:
        named = [(p, name) for p, name in zip(params, names, strict=True) if name is not None]
        self._names = [name for _, name in named]
        self._params = [weakref.ref(p, self._gone) for p, _ in named]
        self._all = frozenset(map(id, params))
        self._of_inputs = of_inputs
        self._inputs: list[tuple[weakref.ref[Tensor], str]] = []
        self._session: Any = None
        self._lock = forks.reentrant_lock()

    def owe(self, session: Any, inputs: Sequence[Tensor]) -> None:
        """A step has run; it was about these inputs."""
        with self._lock:
            named = zip(inputs, self._of_inputs, strict=True)
            self._inputs = [(weakref.ref(t, self._gone), name) for t, name in named if name is not None]
            self._session = session
            if self not in due.debtors:
                due.debtors.append(self)

    def deliver(self) -> None:
        with self._lock:
            if self._session is None:
                return
            self._give(zip(self._params, self._names, strict=True))
            self._give(self._inputs)
            self._settle()

    def forget(self, tensors: Collection[Any]) -> None:
        with self._lock:
            ids = {*map(id, tensors)}
            if self._session is None or not self._all <= ids:
                return self.deliver()
            self._give((known, name) for known, name in self._inputs if id(known()) not in ids)
            self._settle()

    def _give(self, owed: Iterable[tuple[weakref.ref[Tensor], str]]) -> None:
        for known, name in owed:
            t = known()
            if t is not None:
                (g,) = self._session.fetch([name])
                t._grad = None if g is None else Tensor.wrap(g)

    def _settle(self) -> None:
        self._session, self._inputs = None, []
        if self in due.debtors:
            due.debtors.remove(self)

    def _gone(self, _: object) -> None:
        if all(known() is None for known in (*self._params, *(known for known, _ in self._inputs))):
            with self._lock:
                self._settle()
