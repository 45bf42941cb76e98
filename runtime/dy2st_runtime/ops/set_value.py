"""`x[a:b:c, i] = v`, as a value: a changed copy of x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from .. import dtype as dt
from ..errors import AttributeValueError, ShapeError
from ..loopir import nodes as n
from . import nests
from .bounds import Bounds, read_array, read_kernel, read_type
from .registry import Bools, DType, Float64s, Floats, Ints, Longs, OpDef, TensorType, register
from .slicing import flat

_VALUES = {
    "bool_values": Bools(),
    "int32_values": Ints(),
    "int64_values": Longs(),
    "fp32_values": Floats(),
    "fp64_values": Float64s(),
}


@register
class SetValue(OpDef):
    """Input with the slice `[starts : ends : steps]` of `axes` replaced by a value that is broadcast to it.

    The slice loses the axes `decrease_axes`, and gets axes of size 1 at the places `none_axes` of what is left.
    The value is `ValueTensor`, cast to Input's dtype, or the numbers in the attribute for its dtype (`fp32_values`,
    ...) under the shape `shape`. Lists of tensors, one for each axis, give bounds at run time.

    Raises:
        ShapeError: the value does not broadcast to the slice.
        OutOfRangeError: an axis of `decrease_axes` is indexed outside its size.
    """

    type = "set_value"
    inputs = ("Input", "ValueTensor?", "StartsTensorList*", "EndsTensorList*", "StepsTensorList*")
    attrs = {"axes": Ints(), "starts": Longs(), "ends": Longs(), "steps": Longs(), "decrease_axes": Ints(),
             "none_axes": Ints(), "shape": Ints(), "dtype": DType("float32"), **_VALUES}  # fmt: skip
    may_raise = True

    @classmethod
    def may_raise_for(cls, ins: Sequence[TensorType], attrs: dict[str, Any]) -> bool:
        return bool(attrs["decrease_axes"])

    @staticmethod
    def _bounds(read: Any, rank: int, lists: Sequence[Any], attrs: dict[str, Any]) -> Bounds:
        tensors = {name: (None, each) for name, each in zip(("starts", "ends", "strides"), lists, strict=True)}
        steps = attrs["steps"] or [1] * len(attrs["axes"])
        return Bounds.of(
            read, rank, tensors, attrs["axes"], attrs["starts"], attrs["ends"], steps, attrs["decrease_axes"]
        )

    @staticmethod
    def infer(x: TensorType, value: TensorType | None, *lists: Any, **attrs: Any) -> TensorType:
        target = SetValue._bounds(read_type("set_value"), x.rank, lists, attrs).result(x.shape)
        if value is None:
            numbers(attrs)
        check_fits(attrs["shape"] if value is None else value.shape, with_none(target, attrs["none_axes"]))
        return x

    @staticmethod
    def reference(x: np.ndarray, value: np.ndarray | None, *lists: Any, **attrs: Any) -> np.ndarray:
        key = SetValue._bounds(read_array("set_value"), x.ndim, lists, attrs).key(x.shape)
        out = x.copy()
        target = out[key]
        shape = with_none(target.shape, attrs["none_axes"])
        given = numbers(attrs).reshape(attrs["shape"]) if value is None else value
        check_fits(given.shape, shape)
        extra = max(given.ndim - len(shape), 0)
        out[key] = np.broadcast_to(given.reshape(given.shape[extra:]).astype(x.dtype), shape).reshape(target.shape)
        return out

    @staticmethod
    def lower(cx: Any, x: Any, value: Any, *rest: Any, **attrs: Any) -> None:
        *lists, out = rest
        cx.take_over(x, out)
        if value is None:
            value = _constant(cx, attrs, x.dtype)
        with cx.kernel([value, *flat(lists)], [out], shapes=False) as (k, (value, *refs), (out,)):
            by_name = dict(zip((t.name for t in flat(lists)), refs, strict=True))
            found = [[by_name[t.name] for t in ts] for ts in lists]
            bounds = SetValue._bounds(read_kernel(k, len(attrs["axes"])), out.rank, found, attrs)
            shape, strides, at = bounds.native(k, out.shape, nests.strides_of(out.shape))
            shape, strides = with_none(shape, attrs["none_axes"]), with_none(strides, attrs["none_axes"], 0)
            source = nests.broadcast_strides(k, value, shape)

            def body(from_: Any, to: Any) -> None:
                out[to] = n.cast(value[from_], out.dtype)

            nests.walk(k, shape, [source, strides], body, offsets=[0, at])

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, value, starts, ends, steps = ins
        (dout,) = douts
        lists = {"StartsTensorList": starts, "EndsTensorList": ends, "StepsTensorList": steps}

        def dx() -> Any:
            zero = {**attrs, "shape": [1], "dtype": "float32", **{name: [] for name in _VALUES}, "fp32_values": [0.0]}
            return b.op("set_value", Input=dout, **lists, **zero)

        def dvalue() -> Any:
            part = b.op(
                "strided_slice", Input=dout, StartsTensorList=starts, EndsTensorList=ends, StridesTensorList=steps,
                axes=attrs["axes"], starts=attrs["starts"], ends=attrs["ends"],
                strides=attrs["steps"] or [1] * len(attrs["axes"]), decrease_axis=attrs["decrease_axes"],
            )  # fmt: skip
            rank = len(part.shape) + len(attrs["none_axes"])
            places = list(attrs["none_axes"]) + [0] * max(len(value.shape) - rank, 0)
            if places:
                part = b.op("unsqueeze2", X=part, axes=places)
            part = b.sum_to(part, value)
            return part if value.dtype == x.dtype else b.op("cast", X=part, in_dtype=x.dtype, out_dtype=value.dtype)

        return dx, None if value is None else dvalue, None, None, None


def with_none(shape: Sequence[Any], none_axes: Sequence[int], what: Any = 1) -> list[Any]:
    """The shape with axes of size 1 at the given places of the result."""
    out = list(shape)
    for a in sorted(none_axes):
        out.insert(a, what)
    return out


def check_fits(value: Sequence[dims.Dim], target: Sequence[dims.Dim]) -> None:
    """The value must broadcast to the slice, without making it larger; more axes of size 1 in front do not matter."""
    message = f"a value of shape {dims.show(value)} does not fit a slice of shape {dims.show(target)}"
    hint = "it must have the shape of the slice, or 1 in place of some of its sizes"
    extra = len(value) - len(target)
    for d in value[: max(extra, 0)]:
        dims.require_equal(d, 1, message, hint)
    for d, t in zip(reversed(value), reversed(target), strict=False):
        if dims.known(d) and d == 1:
            continue
        if dims.known(d) and dims.known(t):
            if d != t:
                raise ShapeError(message, hint=hint)
        else:
            dims.broadcast_dim(d, t, message, hint)


def numbers(attrs: dict[str, Any]) -> np.ndarray:
    """The value that the attributes hold."""
    given = [attrs[name] for name in _VALUES if attrs[name]]
    if len(given) != 1:
        raise AttributeValueError(f"set_value needs a ValueTensor, or one of {', '.join(_VALUES)}")
    return np.asarray(given[0], dtype=dt.to_numpy(attrs["dtype"]))


def _constant(cx: Any, attrs: dict[str, Any], dtype: str) -> Any:
    values = numbers(attrs)
    temp = cx.temp(dtype, len(attrs["shape"]))
    with cx.kernel([], [temp], shapes=False) as (k, _, (temp_ref,)):
        k.set_shape(temp_ref, [k.attr(d) for d in attrs["shape"]])
        for i, v in enumerate(values):
            temp_ref[i] = n.cast(k.attr(v.item(), attrs["dtype"]), dtype)
    return temp
