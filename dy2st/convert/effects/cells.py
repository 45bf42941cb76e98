"""Places outside of a branch or a loop that its code may change: values of tensors, entries of dicts, contents of lists."""

from __future__ import annotations

import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from ...errors import StructureError
from ...tensor import Tensor
from ...tensor.kinds import resolved
from ...tensor.location import user_location
from ..hub import current_tracer, need_tracer
from ..pyfacts.attribute_lookup import MISSING
from ..pyfacts.code_names import codes_in, names_of
from ..pyfacts.safe_repr import named, shown
from ..pyfacts.undefined import NoAttribute, Undefined, Unread
from ..values.attributes import require_asked
from ..values.containers import copied, put
from ..values.maybe_attribute import MaybeAttribute

consume = deque[None](maxlen=0).extend


class OuterVariable:
    """A global variable, or one of a function around, that a function assigns: like a dict with this one entry.

    It is no `Mapping`: whether something is one of a class with that base is asked in Python, and this is asked of all that is watched.

    Attributes:
        holder, entry: the namespace and the name of a global; the cell and None for a variable of a function.
        now: asks for the value, `MISSING` where there is none.
    """

    entry: str | None
    now: Callable[[], Any]

    def __init__(self, name: str, holder: dict | types.CellType):
        self.name, self.holder = name, holder
        if isinstance(holder, dict):  # a subclass may have another `get`
            self.entry, self.now = name, partial(dict.get.__get__(holder), name, MISSING)
        else:
            self.entry, self.now = None, partial(contents_of, holder)

    def __getitem__(self, name: str) -> Any:
        value = self.get(name, MISSING)
        if value is MISSING:
            raise KeyError(name)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        if isinstance(self.holder, dict):
            self.holder[name] = value
        else:
            self.holder.cell_contents = value

    def __delitem__(self, name: str) -> None:
        if isinstance(self.holder, dict):
            del self.holder[name]
        else:
            del self.holder.cell_contents

    def __contains__(self, name: object) -> bool:
        return name in self.copy()

    def __iter__(self) -> Iterator[str]:
        return iter(self.copy())

    def __len__(self) -> int:
        return len(self.copy())

    def get(self, name: str, default: Any = None) -> Any:
        value = self.now() if name == self.name else MISSING
        return default if value is MISSING else value

    def pop(self, name: str, default: Any = None) -> Any:
        value = self.get(name, MISSING)
        if value is MISSING:
            return default
        del self[name]
        return value

    def copy(self) -> dict[str, Any]:
        value = self.now()
        return {} if value is MISSING else {self.name: value}

    def items(self) -> Iterable[tuple[str, Any]]:
        return self.copy().items()

    def values(self) -> Iterable[Any]:
        return self.copy().values()


def contents_of(cell: types.CellType) -> Any:
    """What is in a cell, or `MISSING`."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def put_into(cell: types.CellType, value: Any) -> None:
    """Gives a cell its contents; `MISSING`: none."""
    if value is MISSING:
        del cell.cell_contents
    else:
        cell.cell_contents = value


def place_of(holder: Any, entry: Any) -> tuple:
    """Identifies an entry; the same for all objects that stand for one variable."""
    return (id(holder.holder), holder.entry) if isinstance(holder, OuterVariable) else (id(holder), entry)


def assigned_outside(function: types.FunctionType, code: types.CodeType) -> Iterable[tuple[str, dict | types.CellType]]:
    """The globals and the variables of functions around that a function (or one inside it) assigns.

    Args:
        code: what of it runs; converted code assigns variables whose items the function sets, too.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    names = names_of(code)
    for name in sorted(names.assigned):
        yield name, function.__globals__
    for name in sorted(names.rebound & cells.keys()):
        yield name, cells[name]


def read_outside(function: types.FunctionType) -> Iterable[tuple[str, dict | types.CellType]]:
    """The globals and the variables of functions around that a function names, or one inside it."""
    yield from zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name in dict.fromkeys(name for code in codes_in(function.__code__) for name in code.co_names):
        if name in function.__globals__:
            yield name, function.__globals__


def defaults_of(function: types.FunctionType) -> tuple[Any, ...]:
    """The defaults of its arguments."""
    return (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())


class Cell:
    """A place. `key` identifies it; `name` is what errors call it."""

    key: tuple
    name: str
    target: Any

    def read(self) -> Any:
        raise NotImplementedError

    def write(self, value: Any) -> None:
        raise NotImplementedError

    def change(self, value: Any) -> Callable[[], None]:
        """What writes a value; that may be left anywhere and done again."""
        return partial(self.write, value)


class TensorCell(Cell):
    """The value of a Tensor (or staged list) that is modified in place."""

    def __init__(self, target: Any):
        self.target = target
        self.key = ("tensor", id(target))
        self.name = "a tensor modified in place"

    def read(self) -> Any:
        value = self.target.alike(self.target._value)
        return resolved(value) if isinstance(value, Tensor) else value  # also where it is a number: which it is, that it stays

    def write(self, value: Any) -> None:
        tracer = need_tracer("a modification in place")
        tracer.carry_on(self.target, tracer.carry(value) if isinstance(value, Tensor) else value._value)


class EntryCell(Cell):
    """An entry of a dict: an attribute of an object, or an item."""

    def __init__(self, target: Any, entry: Any):
        self.target, self.entry = target, entry
        self.key = ("entry", id(target), entry)
        self.name = target.name if isinstance(target, OuterVariable) else f"attribute {shown(entry)}"

    def read(self) -> Any:
        # by the methods of the built-in class: those of a subclass may do more (a Counter's `update` adds)
        cls = self._class()
        nothing = Unread if self._owner() is None and not self._is_global() else NoAttribute
        return cls.get(self.target, self.entry, nothing(named(self.entry)))

    def write(self, value: Any) -> None:
        cls = self._class()
        if isinstance(value, Undefined):
            cls.pop(self.target, self.entry, None)
        else:
            if isinstance(value, MaybeAttribute) and self._is_global():
                raise StructureError(
                    f"the global variable {self.entry!r} gets or loses its value under a condition on tensors, so that only the run knows "
                    "whether it has one",
                    location=user_location(), hint="give it a value before, None say",
                )  # fmt: skip
            if isinstance(value, MaybeAttribute):
                require_asked(self._owner(), self.entry)
            cls.__setitem__(self.target, self.entry, value)

    def put_back(self, value: Any) -> None:
        """Gives the entry a value that it had. What stands for none is `Undefined`, for code to find; a global variable is not there."""
        if isinstance(value, Undefined) and self._is_global():
            self._class().pop(self.target, self.entry, None)
        else:
            self._class().__setitem__(self.target, self.entry, value)

    def _is_global(self) -> bool:
        return isinstance(self.target, OuterVariable) and isinstance(self.target.holder, dict)

    def _owner(self) -> Any:
        """The object (or class) of which the entry is an attribute; None if it is none."""
        if isinstance(self.target, OuterVariable):
            holder = self.target.holder
            return None if isinstance(holder, (dict, types.CellType)) else holder
        tracer = current_tracer()
        return None if tracer is None else tracer.attributes.get(id(self.target))

    def _class(self) -> Any:
        if isinstance(self.target, dict):
            return OrderedDict if isinstance(self.target, OrderedDict) else dict
        return type(self.target)


def variables_of(get_state: Any, names: Sequence[str]) -> list[types.CellType]:
    """The variables of functions around that are themselves among those which `get_state` reads, not only on the way to an attribute."""
    return [cell for name, cell in zip(get_state.__code__.co_freevars, get_state.__closure__ or (), strict=True) if name in names]


def is_variable_of(cell: Cell, own: Sequence[types.CellType]) -> bool:
    """Whether a cell stands for one of these variables."""
    return isinstance(cell.target, OuterVariable) and any(cell.target.holder is variable for variable in own)


class ListCell(Cell):
    """The contents of a list."""

    def __init__(self, target: list):
        self.target = target
        self.key = ("list", id(target))
        self.name = "a list"

    def read(self) -> Any:
        return list(self.target)

    def write(self, value: Any) -> None:
        self.target[:] = value


class ContentsCell(Cell):
    """The contents of a container that is no list or dict, or of a subclass of list."""

    def __init__(self, target: Any):
        self.target = target
        self.key = ("contents", id(target))
        self.name = f"the contents of a {type(target).__name__}"

    def read(self) -> Any:
        contents = copied(self.target)
        # what cannot change any more, as the target goes on changing
        return tuple(contents) if isinstance(contents, list) else frozenset(contents) if isinstance(contents, set) else contents

    def write(self, value: Any) -> None:
        put(self.target, value)


class DictCell(Cell):
    """The contents of a dict."""

    def __init__(self, target: dict):
        self.target = target
        self.key = ("dict", id(target))
        self.name = "a dict"

    def read(self) -> Any:
        return dict(self.target)

    def write(self, value: Any) -> None:
        dict.clear(self.target)
        dict.update(self.target, value)


class OrderCell(Cell):
    """The order of the keys of a dict."""

    def __init__(self, target: dict):
        self.target = target
        self.key = ("order", id(target))
        self.name = "the order of the keys of a dict"

    def read(self) -> Any:
        return tuple(self._class().keys(self.target))

    def write(self, value: Any) -> None:
        cls = self._class()
        later = [key for key in cls.keys(self.target) if key not in value]
        keys = [key for key in (*value, *later) if key in dict.keys(self.target)]
        # no instruction of Python's is between taking an entry out and putting it back, so no signal loses it
        consume(map(cls.__setitem__, repeat(self.target), keys, map(cls.pop, repeat(self.target), keys)))

    def _class(self) -> Any:
        return OrderedDict if isinstance(self.target, OrderedDict) else dict


class AppendCell(Cell):
    """The entries that a list has gained at its end."""

    def __init__(self, target: list, start: int):
        self.target, self.start = target, start
        self.key = ("append", id(target))
        self.name = "a list"

    def read(self) -> Any:
        return self.target[self.start :]

    def write(self, value: Any) -> None:
        self.target.extend(value)

    def change(self, value: Any) -> Callable[[], None]:
        begin: list[int] = []

        def append() -> None:
            if not begin:
                begin.append(len(self.target))  # what other cells have changed by then is in it
            self.target[begin[0] :] = value

        return append
