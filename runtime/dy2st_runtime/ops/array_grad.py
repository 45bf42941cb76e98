"""The gradients of the ops on TensorArrays. The gradient of an array is an array of as many entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..loopir import nodes as n
from .array import entry_type, joined, place
from .registry import OpDef, TensorType, register


@register
class WriteToArrayGrad(OpDef):
    """The gradient of `write_to_array` in Array: that of Out without entry I if this was appended, else with zeros in it."""

    type = "write_to_array_grad"
    takes_arrays = True
    inputs = ("Array", "I", "Out@GRAD")
    outputs = ("Array@GRAD",)
    may_raise = True

    @staticmethod
    def infer(array: TensorType, index: TensorType, dout: TensorType) -> TensorType:
        entry_type("write_to_array_grad", array)
        return dout

    @staticmethod
    def reference(array: list, index: np.ndarray, dout: list) -> list:
        i = place(index, len(array), end=True)
        return [np.zeros_like(d) if e == i else d for e, d in enumerate(dout[: len(array)])]

    @staticmethod
    def lower(cx: Any, array: Any, index: Any, dout: Any, out: Any) -> None:
        count = cx.temp("int64", 0)
        cx.array_length(array, count)

        def entry(e: Any, shown: Any, result: Any) -> None:
            with cx.kernel([e, count, index, shown], [result], shapes=False) as (k, (e, count_ref, i, d), (o,)):
                at = n.cast(i[0], n.INDEX)
                at = k.let(n.select(at < 0, at + count_ref[0], at))
                k.set_shape(o, d.shape)
                with k.parallel(o.size) as j:
                    o[j] = n.select(e[0] == at, n.cast(0, o.dtype), d[j])

        cx.array_map(dout, count, out, entry)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        _, index, dout = ins

        def ddout() -> Any:
            zeros = b.op("fill_any_like", X=b.op("read_from_array", X=dout, I=index), value=0.0)
            return b.op("write_to_array", X=zeros, I=index, Array=douts[0])

        return None, None, ddout


@register
class ArrayExtendGrad(OpDef):
    """Out@GRAD cut where Array ends: the gradients of `array_extend`."""

    type = "array_extend_grad"
    takes_arrays = True
    inputs = ("Array", "Other", "Out@GRAD")
    outputs = ("Array@GRAD", "Other@GRAD")

    @staticmethod
    def infer(array: TensorType, other: TensorType, dout: TensorType) -> tuple:
        entry_type("array_extend_grad", dout)
        return dout, dout

    @staticmethod
    def reference(array: list, other: list, dout: list) -> tuple:
        return dout[: len(array)], dout[len(array) :]

    @staticmethod
    def lower(cx: Any, array: Any, other: Any, dout: Any, darray: Any, dother: Any) -> None:
        own, rest = cx.temp("int64", 0), cx.temp("int64", 0)
        cx.array_length(array, own)
        cx.array_length(other, rest)
        for count, first, target in ((own, None, darray), (rest, own, dother)):
            if target is not None:
                cx.array_create(target)
                cx.array_each(array if first is None else other, count, _take(cx, dout, first, target))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        def ddout() -> Any:
            pair = [b.op("array_zeros_like", X=o) if d is None else d for o, d in zip(outs, douts, strict=True)]
            return b.op("array_extend", Array=pair[0], Other=pair[1])

        return None, None, ddout


def _take(cx: Any, source: Any, first: Any, target: Any) -> Any:
    """Steps that append entry `first` + index of `source` to `target`."""

    def steps(index: Any, entry: Any) -> None:
        at, value = cx.temp("int64", 0), cx.temp(source.dtype, len(source.shape))
        reads = [index] if first is None else [index, first]
        with cx.kernel(reads, [at], shapes=False) as (k, refs, (o,)):
            k.set_shape(o, [])
            o[0] = refs[0][0] if first is None else refs[0][0] + refs[1][0]
        cx.array_read(source, at, value)
        cx.array_push(target, value)

    return steps


@register
class ReadFromArrayGrad(OpDef):
    """Zeros like the entries of X, with Out@GRAD as entry I."""

    type = "read_from_array_grad"
    takes_arrays = True
    inputs = ("X", "I", "Out@GRAD")
    outputs = ("X@GRAD",)
    may_raise = True

    @staticmethod
    def infer(array: TensorType, index: TensorType, dout: TensorType) -> TensorType:
        return joined("read_from_array_grad", array, dout)

    @staticmethod
    def reference(array: list, index: np.ndarray, dout: np.ndarray) -> list:
        i = place(index, len(array))
        return [dout if e == i else np.zeros_like(x) for e, x in enumerate(array)]

    @staticmethod
    def lower(cx: Any, array: Any, index: Any, dout: Any, out: Any) -> None:
        zeros = cx.temp(array.dtype, len(array.shape), "array")
        cx.array_zeros(array, zeros)
        cx.array_write(zeros, dout, index, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return None, None, lambda: b.op("read_from_array", X=douts[0], I=ins[1])


@register
class ArrayZerosLike(OpDef):
    """Zeros like the entries of X."""

    type = "array_zeros_like"
    takes_arrays = True
    differentiable = False

    @staticmethod
    def infer(array: TensorType) -> TensorType:
        entry_type("array_zeros_like", array)
        return array

    @staticmethod
    def reference(array: list) -> list:
        return [np.zeros_like(x) for x in array]

    @staticmethod
    def lower(cx: Any, array: Any, out: Any) -> None:
        cx.array_zeros(array, out)
