"""Ops that put tensors together along an axis, and take them apart: concat, stack, split, unstack, meshgrid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims, dtype
from ..errors import AttributeValueError, DTypeError, ShapeError
from ..loopir import nodes as n
from . import nests, sizes
from .checked import CheckedOp
from .registry import Int, Ints, OpDef, TensorType, register

_MOST = 1 << 20
_LOOPS = 8
"""Up to so many parts are copied by loops in the kernel."""


def check_count(op: str, num: int) -> None:
    """A number of results. With sizes that are not known yet nothing else limits it, and a model file can hold any."""
    if not 1 <= num <= _MOST:
        raise AttributeValueError(f"{op} into {num} pieces; there must be from 1 to {_MOST}")


def same_types(op: str, xs: Sequence[TensorType]) -> None:
    """All tensors must have one dtype and one rank, and there must be one at least."""
    if not xs:
        raise AttributeValueError(f"{op} needs at least one tensor")
    for x in xs[1:]:
        if x.dtype != xs[0].dtype:
            raise DTypeError(
                f"{op}: all tensors must have one dtype, got {xs[0].dtype} and {x.dtype}", hint="cast them first"
            )
        if x.rank != xs[0].rank:
            raise ShapeError(f"{op}: all tensors must have the same number of dims, got {xs[0]} and {x}",
                             hint="reshape or unsqueeze one side")  # fmt: skip


def agreed(op: str, xs: Sequence[TensorType], skip: int = -1) -> list[dims.Dim]:
    """The sizes that all tensors have in common, on all axes but `skip`."""
    shape = list(xs[0].shape)
    for x in xs[1:]:
        for a, d in enumerate(x.shape):
            if a != skip:
                message = f"{op}: sizes differ on axis {a}, in {xs[0]} and {x}"
                hint = "only the sizes on the axis that is joined may differ" if skip >= 0 else "all shapes must be equal"
                shape[a] = dims.require_equal(shape[a], d, message, hint)
    return shape


def zeros_for_missing(b: Any, grads: Sequence[Any] | None, outs: Sequence[Any]) -> list[Any]:
    """The gradients of a list of outputs, with zeros where none flows."""
    given = grads or [None] * len(outs)
    return [b.op("fill_any_like", X=o, value=0.0) if g is None else g for g, o in zip(given, outs, strict=True)]


def _pieces(cx: Any, k: Any, outer: Any, parts: Sequence[tuple[Any, Any]], whole: Any, *, join: bool) -> None:
    """Copies between `whole` [outer, sum of lengths] and the parts [outer, length] that lie in it side by side.

    Of many parts each is copied by a call: a kernel with a loop, and places of its own, for each of them takes long to compile.
    """
    offsets: list[Any] = [n.as_expr(0)]
    for _, length in parts:
        offsets.append(k.let(offsets[-1] + length, "n"))
    if cx.routines and len(parts) > _LOOPS:
        with k.parallel(outer) as row:
            for (part, length), offset in zip(parts, offsets, strict=False):
                k.routine("put_part" if join else "take_part", [whole, part], row, offsets[-1], offset, length, dtype.size(whole.dtype),
                          writes=[whole if join else part], work=length)  # fmt: skip
        return
    with k.parallel(outer) as row:
        start = k.let(row * offsets[-1], "o")
        for (part, length), offset in zip(parts, offsets, strict=False):
            at, own = k.let(start + offset, "o"), k.let(row * n.as_expr(length), "p")
            with k.loop(length) as j:
                if join:
                    whole[at + j] = part[own + j]
                else:
                    part[own + j] = whole[at + j]


@register
class Concat(OpDef):
    """The tensors one behind the other along `axis`."""

    type = "concat"
    inputs = ("X*",)
    attrs = {"axis": Int(0)}
    only_moves = True

    @staticmethod
    def infer(xs: list[TensorType], *, axis: int) -> TensorType:
        same_types("concat", xs)
        axis = dims.normalize_axis(axis, xs[0].rank)
        shape = agreed("concat", xs, axis)
        shape[axis] = n.total([x.shape[axis] for x in xs])
        return xs[0].with_shape(shape)

    @staticmethod
    def reference(xs: list[np.ndarray], *, axis: int) -> np.ndarray:
        try:
            out = np.concatenate(xs, axis)
        except ValueError:
            Concat.infer([TensorType.of(x) for x in xs], axis=axis)  # says what does not fit
            raise
        for x in xs:
            if x.dtype is not out.dtype:  # NumPy promotes them
                Concat.infer([TensorType.of(x) for x in xs], axis=axis)
        return out

    @staticmethod
    def lower(cx: Any, xs: list[Any], out: Any, *, axis: int) -> None:
        axis = dims.normalize_axis(axis, len(out.shape))
        with cx.kernel(xs, [out]) as (k, refs, (out,)):
            parts = [(x, k.let(nests.span(x.shape[axis:]), "n")) for x in refs]
            _pieces(cx, k, nests.span(refs[0].shape[:axis]), parts, out, join=True)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return (lambda: b.op("split_as", X=douts[0], Like=ins[0], axis=axis),)


@register
class SplitAs(CheckedOp):
    """X cut along `axis` into pieces of the sizes that the tensors `Like` have there: the gradient of `concat`."""

    type = "split_as"
    inputs = ("X", "Like*")
    outputs = ("Out*",)
    attrs = {"axis": Int(0)}
    shape_only = frozenset({"Like"})

    @staticmethod
    def infer(x: TensorType, like: list[TensorType], *, axis: int) -> tuple:
        axis = dims.normalize_axis(axis, x.rank)
        dims.require_equal(x.shape[axis], n.total([t.shape[axis] for t in like]), f"split: axis {axis} of {x}")
        return ([x.with_shape((*x.shape[:axis], t.shape[axis], *x.shape[axis + 1 :])) for t in like],)

    @staticmethod
    def reference(x: np.ndarray, like: list[np.ndarray], *, axis: int) -> tuple:
        before = (slice(None),) * dims.normalize_axis(axis, x.ndim)
        ends = itertools.accumulate(t.shape[axis] for t in like)
        keys = [(*before, slice(end - t.shape[axis], end)) for t, end in zip(like, ends, strict=True)]
        return ([x[key] for key in keys],)

    @staticmethod
    def lower(cx: Any, x: Any, like: list[Any], outs: list[Any], *, axis: int) -> None:
        axis = dims.normalize_axis(axis, len(x.shape))
        with cx.kernel([x, *like], outs) as (k, (x, *like), refs):
            inner = k.let(nests.span(x.shape[axis + 1 :]), "n")
            parts = [(out, k.let(n.as_expr(t.shape[axis]) * inner, "n")) for out, t in zip(refs, like, strict=True)]
            _pieces(cx, k, nests.span(x.shape[:axis]), parts, x, join=False)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return (lambda: b.op("concat", X=zeros_for_missing(b, douts[0], outs[0]), axis=axis)), None


@register
class Split(OpDef):
    """X cut along `axis` into `num` equal pieces, or into pieces of the sizes `sections`; one may be -1, what is left.

    `SectionsTensorList` gives sizes that are known at run time only.
    """

    type = "split"
    inputs = ("X", "SectionsTensorList*")
    sizes_in = frozenset({"SectionsTensorList"})
    outputs = ("Out*",)
    attrs = {"num": Int(0), "sections": Ints(), "axis": Int(0)}
    only_moves = True

    @staticmethod
    def infer(x: TensorType, each: list[TensorType], *, num: int, sections: list[int], axis: int) -> tuple:
        axis = dims.normalize_axis(axis, x.rank)
        if each:
            known = sizes.inferred("split", "sections", sections, None, each)
            parts = [dims.UNKNOWN if isinstance(s, dims.Unknown) or s == -1 else s for s in known]
        else:
            parts = _sections(x.shape[axis], num, sections)
        return ([x.with_shape((*x.shape[:axis], p, *x.shape[axis + 1 :])) for p in parts],)

    @staticmethod
    def reference(x: np.ndarray, each: list, *, num: int, sections: list[int], axis: int) -> tuple:
        parts = _sections(
            x.shape[dims.normalize_axis(axis, x.ndim)], num, sizes.values("split", "sections", sections, None, each)
        )
        return (np.split(x, np.cumsum(parts)[:-1], axis),)

    @staticmethod
    def lower(cx: Any, x: Any, each: list, outs: list[Any], *, num: int, sections: list[int], axis: int) -> None:
        axis = dims.normalize_axis(axis, len(x.shape))
        with cx.kernel([x, *each], outs, shapes=False) as (k, (x, *each), refs):
            whole = n.as_expr(x.shape[axis])
            if each or sections:
                parts = _native_sections(k, whole, sections, sizes.exprs(k, (), None, each) if each else None)
            else:
                k.fail_if(whole % len(refs) != 0)
                parts = [k.let(whole // len(refs))] * len(refs)
            for ref, part in zip(refs, parts, strict=True):
                k.set_shape(ref, [*x.shape[:axis], part, *x.shape[axis + 1 :]])
            inner = k.let(nests.span(x.shape[axis + 1 :]), "n")
            blocks = [(ref, k.let(part * inner, "n")) for ref, part in zip(refs, parts, strict=True)]
            _pieces(cx, k, nests.span(x.shape[:axis]), blocks, x, join=False)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, num: int, sections: list[int], axis: int) -> tuple:
        return (lambda: b.op("concat", X=zeros_for_missing(b, douts[0], outs[0]), axis=axis)), None


def _sections(size: dims.Dim, num: int, sections: Sequence[int]) -> list[dims.Dim]:
    if not sections:
        check_count("split", num)
        dims.require_divisible(size, num, "split needs equal pieces", "give a number that divides the size, or a list of sizes")
        return [size // num] * num
    rest = [i for i, s in enumerate(sections) if s == -1]
    if len(rest) > 1 or any(s < -1 for s in sections):
        raise AttributeValueError(f"split: sections {list(sections)} must be sizes, one of them may be -1")
    given = sum(s for s in sections if s != -1)
    if not rest:
        dims.require_equal(size, given, f"split: sections {list(sections)} do not add up to the size of the axis",
                           "-1 in place of one of them stands for what is left")  # fmt: skip
        return list(sections)
    dims.require_at_least(size - given, 0, f"split: sections {list(sections)} exceed the size, what is left")
    return [size - given if s == -1 else s for s in sections]


def _native_sections(k: Any, whole: n.Expr, sections: Sequence[int], dynamic: list[n.Expr] | None) -> list[n.Expr]:
    parts = dynamic if dynamic is not None else [n.as_expr(-1) if s == -1 else k.attr(s) for s in sections]
    given, open_ = n.as_expr(0), n.as_expr(0)
    for p in parts:
        k.fail_if(p < -1)
        given = given + n.select(p == -1, 0, p)
        open_ = open_ + n.select(p == -1, 1, 0)
    given, open_ = k.let(given), k.let(open_)
    k.fail_if((open_ > 1) | ((open_ == 0) & (given != whole)) | (given > whole))
    return [k.let(n.select(p == -1, whole - given, p)) for p in parts]


@register
class Stack(CheckedOp):
    """Tensors of one shape along a new axis."""

    type = "stack"
    inputs = ("X*",)
    outputs = ("Y",)
    attrs = {"axis": Int(0)}
    only_moves = True

    @staticmethod
    def infer(xs: list[TensorType], *, axis: int) -> TensorType:
        same_types("stack", xs)
        shape = agreed("stack", xs)
        shape.insert(dims.normalize_axis(axis, len(shape) + 1), len(xs))
        return xs[0].with_shape(shape)

    @staticmethod
    def reference(xs: list[np.ndarray], *, axis: int) -> np.ndarray:
        return np.stack(xs, axis)

    @staticmethod
    def lower(cx: Any, xs: list[Any], out: Any, *, axis: int) -> None:
        axis = dims.normalize_axis(axis, len(out.shape))
        with cx.kernel(xs, [out]) as (k, refs, (out,)):
            inner = k.let(nests.span(refs[0].shape[axis:]), "n")
            _pieces(cx, k, nests.span(refs[0].shape[:axis]), [(x, inner) for x in refs], out, join=True)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return (lambda: b.op("unstack", X=douts[0], axis=axis, num=len(ins[0])),)


class _Parts(OpDef):
    """The slices of X along `axis`, without that axis."""

    only_moves = True

    @staticmethod
    def parts(x: TensorType, axis: int, num: int) -> list[TensorType]:
        axis = dims.normalize_axis(axis, x.rank)
        if num == 0:
            if not dims.known(x.shape[axis]):
                raise ShapeError(
                    f"how many slices axis {axis} of {x} has is not known yet", hint="give num, or loop over the tensor"
                )
            num = x.shape[axis]
        else:
            check_count("unstack", num)
        dims.require_equal(x.shape[axis], num, f"unstack: the number of slices along axis {axis} of {x}")
        return [x.with_shape((*x.shape[:axis], *x.shape[axis + 1 :]))] * num

    @staticmethod
    def cut(x: np.ndarray, axis: int) -> list[np.ndarray]:
        return list(np.moveaxis(x, axis, 0))

    @staticmethod
    def lower_parts(cx: Any, x: Any, outs: list[Any], axis: int) -> None:
        axis = dims.normalize_axis(axis, len(x.shape))
        with cx.kernel([x], outs, shapes=False) as (k, (x,), refs):
            k.fail_if(n.as_expr(x.shape[axis]) != len(refs))
            for ref in refs:
                k.set_shape(ref, [*x.shape[:axis], *x.shape[axis + 1 :]])
            inner = k.let(nests.span(x.shape[axis + 1 :]), "n")
            _pieces(cx, k, nests.span(x.shape[:axis]), [(ref, inner) for ref in refs], x, join=False)


@register
class Unstack(_Parts):
    """The `num` slices of X along `axis` (0: as many as there are, which must be known)."""

    type = "unstack"
    outputs = ("Y*",)
    attrs = {"axis": Int(0), "num": Int(0)}

    @staticmethod
    def infer(x: TensorType, *, axis: int, num: int) -> tuple:
        return (_Parts.parts(x, axis, num),)

    @staticmethod
    def reference(x: np.ndarray, *, axis: int, num: int) -> tuple:
        _Parts.parts(TensorType("", x.shape), axis, num)
        return (_Parts.cut(x, axis),)

    @staticmethod
    def lower(cx: Any, x: Any, outs: list[Any], *, axis: int, num: int) -> None:
        _Parts.lower_parts(cx, x, outs, axis)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int, num: int) -> tuple:
        return (lambda: b.op("stack", X=zeros_for_missing(b, douts[0], outs[0]), axis=axis),)


@register
class Unbind(_Parts):
    """The slices of X along `axis`, whose size must be known."""

    type = "unbind"
    outputs = ("Out*",)
    attrs = {"axis": Int(0)}

    @staticmethod
    def infer(x: TensorType, *, axis: int) -> tuple:
        return (_Parts.parts(x, axis, 0),)

    @staticmethod
    def reference(x: np.ndarray, *, axis: int) -> tuple:
        return (_Parts.cut(x, dims.normalize_axis(axis, x.ndim)),)

    @staticmethod
    def lower(cx: Any, x: Any, outs: list[Any], *, axis: int) -> None:
        _Parts.lower_parts(cx, x, outs, axis)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: int) -> tuple:
        return (lambda: b.op("stack", X=zeros_for_missing(b, douts[0], outs[0]), axis=axis),)


@register
class Meshgrid(OpDef):
    """For each 1-D tensor its values along its own axis of a grid that all tensors span (indexing "ij")."""

    type = "meshgrid"
    inputs = ("X*",)
    outputs = ("Out*",)

    @staticmethod
    def infer(xs: list[TensorType]) -> tuple:
        same_types("meshgrid", xs)
        if xs[0].rank > 1:
            raise ShapeError(f"meshgrid takes tensors with one dim, got {xs[0]}")
        shape = [x.shape[0] if x.rank else 1 for x in xs]
        return ([x.with_shape(shape) for x in xs],)

    @staticmethod
    def reference(xs: list[np.ndarray]) -> tuple:
        Meshgrid.infer([TensorType.of(x) for x in xs])
        return (list(np.meshgrid(*xs, indexing="ij")),)

    @staticmethod
    def lower(cx: Any, xs: list[Any], outs: list[Any]) -> None:
        for i, out in enumerate(outs):
            with cx.kernel(xs, [out], shapes=False) as (k, refs, (out,)):
                shape = [x.shape[0] if x.rank else 1 for x in refs]
                k.set_shape(out, shape)
                nests.copy(k, shape, refs[i], [int(a == i) for a in range(len(shape))], out, nests.strides_of(shape))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        def one(i: int) -> Any:
            dout = douts[0][i]
            if dout is None:
                return None
            others = [a for a in range(len(ins[0])) if a != i]
            total = b.op("reduce_sum", X=dout, dim=others) if others else dout
            return b.op("reshape_as", X=total, Y=ins[0][i])

        return ([lambda i=i: one(i) for i in range(len(ins[0]))],)
