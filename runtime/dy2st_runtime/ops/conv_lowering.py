"""The lowering of convolution: routines where the target has them (`conv_routines`; of gradients where they pay), else these loop nests.

One image at a time, so that its columns stay in the cache: copy it into a frame with the paddings, gather the columns
(im2col: every row a contiguous copy for stride 1), one matrix product for each group. The gradient in the image runs
the same backwards. A 1x1 filter with stride 1 is a matrix product on the image itself; a filter with one channel for
each group (depthwise) has too small a product to be worth columns, so it is summed directly, plane by plane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dims
from ..loopir import nodes as n
from . import conv_routines, images, windows
from .conv_geometry import transposed_geometry
from .conv_routines import is_depthwise, pay_scatter, pointwise
from .windows import Axes, axes_of


def forward(cx: Any, x: Any, f: Any, out: Any, attrs: dict[str, Any]) -> None:
    """Output of a convolution."""
    if cx.routines:
        conv_routines.forward(cx, x, f, out, attrs)
        return
    last = windows.channel_last(attrs["data_format"])
    image, weights, target = images.plain(cx, x, last), images.plain(cx, f), images.target_for(cx, out, last)
    if is_depthwise(f, attrs):
        _depthwise_forward(cx, image, weights, target, out, [x, f], attrs)
    elif pointwise(f, attrs):
        with images.producing(cx, [image, weights], [x, f], target, out, (), last) as (k, (src, w), _, dst, _):
            shape = Shapes(k, src.shape, w.shape, axes_of(src.shape, w.shape, attrs), attrs)
            with k.loop(shape.batch * shape.groups) as i:
                k.gemm(w, src, dst, shape.filters, shape.points, shape.taps, a_offset=i % shape.groups * shape.filters * shape.taps,
                       b_offset=i * shape.depth * shape.points, c_offset=i * shape.filters * shape.points)  # fmt: skip
    else:
        temps = [cx.temp(target.dtype, 2), cx.temp(target.dtype, 3)]
        with images.producing(cx, [image, weights], [x, f], target, out, temps, last) as (k, (src, w), _, dst, scratch):
            shape = Shapes(k, src.shape, w.shape, axes_of(src.shape, w.shape, attrs), attrs)
            columns = Columns(k, shape, scratch)
            with k.loop(shape.batch) as b:
                columns.load(src, b)
                with k.loop(shape.groups) as g:
                    cols, at = columns.gather(src, b, g)
                    k.gemm(w, cols, dst, shape.filters, shape.points, shape.taps,
                           a_offset=g * shape.filters * shape.taps, b_offset=at,
                           c_offset=shape.output(b, g))  # fmt: skip
    images.deliver(cx, target, out, [x, f], last)


def grad_input(cx: Any, f: Any, dy: Any, x: Any, out: Any, attrs: dict[str, Any]) -> None:
    """Gradient of a convolution in its image."""
    last = windows.channel_last(attrs["data_format"])

    def axes(inputs: Sequence[Any]) -> Axes:
        return axes_of(windows.to_first(inputs[2].shape, last), inputs[0].shape, attrs)

    _scatter(cx, f, dy, [f, dy, x], out, attrs, axes)


def transposed(cx: Any, x: Any, f: Any, out: Any, attrs: dict[str, Any]) -> None:
    """Output of a transposed convolution."""
    last = windows.channel_last(attrs["data_format"])

    def axes(inputs: Sequence[Any]) -> Axes:
        with dims.checks():  # made once more: the kernel has them from `infer`
            return transposed_geometry(
                "conv2d_transpose", windows.to_first(inputs[0].shape, last), inputs[1].shape[2:], attrs
            )

    _scatter(cx, f, x, [x, f], out, attrs, axes)


def grad_filter(cx: Any, x: Any, dy: Any, f: Any, out: Any, attrs: dict[str, Any]) -> None:
    """Gradient of a convolution in its filter."""
    last = windows.channel_last(attrs["data_format"])
    image, grads, target = images.plain(cx, x, last), images.plain(cx, dy, last), images.target_for(cx, out)
    if is_depthwise(f, attrs):
        _depthwise_grad_filter(cx, image, grads, target, out, [x, dy, f], attrs)
    else:
        direct = pointwise(f, attrs)
        temps = [] if direct else [cx.temp(target.dtype, 1), cx.temp(target.dtype, 1)]
        with images.producing(cx, [image, grads], [x, dy, f], target, out, temps) as (k, (src, d), (_, _, w), dst, scratch):
            shape = Shapes(k, src.shape, w.shape, axes_of(src.shape, w.shape, attrs), attrs)
            (_filter_products if direct else _filter_columns)(k, src, d, dst, scratch, shape)
    images.deliver(cx, target, out, [x, dy, f])


class Shapes:
    """The sizes of one convolution: image [batch, channels, H, W], filter [filters * groups, depth, KH, KW]."""

    def __init__(self, k: Any, image: Sequence[Any], filter_shape: Sequence[Any], axes: Axes, attrs: dict[str, Any]):
        self.rows, self.cols = images.named(k, axes[0]), images.named(k, axes[1])
        self.batch, self.channels = image[0], image[1]
        self.groups = attrs["groups"]
        self.depth = filter_shape[1]
        self.filters = k.let(filter_shape[0] // self.groups)
        self.taps = k.let(self.depth * self.rows.kernel * self.cols.kernel)
        self.height, self.width = k.let(self.rows.count), k.let(self.cols.count)
        self.points = k.let(self.height * self.width)

    def output(self, batch: Any, group: Any) -> Any:
        """Where the output of one image and group starts."""
        return (batch * self.groups + group) * self.filters * self.points


class Columns:
    """The columns of one image and group: [taps, points], in scratch."""

    def __init__(self, k: Any, shape: Shapes, scratch: Sequence[Any]):
        self.k, self.shape = k, shape
        self.matrix, self.framed = scratch
        self.frame = images.Frame(k, shape.rows, shape.cols)
        k.set_shape(self.matrix, [shape.taps, shape.points])
        if self.frame.padded:
            k.set_shape(self.framed, [shape.channels, self.frame.height, self.frame.width])
            self.clear()
        else:
            k.set_shape(self.framed, [0, 0, 0])

    def clear(self) -> None:
        images.fill(self.k, self.framed, 0, self.shape.channels * self.frame.area, 0.0)

    def _start(self, batch: Any) -> Any:
        return batch * self.shape.channels * self.shape.rows.size * self.shape.cols.size

    def load(self, image: Any, batch: Any) -> None:
        """Copies one image into the frame."""
        if self.frame.padded:
            self.frame.load(image, self._start(batch), self.framed, 0, self.shape.channels)

    def gather(self, image: Any, batch: Any, group: Any) -> tuple[Any, Any]:
        """The tensor that holds the columns, and where they start in it."""
        self._each(image, batch, group, lambda src, s, d: self.matrix.__setitem__(d, src[s]))
        return self.matrix, 0

    def scatter(self, image: Any, batch: Any, group: Any) -> None:
        """Adds the columns to the frame, or to the image where there is no padding."""
        self._each(image, batch, group, lambda dst, s, d: dst.__setitem__(s, dst[s] + self.matrix[d]))

    def _each(self, image: Any, batch: Any, group: Any, move: Callable[[Any, Any, Any], None]) -> None:
        k, shape, frame = self.k, self.shape, self.frame
        pixels, start = (self.framed, 0) if frame.padded else (image, self._start(batch))
        _columns(k, shape, frame, shape.depth, start + group * shape.depth * frame.area, 0, lambda s, d: move(pixels, s, d))

    def deliver(self, image: Any, batch: Any) -> None:
        """Copies the frame, without its border, to the image."""
        if self.frame.padded:
            self.frame.unload(self.framed, 0, image, self._start(batch), self.shape.channels)


def _columns(k: Any, shape: Shapes, frame: images.Frame, channels: Any, source: Any, target: Any, move: Callable[[Any, Any], None]) -> None:
    """For each element of the columns of some channels, whose pixels begin at `source`: move(its pixel, its place after `target`)."""
    rows, cols = shape.rows, shape.cols
    with k.loop(channels) as c, k.loop(rows.kernel) as i, k.loop(cols.kernel) as j:
        to = k.let(target + ((c * rows.kernel + i) * cols.kernel + j) * shape.points)
        start = k.let(source + (c * frame.height + i * rows.dilation) * frame.width + j * cols.dilation)
        with k.loop(shape.height) as y:
            d, s = k.let(to + y * shape.width), k.let(start + y * rows.stride * frame.width)
            with k.loop(shape.width) as x:
                move(s + x * cols.stride, d + x)


# ---- gradient in the filter ------------------------------------------------------------------------------------------

COLUMNS = 128
"""A gradient in the filter is cut into 2, 4 or 8 pieces that threads share, with at least so many columns (or rows): with fewer, products
lose a third of their speed."""


def _pieces(k: Any, size: Any) -> Any:
    return k.let(n.select(size < 2 * COLUMNS, 1, n.select(size < 4 * COLUMNS, 2, n.select(size < 8 * COLUMNS, 4, 8))))


def _filter_products(k: Any, src: Any, d: Any, dst: Any, scratch: Sequence[Any], shape: Shapes) -> None:
    """Of pointwise filters: a piece is some filters, or some channels where these are more, over all images."""
    filters, depth = shape.filters, n.as_expr(shape.depth)
    by_filters, size = k.let(filters >= depth), k.let(n.maximum(filters, depth))
    pieces = _pieces(k, size)
    with k.parallel(shape.groups * pieces) as piece:
        group, part = k.let(piece // pieces), k.let(piece % pieces)
        low, high = k.let(part * size // pieces), k.let((part + 1) * size // pieces)
        row, rows = k.let(n.select(by_filters, low, 0)), k.let(n.select(by_filters, high - low, filters))
        column, columns = k.let(n.select(by_filters, 0, low)), k.let(n.select(by_filters, depth, high - low))
        to = k.let((group * filters + row) * depth + column)
        with k.loop(rows) as r:
            images.fill(k, dst, to + r * depth, columns, 0.0)
        with k.loop(shape.batch) as b:
            k.gemm(d, src, dst, rows, columns, shape.points, trans_b=True, a_offset=shape.output(b, group) + row * shape.points,
                   b_offset=((b * shape.groups + group) * depth + column) * shape.points, c_offset=to, ldc=depth, add=True)  # fmt: skip


def _filter_columns(k: Any, src: Any, d: Any, dst: Any, scratch: Sequence[Any], shape: Shapes) -> None:
    """A piece is some channels of a group, over all images, with room of its own for their frame and their columns."""
    matrix, framed = scratch
    frame = images.Frame(k, shape.rows, shape.cols)
    pieces = k.let(n.minimum(_pieces(k, shape.taps), n.as_expr(shape.depth)))
    most, window = k.let((n.as_expr(shape.depth) + pieces - 1) // pieces), k.let(n.as_expr(shape.rows.kernel) * shape.cols.kernel)
    k.set_shape(matrix, [shape.groups * pieces * most * window * shape.points])
    k.set_shape(framed, [shape.groups * pieces * most * frame.area if frame.padded else 0])
    with k.parallel(shape.groups * pieces) as piece:
        group, part = k.let(piece // pieces), k.let(piece % pieces)
        channel = k.let(part * shape.depth // pieces)
        channels = k.let((part + 1) * shape.depth // pieces - channel)
        room, columns = k.let(piece * most * frame.area), k.let(piece * most * window * shape.points)
        to = k.let(group * shape.filters * shape.taps + channel * window)
        with k.loop(shape.filters) as m:
            images.fill(k, dst, to + m * shape.taps, channels * window, 0.0)
        if frame.padded:
            images.fill(k, framed, room, channels * frame.area, 0.0)
        with k.loop(shape.batch) as b:
            start = k.let(((b * shape.groups + group) * shape.depth + channel) * shape.rows.size * shape.cols.size)
            if frame.padded:
                frame.load(src, start, framed, room, channels)
            pixels, at = (framed, room) if frame.padded else (src, start)
            _columns(k, shape, frame, channels, at, columns, lambda s, e, pixels=pixels: matrix.__setitem__(e, pixels[s]))  # type: ignore[misc]
            k.gemm(d, matrix, dst, shape.filters, channels * window, shape.points, trans_b=True, a_offset=shape.output(b, group),
                   b_offset=columns, c_offset=to, ldc=shape.taps, add=True)  # fmt: skip


def _scatter(
    cx: Any, f: Any, dy: Any, inputs: list[Any], out: Any, attrs: dict[str, Any], axes: Callable[[Sequence[Any]], Axes]
) -> None:
    """Spreads dy [N, M, OH, OW] by the filter over the image `out`."""
    if cx.routines and pay_scatter(f, attrs):
        conv_routines.scatter(cx, f, dy, inputs, out, attrs, axes)
        return
    last = windows.channel_last(attrs["data_format"])
    grads, weights, target = images.plain(cx, dy, last), images.plain(cx, f), images.target_for(cx, out, last)
    depthwise = is_depthwise(f, attrs)
    direct = not depthwise and pointwise(f, attrs) and not any(attrs.get("output_padding") or ())
    temps = [] if direct else [cx.temp(target.dtype, 2), cx.temp(target.dtype, 3)]
    with images.producing(cx, [grads, weights], inputs, target, out, temps, last) as (k, (d, w), ins, dst, scratch):
        channels = w.shape[1] * attrs["groups"]
        shape = Shapes(k, (d.shape[0], channels), w.shape, axes(ins), attrs)
        if depthwise:
            _depthwise_scatter(k, d, w, dst, scratch, shape)
        elif direct:
            with k.loop(shape.batch) as b, k.loop(shape.groups) as g:
                k.gemm(w, d, dst, shape.taps, shape.points, shape.filters, trans_a=True,
                       a_offset=g * shape.filters * shape.taps, b_offset=shape.output(b, g),
                       c_offset=(b * shape.channels + g * shape.depth) * shape.points)  # fmt: skip
        else:
            _scatter_columns(k, d, w, dst, scratch, shape)
    images.deliver(cx, target, out, inputs, last)


def _scatter_columns(k: Any, d: Any, w: Any, dst: Any, scratch: Sequence[Any], shape: Shapes) -> None:
    columns = Columns(k, shape, scratch)
    if not columns.frame.padded:
        images.fill(k, dst, 0, dst.size, 0.0)
    with k.loop(shape.batch) as b:
        if columns.frame.padded:
            columns.clear()
        with k.loop(shape.groups) as g:
            k.gemm(w, d, columns.matrix, shape.taps, shape.points, shape.filters, trans_a=True,
                   a_offset=g * shape.filters * shape.taps, b_offset=shape.output(b, g))  # fmt: skip
            columns.scatter(dst, b, g)
        columns.deliver(dst, b)


# ---- depthwise ------------------------------------------------------------------------------------------------------


def _depthwise_forward(
    cx: Any, image: Any, weights: Any, target: Any, out: Any, inputs: list[Any], attrs: dict[str, Any]
) -> None:
    last = windows.channel_last(attrs["data_format"])
    framed = _framed(cx, image, weights, attrs)
    with images.producing(cx, [image, weights, framed], inputs, target, out, (), last) as (
        k,
        (src, w, padded),
        _,
        dst,
        _,
    ):
        shape = Shapes(k, src.shape, w.shape, axes_of(src.shape, w.shape, attrs), attrs)
        frame = images.Frame(k, shape.rows, shape.cols)
        with k.parallel(dst.shape[0] * dst.shape[1]) as plane:
            to, source = k.let(plane * shape.points), k.let(plane // shape.filters * frame.area)
            f = k.let(plane % (shape.filters * shape.groups) * shape.taps)
            images.fill(k, dst, to, shape.points, 0.0)

            def add(tap: Any, point: Any, pixel: Any) -> None:
                dst[to + point] = dst[to + point] + tap * padded[pixel]

            _taps(k, shape, frame, lambda i: k.let(w[f + i]), source, add)


def _framed(cx: Any, image: Any, weights: Any, attrs: dict[str, Any]) -> Any:
    """The image with its paddings: a temporary, or the image itself where there is none."""
    pads = windows.axes((2, 2), (3, 3), attrs["strides"], attrs["paddings"], attrs["padding_algorithm"])
    if attrs["padding_algorithm"] != "SAME" and not any(axis.padded for axis in pads):
        return image
    t = cx.temp(image.dtype, 4)
    with cx.kernel([image, weights], [t], shapes=False) as (k, (src, w), (dst,)):
        rows, cols = (images.named(k, axis) for axis in axes_of(src.shape, w.shape, attrs))
        frame = images.Frame(k, rows, cols)
        k.set_shape(dst, [src.shape[0], src.shape[1], frame.height, frame.width])
        with k.parallel(src.shape[0] * src.shape[1]) as plane:
            images.fill(k, dst, plane * frame.area, frame.area, 0.0)
            frame.load(src, plane * rows.size * cols.size, dst, plane * frame.area, 1)
    return t


def _taps(
    k: Any,
    shape: Shapes,
    frame: images.Frame,
    tap: Callable[[Any], Any],
    source: Any,
    body: Callable[[Any, Any, Any], None],
) -> None:
    """For each tap of a plane's filter and each point: body(tap(i), point, pixel), points innermost."""
    rows, cols = shape.rows, shape.cols
    with k.loop(rows.kernel) as i, k.loop(cols.kernel) as j:
        value = tap(i * cols.kernel + j)
        with k.loop(shape.height) as y:
            point = k.let(y * shape.width)
            pixel = k.let(source + (y * rows.stride + i * rows.dilation) * frame.width + j * cols.dilation)
            with k.loop(shape.width) as x:
                body(value, point + x, pixel + x * cols.stride)


def _depthwise_scatter(k: Any, d: Any, w: Any, dst: Any, scratch: Sequence[Any], shape: Shapes) -> None:
    frame = images.Frame(k, shape.rows, shape.cols)
    unused, framed = scratch
    k.set_shape(unused, [0, 0])
    planes = k.let(shape.batch * shape.channels)
    k.set_shape(framed, [planes if frame.padded else 0, frame.height, frame.width])
    pixels = framed if frame.padded else dst
    with k.parallel(planes) as plane:
        start = k.let(plane * frame.area)
        images.fill(k, pixels, start, frame.area, 0.0)
        with k.loop(shape.filters) as r:
            source = k.let((plane * shape.filters + r) * shape.points)
            f = k.let((plane % shape.channels * shape.filters + r) * shape.taps)

            def add(tap: Any, point: Any, pixel: Any) -> None:
                pixels[pixel] = pixels[pixel] + tap * d[source + point]

            _taps(k, shape, frame, lambda i: k.let(w[f + i]), start, add)
        if frame.padded:
            frame.unload(framed, start, dst, plane * shape.rows.size * shape.cols.size, 1)


def _depthwise_grad_filter(
    cx: Any, image: Any, grads: Any, target: Any, out: Any, inputs: list[Any], attrs: dict[str, Any]
) -> None:
    framed = _framed(cx, image, inputs[2], attrs)
    with images.producing(cx, [image, grads, framed], inputs, target, out) as (k, (src, d, padded), (_, _, w), dst, _):
        shape = Shapes(k, src.shape, w.shape, axes_of(src.shape, w.shape, attrs), attrs)
        frame = images.Frame(k, shape.rows, shape.cols)
        filters = k.let(shape.filters * shape.groups)
        with k.parallel(filters * shape.taps) as t:
            m, i, j = k.let(t // shape.taps), k.let(t % shape.taps // shape.cols.kernel), k.let(t % shape.cols.kernel)
            total = k.var(0.0, dst.dtype)
            with k.loop(shape.batch) as b, k.loop(shape.height) as y:
                grad = k.let(((b * filters + m) * shape.height + y) * shape.width)
                line = (y * shape.rows.stride + i * shape.rows.dilation) * frame.width + j * shape.cols.dilation
                pixel = k.let((b * shape.channels + m // shape.filters) * frame.area + line)
                with k.loop(shape.width) as x:
                    total.add(d[grad + x] * padded[pixel + x * shape.cols.stride])
            dst[t] = total.get()
