"""The methods of lists, tuples and dicts that a function calls while it is traced."""

from __future__ import annotations

from typing import Any

from ..control.mutation import current_list, list_extend, list_insert, list_pop, none_of
from ..control.sorting import list_method
from ..control.symbolic_items import at_one, get, getitem, is_unknown
from ..iteration.outer_iterators import advanced
from ..regions.choice_mutation import chooses
from ..values.dynamic_list import DynamicList
from ..values.maybe_none import require_key
from ..values.one_of import OneOf
from ..values.staged_dict import CLASSES, StagedDict


def method(a: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """`a.name(...)` of a list, tuple or dict: of dynamic length, or called with what is, or one that this makes such."""
    return (_changed if name in _CHANGES else _called)(a, name, *args, **kwargs)


# the methods that compare items
_COMPARING: dict[type, tuple[str, ...]] = {list: ("sort", "remove", "index", "count"), tuple: ("index", "count")}


def _called(a: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    a = current_list(a)
    if isinstance(a, (list, DynamicList)) and name in _OF_LISTS and not kwargs:
        return _OF_LISTS[name](a, *args)
    if name in _COMPARING.get(type(a), ()):
        return list_method(a, name)(*args, **kwargs)
    if type(a) in CLASSES and name == "get" and args and is_unknown(args[0]):
        return get(a, *args)
    if type(a) is dict and name == "update":
        args = tuple(map(advanced, args))
    if isinstance(a, (dict, StagedDict)) and args:
        require_key(args[0])
    if name == "pop" and args and isinstance(args[0], OneOf) and isinstance(a, (dict, StagedDict)):
        return at_one(a, args[0], lambda of, key: of.pop(key, *args[1:]))
    if name == "setdefault" and type(a) is dict and args and isinstance(args[0], OneOf):
        # it has the key before that is read: what changes the value then changes what is in it
        at_one(a, args[0], lambda of, key: none_of(of.setdefault(key, *args[1:])))
        return getitem(current_list(a), args[0])
    return getattr(a, name)(*args, **kwargs)


_OF_LISTS = {
    "extend": lambda a, *args: none_of(list_extend(a, *args)),
    "insert": lambda a, *args: none_of(list_insert(a, *args)),
    "pop": lambda a, *args: list_pop(a, *args)[1],
}


_CHANGES = {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update"}


_changed = chooses(_called, gives="value")
