"""Spreading outputs over an image: its gradient where the product of `convolution` would do much for nothing.

The transposed filter times the outputs gives a value for each tap and output pixel, a block of rows and a panel of pixels at a time; each
run of these is added where its windows lie in the image, as far as they lie inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtype as dt
from ..loopir import conv_plan as at
from . import tiles
from .conv_plans import MAX_ROWS
from .runs import Elements, add_runs, put_words, round_up, stack, word

SPREAD_REDUCTION = 64
"""Steps of a reduction between two visits of the accumulators where neighbouring rows of A are neighbours in memory: few enough lines
that they stay in the cache for the next rows."""


def spread(dtype: str, tile: Any) -> Callable[..., None]:
    """The routine, with `tile` for its products."""
    size = dt.size(dtype)
    lanes, vectors = tiles.lanes(dtype), tiles.VECTORS
    width = lanes * vectors
    clear, copy, add = (elements := Elements(dtype)).clear, elements.copy, elements.add
    cells = stack(MAX_ROWS * width * size)
    columns = stack(SPREAD_REDUCTION * width * size)
    zero = stack(8)
    add_run = add_runs(dtype)

    def add_cells(plan: int, out: int, source: int, row0: int, rows: int, begin: int, end: int, y0: int, x0: int) -> None:
        """Adds the values of the taps row0.. of the channels at `out`, each for the pixels begin..end, the first of which is (y0, x0)."""
        height, width_, out_width = word(plan, at.HEIGHT), word(plan, at.WIDTH), word(plan, at.SOURCE_W)
        stride_h, stride_w = word(plan, at.STRIDE_H), word(plan, at.STRIDE_W)
        dilation_h, dilation_w = word(plan, at.DILATION_H), word(plan, at.DILATION_W)
        top, left = word(plan, at.BEFORE_H), word(plan, at.BEFORE_W)
        taps, kernel_w = word(plan, at.TAPS), word(plan, at.KERNEL_W)
        channel = row0 // taps
        i = (row0 - channel * taps) // kernel_w
        j = row0 - channel * taps - i * kernel_w
        plane = out + channel * height * width_ * size
        for _ in range(rows):
            right, down = j * dilation_w - left, i * dilation_h - top
            lowest, highest = max(-right, 0), width_ - right
            if stride_w != 1:
                lowest, highest = round_up(lowest, stride_w), round_up(highest, stride_w)
            y, x, q = y0 * stride_h + down, x0, begin
            values = source
            while q < end:
                stop = min(out_width, x + end - q)
                if y >= 0 and y < height:
                    low, high = max(x, lowest), min(stop, highest)
                    if low < high:
                        here = plane + (y * width_ + low * stride_w + right) * size
                        if stride_w == 1:
                            add_run(here, values + (low - x) * size, high - low)
                        else:
                            for e in range(high - low):
                                add(here, e * stride_w, values, low - x + e)
                q += stop - x
                values += (stop - x) * size
                x = 0
                y += stride_h
            source += width * size
            j += 1
            if j == kernel_w:
                j = 0
                i += 1
                if i * kernel_w == taps:
                    i = 0
                    plane += height * width_ * size

    def spread(plan: int, source: int, weights: int, out: int, task: int) -> None:
        """One task of the gradient in the images: some channels of one image and group."""
        blocks, groups, depth = word(plan, at.BLOCKS), word(plan, at.GROUPS), word(plan, at.ROWS)
        rows, taps, area = word(plan, at.DEPTH), word(plan, at.TAPS), word(plan, at.OUT_PLANE)
        block = task % blocks
        group, image = task // blocks % groups, task // blocks // groups
        out_width = word(plan, at.SOURCE_W)
        points = word(plan, at.SOURCE_H) * out_width
        channel, last = block * depth // blocks, (block + 1) * depth // blocks
        to = out + ((image * groups + group) * depth + channel) * area * size
        for i in range((last - channel) * area):
            clear(to, i)
        b = source + (image * groups + group) * rows * points * size
        a = weights + (group * rows * depth + channel) * taps * size
        c, room, table = cells(), columns(), zero()
        put_words(table, 0, 0)
        count = round_up(points, lanes)
        panels = round_up(count, vectors)
        for row0 in range(0, (last - channel) * taps, MAX_ROWS):
            rows_here = min(MAX_ROWS, (last - channel) * taps - row0)
            for panel in range(panels):
                v0, v1 = panel * count // panels, (panel + 1) * count // panels
                begin, end = v0 * lanes, min(v1 * lanes, points)
                first = 1
                for m in range(0, rows, SPREAD_REDUCTION):
                    some = min(SPREAD_REDUCTION, rows - m)
                    here, step = b + (m * points + begin) * size, points
                    if end - begin < (v1 - v0) * lanes:  # there may be no memory beyond
                        for i in range(some):
                            for x in range(end - begin):
                                copy(room, i * width + x, here, i * points + x)
                        here, step = room, width
                    tile(a + (m * depth * taps + row0) * size, 1, depth * taps, table, here, step, table, some, 1, c, width, rows_here,
                         v1 - v0, first)  # fmt: skip
                    first = 0
                add_cells(plan, to, c, row0, rows_here, begin, end, begin // out_width, begin % out_width)

    return spread
