"""Patterns as data: what is fixed and what varies in a value, and the values at the leaves that vary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dy2st_runtime.ir import Variable

from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.kinds import with_number
from ...tensor.promotion import cast
from .. import roles
from ..pyfacts.safe_repr import shown
from ..pyfacts.tensor_attributes import require_bare
from ..pyfacts.undefined import NoAttribute, Undefined
from ..values.kind_codes import Codes, MaybeNumbers
from ..values.leaf_types import LeafType, array_of
from ..values.maybe_attribute import MaybeAttribute, halves
from ..values.maybe_none import MaybeNone
from ..values.maybe_value import MaybeObject, MaybeValue
from ..values.one_of import OneOf, Position
from ..values.record_layout import columns_of, stored
from ..values.record_list import RecordList
from ..values.staged_list import StagedList
from ..values.trees import MaybeNumber, build, node_type, split
from .list_promotion import substituted

if TYPE_CHECKING:
    from ..trace.tracer import Tracer

ROLE = roles.BOOKKEEPING


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

FLAG, CODE = LeafType("bool", ()), LeafType("int64", ())
CODES = array_of(CODE)


def steps(p: Node) -> list[str]:
    """How Python writes the way to each child."""
    if p.kind in (MaybeAttribute, MaybeNone, MaybeNumber, MaybeNumbers, MaybeObject, MaybeValue, OneOf):
        return [""] * len(p.children)
    if issubclass(p.kind, dict):
        return [f"[{shown(k)}]" for k in p.keys]
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
    if p.kind is MaybeNumber and any(flag.type == CODE for flag in variables(p.children[1])):
        return [with_number(value, None) if node_type(value) is MaybeNumber else value, Codes(value)]
    if p.kind is MaybeNumber:
        known_number = node_type(value) is MaybeNumber
        return [with_number(value, None), value._kinds.number] if known_number else [value, not isinstance(value, Tensor) or value._weak]
    if p.kind is MaybeNumbers:
        return [value, Codes(value)]
    if p.kind is MaybeObject and not isinstance(value, MaybeObject):
        return [value, True]
    if p.kind is RecordList and isinstance(value, list):
        return columns_of(p.keys[0], value)
    if p.kind is RecordList and isinstance(value, RecordList):
        return list(value.columns)  # those of a layout that admits less are the same
    keys, children = split(value)
    assert children is not None
    assert keys == p.keys, (keys, p.keys)
    return list(children)


def has_structure(p: Pattern, value: Any) -> bool:
    """Whether a value has the children of a pattern, at each level: a list may be one of dynamic length by now."""
    if not isinstance(p, Node) or isinstance(value, Undefined) or p.kind in (MaybeNumber, MaybeNumbers, OneOf):
        return True
    if p.kind is RecordList:
        return isinstance(value, (RecordList, list))
    if p.kind not in (MaybeAttribute, MaybeNone, MaybeObject, MaybeValue):  # which the bare value is one of, too
        keys, children = split(value)
        if node_type(value) is not p.kind or children is None or len(children) != len(p.children) or keys != p.keys:
            return False
    return all(map(has_structure, p.children, in_order(p, value)))


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
    if isinstance(x, Codes):
        return tracer.visible(x.variable())
    if t.kind == "array":
        staged = x
        if isinstance(x, list):
            staged = StagedList.of([stored(tracer, one, t.dtype, t.shape) for one in x], t.dtype, t.shape)
        return tracer.visible(staged.converted(t.dtype)._value)
    if not isinstance(x, Tensor):
        one = (1,) * len(t.shape)  # a number, where a tensor is on another path
        number = dispatch.as_array(x, t.dtype, "an int that only the run knows has 64 bits: use a float, or decide with a Python value")
        return tracer.lift(dispatch.constant(number.reshape(one)))
    require_bare(x)
    x = cast(x, t.dtype)
    if x.ndim < len(t.shape):
        x = ops.op("reshape2", X=x, shape=[1] * len(t.shape))
    return tracer.carry(x)
