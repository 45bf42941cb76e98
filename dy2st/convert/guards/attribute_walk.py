"""`AttributeWalk`: the part of `Reach` that walks through the attributes of objects, and through classes."""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Collection
from typing import Any

from ...tensor import Tensor
from .. import roles
from ..pyfacts.attribute_lookup import MISSING, defined, dict_of, held, is_slot
from ..pyfacts.conversions import conversion_of
from ..pyfacts.foreign import FORMATTING, LAYER_STORES, is_foreign, is_foreign_class, is_layer, is_stateful
from ..pyfacts.tensor_attributes import OF_TENSORS
from .classification import COMPARING, MAKING, NEVER, OF_CLASSES, PLAIN, ClassKind, is_left_alone, is_own
from .places import BASES, LENGTH, NAMES, ORDER, SAID, SPECIAL, AttributeVariable
from .reached_places import Reached

ROLE = roles.BOOKKEEPING

_STORES_OF_LAYERS = {*LAYER_STORES, "_forward_pre_hooks", "_forward_post_hooks"}


class AttributeWalk(Reached):
    """Finds the places in which Python looks for the attributes that code names."""

    def _function(self, f: types.FunctionType, known: bool = False) -> None:
        """Walks on from the code of a function."""
        raise NotImplementedError

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
        if not names.isdisjoint(SAID) and not (is_own(of) or is_left_alone(of)):
            for name in names & SAID.keys():
                self._place(of, SAID[name], f"{name} of {of.__name__}")
        if isinstance(x, type):
            for name in names - SAID.keys():
                self._of_class(x, name, asking or self._asking)
                if not is_left_alone(type(x)):
                    self._of_class(type(x), name, asking or self._asking)
            return
        attributes = dict_of(x)
        kind = self._class(type(x))
        if attributes is not None and kind.of_the_library:
            # what they hold is in attributes that only their own methods name, and change
            names = names | attributes.keys()
            self.items = True
            self._nameless |= {id(v) for v in attributes.values()}
            self.read |= attributes.keys()
            self.changed |= attributes.keys()
        shown = kind.showing_all and (self._formatting or self._comparing)
        if attributes is not None and (self._sweeping or shown) and not kind.own:
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
        looks_in_class = not isinstance(x, types.FunctionType) and not kind.foreign
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
            of_class = names & self._names_of(type(x))
            names = of_class if attributes is None else of_class | (names & attributes.keys())
        for name in names:
            found = self._of_class(type(x), name, asking or name in self._asked) if looks_in_class else MISSING
            slot = found if looks_in_class else defined(type(x), name)
            if isinstance(slot, types.MemberDescriptorType) or self._is_kept(x, name, slot):
                self._place(AttributeVariable(name, x), name, f"attribute {name!r} of {type(x).__name__}")
            elif attributes is not None and (
                name in attributes
                or (found is not MISSING and not hasattr(type(found), "__set__"))
                or asking
                or (looks_in_class and self._asking)
            ):
                self._place(self.inside.get(id(x), attributes), name, f"attribute {name!r} of {type(x).__name__}")

    def _is_kept(self, x: Any, name: str, found: Any) -> bool:
        """Whether an attribute, of which this is what the class has, is kept by a class that is written in C: that makes what it gives at
        each reading perhaps, so what is only read counts if it is the same where it is equal."""
        return is_slot(found) and (name in self.changed or _is_plain(held(x, name)))

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
        key = cls, name, asking, self._super
        if key not in self._in_classes:
            self._in_classes[key] = self._look_in_class(cls, name, asking)
        return self._in_classes[key]

    def _look_in_class(self, cls: type, name: str, asking: bool) -> Any:
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
        key = cls, making, self._comparing, self._formatting
        if key in self._special:
            return
        self._special.add(key)
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

    def _all_of(self, owner: Any, attributes: dict) -> None:
        """Which attributes an object has counts, and their order."""
        holder = self.inside.get(id(owner), attributes)
        self._place(holder, LENGTH, f"number of the attributes of {type(owner).__name__}")
        self._ordered(holder, attributes, f"the attributes of {type(owner).__name__}")

    def _ordered(self, holder: Any, items: Collection[Any], name: str) -> None:
        if len(items) > 1:
            self._place(holder, ORDER, f"the keys of {name}")


def _is_plain(value: Any) -> bool:
    """Whether a value is the same as another one that is equal."""
    return isinstance(value, PLAIN) or (type(value) is tuple and all(isinstance(v, PLAIN) for v in value))
