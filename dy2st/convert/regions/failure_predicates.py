"""Whether an operation fails, computed before it: for a `try` around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from dy2st_runtime.ir import Variable
from dy2st_runtime.ops.bounds import allowed
from dy2st_runtime.ops.registry import OpDef, TensorType

from ...errors import AttributeValueError, DivisionError, DTypeError, IntegerRangeError, OutOfRangeError
from ...tensor import Tensor
from ...tensor.attribute import sizes
from ...tensor.dispatch import ops
from ...tensor.failures import message_of
from ...tensor.kinds import as_number
from .. import hub
from ..hub import renamed

Test = tuple[Any, Exception]
_NEGATIVE, _OF_ZERO = message_of(ZeroDivisionError, pow, 0.0, -1.0), "zero to a negative integer power"


def tests(op: type[OpDef], ins: Sequence[Any], attrs: dict[str, Any]) -> list[Test] | None:
    """When an op fails, and with what: bool tensors with one element, and exceptions; None if that is not known here."""
    by_slot = {slot.name: value for slot, value in zip(op.input_slots, ins, strict=True)}
    test = _TESTS.get(op.type)
    found = None if test is None else test(by_slot, attrs)
    return None if found is None else [t for t in found if t[0] is not False]


def _basic(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    """Numbers as indices, which slice, strided_slice and set_value have among slices."""
    given = iter(ins.get("StartsTensorList") or ())
    whole, shape = ins.get("StartsTensor"), sizes(ins["Input"])
    found = []
    for n, (axis, start) in enumerate(zip(attrs["axes"], attrs["starts"], strict=True)):
        i = start
        if whole is not None:
            i = as_number(whole[n])
        elif ins.get("StartsTensorList") and start == -1:
            i = as_number(_one(next(given)))
        if axis in attrs.get("decrease_axis", attrs.get("decrease_axes", ())):
            found.append(_outside(i, shape[axis], f"axis {axis} with size {shape[axis]}"))
    return found


def _outside(i: Any, size: Any, what: str) -> Test:
    flag = hub.or_test(lambda: i < -size, lambda: i >= size)
    return flag, OutOfRangeError(f"index {i} is out of range for {what}", hint=None if isinstance(size, Tensor) else allowed(size))


def _indices(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    """Arrays as indices."""
    x = ins["x" if "x" in ins else "X"]
    indices = ins.get("Indices", ins.get("indices", ins.get("Index")))
    shape, first = sizes(x), attrs.get("axis", attrs.get("dim", 0))
    first = first + len(shape) if first < 0 else first
    found = []
    for axis, index in enumerate(indices if isinstance(indices, list) else [indices], start=first):
        size = shape[axis]
        bad = (index < -size) | (index >= size)
        found.append(_first(bad, index, f"axis {axis} with size {size}"))
    return found


def _first(bad: Tensor, index: Tensor, what: str) -> Test:
    """The error names the first index that is bad."""
    bad, index = bad.reshape([-1]), index.reshape([-1]).astype("int64")
    before = bad.astype("int64").cumsum()
    value = as_number((index * bad.astype("int64") * (before == 1).astype("int64")).sum())
    return bad.any(), OutOfRangeError(f"index {value} is out of range for {what}")


def _rows(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    ids, rows = ins["Ids"], sizes(ins["W"])[0]
    return [_first((ids < 0) | (ids >= rows), ids, f"an embedding table of size {rows}")]


def _divided(what: str) -> Callable[[dict[str, Any], dict[str, Any]], list[Test]]:
    def test(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
        if _is_number(ins["Y"]):
            return []
        zero = (ins["Y"] == 0).any()
        # of no elements none is divided
        count = 1
        for size in sizes(ins["X"]):
            count = count * size
        return [(hub.or_test(lambda: False, lambda: zero & (count > 0)), DivisionError(f"integer {what} by zero"))]

    return test


def _is_number(x: Tensor) -> bool:
    """Whether x is a number of the source, other than zero."""
    v = x._value
    maker = next((op for op in reversed(v.block.ops) if v.name in op.output_names), None) if isinstance(v, Variable) else None
    return maker is not None and maker.type == "fill_constant" and not any(maker.input_names) and maker.attrs["value"] != 0


def _stepped(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    step = ins["Step"]
    if step.dtype.startswith("float"):
        bounds = (ins["End"] - ins["Start"]) / step
        return [(_one(~bounds.isfinite()), AttributeValueError("the bounds of a range must be finite"))]
    return [(_one(step == 0), AttributeValueError("the step of a range must not be zero"))]


def _shifted(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    return [((ins["Y"] < 0).any(), AttributeValueError("negative shift count"))]


def is_power_of_floats(op: type[OpDef], ins: Sequence[TensorType], attrs: dict[str, Any]) -> bool:
    """Whether an op is `**` of two floats of Python. It raises what Python does, and is computed like one that does not: where nobody uses
    the result, or sooner."""
    return op.type == "elementwise_pow" and bool(attrs.get("checked")) and ins[0].dtype == "float64"


def _powered(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    x, y = renamed(ins["X"]), renamed(ins["Y"])
    if not x.dtype.startswith("float"):
        return [(((x == 0) & (y < 0)).any(), DivisionError(_OF_ZERO))]
    beyond = ops.op("isinf_v2", X=ops.op("elementwise_pow", X=x, Y=y))
    finite = ops.op("logical_and", X=ops.op("isfinite_v2", X=x), Y=ops.op("isfinite_v2", X=y))
    # the first one found is raised
    return [(_one((x == 0.0) & (y < 0.0)), ZeroDivisionError(_NEGATIVE)),
            (_one(beyond & finite), OverflowError(34, "Numerical result out of range"))]  # fmt: skip


def _int(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    x = ins["X"]
    return [(_one(x.isnan()), ValueError("cannot convert float NaN to integer")),
            (_one(x.isinf()), OverflowError("cannot convert float infinity to integer"))]  # fmt: skip


def _fitted(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    x, dtype = as_number(_one(ins["X"])), attrs["out_dtype"]
    limits = np.iinfo(dtype)
    beyond = IntegerRangeError(f"{x} is out of range for {dtype}", hint="cast the tensor it meets to a wider dtype")
    if not x.dtype.startswith("float"):
        return [((x < int(limits.min)) | (x > int(limits.max)), beyond)]
    # what is before the point counts
    whole = ops.op("trunc", X=x)
    outside = (whole < float(limits.min)) | (whole >= float(int(limits.max) + 1))
    return [(ops.op("logical_not", X=ops.op("isfinite_v2", X=x)), DTypeError(f"{x} cannot be an {dtype}")), (outside, beyond)]


def _one(x: Tensor) -> Tensor:
    return x.reshape([])


def _entry(what: str) -> Callable[[dict[str, Any], dict[str, Any]], list[Test]]:
    """A handler is shown the exception that a list of Python raises."""

    def test(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
        i, length = as_number(_one(ins["I"])), _length(ins)
        return [(hub.or_test(lambda: i < -length, lambda: i >= length), IndexError(f"list {what} out of range"))]

    return test


def _popped(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test]:
    return [(_length(ins) == 0, IndexError("pop from empty list"))]


def _stacked(ins: dict[str, Any], attrs: dict[str, Any]) -> list[Test] | None:
    if -1 in ins["X"]._value.shape:
        return None  # entries may differ in shape
    what = "stack" if attrs.get("use_stack") else "concat"
    return [(_length(ins) == 0, AttributeValueError(f"{what} needs at least one tensor"))]


def _length(ins: dict[str, Any]) -> Tensor:
    return as_number(ops.op("lod_array_length", X=ins.get("Array", ins.get("X"))))


_TESTS: dict[str, Callable[[dict[str, Any], dict[str, Any]], list[Test] | None]] = {
    **dict.fromkeys(("slice", "strided_slice", "set_value"), _basic),
    **dict.fromkeys(("index_get", "index_put", "gather", "index_select"), _indices),
    "lookup_table_v2": _rows,
    "elementwise_floordiv": _divided("division"),
    "elementwise_mod": _divided("modulo"),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), _shifted),
    "elementwise_pow": _powered,
    "pow": lambda ins, attrs: [((ins["X"] == 0).any(), DivisionError(_OF_ZERO))],
    "range": _stepped,
    "python_int": _int,
    "fitted_int": _fitted,
    "read_from_array": _entry("index"),
    "array_set": _entry("assignment index"),
    "array_pop": _popped,
    "array_remove": _entry("assignment index"),
    "tensor_array_to_tensor": _stacked,
}
