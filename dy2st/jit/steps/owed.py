"""Gradients that a step has computed and nobody has asked for yet."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Sequence
from typing import Any

from dy2st_runtime import forks

from ...tensor import Tensor, due


class Owed:
    """The gradients of the last step of a loop, in the memory of its run.

    It is in `due.debtors`, which lives as long as the process, so it has nothing that keeps the parameters alive: what they are owed is
    forgotten with the last of them.

    Args:
        params, names: the parameters, and the names of their gradients; None: there is none.
    """

    def __init__(self, params: Sequence[Tensor], names: Sequence[str | None]) -> None:
        named = [(p, name) for p, name in zip(params, names, strict=True) if name is not None]
        self._names = [name for _, name in named]
        self._params = [weakref.ref(p, self._gone) for p, _ in named]
        self._all = frozenset(map(id, params))
        self._session: Any = None
        self._lock = forks.reentrant_lock()

    def owe(self, session: Any) -> None:
        """A step has run."""
        with self._lock:
            self._session = session
            if self not in due.debtors:
                due.debtors.append(self)

    def deliver(self) -> None:
        with self._lock:
            if self._session is None:
                return
            for known, g in zip(self._params, self._session.fetch(self._names), strict=True):
                p = known()
                if p is not None:
                    p._grad = None if g is None else Tensor.wrap(g)
            self._settle()

    def forget(self, tensors: Collection[Any]) -> None:
        with self._lock:
            if self._all <= {*map(id, tensors)}:
                self._settle()
            else:
                self.deliver()

    def _settle(self) -> None:
        self._session = None
        if self in due.debtors:
            due.debtors.remove(self)

    def _gone(self, _: object) -> None:
        if all(known() is None for known in self._params):
            with self._lock:
                self._settle()
