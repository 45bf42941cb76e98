"""`StagedList`: a list of tensors and numbers whose length is only known at run time, held as a TensorArray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from dy2st_runtime import dims
from dy2st_runtime.dtype import to_numpy
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.growth import GROWN, relation

from ...errors import StagedValueError, StructureError
from ...tensor import Tensor
from ...tensor.dispatch import ops
from ...tensor.failures import raise_if
from ...tensor.kinds import Kind, Kinds, as_number, kinds_of, meet, storage
from ...tensor.location import user_location
from ...tensor.promotion import NUMBERS, as_plain_tensor, as_tensor, cast, is_weak, weak_dtype
from .. import hub
from ..pyfacts.tensor_attributes import require_bare
from .dynamic_list import DynamicList, list_tracer, unlike_entries
from .kind_codes import Codes, code_of, codes_of, flag
from .list_indices import integer, position
from .maybe_none import MaybeNone

if TYPE_CHECKING:
    pass

# what is never equal to a tensor, and to a number
_NO_TENSORS = (type(None), str, bytes, dict, set, frozenset, range)
_NO_NUMBERS = (*_NO_TENSORS, list, tuple)


class StagedList(DynamicList):
    """A list of tensors and numbers of one dtype and rank.

    Attributes:
        start: the variable that it had when it was made of a list of Python.
    """

    layout = None
    _value: Variable
    _who: Any = None
    start: Variable | None = None

    @staticmethod
    def wrap(v: Variable) -> StagedList:
        new = StagedList.__new__(StagedList)
        new._value = v
        return new

    @staticmethod
    def of(items: Sequence[Any], dtype: str, shape: Sequence[int]) -> StagedList:
        """A list of these tensors and numbers; `shape` is that of the entries."""
        array = ops.op("create_array", dtype=dtype, shape=list(shape))
        new = StagedList.wrap(array._value)
        for item in items:
            new.append(item)
        new.start = new._value
        return new

    @staticmethod
    def of_array(array: Tensor, kinds: frozenset[Kind]) -> StagedList:
        """A list of entries of these kinds."""
        assert isinstance(array._value, Variable)
        return StagedList.wrap(array._value)._hold(kinds)

    def with_value(self, v: Variable) -> StagedList:
        """A list of the same kind."""
        new = StagedList.wrap(v)
        if v is not self._value and v.name not in list_tracer().entry_kinds:
            new._hold(self.kinds, self.codes)
        return new

    def alike(self, v: Variable) -> StagedList:
        """The same list with other contents."""
        new = self.with_value(v)
        new._who = self if self._who is None else self._who
        return new

    def with_codes(self, codes: StagedList) -> StagedList:
        """The list itself, with these codes beside it."""
        return self._hold(self.kinds, codes._value)

    # ---- what it is ----
    @property
    def columns(self) -> tuple[StagedList]:  # type: ignore[override]
        return (self,)

    @property
    def dtype(self) -> str:
        return self._value.dtype

    @property
    def element_shape(self) -> tuple[int, ...]:
        return tuple(self._value.shape)

    @property
    def kinds(self) -> frozenset[Kind]:
        """What the entries are: tensors, or Python numbers of some class, or either; nothing is known of an empty list."""
        return list_tracer().entry_kinds.get(self._value.name, frozenset())

    @property
    def codes(self) -> Variable | None:
        """What the entries are where some may be tensors and some numbers, as far as it is known."""
        return list_tracer().entry_codes.get(self._value.name)

    def _hold(self, kinds: frozenset[Kind], codes: Variable | None = None) -> StagedList:
        tracer = list_tracer()
        tracer.entry_kinds[self._value.name] = kinds
        if codes is not None:
            tracer.entry_codes[self._value.name] = codes
        return self

    def _beside(self, op_type: str, kinds: frozenset[Kind] = frozenset(), *, slot: str = "Array", **slots: Any) -> Any:
        """What an op makes of the codes of the list as it is; None if they are not known, or need not be when it gets entries of these
        kinds."""
        if len(self.kinds | kinds) < 2:
            return None
        codes = codes_of(self)
        if codes is None or any(v is None for v in slots.values()):
            return None
        values = {name: v._value if isinstance(v, Tensor) else v for name, v in slots.items()}
        return list_tracer().builder().op(op_type, **{slot: codes}, **values)

    def array(self) -> Tensor:
        array = Tensor.wrap(self._value, self._value.stop_gradient)
        array._who = self if self._who is None else self._who
        return array

    def _new(self, array: Tensor, kinds: frozenset[Kind] = frozenset(), codes: Variable | None = None) -> StagedList:
        """Another list, of entries of this one and of others of these kinds."""
        new = StagedList.of_array(array, self.kinds | kinds)._hold(self.kinds | kinds, codes)
        list_tracer().aliases.replaced(new, array)
        return new

    def _entry(self, value: Tensor, code: Variable | None = None) -> Tensor:
        """An entry that was read: a tensor, or the number that it stands for."""
        kinds = self.kinds
        if len(kinds) == 1 and (kind := next(iter(kinds))).weak and kind.dtype != value.dtype:
            # the list is of a wider dtype, beside tensors that it might have got
            value = ops.op("cast", X=value, in_dtype=value.dtype, out_dtype=kind.dtype)
        value._weak = any(k.weak for k in kinds)
        if len(kinds) > 1:
            value._kinds = unlike(kinds)
            if code is not None:
                value._kinds = replace(value._kinds, number=flag(code) if value._kinds.mixed else None, code=Tensor.wrap(code))
        return value

    def _element(self, x: Any) -> Tensor:
        if isinstance(x, MaybeNone):
            raise StructureError(
                "a list that changes in a staged loop can hold tensors and numbers, not what is None in some runs",
                location=user_location(3), hint="keep a number that says so instead of None (-1, nan)",
            )  # fmt: skip
        if isinstance(x, Tensor):
            require_bare(x)
        if isinstance(x, Tensor) and x.ndim and x._kinds is not None:
            x = as_plain_tensor(x)
        if is_weak(x):
            wanted = as_tensor(x).dtype
            if all(k.weak for k in kinds_of_entry(x)):  # else it may be a tensor, whose dtype stays
                wanted = meet(wanted, self.dtype)
            return as_tensor(x, wanted) if wanted == self.dtype else as_tensor(x)
        if not isinstance(x, Tensor):
            raise StructureError(
                f"a list that changes in a staged loop holds tensors and numbers here, and cannot hold {class_of_entry(x)} too",
                location=user_location(3), hint="make all its entries of one kind",
            )  # fmt: skip
        return x

    def length(self) -> Tensor:
        return as_number(ops.op("lod_array_length", X=self.array()))

    def _set(self, array: Tensor, kinds: frozenset[Kind] = frozenset(), codes: Variable | None = None) -> None:
        """The list has changed, and may have got entries of these kinds."""
        kinds, tracer = self.kinds | kinds, list_tracer()
        tracer.assign(self, array._value)  # type: ignore[arg-type]
        tracer.aliases.replaced(self, array)
        self._hold(kinds, codes)

    def has_grown(self) -> bool:
        """Whether it surely begins with the entries of the list that it was made of."""
        return self.start is not None and relation(self.start.block, self._value.name, self.start.name) == GROWN

    # ---- how it changes ----
    def append(self, x: Any) -> None:
        self._set(*self._with_one("array_append", x))

    def and_one(self, x: Any) -> StagedList:
        return self._new(*self._with_one("array_append", x))

    def insert(self, index: Any, x: Any) -> None:
        self._set(*self._with_one("array_insert", x, I=position(index, self.length())))

    def _with_one(self, op_type: str, x: Any, **slots: Any) -> tuple[Tensor, frozenset[Kind], Variable | None]:
        """What an op that puts an entry into the list makes of it and of its codes; the kinds of the entry."""
        element, kinds = self._element(x), kinds_of_entry(x)
        array = self.array() if element.ndim else self._held_as(element.dtype, kinds)
        if array.dtype != self.dtype:
            element = cast(element, array.dtype)
        array = ops.op(op_type, Array=array, X=element, **slots)
        return array, kinds, self._beside(op_type, kinds, X=code_of(x), **slots) if len(self.kinds | kinds) > 1 else None

    def _held_as(self, dtype: str, kinds: frozenset[Kind]) -> Tensor:
        """The array, in a dtype that holds entries of these kinds too, where they come in this one and the list has only numbers yet."""
        wanted = None if dtype == self.dtype else common_dtype(self.kinds, kinds)
        return self.array() if wanted is None else self.converted(wanted)

    def converted(self, dtype: str) -> Tensor:
        """The array with its entries in another dtype; itself if they are of that one."""
        if dtype == self.dtype:
            return self.array()
        return ops.op("tensor_to_array", X=cast(self.as_tensor(), dtype), axis=0)

    def pop(self, index: Any = -1) -> Tensor:
        if isinstance(index, int) and index == -1:
            return self._without_one("array_pop")
        at = integer(index)
        if list_tracer().tries.wants(IndexError):  # which is shown what Python says of pop()
            i, length = as_number(at), self.length()
            raise_if(as_tensor(length == 0), IndexError, "pop from empty list")
            raise_if(as_tensor((i < -length) | (i >= length)), IndexError, "pop index out of range")
        return self._without_one("array_remove", I=at)

    def _without_one(self, op_type: str, **slots: Any) -> Tensor:
        """Takes an entry out of the list."""
        array, value = ops.op(op_type, Array=self.array(), **slots)
        codes, code = self._beside(op_type, **slots) or (None, None)
        value = self._entry(value, code)
        self._set(array, codes=codes)
        return value

    def index(self, x: Any) -> Any:
        return hub.list_index(self, x)

    def count(self, x: Any) -> Any:
        return hub.list_count(self, x)

    def remove(self, x: Any) -> None:
        hub.list_remove(self, x)

    def taken(self, order: Tensor) -> StagedList:
        return self._new(ops.op("array_take", X=self.array(), Index=order), codes=self._beside("array_take", slot="X", Index=order))

    def become(self, other: StagedList) -> None:
        other._require_fresh()
        self._set(other.array(), other.kinds, codes_of(other) if len(self.kinds | other.kinds) > 1 else None)

    def copy(self) -> StagedList:
        self._require_fresh()
        return self._new(self.array())

    def _require_fresh(self) -> None:
        """As ops ask of what they read: the entries go on in another list without one."""
        tracer = list_tracer()
        tracer.aliases.require_fresh(self, tracer.block)

    def listed(self, items: Any) -> StagedList:
        if isinstance(items, DynamicList) and not isinstance(items, StagedList):
            raise unlike_entries()
        return items if isinstance(items, StagedList) else StagedList.of(list(items), self.dtype, self.element_shape)

    def joined(self, other: StagedList) -> StagedList:
        array = ops.op("array_extend", Array=self._held_as(other.dtype, other.kinds), Other=other._held_as(self.dtype, self.kinds))
        more = codes_of(other) if len(self.kinds | other.kinds) > 1 else None
        return self._new(array, other.kinds, self._beside("array_extend", other.kinds, Other=more))

    def _at(self, index: Any) -> Tensor:
        at = integer(index)
        value = ops.op("read_from_array", X=self.array(), I=at)
        return self._entry(value, self._beside("read_from_array", slot="X", I=at))

    def _put(self, index: Any, x: Any) -> None:
        self._set(*self._with_one("array_set", x, I=integer(index)))

    def _remove(self, index: Any) -> None:
        self._without_one("array_remove", I=integer(index))

    @property
    def has_scalars(self) -> bool:
        """Whether all entries have one element."""
        return all(d == 1 for d in self.element_shape)

    def require_scalars(self, what: str) -> None:
        """StagedValueError if the entries may have more than one element."""
        if not self.has_scalars:
            raise StagedValueError(
                f"{what} compares the entries of a list of dynamic length, which are tensors of shape {list(self.element_shape)}",
                location=user_location(2), hint="loop over the list with for, and compare what is meant",
            )  # fmt: skip

    def compared(self, what: str) -> tuple[Sequence[Callable[[], Tensor]], bool]:
        """What gives a vector for each part that the entries are compared by, one after the other; and whether that is all.

        Raises:
            StagedValueError: entries have more than one element, or are not compared by what is in them.
        """
        self.require_scalars(what)
        return [self.flat], True

    def equal_to(self, value: Any, what: str) -> Tensor:
        """Which entries are equal to a value; the list has some.

        Raises:
            StagedValueError: the entries, or the value, have more than one element; or how they are compared is not known here.
        """
        self.require_scalars(what)
        entries, kind = self.flat(), type(value)
        if kind in (_NO_NUMBERS if self.of_numbers() else _NO_TENSORS) or kind.__eq__ is object.__eq__:
            return ops.op("fill_any_like", X=entries, value=0.0, dtype="bool")
        if not isinstance(value, (Tensor, *NUMBERS, np.generic)):
            other = f"a {kind.__name__}"
        elif isinstance(value, MaybeNone) or not isinstance(value, Tensor) or not value.ndim:
            return entries == value
        elif all(d == 1 for d in value._value.shape):
            return entries == ops.op("reshape2", X=value, shape=[])
        else:
            other = f"a tensor of shape {dims.show(value._value.shape)}"
        raise StagedValueError(
            f"{what} compares the entries of a list of dynamic length with {other}", location=user_location(2),
            hint="loop over the list with for, and compare what is meant",
        )  # fmt: skip

    # ---- what tensors are made of it ----
    def flat(self) -> Tensor:
        """A vector of the entries, which have one element each."""
        return ops.op("reshape2", X=self.stack(), shape=[-1])

    def sample(self) -> Any:
        """A number, or an array with one, of the kind of the entries.

        Raises:
            DTypeError: they are of several kinds.
        """
        return sample_of(self.kinds, self.dtype)

    def as_tensor(self) -> Tensor:
        """Its entries as one tensor, also where there are none."""
        return hub.stacked(list_tracer(), self, self.dtype, self.element_shape)  # type: ignore[arg-type]

    def stack(self, axis: int = 0) -> Tensor:
        self.of_numbers()
        return ops.op("tensor_array_to_tensor", X=self.array(), axis=axis, use_stack=True)

    def of_numbers(self) -> bool:
        """Whether the entries are Python numbers; beside tensors, numbers are 0-d tensors of their dtype.

        Raises:
            DTypeError: they are numbers of several classes.
        """
        kinds = self.kinds
        weak = bool(kinds) and all(k.weak for k in kinds)
        if weak and len(kinds) > 1:
            raise unlike(kinds).fail("only the run knows which")
        return weak

    def concat(self, axis: int = 0) -> Tensor:
        self.of_numbers()
        return ops.op("tensor_array_to_tensor", X=self.array(), axis=axis, use_stack=False)


def sample_of(kinds: frozenset[Kind], dtype: str) -> Any:
    """A number, or an array with one, of the kind of entries that are held in this dtype; DTypeError if there are several."""
    if len(kinds) > 1:
        raise unlike(kinds).fail("the dtype of a tensor made of them depends on that")
    kind = next(iter(kinds), Kind(dtype, False))
    zero = np.zeros((), to_numpy(kind.dtype))
    return zero.item() if kind.weak else zero


def unlike(kinds: frozenset[Kind]) -> Kinds:
    """What an entry of a list is whose entries are of several kinds."""
    return Kinds(kinds, "an entry of a list may be " + " or ".join(map(str, sorted(kinds))))


def common_dtype(a: frozenset[Kind], b: frozenset[Kind]) -> str | None:
    """The dtype for the entries of two lists, of these kinds, of which one has only numbers; None if there is none."""
    return storage(a | b) if any(all(k.weak for k in kinds) for kinds in (a, b)) else None


def kinds_of_entry(x: Any) -> frozenset[Kind]:
    """What a tensor or number is as an entry of a list."""
    if isinstance(x, Tensor):
        return frozenset((Kind(x.dtype, False),)) if x.ndim else kinds_of(x)
    return frozenset((Kind(weak_dtype(x), True),))


def class_of_entry(x: Any) -> str:
    return "another such list" if isinstance(x, StagedList) else type(x).__name__


def coded(items: Any) -> StagedList:
    """The codes of a list, of Python or of dynamic length, as a list of dynamic length."""
    return StagedList.of_array(Tensor.wrap(Codes(items).variable()), frozenset((Kind("int64", False),)))
