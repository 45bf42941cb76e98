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
from collections import defaultdict, deque
from typing import Any

import numpy as np

from ...tensor import Tensor
from ...transpiler import is_generated
from .. import roles
from ..pyfacts.attribute_lookup import MISSING, dict_of, may_change_class
from ..pyfacts.code_names import Names, is_in_class, names_of
from ..pyfacts.conversions import has_attributes
from ..pyfacts.foreign import LAYER_STORES, is_foreign, is_stateful
from ..pyfacts.safe_repr import shown
from ..values.containers import COMPARED_AS_A_WHOLE, entries_of, is_container
from .attribute_walk import AttributeWalk
from .classification import (
    BUILT_IN_METHODS,
    INSIDE,
    PLAIN,
    SEEN_IN_MODULES,
    WRAPPERS,
    is_left_alone,
    is_users_module,
    referent,
)
from .places import ALIVE, ATTRIBUTES, CLASS, CODE, CONTENTS, LENGTH, SAID, AttributeVariable, Place, referred

ROLE = roles.BOOKKEEPING

# a container with more than this is compared as a whole, unless there are tensors in it
_MANY = 64
# what gives the entries of these in their order
_LISTING = {
    *LAYER_STORES, "apply", "buffers", "children", "named_buffers", "named_children", "named_parameters", "named_sublayers", "parameters",
    "state_dict", "sublayers",
}  # fmt: skip


class Reach(AttributeWalk):
    """All that can be reached from the functions and values that were added; see `Reached` for what it knows of that."""

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

    # ---- walking ----
    def _settle(self) -> None:
        try:
            self._walk()
        finally:  # the functions run before the next walk
            self._class_names.clear()
            self._in_classes.clear()
            self._special.clear()

    def _walk(self) -> None:
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

    def _enter(self, value: Any, name: str) -> None:
        cls = self._class(type(value))
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
            self.items |= isinstance(value, defaultdict)  # to ask for a key is to change it
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
            if is_there and id(value) not in self.inside and may_change_class(type(value)) and not cls.foreign:
                self._place(referred(value), CLASS, f"the class of {name}")
                if not cls.own and dict_of(value) is not None:
                    self._place(referred(value), ATTRIBUTES, f"the attributes of {name}")
        self._attributes(value, self._looked | self._own_looked if cls.stateful else self._looked)
        if not cls.foreign or isinstance(value, (type, Tensor, types.FunctionType)) or has_attributes(dict_of(value)):
            self._bearers.append(value)

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
            if is_generated(f.__code__) and self.before is not None and id(f) not in self.before:
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
        self.items |= names.items or defaultdict.__name__ in names.globals | names.attributes
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
