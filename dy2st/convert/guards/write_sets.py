"""What functions may change of all that they can reach."""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any

from ...tensor import Tensor
from .. import roles
from ..effects.cells import OuterVariable
from ..pyfacts.attribute_lookup import MISSING, defined, is_slot
from ..pyfacts.tensor_attributes import OF_TENSORS
from ..values.containers import is_container
from .places import AttributeVariable
from .reach import Reach

ROLE = roles.BOOKKEEPING


class Changeable:
    """The containers and variables of a `Reach` that its functions may change: it is asked at each new function, and tells what is new."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        # for which names, and how much of what was met, has been told; the modules, tensors and classes among that, by id
        self._told: tuple[int, int, bool] | None = None
        self._other_names: set[str] = set()  # of the names, those that tensors do not have anyway
        self._objects = self._dicts = 0
        self._named: dict[int, Any] = {}

    def new(self) -> tuple[list[Any], list[OuterVariable]]:
        """The containers and the single variables that have come since the last time, and maybe some that had come before."""
        reach = self._reach
        if not reach.changed and not reach.items:
            return [], []
        now = len(reach.changed), len(reach.given), reach.items
        if self._told != now:
            self._told, self._objects, self._dicts = now, 0, 0
            self._other_names = reach.changed - OF_TENSORS
        # a list that grows is replaced, in whatever holds it, for as long as functions are traced
        containers: list[Any] = list(islice(reach.dicts.values(), self._dicts, None))
        variables: list[OuterVariable] = []
        for x in islice(reach.objects.values(), self._objects, None):
            if isinstance(x, (types.ModuleType, Tensor)):
                self._named[id(x)] = x
            elif is_container(x):
                containers += [x] if reach.items or id(x) in reach.stores else []  # an attribute of a layer may be kept there
            else:
                cls = x if isinstance(x, type) else type(x)
                self._named[id(cls)] = cls
                if cls is not x:
                    variables += [AttributeVariable(n, x) for n in reach.changed if is_slot(defined(cls, n))]
        self._objects, self._dicts = len(reach.objects), len(reach.dicts)
        for x in self._named.values():
            variables += self._variables_of(x)
        variables += [OuterVariable(name, of) for (_, name), of in reach.lists_of_modules.items()]
        return containers, variables

    def _variables_of(self, x: Any) -> Iterable[OuterVariable]:
        """Those of a module, a tensor or a class: it may get others while functions are traced."""
        reach = self._reach
        if isinstance(x, types.ModuleType):
            lists = {n for n in reach.names & vars(x).keys() if reach.items and type(vars(x)[n]) in (list, dict)}
            return [OuterVariable(n, vars(x)) for n in (reach.changed & vars(x).keys()) | reach.given | lists]
        if isinstance(x, Tensor):
            if self._other_names.isdisjoint(vars(x)):  # as of nearly all parameters, of which a model has hundreds
                return []
            return [OuterVariable(n, vars(x)) for n in self._other_names & vars(x).keys()]
        return [] if reach.is_foreign_class(x) else self.of_class(x, reach.given)

    def of_class(self, cls: type, given: Collection[str]) -> Iterable[OuterVariable]:
        """Those of a class: the attributes that it has, and those that it may be given."""
        for name in self._reach.changed:
            found = defined(cls, name)
            if found is MISSING and name in given:
                yield AttributeVariable(name, cls)
            if found is not MISSING and not isinstance(found, types.MemberDescriptorType) and not hasattr(type(found), "__set__"):
                yield AttributeVariable(name, cls)
        if self._reach.items:
            for base in cls.__mro__[:-1]:
                for name, value in vars(base).items():
                    if type(value) in (list, dict) and name in self._reach.names:
                        yield AttributeVariable(name, base)
