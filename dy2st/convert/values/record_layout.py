"""How an entry of a list of dynamic length is put together of the entries of columns, one `StagedList` for each part that varies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Dy2stError, StructureError
from ...tensor import Tensor, dispatch
from ...tensor.kinds import Kind
from ...tensor.location import user_location
from ...tensor.promotion import cast
from .. import hub, roles
from . import trees as structure
from .dynamic_list import DynamicList
from .join_types import cure, describe
from .kind_codes import MaybeNumbers, decoded, known
from .leaf_types import LeafType, element_type, join, stackable, type_of
from .maybe_none import MaybeNone
from .maybe_value import MaybeValue
from .one_of import OneOf, Options, looked_up, values_of
from .staged_list import StagedList, coded, kinds_of_entry

if TYPE_CHECKING:
    from ..trace.tracer import Tracer
    from .leaf_types import LeafType

ROLE = roles.BOOKKEEPING


@dataclass(frozen=True)
class Dense:
    """A tensor or a number."""


@dataclass(frozen=True)
class Inner:
    """A list of tensors or numbers, of a length of its own: the column has them stacked. `kinds` is what they are."""

    kinds: frozenset[Kind]


@dataclass(frozen=True)
class Choice:
    """One of several objects of Python's, by their places in `Tracer.objects`: the column has the place."""

    places: tuple[int, ...]


@dataclass(frozen=True)
class Parts:
    """A tuple, dict or dataclass, or a list of a fixed length."""

    kind: type
    keys: tuple[Any, ...]
    children: tuple[Layout, ...]


Layout = Dense | Inner | Choice | Parts

# beside lists in entries that hold tensors and numbers: which are what
_CODES = Inner(frozenset((Kind("int64", False),)))


def holds_objects(layout: Layout) -> bool:
    """Whether there is something in an entry, or it is something, that is made anew where the entry is put together, and can be changed."""
    if isinstance(layout, Parts):
        return not issubclass(layout.kind, tuple) or any(map(holds_objects, layout.children))
    return isinstance(layout, Inner)


# ---- which layout values have ----
def layout_of(tracer: Tracer, values: Sequence[Any], what: str, *, part: bool = False) -> Layout:
    """The layout that all these values have.

    Args:
        part: they are parts of entries, which may be empty: other columns say how many there are.

    Raises:
        StructureError: there is none.
    """
    if all(map(is_dense, values)):
        return Dense()
    if any(isinstance(x, MaybeNone) or x is None for x in values) and any(map(is_dense, values)):
        raise StructureError(
            f"no entry of {what} can be None where others are tensors or numbers, as only the run knows its length or order",
            location=user_location(2), hint="keep a number that says so instead of None (-1, nan)",
        )  # fmt: skip
    if any(isinstance(x, MaybeValue) for x in values):
        raise _differ(values, what)  # where it is None there is nothing to put into the columns
    if _can_be_stacked(values):
        inner = Inner(frozenset().union(*map(_kinds_within, values)))
        return Parts(MaybeNumbers, (), (inner, _CODES)) if len(inner.kinds) > 1 and all(map(known, values)) else inner
    first = _parts(values[0])
    if first is None:
        if not all(_is_object(tracer, x) for x in values):
            raise _differ(values, what)
        return Choice(_places(tracer, values))
    rows = []
    for x in values:
        children = _children(x, structure.node_type(values[0]), first[0], len(first[1]))
        if children is None:
            raise _differ(values, what)
        rows.append(children)
    children = tuple(layout_of(tracer, column, what, part=True) for column in zip(*rows, strict=True))
    new = Parts(structure.node_type(values[0]), first[0], children)
    if not part and not leaves(new):
        raise StructureError(
            f"only the run knows the length of {what}, and there is nothing in its entries (empty lists, tuples or dicts)",
            location=user_location(2), hint="count the entries instead, or begin with one that holds something",
        )  # fmt: skip
    return new


def admitting(tracer: Tracer, layout: Layout, entry: Any, what: str) -> Layout:
    """The layout, widened for one more entry; the same object if it has been wide enough.

    Raises:
        StructureError: the entry is of another structure.
    """
    if isinstance(layout, Parts) and layout.kind is MaybeNumbers:
        if _is_list(entry) and known(entry):
            new = admitting(tracer, layout.children[0], entry, what)
            return layout if new is layout.children[0] else replace(layout, children=(new, _CODES))
    elif isinstance(layout, Parts):
        children = _children(entry, layout.kind, layout.keys, len(layout.children))
        if children is not None:
            parts = tuple(admitting(tracer, child, x, what) for child, x in zip(layout.children, children, strict=True))
            return layout if all(a is b for a, b in zip(parts, layout.children, strict=True)) else replace(layout, children=parts)
    elif isinstance(layout, Dense) and is_dense(entry):
        return layout
    elif isinstance(layout, Inner) and ((type(entry) is list and not entry) or _can_be_stacked([entry])):
        return joined(layout, Inner(_kinds_within(entry)), what)
    elif isinstance(layout, Choice) and _is_object(tracer, entry):
        return joined(layout, Choice(_places(tracer, [entry])), what)
    tuples = isinstance(layout, Parts) and layout.kind is tuple and type(entry) is tuple
    otherwise = ", or make the tuples lists, ids + [k], which may differ in length" if tuples else ""
    raise StructureError(
        f"an entry of {what}, whose length only the run knows, is {describe(entry)} where others are {_named(layout)}",
        location=user_location(3), hint=f"give all entries the same structure{otherwise}",
    )  # fmt: skip


def joined(a: Layout, b: Layout, what: str) -> Layout:
    """The layout of the entries of two lists; `a` itself if it is that.

    Raises:
        StructureError: there is none.
    """
    if a == b:
        return a
    if isinstance(a, Inner) and isinstance(b, Inner):
        return a if b.kinds <= a.kinds else Inner(a.kinds | b.kinds)
    if isinstance(a, Choice) and isinstance(b, Choice):
        new = tuple(p for p in b.places if p not in a.places)
        return Choice(a.places + new) if new else a
    if isinstance(a, Parts) and isinstance(b, Parts) and a.kind is b.kind and a.keys == b.keys and len(a.children) == len(b.children):
        children = tuple(joined(x, y, what) for x, y in zip(a.children, b.children, strict=True))
        return a if all(x is y for x, y in zip(a.children, children, strict=True)) else replace(a, children=children)
    raise StructureError(f"the entries of {what} differ: one is {_named(a)}, another {_named(b)}", location=user_location(2),
                         hint="give all entries the same structure")  # fmt: skip


def is_dense(x: Any) -> bool:
    """Whether a value is a tensor or a number."""
    return stackable(x) and not isinstance(x, MaybeNone)


def _is_list(x: Any) -> bool:
    """Whether a value is a list; one of a class of the user's is more than its entries."""
    return type(x) is list or isinstance(x, StagedList)


def _can_be_stacked(lists: Sequence[Any]) -> bool:
    """Whether all are lists of tensors or numbers of one type and shape, of which not all are surely empty."""
    if not all(map(_is_list, lists)) or not any(isinstance(x, StagedList) or x for x in lists):
        return False
    for items in lists:
        if isinstance(items, list) and (not all(map(is_dense, items)) or len({getattr(type_of(x), "shape", ()) for x in items}) > 1):
            return False
    try:
        _inner_type(lists, "")
    except Dy2stError:
        return False
    return True


def _is_object(tracer: Tracer, x: Any) -> bool:
    return hub.is_option(tracer, x)


def _places(tracer: Tracer, values: Sequence[Any]) -> tuple[int, ...]:
    """The places of all that these objects may be."""
    found = [v for x in values for v in values_of(x)]
    tracer.objects = tracer.objects.joined(found)
    return tuple(dict.fromkeys(_place(tracer, v) for v in found))


def _place(tracer: Tracer, value: Any) -> int:
    place = tracer.objects.place(value)
    assert place is not None
    return place


def _kinds_within(items: Any) -> frozenset[Kind]:
    return items.kinds if isinstance(items, StagedList) else frozenset().union(*map(kinds_of_entry, items))


def _parts(x: Any) -> tuple[tuple[Any, ...], Sequence[Any]] | None:
    """The keys and the children of a value that is put together of others; None for one that is not."""
    keys, children = structure.split(x)
    return None if children is None or isinstance(x, (MaybeNone, OneOf)) else (keys, children)


def _children(x: Any, kind: type, keys: tuple[Any, ...], count: int) -> Sequence[Any] | None:
    """The children of a value that has these keys, in this order; None if it is no such value."""
    if kind is MaybeNumbers:
        return [x, coded(x)]
    found = _parts(x)
    same = found is not None and structure.node_type(x) is kind and len(found[1]) == count and found[0] == keys
    return found[1] if same else None  # type: ignore[index]


def _differ(values: Sequence[Any], what: str) -> StructureError:
    if any(isinstance(x, (MaybeNone, MaybeValue)) for x in values):
        said = "one may be None"
        hint = "put it in where it is not None, or what is computed of it there"
    else:
        one = describe(values[0])
        others = [x for x in values if _sort(x) != _sort(values[0])] or [x for x in values if describe(x) != one]
        said = f"one is {one}, another {describe(others[0])}" if others else f"{one} cannot be one"
        hint = cure(values, "give all entries the same parts, and their lists tensors or numbers of one dtype and shape")
    return StructureError(
        f"all entries of {what} must be of one structure, as only the run knows its length or order: {said}", location=user_location(2),
        hint=hint,
    )  # fmt: skip


def _sort(x: Any) -> Any:
    """What a value has in common with those that may be in a list with it."""
    return "dense" if is_dense(x) else structure.node_type(x)


def _named(layout: Layout) -> str:
    if isinstance(layout, Parts) and layout.kind is MaybeNumbers:
        return _named(layout.children[0])
    if isinstance(layout, Parts):
        keys = f" ({hub.listed(layout.keys)})" if layout.keys else ""
        return f"a {layout.kind.__name__} of {len(layout.children)}{keys}"
    return {Dense: "tensors or numbers", Inner: "lists of tensors or numbers", Choice: "objects"}[type(layout)]


# ---- between entries and columns ----
def decomposed(layout: Layout, entry: Any) -> Iterator[Any]:
    """What an entry has at the leaves of a layout that admits it."""
    if not isinstance(layout, Parts):
        yield entry
        return
    children = _children(entry, layout.kind, layout.keys, len(layout.children))
    assert children is not None
    for child, x in zip(layout.children, children, strict=True):
        yield from decomposed(child, x)


def columns_of(layout: Layout, items: Sequence[Any]) -> list[list[Any]]:
    """What these entries have at the leaves, for each leaf."""
    rows = [list(decomposed(layout, x)) for x in items]
    return [[row[i] for row in rows] for i in range(len(leaves(layout)))]


def leaves(layout: Layout) -> list[Layout]:
    """The leaves, for each of which there is a column."""
    return [leaf for child in layout.children for leaf in leaves(child)] if isinstance(layout, Parts) else [layout]


def untold(layout: Layout) -> frozenset[Kind] | None:
    """The kinds of the entries of lists in entries, of which it is not known which are what; None if there are no such."""
    if isinstance(layout, Parts):
        found = [] if layout.kind is MaybeNumbers else map(untold, layout.children)
        return next((kinds for kinds in found if kinds is not None), None)
    return layout.kinds if isinstance(layout, Inner) and len(layout.kinds) > 1 else None


def column_types(layout: Layout, values: Sequence[Any], what: str) -> list[LeafType | None]:
    """The types of the entries of the columns of a list that gets these values; None where all are lists that are surely empty."""
    if isinstance(layout, Choice):
        return [LeafType("int64", ())]
    if isinstance(layout, Dense):
        return [element_type(values, what)]
    if isinstance(layout, Inner):
        t = _inner_type(values, what)
        return [None if t is None else LeafType(t.dtype, (-1, *t.shape))]
    if layout.kind is MaybeNumbers:  # the codes of what comes later are made where that is
        return [*column_types(layout.children[0], values, what), LeafType("int64", (-1,))]
    rows = [_children(x, layout.kind, layout.keys, len(layout.children)) for x in values]
    columns = zip(*rows, strict=True)  # type: ignore[arg-type]
    return [t for child, column in zip(layout.children, columns, strict=True) for t in column_types(child, column, what)]


def _inner_type(lists: Sequence[Any], what: str) -> LeafType | None:
    """The type of the entries of lists of tensors or numbers; None if all are surely empty."""
    known = [x for items in lists if isinstance(items, list) for x in items]
    found = element_type(known, what) if known else None
    for items in lists:
        if isinstance(items, StagedList):
            weak = bool(items.kinds) and all(k.weak for k in items.kinds)
            t = LeafType(items.dtype, items.element_shape, weak)
            found = t if found is None else join(found, t, f"an entry of {what}")
    return found


def stored(tracer: Tracer, x: Any, dtype: str, shape: Sequence[int]) -> Any:
    """A value at a leaf as an entry of a column of entries of this dtype and shape."""
    if isinstance(x, (list, StagedList)):
        return stacked(tracer, x, dtype, shape[1:])
    if isinstance(x, OneOf):
        return Tensor.wrap(looked_up([_place(tracer, v) for v in values_of(x)], x._dy_index)._value, True)
    if is_dense(x) or isinstance(x, MaybeNone):  # which no column takes, and says so
        return x
    return dispatch.constant(np.asarray(_place(tracer, x), np.int64))


@hub.primitive
def stacked(tracer: Tracer, items: Any, dtype: str, shape: Sequence[int]) -> Tensor:
    """A list of tensors or numbers as one tensor, with the entries along its first axis."""
    nothing = np.zeros((0, *(max(d, 0) for d in shape)), dtype)
    if isinstance(items, list):
        if not items:
            return dispatch.constant(nothing)
        items = StagedList.of(items, dtype, shape)
        stack = items.stack()
    else:
        stack = hub.if_expr(items.length() > 0, lambda: cast(items.stack(), dtype), lambda: dispatch.constant(nothing))
    tracer.aliases.stacked(stack, items)
    return stack


def put_together(tracer: Tracer, layout: Layout, take: Callable[[], Any]) -> Any:
    """The entry of a layout; `take` gives what the columns have, one after the other."""
    if isinstance(layout, Parts):
        return structure.build(layout.kind, layout.keys, [put_together(tracer, child, take) for child in layout.children])
    found = take()
    if isinstance(layout, Inner):
        items = StagedList.of_array(dispatch.ops.op("tensor_to_array", X=found, axis=0), layout.kinds)
        tracer.aliases.opened(items, found)
        return items
    return _object(tracer, found, layout.places) if isinstance(layout, Choice) else found


def _object(tracer: Tracer, place: Tensor, places: Sequence[int]) -> Any:
    values = [tracer.objects.values[p] for p in places]
    if len(values) == 1:
        return values[0]
    table = [0] * (max(places) + 1)
    for i, p in enumerate(places):
        table[p] = i
    return OneOf(looked_up(table, place), Options(values))


def entries(layout: Layout, columns: Sequence[Sequence[Any]], objects: Sequence[Any]) -> list[Any]:
    """The entries of a list that a run has computed, of those of its columns."""
    def made(layout: Layout, take: Iterator[Any]) -> Any:
        if isinstance(layout, Parts):
            children = [made(child, take) for child in layout.children]
            if issubclass(layout.kind, DynamicList):
                return entries(layout.keys[0], children, objects)
            if layout.kind is MaybeNumbers:
                return decoded(*children)
            return structure.build(layout.kind, layout.keys, children)
        found = next(take)
        if isinstance(layout, Choice):
            return objects[int(found)]
        if isinstance(layout, Inner):
            return found.tolist() if all(k.weak for k in layout.kinds) else list(found)
        return found

    return [made(layout, iter(row)) for row in zip(*columns, strict=True)]
