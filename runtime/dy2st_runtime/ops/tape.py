"""Tapes: what calls of functions leave for their gradients.

A tape is a stack of values of one dtype and rank. Calls are undone exactly in the reverse order of their making, so what the forward
version of a function pushes is what its gradient pops, however deep the calls are nested. Other than any value of the IR a tape is
changed in place, by ops that are effects; the functions of the Program see it, as they see persistable variables.

A total is the other thing that calls leave: the sum of what they add to it, such as the gradient of a parameter. Each call adds its
own part in place, so that no call has to hand on the parts of those inside it.

In the reference a tape is a Python list, natively a TensorArray; a total is a list with one array, or none as long as it is absent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dims
from ..errors import DTypeError
from .array import array_of, check_index, entry_type
from .control import ABSENT, covers
from .registry import DType, Ints, OpDef, TensorType, register


class _Effect(OpDef):
    """Changes a tape or total in place."""

    effect = True
    differentiable = False
    takes_arrays = True


class _Create(_Effect):
    inputs = ()
    attrs = {"dtype": DType("float32"), "shape": Ints()}

    @staticmethod
    def reference(**attrs: Any) -> list:
        return []


@register
class CreateTape(_Create):
    """An empty tape for values of `dtype`; `shape` has their sizes, -1 where they are open."""

    type = "create_tape"

    @staticmethod
    def infer(*, dtype: str, shape: list[int]) -> TensorType:
        return TensorType(dtype, dims.from_static(shape), "array")

    @staticmethod
    def lower(cx: Any, out: Any, **attrs: Any) -> None:
        cx.array_create(out)


@register
class TapePush(_Effect):
    """Pushes X, also where it is absent."""

    type = "tape_push"
    inputs = ("Tape", "X")
    outputs = ()
    handles_absent = True

    @staticmethod
    def infer(tape: TensorType, x: TensorType) -> tuple:
        _check("tape_push", entry_type("tape_push", tape), x)
        return ()

    @staticmethod
    def reference(tape: list, x: Any) -> tuple:
        tape.append(x)
        return ()

    @staticmethod
    def lower(cx: Any, tape: Any, x: Any) -> None:
        cx.array_push(tape, x)


@register
class TapeExtend(_Effect):
    """Pushes the entries of Array, the first one first."""

    type = "tape_extend"
    inputs = ("Tape", "Array")
    outputs = ()

    @staticmethod
    def infer(tape: TensorType, array: TensorType) -> tuple:
        _check("tape_extend", tape, array)
        return ()

    @staticmethod
    def reference(tape: list, array: list) -> tuple:
        tape.extend(array)
        return ()

    @staticmethod
    def lower(cx: Any, tape: Any, array: Any) -> None:
        cx.tape_extend(tape, array)


@register
class TapePop(_Effect):
    """The value that was pushed last, which is taken from the tape."""

    type = "tape_pop"
    inputs = ("Tape",)

    @staticmethod
    def infer(tape: TensorType) -> TensorType:
        return entry_type("tape_pop", tape)

    @staticmethod
    def reference(tape: list) -> Any:
        return tape.pop()

    @staticmethod
    def lower(cx: Any, tape: Any, out: Any) -> None:
        cx.tape_pop(tape, out)


@register
class TapeTake(_Effect):
    """An array of the Count values that were pushed last, in the order in which they were; they are taken from the tape."""

    type = "tape_take"
    inputs = ("Tape", "Count")

    @staticmethod
    def infer(tape: TensorType, count: TensorType) -> TensorType:
        check_index("tape_take", count)
        return array_of(entry_type("tape_take", tape))

    @staticmethod
    def reference(tape: list, count: np.ndarray) -> list:
        start = len(tape) - int(count.reshape(()))
        taken = tape[start:]
        del tape[start:]
        return taken

    @staticmethod
    def lower(cx: Any, tape: Any, count: Any, out: Any) -> None:
        cx.tape_take(tape, count, out)


@register
class CreateTotal(_Create):
    """A total of values of `dtype` and `shape` (-1 where it is open), to which nothing has been added: it is absent."""

    type = "create_total"

    @staticmethod
    def infer(*, dtype: str, shape: list[int]) -> TensorType:
        return TensorType(dtype, dims.from_static(shape))

    @staticmethod
    def lower(cx: Any, out: Any, **attrs: Any) -> None:
        cx.total_clear(out)


@register
class TotalAdd(_Effect):
    """Adds X to Total, if it is not absent."""

    type = "total_add"
    inputs = ("Total", "X")
    outputs = ()
    handles_absent = True

    @staticmethod
    def infer(total: TensorType, x: TensorType) -> tuple:
        _check("total_add", total, x)
        return ()

    @staticmethod
    def reference(total: list, x: Any) -> tuple:
        if x is not ABSENT:
            total[:] = [total[0] + x if total else x]
        return ()

    @staticmethod
    def lower(cx: Any, total: Any, x: Any) -> None:
        cx.total_add(total, x)


@register
class TotalTake(_Effect):
    """What has been added to Total so far, absent if nothing was; Total is absent then."""

    type = "total_take"
    inputs = ("Total",)
    handles_absent = True

    @staticmethod
    def infer(total: TensorType) -> TensorType:
        return total

    @staticmethod
    def reference(total: list) -> Any:
        return total.pop() if total else ABSENT

    @staticmethod
    def lower(cx: Any, total: Any, out: Any) -> None:
        cx.total_take(total, out)


def _check(op: str, declared: TensorType, t: TensorType) -> None:
    if not covers(declared, t):
        raise DTypeError(f"{op}: what is for {declared} cannot hold {t}")
