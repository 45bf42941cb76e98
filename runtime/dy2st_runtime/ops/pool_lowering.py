"""The loop nests of pooling.

Windows of one size are combined for a whole row of the output, small windows in one expression, large ones tap by
tap, so that the innermost loop runs along the row. Cells of an adaptive pool differ in size, so each is reduced by
itself.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from ..loopir import conv_plan
from ..loopir import nodes as n
from . import images, windows
from .pool_geometry import axes, cells, counts, is_adaptive

UNROLLED = 25
"""Elements of a window that is combined in one expression."""


def _larger(a: n.Expr, b: n.Expr) -> n.Expr:
    """The larger value; a NaN wins, as in NumPy."""
    return n.select((b > a) | (b != b), b, a)


def forward(cx: Any, x: Any, out: Any, attrs: dict[str, Any]) -> None:
    """The maximum or the average of each window."""
    last = windows.channel_last(attrs["data_format"])
    image, target = images.plain(cx, x, last), images.target_for(cx, out, last)
    largest = attrs["pooling_type"] == "max"
    if largest and _is_direct(cx, image, attrs):
        with images.producing(cx, [image], [x], target, out, (), last) as (k, (src,), _, dst, _):
            rows, cols = (images.named(k, axis) for axis in axes(src.shape[2:], attrs))
            area = k.let(n.as_expr(dst.shape[2]) * dst.shape[3])
            with k.parallel(n.as_expr(dst.shape[0]) * dst.shape[1]) as plane:
                k.routine(f"maxima{rows.kernel}{rows.stride}_{src.dtype}", [src, dst], *src.shape[2:], *dst.shape[2:], rows.before,
                          cols.before, plane, writes=[dst], work=area * rows.stride)  # fmt: skip
    elif is_adaptive(attrs):
        with (
            images.producing(cx, [image], [x], target, out, (), last) as (k, (src,), _, dst, _),
            _positions(k, src, attrs) as p,
        ):
            acc = k.var(float("-inf") if largest else 0.0, dst.dtype)
            with p.elements() as i:
                acc.set(_larger(acc.get(), src[i]) if largest else acc.get() + src[i])
            dst[p.output] = acc.get() if largest else acc.get() / p.area(dst.dtype)
    else:
        framed = _framed(cx, image, attrs, float("-inf") if largest else 0.0)
        with images.producing(cx, [image, framed], [x], target, out, (), last) as (k, (src, padded), _, dst, _):
            _tap_by_tap(k, src, padded, dst, attrs, largest)
    images.deliver(cx, target, out, [x], last)


def _is_direct(cx: Any, image: Any, attrs: dict[str, Any]) -> bool:
    """Whether there is a routine for the maxima of these very windows (known when the kernel is made)."""
    if is_adaptive(attrs) or not cx.routines or image.dtype not in ("float32", "float64"):
        return False
    rows, cols = axes((9, 9), attrs)
    square = rows.kernel == cols.kernel and rows.stride == cols.stride
    return square and rows.kernel in conv_plan.MAXIMA_KERNELS and rows.stride in conv_plan.DIRECT_STRIDES


def _framed(cx: Any, image: Any, attrs: dict[str, Any], value: float) -> Any:
    """The image with its paddings: a temporary, or the image itself where there is none."""
    if attrs["padding_algorithm"] != "SAME" and not any(axis.padded for axis in axes((9, 9), attrs)):
        return image
    t = cx.temp(image.dtype, 4)
    with cx.kernel([image], [t], shapes=False) as (k, (src,), (dst,)):
        rows, cols = (images.named(k, axis) for axis in axes(src.shape[2:], attrs))
        frame = images.Frame(k, rows, cols)
        k.set_shape(dst, [src.shape[0], src.shape[1], frame.height, frame.width])
        with k.parallel(src.shape[0] * src.shape[1]) as plane:
            images.fill(k, dst, plane * frame.area, frame.area, value)
            frame.load(src, plane * rows.size * cols.size, dst, plane * frame.area, 1)
    return t


def _tap_by_tap(k: Any, src: Any, padded: Any, dst: Any, attrs: dict[str, Any], largest: bool) -> None:
    rows, cols = (images.named(k, axis) for axis in axes(src.shape[2:], attrs))
    frame = images.Frame(k, rows, cols)
    height, width = k.let(rows.count), k.let(cols.count)
    with k.parallel(dst.shape[0] * dst.shape[1] * height) as line:
        plane, y = k.let(line // height), k.let(line % height)
        to, source = k.let(line * width), k.let((plane * frame.height + y * rows.stride) * frame.width)
        step = _larger if largest else lambda a, b: a + b
        start = n.as_expr(float("-inf") if largest else 0.0, dst.dtype)
        if rows.kernel * cols.kernel <= UNROLLED:
            with k.loop(width) as x:
                value = start
                for i, j in itertools.product(range(rows.kernel), range(cols.kernel)):
                    value = k.let(step(value, k.let(padded[source + i * frame.width + j + x * cols.stride])))
                dst[to + x] = value
        else:
            images.fill(k, dst, to, width, start)
            with k.loop(rows.kernel) as i, k.loop(cols.kernel) as j:
                tap = k.let(source + i * frame.width + j)
                with k.loop(width) as x:
                    dst[to + x] = step(dst[to + x], k.let(padded[tap + x * cols.stride]))
        if not largest:
            top = _Span(k, rows, y)
            with k.loop(width) as x:
                area = top.extent(attrs) * _Span(k, cols, x, named=False).extent(attrs)
                dst[to + x] = dst[to + x] / n.cast(n.maximum(area, 1), dst.dtype)


class _Span:
    """The window at one output index: from `start` to `stop` inside the image, `full` elements with the padding."""

    def __init__(self, k: Any, axis: windows.Axis, index: Any, named: bool = True):
        name = k.let if named else lambda v: v
        first = name(index * axis.stride - axis.before)
        end = name(n.minimum(first + axis.kernel, axis.size + axis.after))
        self.start = name(n.maximum(first, 0))
        self.stop = name(n.maximum(n.minimum(end, axis.size), self.start))
        self.full = end - first

    def extent(self, attrs: dict[str, Any]) -> Any:
        return self.stop - self.start if attrs["exclusive"] else self.full


class _Position:
    """One output position: its flat index, the plane of the image, and the window; `kernel` is its size if that is
    small."""

    def __init__(
        self,
        k: Any,
        output: Any,
        plane: Any,
        rows: tuple[Any, Any, Any],
        cols: tuple[Any, Any, Any],
        width: Any,
        kernel: tuple[int, int] | None,
    ):
        self.k, self.output, self.plane, self.width = k, output, plane, width
        self.rows, self.cols, self.kernel = rows, cols, kernel

    @contextlib.contextmanager
    def elements(self) -> Iterator[Any]:
        """The flat indices of the image's elements in the window, row by row."""
        k = self.k
        with k.loop(self.rows[1], self.rows[0]) as y:
            line = k.let(self.plane + y * self.width)
            with k.loop(self.cols[1], self.cols[0]) as x:
                yield line + x

    def area(self, name: str) -> n.Expr:
        """What an average divides by."""
        return n.cast(n.maximum(self.rows[2] * self.cols[2], 1), name)


@contextlib.contextmanager
def _positions(k: Any, src: Any, attrs: dict[str, Any], prepare: Any = None) -> Iterator[_Position]:
    """All output positions, the planes in parallel; `prepare(first, count)` runs first for the elements of each
    plane."""
    height, width = src.shape[2], src.shape[3]
    area = k.let(n.as_expr(height) * width)
    out_height, out_width = (k.let(c) for c in counts((height, width), attrs))
    adaptive = is_adaptive(attrs)
    rows: Any
    cols: Any
    if adaptive:
        rows, cols = cells((height, width), attrs)
    else:
        rows, cols = (images.named(k, axis) for axis in axes((height, width), attrs))

    kernel = None
    if not adaptive and rows.kernel * cols.kernel <= UNROLLED:
        kernel = (rows.kernel, cols.kernel)

    def span(axis: Any, i: Any) -> tuple[Any, Any, Any]:
        if adaptive:
            start, stop = k.let(axis.start(i)), k.let(axis.stop(i))
            return start, stop, stop - start
        found = _Span(k, axis, i)
        return found.start, found.stop, found.extent(attrs)

    with k.parallel(n.as_expr(src.shape[0]) * src.shape[1]) as plane:
        first = k.let(plane * area)
        if prepare is not None:
            prepare(first, area)
        with k.loop(out_height) as y:
            vertical = span(rows, y)
            with k.loop(out_width) as x:
                output = k.let((plane * out_height + y) * out_width + x)
                yield _Position(k, output, first, vertical, span(cols, x), width, kernel)


def _first_maximum(k: Any, src: Any, p: _Position) -> Any:
    """The flat index of the first maximum (or NaN) in the window; -1 for an empty window."""
    best, value = k.var(-1, n.INDEX), k.var(float("-inf"), src.dtype)

    def visit(index: Any) -> None:
        v, top = k.let(src[index]), k.let(value.get())
        better = k.let(((best.get() < 0) | (v > top) | (v != v)) & (top == top))
        best.set(n.select(better, index, best.get()))
        value.set(n.select(better, v, top))

    if p.kernel is None:
        with p.elements() as i:
            visit(k.let(i))
        return best.get()
    # a window that the border cuts sees its last row or column again, which changes nothing: no branch for each element
    bottom, right = k.let(p.rows[1] - 1), k.let(p.cols[1] - 1)
    lines = [k.let(p.plane + n.minimum(p.rows[0] + y, bottom) * p.width) for y in range(p.kernel[0])]
    columns = [k.let(n.minimum(p.cols[0] + x, right)) for x in range(p.kernel[1])]
    with k.when((p.rows[1] > p.rows[0]) & (p.cols[1] > p.cols[0])):
        for line, column in itertools.product(lines, columns):
            visit(k.let(line + column))
    return best.get()


def gradient(cx: Any, x: Any, out: Any, dout: Any, dx: Any, attrs: dict[str, Any]) -> None:
    """The gradient of pool2d in X."""
    last = windows.channel_last(attrs["data_format"])
    image, grads, target = images.plain(cx, x, last), images.plain(cx, dout, last), images.target_for(cx, dx, last)
    inputs = [x, out, dout]
    with (
        images.producing(cx, [image, grads], inputs, target, dx, (), last) as (k, (src, grad), _, dst, _),
        _positions(k, src, attrs, lambda start, count: images.fill(k, dst, start, count, 0.0)) as p,
    ):
        if attrs["pooling_type"] == "max":
            at = k.let(_first_maximum(k, src, p))
            with k.when(at >= 0):
                dst[at] = dst[at] + grad[p.output]
        else:
            share = k.let(grad[p.output] / p.area(dst.dtype))
            with p.elements() as i:
                dst[i] = dst[i] + share
    images.deliver(cx, target, dx, inputs, last)


def pick(cx: Any, x: Any, y: Any, out: Any, attrs: dict[str, Any]) -> None:
    """The elements of y where x has its maxima."""
    last = windows.channel_last(attrs["data_format"])
    image, values, target = images.plain(cx, x, last), images.plain(cx, y, last), images.target_for(cx, out, last)
    with (
        images.producing(cx, [image, values], [x, y], target, out, (), last) as (k, (src, source), _, dst, _),
        _positions(k, src, attrs) as p,
    ):
        at = k.let(_first_maximum(k, src, p))
        dst[p.output] = 0.0
        with k.when(at >= 0):
            dst[p.output] = source[at]
    images.deliver(cx, target, out, [x, y], last)
