"""Ops that put elements in other places: permuted, repeated, mirrored, shifted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..errors import AttributeValueError, ShapeError
from ..loopir import nodes as n
from . import nests, sizes
from .checked import remembered
from .elementwise import stretched
from .registry import Ints, Longs, OpDef, TensorType, register


@register
class Transpose(OpDef):
    """X with its axes in the order `axis`."""

    type = "transpose2"
    outputs = ("Out", "XShape?")
    attrs = {"axis": Ints()}
    only_moves = True

    @staticmethod
    def infer(x: TensorType, *, axis: list[int]) -> tuple:
        return x.with_shape(x.shape[a] for a in permutation(axis, x.rank)), None

    @staticmethod
    def reference(x: np.ndarray, *, axis: list[int]) -> tuple:
        return x.transpose(_order(tuple(axis), x.ndim)), None

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, xshape: Any, *, axis: list[int]) -> None:
        order = permutation(axis, len(x.shape))
        if _moves_no_element(order, x.shape):
            cx.alias(x, out)
            return
        with cx.kernel([x], [out]) as (k, (x,), (out,)):
            shape = [x.shape[a] for a in order]
            strides = nests.strides_of(x.shape)
            nests.copy(k, shape, x, [strides[a] for a in order], out, nests.strides_of(shape))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: list[int]) -> tuple:
        order = permutation(axis, len(ins[0].shape))
        return (lambda: b.op("transpose2", X=douts[0], axis=[order.index(i) for i in range(len(order))]),)


def permutation(axis: Sequence[int], rank: int) -> list[int]:
    """The axes as 0 <= axis < rank, each once; AttributeValueError otherwise."""
    order = [dims.normalize_axis(a, rank) for a in axis]
    if sorted(order) != list(range(rank)):
        raise AttributeValueError(f"axis {list(axis)} is no permutation of the {rank} dims", hint="name each axis once")
    return order


@remembered
def _order(axis: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return tuple(permutation(axis, rank))


def _moves_no_element(order: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether only axes of size 1 change their place."""
    return sorted(kept := [a for a in order if shape[a] != 1]) == kept


@register
class Expand(OpDef):
    """X broadcast to `shape`; -1 keeps the size of X. `Shape` or `expand_shapes_tensor` give sizes at run time.

    Raises:
        ShapeError: a size of X is neither 1 nor the one asked for.
    """

    type = "expand_v2"
    inputs = ("X", "Shape?", "expand_shapes_tensor*")
    sizes_in = frozenset({"Shape", "expand_shapes_tensor"})
    attrs = {"shape": Ints()}

    @staticmethod
    def infer(x: TensorType, shape_t: TensorType | None, each: list[TensorType], *, shape: list[int]) -> TensorType:
        return x.with_shape(_expanded(x.shape, sizes.inferred("expand_v2", "Shape", shape, shape_t, each)))

    @staticmethod
    def reference(x: np.ndarray, shape_t: Any, each: list, *, shape: list[int]) -> np.ndarray:
        return stretched(x, _expanded_of_ints(x.shape, tuple(sizes.values("expand_v2", "Shape", shape, shape_t, each))))

    @staticmethod
    def lower(cx: Any, x: Any, shape_t: Any, each: list, out: Any, *, shape: list[int]) -> None:
        reads = each or ([] if shape_t is None else [shape_t])
        with cx.kernel([x, *reads], [out], shapes=False) as (k, (x, *reads), (out,)):
            wanted = sizes.exprs(k, shape, None if each or not reads else reads[0], reads if each else (), out.rank)
            own = (1,) * (out.rank - x.rank) + x.shape
            target = [k.let(n.select(w == -1, d, w)) for w, d in zip(wanted, own, strict=True)]
            for t in target:
                k.fail_if(t < 0)
            strides = nests.broadcast_strides(k, x, target)
            k.set_shape(out, target)
            nests.copy(k, target, x, strides, out, nests.strides_of(target))

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return lambda: b.sum_to(douts[0], ins[0]), None, None


@remembered
def _expanded_of_ints(own: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...]:
    return _expanded(own, wanted)


def _expanded(own: Sequence[dims.Dim], wanted: Sequence[dims.Dim]) -> tuple[dims.Dim, ...]:
    message = f"a tensor of shape {dims.show(own)} cannot be expanded to [{', '.join(map(str, wanted))}]"
    hint = "only axes of size 1 can be expanded, and axes in front of the first be added"
    if len(wanted) < len(own):
        raise ShapeError(f"{message}: it has more dims", hint=hint)
    out = []
    for d, w in zip((1,) * (len(wanted) - len(own)) + tuple(own), wanted, strict=True):
        if dims.known(w) and w < 0:
            if w != -1:
                raise ShapeError(f"{message}: {w} is no size")
            out.append(d)
        else:
            dims.require_stretches(d, w, message, hint)
            out.append(d if dims.known(d) and d != 1 else w)
    return tuple(out)


class _Tiled(OpDef):
    """What `tile` and its gradient share."""

    attrs = {"repeat_times": Ints()}

    @staticmethod
    def aligned(shape: Sequence[Any], repeats: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Sizes and repeats, both filled up with ones in front to the same length."""
        rank = max(len(shape), len(repeats))
        return [1] * (rank - len(shape)) + list(shape), [1] * (rank - len(repeats)) + list(repeats)

    @staticmethod
    def nest(k: Any, x: Any, repeats: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Sizes (repeat and own size of each axis in turn), strides in X, strides in the tiled tensor."""
        own, times = _Tiled.aligned(x.shape, repeats)
        xs, ts = nests.strides_of(own), nests.strides_of([n.as_expr(d) * t for d, t in zip(own, times, strict=True)])
        shape, x_strides, t_strides = [], [], []
        for d, t, sx, st in zip(own, times, xs, ts, strict=True):
            shape += [t, d]
            x_strides += [0, sx]
            t_strides += [n.as_expr(st) * d, st]
        return shape, x_strides, t_strides


@register
class Tile(_Tiled):
    """X repeated `repeat_times[i]` times along axis i. `RepeatTimes` or `repeat_times_tensor` give them at run time."""

    type = "tile"
    inputs = ("X", "RepeatTimes?", "repeat_times_tensor*")
    sizes_in = frozenset({"RepeatTimes", "repeat_times_tensor"})
    any_count_fits = True

    @staticmethod
    def infer(
        x: TensorType, times_t: TensorType | None, each: list[TensorType], *, repeat_times: list[int]
    ) -> TensorType:
        own, times = _Tiled.aligned(
            x.shape, _checked(sizes.inferred("tile", "RepeatTimes", repeat_times, times_t, each))
        )
        return x.with_shape(d if dims.known(t) and t == 1 else d * t for d, t in zip(own, times, strict=True))

    @staticmethod
    def reference(x: np.ndarray, times_t: Any, each: list, *, repeat_times: list[int]) -> np.ndarray:
        return np.tile(x, _checked(sizes.values("tile", "RepeatTimes", repeat_times, times_t, each)))

    @staticmethod
    def lower(cx: Any, x: Any, times_t: Any, each: list, out: Any, *, repeat_times: list[int]) -> None:
        reads = each or ([] if times_t is None else [times_t])
        with cx.kernel([x, *reads], [out], shapes=False) as (k, (x, *reads), (out,)):
            count = None if each or not reads else reads[0].rank and times_t.shape[0]
            times = sizes.exprs(k, repeat_times, None if count is None else reads[0], reads if each else (), count or 1)
            for t in times:
                k.fail_if(t < 0)
            own, aligned = _Tiled.aligned(x.shape, times)
            k.set_shape(out, [n.as_expr(d) * t for d, t in zip(own, aligned, strict=True)])
            shape, x_strides, t_strides = _Tiled.nest(k, x, times)
            nests.copy(k, shape, x, x_strides, out, t_strides)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, times, each = ins
        slots = {"X": x, "RepeatTimes": times, "repeat_times_tensor": each, "Out@GRAD": douts[0]}
        return (lambda: b.op("tile_grad", **slots, **attrs)), None, None


def _checked(times: list[Any]) -> list[Any]:
    for t in times:
        if dims.known(t) and t < 0:
            raise AttributeValueError(f"tile: repeat_times {times} has a negative entry")
    return times


@register
class TileGrad(_Tiled):
    """The sum over the repeats: the gradient of `tile`."""

    type = "tile_grad"
    inputs = ("X", "RepeatTimes?", "repeat_times_tensor*", "Out@GRAD")
    outputs = ("X@GRAD",)
    shape_only = frozenset({"X"})

    @staticmethod
    def infer(x: TensorType, times_t: Any, each: list, dout: TensorType, *, repeat_times: list[int]) -> TensorType:
        return dout.with_shape(x.shape)

    @staticmethod
    def reference(x: np.ndarray, times_t: Any, each: list, dout: np.ndarray, *, repeat_times: list[int]) -> np.ndarray:
        own, times = _Tiled.aligned(x.shape, sizes.values("tile_grad", "RepeatTimes", repeat_times, times_t, each))
        parts = dout.reshape([v for pair in zip(times, own, strict=True) for v in pair])
        return parts.sum(tuple(range(0, parts.ndim, 2)), dtype=dout.dtype).reshape(x.shape)

    @staticmethod
    def lower(cx: Any, x: Any, times_t: Any, each: list, dout: Any, out: Any, *, repeat_times: list[int]) -> None:
        count = len(repeat_times) if times_t is None else (times_t.shape or (1,))[0]
        count = len(each) or count
        with cx.kernel([x, dout], [out], shapes=False) as (k, (x, dout), (out,)):
            k.set_shape(out, x.shape)
            # how often it was repeated follows from the sizes; an axis of size 0 has nothing to add
            own, _ = _Tiled.aligned(x.shape, [1] * count)
            times = [k.let(d // n.maximum(n.as_expr(o), 1)) for d, o in zip(dout.shape, own, strict=True)]
            shape, x_strides, t_strides = _Tiled.nest(k, x, times)

            def element(at: Any, base: Any) -> None:
                total = k.var(0.0, _accumulator(out.dtype))

                def add(place: Any) -> None:
                    total.add(n.cast(dout[place], total.dtype))

                nests.walk(k, shape[0::2], [t_strides[0::2]], add, offsets=[base], parallel=False)
                out[at] = n.cast(total.get(), out.dtype)

            nests.walk(k, shape[1::2], [x_strides[1::2], t_strides[1::2]], element)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        _, times, each, _ = ins
        return None, None, None, lambda: b.op("tile", X=douts[0], RepeatTimes=times, repeat_times_tensor=each, **attrs)


def _accumulator(dtype: str) -> str:
    return "float32" if dtype == "float16" else dtype


@register
class Flip(OpDef):
    """X mirrored along each of the axes `axis`."""

    type = "flip"
    attrs = {"axis": Ints()}

    @staticmethod
    def infer(x: TensorType, *, axis: list[int]) -> TensorType:
        _distinct(axis, x.rank)
        return x

    @staticmethod
    def reference(x: np.ndarray, *, axis: list[int]) -> np.ndarray:
        return np.flip(x, tuple(_distinct(axis, x.ndim)))

    @staticmethod
    def lower(cx: Any, x: Any, out: Any, *, axis: list[int]) -> None:
        with cx.kernel([x], [out]) as (k, (x,), (out,)):
            strides = nests.strides_of(x.shape)
            from_ = list(strides)
            start: Any = n.as_expr(0)
            for a in _distinct(axis, x.rank):
                start = start + n.as_expr(strides[a]) * (n.as_expr(x.shape[a]) - 1)
                from_[a] = n.as_expr(strides[a]) * -1
            nests.copy(k, x.shape, x, from_, out, strides, source_at=start)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, axis: list[int]) -> tuple:
        return (lambda: b.op("flip", X=douts[0], axis=axis),)


def _distinct(axis: Sequence[int], rank: int) -> list[int]:
    found = [dims.normalize_axis(a, rank) for a in axis]
    if len(set(found)) != len(found):
        raise AttributeValueError(f"axis {list(axis)} names an axis twice")
    return found


@register
class Roll(OpDef):
    """X shifted by `shifts[i]` places along `axis[i]`; what leaves at one end comes in at the other. With an empty
    `axis` all of X is one row. `ShiftsTensor` gives the shifts at run time."""

    type = "roll"
    inputs = ("X", "ShiftsTensor?")
    attrs = {"shifts": Longs(), "axis": Longs()}

    @staticmethod
    def infer(x: TensorType, shifts_t: TensorType | None, *, shifts: list[int], axis: list[int]) -> TensorType:
        if shifts_t is None or not shifts_t.rank or dims.known(shifts_t.shape[0]):  # else the run knows how many there are
            given = len(sizes.inferred("roll", "ShiftsTensor", shifts, shifts_t))
            if given != (len(axis) or 1):
                raise AttributeValueError(f"roll: {given} shifts for {len(axis) or 1} axes")
        _distinct(axis, x.rank)
        return x

    @staticmethod
    def reference(x: np.ndarray, shifts_t: Any, *, shifts: list[int], axis: list[int]) -> np.ndarray:
        Roll.infer(
            TensorType("", x.shape),
            None,
            shifts=(by := sizes.values("roll", "ShiftsTensor", shifts, shifts_t)),
            axis=axis,
        )
        return np.roll(x, by, axis) if axis else np.roll(x, by[0])

    @staticmethod
    def lower(cx: Any, x: Any, shifts_t: Any, out: Any, *, shifts: list[int], axis: list[int]) -> None:
        reads = [] if shifts_t is None else [shifts_t]
        with cx.kernel([x, *reads], [out]) as (k, (x, *reads), (out,)):
            count = len(axis) or 1
            if reads:
                k.fail_if(n.as_expr(reads[0].size) != count)
            by = sizes.exprs(k, shifts, reads[0] if reads else None, (), count)
            shape = list(x.shape) if axis else [x.size]
            places = _distinct(axis, x.rank) if axis else [0]
            last = k.let(n.as_expr(shape[-1]) if shape else n.as_expr(1), "n")
            with k.parallel(nests.span(shape[:-1])) as row:
                index = nests.split(k, row, shape[:-1])
                source: Any = n.as_expr(0)
                for a, d in enumerate(shape[:-1]):
                    i = (index[a] - by[places.index(a)]) % d if a in places else index[a]
                    source = source * d + i
                source = k.let(source * last)
                target = k.let(n.as_expr(row) * last)
                # along the last axis two contiguous pieces change places
                shift = n.as_expr(0)
                if len(shape) - 1 in places:
                    shift = k.let(by[places.index(len(shape) - 1)] % n.maximum(last, 1))
                with k.loop(shift) as j:
                    out[target + j] = x[source + (last - shift) + j]
                with k.loop(last - shift) as j:
                    out[target + shift + j] = x[source + j]

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, shifts: list[int], axis: list[int]) -> tuple:
        if ins[1] is not None:
            back = lambda: b.scaled(ins[1], -1.0)  # noqa: E731
            return (lambda: b.op("roll", X=douts[0], ShiftsTensor=back(), axis=axis, shifts=shifts)), None
        return (lambda: b.op("roll", X=douts[0], shifts=[-s for s in shifts], axis=axis)), None
