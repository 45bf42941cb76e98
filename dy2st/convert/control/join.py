"""Patterns: what is fixed and what varies in a value that has to hold on several paths.

`fit` widens a pattern until it admits one more value. For a branch the values are those of its two sides; for a loop, the initial
value and what the body makes of it, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Variable

from ...errors import Dy2stError, Location, StructureError
from ...tensor import Tensor
from ...tensor.kinds import is_number
from ...tensor.location import user_location
from .. import hub, roles
from ..alias.alternatives import contents_of
from ..guards.places import members_of
from ..pyfacts.undefined import Dead, NoAttribute, Undefined, Unread
from ..regions.phi_leaves import CODE, CODES, FLAG, Const, Node, Pattern, Var, in_order, steps, variables
from ..values.containers import is_container
from ..values.dynamic_list import DynamicList
from ..values.join_types import created_at, cure, describe, listed, same
from ..values.kind_codes import MaybeNumbers, known
from ..values.lazy_iterables import Lazy
from ..values.leaf_types import LeafType, array_of, element_type, join, type_of
from ..values.maybe_attribute import MaybeAttribute, halves
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeObject, MaybeValue
from ..values.one_of import OneOf, Options, values_of
from ..values.path_conditions import none_flag
from ..values.record_layout import columns_of, is_dense
from ..values.record_list import RecordList, kind_of_lists
from ..values.staged_dict import StagedDict, StagedView
from ..values.staged_list import StagedList
from ..values.symbolic_texts import StagedText
from ..values.trees import MaybeNumber, flatten, node_type, split

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.BOOKKEEPING


@dataclass(frozen=True)
class Fitter:
    """Widens patterns.

    Args:
        why: says why a variable may have no value ("the loop at ... may not run").
        sides: what the two paths are called in errors.
        outside: the ids of the containers that are there before the paths part.
    """

    tracer: Tracer
    why: str
    sides: tuple[str, str] = ("one path", "the other")
    outside: Collection[int] = ()

    def fit(self, p: Pattern, before: Any, new: Any, name: str) -> Pattern:
        """The pattern, widened to admit `new`; `before` is the value that the pattern stands for now.

        Raises:
            DTypeError, ShapeError, StructureError: there is no such pattern; the message names the variable.
        """
        if same(before, new) and (isinstance(p, Const) or not isinstance(new, DynamicList)):
            return p  # a list may have got entries of other kinds
        if isinstance(new, Dead):
            return self.alone(before) if isinstance(p, Const) else p
        if isinstance(before, Dead) and isinstance(p, Const):
            return self.alone(new)
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
        v = value._value if isinstance(value, (Tensor, StagedList)) else None
        if t is not None and node_type(value) not in (MaybeNone, MaybeNumber):
            inside = isinstance(v, Variable) and not self.tracer.can_read(v)
            return _with_codes(Var(t, self._reason(value)), value) if inside else Const(value)
        keys, children = split(value)
        if children is None:
            return Const(value)
        parts = tuple(map(self.alone, children))
        if all(isinstance(p, Const) for p in parts):
            return Const(value)
        # of what may be None, or a number, the flag and the value are leaves, even if one of them is known outside
        return self._flagged(value, t, "") if t is not None else Node(node_type(value), keys, parts)

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
                one, other = (x.bare() if isinstance(x, MaybeNone) else x for x in (old, new))
                return Node(MaybeNone, (), (self._number_or_tensor(a, b, one, other, name), self._flag(old, new)))
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
        return Node(MaybeNone, (), (self._flagged(bare, t, f"{said(name)} is None there"), flag))

    def _flagged(self, value: Any, t: LeafType, absent: str) -> Var | Node:
        """The pattern of a tensor or number, with the flags that say which of the two it is, and whether it is None.

        Args:
            absent: why it may have no value, if nothing else says so.
        """
        if isinstance(value, MaybeNone):
            return Node(MaybeNone, (), (self._flagged(value.bare(), t, absent or "it is None there"), self._flag(value)))
        leaf = Var(t, self._reason(value) or absent)
        return _with_flag(leaf, value) if node_type(value) is MaybeNumber else leaf

    def _flag(self, *values: Any) -> Var:
        """The leaf that says of values whether they are None; it has no value where they have none."""
        tokens = [_token(x) for x in values]
        return Var(FLAG, self._reason(*tokens))

    def _partly(self, value: Any, nothing: Undefined) -> Pattern:
        """The pattern of a value that is there on one path only: a tensor says so itself, anything else has a flag beside it."""
        p = self._there(value.value if isinstance(value, MaybeObject) else value, self.outside)
        if isinstance(nothing, Unread) or isinstance(p, Var) or (isinstance(p, Node) and p.kind in (MaybeNone, MaybeNumber, MaybeNumbers)):
            return p
        return Node(MaybeObject, (), (p, Var(FLAG, self.why)))

    def _there(self, value: Any, kept: Collection[int] = ()) -> Pattern:
        """The pattern of what is there on one path only; `kept`: the ids of containers that stay themselves, whatever becomes of them."""
        if id(contents_of(value)) in kept:
            return Const(value)
        if isinstance(value, StagedDict) and id(value.has) not in kept:
            raise StructureError(f"{describe(value)} is made on one path only ({self.why})",
                                 hint="make it before, or give it all of its keys where it is made")  # fmt: skip
        t = type_of(value)
        if t is not None and node_type(value) not in (MaybeNone, MaybeNumber):
            return _with_codes(Var(t, self.why), value)
        keys, children = split(value)
        return Const(value) if children is None else Node(node_type(value), keys, tuple([self._there(x, kept) for x in children]))

    def _number_or_tensor(self, a: LeafType, b: LeafType, old: Any, new: Any, name: str) -> Var | Node:
        """The pattern of two leaves, with a flag where one is a Python number and the other is a tensor."""
        if "array" in (a.kind, b.kind):
            return _with_codes(self._leaf(a, b, old, new, name), old, new)
        if any(isinstance(x, Tensor) and is_number(x) is None for x in (old, new)):
            return self._leaf(a, b, old, new, name)
        leaf = self._leaf(a, b, old, new, name, ranked=True)
        return _with_flag(leaf, old, new) if leaf.type.mixed else leaf

    def _leaf(self, a: LeafType, b: LeafType, old: Any, new: Any, name: str, *, ranked: bool = False) -> Var:
        try:
            joined = join(a, b, f"{said(name)}", place(user_location()), ranked=ranked)
        except Dy2stError as error:
            places = [f"{side} at {at}" for side, x in zip(self.sides, (old, new), strict=True) if (at := created_at(x))]
            error.message += f"; set on {' and on '.join(places)}" if places else ""
            error.args = (error.message,)
            raise
        return Var(joined, self._reason(old, new))

    def _var(self, p: Var, new: Any, name: str) -> Pattern:
        if isinstance(new, Undefined):
            return replace(p, why=p.why or self.why)
        if is_none(new) or isinstance(new, MaybeNone):
            p = replace(p, why=p.why or f"{said(name)} is None there")
            return Node(MaybeNone, (), (p if is_none(new) else self._var(p, new.bare(), name), self._flag(new)))
        t = type_of(new)
        if t is None and type(new) is list and p.type.kind == "array":
            t = array_of(element_type(new, said(name))) if new else p.type
        if t is None:
            raise StructureError(f"{said(name)} is {p.type} on {self.sides[0]} and {describe(new)} on {self.sides[1]}")
        if p.type.mixed:
            found: Var | Node = self._leaf(p.type, t, None, new, name)
        elif t.kind == "array":
            found = self._leaf(p.type, t, None, new, name)
            found = found if len(p.type.all_kinds) > 1 else _with_codes(found, new)
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
            assert isinstance(flag, Var)
            flag = replace(flag, why=flag.why or self._flag(new).why)
            bare = new.bare() if isinstance(new, MaybeNone) else new
            if not is_none(new):
                inner = self._var(inner, bare, name) if isinstance(inner, Var) else self._maybe_number(inner, bare, name)  # type: ignore[arg-type]
            return Node(MaybeNone, (), (inner, flag))
        if p.kind is MaybeNumber:
            return self._maybe_number(p, new, name)
        if p.kind is MaybeNumbers and isinstance(new, (list, StagedList)):
            leaf = self._var(next(variables(p)), new, name)
            return _with_codes(leaf, new) if isinstance(leaf, Var) else leaf
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
        olds = split(before)[1] or ()  # an object may have got an attribute since
        alike = children is not None and node_type(new) is p.kind and set(keys) == set(p.keys)
        if alike and keys != p.keys:
            what = "keys" if issubclass(p.kind, dict) else "attributes"
            raise StructureError(
                f"{said(name)} has its {what} in the order {listed(p.keys)} on {self.sides[0]} and {listed(keys)} on {self.sides[1]}",
                hint=f"give it its {what} in one order on all paths, or make it before the condition and change it on each path",
            )
        alike = alike and all(type(key) is type(other) for key, other in zip(keys, p.keys, strict=True))  # 1 is not True
        if not alike or not len(children or ()) == len(p.children) == len(olds):
            raise self._mismatch(before, new, name)
        fitted = [
            self.fit(child, old, one, f"{name}{step}")
            for child, old, one, step in zip(p.children, olds, in_order(p, new), steps(p), strict=True)
        ]
        return Node(p.kind, p.keys, tuple(fitted))

    def _maybe_number(self, p: Node, new: Any, name: str) -> Pattern:
        leaf, _ = variables(p)
        t = type_of(new)
        if t is None or isinstance(new, MaybeNone):
            if is_none(new) or isinstance(new, MaybeNone):
                _require_tensor_or_none(leaf.type, name)
                p = _with_flag(replace(leaf, why=leaf.why or f"{said(name)} is None there"), p=p)
                return Node(MaybeNone, (), (p if is_none(new) else self._maybe_number(p, new.bare(), name), self._flag(new)))
            raise StructureError(f"{said(name)} is {leaf.type} on {self.sides[0]} and {describe(new)} on {self.sides[1]}")
        found = self._leaf(leaf.type, t, None, new, name, ranked=True)
        found = replace(found, why=leaf.why or found.why)
        if isinstance(new, Tensor) and is_number(new) is None:
            return found
        return _with_flag(found, new, p=p)

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
        columns = [x.columns if isinstance(x, RecordList) else columns_of(layout, x) for x in lists]
        children = [_with_codes(Var(array_of(t, kinds), self._reason(*parts)), *parts)
                    for (t, kinds), *parts in zip(types, *columns, strict=True)]  # fmt: skip
        return Node(RecordList, (layout,), tuple(children))

    def _array(self, lists: Sequence[list], staged: Sequence[StagedList], name: str) -> Var | Node:
        """The pattern of lists of tensors and numbers."""
        t: LeafType | None = None
        for s in staged:
            u = type_of(s)
            assert u is not None
            t = u if t is None else join(t, u, f"{said(name)}")
        for x in lists:
            if x:
                u = array_of(element_type(x, said(name)))
                t = u if t is None else join(t, u, f"an element of {said(name)}")
        assert t is not None
        return _with_codes(Var(t, self._reason(*staged)), *lists, *staged)

    def _reason(self, *values: Any) -> str:
        """Why one of several values may not be there; "" if all are."""
        made = [x._value for x in values if isinstance(x, (Tensor, StagedList))]
        return next((why for v in made if isinstance(v, Variable) and (why := self.tracer.why_absent(v))), "")

    def _mismatch(self, old: Any, new: Any, name: str) -> StructureError:
        return StructureError(
            f"{said(name)} is {_shown(old)} on {self.sides[0]} and {_shown(new)} on {self.sides[1]}",
            hint=cure((old, new), "make it the same kind of value on all paths; what depends on a tensor can only be a tensor, a number, "
                                  "or lists, tuples and dicts of these"),
        )


def _with_flag(leaf: Var, *values: Any, p: Node | None = None) -> Node:
    """The pattern of these values, which are numbers and tensors, with what says which of the two it is; `p` is that of others."""
    coded = _classes(leaf) > 1 and all(map(known, values))
    if coded and p is not None:
        other, told = variables(p)
        coded = told.type == CODE or _classes(other) == 1
    return Node(MaybeNumber, (), (leaf, Var(CODE if coded else FLAG, leaf.why)))


def _classes(leaf: Var) -> int:
    """How many classes of numbers a leaf may be of."""
    return 0 if leaf.type.kinds is None else leaf.type.kinds.classes


def _with_codes(leaf: Var, *lists: Any) -> Var | Node:
    """The pattern of these lists, with what says which of the entries are numbers, if that is needed and known."""
    if leaf.type.kind != "array" or len(leaf.type.all_kinds) < 2 or not all(map(known, lists)):
        return leaf
    return Node(MaybeNumbers, (), (leaf, Var(CODES, leaf.why)))


def _token(x: Any) -> Any:
    """What says of a value whether it is None, or has a value; None if it is surely there."""
    if isinstance(x, MaybeObject):
        return x.token
    return none_flag(x) if isinstance(x, (MaybeNone, MaybeValue)) else None


def is_none(x: Any) -> bool:
    """Whether a value is None on all paths on which there is one."""
    return x is None or (isinstance(x, MaybeObject) and x.value is None)


@hub.primitive
def is_option(tracer: Tracer, x: Any) -> bool:
    """Whether a value can be one of several Python objects, between which an index decides."""
    if isinstance(x, OneOf):
        return True
    if type_of(x) is not None or split(x)[1] is not None or is_container(x):
        return False
    if isinstance(x, (Undefined, Lazy, StagedText, StagedDict, StagedView, frozenset, bytes)):
        return False
    if isinstance(x, tuple):
        held = (v._value for v in flatten([*tuple.__iter__(x), *members_of(x).values()])[0] if isinstance(v, (Tensor, StagedList)))
        return all(not isinstance(v, Variable) or tracer.can_read(v) for v in held)
    return id(x) not in tracer.created  # what is made in a branch holds tensors of that branch


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
        return f"one of {listed(values_of(x))}"
    _, children = split(x)
    return describe(x) if children is None else f"{type(x).__name__} of {len(children)}"


def place(location: Location | None) -> str:
    """A location in a sentence."""
    return f" at {location}" if location else ""
