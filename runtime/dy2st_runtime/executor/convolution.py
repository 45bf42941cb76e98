"""The routines of convolution on the CPU: implicit matrix products over register tiles (see `tiles`).

The output of an image, and its gradient in the image, is a product of the filter with a matrix whose rows are shifted copies of the
image. That matrix is never made: the image lies in a *frame* of its channels with the paddings, its pixels sorted by their remainders
of the strides, so that a shift is an offset and a row of the matrix a run of memory. Pixels are counted along the rows of the frame; the
few between the end of an output row and the next are computed and left out. Where rows are so short that these are many, the columns
of one task are packed first.

The gradient in the image is one such product for each remainder of the strides, over the taps that meet it.

A *plan* in memory holds the sizes; tasks are numbered, independent and may run in any order, at the same time.
"""

from __future__ import annotations

from typing import Any

from .. import dtype as dt
from ..loopir import conv_plan as at
from . import conv_spread, symbols, tiles
from .conv_pack import copying, picking
from .conv_plans import BAND, MAX_ROWS, MAX_SPAN, NARROW, REDUCTION
from .conv_spread import SPREAD_REDUCTION
from .runs import LINE, Elements, ask_to_write, copy_run, pick_runs, round_up, stack, word
from .values import external

FAR = 1 << 19
"""Bytes of images that no cache near to a core holds: more than these are asked for before they are needed."""
STEP, FARTHER = 0 if NARROW else 2048, 8 << 20
"""Where panels are wide and the rows of neighbouring channels are fewer than STEP bytes apart, the machine foresees so much by itself that
only images of more than FARTHER bytes gain, which are behind its last cache."""


def routines(dtype: str) -> dict[str, Any]:
    size = dt.size(dtype)
    lanes, vectors = tiles.lanes(dtype), tiles.VECTORS
    width = lanes * vectors
    clear_one, copy = (elements := Elements(dtype)).clear, elements.copy
    cells = stack(MAX_ROWS * width * size)
    columns = stack((REDUCTION * width + 64) * size)
    left_cells, left_columns = stack(MAX_ROWS * lanes * size), stack(REDUCTION * lanes * size)
    dot = external(symbols.symbol(f"dots_{dtype}"))
    tile, run_tile = external(symbols.symbol(f"tiles_{dtype}")), external(symbols.symbol(f"run_tiles_{dtype}"))
    pick_run = pick_runs(dtype)
    pack, pick = external(symbols.symbol(f"conv_pack_{dtype}")), picking(dtype)
    copy_panel = copying(dtype)
    spread, product = conv_spread.spread(dtype, tile), external(symbols.symbol(f"conv_output_{dtype}"))

    def clear(target: int, count: int) -> None:
        for i in range(count):
            clear_one(target, i)

    def images(plan: int, source: int, frame: int, task: int) -> None:
        """Copies some channels of the images into the frame: their rows of one remainder."""
        source_h, source_w = word(plan, at.SOURCE_H), word(plan, at.SOURCE_W)
        frame_h, frame_w, area = word(plan, at.FRAME_H), word(plan, at.FRAME_W), word(plan, at.FRAME_AREA)
        phases_h, phases_w = word(plan, at.PHASE_H), word(plan, at.PHASE_W)
        step_h, step_w = word(plan, at.STEP_H), word(plan, at.STEP_W)
        top, left = word(plan, at.TOP), word(plan, at.LEFT)
        planes, of_task = word(plan, at.IMAGES) * word(plan, at.CHANNELS), word(plan, at.FRAME_PLANES)
        py, block = task % phases_h, task // phases_h
        for plane in range(block * of_task, min((block + 1) * of_task, planes)):
            from_ = source + plane * source_h * source_w * size
            to = frame + (plane * area + py * phases_w * frame_h * frame_w) * size
            for px in range(phases_w):
                first = min(max(round_up(left - px, step_w), 0), frame_w)
                last = max(min((source_w - 1 - px + left) // step_w + 1, frame_w), first)
                for row in range(frame_h):
                    y = row * step_h + py - top
                    if y < 0 or y >= source_h:
                        clear(to, frame_w)
                    else:
                        clear(to, first)
                        here = from_ + (y * source_w + first * step_w + px - left) * size
                        if step_w == 1:
                            copy_run(to + first * size, here, (last - first) * size)
                        elif step_w == 2:
                            pick_run(to + first * size, here, last - first)
                        else:
                            for i in range(last - first):
                                copy(to, first + i, here, i * step_w)
                        clear(to + last * size, frame_w - last)
                    to += frame_w * size

    def clear_rows(target: int, row: int, rows: int, count: int) -> None:
        for r in range(rows):
            clear(target + r * row * size, count)

    def deliver(target: int, plane: int, row: int, column: int, source: int, rows: int, row_width: int, used: int, begin: int,
                end: int) -> None:  # fmt: skip
        """Copies the cells of the pixels begin..end that are in the first `used` of a row to the output."""
        q = begin
        y = begin // row_width
        x = begin - y * row_width
        while q < end:
            count = min(used - x, end - q)
            if count > 0:
                to, here = target + (y * row + x * column) * size, source + (q - begin) * size
                for _ in range(rows):
                    if column == 1:
                        copy_run(to, here, count * size)
                    else:
                        for i in range(count):
                            copy(to, i * column, here, i)
                    to += plane * size
                    here += width * size
            q += row_width - x
            x = 0
            y += 1

    def products(plan: int, source: int, frame: int, weights: int, out: int, operand: int, task: int) -> None:
        """One task: some rows of the output of one image and group, on a span of neighbouring pixels. `operand`: what lies like the output
        and meets it soon after; the output itself, if there is nothing."""
        blocks, spans = word(plan, at.BLOCKS), word(plan, at.SPANS)
        phases, groups, taps_max = word(plan, at.PHASES), word(plan, at.GROUPS), word(plan, at.TAPS)
        block = task // spans % blocks if word(plan, at.BY_ROWS) else task % blocks
        span = task % spans if word(plan, at.BY_ROWS) else task // blocks % spans
        rest = task // (blocks * spans)
        phase_index, rest = rest % phases, rest // phases
        group, image = rest % groups, rest // groups
        phase = plan + 8 * (at.HEADER + phase_index * (at.PHASE_WORDS + 3 * taps_max))
        high, used, taps = word(phase, at.PHASE_HEIGHT), word(phase, at.PHASE_WIDTH), word(phase, at.PHASE_TAPS)
        if high <= 0 or used <= 0:
            return
        packed, framed, frame_w = word(plan, at.PACKED), word(plan, at.FRAMED), word(plan, at.FRAME_W)
        aligned, copied = word(plan, at.ALIGNED), word(plan, at.COPIED)
        row_width = used if packed or aligned else frame_w
        left = word(plan, at.SINGLE)
        total = (high - 1) * row_width + used - left
        count = round_up(total, lanes)
        here = high * round_up(used // lanes, vectors) if aligned else max(round_up(count, vectors), 1 if left > 0 else 0)
        row0, rows_all = block * word(plan, at.BLOCK_ROWS), word(plan, at.ROWS)
        rows = min(word(plan, at.BLOCK_ROWS), rows_all - row0)
        depth, area = word(plan, at.DEPTH), word(plan, at.FRAME_AREA)
        a_row, a_channel = word(plan, at.A_ROW), word(plan, at.A_CHANNEL)
        a = weights + (group * word(plan, at.A_GROUP) + row0 * a_row) * size
        b = (frame if framed else source) + (image * word(plan, at.CHANNELS) + group * depth) * area * size
        a_taps = phase + 8 * at.PHASE_WORDS
        b_taps, panel_taps = a_taps + 8 * taps_max, a_taps + 16 * taps_max
        steps = REDUCTION if a_channel < a_row else SPREAD_REDUCTION
        some_taps = min(max(taps, 1), steps)
        some_channels = max(round_up(depth, max(round_up(depth, steps // some_taps), 1)), 1)
        runs = phases == 1 and a_channel == taps and some_taps == taps
        is_far = word(plan, at.IMAGES) * word(plan, at.CHANNELS) * area * size > (FAR if area * size >= STEP else FARTHER)
        plane, column = word(plan, at.OUT_PLANE), word(plan, at.OUT_COLUMN)
        to = out + (((image * groups + group) * rows_all + row0) * plane + word(phase, at.PHASE_BASE)) * size
        room, left_room, sums = columns(), left_columns(), left_cells()
        first_panel, last_panel = span * here // spans, (span + 1) * here // spans
        start, stop = first_panel * count // here * lanes, min(last_panel * count // here * lanes, total)
        panels = last_panel - first_panel
        if word(plan, at.WINOGRAD):  # these very pixels (see `winograd`)
            pairs = round_up(high, 2)
            start, stop = min(2 * (span * pairs // spans) * used, total), min(2 * ((span + 1) * pairs // spans) * used, total)
            panels = round_up(round_up(stop - start, lanes), vectors)
        in_span = round_up(stop - start, lanes)
        # whether pixels that are neighbours here are so in the output
        side_by_side = row_width == used and word(plan, at.OUT_ROW) == used and column == 1
        in_row = used // lanes if aligned else in_span
        if side_by_side and (aligned or not (packed or copied or framed)) and in_row > 0 and (stop - start) % lanes == 0:
            # panels of few terms are one: the tiles go along it
            together = max(min(BAND // max(depth * taps * width * size, 1), MAX_SPAN), 1)
            panels = in_span // in_row * round_up(in_row, vectors * together)
        for panel in range(panels):
            first_vector, last_vector = panel * in_span // panels, (panel + 1) * in_span // panels
            begin, wide = start + first_vector * lanes, last_vector - first_vector
            end = min(start + last_vector * lanes, stop)
            at_begin = begin // used * frame_w + begin % used if aligned else begin  # in the frame
            is_last = left > 0 and panel == panels - 1 and last_panel == here
            # beyond the last pixel of an image that has no frame there may be no memory
            gathered = packed or (not framed and end - begin < wide * lanes)
            c, c_row = cells(), width
            # whole vectors: nothing to put together
            straight = side_by_side and end - begin == wide * lanes
            if straight:
                c, c_row = to + begin * size, plane
            if taps == 0 or depth == 0:
                clear_rows(c, c_row, rows, wide * lanes)
            first = 1
            for t in range(0, taps, some_taps):
                taps_here = min(some_taps, taps - t)
                for channel in range(0, depth, some_channels):
                    channels_here = min(some_channels, depth - channel)
                    weights_here, from_ = a + channel * a_channel * size, b + channel * area * size
                    if gathered:
                        pack(plan, phase, room, width, from_, channels_here, t, taps_here, used if packed else total, begin, end)
                        from_panel, b_step, b_steps = room, taps_here * width, panel_taps
                    else:
                        from_panel, b_step, b_steps = from_ + at_begin * size, area, b_taps + 8 * t
                        if copied:  # of the one tap
                            copy_panel(room, width, from_panel + word(b_taps, 0) * size, area, channels_here, wide)
                            from_panel, b_step, b_steps = room, width, panel_taps
                    done = 0
                    if runs and (gathered or taps == 1):
                        # the filters' elements that meet these lie one behind the other
                        terms = channels_here * taps_here
                        next_ = weights_here + (terms if channel + channels_here < depth else 0) * size
                        b_row, far = width if gathered or copied else area, 0
                        if is_far and not gathered:
                            # of the columns, the rows that come next: those of further channels, or of the next panel
                            after = channels_here * area if channel + channels_here < depth else end - begin - channel * area
                            far = from_ + (at_begin + after) * size
                        done = run_tile(weights_here, a_row, from_panel, b_row, terms, c, c_row, rows, wide, first, next_,
                                        operand - out if straight and first else 0, far, area)  # fmt: skip
                    while done < rows:
                        more = rows - done
                        if first and not straight:
                            # the tiles ask for the lines that they write, which are not those of the output here
                            more = min(more, tiles.ROWS)
                            y = begin // row_width
                            there = to + (y * word(plan, at.OUT_ROW) + min(begin - y * row_width, used) * column) * size
                            for r in range(done, done + more):
                                for line in range(0, wide * tiles.VECTOR_BYTES + 1, LINE):
                                    ask_to_write(there + r * plane * size + line)
                        tile(weights_here + done * a_row * size, a_row, a_channel, a_taps + 8 * t, from_panel, b_step, b_steps,
                             channels_here, taps_here, c + done * c_row * size, c_row, more, wide, first)  # fmt: skip
                        done += more
                    if is_last:
                        terms = channels_here * taps_here
                        pick(plan, phase, left_room, REDUCTION, from_, channels_here, t, taps_here, row_width, total, left)
                        dot(weights_here, a_row, left_room, REDUCTION, terms, sums, left, rows, left, first)
                    first = 0
            if not straight:
                deliver(to, plane, word(plan, at.OUT_ROW), column, c, rows, row_width, used, begin, end)
            if is_last:
                for r in range(rows):
                    for p in range(left):
                        copy(to, r * plane + total + p, sums, r * left + p)

    def gradient(plan: int, source: int, frame: int, weights: int, out: int, task: int) -> None:
        """One task of the gradient in the images."""
        if word(plan, at.SPREAD):
            spread(plan, source, weights, out, task)
        else:
            product(plan, source, frame, weights, out, out, task)

    return {f"conv_images_{dtype}": images, f"conv_output_{dtype}": products, f"conv_input_{dtype}": gradient}
