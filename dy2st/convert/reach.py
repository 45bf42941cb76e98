"""What functions can reach: all places outside that their code names, and so may read.

It is found by walking: from the variables around functions, the owners of methods and the arguments, through the attributes whose names
occur in the code, and through all that is in lists, tuples and dicts. What a class computes (properties, `__getattr__`,
`__getitem__`, ...) is code that counts too. So nothing has to be recorded while the functions run, and what
they cannot name is never looked at.
"""

from __future__ import annotations

import enum
import functools
import sys
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Collection, Container
from typing import Any

import numpy as np

from ..tensor import Tensor
from ..transpiler import is_generated
from .attributes import MISSING, defined, dict_of, held, is_kept_elsewhere, may_change_class
from .cells import place_of
from .containers import COMPARED_AS_A_WHOLE, entries_of, is_container
from .conversions import conversion_of, has_attributes
from .foreign import LAYER_STORES, is_foreign, is_foreign_class, is_layer, is_stateful
from .met import (
    BUILT_IN_METHODS,
    COMPARING,
    FORMATTING,
    INSIDE,
    MAKING,
    NEVER,
    OF_CLASSES,
    PLAIN,
    SEEN_IN_MODULES,
    WRAPPERS,
    ClassKind,
    has_own_attributes,
    is_left_alone,
    is_object,
    is_own,
    is_users_module,
    referent,
)
from .names import Names, is_in_class, names_of
from .optional import MaybeNone
from .places import (
    ALIVE,
    ATTRIBUTES,
    BASES,
    CLASS,
    CODE,
    CONTENTS,
    LENGTH,
    NAMES,
    ORDER,
    SAID,
    SPECIAL,
    AttributeVariable,
    Inside,
    Place,
    referred,
)
from .shown import shown
from .tensor_attributes import OF_TENSORS

# a container with more than this is compared as a whole, unless there are tensors in it
_MANY = 64
# whose text, and what makes two of them equal, is all that they have
_SHOWING_ALL = {("types", "SimpleNamespace"), ("argparse", "Namespace")}
_STORES_OF_LAYERS = {*LAYER_STORES, "_forward_pre_hooks", "_forward_post_hooks"}
# what gives the entries of these in their order
_LISTING = {
    *LAYER_STORES, "apply", "buffers", "children", "named_buffers", "named_children", "named_parameters", "named_sublayers", "parameters",
    "state_dict", "sublayers",
}  # fmt: skip


class Reach:
    """All that can be reached from the functions and values that were added.

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
        # the names of classes and their bases, during one walk
        self._class_names: dict[type, frozenset[str]] = {}
        self._super = False  # whether code looks for attributes behind those that a class has, by `super()`
        # those of the objects in which a name that comes later may be found
        self._bearers: list[Any] = []

    # ---- adding ----
    def add(self, *values: Any) -> None:
        """Adds functions and values, and all that can be reached from them."""
        for value in values:
            if isinstance(value, types.FunctionType):
                self._function(value, known=True)
            else:
                self._meet(value, f"a {type(value).__name__}")
        self._settle()

    def add_code(self, f: types.FunctionType, code: types.CodeType, besides: frozenset[str]) -> None:
        """Adds what another code of a function names, but for some: Python leaves out what it finds not to run (`while x and False`)."""
        names, own = names_of(code), names_of(f.__code__)
        more = (names.globals | names.attributes | names.assigned | names.changed) - besides
        if not more <= own.globals | own.attributes | own.assigned | own.changed:
            self._take(f, names)
            self._settle()

    def ask(self, owner: Any, name: str) -> None:
        """Adds an attribute that was asked for by `getattr` or `hasattr`: that it is missing counts, too."""
        owner = owner.__func__ if isinstance(owner, types.MethodType) else owner
        known = isinstance(owner, (type, types.ModuleType)) or (isinstance(owner, Tensor) and not owner.is_symbolic)
        if known or not isinstance(owner, PLAIN):
            self.read.add(name)
            self._attributes(owner, {name}, asking=True)
            self._settle()

    def look(self, namespace: dict, key: str | None = None) -> None:
        """Adds a variable of a module that is read by a key; with none, all of them."""
        self._look(namespace, key)
        self._settle()

    def _look(self, namespace: dict, key: str | None = None) -> None:
        if key is None:
            self._place(namespace, LENGTH, "the number of the variables of a module")
        for name in list(namespace) if key is None else [key]:
            self.read.add(name)
            self._place(namespace, name, f"variable {name!r} of module {namespace.get('__name__')}")

    def sweep(self, owner: Any) -> None:
        """Adds all attributes of an object, which were read without their names."""
        attributes = dict_of(owner)
        assert attributes is not None
        self._all_of(owner, attributes)
        self.read |= attributes.keys()
        self._attributes(owner, set(attributes))
        self._settle()

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

    def left_on_tensors(self) -> str | None:
        """The name of an attribute of a tensor outside that is new and a value of the trace; all such are deleted."""
        found = None
        for place in self.places.values():
            if isinstance(t := place.now(), Tensor) and has_own_attributes(t) and not isinstance(t, MaybeNone):
                for name in [n for n, v in vars(t).items() if n not in OF_TENSORS and isinstance(v, Tensor) and v.is_symbolic]:
                    found = name
                    del vars(t)[name]
        return found

    # ---- walking ----
    def _settle(self) -> None:
        self._class_names.clear()  # the functions have run since
        while self._pending or self.names != self._looked or self._own_names != self._own_looked:
            while self._pending:
                self._enter(*self._pending.pop())
            new, own = self.names - self._looked, self._own_names - self._own_looked
            self._looked |= new
            self._own_looked |= own
            for x in list(self._bearers) if new else ():
                self._attributes(x, new)
            for x in [x for x in self._bearers if self._class(type(x)).stateful] if own else ():
                self._attributes(x, own)

    def _place(self, holder: Any, entry: Any, name: str, item: bool = False) -> Any:
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
        if not named:
            self._nameless.add(id(value))
        if id(value) in self.objects or (isinstance(value, PLAIN) and not has_own_attributes(value)):
            return
        if is_left_alone(value):
            return
        self.objects[id(value)] = value
        self._pending.append((value, name))

    def _enter(self, value: Any, name: str) -> None:
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self._attributes(value, self._looked)
            self._bearers.append(value)
            return
        elif isinstance(value, type):
            self._special_methods(value, making=True)
            if not is_left_alone(type(value)):
                self._meet(type(value), f"the metaclass of {name}", named=True)
                self._special_methods(type(value))
            for member in list(value.__members__.values()) if issubclass(value, enum.Enum) else ():
                self._meet(member, f"a member of {name}", named=True)  # also by `Kind["ONE"]`, `Kind(1)`, `for kind in Kind`
        elif isinstance(value, (list, dict, deque)) or (isinstance(value, tuple) and id(value) in self.inside):
            holder = self.inside.get(id(value), value)
            items = list(dict.values(value)) if isinstance(value, dict) else entries_of(value)
            is_large = len(items) > _MANY and holder is value and id(value) not in self._changing
            if is_large and not any(isinstance(x, Tensor) for x in items):
                self._place(value, CONTENTS, name)
                for x in items:
                    self._meet(x, f"an item of {name}")
                return
            self._place(holder, LENGTH, f"length of {name}")
            if isinstance(value, dict) and (self.lists or id(value) not in self._unlisted):
                self._ordered(holder, items, name)
            for entry in list(dict.keys(value)) if isinstance(value, dict) else range(len(items)):
                self._place(holder, entry, f"item {shown(entry)} of {name}", item=True)
        elif isinstance(value, COMPARED_AS_A_WHOLE):
            self._place(value, CONTENTS, name)
            for x in value.flat if isinstance(value, np.ndarray) and value.dtype.hasobject else ():
                self._meet(x, f"an item of {name}")
        if isinstance(value, (set, frozenset)) or (isinstance(value, tuple) and id(value) not in self.inside):
            for x in entries_of(value):
                self._meet(x, f"an item of {name}")
        if isinstance(value, BUILT_IN_METHODS) and is_container(value.__self__):
            self.items = True  # `put = items.append`: the method has no name in code
        if isinstance(value, functools.partial) and not isinstance(value.func, types.FunctionType):
            # `partial(setattr, obj, "x")`, `partial(operator.setitem, items, 0)`: nor have these
            texts = {x for x in (*value.args, *value.keywords.values()) if isinstance(x, str)}
            self.names |= texts
            self.read |= texts
            self.changed |= texts
            self.given |= texts
            self.items = True
        if isinstance(value, weakref.ref):
            self._place(value, ALIVE, f"whether what {name} refers to is there")
        if (referred_to := referent(value)) is not None:
            self._meet(referred_to, f"what {name} refers to")
        if isinstance(value, BaseException):
            self._meet(value.args, f"the arguments of a {type(value).__name__}")
        wraps = hasattr(type(value), "_dy2st_function") or not {"_dy2st_function", "__wrapped__"}.isdisjoint(
            dict_of(value) or ()
        )
        if isinstance(value, WRAPPERS) or wraps:
            for way in INSIDE:
                self._meet(getattr(value, way, None), name)
            if isinstance(value, (classmethod, staticmethod)) and isinstance(value.__func__, types.FunctionType):
                self.given |= names_of(value.__func__.__code__).given_first  # its first parameter is no object of the class
        elif not isinstance(value, (type, types.FunctionType)):
            self._special_methods(type(value))
            is_there = id(value) not in self._nameless or self.before is None or id(value) in self.before  # at the next call, too
            if is_there and id(value) not in self.inside and may_change_class(type(value)) and not is_left_alone(type(value)):
                self._place(referred(value), CLASS, f"the class of {name}")
                if not is_own(type(value)) and dict_of(value) is not None:
                    self._place(referred(value), ATTRIBUTES, f"the attributes of {name}")
        cls = self._class(type(value))
        self._attributes(value, self._looked | self._own_looked if cls.stateful else self._looked)
        if not cls.foreign or isinstance(value, (type, Tensor, types.FunctionType)) or has_attributes(dict_of(value)):
            self._bearers.append(value)

    def _all_of(self, owner: Any, attributes: dict) -> None:
        """Which attributes an object has counts, and their order."""
        holder = self.inside.get(id(owner), attributes)
        self._place(holder, LENGTH, f"number of the attributes of {type(owner).__name__}")
        self._ordered(holder, attributes, f"the attributes of {type(owner).__name__}")

    def _ordered(self, holder: Any, items: Collection[Any], name: str) -> None:
        if len(items) > 1:
            self._place(holder, ORDER, f"the keys of {name}")

    def _function(self, f: types.FunctionType, known: bool = False) -> None:
        if id(f) in self.functions or (not known and is_foreign(f.__module__)):
            return
        self.functions[id(f)] = f
        if known:
            self.objects[id(f)] = f
            self._bearers.append(f)
        names = names_of(f.__code__)
        if is_stateful(f.__module__):  # what is there besides its objects stays as it is
            self._own_names |= names.attributes | names.changed
            self.read |= names.attributes
            self.changed |= names.changed
            self.items |= names.items
            return
        self._take(f, names)
        if is_foreign(f.__module__):
            return  # of one of our own layers: its module stays as it is
        self._place(f, CODE, f"the code and the default arguments of {f.__name__!r}")
        for x in (*(f.__defaults__ or ()), *([f.__kwdefaults__] if f.__kwdefaults__ else ())):
            self._meet(x, f"a default argument of {f.__name__!r}")
        if isinstance(registry := vars(f).get("registry"), types.MappingProxyType):  # of `functools.singledispatch`
            self._meet(registry, f"what {f.__name__!r} calls for each class", named=True)
        package = str(f.__globals__.get("__package__") or "").split(".")
        for name in names.modules:  # an import may be relative to any package around
            for depth in range(len(package) + 1):
                full_name = ".".join([*package[:depth], name]).strip(".")
                if is_users_module(sys.modules.get(full_name)):
                    self._place(sys.modules, full_name, f"module {full_name!r}")
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            if is_generated(f.__code__.co_filename) and self.before is not None and id(f) not in self.before:
                # made by the trace: it is not there at the next call
                self._meet(Place(cell, None, name).now(), f"the variable {name!r}", named=True)
            else:
                self._variables[id(cell)] = name
                self._place(cell, None, f"the variable {name!r} around {f.__name__!r}")

    def _take(self, f: types.FunctionType, names: Names) -> None:
        """The names in the code of a function count."""
        # where a condition on tensors decides whether something is assigned, its old value is read too
        self.names |= names.attributes | names.changed
        self.read |= names.attributes | names.globals
        self._seen |= names.looked
        self._handled |= names.handled
        self._items_seen |= names.items_looked
        self._assigned |= names.changed | names.assigned
        if is_foreign(f.__module__):
            return
        self.changed |= names.changed
        self.given |= names.given if is_in_class(f.__qualname__) else names.given | names.given_first
        self.items |= names.items
        self.sets_variables |= names.sets_by_key or bool(names.assigned) or bool(names.rebound)
        if self._unconverted and names.reads_by_key:  # nobody sees what that reads: all that is in its module counts
            self._by_key = True
            self._looked = set()
            for found in (f.__globals__, *(vars(m) for name in names.globals if is_users_module(m := f.__globals__.get(name)))):
                self._look(found)
        asked = names.attributes - self._asked if self._unconverted and names.asking else set()
        self._asked |= asked
        if asked or names.sweeping > self._sweeping or names.asking > self._asking:
            self._looked = set()  # what was looked for by name has to be looked for once more
        if not self._super and "super" in names.globals:
            self._super, self._looked = True, set()
        if not self.lists and not names.attributes.isdisjoint(_LISTING):
            self.lists = True
            for store in [x for key, x in self.objects.items() if key in self._unlisted]:
                self._ordered(self.inside.get(id(store), store), store, "what a layer keeps")
        if names.comparing > self._comparing or names.formatting > self._formatting:
            self._comparing, self._formatting = self._comparing or names.comparing, self._formatting or names.formatting
            self._looked = set()
            for x in list(self.objects.values()):
                if not isinstance(x, (type, types.FunctionType, types.ModuleType)):
                    self._special_methods(type(x))
        self._sweeping, self._asking = self._sweeping or names.sweeping, self._asking or names.asking
        for chain in names.chains:
            self._chain(f.__globals__, chain)
        for name in names.globals:
            if isinstance(module := f.__globals__.get(name), types.ModuleType) and is_left_alone(module):
                for attribute in names.changed & vars(module).keys():  # `sys.path += more`
                    self._chain(f.__globals__, (name, attribute))
        for name in names.attributes & vars(Tensor).keys() - SAID.keys():  # which somebody may replace, too
            self._place(AttributeVariable(name, Tensor), name, f"attribute {name!r} of class Tensor")
        for name in names.globals | names.assigned:  # also those of Python's own functions, which a global may hide one day
            self._place(f.__globals__, name, f"global {name!r}")

    def _chain(self, namespace: dict, chain: tuple[str, ...]) -> None:
        """What is read of modules of Python and of libraries, which may be replaced: `paddle.tanh`, `sys.argv`."""
        module = namespace.get(chain[0])
        for name in chain[1:]:
            if not isinstance(module, types.ModuleType) or not is_left_alone(module):
                return
            value = vars(module).get(name, MISSING)
            if (value is MISSING or isinstance(value, SEEN_IN_MODULES)) and name not in SAID:
                self._place(vars(module), name, f"attribute {name!r} of module {module.__name__}")
            if type(value) in (list, dict) and value is not sys.modules:  # see `spaces`
                self.lists_of_modules[module.__name__, name] = vars(module)
                self._meet(value, f"attribute {name!r} of module {module.__name__}")
            module = value

    def _attributes(self, x: Any, names: set[str], asking: bool = False) -> None:
        if self._by_key and isinstance(x, type):
            self._names_in(x)
        if isinstance(x, types.ModuleType):
            computes = "__getattr__" in vars(x)  # what the module has not
            for name in names | {"__getattr__"} if asking or computes else names & vars(x).keys():
                self._place(vars(x), name, f"attribute {name!r} of module {x.__name__!r}")
            return
        if isinstance(x, Tensor):
            self.tensors[id(vars(x))] = x
            for name in (names if asking else names & vars(x).keys()) - OF_TENSORS:
                self._place(vars(x), name, f"attribute {name!r} of a tensor")
            return
        of = x if isinstance(x, (type, types.FunctionType)) else type(x)
        if not (is_own(of) or is_left_alone(of)):
            for name in names & SAID.keys():
                self._place(of, SAID[name], f"{name} of {of.__name__}")
        if isinstance(x, type):
            for name in names - SAID.keys():
                self._of_class(x, name, asking or self._asking)
                if not is_left_alone(type(x)):
                    self._of_class(type(x), name, asking or self._asking)
            return
        attributes = dict_of(x)
        kind = type(x).__name__
        if attributes is not None and self._class(type(x)).of_the_library:
            # what they hold is in attributes that only their own methods name, and change
            names = names | attributes.keys()
            self.items = True
            self._nameless |= {id(v) for v in attributes.values()}
            self.read |= attributes.keys()
            self.changed |= attributes.keys()
        shown = (self._formatting or self._comparing) and any((c.__module__, c.__name__) in _SHOWING_ALL for c in type(x).__mro__)
        if attributes is not None and (self._sweeping or shown) and not is_own(type(x)):
            names = names | attributes.keys()
            if not isinstance(x, types.FunctionType):
                self._all_of(x, attributes)
                self._names_in(type(x))
        if attributes is not None and id(attributes) not in self.dicts:
            if isinstance(x, types.FunctionType):
                conversion_of(x)
            self.dicts[id(attributes)], self.owners[id(attributes)] = attributes, x
            # sublayers and hooks, which code names by the attributes they stand for
            stores = {n: id(v) for n, v in attributes.items() if isinstance(v, OrderedDict)}
            names = names | stores.keys()
            if is_layer(x):
                of_layer = {key for n, key in stores.items() if n in _STORES_OF_LAYERS}  # not a dict of the user's
                self.stores |= of_layer
                if not hasattr(type(x), "__iter__"):  # as that of a LayerList
                    self._unlisted |= of_layer
        looks_in_class = not isinstance(x, types.FunctionType) and not self.is_foreign_class(type(x))
        if looks_in_class and not asking:
            computes = defined(type(x), "__getattr__")  # what is nowhere else: that counts
            asking = isinstance(computes, types.FunctionType) and not is_foreign(computes.__module__)
        if not looks_in_class and not asking:
            defines = {n: defined(type(x), n) for n in names & self._names_of(type(x))}
            kept = {n for n, found in defines.items() if self._is_kept(x, n, found)}
            own = set() if attributes is None else set(attributes)
            # what a property is made of is read by code of the library
            names = kept | (own if any(isinstance(found, property) for found in defines.values()) else names & own)
        if not (asking or self._asking):  # what there is nowhere is no place then
            of_class = self._names_of(type(x))
            names = {n for n in names if n in of_class or (attributes is not None and n in attributes)}
        for name in names:
            found = self._of_class(type(x), name, asking or name in self._asked) if looks_in_class else MISSING
            slot = found if looks_in_class else defined(type(x), name)
            if isinstance(slot, types.MemberDescriptorType) or self._is_kept(x, name, slot):
                self._place(AttributeVariable(name, x), name, f"attribute {name!r} of {kind}")
            elif attributes is not None and (
                name in attributes
                or (found is not MISSING and not hasattr(type(found), "__set__"))
                or asking
                or (looks_in_class and self._asking)
            ):
                self._place(self.inside.get(id(x), attributes), name, f"attribute {name!r} of {kind}")

    def _is_kept(self, x: Any, name: str, found: Any) -> bool:
        """Whether an attribute, of which this is what the class has, is kept by a class that is written in C: that makes what it gives at
        each reading perhaps, so what is only read counts if it is the same where it is equal."""
        return is_kept_elsewhere(found) and (name in self.changed or _is_plain(held(x, name)))

    def _names_of(self, cls: type) -> frozenset[str]:
        """The names of a class and its bases."""
        found = self._class_names.get(cls)
        if found is None:
            found = self._class_names[cls] = frozenset().union(*map(vars, cls.__mro__))
        return found

    def _names_in(self, cls: type) -> None:
        """All that a class has counts, as it was asked for without its names."""
        for c in cls.__mro__:
            if not (is_left_alone(c) or is_own(c)):
                self._place(c, NAMES, f"the attributes of class {c.__name__}")

    def is_foreign_class(self, cls: type) -> bool:
        """Whether it is one of those whose code runs as it is."""
        return self._class(cls).foreign

    def _class(self, cls: type) -> ClassKind:
        found = self._classes.get(cls)
        if found is None:
            found = self._classes[cls] = ClassKind(cls)
        return found

    def _of_class(self, cls: type, name: str, asking: bool) -> Any:
        """What a class has under a name; the places are those of the classes in which Python looks for it."""
        found = defined(cls, name)
        if found is MISSING and not asking:
            return found
        for c in cls.__mro__:
            if is_stateful(c.__module__):
                if name in vars(c):
                    self._meet(vars(c)[name], name, named=True)
            elif not is_foreign_class(c) or name in vars(c):
                self._place(AttributeVariable(name, c), name, f"attribute {name!r} of class {c.__name__}")
            if name in vars(c) and not self._super:
                break
        function = getattr(found, "fget", found)
        if hasattr(cls, "sublayers") and isinstance(function, types.FunctionType):
            self._function(function, known=True)
        return found

    def _special_methods(self, cls: type, making: bool = False) -> None:
        for c in cls.__mro__:
            if is_left_alone(c) or is_own(c):
                continue
            self._place(c, SPECIAL, f"the special methods of class {c.__name__}")
            self._place(c, BASES, f"the bases of class {c.__name__}")
            for name, f in list(vars(c).items()):
                function = f.__func__ if name in OF_CLASSES and isinstance(f, classmethod) else f
                if not (name.startswith("__") and isinstance(function, types.FunctionType)) or name in NEVER:
                    continue
                if name in MAKING:
                    wanted = making
                else:
                    wanted = name not in COMPARING | FORMATTING or (
                        self._comparing if name in COMPARING else self._formatting
                    )
                if wanted:
                    self._place(AttributeVariable(name, c), name, f"{name} of class {c.__name__}")


def _is_plain(value: Any) -> bool:
    """Whether a value is the same as another one that is equal."""
    return isinstance(value, PLAIN) or (type(value) is tuple and all(isinstance(v, PLAIN) for v in value))
