"""`Reached`: the places that a walk has found, and what the code that it met says of them."""

from __future__ import annotations

import types
from collections.abc import Collection, Container
from typing import Any

from ...tensor import Tensor
from .. import roles
from ..effects.cells import place_of
from ..pyfacts.attribute_lookup import MISSING, dict_of
from ..pyfacts.tensor_attributes import OF_TENSORS
from ..values.maybe_none import MaybeNone
from .classification import PLAIN, ClassKind, has_own_attributes, is_left_alone, is_object
from .places import Inside, Place

ROLE = roles.BOOKKEEPING


class Reached:
    """What was reached from the functions and values that were added.

    Attributes:
        places: what may be read, by holder and entry.
        functions, objects: what was met, by id.
        dicts: the attributes of the objects; `owners`: the objects, by the ids of these; `tensors`: likewise.
        names: those of the attributes that code reads or changes; `read`: that it reads.
        changed: the attributes that code assigns; `given`: those of them that a class may get so.
        items: whether it changes items of containers; `lists`: whether it asks layers for all that they keep, each once.
        sets_variables: whether it may set variables of modules, by their names or by a key, or of functions.
        stores: the ids of the dicts in which layers keep their parameters, buffers, sublayers and hooks; `_unlisted`: those whose order
            no code sees that does not ask for all of them (`children()`).
        inside: for values that are looked for in their place at each call, what is in them; by id.

    Args:
        replaced: places in which a call puts another object, so that its identity says nothing.
        changed: the ids of containers that a call changes: wherever they are, the next call has to find them again.
        unconverted: whether some of the functions run as they are, so that nobody sees which attributes these ask for.
        before: what there is before the functions run, by id; None as long as they do not run.
    """

    def __init__(self, replaced: Collection[tuple] = (), before: Container[int] | None = None, changed: Container[int] = (),
                 unconverted: bool = False) -> None:  # fmt: skip
        self.before = before
        self._unconverted = unconverted
        self._changed = changed
        self.inside: dict[int, Inside] = {}
        self._replaced = replaced
        self._changing = {holder for holder, _ in replaced}
        self.places: dict[tuple, Place] = {}
        self.functions: dict[int, types.FunctionType] = {}
        self.objects: dict[int, Any] = {}
        self.dicts: dict[int, dict] = {}
        self.owners: dict[int, Any] = {}
        self.tensors: dict[int, Tensor] = {}
        # the lists and dicts that code names of modules which are left alone (`sys.path`), by both names: the variables of the module
        self.lists_of_modules: dict[tuple[str, str], dict[str, Any]] = {}
        self.read: set[str] = set()
        self.changed: set[str] = set()
        self.given: set[str] = set()
        self.items = self.sets_variables = False
        self.names: set[str] = set()
        self._assigned: set[str] = set()
        self._seen: set[Any] = set()
        self._looked: set[str] = set()
        # those that code of this package names, which are looked for in its own objects only
        self._own_names: set[str] = set()
        self._own_looked: set[str] = set()
        self._sweeping = self._asking = self._comparing = self._formatting = self.lists = False
        self._unlisted: set[int] = set()
        self._asked: set[str] = set()
        self._by_key = False
        self._pending: list[tuple[Any, str]] = []
        self._handled: set[str] = set()
        self._items_seen: set[tuple[str, Any]] = set()
        self._variables: dict[int, str] = {}  # of cells
        self._classes: dict[type, ClassKind] = {}
        # what can be reached on a way that is no name in code: in a tuple or a `partial`, as a default
        self._nameless: set[int] = set()
        self.stores: set[int] = set()
        # of classes, during one walk: the names of them and their bases; what was looked for in them, and what that gave; those whose
        # special methods have been met. Objects of one class have these in common.
        self._class_names: dict[type, frozenset[str]] = {}
        self._in_classes: dict[tuple[type, str, bool, bool], Any] = {}
        self._special: set[tuple[type, bool, bool, bool]] = set()
        self._super = False  # whether code looks for attributes behind those that a class has, by `super()`
        # those of the objects in which a name that comes later may be found
        self._bearers: list[Any] = []

    @property
    def sweeps(self) -> bool:
        """Whether attributes may be read that have no name in code."""
        return self._sweeping

    def reads(self, place: Place) -> bool:
        """Whether code may read the place itself; False if it only assigns it."""
        return place.item or self._sweeping or place.entry not in self._assigned - self.read

    def looks_at(self, items: list) -> bool:
        """Whether code may do more with a list than append to it."""
        if self._sweeping or id(items) in self._nameless:
            return True
        return any(map(self._looks_at, self._ways(items)))

    def _looks_at(self, place: Place) -> bool:
        if not place.item:
            return self._called(place) in self._seen
        holder = place.holder.contents() if isinstance(place.holder, Inside) else place.holder
        if id(holder) in self._nameless:
            return True
        ways = self._ways(holder)
        names = {self._called(p) for p in ways}
        taken = {(name, key) for name in names for key in (place.entry, None)}
        return any(p.item for p in ways) or not names.isdisjoint(self._handled) or not taken.isdisjoint(self._items_seen)

    def _ways(self, value: Any) -> list[Place]:
        return [p for p in self.places.values() if not p.is_computed and p.now() is value]

    def _called(self, place: Place) -> Any:
        """The name by which code reads a place that is no item."""
        return self._variables.get(id(place.holder), place.entry)

    def new_tensor_attribute(self) -> str | None:
        """The name of an attribute of a tensor outside that is new and a value of the trace; all such are deleted."""
        found = None
        for place in self.places.values():
            if isinstance(t := place.now(), Tensor) and has_own_attributes(t) and not isinstance(t, MaybeNone):
                for name in [n for n, v in vars(t).items() if n not in OF_TENSORS and isinstance(v, Tensor) and v.is_symbolic]:
                    found = name
                    del vars(t)[name]
        return found

    # ---- for the walk ----
    def _place(self, holder: Any, entry: Any, name: str, item: bool = False) -> Any:
        """Notes a place, and meets what is in it."""
        key = place_of(holder, entry)
        place = self.places.get(key)
        if place is None:
            place = self.places[key] = Place(holder, entry, name, item)
        value = place.now()
        if value is not MISSING and not place.is_computed:
            replaced = key in self._replaced or (isinstance(holder, Inside) and holder.replaced)
            replaced = replaced and id(value) not in self._changed and id(dict_of(value)) not in self._changed
            if (isinstance(value, tuple) or (replaced and is_object(value))) and id(value) not in self.objects:
                self.inside[id(value)] = Inside(place, replaced)
            self._meet(value, name, named=True)
        return value

    def _meet(self, value: Any, name: str, named: bool = False) -> None:
        """Notes a value, into which the walk goes later."""
        if not named:
            self._nameless.add(id(value))
        if id(value) in self.objects or (isinstance(value, PLAIN) and not has_own_attributes(value)):
            return
        if is_left_alone(value):
            return
        self.objects[id(value)] = value
        self._pending.append((value, name))
