"""Sums of gradients: of several terms some of which may be absent, and back through a broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims, dtype
from ..errors import DTypeError, ShapeError
from ..loopir import nodes as n
from . import folding
from .arithmetic import NUMBERS
from .axes import is_one
from .checked import remembered
from .control import ABSENT
from .elementwise import stretched, widened_array
from .registry import OpDef, TensorType, register

_NESTED = 64
"""So many terms are one expression."""


@register
class Sum(OpDef):
    """The sum of tensors of one shape, or entry by entry of TensorArrays of one length. Absent terms are left out; with no term
    present the sum is absent.

    Raises:
        ShapeError: shapes or lengths differ. DTypeError: dtypes differ.
    """

    type = "sum"
    takes_arrays = True
    inputs = ("X*",)
    handles_absent = True

    @staticmethod
    def infer(xs: list[TensorType]) -> TensorType:
        if not xs:
            raise ShapeError("sum needs at least one term")
        first = xs[0]
        shape = first.shape
        for x in xs[1:]:
            if (x.dtype, x.kind) != (first.dtype, first.kind) or x.rank != first.rank:
                raise DTypeError(f"sum of {first} and {x}: the terms must have one dtype and one rank")
            shape = tuple(_same_or_open(p, q, first) for p, q in zip(shape, x.shape, strict=True))
        return first.with_shape(shape)

    @staticmethod
    def reference(xs: list[Any]) -> Any:
        present = [x for x in xs if x is not ABSENT]
        if not present:
            return ABSENT
        total = present[0]
        for x in present[1:]:
            total = _plus(total, x)
        return total

    @staticmethod
    def lower(cx: Any, xs: list[Any], out: Any) -> None:
        if out.kind == "array" or any(x.name in cx.maybe_absent for x in xs):
            _chain(cx, xs, out)
        else:
            _add(cx, xs, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return ([douts[0]] * len(ins[0]),)


def _same_or_open(p: dims.Dim, q: dims.Dim, t: TensorType) -> dims.Dim:
    if t.kind == "array":
        return p if p is q or (dims.known(p) and dims.known(q) and p == q) else dims.UNKNOWN
    return dims.require_equal(p, q, "the terms of a sum must have one shape")


def _plus(x: Any, y: Any) -> Any:
    if isinstance(x, list):
        if len(x) != len(y):
            raise ShapeError(f"sum of TensorArrays of lengths {len(x)} and {len(y)}")
        return [q if p is ABSENT else p if q is ABSENT else _plus(p, q) for p, q in zip(x, y, strict=True)]
    if x.dtype != y.dtype:
        raise DTypeError(f"sum of {x.dtype} and {y.dtype}: the terms must have one dtype")
    if x.shape != y.shape:
        raise ShapeError(f"sum of shapes {dims.show(x.shape)} and {dims.show(y.shape)}: the terms must have one shape")
    return np.asarray(x + y)


def _add(cx: Any, xs: list[Any], out: Any) -> None:
    """All terms in one kernel."""
    with cx.kernel(xs, [out], shapes=False) as (k, refs, (o,)):
        for ref in refs[1:]:
            for p, q in zip(refs[0].shape, ref.shape, strict=True):
                if not n.as_expr(p, n.INDEX).same(n.as_expr(q, n.INDEX)):
                    k.fail_if(n.as_expr(p, n.INDEX) != q)
        k.set_shape(o, refs[0].shape)
        with k.parallel(o.size) as i:
            total = refs[0][i]
            for j, ref in enumerate(refs[1:]):
                total = total | ref[i] if o.dtype == "bool" else total + ref[i]
                if j % _NESTED == _NESTED - 1:
                    total = k.let(total)
            o[i] = total


def _chain(cx: Any, xs: list[Any], out: Any) -> None:
    """Term by term: each step leaves out the side that is absent."""
    total = xs[0]
    for i, x in enumerate(xs[1:]):
        result = out if i == len(xs) - 2 else cx.temp(out.dtype, len(out.shape), out.kind)
        with cx.unless_absent(x, result, otherwise=total), cx.unless_absent(total, result, otherwise=x):
            if out.kind == "array":
                cx.array_add(total, x, result)
            else:
                _add(cx, [total, x], result)
        if total.name in cx.maybe_absent and x.name in cx.maybe_absent:
            cx.maybe_absent.add(result.name)
        total = result
    if total is not out:
        cx.alias(total, out)


@register
class SumLike(folding.Folding):
    """X summed over the axes that a broadcast of Y to X's shape added or stretched, in Y's shape. Of Y only the shape counts."""

    type = "sum_like"
    takes_arrays = True
    inputs = ("X", "Y")
    shape_only = frozenset({"Y"})

    @staticmethod
    def infer(x: TensorType, y: TensorType) -> TensorType:
        if x.dtype not in NUMBERS:
            raise DTypeError(f"sum_like takes numbers, got {x.dtype}")
        _check_broadcast(y.shape, x.shape)
        return TensorType(x.dtype, y.shape)

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        axes = _summed_axes(y.shape, x.shape)
        if x.size == y.size:  # -0.0 stays what it is, as where both shapes are known to be one, and there is no op
            return x.reshape(y.shape).copy()
        total = np.add.reduce(widened_array(x), axes, keepdims=True).reshape(y.shape)
        return total if total.dtype is x.dtype else total.astype(x.dtype)

    @staticmethod
    def sides(shape: Sequence[Any], others: Sequence[Any], attrs: dict[str, Any]) -> list[tuple[Any, Any]]:
        (y,) = others
        extra = len(shape) - y.rank
        return [(1, d) if a < extra else _side(d, y.shape[a - extra], y.static[a - extra]) for a, d in enumerate(shape)]

    @staticmethod
    def how(k: Any, count: n.Expr, name: str, attrs: dict[str, Any]) -> folding.Fold:
        start = n.cast(0, name)
        if dtype.is_float(name):
            start = k.let(n.select(count == 1, n.cast(-0.0, name), start))  # to which any number is added without a change
        return folding.Fold(start, lambda acc, value: acc + value, free="+")

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return lambda: b.expand_to(douts[0], ins[0]), None


def _side(size: Any, own: Any, static: int) -> tuple[Any, Any]:
    """The kept and the reduced size of an axis of X where Y has `own`."""
    if is_one(own):
        return 1, size
    if static > 1 or is_one(size):
        return size, 1
    # known when the kernel runs: an equal size is kept, a 1 is a sum
    return own, n.select(n.as_expr(own) == 1, size, 1)


@remembered
def _summed_axes(small: tuple[int, ...], large: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that a broadcast from `small` to `large` adds or stretches."""
    _check_broadcast(small, large)
    extra = len(large) - len(small)
    return tuple(a for a, d in enumerate(large) if a < extra or (small[a - extra] == 1 and d != 1))


def _check_broadcast(small: tuple, large: tuple) -> None:
    """ShapeError unless a tensor of shape `small` broadcasts to exactly `large`."""
    if dims.same(small, large):
        return
    message = f"shape {dims.show(small)} does not broadcast to {dims.show(large)}"
    if len(small) > len(large):
        raise ShapeError(message)
    for p, q in zip(small, large[len(large) - len(small) :], strict=True):
        dims.require_equal(dims.broadcast_dim(p, q, message), q, message)


@register
class ExpandAs(OpDef):
    """X broadcast to the shape of Y. Of Y only the shape counts."""

    type = "expand_as_v2"
    inputs = ("X", "Y")
    shape_only = frozenset({"Y"})

    @staticmethod
    def infer(x: TensorType, y: TensorType) -> TensorType:
        _check_broadcast(x.shape, y.shape)
        return TensorType(x.dtype, y.shape)

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        _summed_axes(x.shape, y.shape)  # which checks them
        return stretched(x, y.shape)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any) -> None:
        cx.broadcast(x, y, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return lambda: b.sum_to(douts[0], ins[0]), None


@register
class FillAbsent(OpDef):
    """X, or where X is absent zeros in the shape of Like. Like has X's dtype; of it only the shape counts."""

    type = "fill_absent"
    takes_arrays = True
    inputs = ("X", "Like")
    shape_only = frozenset({"Like"})
    handles_absent = True

    @staticmethod
    def infer(x: TensorType, like: TensorType) -> TensorType:
        if (x.dtype, x.kind, x.rank) != (like.dtype, like.kind, like.rank):
            raise DTypeError(f"fill_absent of {x} like {like}: they must have one dtype and one rank")
        return x.with_shape(p if dims.known(p) and dims.known(q) and p == q else dims.UNKNOWN
                            for p, q in zip(x.shape, like.shape, strict=True))  # fmt: skip

    @staticmethod
    def reference(x: Any, like: Any) -> Any:
        if x is not ABSENT or like is ABSENT:
            return x
        return [np.zeros_like(v) for v in like] if isinstance(like, list) else np.zeros_like(like)

    @staticmethod
    def lower(cx: Any, x: Any, like: Any, out: Any) -> None:
        if x.name not in cx.maybe_absent:
            cx.share(x, out)
            return
        # `only` is Like where X is absent, and absent where X is there: zeros are made only if they are needed
        only, zeros = (cx.temp(out.dtype, len(out.shape), out.kind) for _ in range(2))
        with cx.unless_absent(x, only, otherwise=like):
            cx.mark_absent(only)
        cx.maybe_absent.add(only.name)
        with cx.unless_absent(only, zeros):
            if out.kind == "array":
                cx.array_zeros(like, zeros)
            else:
                with cx.kernel([only], [zeros], shapes=False) as (k, (shown,), (z,)):
                    k.set_shape(z, shown.shape)
                    with k.parallel(z.size) as i:
                        z[i] = n.cast(0, z.dtype)
        cx.maybe_absent.add(zeros.name)
        with cx.unless_absent(x, out, otherwise=zeros):
            cx.share(x, out)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return douts[0], None
