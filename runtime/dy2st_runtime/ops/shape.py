"""Ops that show the same elements, in the same order, under another shape. None of them copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import dims
from ..errors import AttributeValueError, OutOfRangeError, ShapeError
from ..loopir import nodes as n
from . import nests, sizes
from .checked import CheckedOp, remembered
from .registry import Int, Ints, OpDef, Str, TensorType, register


class View(OpDef):
    """Base of ops with one tensor in, the same elements out. `XShape` is an output that Paddle's files name; it is
    never made. Subclasses whose sizes follow from the shape of the input alone get `lower` from here.
    """

    inputs: ClassVar[tuple[str, ...]] = ("X",)
    outputs: ClassVar[tuple[str, ...]] = ("Out", "XShape?")
    view = {"Out": "X"}
    only_moves = True

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, xshape: Any, **attrs: Any) -> None:
        cx.alias(x, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return (lambda: b.op("reshape_as", X=douts[0], Y=ins[0]), *(None for _ in ins[1:]))


@register
class Reshape(View):
    """X under the shape `shape`: 0 keeps X's size at this place, one -1 takes what is left.

    `Shape` (1-D) or `ShapeTensor` (a tensor for each dim) give sizes that are known at run time only.

    Raises:
        ShapeError: the numbers of elements differ.
    """

    type = "reshape2"
    inputs = ("X", "Shape?", "ShapeTensor*")
    sizes_in = frozenset({"Shape", "ShapeTensor"})
    attrs = {"shape": Ints()}

    @staticmethod
    def infer(x: TensorType, shape_t: TensorType | None, each: list[TensorType], *, shape: list[int]) -> tuple:
        return x.with_shape(_reshaped(x.shape, sizes.inferred("reshape2", "Shape", shape, shape_t, each))), None

    @staticmethod
    def reference(x: np.ndarray, shape_t: Any, each: list, *, shape: list[int]) -> tuple:
        wanted = shape if shape_t is None and not each else sizes.values("reshape2", "Shape", shape, shape_t, each)
        return x.reshape(_shape_of_ints(x.shape, tuple(wanted))), None

    @staticmethod
    def lower(cx: Any, x: Any, shape_t: Any, each: list, out: Any, xshape: Any, *, shape: list[int]) -> None:  # type: ignore[override]
        if x.shape == out.shape and -1 not in x.shape:
            cx.alias(x, out)
            return
        with cx.view(x, out, each or ([] if shape_t is None else [shape_t])) as (k, x, reads, out):
            dynamic = (
                sizes.exprs(k, (), None if each else reads[0], reads if each else (), out.rank)
                if reads
                else [None] * out.rank
            )
            k.set_shape(out, _native_dims(k, x, shape if len(shape) == out.rank else [-1] * out.rank, dynamic))


@remembered
def _shape_of_ints(old: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    return _reshaped(old, wanted)


_FREE = "-1 in place of one size stands for what is left"


def _reshaped(old: Sequence[dims.Dim], wanted: Sequence[dims.Dim]) -> tuple[dims.Dim, ...]:
    """The sizes that `wanted` stands for: ints (0 and -1 as in the op), or UNKNOWN."""
    message = f"a tensor of shape {dims.show(old)} cannot be reshaped to [{', '.join(map(str, wanted))}]"
    out: list[dims.Dim] = []
    kept, rest = set(), []
    for i, d in enumerate(wanted):
        if dims.known(d) and d == 0:
            if i >= len(old):
                raise ShapeError(f"{message}: there is no dim {i} to keep")
            kept.add(i)
            out.append(old[i])
            continue
        if dims.known(d) and d == -1:
            rest.append(i)
        elif dims.known(d) and d < 0:
            raise ShapeError(f"{message}: {d} is no size")
        out.append(d)
    if len(rest) > 1:
        raise ShapeError(f"{message}: only one dim can be -1", hint="give the other sizes")
    if not rest:
        dims.require_equal(dims.product(old), dims.product(out), f"{message}: the numbers of elements differ", _FREE)
        return tuple(out)
    # the kept dims cancel, so that [?, 4, 5] under [0, -1] is [?, 20] without a division
    source = [d for i, d in enumerate(old) if i not in kept]
    given = dims.product([d for i, d in enumerate(out) if i not in kept and i != rest[0]])
    out[rest[0]] = _quotient(source, given, message)
    return tuple(out)


def _quotient(source: list[dims.Dim], given: dims.Dim, message: str) -> dims.Dim:
    if not dims.known(given):
        return dims.UNKNOWN if isinstance(given, dims.Unknown) else dims.product(source) // given
    fixed = dims.product([d for d in source if dims.known(d)])
    open_ = [d for d in source if not dims.known(d)]
    if open_ and fixed % given == 0:
        return dims.product([*open_, fixed // given])
    total = dims.product(source)
    dims.require_divisible(total, given, f"{message}: the number of elements is not divisible")
    return total // given


def _native_dims(k: Any, x: Any, wanted: Sequence[int], dynamic: Sequence[n.Expr | None]) -> list[Any]:
    """The same computed by a kernel, with the checks; `dynamic` holds the values that tensors give (else None)."""
    out: list[Any] = []
    # the elements of the dims that are kept and of those that are not, those of the given dims that are not kept, the number of -1
    kept, free, given, rests = n.as_expr(1), n.as_expr(1), n.as_expr(1), n.as_expr(0)
    for i, (d, e) in enumerate(zip(wanted, dynamic, strict=True)):
        own = n.as_expr(x.shape[i]) if i < x.rank else None
        value = e if e is not None else n.as_expr(d) if d in (0, -1) else k.attr(d)
        keep, rest = value == 0, value == -1
        if e is None:
            keep, rest = n.as_expr(d == 0), n.as_expr(d == -1)
        k.fail_if((value < -1) | keep if own is None else value < -1)
        if own is not None:
            free = free * n.select(keep, 1, own)
            kept = kept * n.select(keep, own, 1)
            out.append(k.let(n.select(keep, own, value)))
        else:
            out.append(value)
        given = given * n.select(keep | rest, 1, value)
        rests = rests + n.select(rest, 1, 0)
    free = k.let(free * nests.span(x.shape[len(wanted) :]))
    given, rests = k.let(given), k.let(rests)
    size = k.let(free // n.maximum(given, 1))
    # beside a kept dim of no elements the other dims may be any
    k.fail_if((rests > 1) | ((n.select(rests == 1, size * given, given) != free) & ((kept != 0) | (rests == 1))))
    return [k.let(n.select(d == -1, size, d)) for d in out]


@register
class ReshapeAs(CheckedOp, View):
    """X's elements under the shape of Y: the gradient of every view."""

    type = "reshape_as"
    inputs = ("X", "Y")
    outputs = ("Out",)
    shape_only = frozenset({"Y"})

    @staticmethod
    def infer(x: TensorType, y: TensorType) -> TensorType:
        dims.require_equal(
            dims.product(x.shape),
            dims.product(y.shape),
            f"{dims.show(x.shape)} cannot be reshaped to {dims.show(y.shape)}",
        )
        return x.with_shape(y.shape)

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x.reshape(y.shape)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any) -> None:  # type: ignore[override]
        cx.alias(x, out)


@register
class SameShape(CheckedOp, View):
    """X, which must have the shape of Like: a value that takes the place of another one, or what else the error says by `what`.

    Raises:
        ShapeError: the shapes differ.
    """

    type = "same_shape"
    inputs = ("X", "Like")
    outputs = ("Out",)
    attrs = {"what": Str("", own=True)}
    shape_only = frozenset({"Like"})

    @staticmethod
    def infer(x: TensorType, like: TensorType, *, what: str) -> TensorType:
        message = f"a tensor of shape {dims.show(like.shape)} cannot be set to a value of shape {dims.show(x.shape)}"
        if what:
            message = f"{what}: shape {dims.show(x.shape)} against {dims.show(like.shape)}"
        if x.rank != like.rank:
            raise ShapeError(message)
        return x.with_shape(dims.require_equal(d, wanted, message) for d, wanted in zip(x.shape, like.shape, strict=True))

    @staticmethod
    def reference(x: np.ndarray, like: np.ndarray, *, what: str) -> np.ndarray:
        return x

    @staticmethod
    def lower(cx: Any, x: Any, like: Any, out: Any, *, what: str) -> None:  # type: ignore[override]
        if (x.shape == like.shape and -1 not in x.shape) or cx.same_shape(x.name, like.name):
            cx.alias(x, out)
            return
        # the sizes of X and Out are the same; the kernel is there for the check
        with cx.kernel([x, like], [out], views={out.name: x.name}):
            pass


def _masked(mask: Sequence[Any], x: Sequence[Any], axis: int) -> list[tuple[Any, Any]]:
    """The sizes of a mask, each with that of the axis it is for."""
    if axis + len(mask) > len(x):
        raise ShapeError(f"a mask of shape {dims.show(mask)} does not fit a tensor of shape {dims.show(x)}")
    return list(zip(mask, x[axis : axis + len(mask)], strict=True))


@register
class MaskOf(View):
    """Mask, which must have the sizes of X on the axes from `axis` on: what selects elements of X.

    Raises:
        OutOfRangeError: a size differs.
    """

    type = "mask_of"
    inputs = ("Mask", "X")
    outputs = ("Out",)
    attrs = {"axis": Int(0)}
    shape_only = frozenset({"X"})
    differentiable = False

    @staticmethod
    def infer(mask: TensorType, x: TensorType, *, axis: int) -> TensorType:  # type: ignore[override]
        pairs = _masked(mask.shape, x.shape, axis)
        return mask.with_shape(dims.require_equal(m, s, "the mask has another size") for m, s in pairs)

    @staticmethod
    def reference(mask: np.ndarray, x: np.ndarray, *, axis: int) -> np.ndarray:  # type: ignore[override]
        for a, (m, s) in enumerate(_masked(mask.shape, x.shape, axis)):
            if m != s:
                raise OutOfRangeError(f"the mask has size {m} on its axis {a}, the tensor has {s} there")
        return mask

    @staticmethod
    def lower(cx: Any, mask: Any, x: Any, out: Any, *, axis: int) -> None:  # type: ignore[override]
        if cx.same_shape(mask.name, x.name):
            cx.alias(mask, out)
            return
        # the sizes of Mask and Out are the same; the kernel is there for the check
        with cx.kernel([mask, x], [out], views={out.name: mask.name}):
            pass


@register
class Squeeze(View):
    """X without the axes `axes`, each of which must have size 1; without all axes of size 1 if none are named.

    Paddle's `squeeze` leaves an axis of another size alone. Whether it does cannot be known for an open dim, so a front
    end leaves such axes out of `axes` where the size is known.

    Raises:
        ShapeError: an axis has another size.
    """

    type = "squeeze2"
    attrs = {"axes": Ints()}

    @staticmethod
    def infer(x: TensorType, *, axes: list[int]) -> tuple:
        return x.with_shape(d for i, d in enumerate(x.shape) if i not in _squeezed(x.shape, axes)), None

    @staticmethod
    def reference(x: np.ndarray, *, axes: list[int]) -> tuple:
        return x.squeeze(_squeezed_of_ints(x.shape, tuple(axes))), None

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axes: list[int]) -> tuple:  # type: ignore[override]
        if not axes:
            return (lambda: b.op("reshape_as", X=douts[0], Y=ins[0]),)
        return (lambda: b.op("unsqueeze2", X=douts[0], axes=sorted(_axes(axes, len(ins[0].shape)))),)


def _axes(axes: Sequence[int], rank: int) -> set[int]:
    return {dims.normalize_axis(a, rank) for a in axes}


@remembered
def _squeezed_of_ints(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(_squeezed(shape, axes))


def _squeezed(shape: Sequence[dims.Dim], axes: Sequence[int]) -> set[int]:
    if axes:
        found = _axes(axes, len(shape))
        for a in found:
            dims.require_equal(shape[a], 1, f"squeeze needs size 1 on axis {a} of {dims.show(shape)}")
        return found
    if any(isinstance(d, dims.Unknown) for d in shape):
        raise ShapeError(
            f"squeeze of {dims.show(shape)}: which axes have size 1 is not known yet",
            hint="name the axes: squeeze(axis=...)",
        )
    return {i for i, d in enumerate(shape) if dims.known(d) and d == 1}


@register
class Unsqueeze(View):
    """X with axes of size 1 put in at `axes`, one after the other: [2, 3] with axes [0, 3] becomes [1, 2, 3, 1]."""

    type = "unsqueeze2"
    attrs = {"axes": Ints()}

    @staticmethod
    def infer(x: TensorType, *, axes: list[int]) -> tuple:
        return x.with_shape(_unsqueezed(x.shape, axes)), None

    @staticmethod
    def reference(x: np.ndarray, *, axes: list[int]) -> tuple:
        return x.reshape(_unsqueezed_of_ints(x.shape, tuple(axes))), None

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axes: list[int]) -> tuple:  # type: ignore[override]
        places = _unsqueezed([None] * len(ins[0].shape), axes)
        return (
            lambda: (
                b.op("squeeze2", X=douts[0], axes=[i for i, d in enumerate(places) if d == 1]) if axes else douts[0]
            ),
        )


@remembered
def _unsqueezed_of_ints(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(_unsqueezed(shape, axes))


def _unsqueezed(shape: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    out = list(shape)
    for a in axes:
        out.insert(dims.normalize_axis(a, len(out) + 1), 1)
    return out


@register
class Flatten(View):
    """X with the axes from `start_axis` to `stop_axis` (both included) merged into one."""

    type = "flatten_contiguous_range"
    attrs = {"start_axis": Int(1), "stop_axis": Int(1)}

    @staticmethod
    def infer(x: TensorType, *, start_axis: int, stop_axis: int) -> tuple:
        return x.with_shape(_flattened(x.shape, start_axis, stop_axis)), None

    @staticmethod
    def reference(x: np.ndarray, *, start_axis: int, stop_axis: int) -> tuple:
        return x.reshape(_flattened(x.shape, start_axis, stop_axis)), None


def _flattened(shape: Sequence[dims.Dim], start: int, stop: int) -> tuple[dims.Dim, ...]:
    if not shape:
        return (1,)
    start, stop = (dims.normalize_axis(a, len(shape), what) for a, what in ((start, "start_axis"), (stop, "stop_axis")))
    if start > stop:
        raise AttributeValueError(f"flatten: start_axis {start} lies behind stop_axis {stop}")
    return (*shape[:start], dims.product(shape[start : stop + 1]), *shape[stop + 1 :])


@register
class Flatten2(View):
    """X as a matrix: the axes before `axis` merged, and those from it on."""

    type = "flatten2"
    attrs = {"axis": Int(1)}

    @staticmethod
    def infer(x: TensorType, *, axis: int) -> tuple:
        if not 0 <= axis <= x.rank:
            raise AttributeValueError(f"flatten: axis {axis} is out of range for a tensor with {x.rank} dims")
        return x.with_shape((dims.product(x.shape[:axis]), dims.product(x.shape[axis:]))), None

    @staticmethod
    def reference(x: np.ndarray, *, axis: int) -> tuple:
        return x.reshape(Flatten2.infer(TensorType("", x.shape), axis=axis)[0].shape), None
