"""TensorArrays: lists of tensors of one dtype and one rank. They are values: an op makes a changed one, never changes one.

In the reference an array is a Python list. A list that is used once more only is changed in place natively.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from ..errors import DTypeError, OutOfRangeError
from ..loopir import nodes as n
from .control import ABSENT, join_types
from .registry import DType, Ints, OpDef, TensorType, register


def entry_type(op: str, array: TensorType) -> TensorType:
    """The type of an array's entries; DTypeError if it is no array."""
    if array.kind != "array":
        raise DTypeError(f"{op} takes a TensorArray, got {array}")
    return TensorType(array.dtype, array.shape)


def array_of(entry: TensorType) -> TensorType:
    return TensorType(entry.dtype, entry.shape, "array")


def joined(op: str, array: TensorType, x: TensorType) -> TensorType:
    """The type of an array that gets x as an entry."""
    return array_of(join_types(entry_type(op, array), x, f"an entry of the list ({op})"))


def entries(op: str, array: Any, x: np.ndarray) -> list:
    """A copy of an array that is to get x as an entry; DTypeError or ShapeError if x does not fit."""
    if not isinstance(array, list):
        raise DTypeError(f"{op} takes a TensorArray, got {_type(array)}")
    for other in array[:1]:
        if other is not ABSENT:
            joined(op, array_of(_type(other)), _type(x))
    return list(array)


def _type(x: np.ndarray) -> TensorType:
    return TensorType.of(x)


def place(index: Any, length: int, *, end: bool = False) -> int:
    """An index as 0 <= index < length (<= length, with `end`); OutOfRangeError otherwise."""
    check_index("a list", _type(index))
    i = int(index.reshape(()))
    if not -length <= i < length + int(end):
        raise OutOfRangeError(f"index {i} is out of range for a list with {length} entries")
    return i + length if i < 0 else i


def check_index(op: str, index: TensorType) -> None:
    if index.dtype not in ("int32", "int64"):
        raise DTypeError(f"{op}: the index must be int32 or int64, got {index.dtype}")
    for d in index.shape:
        dims.require_equal(d, 1, f"{op}: the index must have one element, got {index}")


@register
class CreateArray(OpDef):
    """An empty array for entries of `dtype`; `shape` has their sizes, -1 where they are open."""

    type = "create_array"
    inputs = ()
    attrs = {"dtype": DType("float32"), "shape": Ints()}

    @staticmethod
    def infer(*, dtype: str, shape: list[int]) -> TensorType:
        return TensorType(dtype, dims.from_static(shape), "array")

    @staticmethod
    def reference(**attrs: Any) -> list:
        return []

    @staticmethod
    def lower(cx: Any, out: Any, **attrs: Any) -> None:
        cx.array_create(out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return ()


@register
class WriteToArray(OpDef):
    """Array with entry I replaced by X, or X appended where I is the length; without Array a new one, where I must be 0.

    Raises:
        OutOfRangeError: I lies outside.
        DTypeError, ShapeError: X has another dtype or rank than the entries.
    """

    type = "write_to_array"
    takes_arrays = True
    inputs = ("X", "I", "Array?")
    may_raise = True

    @staticmethod
    def infer(x: TensorType, index: TensorType, array: TensorType | None) -> TensorType:
        check_index("write_to_array", index)
        return array_of(x) if array is None else joined("write_to_array", array, x)

    @staticmethod
    def reference(x: np.ndarray, index: np.ndarray, array: list | None) -> list:
        out = entries("write_to_array", array or [], x)
        i = place(index, len(out), end=True)
        out[i : i + 1] = [x]
        return out

    @staticmethod
    def lower(cx: Any, x: Any, index: Any, array: Any, out: Any) -> None:
        if array is None:
            with cx.kernel([index], [], shapes=False) as (k, (i,), _):
                k.fail_if(n.cast(i[0], n.INDEX) != 0)
        cx.array_write(array, x, index, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        _, index, array = ins
        dx = lambda: b.op("read_from_array", X=douts[0], I=index)  # noqa: E731
        slots = {"Array": array, "I": index, "Out@GRAD": douts[0]}
        return dx, None, None if array is None else lambda: b.op("write_to_array_grad", **slots)


@register
class ArraySet(OpDef):
    """Array with entry I replaced by X, as `array[i] = x` in Python: I must name an entry that exists."""

    type = "array_set"
    takes_arrays = True
    inputs = ("Array", "X", "I")
    may_raise = True

    @staticmethod
    def infer(array: TensorType, x: TensorType, index: TensorType) -> TensorType:
        check_index("array_set", index)
        return joined("array_set", array, x)

    @staticmethod
    def reference(array: list, x: np.ndarray, index: np.ndarray) -> list:
        out = entries("array_set", array, x)
        out[place(index, len(out))] = x
        return out

    @staticmethod
    def lower(cx: Any, array: Any, x: Any, index: Any, out: Any) -> None:
        length = cx.temp("int64", 0)
        cx.array_length(array, length)
        with cx.kernel([index, length], [], shapes=False) as (k, (i, size), _):
            k.fail_if(n.cast(i[0], n.INDEX) >= size[0])
        cx.array_write(array, x, index, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        array, _, index = ins

        def darray() -> Any:
            # the entry that was replaced may have had another shape
            zeros = b.op("fill_any_like", X=b.op("read_from_array", X=array, I=index), value=0.0)
            return b.op("array_set", Array=douts[0], X=zeros, I=index)

        return darray, lambda: b.op("read_from_array", X=douts[0], I=index), None


@register
class ArrayAppend(OpDef):
    """Array with X behind its last entry."""

    type = "array_append"
    takes_arrays = True
    inputs = ("Array", "X")

    @staticmethod
    def infer(array: TensorType, x: TensorType) -> TensorType:
        return joined("array_append", array, x)

    @staticmethod
    def reference(array: list, x: np.ndarray) -> list:
        return [*entries("array_append", array, x), x]

    @staticmethod
    def lower(cx: Any, array: Any, x: Any, out: Any) -> None:
        cx.array_write(array, x, None, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        made: list[tuple[Any, Any]] = []

        def part(i: int) -> Any:
            if not made:
                made.append(b.op("array_pop", Array=douts[0]))
            return made[0][i]

        return lambda: part(0), lambda: part(1)


@register
class ArrayExtend(OpDef):
    """The entries of Array, then those of Other."""

    type = "array_extend"
    takes_arrays = True
    inputs = ("Array", "Other")

    @staticmethod
    def infer(array: TensorType, other: TensorType) -> TensorType:
        return joined("array_extend", array, entry_type("array_extend", other))

    @staticmethod
    def reference(array: list, other: list) -> list:
        return [*(entries("array_extend", array, other[0]) if other else array), *other]

    @staticmethod
    def lower(cx: Any, array: Any, other: Any, out: Any) -> None:
        cx.array_extend(array, other, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        made: list[tuple[Any, Any]] = []

        def part(i: int) -> Any:
            if not made:
                made.append(b.op("array_extend_grad", Array=ins[0], Other=ins[1], **{"Out@GRAD": douts[0]}))
            return made[0][i]

        return lambda: part(0), lambda: part(1)


@register
class ArrayPop(OpDef):
    """Array without its last entry, and that entry.

    Raises:
        OutOfRangeError: Array is empty.
    """

    type = "array_pop"
    takes_arrays = True
    inputs = ("Array",)
    outputs = ("Out", "Value")
    may_raise = True

    @staticmethod
    def infer(array: TensorType) -> tuple:
        return array, entry_type("array_pop", array)

    @staticmethod
    def reference(array: list) -> tuple:
        if not array:
            raise OutOfRangeError("pop from empty list")
        return array[:-1], array[-1]

    @staticmethod
    def lower(cx: Any, array: Any, out: Any, value: Any) -> None:
        out = out or cx.temp(array.dtype, len(array.shape), "array")
        cx.array_pop(array, out, value or cx.temp(array.dtype, len(array.shape)))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        def dx() -> Any:
            rest = b.op("array_zeros_like", X=outs[0]) if douts[0] is None else douts[0]
            last = b.op("fill_any_like", X=outs[1], value=0.0) if douts[1] is None else douts[1]
            return b.op("array_append", Array=rest, X=last)

        return (dx,)


@register
class ReadFromArray(OpDef):
    """Entry I of X; a negative I counts from the end.

    Raises:
        OutOfRangeError: I lies outside.
    """

    type = "read_from_array"
    takes_arrays = True
    inputs = ("X", "I")
    may_raise = True

    @staticmethod
    def infer(array: TensorType, index: TensorType) -> TensorType:
        check_index("read_from_array", index)
        return entry_type("read_from_array", array)

    @staticmethod
    def reference(array: list, index: np.ndarray) -> np.ndarray:
        return array[place(index, len(array))]

    @staticmethod
    def lower(cx: Any, array: Any, index: Any, out: Any) -> None:
        cx.array_read(array, index, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        slots = {"X": ins[0], "I": ins[1], "Out@GRAD": douts[0]}
        return (lambda: b.op("read_from_array_grad", **slots)), None


@register
class ArrayLength(OpDef):
    """The number of entries: an int64 without dims."""

    type = "lod_array_length"
    takes_arrays = True
    differentiable = False

    @staticmethod
    def infer(array: TensorType) -> TensorType:
        entry_type("lod_array_length", array)
        return TensorType("int64", ())

    @staticmethod
    def reference(array: list) -> np.ndarray:
        return np.asarray(len(array), np.int64)

    @staticmethod
    def lower(cx: Any, array: Any, out: Any) -> None:
        cx.array_length(array, out)
