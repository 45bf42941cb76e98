"""What a trace has read of the world besides its arguments: Python attributes, globals, closures, and which tensors stand where."""

from __future__ import annotations

import dis
import types
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convert.tracer import containers_of
from ..tensor import Tensor
from ..tensor.promotion import NUMBERS

_PLAIN = (*NUMBERS, complex, str, bytes, type(None))
_MISSING = object()
LENGTH = object()
CONTENTS = object()
# what layers keep for themselves
_PRIVATE = {"_full_name", "_hook_ids"}


@dataclass(frozen=True)
class Guard:
    """`holder[entry]` (of a cell: its contents) must be what it was: equal for plain values, else the same object."""

    holder: Any
    entry: Any
    value: Any
    name: str

    def now(self) -> Any:
        if isinstance(self.holder, types.CellType):
            try:
                return self.holder.cell_contents
            except ValueError:
                return _MISSING
        if self.entry is LENGTH:
            return len(self.holder)
        if self.entry is CONTENTS:
            return self.holder.copy()
        if isinstance(self.holder, list):
            return self.holder[self.entry] if self.entry < len(self.holder) else _MISSING
        return self.holder.get(self.entry, _MISSING)

    def holds(self) -> bool:
        now = self.now()
        if now is self.value:
            return True
        if self.entry is CONTENTS:
            return np.array_equal(now, self.value) if isinstance(now, np.ndarray) else now == self.value
        return type(now) is type(self.value) and isinstance(now, _PLAIN) and (now == self.value or now != now)

    def __str__(self) -> str:
        now = self.now()
        return f"{self.name} was {self.value!r:.60}, is {'deleted' if now is _MISSING else repr(now)[:60]}"


def guards_of(functions: Iterable[types.FunctionType], owners: Iterable[Any]) -> list[Guard]:
    """The guards of a trace that ran these functions, on methods of these objects (and the layers in them)."""
    found: dict[tuple, Guard] = {}
    for f in functions:
        for name in _names(f.__code__):
            if name in f.__globals__ and _matters(f.__globals__[name]):
                found[id(f.__globals__), name] = Guard(f.__globals__, name, f.__globals__[name], f"global {name!r}")
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if _matters(value):
                found[id(cell), None] = Guard(cell, None, value, f"the variable {name!r} around {f.__name__!r}")
    for owner in owners:
        kind = type(owner).__name__
        for container in containers_of(owner):
            is_list = isinstance(container, list)
            if is_list or isinstance(container, OrderedDict):  # of sublayers, hooks
                what = "a list" if is_list else "a dict"
                found[id(container), None] = Guard(container, LENGTH, len(container), f"length of {what} of {kind}")
            for entry, value in enumerate(container) if is_list else container.items():
                if isinstance(value, (set, np.ndarray)):
                    found[id(value), CONTENTS] = Guard(value, CONTENTS, value.copy(), f"attribute {entry!r} of {kind}")
                matters = _matters(value) or is_container(value)
                if entry not in _PRIVATE and matters and not isinstance(value, Tensor):
                    found[id(container), entry] = Guard(container, entry, value, f"attribute {entry!r} of {kind}")
    return list(found.values())


def _names(code: types.CodeType) -> Iterable[str]:
    """The globals that code reads; `co_names` would also have the names of attributes."""
    yield from (i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _matters(value: Any) -> bool:
    return isinstance(value, (*_PLAIN, Tensor, types.FunctionType)) or hasattr(type(value), "sublayers")


def is_container(value: Any) -> bool:
    """Whether a value has contents of its own that count: a list, dict, set, array, or an object of a class of the user."""
    if isinstance(value, (list, dict, set, np.ndarray)):
        return True
    return hasattr(value, "__dict__") and any(True for _ in containers_of((value,)))
