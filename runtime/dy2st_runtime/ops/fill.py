"""Constants, ranges, `assign`, and sizes as values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dims, dtype
from ..dtype import name_of
from ..errors import AttributeValueError, IntegerRangeError, ShapeError
from ..loopir import nodes as n
from . import sized, sizes
from .bounds import TO_THE_END, TO_THE_START
from .python_int import require_room
from .registry import Bool, DType, Float, Float64s, Floats, Int, Ints, Longs, OpDef, Str, TensorType, register


def typed_value(value: float, dtype_name: str) -> float | int | bool:
    """A number of the dtype.

    Raises:
        DTypeError: an integer dtype, and infinity or NaN.
        IntegerRangeError: an integer dtype that does not hold it.
    """
    if dtype_name == "bool":
        return bool(value)
    if dtype.is_float(dtype_name):
        return float(value)
    require_room(value, dtype_name)
    return int(value)


@register
class FillConstant(OpDef):
    """A tensor of one value. `str_value`, if given, is the value as text: a float attribute holds no large int64. The value can also come
    from a tensor of one element, `ValueTensor`."""

    type = "fill_constant"
    title = "full"
    inputs = ("ValueTensor?", *sized.SLOTS)
    attrs = {"shape": Longs(), "dtype": DType("float32"), "value": Float(0.0), "str_value": Str(""),
             "force_cpu": Bool(False), "place_type": Int(-1)}  # fmt: skip
    differentiable = False
    sizes_in = frozenset({"ShapeTensor", "ShapeTensorList"})
    any_count_fits = True

    @staticmethod
    def infer(value_in: TensorType | None, shape_in: TensorType | None, sizes_in: list, *, shape: list[int], dtype: str,
              value: float, str_value: str, **_: Any) -> TensorType:  # fmt: skip
        if value_in is None:
            _parsed(value, str_value, dtype)
        else:
            sizes.check_one("full", "ValueTensor", value_in)
        return TensorType(dtype, sized.infer_shape("full", shape, shape_in, sizes_in))

    @staticmethod
    def reference(value_in: np.ndarray | None, shape_in: np.ndarray | None, sizes_in: list, *, shape: list[int], dtype: str,
                  value: float, str_value: str, **_: Any) -> np.ndarray:  # fmt: skip
        target = sized.shape_value("full", shape, shape_in, sizes_in)
        if value_in is not None:
            return np.full(target, value_in.reshape(()), dtype)
        return np.full(target, _parsed(value, str_value, dtype), dtype)

    @staticmethod
    def lower(cx: Any, value_in: Any, shape_in: Any, sizes_in: list, out: Any, *, shape: list[int], dtype: str, value: float,
              str_value: str, **_: Any) -> None:  # fmt: skip
        reads = [v for v in (value_in, shape_in, *sizes_in) if v is not None]
        with cx.kernel(reads, [out], shapes=False) as (k, refs, (o,)):
            value_ref = refs[0] if value_in is not None else None
            rest = refs[1:] if value_in is not None else refs
            shape_ref = rest[0] if shape_in is not None else None
            k.set_shape(o, sized.native_sizes(k, o.rank, shape, shape_ref, rest[1:] if shape_in is not None else rest))
            if value_ref is not None:
                v = k.let(n.cast(sizes.one_element(k, value_ref), dtype))
            else:
                v = k.attr(_parsed(value, str_value, dtype), dtype)
            with k.parallel(o.size) as i:
                o[i] = v


def _parsed(value: float, text: str, dtype_name: str) -> float | int | bool:
    """The number that `value`, or a text if there is one, gives a dtype."""
    if not text:
        return typed_value(value, dtype_name)
    for read in (int, float) if dtype.is_int(dtype_name) else (float,):
        try:
            number: float = read(text)
        except ValueError:
            continue
        return typed_value(number, dtype_name)
    raise AttributeValueError(f"full: {text!r} is no number")


@register
class FillAnyLike(OpDef):
    """`value` in the shape of X, and in its dtype unless `dtype` is given."""

    type = "fill_any_like"
    attrs = {"value": Float(0.0), "dtype": DType(None)}
    differentiable = False
    shape_only = frozenset({"X"})

    @staticmethod
    def infer(x: TensorType, *, value: float, dtype: str | None) -> TensorType:
        typed_value(value, dtype or x.dtype)
        return TensorType(dtype or x.dtype, x.shape)

    @staticmethod
    def reference(x: np.ndarray, *, value: float, dtype: str | None) -> np.ndarray:
        name = dtype or name_of(x)
        return np.full(x.shape, typed_value(value, name), name)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, value: float, dtype: str | None) -> None:
        with cx.kernel([x], [out]) as (k, _, (o,)):
            v = k.attr(typed_value(value, o.dtype), o.dtype)
            with k.parallel(o.size) as i:
                o[i] = v


@register
class FillZerosLike(OpDef):
    """Zeros of X's shape and dtype."""

    type = "fill_zeros_like"
    differentiable = False
    shape_only = frozenset({"X"})

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return x

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        return np.zeros(x.shape, x.dtype)

    @staticmethod
    def lower(cx: Any, x: Any, out: Any) -> None:
        FillAnyLike.lower(cx, x, out, value=0.0, dtype=None)


_VALUES = {"bool_values": Ints(), "int32_values": Ints(), "int64_values": Longs(), "fp32_values": Floats(), "fp64_values": Float64s()}
_VALUES_OF = {"bool": "bool_values", "int64": "int64_values", "float32": "fp32_values", "float16": "fp32_values", "float64": "fp64_values"}


def assign_value_attrs(array: np.ndarray) -> dict[str, Any]:
    """The attributes with which `assign_value` makes this array.

    >>> assign_value_attrs(np.array([1, 2]))
    {'shape': [2], 'dtype': 'int64', 'int64_values': [1, 2]}
    """
    name = array.dtype.name
    return {"shape": list(array.shape), "dtype": name, _VALUES_OF.get(name, "int32_values"): array.reshape(-1).tolist()}


@register
class AssignValue(OpDef):
    """A constant tensor; the values are in the attribute for its kind of dtype (see `assign_value_attrs`)."""

    type = "assign_value"
    inputs = ()
    attrs = {"shape": Ints(), "dtype": DType("float32"), **_VALUES}
    differentiable = False

    @staticmethod
    def values(shape: list[int], dtype_name: str, lists: dict[str, list]) -> list:
        """The values in C order; ShapeError if they are not as many as the shape says."""
        found: list = next((v for v in lists.values() if v), [])
        if len(found) != math.prod(shape):
            raise ShapeError(f"assign_value of shape {shape} has {len(found)} values")
        return [typed_value(v, dtype_name) for v in found]

    @staticmethod
    def infer(*, shape: list[int], dtype: str, **lists: list) -> TensorType:
        AssignValue.values(shape, dtype, lists)
        return TensorType(dtype, tuple(shape))

    @staticmethod
    def reference(*, shape: list[int], dtype: str, **lists: list) -> np.ndarray:
        return np.array(AssignValue.values(shape, dtype, lists), dtype).reshape(shape)

    @staticmethod
    def lower(cx: Any, out: Any, *, shape: list[int], dtype: str, **lists: list) -> None:
        values = AssignValue.values(shape, dtype, lists)
        with cx.kernel([], [out], shapes=False) as (k, _, (o,)):
            k.set_shape(o, [k.attr(d) for d in shape])
        # the values are arguments, not code: kernels of a few sizes serve every constant
        at = 0
        for size in (64, 8, 1):
            while len(values) - at >= size:
                with cx.kernel([], [out], shapes=False) as (k, _, (o,)):
                    start = k.attr(at)
                    for j in range(size):
                        o[start + j] = k.attr(values[at + j], dtype)
                at += size


@register
class Assign(OpDef):
    """The value of X under another name; also of a TensorArray."""

    type = "assign"
    takes_arrays = True
    view = {"Out": "X"}

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return x

    @staticmethod
    def reference(x: Any) -> Any:
        return x

    @staticmethod
    def lower(cx: Any, x: Any, out: Any) -> None:
        cx.alias(x, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return (douts[0],)


@register
class Range(OpDef):
    """Start, Start + Step, ... up to End, not included; empty if End lies on the wrong side. A Step of 0 raises ValueError."""

    type = "range"
    inputs = ("Start", "End", "Step")
    differentiable = False
    may_raise = True

    @staticmethod
    def infer(start: TensorType, end: TensorType, step: TensorType) -> TensorType:
        for what, t in (("Start", start), ("End", end), ("Step", step)):
            sizes.check_one("range", what, t)
        return TensorType(dtype.promote(dtype.promote(start.dtype, end.dtype), step.dtype), (dims.UNKNOWN,))

    @staticmethod
    def reference(start: np.ndarray, end: np.ndarray, step: np.ndarray) -> np.ndarray:
        name = Range.infer(*map(TensorType.of, (start, end, step))).dtype
        kind: Any = float if dtype.is_float(name) else int
        first, last, by = (kind(v.reshape(())) for v in (start, end, step))
        if by == 0:
            raise AttributeValueError("the step of a range must not be zero")
        if kind is int:
            if abs(first - last) > TO_THE_END:
                raise AttributeValueError(f"the bounds of a range are too far apart: {first} and {last}")
            count = -((first - last) // by)
        else:
            if not math.isfinite((last - first) / by):
                raise AttributeValueError(f"the bounds of a range must be finite, got {first}, {last}, {by}")
            count = math.ceil((last - first) / by)
        return (first + np.arange(max(count, 0)) * by).astype(name)

    @staticmethod
    def lower(cx: Any, start: Any, end: Any, step: Any, out: Any) -> None:
        with cx.kernel([start, end, step], [out], shapes=False) as (k, refs, (o,)):
            wide = "float64" if dtype.is_float(o.dtype) else "int64"
            first, last, by = (k.let(n.cast(sizes.one_element(k, r), wide)) for r in refs)
            k.fail_if(by == 0)
            if wide == "int64":
                back = k.let(first - last)
                wraps = ((first < 0) ^ (last < 0)) & ((first < 0) ^ (back < 0))
                k.fail_if(wraps | (back > TO_THE_END) | (back < TO_THE_START))
                count = -(back // by)
            else:
                steps = k.let((last - first) / by)
                k.fail_if(~n.call("isfinite", steps))
                count = n.cast(n.call("ceil", steps), n.INDEX)
            k.set_shape(o, [k.let(n.maximum(count, 0), "count")])
            with k.parallel(o.size) as i:
                o[i] = n.cast(first + n.cast(i, wide) * by, o.dtype)


@register
class Linspace(OpDef):
    """Num values from Start to Stop, both included."""

    type = "linspace"
    inputs = ("Start", "Stop", "Num")
    attrs = {"dtype": DType("float32")}
    differentiable = False
    may_raise = True

    @staticmethod
    def infer(start: TensorType, stop: TensorType, num: TensorType, *, dtype: str) -> TensorType:
        for what, t in (("Start", start), ("Stop", stop), ("Num", num)):
            sizes.check_one("linspace", what, t)
        return TensorType(dtype, (dims.UNKNOWN,))

    @staticmethod
    def reference(start: np.ndarray, stop: np.ndarray, num: np.ndarray, *, dtype: str) -> np.ndarray:
        Linspace.infer(*map(TensorType.of, (start, stop, num)), dtype=dtype)
        first, last, count = float(start.reshape(())), float(stop.reshape(())), int(num.reshape(()))
        if count < 1:
            raise AttributeValueError(f"linspace needs at least one value, got Num = {count}")
        step = (last - first) / max(count - 1, 1)
        i = np.arange(count)
        # from both ends, so that the last value is exactly Stop
        return np.where(i < (count + 1) // 2, first + i * step, last - (count - 1 - i) * step).astype(dtype)

    @staticmethod
    def lower(cx: Any, start: Any, stop: Any, num: Any, out: Any, *, dtype: str) -> None:
        with cx.kernel([start, stop, num], [out], shapes=False) as (k, (a, z, m), (o,)):
            first, last = (k.let(n.cast(sizes.one_element(k, r), "float64")) for r in (a, z))
            count = k.let(n.cast(sizes.one_element(k, m), n.INDEX), "count")
            k.fail_if(count < 1)
            k.set_shape(o, [count])
            step = k.let((last - first) / n.cast(n.maximum(count - 1, 1), "float64"))
            with k.parallel(o.size) as i:
                forward = first + n.cast(i, "float64") * step
                backward = last - n.cast(count - 1 - i, "float64") * step
                o[i] = n.cast(n.select(i < (count + 1) // 2, forward, backward), o.dtype)


@register
class Eye(OpDef):
    """Ones on the diagonal, zeros elsewhere; `num_columns` -1: as many as rows."""

    type = "eye"
    inputs = ()
    attrs = {"num_rows": Int(0), "num_columns": Int(-1), "dtype": DType("float32")}
    differentiable = False

    @staticmethod
    def infer(*, num_rows: int, num_columns: int, dtype: str) -> TensorType:
        sized.check_sizes("eye", [num_rows])
        return TensorType(dtype, (num_rows, num_rows if num_columns < 0 else num_columns))

    @staticmethod
    def reference(*, num_rows: int, num_columns: int, dtype: str) -> np.ndarray:
        sized.check_sizes("eye", [num_rows])
        return np.eye(num_rows, num_rows if num_columns < 0 else num_columns, dtype=dtype)

    @staticmethod
    def lower(cx: Any, out: Any, *, num_rows: int, num_columns: int, dtype: str) -> None:
        with cx.kernel([], [out], shapes=False) as (k, _, (o,)):
            rows, columns = k.attr(num_rows), k.attr(num_rows if num_columns < 0 else num_columns)
            k.set_shape(o, [rows, columns])
            with k.parallel(rows * columns) as i:
                o[i] = n.select(i // columns == i % columns, n.Const(typed_value(1, dtype), dtype), n.Const(typed_value(0, dtype), dtype))


LARGEST = 2**31 - 1
"""The largest size that `shape` gives."""


@register
class ShapeOf(OpDef):
    """The sizes of Input as int32, one entry for each axis.

    Raises:
        IntegerRangeError: a size is 2**31 or more.
    """

    type = "shape"
    inputs = ("Input",)
    differentiable = False
    shape_only = frozenset({"Input"})

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return TensorType("int32", (x.rank,))

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        for d in x.shape:
            if d > LARGEST:
                raise IntegerRangeError(f"shape gives int32, which cannot hold the size {d}",
                                        hint="sizes that a program reads must be less than 2**31")  # fmt: skip
        return np.array(x.shape, "int32")

    @staticmethod
    def lower(cx: Any, x: Any, out: Any) -> None:
        with cx.kernel([x], [out]) as (k, (x_ref,), (o,)):
            for axis, d in enumerate(x_ref.shape):
                k.fail_if(n.as_expr(d, n.INDEX) > LARGEST)
                o[axis] = n.cast(n.as_expr(d, n.INDEX), "int32")


@register
class SizeOf(OpDef):
    """The number of elements of Input as int64."""

    type = "size"
    inputs = ("Input",)
    differentiable = False
    shape_only = frozenset({"Input"})

    @staticmethod
    def infer(x: TensorType) -> TensorType:
        return TensorType("int64", ())

    @staticmethod
    def reference(x: np.ndarray) -> np.ndarray:
        return np.array(x.size, "int64")

    @staticmethod
    def lower(cx: Any, x: Any, out: Any) -> None:
        with cx.kernel([x], [out]) as (_, (x_ref,), (o,)):
            o[0] = n.as_expr(x_ref.size, n.INDEX)
