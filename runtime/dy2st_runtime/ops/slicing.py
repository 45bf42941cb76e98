"""Basic indexing: slice and strided_slice, with their gradients. Bounds are attributes, or tensors at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import dims
from ..loopir import nodes as n
from . import nests
from .bounds import Bounds, read_array, read_kernel, read_type
from .checked import remembered
from .registry import Ints, OpDef, TensorType, register


class _Slicing(OpDef):
    """What both ops and their gradients share. The rules get the tensors of the bounds in the order of the slots."""

    attrs = {"axes": Ints(), "starts": Ints(), "ends": Ints(), "infer_flags": Ints(), "decrease_axis": Ints()}
    may_raise = True
    only_moves = True
    fewest: ClassVar[int] = 1
    """The inputs that there are if no tensor gives bounds."""

    @classmethod
    def may_raise_for(cls, ins: Sequence[TensorType], attrs: dict[str, Any]) -> bool:
        """Not where each index and the size that it must fit are known, as of `x.shape[0]`."""
        if not attrs["decrease_axis"] or len(ins) > cls.fewest:
            return bool(attrs["decrease_axis"])
        shape, rank = ins[0].shape, ins[0].rank
        starts = {dims.normalize_axis(a, rank): start for a, start in zip(attrs["axes"], attrs["starts"], strict=True)}
        sizes = {a: shape[a] for a in (dims.normalize_axis(a, rank) for a in attrs["decrease_axis"])}
        return not all(dims.known(d) and -d <= starts[a] < d for a, d in sizes.items())

    @classmethod
    def bounds(cls, read: Any, rank: int, tensors: Any, attrs: dict[str, Any]) -> Bounds:
        """`tensors`: one tensor each for starts, ends (and strides), then a list each; None or [] where absent."""
        half = len(tensors) // 2
        pairs = dict(zip(("starts", "ends", "strides"), zip(tensors[:half], tensors[half:], strict=True), strict=False))
        return Bounds.of(
            read,
            rank,
            pairs,
            attrs["axes"],
            attrs["starts"],
            attrs["ends"],
            attrs.get("strides"),
            attrs["decrease_axis"],
        )

    @classmethod
    def result_type(cls, x: TensorType, tensors: Any, attrs: dict[str, Any]) -> TensorType:
        return x.with_shape(cls.bounds(read_type(cls.type), x.rank, tensors, attrs).result(x.shape))

    @classmethod
    def key(cls, x: np.ndarray, tensors: Any, attrs: dict[str, Any]) -> tuple[Any, ...]:
        for t in tensors:
            if t is not None and (type(t) is not list or t):
                return cls.bounds(read_array(cls.type), x.ndim, tensors, attrs).key(x.shape)
        strides = tuple(attrs["strides"]) if "strides" in attrs else None
        bounds = tuple(attrs["starts"]), tuple(attrs["ends"]), strides
        return _key_of_ints(x.shape, tuple(attrs["axes"]), *bounds, tuple(attrs["decrease_axis"]))

    @classmethod
    def native(cls, k: Any, x: Any, tensors: Any, refs: Any, attrs: dict[str, Any]) -> tuple[list[Any], list[Any], Any]:
        """Sizes, strides in x, offset; `refs` are the arguments for the tensors that are present."""
        by_name = dict(zip((t.name for t in flat(tensors)), refs, strict=True))
        found = [
            [by_name[t.name] for t in ts] if isinstance(ts, list) else (None if ts is None else by_name[ts.name])
            for ts in tensors
        ]
        bounds = cls.bounds(read_kernel(k, len(attrs["axes"])), x.rank, found, attrs)
        return bounds.native(k, x.shape, nests.strides_of(x.shape))


@remembered
def _key_of_ints(shape: tuple[int, ...], axes: tuple[int, ...], starts: tuple[int, ...], ends: tuple[int, ...],
                 strides: tuple[int, ...] | None, decrease: tuple[int, ...]) -> tuple[Any, ...]:  # fmt: skip
    """What NumPy is indexed with where attributes give all bounds."""
    read = read_array("slice")
    steps = None if strides is None else list(strides)
    return Bounds.of(read, len(shape), {}, list(axes), list(starts), list(ends), steps, list(decrease)).key(shape)


def flat(tensors: Any) -> list[Any]:
    """The tensors of some slots, lists taken apart, absent ones left out."""
    return [t for ts in tensors for t in (ts if isinstance(ts, list) else [ts]) if t is not None]


class _Read(_Slicing):
    @classmethod
    def infer(cls, x: TensorType, *tensors: Any, **attrs: Any) -> TensorType:
        return cls.result_type(x, tensors, attrs)

    @classmethod
    def reference(cls, *ins: Any, **attrs: Any) -> np.ndarray:
        return cls.evaluate(ins, attrs)

    @classmethod
    def evaluate(cls, ins: tuple[Any, ...], attrs: dict[str, Any]) -> np.ndarray:
        return ins[0][cls.key(ins[0], ins[1:], attrs)]

    @classmethod
    def lower(cls, cx: Any, x: Any, *rest: Any, **attrs: Any) -> None:
        *tensors, out = rest
        with cx.kernel([x, *flat(tensors)], [out], shapes=False) as (k, (x, *refs), (out,)):
            shape, strides, at = cls.native(k, x, tensors, refs, attrs)
            k.set_shape(out, shape)
            nests.copy(k, shape, x, strides, out, nests.strides_of(shape), source_at=at)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        slots = {slot.name: value for slot, value in zip(cls.input_slots, ins, strict=True)}
        return (lambda: b.op(f"{cls.type}_grad", **slots, **{"Out@GRAD": douts[0]}, **attrs), *(None for _ in ins[1:]))

    @classmethod
    def add_grad(cls, total: np.ndarray, ins: tuple[Any, ...], attrs: dict[str, Any], dout: np.ndarray) -> None:
        total[cls.key(total, ins[1:], attrs)] += dout


class _Gradient(_Slicing):
    """Zeros of Input's shape with Out@GRAD at the place of the slice."""

    shape_only = frozenset({"Input"})
    outputs = ("Input@GRAD",)
    fewest = 2

    @classmethod
    def infer(cls, x: TensorType, *rest: Any, **attrs: Any) -> TensorType:
        *tensors, dout = rest
        message = f"{cls.title}: the gradient does not have the shape of the slice"
        dims.require_same_shape(dout.shape, cls.result_type(x, tensors, attrs).shape, message)
        return dout.with_shape(x.shape)

    @classmethod
    def reference(cls, x: np.ndarray, *rest: Any, **attrs: Any) -> np.ndarray:
        *tensors, dout = rest
        dx = np.zeros(x.shape, dout.dtype)
        dx[cls.key(x, tensors, attrs)] = dout
        return dx

    @classmethod
    def lower(cls, cx: Any, x: Any, *rest: Any, **attrs: Any) -> None:
        *tensors, dout, out = rest
        with cx.kernel([x], [out], shapes=False) as (k, (x,), (dx,)):
            k.set_shape(dx, x.shape)
            nests.fill(k, dx, 0)
        with cx.kernel([dout, *flat(tensors)], [out], shapes=False) as (k, (dout, *refs), (dx,)):
            shape, strides, at = cls.native(k, dx, tensors, refs, attrs)
            for d, size in zip(dout.shape, shape, strict=True):
                k.fail_if(n.as_expr(d) != size)
            nests.copy(k, shape, dout, nests.strides_of(shape), dx, strides, target_at=at)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        slots = {slot.name: value for slot, value in zip(cls.input_slots[1:-1], ins[1:-1], strict=True)}
        forward = cls.type.removesuffix("_grad")
        return (*(None for _ in ins[:-1]), lambda: b.op(forward, Input=douts[0], **slots, **attrs))


@register
class Slice(_Read):
    """The part of Input between `starts` and `ends` on each of `axes`, cut off as Python cuts it; see `bounds`.

    `StartsTensor` and `EndsTensor` (1-D), or a list of tensors, one for each axis, give bounds at run time.

    Raises:
        OutOfRangeError: an axis of `decrease_axis` is indexed outside its size.
    """

    type = "slice"
    inputs = ("Input", "StartsTensor?", "EndsTensor?", "StartsTensorList*", "EndsTensorList*")


@register
class SliceGrad(_Gradient):
    """The gradient of `slice`."""

    type = "slice_grad"
    inputs = (*Slice.inputs, "Out@GRAD")


@register
class StridedSlice(_Read):
    """`slice` with steps, which may be negative: `ends` is then a lower bound."""

    type = "strided_slice"
    inputs = (
        "Input",
        "StartsTensor?",
        "EndsTensor?",
        "StridesTensor?",
        "StartsTensorList*",
        "EndsTensorList*",
        "StridesTensorList*",
    )
    attrs = {**_Slicing.attrs, "strides": Ints()}
    sizes_in = frozenset({"StridesTensor", "StridesTensorList"})


@register
class StridedSliceGrad(_Gradient):
    """The gradient of `strided_slice`."""

    type = "strided_slice_grad"
    inputs = (*StridedSlice.inputs, "Out@GRAD")
    attrs = StridedSlice.attrs
