"""Patterns: what is fixed and what varies in a value that has to hold on several paths.

`fit` widens a pattern until it admits one more value. For a branch the values are those of its two sides; for a loop, the initial
value and what the body makes of it, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dy2st_runtime.ir import Variable

from ..errors import Dy2stError, Location, StructureError
from ..tensor import Tensor, dispatch
from ..tensor.dispatch import ops
from ..tensor.kinds import is_number
from ..tensor.location import user_location
from ..tensor.promotion import cast
from .containers import is_container
from .dicts import StagedDict
from .dynamic import DynamicList
from .growing import substituted
from .iterables import Lazy
from .layouts import columns_of, is_dense, stored
from .lists import StagedList, element_type
from .maybe_attribute import MaybeAttribute, NoAttribute, halves
from .maybe_value import MaybeValue
from .optional import MaybeNone
from .options import OneOf, Options, Position, values_of
from .records import RecordList, kind_of_lists
from .structure import MaybeNumber, MaybeObject, build, node_type, split
from .texts import StagedText
from .tracer import Tracer
from .types import LeafType, array_of, describe, join, made_at, same, type_of
from .undefined import Undefined, Unread


@dataclass(frozen=True)
class Const:
    """A value that is the same on all paths."""

    value: Any


@dataclass(frozen=True)
class Var:
    """A leaf that the Program computes. `why` (not empty): it may have no value, for this reason."""

    type: LeafType
    why: str = ""


@dataclass(frozen=True)
class Node:
    """A list, tuple, dict, ... of patterns."""

    kind: type
    keys: tuple[Any, ...]
    children: tuple[Pattern, ...]


Pattern = Const | Var | Node

_FLAG = LeafType("bool", ())


@dataclass(frozen=True)
class Fitter:
    """Widens patterns.

    Args:
        why: says why a variable may have no value ("the loop at ... may not run").
        sides: what the two paths are called in errors.
    """

    tracer: Tracer
    why: str
    sides: tuple[str, str] = ("one path", "the other")

    def fit(self, p: Pattern, before: Any, new: Any, name: str) -> Pattern:
        """The pattern, widened to admit `new`; `before` is the value that the pattern stands for now.

        Raises:
            DTypeError, ShapeError, StructureError: there is no such pattern; the message names the variable.
        """
        if same(before, new):
            return p
        try:
            if any(isinstance(x, (NoAttribute, MaybeAttribute)) for x in (before, new)):
                return self._attribute(p, before, new, name)
            if isinstance(p, Const):
                return self._widen(p.value, new, name)
            if isinstance(p, Var):
                return self._var(p, new, name)
            return self._node(p, before, new, name)
        except Dy2stError as error:
            raise error.at(user_location()) from None

    def alone(self, value: Any) -> Pattern:
        """The pattern of a value that only one side has, as the other one does not come to an end."""
        t = type_of(value)
        v = getattr(value, "_value", None)
        if t is not None and node_type(value) not in (MaybeNone, MaybeNumber):
            inside = isinstance(v, Variable) and not self.tracer.can_read(v)
            return Var(t, self._reason(value)) if inside else Const(value)
        keys, children = split(value)
        if children is None:
            return Const(value)
        parts = tuple(map(self.alone, children))
        return Const(value) if all(isinstance(p, Const) for p in parts) else Node(node_type(value), keys, parts)

    def _widen(self, old: Any, new: Any, name: str) -> Pattern:
        """The narrowest pattern for two values that differ."""
        if isinstance(old, Undefined) or isinstance(new, Undefined):
            return self._partly(*((new, old) if isinstance(old, Undefined) else (old, new)))
        if is_none(old) and is_none(new):
            return Node(MaybeObject, (), (Const(None), self._flag(old, new)))
        if is_none(old) or is_none(new):
            found = self._optional(new if is_none(old) else old, self._flag(old, new), name)
            if found is None and is_option(self.tracer, old) and is_option(self.tracer, new):
                found = _one_of(Options(values_of(old)), new)
            if found is None:
                raise self._mismatch(old, new, name)
            return found
        if isinstance(old, MaybeObject) or isinstance(new, MaybeObject):
            one, other = (x.value if isinstance(x, MaybeObject) else x for x in (old, new))
            return Node(MaybeObject, (), (self.fit(Const(one), one, other, name), self._flag(old, new)))
        if isinstance(old, MaybeValue) or isinstance(new, MaybeValue):
            one, other = (x._dy_value if isinstance(x, MaybeValue) else x for x in (old, new))
            return Node(MaybeValue, (), (self.fit(self._there(one), one, other, name), self._flag(old, new)))
        if is_option(self.tracer, old) and is_option(self.tracer, new):
            return _one_of(Options(values_of(old)), new)
        a, b = type_of(old), type_of(new)
        if a is not None and b is not None:
            if isinstance(old, MaybeNone) or isinstance(new, MaybeNone):
                for t in (a, b):
                    _require_tensor_or_none(t, name)
                return Node(MaybeNone, (), (self._leaf(a, b, old, new, name), self._flag(old, new)))
            return self._number_or_tensor(a, b, old, new, name)
        (keys, olds), (_, news) = split(old), split(new)
        array = self._list(old, new, name)
        if array is not None:
            return array
        if olds is None or news is None or type(old) is not type(new):
            raise self._mismatch(old, new, name)
        p = Node(type(old), keys, tuple(map(Const, olds)))
        return self._node(p, old, new, name)

    def _attribute(self, p: Pattern, before: Any, new: Any, name: str) -> Node:
        """The pattern of an attribute that an object does not have on some path."""
        (old, had), (value, has) = halves(before), halves(new)
        known = p.children if isinstance(p, Node) and p.kind is MaybeAttribute else (Const(old) if isinstance(p, Const) else p, Const(had))
        there = known[0] if same(old, value) else self.fit(known[0], old, value, name)
        return Node(MaybeAttribute, (), (there, self.fit(known[1], had, has, f"whether there is {name}")))

    def _optional(self, value: Any, flag: Var, name: str) -> Node | None:
        """The pattern of a value that is None on the other path; None if it is an object that cannot be taken apart."""
        inner = value._dy_value if isinstance(value, MaybeValue) else value
        kind = node_type(inner)
        if isinstance(inner, StagedList) or (split(inner)[1] is not None and kind not in (MaybeNone, MaybeNumber, OneOf, MaybeObject)):
            return Node(MaybeValue, (), (self._there(inner), flag))
        t = type_of(value)
        if t is None or t.kind != "dense":
            return None
        _require_tensor_or_none(t, name)
        bare = value.bare() if isinstance(value, MaybeNone) else value
        return Node(MaybeNone, (), (Var(t, self._reason(bare) or f"{said(name)} is None there"), flag))

    def _flag(self, *values: Any) -> Var:
        """The leaf that says of values whether they are None; it has no value where they have none."""
        tokens = [_token(x) for x in values]
        return Var(_FLAG, next(filter(None, map(self._reason, tokens)), ""))

    def _partly(self, value: Any, nothing: Undefined) -> Pattern:
        """The pattern of a value that is there on one path only: a tensor says so itself, anything else has a flag beside it."""
        p = self._there(value.value if isinstance(value, MaybeObject) else value)
        if isinstance(nothing, Unread) or isinstance(p, Var) or (isinstance(p, Node) and p.kind in (MaybeNone, MaybeNumber)):
            return p
        return Node(MaybeObject, (), (p, Var(_FLAG, self.why)))

    def _there(self, value: Any) -> Pattern:
        t = type_of(value)
        if t is not None and node_type(value) not in (MaybeNone, MaybeNumber):
            return Var(t, self.why)
        keys, children = split(value)
        return Const(value) if children is None else Node(node_type(value), keys, tuple(map(self._there, children)))

    def _number_or_tensor(self, a: LeafType, b: LeafType, old: Any, new: Any, name: str) -> Var | Node:
        """The pattern of two leaves, with a flag where one is a Python number and the other is a tensor."""
        known = all(not (isinstance(x, Tensor) and is_number(x) is None) for x in (old, new))
        if not known or "array" in (a.kind, b.kind):
            return self._leaf(a, b, old, new, name)
        leaf = self._leaf(a, b, old, new, name, ranked=True)
        return Node(MaybeNumber, (), (leaf, Var(_FLAG, leaf.why))) if leaf.type.mixed else leaf

    def _leaf(self, a: LeafType, b: LeafType, old: Any, new: Any, name: str, *, ranked: bool = False) -> Var:
        try:
            joined = join(a, b, f"{said(name)}", place(user_location()), ranked=ranked)
        except Dy2stError as error:
            places = [f"{side} at {at}" for side, x in zip(self.sides, (old, new), strict=True) if (at := made_at(x))]
            error.message += f"; set on {' and on '.join(places)}" if places else ""
            error.args = (error.message,)
            raise
        return Var(joined, self._reason(old) or self._reason(new))

    def _var(self, p: Var, new: Any, name: str) -> Pattern:
        if isinstance(new, Undefined):
            return replace(p, why=p.why or self.why)
        if is_none(new) or isinstance(new, MaybeNone):
            p = replace(p, why=p.why or f"{said(name)} is None there")
            return Node(MaybeNone, (), (p if is_none(new) else self._var(p, new.bare(), name), self._flag(new)))
        t = type_of(new)
        if t is None and isinstance(new, list) and p.type.kind == "array":
            t = array_of(element_type(new, said(name))) if new else p.type
        if t is None:
            raise StructureError(f"{said(name)} is {p.type} on {self.sides[0]} and {describe(new)} on {self.sides[1]}")
        if p.type.mixed or t.kind == "array":
            found: Var | Node = self._leaf(p.type, t, None, new, name)
        else:
            found = self._number_or_tensor(p.type, t, None, new, name)
        if isinstance(found, Node):
            leaf, flag = variables(found)
            why = p.why or leaf.why
            return replace(found, children=(replace(leaf, why=why), replace(flag, why=why)))
        return replace(found, why=p.why or found.why)

    def _node(self, p: Node, before: Any, new: Any, name: str) -> Pattern:
        if isinstance(new, Undefined):
            return self._partly(before, new)
        if p.kind is MaybeNone:
            inner, flag = p.children
            assert isinstance(inner, Var)
            assert isinstance(flag, Var)
            flag = replace(flag, why=flag.why or self._flag(new).why)
            bare = new.bare() if isinstance(new, MaybeNone) else new
            return Node(MaybeNone, (), (inner if is_none(new) else self._var(inner, bare, name), flag))
        if p.kind is MaybeNumber:
            return self._maybe_number(p, new, name)
        if p.kind is RecordList and isinstance(new, (list, RecordList)):
            return self._records([before, new], name)
        if p.kind is MaybeValue:
            parts, flag = p.children
            assert isinstance(flag, Var)
            flag = replace(flag, why=flag.why or self._flag(new).why)
            other = new._dy_value if isinstance(new, MaybeValue) else new
            return Node(MaybeValue, (), (parts if is_none(new) else self.fit(parts, before._dy_value, other, name), flag))
        if p.kind is OneOf:
            if not is_option(self.tracer, new):
                raise self._mismatch(before, new, name)
            return _one_of(p.keys[0], new, p)
        if p.kind is MaybeObject and not isinstance(new, MaybeObject):
            value, flag = p.children
            assert isinstance(flag, Var)
            found = self._optional(new, flag, name) if is_none(before) else None
            return found or Node(MaybeObject, (), (self.fit(value, before.value, new, name), flag))
        keys, children = split(new)
        array = self._list(before, new, name)
        if array is not None:
            return array
        if children is None or node_type(new) is not p.kind or set(keys) != set(p.keys) or len(children) != len(p.children):
            raise self._mismatch(before, new, name)
        olds = split(before)[1]
        assert olds is not None
        fitted = [
            self.fit(child, old, one, f"{name}{step}")
            for child, old, one, step in zip(p.children, olds, in_order(p, new), steps(p), strict=True)
        ]
        return Node(p.kind, p.keys, tuple(fitted))

    def _maybe_number(self, p: Node, new: Any, name: str) -> Pattern:
        leaf, flag = variables(p)
        t = type_of(new)
        if t is None or isinstance(new, MaybeNone):
            if is_none(new) or isinstance(new, MaybeNone):
                _require_tensor_or_none(leaf.type, name)
                return self._var(leaf, new, name)
            raise StructureError(f"{said(name)} is {leaf.type} on {self.sides[0]} and {describe(new)} on {self.sides[1]}")
        found = self._leaf(leaf.type, t, None, new, name, ranked=True)
        found = replace(found, why=leaf.why or found.why)
        if isinstance(new, Tensor) and is_number(new) is None:
            return found
        return Node(MaybeNumber, (), (found, replace(flag, why=found.why)))

    def _list(self, old: Any, new: Any, name: str) -> Pattern | None:
        """The pattern of a list whose length varies; None if that is not the case."""
        lists: list[list] = [x for x in (old, new) if type(x) is list]
        staged: list[DynamicList] = [x for x in (old, new) if isinstance(x, DynamicList)]
        if len(lists) + len(staged) < 2 or (not staged and len(old) == len(new)):
            return None
        arrays = [x for x in staged if isinstance(x, StagedList)]
        if len(arrays) < len(staged) or not (arrays or all(is_dense(x) for items in lists for x in items)):
            return self._records([old, new], name)
        return self._array(lists, arrays, name)

    def _records(self, lists: Sequence[Any], name: str) -> Node:
        """The pattern of lists of records, of which one may be of Python."""
        layout, types = kind_of_lists(lists, said(name))
        return Node(RecordList, (layout,), tuple(Var(array_of(t, kinds)) for t, kinds in types))

    def _array(self, lists: Sequence[list], staged: Sequence[StagedList], name: str) -> Var:
        """The pattern of lists of tensors and numbers."""
        t: LeafType | None = None
        for s in staged:
            u = type_of(s)
            assert u is not None
            t = u if t is None else join(t, u, f"{said(name)}")
        for x in lists:
            if x:
                entry = element_type(x, said(name))
                u = array_of(entry)
                if t is not None and entry.weak:  # numbers take the dtype of the tensors
                    u = array_of(LeafType(t.dtype, u.shape), entry.all_kinds)
                t = u if t is None else join(t, u, f"an element of {said(name)}")
        assert t is not None
        return Var(t)

    def _reason(self, x: Any) -> str:
        v = getattr(x, "_value", None)
        return self.tracer.absent.get(v.name, "") if isinstance(v, Variable) else ""

    def _mismatch(self, old: Any, new: Any, name: str) -> StructureError:
        return StructureError(
            f"{said(name)} is {_shown(old)} on {self.sides[0]} and {_shown(new)} on {self.sides[1]}",
            hint="make it the same kind of value on all paths; what depends on a tensor can only be a tensor, a number, "
            "or lists, tuples and dicts of these",
        )


def _token(x: Any) -> Any:
    """What says of a value whether it is None, or has a value; None if it is surely there."""
    if isinstance(x, MaybeValue):
        return x._dy_is_none
    return x.is_none if isinstance(x, MaybeNone) else getattr(x, "token", None)


def is_none(x: Any) -> bool:
    """Whether a value is None on all paths on which there is one."""
    return x is None or (isinstance(x, MaybeObject) and x.value is None)


def is_option(tracer: Tracer, x: Any) -> bool:
    """Whether a value can be one of several Python objects, between which an index decides."""
    if isinstance(x, OneOf):
        return True
    if type_of(x) is not None or split(x)[1] is not None or is_container(x):
        return False
    if isinstance(x, (Undefined, Lazy, StagedText, StagedDict, frozenset, bytes)):
        return False
    return id(x) not in tracer.made  # what is made in a branch holds tensors of that branch


def _one_of(options: Options, new: Any, p: Node | None = None) -> Node:
    """The pattern of one of these objects, or of a new one; `p` is the one that there is."""
    found = options.joined(values_of(new))
    return p if p is not None and found is options else Node(OneOf, (found,), (Var(LeafType("int64", (), True)),))


def _require_tensor_or_none(t: LeafType, name: str) -> None:
    """StructureError for a value that may be None, a number, and a tensor with dims."""
    if t.mixed and t.shape:
        raise StructureError(f"{said(name)} is None on one path, and {t} on others", hint="start with a tensor: paddle.zeros(...)")


def said(name: str) -> str:
    """A variable as an error calls it; that of a lowered `return` is the transpiler's own."""
    return "the result" if name.startswith("retval_") else repr(name)


def _shown(x: Any) -> str:
    if isinstance(x, OneOf):
        return f"one of {', '.join(f'{v!r:.20}' for v in values_of(x))}"
    _, children = split(x)
    return describe(x) if children is None else f"{type(x).__name__} of {len(children)}"


def steps(p: Node) -> list[str]:
    """How Python writes the way to each child."""
    if p.kind in (MaybeAttribute, MaybeNone, MaybeNumber, MaybeObject, MaybeValue, OneOf):
        return [""] * len(p.children)
    if issubclass(p.kind, dict):
        return [f"[{k!r}]" for k in p.keys]
    return [f".{k}" for k in p.keys] if p.keys else [f"[{i}]" for i in range(len(p.children))]


def in_order(p: Node, value: Any) -> list[Any]:
    """The children of a value in the order of the pattern."""
    if p.kind is MaybeAttribute and (not isinstance(value, Undefined) or isinstance(value, NoAttribute)):
        return list(halves(value))
    if isinstance(value, Undefined):
        return [value] * len(p.children)
    if p.kind in (MaybeNone, MaybeValue) and not isinstance(value, p.kind):
        if isinstance(value, MaybeObject):
            return [Undefined("None"), value.token]
        return [Undefined("None"), True] if value is None else [value, False]
    if p.kind is OneOf:
        return [Position(p.keys[0], value)]
    if p.kind is MaybeNumber and node_type(value) is not MaybeNumber:
        return [value, not isinstance(value, Tensor) or value._weak]
    if p.kind is MaybeObject and not isinstance(value, MaybeObject):
        return [value, True]
    if p.kind is RecordList and isinstance(value, list):
        return columns_of(p.keys[0], value)
    keys, children = split(value)
    assert children is not None
    if keys == p.keys:
        return list(children)
    by_key = dict(zip(keys, children, strict=True))
    return [by_key[k] for k in p.keys]


def variables(p: Pattern) -> Iterator[Var]:
    """The varying leaves in order."""
    if isinstance(p, Var):
        yield p
    elif isinstance(p, Node):
        for child in p.children:
            yield from variables(child)


def extract(p: Pattern, value: Any) -> Iterator[Any]:
    """What a value has at the varying leaves."""
    if isinstance(p, Var):
        yield value
    elif isinstance(p, Node):
        for child, one in zip(p.children, in_order(p, value), strict=True):
            yield from extract(child, one)


def instantiate(p: Pattern, make: Callable[[Var], Any]) -> Any:
    """The value that a pattern stands for, given what stands at the varying leaves."""
    if isinstance(p, Const):
        return p.value
    if isinstance(p, Var):
        return make(p)
    return build(p.kind, p.keys, [instantiate(c, make) for c in p.children])


def replaced(p: Pattern, items: list, staged: StagedList) -> Pattern:
    """The pattern with `staged` in the place of `items`."""
    if isinstance(p, Const):
        new = substituted(p.value, items, staged)
        return p if new is p.value else Const(new)
    return Node(p.kind, p.keys, tuple(replaced(c, items, staged) for c in p.children)) if isinstance(p, Node) else p


def wrap(tracer: Tracer, p: Var, v: Variable) -> Any:
    """The tensor (or list) of a variable that stands for a leaf."""
    if p.why:
        tracer.absent[v.name] = p.why
    if p.type.kind == "array":
        tracer.entry_kinds[v.name] = p.type.all_kinds
        return StagedList.wrap(v)
    t = Tensor.wrap(v, v.stop_gradient)
    t._weak, t._kinds = p.type.weak, p.type.kinds
    return t


def coerce(tracer: Tracer, x: Any, p: Var, name: str) -> Variable:
    """The variable of a value in the type of its leaf, made in the current block."""
    t = p.type
    if isinstance(x, Position):
        x = x.index()
    if isinstance(x, Undefined):
        array = "array" if t.kind == "array" else ""
        out = tracer.builder().op("absent", dtype=t.dtype, shape=list(t.shape), array=array)
        out.stop_gradient = True
        return out
    if t.kind == "array":
        staged = x
        if isinstance(x, list):
            staged = StagedList.of([stored(tracer, one, t.dtype, t.shape) for one in x], t.dtype, t.shape)
        return tracer.visible(staged._value)
    if not isinstance(x, Tensor):
        one = (1,) * len(t.shape)  # a number, where a tensor is on another path
        return tracer.lift(dispatch.constant(np.asarray(x, t.dtype).reshape(one)))
    x = cast(x, t.dtype)
    if x.ndim < len(t.shape):
        x = ops.op("reshape2", X=x, shape=[1] * len(t.shape))
    return tracer.carry(x)


def place(location: Location | None) -> str:
    """A location in a sentence."""
    return f" at {location}" if location else ""
