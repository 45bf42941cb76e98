"""What the items of an iterable come from: what a loop of the Program over it has to look at."""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from .checked_iterators import Walk


@dataclass(frozen=True)
class Sources:
    """
    Attributes:
        containers: those of Python whose entries it gives as they are now: what becomes of them meanwhile it does not see.
        walks: what iterates over deques, and looks whether these have been changed.
        run: functions (and generators) that have run for all items beforehand, though Python runs them for one item after the other.
        effect: what that has done besides; "" if nothing.
    """

    containers: tuple[Any, ...] = ()
    walks: tuple[Walk, ...] = ()
    run: tuple[Any, ...] = ()
    effect: str = ""

    def __add__(self, other: Sources) -> Sources:
        return Sources(self.containers + other.containers, self.walks + other.walks, self.run + other.run, self.effect or other.effect)


NO_SOURCES = Sources()


# by which Python makes objects, calls them, and asks them for items; layers are called by their `forward`
_METHODS = ("__init__", "__call__", "forward", "__next__", "__iter__", "__getitem__")


def with_code(values: Iterable[Any]) -> list[Any]:
    """Those of some functions, iterables and classes, or of their methods, that run code other than ours and Python's own in C."""
    found: list[Any] = []
    left = list(values)
    while left:
        f = left.pop()
        if isinstance(f, partial):
            left += (f.func, *filter(callable, f.args))
        elif isinstance(f, types.MethodType):
            left.append(f.__func__)
        elif isinstance(f, types.GeneratorType) or _is_others(f):
            found.append(f)
        elif not isinstance(f, (types.FunctionType, types.BuiltinFunctionType)):
            kind = f if isinstance(f, type) else type(f)
            found += [method for name in _METHODS if _is_others(method := getattr(kind, name, None))]
    return found


def _is_others(f: Any) -> bool:
    return isinstance(f, types.FunctionType) and not (f.__module__ or "").startswith("dy2st.")


def variables_of(functions: Iterable[Any]) -> set[str]:
    """The names of the variables of functions around that these read, or functions in such variables."""
    names: set[str] = set()
    seen: set[int] = set()
    left = list(functions)
    while left:
        f = left.pop()
        if id(f) in seen:
            continue
        seen.add(id(f))
        if isinstance(f, types.GeneratorType):
            names |= set(f.gi_code.co_freevars)
        elif isinstance(f, types.FunctionType):
            names |= set(f.__code__.co_freevars)
            left += (cell.cell_contents for cell in f.__closure__ or () if _holds_function(cell))
    return names


def _holds_function(cell: types.CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, types.FunctionType)
    except ValueError:  # it has no value yet
        return False
