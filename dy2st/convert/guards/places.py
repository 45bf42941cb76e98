"""Places outside of functions from which they read: entries of namespaces, attributes, items, what is said of a whole container."""

from __future__ import annotations

import functools
import operator
import types
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from ...tensor import Tensor
from ..effects.cells import OuterVariable, contents_of
from ..pyfacts.attribute_lookup import MISSING, defined, dict_of, held
from ..values.attributes import put, remove
from ..values.containers import copied

LENGTH = object()
# the keys of a dict, in their order
ORDER = object()
CONTENTS = object()
# a function's code and defaults
CODE = object()
# the class of an object, and the dict of its attributes, which may be set as a whole; the holder is `referred(x)`
CLASS = object()
ATTRIBUTES = object()
# a class and its bases, which may be set
BASES = object()
# the names of what a class has; those of special methods among them
NAMES = object()
SPECIAL = object()
# whether what a weak reference refers to is still there
ALIVE = object()
# the gradient of the tensor that is in another place, the holder; None if it has none
GRADIENT = object()
OWNER = object()
"""What is found here is the object whose method is called: the holder refers to it."""


class Said:
    """The entry for what a function or a class says of itself: its name, its documentation."""

    def __init__(self, name: str):
        self.name = name


SAID = {name: Said(name) for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")}


_COMPUTED = frozenset(map(id, (LENGTH, ORDER, CONTENTS, CODE, CLASS, ATTRIBUTES, BASES, NAMES, SPECIAL, ALIVE, *SAID.values())))


class AttributeVariable(OuterVariable):
    """An attribute that a class or a tensor itself has, or one in a slot of an object: like a dict with this one entry."""

    def __init__(self, name: str, holder: Any):
        self.name, self.holder, self.entry = name, holder, name
        if isinstance(holder, (type, Tensor)):  # of which there are many, and each is asked again and again
            self.now = functools.partial(vars(holder).get, name, MISSING)
        else:
            self.now = functools.partial(held, holder, name)

    def __setitem__(self, name: str, value: Any) -> None:
        put(self.holder, name, value)

    def __delitem__(self, name: str) -> None:
        remove(self.holder, name)


def slots_of(x: Any) -> list[AttributeVariable]:
    """The slots of an object."""
    names = {n: found for c in type(x).__mro__ for n, found in vars(c).items() if isinstance(found, types.MemberDescriptorType)}
    return [AttributeVariable(n, x) for n in names]


def members_of(x: Any) -> dict[str, Any]:
    """What an object keeps in its attributes and slots."""
    return {**(dict_of(x) or {}), **{name: value for slot in slots_of(x) for name, value in slot.items()}}


class Inside:
    """What is in whatever container or object a place holds at the moment: like a dict.

    `replaced`: another one is put there by each call.
    """

    def __init__(self, place: Place, replaced: bool):
        self.place, self.replaced = place, replaced

    def contents(self) -> Any:
        """The container; of an object its attributes."""
        value = self.place.now()
        return value if isinstance(value, (tuple, list, dict, deque)) else dict_of(value) or {}

    def __len__(self) -> int:
        return len(self.contents())

    def get(self, entry: Any, default: Any = None) -> Any:
        contents = self.contents()
        if isinstance(contents, dict):
            return dict.get(contents, entry, default)
        return contents[entry] if isinstance(entry, int) and entry < len(contents) else default


class Place:
    """Where a value is read: `holder[entry]`; the contents of a cell; the length or all contents of a container; the
    code of a function; the class of an object, or the dict of its attributes; the names in a class, and its bases.

    `item`: it is an item of a container, whose entries are no names in code. `is_computed`: what is read is made at each reading.
    """

    def __init__(self, holder: Any, entry: Any, name: str, item: bool = False):
        self.holder, self.entry, self.name, self.item = holder, entry, name, item
        self.is_computed = id(entry) in _COMPUTED
        # the value that is there now, or MISSING; called at each call of a static function
        self.now: Callable[[], Any] = _reader(holder, entry)


def _reader(holder: Any, entry: Any) -> Callable[[], Any]:
    if entry is LENGTH:
        return functools.partial(len, holder)
    if entry is ORDER:
        return functools.partial(_keys, holder)
    if entry is CONTENTS:
        return functools.partial(copied, holder)
    if entry is CODE:
        return functools.partial(operator.attrgetter("__code__", "__defaults__", "__kwdefaults__"), holder)
    if entry is CLASS:
        return functools.partial(_class_of, holder)
    if entry is ATTRIBUTES:
        return functools.partial(_attributes_of, holder)
    if entry is ALIVE:
        return functools.partial(_is_alive, holder)
    if entry is GRADIENT:
        return functools.partial(_gradient_in, holder.now)
    if entry is OWNER:
        return holder if isinstance(holder, weakref.ref) else lambda: holder
    if isinstance(entry, Said):
        return functools.partial(getattr, holder, entry.name, MISSING)
    if entry is BASES:
        return functools.partial(getattr, holder, "__mro__")
    if entry is NAMES or entry is SPECIAL:
        return _NamesOf(holder, entry is SPECIAL)
    if isinstance(holder, types.CellType):
        return functools.partial(contents_of, holder)
    if isinstance(holder, (list, deque)):
        return functools.partial(_of_list, holder, entry)
    if isinstance(holder, dict):  # a subclass may have another `get`
        return functools.partial(dict.get.__get__(holder), entry, MISSING)
    if isinstance(holder, OuterVariable):
        return holder.now
    return functools.partial(holder.get, entry, MISSING)


def _gradient_in(now: Callable[[], Any]) -> Tensor | None:
    return getattr(now(), "_grad", None)


def _keys(holder: dict | Inside) -> tuple:
    return tuple(holder.contents() if isinstance(holder, Inside) else holder)


def referred(x: Any) -> Any:
    """An object as the holder of its class, which does not keep it alive; itself, if it cannot be referred to so."""
    return x if type(x).__weakrefoffset__ == 0 else weakref.ref(x)


def _is_alive(reference: weakref.ref) -> bool:
    return reference() is not None


def _class_of(holder: Any) -> type:
    return type(holder() if isinstance(holder, weakref.ref) else holder)


def _attributes_of(holder: Any) -> dict | None:
    return dict_of(holder() if isinstance(holder, weakref.ref) else holder)


class _NamesOf:
    """Asks for the names in a class, or for those of special methods only: the same tuple as long as they are the same."""

    def __init__(self, cls: type, only_special: bool):
        self._cls, self._only_special = cls, only_special
        self._all: tuple[str, ...] = ()
        self._found: tuple[str, ...] = ()
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}

    def __call__(self) -> tuple[str, ...]:
        names = vars(self._cls)
        if len(names) != len(self._all) or not all(map(operator.is_, names, self._all)):
            self._all = tuple(names)
            found = tuple(n for n in self._all if n.startswith("__")) if self._only_special else self._all
            self._found = self._known.setdefault(found, found)
        return self._found


def _of_list(items: list | deque, i: int) -> Any:
    kind: Any = list if isinstance(items, list) else deque  # whatever its class says
    return kind.__getitem__(items, i) if i < kind.__len__(items) else MISSING


def place_of_attribute(owner: Any, name: str) -> Place:
    """Where an object keeps an attribute."""
    slot = isinstance(defined(type(owner), name), types.MemberDescriptorType)
    attributes = None if slot else dict_of(owner)
    holder = AttributeVariable(name, owner) if attributes is None else attributes
    return Place(holder, name, f"attribute {name!r} of {type(owner).__name__}")
