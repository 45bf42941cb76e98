"""`RecordList`: a list of dynamic length whose entries are tuples, dicts, objects, lists or texts: a column for each part that varies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import StagedValueError, StructureError
from ...framework.dtype import get_default_dtype
from ...tensor import Tensor, dispatch
from ...tensor.dispatch import ops
from ...tensor.failures import raise_if
from ...tensor.kinds import Kind
from ...tensor.location import user_location
from ...tensor.promotion import cast
from ...tensor.tensor import to_array
from .dynamic_list import DynamicList, list_tracer, unlike_entries
from .leaf_types import LeafType, join
from .record_layout import (
    Choice,
    Dense,
    Inner,
    Layout,
    Parts,
    admitting,
    column_types,
    decomposed,
    joined,
    layout_of,
    put_together,
    stored,
)
from .staged_list import StagedList, sample_of

if TYPE_CHECKING:
    from .leaf_types import LeafType

_WHAT = "a list"


class RecordList(DynamicList):
    """Entries of one structure.

    The columns are what branches and loops carry, what may be stale, and what gradients flow through; this is only the shell around
    them. What can be changed in place in an entry is put in and taken out by value: see `entries`.

    Attributes:
        layout: how an entry is put together of those of the columns. It may widen as entries come, but the columns are the same.
    """

    __slots__ = ("columns", "layout")

    def __init__(self, layout: Layout, columns: Sequence[StagedList]):
        self.layout, self.columns = layout, tuple(columns)
        list_tracer().sharing.abstract_object(self)

    # ---- reading ----
    def with_columns(self, columns: Sequence[StagedList]) -> RecordList:
        """A list of the same kind, with entries of this one."""
        new = RecordList(self.layout, columns)
        list_tracer().sharing.derived(new, self)
        return new

    def length(self) -> Tensor:
        return self.columns[0].length()

    def array(self) -> Tensor:
        return self.columns[0].array()

    def has_grown(self) -> bool:
        """Whether it surely begins with the entries of the list that it was made of."""
        return all(column.has_grown() for column in self.columns)

    def _entry(self, parts: Sequence[Any], **how: Any) -> Any:
        """An entry that was taken out; for `how` see `Sharing.took`."""
        tracer, rest = list_tracer(), iter(parts)
        entry = tracer.entries.lent(put_together(tracer, self.layout, lambda: next(rest)))
        return tracer.sharing.took(entry, self, **how)

    def _at(self, index: Any) -> Any:
        return self._entry([column[index] for column in self.columns], index=index)

    def visited(self, index: Any) -> Any:
        return self._entry([column[index] for column in self.columns], turn=list_tracer().sharing.turn)

    def taken(self, order: Tensor) -> RecordList:
        return self.with_columns([column.taken(order) for column in self.columns])

    def copy(self) -> RecordList:
        return self.with_columns([column.copy() for column in self.columns])

    def joined(self, other: RecordList) -> RecordList:
        layout = joined(self.layout, other.layout, _WHAT)
        new = RecordList(layout, [a.joined(b) for a, b in zip(self.columns, other.columns, strict=True)])
        list_tracer().sharing.derived(new, self, other)
        return new

    def listed(self, items: Any) -> RecordList:
        if isinstance(items, RecordList):
            joined(self.layout, items.layout, _WHAT)
            return items
        if isinstance(items, StagedList):
            raise unlike_entries()
        new = RecordList(self.layout, [column.listed([]) for column in self.columns])
        new.extend(items)
        return new

    # ---- changing ----
    def _parts(self, x: Any) -> list[Any]:
        """An entry as those of the columns."""
        tracer = list_tracer()
        self._admit(admitting(tracer, self.layout, x, _WHAT))
        values = decomposed(self.layout, tracer.entries.lent(x))
        return [stored(tracer, value, c.dtype, c.element_shape) for value, c in zip(values, self.columns, strict=True)]

    def _admit(self, layout: Layout) -> None:
        """Its entries have this layout from now on."""
        if layout is not self.layout:
            self.layout = layout
            list_tracer().entries.widened += 1

    def append(self, x: Any) -> None:
        for column, part in zip(self.columns, self._parts(x), strict=True):
            column.append(part)
        list_tracer().sharing.put(x, self)

    def and_one(self, x: Any) -> RecordList:
        old = self.with_columns(self.columns)
        columns = [column.and_one(part) for column, part in zip(self.columns, old._parts(x), strict=True)]
        new = RecordList(old.layout, columns)
        list_tracer().sharing.derived(new, self)
        list_tracer().sharing.put(x, new)
        return new

    def insert(self, index: Any, x: Any) -> None:
        for column, part in zip(self.columns, self._parts(x), strict=True):
            column.insert(index, part)
        list_tracer().sharing.put(x, self)

    def pop(self, index: Any = -1) -> Any:
        return self._entry([column.pop(index) for column in self.columns], popped=True)

    def become(self, other: RecordList) -> None:
        self._admit(joined(self.layout, other.layout, _WHAT))
        for column, new in zip(self.columns, other.columns, strict=True):
            column.become(new)
        list_tracer().sharing.derived(self, other)

    def _spliced(self, key: slice, between: Any = None) -> Any:
        sharing = list_tracer().sharing
        twice = between is not None and sharing.in_common(self, between)
        with sharing.as_one():
            new = super()._spliced(key, between)
        if twice:
            sharing.repeats(new)
        return new

    def clear(self) -> None:
        super().clear()
        list_tracer().sharing.emptied(self)

    def __mul__(self, times: Any) -> Any:
        new = super().__mul__(times)
        if isinstance(new, RecordList):
            list_tracer().sharing.repeats(new)
        return new

    __rmul__ = __mul__

    def _put(self, index: Any, x: Any) -> None:
        for column, part in zip(self.columns, self._parts(x), strict=True):
            column[index] = part
        list_tracer().sharing.put(x, self, index)

    def _remove(self, index: Any) -> None:
        for column in self.columns:
            del column[index]

    # ---- what is not supported ----
    def _refuse(self, what: str) -> StagedValueError:
        return StagedValueError(
            f"{what} of a list of dynamic length whose entries are put together of others is not supported", location=user_location(3),
            hint="compare the parts of the entries in a loop",
        )  # fmt: skip

    def index(self, x: Any) -> Any:
        raise self._refuse("index()")

    def count(self, x: Any) -> Any:
        raise self._refuse("count()")

    def remove(self, x: Any) -> None:
        raise self._refuse("remove()")

    def compared(self, what: str) -> tuple[Sequence[Callable[[], Tensor]], bool]:
        columns, is_all = _compared(self.layout, iter(self.columns))
        if not columns:
            raise self._refuse(what)
        return columns, is_all

    def equal_to(self, value: Any, what: str) -> Tensor:
        raise self._refuse(what)

    def require_scalars(self, what: str) -> None:
        """StagedValueError: its entries are no tensors."""
        raise self._refuse(what)

    def stack(self, axis: int = 0) -> Tensor:
        """StagedValueError: its entries are no tensors."""
        raise self._refuse("a tensor made")

    concat = stack

    # ---- what tensors are made of it ----
    def of_numbers(self) -> bool:
        """Whether the entries are Python numbers."""
        return False

    def sample(self) -> Any:
        """A value of the kind of each number and tensor in the entries, put together as these are.

        Raises:
            StagedValueError: they are no rows of such.
            DTypeError: it depends on the run of which class the numbers are.
        """
        found = _sample(self.layout, iter(self.columns))
        if found is None:
            raise self._refuse("a tensor made")
        return found

    def as_tensor(self) -> Tensor:
        """The rows, or tables of rows, of numbers and tensors that its entries are, as one tensor.

        Raises:
            StagedValueError, DTypeError: as `sample`.
        """
        found = _stacked(self.layout, iter(self.columns), to_array([self.sample()]).dtype.name)
        for size in found.shape[1:] if found.dtype != get_default_dtype() else ():
            if isinstance(size, Tensor):  # of rows without entries eager mode makes a tensor of the default dtype
                raise_if(size == 0, ValueError, "a tensor made of a list whose rows have no entries in this run; make it by zeros()")
        return found


def _compared(layout: Layout, columns: Iterator[StagedList]) -> tuple[list[Callable[[], Tensor]], bool]:
    """What gives what Python compares in such entries, part by part, up to what has no order; and whether that is all.

    What has one: numbers and tensors with one element, texts, and tuples and lists of these.
    """
    if isinstance(layout, Dense):
        column = next(columns)
        return ([column.flat], True) if column.has_scalars else ([], False)
    if isinstance(layout, Choice):
        objects, column = list_tracer().objects.values, next(columns)
        texts = {p: x for p in layout.places if isinstance(x := objects[p], str)}
        return ([partial(_ranks, column, texts)], True) if len(texts) == len(layout.places) else ([], False)
    found: list[Callable[[], Tensor]] = []
    if not isinstance(layout, Parts) or not issubclass(layout.kind, (tuple, list)):
        return found, False
    for child in layout.children:
        more, is_all = _compared(child, columns)
        found += more
        if not is_all:
            return found, False
    return found, True


def _sample(layout: Layout, columns: Iterator[StagedList]) -> Any:
    """A value of the kind of each number and tensor in such entries, put together as these are; None if they are no rows of such."""
    if isinstance(layout, Dense):
        return next(columns).sample()
    if isinstance(layout, Inner):
        return sample_of(layout.kinds, next(columns).dtype)
    if not isinstance(layout, Parts) or layout.kind not in (list, tuple):
        return None
    found = [_sample(child, columns) for child in layout.children]
    return None if any(x is None for x in found) else found


def _stacked(layout: Layout, columns: Iterator[StagedList], dtype: str) -> Tensor:
    if isinstance(layout, Parts):
        return ops.op("stack", X=[_stacked(child, columns, dtype) for child in layout.children], axis=1)
    return cast(next(columns).as_tensor(), dtype)


def _ranks(column: StagedList, texts: dict[int, str]) -> Tensor:
    """Which place the texts of a column have in their order, of those that it may hold, by their places among all objects."""
    table = np.zeros(max(texts) + 1, np.int64)
    for rank, text in enumerate(sorted(set(texts.values()))):
        table[[p for p, other in texts.items() if other == text]] = rank
    return ops.op("gather", X=dispatch.constant(table), Index=column.flat(), axis=0)


def parts_of(items: DynamicList) -> tuple[StagedList, ...]:
    """What carries a list in the Program."""
    return items.columns if isinstance(items, RecordList) else (items,)  # type: ignore[return-value]


def kind_of_lists(lists: Sequence[Any], what: str) -> tuple[Layout, list[tuple[LeafType, frozenset[Kind]]]]:
    """The layout of a variable that may be each of these lists, and what the columns hold: the types and the kinds of their entries.

    Raises:
        StructureError, DTypeError, ShapeError: the entries are of several kinds.
    """
    tracer = list_tracer()
    layout: Layout | None = None
    for items in lists:
        if isinstance(items, RecordList):
            layout = items.layout if layout is None else joined(layout, items.layout, what)
        elif isinstance(items, StagedList):
            raise StructureError(f"the entries of {what} are tensors or numbers on one path, and put together of others on another")
    entries = [x for items in lists if isinstance(items, list) for x in items]
    if layout is None:
        layout = layout_of(tracer, entries, what)
    for x in entries:
        layout = admitting(tracer, layout, x, what)
    found: list[list[tuple[LeafType, frozenset[Kind]] | None]] = []
    if entries:
        found.append([None if t is None else (t, t.all_kinds) for t in column_types(layout, entries, what)])
    found += [[(LeafType(c.dtype, c.element_shape), c.kinds) for c in x.columns] for x in lists if isinstance(x, RecordList)]
    types = []
    for parts in zip(*found, strict=True):
        (t, kinds), *others = (part for part in parts if part is not None)
        for other, more in others:
            t, kinds = join(t, other, f"an entry of {what}"), kinds | more
        types.append((t, kinds))
    return layout, types


def dynamic_list(items: Sequence[Any], later: Any, what: str) -> DynamicList:
    """A list of dynamic length with these items; `later` is one with entries, or entries, that it gets.

    Raises:
        StructureError, DTypeError, ShapeError: the entries are of several kinds.
    """
    if isinstance(later, RecordList):
        new: DynamicList = later.listed([])
    elif isinstance(later, StagedList):
        return StagedList.of(items, later.dtype, later.element_shape)
    else:
        layout, found = kind_of_lists([[*items, *later]], what)
        types = [t for t, _ in found]
        if isinstance(layout, Dense):
            return StagedList.of(items, types[0].dtype, types[0].shape)
        new = RecordList(layout, [StagedList.of([], t.dtype, t.shape) for t in types])
    with list_tracer().sharing.beginning():
        new.extend(items)
    for column in parts_of(new):
        column.start = column._value
    return new
