"""Which objects the arguments of a call are: a trace has tensors and containers of its own in their places, which serve other calls too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any

from ...tensor import Tensor
from ..values.trees import split
from .activations import TakenForObjects


class StandIns:
    """The tensors and containers that stand for arguments of the caller's.

    Attributes:
        told: what was decided of these: the way to the argument, another object that was there before, and whether it is that one.
    """

    def __init__(self) -> None:
        self._of: dict[int, tuple[Any, tuple, Any]] = {}
        self.told: list[tuple[tuple, Any, bool]] = []

    def __contains__(self, x: object) -> bool:
        return id(x) in self._of

    def add(self, given: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        """The arguments as the caller has them, and as the trace has them."""
        for name, value in given.items():
            self._add(value, arguments[name], (name,))

    def _add(self, given: Any, own: Any, path: tuple) -> None:
        if given is own:
            return
        if isinstance(own, Tensor):
            if isinstance(given, Tensor):
                self._of.setdefault(id(own), (own, path, given))
            return
        keys, children = split(given)
        if children is None:
            return
        self._of.setdefault(id(own), (own, path, given))
        for key, x, y in zip(keys or range(len(children)), children, split(own)[1] or (), strict=True):
            self._add(x, y, (*path, key))

    def classes(self) -> set[type]:
        """The classes of dataclasses among them whose objects are told from each other as such: by `==`, and as keys."""
        found = {type(own) for own, _, _ in self._of.values() if is_dataclass(own)}
        return {c for c in found if c.__eq__ is object.__eq__ and c.__hash__ is object.__hash__}

    def is_one(self, a: Any, b: Any, was_before: Callable[[Any], bool]) -> bool:
        """`a is b` of objects that are two for the trace: the caller's one may be the other one, which was there before the call."""
        if b in self:
            a, b = b, a
        found = self._of.get(id(a))
        if found is None or b in self:
            return False
        is_outside = isinstance(b, Tensor) if isinstance(a, Tensor) else type(a) is type(b) and was_before(b)
        if not is_outside:
            return False
        _, path, given = found
        if not any(p == path and x is b for p, x, _ in self.told):
            self.told.append((path, b, given is b))
        return given is b

    def require_objects(self, x: Any) -> None:
        """TakenForObjects if it stands for an argument: what is asked of it tells that object from all others."""
        if x in self:
            raise TakenForObjects(type(x))
