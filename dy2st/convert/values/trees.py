"""Nested Python values as a flat list of leaves and a tree."""

from __future__ import annotations

import dataclasses
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...tensor import Tensor, dispatch
from ...tensor.kinds import with_number
from .. import roles
from ..pyfacts.foreign import is_layer
from ..pyfacts.safe_repr import shown
from ..pyfacts.undefined import NoAttribute
from .dynamic_list import DynamicList
from .kind_codes import MaybeNumbers
from .maybe_attribute import MaybeAttribute, attribute
from .maybe_none import MaybeNone
from .maybe_value import MaybeObject, MaybeValue
from .one_of import OneOf
from .staged_list import StagedList

ROLE = roles.BOOKKEEPING


@dataclass(frozen=True)
class Tree:
    """The structure of a value: `kind` is the type of a node (None: a leaf), `keys` are those of a dict or the fields.

    `twin`: it is the same object as the container of this number, counted in the order of the way through the tree.
    `of`: the classes of the keys, if they are not all texts: 1, 1.0 and True are equal, and not the same.
    """

    kind: type | None = None
    keys: tuple[Any, ...] = ()
    children: tuple[Tree, ...] = ()
    twin: int = -1
    of: tuple[type, ...] = ()

    @property
    def size(self) -> int:
        """The number of leaves."""
        return 1 if self.kind is None else sum(c.size for c in self.children)

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inner = [str(c) for c in self.children]
        if self.kind is list:
            return f"[{', '.join(inner)}]"
        if self.kind is tuple:
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        if self.kind is MaybeNone or self.kind is MaybeNumber:
            return "* or None" if self.kind is MaybeNone else "*"
        named = ", ".join(f"{shown(k)}: {c}" for k, c in zip(self.keys, inner, strict=True))
        return f"{{{named}}}" if issubclass(self.kind, dict) else f"{self.kind.__name__}({named})"


LEAF = Tree()


class Whole:
    """The kind of what stays one object, a leaf: a dataclass with slots, as nobody sees these change (only a frozen one that holds nothing
    which can change is a node), and a tuple of the user's class with attributes, which a new one would not have."""


class MaybeNumber:
    """The kind of node that a tensor is which is a Python number on some path: the value, and whether it is a number."""


def flatten(value: Any, *, twins: bool = False, whole: frozenset[type] = frozenset()) -> tuple[list[Any], Tree]:
    """The leaves of a value in order, and its tree. Lists, tuples, named tuples, dicts and dataclasses are nodes, and so are objects
    that are made while a function is traced.

    With `twins` the tree says which containers are one object. What leads back to itself is a leaf, and so are objects of the classes
    `whole`.

    >>> leaves, tree = flatten({"a": [1, 2], "b": (None,)})
    >>> leaves, str(tree)
    ([1, 2, None], "{'a': [*, *], 'b': (*,)}")
    """
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves, {} if twins else None, [0], set(), whole)


class _LeadsBackError(Exception):
    """A container is among what it holds; the argument is its id."""


def _flatten(value: Any, leaves: list[Any], seen: dict[int, int] | None, count: list[int], above: set[int], whole: frozenset[type]
             ) -> Tree:  # fmt: skip
    keys, children = split(value)
    if children is None or type(value) in whole:
        leaves.append(value)
        return LEAF
    if id(value) in above:
        raise _LeadsBackError(id(value))
    number, at = count[0], len(leaves)
    count[0] += 1
    twin = seen.setdefault(id(value), number) if seen is not None and not isinstance(value, tuple) else number
    above.add(id(value))
    try:
        parts = tuple(_flatten(c, leaves, seen, count, above, whole) for c in children)
    except _LeadsBackError as error:
        if error.args[0] != id(value):
            raise
        leaves[at:], count[0] = [value], number
        for key in [key for key, n in (seen or {}).items() if n >= number]:
            del seen[key]  # type: ignore[union-attr]
        return LEAF
    finally:
        above.discard(id(value))
    kind = node_type(value)
    of = tuple(map(type, keys)) if issubclass(kind, dict) and any(type(key) is not str for key in keys) else ()
    return Tree(kind, keys, parts, -1 if twin == number else twin, of)


def node_type(value: Any) -> type:
    """The type of a node."""
    kind = type(value)
    if isinstance(value, Tensor):
        known = value._kinds is not None and value._kinds.number is not None
        return MaybeNumber if known and kind is not MaybeNone else kind
    if isinstance(value, tuple) and kind is not tuple and getattr(value, "__dict__", None):
        return Whole
    if hasattr(kind, "__dataclass_fields__") and is_slotted(kind) and not _cannot_change(value):
        return Whole
    return kind


def _cannot_change(value: Any) -> bool:
    """Whether a value is for ever what it is, with all that it holds, but for tensors."""
    if isinstance(value, tuple):
        return all(map(_cannot_change, value))
    if hasattr(type(value), "__dataclass_fields__"):
        return is_frozen(type(value)) and all(_cannot_change(_field(value, f.name)) for f in dataclasses.fields(value))
    return isinstance(value, _LEAVES) or value is _MISSING


def split(value: Any) -> tuple[tuple[Any, ...], Sequence[Any] | None]:
    """The keys and the children of a node; (), None for a leaf."""
    kind = node_type(value)
    if kind is list or kind is tuple:
        return (), value
    if kind is dict or kind is OrderedDict:
        return tuple(value), list(value.values())
    if kind is MaybeNone:
        return (), [value.bare(), value.is_none]
    if kind is OneOf:
        return (value._dy_options,), [value._dy_index]
    if kind is MaybeNumber:
        told = value._kinds.told
        return (), [with_number(value, None), value._kinds.number if told is None else told]
    if kind is MaybeObject:
        return (), [value.value, value.token]
    if kind is MaybeAttribute:
        return (), [value.value, value.has]
    if kind is MaybeValue:
        return (), [value._dy_value, value._dy_is_none]
    if issubclass(kind, DynamicList) and kind is not StagedList:
        return (value.layout,), value.columns
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return kind._fields, value
    if dataclasses.is_dataclass(kind) and not issubclass(kind, _WITH_MORE):
        names = dict.fromkeys((*(f.name for f in dataclasses.fields(value)), *getattr(value, "__dict__", ())))  # it may have others
        found = {name: x for name in names if (x := _field(value, name)) is not _MISSING}
        return ((), None) if _leads_to(value, found.values()) else (tuple(found), list(found.values()))
    attributes = None if isinstance(value, _LEAVES) else attributes_of(value)
    return ((), None) if attributes is None else (tuple(attributes), list(attributes.values()))


def _leads_to(value: Any, parts: Iterable[Any]) -> bool:
    """Whether a dataclass is among what it holds, as nodes of a tree are that know their parents."""
    left = [x for x in parts if isinstance(x, _HOLDING) or hasattr(type(x), "__dataclass_fields__")]
    seen: set[int] = set()
    while left:
        x = left.pop()
        if x is value:
            return True
        if id(x) in seen:
            continue
        seen.add(id(x))
        inner = x.values() if isinstance(x, dict) else x if isinstance(x, _HOLDING) else getattr(x, "__dict__", {}).values()
        left += [y for y in inner if isinstance(y, _HOLDING) or hasattr(type(y), "__dataclass_fields__")]
    return False


_HOLDING = (list, tuple, dict)

_LEAVES = (Tensor, bool, int, float, str, bytes, type(None), type, types.FunctionType, types.MethodType)


# objects of the user's subclasses of these have more than their attributes
_WITH_MORE = (list, dict, set, deque, tuple, frozenset, str, bytes, int, float, complex)

_MISSING = object()


def _field(value: Any, name: str) -> Any:
    """A field of a dataclass as it is kept, also one that only some runs have; `_MISSING` if there is none."""
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return _MISSING


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The attributes of an object of a class of the user's that is made while a function is traced, and so is nobody else's; None for any
    other value, and for objects that lead back to themselves."""
    created = getattr(dispatch.current_recorder(), "created", None)
    if created is None or id(value) not in created or is_layer(value) or isinstance(value, _WITH_MORE):
        return None
    return vars(value) if not is_slotted(type(value)) and _is_tree(value, created, ()) else None


def is_frozen(cls: type) -> bool:
    """Whether it is a dataclass whose objects are not to change."""
    return getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)


def is_slotted(cls: type) -> bool:
    """Whether objects of a class have slots. What is in these can change, and in the dict of the attributes nobody sees it."""
    return any(vars(c).get("__slots__") for c in cls.__mro__)


def _is_tree(value: Any, created: Container[int], above: tuple[Any, ...]) -> bool:
    if any(value is x for x in above):
        return False
    if isinstance(value, dict):
        parts: Iterable[Any] = value.values()
    elif id(value) in created:
        parts = getattr(value, "__dict__", {}).values()
    else:
        parts = value if isinstance(value, (list, tuple)) else ()
    return all(_is_tree(x, created, (*above, value)) for x in parts)


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The value with this tree and these leaves."""
    rest = iter(leaves)
    return _unflatten(tree, lambda: next(rest), [])


def _unflatten(tree: Tree, take: Callable[[], Any], created: list[Any]) -> Any:
    if tree.kind is None:
        return take()
    number = len(created)
    created.append(None)
    value = build(tree.kind, tree.keys, [_unflatten(c, take, created) for c in tree.children])
    created[number] = value if tree.twin < 0 else created[tree.twin]
    return created[number]


def build(kind: type, keys: Sequence[Any], children: Sequence[Any]) -> Any:
    """A node of this type with these children. A user's `__init__`, which may do anything, has run once already and does not again."""
    if kind is list:
        return list(children)
    if kind is tuple:
        return tuple(children)
    if kind is MaybeNone:
        return MaybeNone.of(*children)
    if kind is MaybeNumber:
        return with_number(*children)
    if kind is MaybeNumbers:
        return children[0].with_codes(children[1])
    if kind is OneOf:  # whose index may be known, as it is in the run
        return keys[0].values[children[0]] if isinstance(children[0], int) else OneOf(children[0], keys[0])
    if kind is MaybeObject:
        return MaybeObject(*children)
    if kind is MaybeAttribute:
        return attribute(*children)
    if kind is MaybeValue:
        return MaybeValue(*children)
    if issubclass(kind, DynamicList):
        return kind(keys[0], children)  # type: ignore[call-arg]
    if kind is deque:
        return deque(*children)
    if issubclass(kind, dict):
        return kind(zip(keys, children, strict=True))
    if issubclass(kind, tuple):
        return tuple.__new__(kind, children)
    new = object.__new__(kind)
    for name, child in zip(keys, children, strict=True):
        if not isinstance(child, NoAttribute):
            object.__setattr__(new, name, child)
    if not dataclasses.is_dataclass(kind) and (make := getattr(dispatch.current_recorder(), "make", None)) is not None:
        make(new)
    return new


def paths(tree: Tree, root: str = "") -> list[str]:
    """The way to each leaf as Python writes it.

    >>> paths(flatten({"a": [1, 2], "b": 3})[1], "state")
    ["state['a'][0]", "state['a'][1]", "state['b']"]
    """
    if tree.kind is None:
        return [root]
    if tree.kind is MaybeNone or tree.kind is MaybeNumber:
        return [root, f"{root} is None" if tree.kind is MaybeNone else f"whether {root} is a number"]
    found = []
    for i, child in enumerate(tree.children):
        if issubclass(tree.kind, dict):
            step = f"[{shown(tree.keys[i])}]"
        else:
            step = f".{tree.keys[i]}" if tree.keys else f"[{i}]"
        found += paths(child, root + step)
    return found
