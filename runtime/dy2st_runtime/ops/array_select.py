"""TensorArrays: entries put in, taken out and chosen by their index, and the gradients of that."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DTypeError, OutOfRangeError
from ..loopir import nodes as n
from .array import check_index, entries, entry_type, joined, place
from .control import ABSENT
from .registry import OpDef, TensorType, register


@register
class ArrayInsert(OpDef):
    """Array with X put in so that it is entry I of the result; a negative I counts from the end of the result.

    Raises:
        OutOfRangeError: I lies outside of the result.
        DTypeError, ShapeError: X has another dtype or rank than the entries.
    """

    type = "array_insert"
    takes_arrays = True
    inputs = ("Array", "X", "I")
    may_raise = True

    @staticmethod
    def infer(array: TensorType, x: TensorType, index: TensorType) -> TensorType:
        check_index("array_insert", index)
        return joined("array_insert", array, x)

    @staticmethod
    def reference(array: list, x: np.ndarray, index: np.ndarray) -> list:
        out = entries("array_insert", array, x)
        out.insert(place(index, len(out) + 1), x)
        return out

    @staticmethod
    def lower(cx: Any, array: Any, x: Any, index: Any, out: Any) -> None:
        cx.array_insert(array, x, index, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        made: list[tuple[Any, Any]] = []

        def part(i: int) -> Any:
            if not made:
                made.append(b.op("array_remove", Array=douts[0], I=ins[2]))
            return made[0][i]

        return lambda: part(0), lambda: part(1), None


@register
class ArrayRemove(OpDef):
    """Array without its entry I, and that entry; a negative I counts from the end.

    Raises:
        OutOfRangeError: I lies outside.
    """

    type = "array_remove"
    takes_arrays = True
    inputs = ("Array", "I")
    outputs = ("Out", "Value")
    may_raise = True

    @staticmethod
    def infer(array: TensorType, index: TensorType) -> tuple:
        check_index("array_remove", index)
        return array, entry_type("array_remove", array)

    @staticmethod
    def reference(array: list, index: np.ndarray) -> tuple:
        if not array:
            raise OutOfRangeError("pop from empty list")
        i = place(index, len(array))
        return [*array[:i], *array[i + 1 :]], array[i]

    @staticmethod
    def lower(cx: Any, array: Any, index: Any, out: Any, value: Any) -> None:
        out = out or cx.temp(array.dtype, len(array.shape), "array")
        cx.array_remove(array, index, out, value or cx.temp(array.dtype, len(array.shape)))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        def dx() -> Any:
            rest = b.op("array_zeros_like", X=outs[0]) if douts[0] is None else douts[0]
            one = b.op("fill_any_like", X=outs[1], value=0.0) if douts[1] is None else douts[1]
            return b.op("array_insert", Array=rest, X=one, I=ins[1])

        return dx, None


@register
class ArrayTake(OpDef):
    """The entries of X that the int64 vector Index names, in its order; negative ones count from the end.

    Raises:
        OutOfRangeError: there is no such entry.
    """

    type = "array_take"
    takes_arrays = True
    inputs = ("X", "Index")
    may_raise = True

    @staticmethod
    def infer(array: TensorType, index: TensorType) -> TensorType:
        entry_type("array_take", array)
        _require_vector(index)
        return array

    @staticmethod
    def reference(array: list, index: np.ndarray) -> list:
        _require_vector(TensorType.of(index))
        return [array[place(i, len(array))] for i in index]

    @staticmethod
    def lower(cx: Any, array: Any, index: Any, out: Any) -> None:
        cx.array_take(array, index, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        slots = {"X": ins[0], "Index": ins[1], "Out@GRAD": douts[0]}
        return (lambda: b.op("array_take_grad", **slots)), None


def _require_vector(index: TensorType) -> None:
    if index.dtype != "int64" or index.rank != 1:
        raise DTypeError(f"array_take: Index must be an int64 vector, got {index}")


@register
class ArrayTakeGrad(OpDef):
    """Zeros like the entries of X, with each entry of Out@GRAD added where Index took it."""

    type = "array_take_grad"
    takes_arrays = True
    inputs = ("X", "Index", "Out@GRAD")
    outputs = ("X@GRAD",)
    may_raise = True

    @staticmethod
    def infer(array: TensorType, index: TensorType, dout: TensorType) -> TensorType:
        return joined("array_take_grad", array, entry_type("array_take_grad", dout))

    @staticmethod
    def reference(array: list, index: np.ndarray, dout: list) -> list:
        out = [np.zeros_like(x) for x in array]
        for i, d in zip(index, dout, strict=True):
            at = place(i, len(out))
            out[at] = out[at] + d
        return out

    @staticmethod
    def lower(cx: Any, array: Any, index: Any, dout: Any, out: Any) -> None:
        count = cx.temp("int64", 0)
        cx.array_zeros(array, out)
        cx.array_length(dout, count)

        def entry(e: Any, one: Any) -> None:
            at, old, new = cx.temp("int64", 0), *(cx.temp(out.dtype, len(out.shape)) for _ in range(2))
            with cx.kernel([e, index], [at], shapes=False) as (k, (e, i), (o,)):
                k.fail_if(e[0] >= n.as_expr(i.shape[0]))
                k.set_shape(o, [])
                o[0] = i[e[0]]
            cx.array_read(out, at, old)
            with cx.kernel([old, one], [new], shapes=False) as (k, (x, y), (o,)):
                k.set_shape(o, x.shape)
                with k.parallel(o.size) as j:
                    o[j] = x[j] + y[j]
            cx.array_replace(out, new, at)

        cx.array_each(dout, count, entry)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return None, None, lambda: b.op("array_take", X=douts[0], Index=ins[1])


@register
class ArrayCommon(OpDef):
    """How many entries X and Y have in common at their beginnings, bit by bit: an int64 without dims."""

    type = "array_common"
    takes_arrays = True
    inputs = ("X", "Y")
    differentiable = False

    @staticmethod
    def infer(x: TensorType, y: TensorType) -> TensorType:
        joined("array_common", x, entry_type("array_common", y))
        return TensorType("int64", ())

    @staticmethod
    def reference(x: list, y: list) -> np.ndarray:
        count = 0
        for a, b in zip(x, y, strict=False):
            if (a is ABSENT or b is ABSENT) and a is not b:
                break
            if a is not ABSENT and (a.shape != b.shape or a.tobytes() != b.tobytes()):
                break
            count += 1
        return np.asarray(count, np.int64)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any) -> None:
        cx.array_common(x, y, out)
