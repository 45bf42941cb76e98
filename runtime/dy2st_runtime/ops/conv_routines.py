"""Convolution by routines of the target (`executor.convolution`), in three kernels: one makes a plan from the sizes, one copies the images
into their frame, one multiplies. The last two are loops over tasks of the plan, which threads can share.

All functions are products of the filter with columns of the image; which, the plan says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .. import dtype
from ..loopir import conv_plan
from ..loopir import nodes as n
from . import images, windows
from .windows import Axes, axes_of


def forward(cx: Any, x: Any, f: Any, out: Any, attrs: dict[str, Any], finish: Any = None) -> None:
    """Output of a convolution. `finish` (see `lowering.finish`) is done to each part of it as soon as it is there."""
    if is_direct(f, attrs):
        _direct(cx, x, f, out, attrs, finish)
        return
    last = windows.channel_last(attrs["data_format"])
    image, weights, target = images.plain(cx, x, last), images.plain(cx, f), images.target_for(cx, out, last)
    plan, frame = temps = [cx.temp("int64", 1), cx.temp(target.dtype, 1)]
    single, kind = is_depthwise(f, attrs), "winograd" if cx.winograd and is_winograd(f, attrs) else "output"
    with images.producing(cx, [image, weights], [x, f], target, out, temps, last) as (k, (src, w), _, dst, (p, room)):
        make_plan(k, p, room, kind, src, dst, w, axes_of(src.shape, w.shape, attrs), attrs["groups"], single)
    _run(cx, kind, plan, frame, image, weights, target, attrs["groups"], single, finish)
    images.deliver(cx, target, out, [x, f], last)


def can_finish(cx: Any, out: Any, attrs: dict[str, Any]) -> bool:
    """Whether `forward` can take a `finish`: where the kernels write to the output itself."""
    return cx.routines and images.writes_directly(out, windows.channel_last(attrs["data_format"]))


def _direct(cx: Any, x: Any, f: Any, out: Any, attrs: dict[str, Any], finish: Any) -> None:
    """Output of a depthwise convolution, a plane at a time."""
    last = windows.channel_last(attrs["data_format"])
    image, weights, target = images.plain(cx, x, last), images.plain(cx, f), images.target_for(cx, out, last)
    more, others = (finish.reads, finish.writes) if finish else ([], [])
    with images.producing(cx, [image, weights, *more], [x, f], target, out, others, last) as (k, (src, w, *operands), _, dst, outs):
        rows, cols = (images.named(k, axis) for axis in axes_of(src.shape, w.shape, attrs))
        area = k.let(n.as_expr(dst.shape[2]) * dst.shape[3])
        name, filters = f"conv_direct{f.shape[2]}{rows.stride}_{src.dtype}", w.shape[0]
        if finish:
            finish.shapes(k, dst, outs)
        with k.parallel(n.as_expr(dst.shape[0]) * filters) as plane:
            k.routine(name, [src, w, dst], src.shape[1], filters, *src.shape[2:], *dst.shape[2:], rows.before, cols.before, plane,
                      writes=[dst], work=area * f.shape[2] * f.shape[3] // 4)  # fmt: skip
            if finish:
                finish.run(k, dst, operands, outs, k.let(plane % filters), k.let(plane * area), area)
    images.deliver(cx, target, out, [x, f], last)


def scatter(
    cx: Any, f: Any, dy: Any, inputs: list[Any], out: Any, attrs: dict[str, Any], axes: Callable[[Sequence[Any]], Axes]
) -> None:
    """Spreads dy [N, M, OH, OW] by the filter over the image `out`; `axes` of the op's inputs are the windows over it."""
    last = windows.channel_last(attrs["data_format"])
    grads, weights, target = images.plain(cx, dy, last), images.plain(cx, f), images.target_for(cx, out, last)
    plan, frame = temps = [cx.temp("int64", 1), cx.temp(target.dtype, 1)]
    single = is_depthwise(f, attrs)
    with images.producing(cx, [grads, weights], inputs, target, out, temps, last) as (k, (d, w), ins, dst, (p, room)):
        make_plan(k, p, room, "input", dst, d, w, axes(ins), attrs["groups"], single)
    _run(cx, "input", plan, frame, grads, weights, target, attrs["groups"], single)
    images.deliver(cx, target, out, inputs, last)


def is_depthwise(f: Any, attrs: dict[str, Any]) -> bool:
    """Whether each filter sees one channel of several."""
    return attrs["groups"] > 1 and f.shape[1] == 1


def is_direct(f: Any, attrs: dict[str, Any]) -> bool:
    """Whether there is a routine for these very windows (known when the kernel is made)."""
    steps, apart = (windows.pair(attrs[name], name, 1) for name in ("strides", "dilations"))
    square = f.shape[2] == f.shape[3] and steps[0] == steps[1] and apart == (1, 1)
    return is_depthwise(f, attrs) and square and f.shape[2] in conv_plan.DIRECT_KERNELS and steps[0] in conv_plan.DIRECT_STRIDES


def is_winograd(f: Any, attrs: dict[str, Any]) -> bool:
    """Whether the output may be computed by transforms; the sizes say whether that pays (see `executor.winograd`)."""
    steps, apart = (windows.pair(attrs[name], name, 1) for name in ("strides", "dilations"))
    return tuple(f.shape[2:]) == (3, 3) and steps == apart == (1, 1) and not is_depthwise(f, attrs)


def pointwise(f: Any, attrs: dict[str, Any]) -> bool:
    """Whether the columns of an image are the image itself (known when the kernel is made)."""
    steps, algorithm = windows.pair(attrs["strides"], "strides", 1), attrs["padding_algorithm"]
    return tuple(f.shape[2:]) == (1, 1) and steps == (1, 1) and (algorithm != "EXPLICIT" or not any(attrs["paddings"]))


FEW_CHANNELS = 8
"""Measured on one Zen4 core: gradients in images of so few channels, with strides of 1, are 10 to 40 % faster by products of columns than
by tiles (elsewhere up to 3 times slower)."""


def pay_scatter(f: Any, attrs: dict[str, Any]) -> bool:
    """Whether the routines compute a gradient in the image faster than the nests of `conv_lowering`."""
    strided = windows.pair(attrs["strides"], "strides", 1) != (1, 1)
    return is_depthwise(f, attrs) or strided or not 0 < f.shape[1] <= FEW_CHANNELS


def make_plan(
    k: Any, plan: Any, frame: Any, kind: str, image: Any, output: Any, weights: Any, axes: Axes, groups: int, single: bool
) -> None:
    """Fills the plan and makes room for the frame; kind `output`, `winograd` for one that may be made by transforms, or `input` for the
    gradient in the image. `single`: each plane of an image is an image."""
    rows, cols = axes
    phases = rows.stride * cols.stride if kind == "input" else 1
    taps = n.as_expr(weights.shape[2]) * weights.shape[3]
    k.set_shape(plan, [(taps * 3 + conv_plan.PHASE_WORDS) * phases + conv_plan.HEADER])
    batch = [n.as_expr(image.shape[0]) * groups, 1] if single else [image.shape[0], groups]
    k.routine(f"conv_plan_{kind}", [plan], dtype.size(image.dtype), *batch, weights.shape[1], n.as_expr(weights.shape[0]) // groups,
              *image.shape[2:], *output.shape[2:], *weights.shape[2:], rows.stride, cols.stride, rows.dilation, cols.dilation,
              rows.before, cols.before, int(single), writes=[plan])  # fmt: skip
    k.set_shape(frame, [k.let(plan[conv_plan.FRAME_ELEMENTS])])


def _run(cx: Any, kind: str, plan: Any, frame: Any, source: Any, weights: Any, target: Any, groups: int, single: bool,
         finish: Any = None) -> None:  # fmt: skip
    """The tasks of a plan; `source` goes into the frame."""
    with cx.kernel([plan, source], [frame], shapes=False, label="frame of a convolution") as (k, (p, src), (room,)):
        work = k.let(p[conv_plan.FRAME_WORK])
        with k.parallel(k.let(p[conv_plan.FRAME_TASKS])) as task:
            k.routine(f"conv_images_{src.dtype}", [p, src, room], task, writes=[room], work=work)
    more, others = (finish.reads, finish.writes) if finish else ([], [])
    reads = [plan, source, frame, weights, *more]
    with cx.kernel(reads, [target, *others], shapes=False) as (k, (p, src, room, w, *operands), (dst, *outs)):
        work, tasks = k.let(p[conv_plan.TASK_WORK]), k.let(p[conv_plan.TASKS])
        if finish:
            finish.shapes(k, dst, outs)
        with k.parallel(tasks) as task:
            if single:
                k.routine(f"conv_depthwise_{src.dtype}", [p, room, w, dst], groups, task, writes=[dst], work=work)
            else:
                asked = () if kind == "input" else (finish.read_ahead(dst, operands) if finish else dst,)
                k.routine(f"conv_{kind}_{src.dtype}", [p, src, room, w, dst, *asked], task, writes=[dst], work=work)
            if finish:
                part = _planes_of(k, p, task, dst) if single else _rows_of(k, p, task, dst, groups)
                with k.loop(part.images) as image, k.loop(part.rows) as row:
                    at = k.let(part.row + image * dst.shape[1] + row)
                    channel = k.let(at % dst.shape[1] if part.channel is None else part.channel + row)
                    finish.run(k, dst, operands, outs, channel, k.let(at * part.area + part.first), part.count)


class Part(NamedTuple):
    """Where the results of a task lie in an output [N, C, H, W]: in some rows of [N * C, H * W], from an element on.

    Attributes:
        row: the first row; `rows`: how many.
        first: the first element of each; `count`: how many.
        area: elements of a row.
        channel: that of the first row, where all rows are of one image.
        images: the same rows of so many images belong to it.
    """

    row: Any
    rows: Any
    first: Any
    count: Any
    area: Any
    channel: Any = None
    images: Any = 1


def _planes_of(k: Any, p: Any, task: Any, dst: Any) -> Part:
    """The part that a task of `executor.conv_depthwise` computes."""
    planes, filters, area = p[conv_plan.IMAGES], k.let(p[conv_plan.ROWS]), k.let(n.as_expr(dst.shape[2]) * dst.shape[3])
    first = k.let(task * conv_plan.PLANES)
    return Part(k.let(first * filters), k.let(n.minimum(planes - first, conv_plan.PLANES) * filters), 0, area, area)


def _rows_of(k: Any, p: Any, task: Any, dst: Any, groups: int) -> Part:
    """The part that a task of `executor.convolution` or `executor.winograd` computes: a block of rows, the pixels of a span of panels or of
    rows of tiles."""
    word = lambda at: k.let(p[at])  # noqa: E731
    height, width = dst.shape[2:]
    area, blocks, spans, panels = k.let(n.as_expr(height) * width), word(conv_plan.BLOCKS), word(conv_plan.SPANS), word(conv_plan.PANELS)
    lanes, rows, block_rows = word(conv_plan.LANES), word(conv_plan.ROWS), word(conv_plan.BLOCK_ROWS)
    row_width = k.let(n.select(p[conv_plan.PACKED] + p[conv_plan.ALIGNED] != 0, width, p[conv_plan.FRAME_W]))
    total = k.let((height - 1) * row_width + width)
    vectors = k.let((total - p[conv_plan.SINGLE] + lanes - 1) // lanes)
    by_rows = k.let(word(conv_plan.BY_ROWS) != 0)
    block = k.let(n.select(by_rows, task // spans % blocks, task % blocks))
    span, plane = k.let(n.select(by_rows, task % spans, task // blocks % spans)), k.let(task // (blocks * spans))
    pairs, together = k.let((n.as_expr(height) + 1) // 2), word(conv_plan.WINOGRAD)
    step = k.let(n.maximum(together, 1))
    image = k.let(plane // groups * step)

    def before(span: Any) -> Any:
        """The pixels of the output that are counted before a span."""
        by_tiles = n.minimum(span * pairs // spans * 2 * width, total)
        by_vectors = n.select(span == spans, total, n.minimum(span * panels // spans * vectors // panels * lanes, total))
        pixel = k.let(n.select(together != 0, by_tiles, by_vectors))
        return k.let(pixel // row_width * width + n.minimum(pixel % row_width, width))

    first = before(span)
    row = k.let(block * block_rows)
    top = k.let((image * groups + plane % groups) * rows + row)
    return Part(top, k.let(n.minimum(rows - row, block_rows)), first, k.let(before(span + 1) - first), area, k.let(top % dst.shape[1]),
                k.let(n.minimum(step, dst.shape[0] - image)))  # fmt: skip
