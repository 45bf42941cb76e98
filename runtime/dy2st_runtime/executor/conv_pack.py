"""Packing the columns of a convolution: those of a panel of pixels, one row for each term of their sums.

A vector of neighbouring pixels is put together from runs of the rows that it lies in, by loads with masks: the lanes of a run come from its
place, those of pixels outside of the image stay zero. Places and masks are the same for all channels, so finding them costs little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .. import dtype as dt
from ..loopir import conv_plan as at
from . import tiles
from .runs import SCALARS, Elements, word
from .scalars import from_source
from .values import I64, Instruction, counted, declared

RUNS = 4
"""Runs that one pass over the channels puts together at most."""


def _pass(dtype: str, runs: int, fresh: bool) -> Instruction:
    """pass(target, row, source, area, channels, place, mask, ...): for each channel a vector of the elements at each place of its plane, in
    the lanes of the mask; other lanes are zero, or keep what they have if it is not a `fresh` one."""
    scalar, lanes, size = SCALARS[dtype], tiles.lanes(dtype), dt.size(dtype)
    vector, flags = ir.VectorType(scalar, lanes), ir.VectorType(ir.IntType(1), lanes)
    name = f"llvm.masked.load.v{lanes}{'f32' if dtype == 'float32' else 'f64'}.p0"

    def emit(build: ir.IRBuilder, target: Any, row: Any, source: Any, area: Any, channels: Any, *where: Any) -> None:
        pointer = vector.as_pointer()
        nbytes, align = ir.Constant(I64, size), ir.Constant(ir.IntType(32), size)
        load = declared(build.module, ir.FunctionType(vector, [pointer, ir.IntType(32), flags, vector]), name)
        places = [build.add(source, build.mul(place, nbytes)) for place in where[::2]]
        masks = [build.bitcast(build.trunc(mask, ir.IntType(lanes)), flags) for mask in where[1::2]]
        step, plane = build.mul(row, nbytes), build.mul(area, nbytes)
        with counted(build, channels) as channel:
            to = build.inttoptr(build.add(target, build.mul(channel, step)), pointer)
            past = build.mul(channel, plane)
            values = ir.Constant(vector, [0.0] * lanes) if fresh else build.load(to, align=size)
            for place, mask in zip(places, masks, strict=True):
                values = build.call(load, [build.inttoptr(build.add(place, past), pointer), align, mask, values])
            build.store(values, to, align=size)

    return Instruction(emit)


def packing(dtype: str) -> Callable[..., None]:
    """pack(plan, phase, target, row, source, channels, first_tap, taps, used, begin, end): the columns of the pixels begin..end as rows of
    a panel, each `row` elements after the one before; `source`: the plane of the first channel. Pixels are counted along rows of `used`."""
    lanes, size = tiles.lanes(dtype), dt.size(dtype)
    one, two, three, four = (_pass(dtype, runs, True) for runs in range(1, RUNS + 1))
    four_more = _pass(dtype, RUNS, False)

    def lanes_of(r: int, rows: int, inside: int, low: int, high: int, used: int, x: int, count: int) -> int:
        """The mask of the r-th row that a vector meets: of its pixels those from `low` to `high`, if the row is inside of the image."""
        if r >= rows or not inside:
            return 0
        begin, end = max(low + r * used - x, 0), min(high + r * used - x, count)
        return (1 << end) - (1 << begin) if end > begin else 0

    def pack(plan: int, phase: int, target: int, row: int, source: int, channels: int, first_tap: int, taps: int, used: int, begin: int,
             end: int) -> None:  # fmt: skip
        area, row_width, unframed = word(plan, at.FRAME_AREA), word(plan, at.FRAME_W), word(plan, at.UNFRAMED)
        offsets = phase + 8 * (at.PHASE_WORDS + word(plan, at.TAPS))
        step, next_row = row * taps, row_width - used
        y = begin // used
        x = begin - y * used
        while begin < end:
            count = min(end - begin, lanes)
            rows = (x + count - 1) // used + 1
            # the lanes of the first rows, where no tap lies outside of the image
            w0, w1 = lanes_of(0, rows, 1, 0, used, used, x, count), lanes_of(1, rows, 1, 0, used, used, x, count)
            w2, w3 = lanes_of(2, rows, 1, 0, used, used, x, count), lanes_of(3, rows, 1, 0, used, used, x, count)
            for t in range(taps):
                low_y, high_y, low, high = 0, y + rows, 0, used
                if unframed:
                    tap, kernel_w = first_tap + t, word(plan, at.KERNEL_W)
                    low_y = word(plan, at.BEFORE_H) - tap // kernel_w * word(plan, at.DILATION_H)
                    low = word(plan, at.BEFORE_W) - tap % kernel_w * word(plan, at.DILATION_W)
                    high_y, high = low_y + word(plan, at.HEIGHT), min(low + word(plan, at.WIDTH), used)
                    low = max(low, 0)
                whole = low_y <= y and y + rows <= high_y and low == 0 and high == used
                to = target + t * row * size
                place = y * row_width + x + word(offsets, first_tap + t)
                for r in range(0, rows, RUNS):
                    a, b, c, d = w0, w1, w2, w3
                    if r > 0 or not whole:
                        a = lanes_of(r, rows, y + r >= low_y and y + r < high_y, low, high, used, x, count)
                        b = lanes_of(r + 1, rows, y + r + 1 >= low_y and y + r + 1 < high_y, low, high, used, x, count)
                        c = lanes_of(r + 2, rows, y + r + 2 >= low_y and y + r + 2 < high_y, low, high, used, x, count)
                        d = lanes_of(r + 3, rows, y + r + 3 >= low_y and y + r + 3 < high_y, low, high, used, x, count)
                    p = place + r * next_row
                    q, s, u = p + next_row, p + 2 * next_row, p + 3 * next_row
                    if r > 0:
                        four_more(to, step, source, area, channels, p, a, q, b, s, c, u, d)
                    elif rows == 1:
                        one(to, step, source, area, channels, p, a)
                    elif rows == 2:
                        two(to, step, source, area, channels, p, a, q, b)
                    elif rows == 3:
                        three(to, step, source, area, channels, p, a, q, b, s, c)
                    else:
                        four(to, step, source, area, channels, p, a, q, b, s, c, u, d)
            target += lanes * size
            begin += count
            x += count
            y += x // used
            x -= x // used * used

    return pack


def picking(dtype: str) -> Callable[..., None]:
    """pick(plan, phase, target, row, source, channels, first_tap, taps, used, begin, count): the columns of so many pixels from `begin`,
    each as a run of its own, `row` elements after the one before; else as for `packing`."""
    elements, size = Elements(dtype), dt.size(dtype)
    copy, clear = elements.copy, elements.clear

    def pick(plan: int, phase: int, target: int, row: int, source: int, channels: int, first_tap: int, taps: int, used: int, begin: int,
             count: int) -> None:  # fmt: skip
        area, row_width, unframed = word(plan, at.FRAME_AREA), word(plan, at.FRAME_W), word(plan, at.UNFRAMED)
        offsets = phase + 8 * (at.PHASE_WORDS + word(plan, at.TAPS))
        for p in range(begin, begin + count):
            y = p // used
            x = p - y * used
            for t in range(taps):
                inside = 1
                if unframed:
                    tap, kernel_w = first_tap + t, word(plan, at.KERNEL_W)
                    down = y + tap // kernel_w * word(plan, at.DILATION_H) - word(plan, at.BEFORE_H)
                    across = x + tap % kernel_w * word(plan, at.DILATION_W) - word(plan, at.BEFORE_W)
                    inside = down >= 0 and down < word(plan, at.HEIGHT) and across >= 0 and across < word(plan, at.WIDTH)
                place, i = y * row_width + x + word(offsets, first_tap + t), t
                for _ in range(channels):
                    if inside:
                        copy(target, i, source, place)
                    else:
                        clear(target, i)
                    place += area
                    i += taps
            target += row * size

    return pick


def _whole(dtype: str, vectors: int) -> Instruction:
    """whole(target, row, source, area, channels): so many vectors of neighbouring pixels of each channel."""
    lanes, size = tiles.lanes(dtype), dt.size(dtype)
    vector = ir.VectorType(SCALARS[dtype], lanes)

    def emit(build: ir.IRBuilder, target: Any, row: Any, source: Any, area: Any, channels: Any) -> None:
        to, from_ = (build.inttoptr(address, SCALARS[dtype].as_pointer()) for address in (target, source))
        with counted(build, channels) as channel:
            here, there = (build.gep(start, [build.mul(channel, step)]) for start, step in ((from_, area), (to, row)))
            places = [[build.bitcast(build.gep(place, [ir.Constant(I64, v * lanes)]), vector.as_pointer()) for v in range(vectors)]
                      for place in (here, there)]  # fmt: skip
            values = [build.load(place, align=size) for place in places[0]]
            for value, place in zip(values, places[1], strict=True):
                build.store(value, place, align=size)

    return Instruction(emit)


def copying(dtype: str) -> Callable[..., None]:
    """copy(target, row, source, area, channels, vectors): columns that are whole vectors of neighbouring pixels, of one tap, as rows of a
    panel, each `row` elements after the one before; `source`: the first pixel in the plane of the first channel."""
    source = ["def copy(target, row, source, area, channels, vectors):"]
    scope: dict[str, Any] = {}
    for vectors in range(1, tiles.VECTORS + 1):
        scope[f"whole_{vectors}"] = _whole(dtype, vectors)
        source += [f"    {'if' if vectors == 1 else 'elif'} vectors == {vectors}:",
                   f"        whole_{vectors}(target, row, source, area, channels)"]  # fmt: skip
    return from_source("\n".join(source) + "\n", scope)
