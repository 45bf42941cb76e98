"""The routine of depthwise convolution: filters that see one channel each, which have no product to speak of.

A plane at a time, from the frame (see `convolution`): some vectors of pixels, the sum over the taps in registers.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import dtype as dt
from ..loopir import conv_plan as at
from . import tiles
from .runs import Elements, copy_run, round_up, stack, word


def depthwise(dtype: str) -> Callable[..., None]:
    size = dt.size(dtype)
    lanes = tiles.lanes(dtype)
    tile, widest = tiles.dispatch_row(dtype)
    cells = stack(widest * lanes * size)
    copy = Elements(dtype).copy

    def depthwise(plan: int, frame: int, weights: int, out: int, period: int, task: int) -> None:
        """One task: some planes, each with filters of its own; filters repeat after `period` planes."""
        phases, taps_max, rows = word(plan, at.PHASES), word(plan, at.TAPS), word(plan, at.ROWS)
        area, frame_w = word(plan, at.FRAME_AREA), word(plan, at.FRAME_W)
        out_plane, out_row, out_column = word(plan, at.OUT_PLANE), word(plan, at.OUT_ROW), word(plan, at.OUT_COLUMN)
        depth, a_row = word(plan, at.DEPTH), word(plan, at.A_ROW)
        a_channel, a_group = word(plan, at.A_CHANNEL), word(plan, at.A_GROUP)
        c = cells()
        for image in range(task * at.PLANES, min((task + 1) * at.PLANES, word(plan, at.IMAGES))):
            b = frame + image * depth * area * size
            a = weights + image % period * a_group * size
            for p in range(phases):
                phase = plan + 8 * (at.HEADER + p * (at.PHASE_WORDS + 3 * taps_max))
                high, used, taps = word(phase, at.PHASE_HEIGHT), word(phase, at.PHASE_WIDTH), word(phase, at.PHASE_TAPS)
                a_taps = phase + 8 * at.PHASE_WORDS
                if used <= 0:
                    high = 0
                total = (high - 1) * frame_w + used
                for r in range(rows):
                    to = out + ((image * rows + r) * out_plane + word(phase, at.PHASE_BASE)) * size
                    q = 0
                    y, x = 0, 0
                    while q < total:
                        wide = min(round_up(total - q, lanes), widest)
                        wide = tile(a + r * a_row * size, a_channel, a_taps, b + q * size, area, a_taps + 8 * taps_max, depth, taps, c,
                                    wide)  # fmt: skip
                        end = min(q + wide * lanes, total)
                        values = c
                        while q < end:
                            stop = min(x + end - q, frame_w)
                            here = to + (y * out_row + x * out_column) * size
                            fill = min(stop, used) - x
                            if out_column == 1:
                                copy_run(here, values, fill * size)
                            else:
                                for e in range(fill):
                                    copy(here, e * out_column, values, e)
                            values += (stop - x) * size
                            q += stop - x
                            x = stop
                            if x == frame_w:
                                x = 0
                                y += 1

    return depthwise
