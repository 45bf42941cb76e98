"""Convolution by routines of the target (`executor.convolution`), in three kernels: one makes a plan from the sizes, one copies the images
into their frame, one multiplies. The last two are loops over tasks of the plan, which threads can share.

All functions are products of the filter with columns of the image; which, the plan says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dtype
from ..loopir import conv_plan
from ..loopir import nodes as n
from . import images, windows
from .windows import Axes, axes_of


def forward(cx: Any, x: Any, f: Any, out: Any, attrs: dict[str, Any]) -> None:
    """Output of a convolution."""
    if is_direct(f, attrs):
        _direct(cx, x, f, out, attrs)
        return
    last = windows.channel_last(attrs["data_format"])
    image, weights, target = images.plain(cx, x, last), images.plain(cx, f), images.target_for(cx, out, last)
    plan, frame = temps = [cx.temp("int64", 1), cx.temp(target.dtype, 1)]
    single = is_depthwise(f, attrs)
    with images.producing(cx, [image, weights], [x, f], target, out, temps, last) as (k, (src, w), _, dst, (p, room)):
        make_plan(k, p, room, "output", src, dst, w, axes_of(src.shape, w.shape, attrs), attrs["groups"], single)
    _run(cx, "output", plan, frame, image, weights, target, attrs["groups"], single)
    images.deliver(cx, target, out, [x, f], last)


def _direct(cx: Any, x: Any, f: Any, out: Any, attrs: dict[str, Any]) -> None:
    """Output of a depthwise convolution, a plane at a time."""
    last = windows.channel_last(attrs["data_format"])
    image, weights, target = images.plain(cx, x, last), images.plain(cx, f), images.target_for(cx, out, last)
    with images.producing(cx, [image, weights], [x, f], target, out, (), last) as (k, (src, w), _, dst, _):
        rows, cols = (images.named(k, axis) for axis in axes_of(src.shape, w.shape, attrs))
        area = k.let(n.as_expr(dst.shape[2]) * dst.shape[3])
        name, filters = f"conv_direct{f.shape[2]}{rows.stride}_{src.dtype}", w.shape[0]
        with k.parallel(n.as_expr(dst.shape[0]) * filters) as plane:
            k.routine(name, [src, w, dst], src.shape[1], filters, *src.shape[2:], *dst.shape[2:], rows.before, cols.before, plane,
                      writes=[dst], work=area * f.shape[2] * f.shape[3] // 4)  # fmt: skip
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
    """Fills the plan and makes room for the frame; kind `output`, or `input` for the gradient in the image. `single`: each plane of an
    image is an image."""
    rows, cols = axes
    phases = rows.stride * cols.stride if kind == "input" else 1
    taps = n.as_expr(weights.shape[2]) * weights.shape[3]
    k.set_shape(plan, [(taps * 3 + conv_plan.PHASE_WORDS) * phases + conv_plan.HEADER])
    batch = [n.as_expr(image.shape[0]) * groups, 1] if single else [image.shape[0], groups]
    k.routine(f"conv_plan_{kind}", [plan], dtype.size(image.dtype), *batch, weights.shape[1], n.as_expr(weights.shape[0]) // groups,
              *image.shape[2:], *output.shape[2:], *weights.shape[2:], rows.stride, cols.stride, rows.dilation, cols.dilation,
              rows.before, cols.before, int(single), writes=[plan])  # fmt: skip
    k.set_shape(frame, [k.let(plan[conv_plan.FRAME_ELEMENTS])])


def _run(cx: Any, kind: str, plan: Any, frame: Any, source: Any, weights: Any, target: Any, groups: int, single: bool) -> None:
    """The tasks of a plan; `source` goes into the frame."""
    with cx.kernel([plan, source], [frame], shapes=False, label="frame of a convolution") as (k, (p, src), (room,)):
        work = k.let(p[conv_plan.FRAME_WORK])
        with k.parallel(k.let(p[conv_plan.FRAME_TASKS])) as task:
            k.routine(f"conv_images_{src.dtype}", [p, src, room], task, writes=[room], work=work)
    with cx.kernel([plan, source, frame, weights], [target], shapes=False) as (k, (p, src, room, w), (dst,)):
        work, tasks = k.let(p[conv_plan.TASK_WORK]), k.let(p[conv_plan.TASKS])
        with k.parallel(tasks) as task:
            if single:
                k.routine(f"conv_depthwise_{src.dtype}", [p, room, w, dst], groups, task, writes=[dst], work=work)
            else:
                k.routine(f"conv_{kind}_{src.dtype}", [p, src, room, w, dst], task, writes=[dst], work=work)
