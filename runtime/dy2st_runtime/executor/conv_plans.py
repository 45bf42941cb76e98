"""The routines that plan a convolution: from its sizes to the words and tables of `loopir.conv_plan`."""

from __future__ import annotations

from typing import Any

from ..loopir import conv_plan as at
from . import tiles
from .runs import LINE, put_words, round_up, word

MAX_ROWS = round_up(256, tiles.ROWS) * tiles.ROWS
"""Rows of the output that a task holds at most: whole tiles, as blocks of rows are."""
FRAMING, PACKING, PLACING, DELIVERY = 26, 5, 80, 8
"""What it costs to copy a vector of an image into its frame, to pack one of columns, to find the places of those of all channels, and to
put one of results in its place, in products of a vector."""
NARROW = 1 if tiles.VECTORS * tiles.VECTOR_BYTES <= LINE else 0
"""Whether a panel is no wider than a line of memory: where its rows lie in an image as they are, each is on two lines, twice what it
holds, and what the machine reads ahead of them is not what comes next."""
COPIED_ROWS, COPIED, COPIED_TASKS = 40, 10 << 10, 12
"""Narrow panels of so many bytes are copied for so many rows, which costs less than reading them where they are; so many tasks of these
are enough, as each copies its panel anew."""
REDUCTION = 1024
"""Steps of a reduction between two visits of the accumulators: a panel of B stays in the cache of the second level, from which it comes as
fast as it is used."""
SPAN, MAX_SPAN = (8, 16) if NARROW else (4, 8)
"""Neighbouring panels of a task with MAX_ROWS, and of one with few rows, at most."""
BAND = 128 << 10
"""Bytes of columns that are multiplied panel by panel for one tile of rows before the next, so that these rows of the output are written
in runs. They come from the second cache then, which gives a line for the products of a tile; what is far are the lines that are written."""
FEW_SPANS = 4
"""Of images that are cut into fewer parts than that the filters are cut into more. Else threads had to share what one of them has read."""
SHORT = 256
"""Pixels up to which threads have different rows of an output that has more of them than the input, instead of different pixels: where one
thread's pixels end, in each row, both write to one line of memory."""
TERMS, TAPS = 64, 49
"""Terms of a sum from which on, and taps up to which, few pixels are summed one by one rather than in a vector that they do not fill."""
PIECES = 16
"""Tasks that there should be at least, to share among threads."""
ENTERING, LEAVING, TRANSFORMING = 100, 60, 120
"""What it costs to transform a vector of tiles, of sums of tiles and of filters (see `winograd`), in products of a vector."""
LEFT = 3
"""Tiles that are left to plain sums at most, see `few_left`."""
LARGE = 1 << 16
"""Elements of the output that a task of transforms has at most, but for those of a row of tiles: what follows finds them in a cache."""


def _phase(plan: int, p: int) -> int:
    """The address of a phase's record."""
    return plan + 8 * (at.HEADER + p * (at.PHASE_WORDS + 3 * word(plan, at.TAPS)))


def _cut(plan: int, size: int, single: int, lone: int) -> None:
    """Decides how the work of a plan whose phases are known is cut; `single`: by planes (see `conv_depthwise`). `lone`: the last pixels may
    be summed one by one (see `dots`)."""
    lanes = tiles.VECTOR_BYTES // size
    images, groups, rows, phases = word(plan, at.IMAGES), word(plan, at.GROUPS), word(plan, at.ROWS), word(plan, at.PHASES)
    planes, framed = images * word(plan, at.CHANNELS), word(plan, at.FRAMED)
    depth = word(plan, at.DEPTH)
    terms = depth * word(plan, at.TAPS)
    direct, exact = 0, 0
    for p in range(phases):
        phase = _phase(plan, p)
        h, w = word(phase, at.PHASE_HEIGHT), word(phase, at.PHASE_WIDTH)
        if h > 0 and w > 0:
            direct = max(direct, round_up((h - 1) * word(plan, at.FRAME_W) + w, lanes))
            exact = max(exact, round_up(h * w, lanes))
    # packed columns give results that are neighbours in the output, so that these are written to their place
    straight = word(plan, at.OUT_COLUMN) == 1 and word(plan, at.OUT_ROW) == word(_phase(plan, 0), at.PHASE_WIDTH)
    # pixels that are neighbours in the frame as they are in the output need no packing
    width, left = word(_phase(plan, 0), at.PHASE_WIDTH), 0
    in_place = phases == 1 and word(plan, at.FRAME_W) == width
    if lone and terms >= TERMS and word(plan, at.TAPS) <= TAPS:
        left = word(_phase(plan, 0), at.PHASE_HEIGHT) * width % lanes
        left = left if left * 2 <= lanes else 0
    whole = exact - 1 if left > 0 else exact
    packing = PACKING + PLACING // max(word(plan, at.DEPTH), 1)
    as_packed = whole * ((rows + packing) * terms + (1 if straight else DELIVERY) * rows) + left * (rows // lanes + 2) * terms
    # with strides the columns are packed from a frame, too
    framing = FRAMING * word(plan, at.DEPTH) * word(plan, at.FRAME_AREA) // lanes if framed and word(plan, at.PHASE_W) == 1 else 0
    # rows of whole vectors are written to their place without packing, too, if no panel goes from one to the next; not those of one
    # vector, as panels of one take half as long again for each product
    high = word(_phase(plan, 0), at.PHASE_HEIGHT)
    aligned = 1 if phases == 1 and straight and not in_place and high > 0 and width > lanes and width % lanes == 0 else 0
    as_framed = exact * rows * (terms + 1) + framing if aligned else direct * rows * (terms + DELIVERY) + framing
    packed = 1 if as_packed < as_framed and whole < direct and not in_place else 0
    put_words(plan, at.COST, as_packed if packed else as_framed)
    left = left if packed or in_place else 0
    aligned = aligned if not packed else 0
    vectors = exact if aligned else whole if packed or in_place else direct
    panels = max(round_up(vectors, tiles.VECTORS), 1 if left > 0 else 0)
    if aligned:
        panels = high * round_up(width // lanes, tiles.VECTORS)
    # the rows of one panel are short for what is done with the results, which should stay in the cache of the second level
    together = max(min(SPAN * MAX_ROWS // min(max(rows, 1), MAX_ROWS), MAX_SPAN), 1)
    pieces = images * groups * phases
    wanted, spans, blocks = round_up(PIECES, max(pieces, 1)), round_up(panels, together), round_up(rows, MAX_ROWS)
    pointwise = in_place and not packed and not single and word(plan, at.TAPS) == 1
    large = min(terms, REDUCTION) * tiles.VECTORS * tiles.VECTOR_BYTES >= COPIED
    copied = 1 if NARROW and pointwise and large and rows >= COPIED_ROWS else 0
    put_words(plan, at.COPIED, copied)
    if copied:
        spans = max(spans, min(panels, wanted))
        blocks = max(blocks, min(round_up(COPIED_TASKS, max(pieces * spans, 1)), round_up(rows, 4 * tiles.ROWS)))
    elif packed:  # each block packs its columns anew
        spans = max(spans, min(panels, wanted))
        blocks = max(blocks, min(round_up(wanted, max(2 * spans, 1)), round_up(rows, 4 * tiles.ROWS)))
    else:  # each span reads the filters anew
        blocks = max(blocks, min(wanted, round_up(rows, 8 * tiles.ROWS)))
        spans = max(spans, min(panels, round_up(wanted, max(blocks, 1))))
        spans = panels if panels < 2 * spans else spans  # else some had twice as many as others
        if spans < FEW_SPANS:
            blocks = max(blocks, min(round_up(wanted, max(spans, 1)), round_up(rows, 2 * tiles.ROWS)))
    if aligned:  # a span has whole rows, as many as any other
        spans = min(spans, high)
        while high % spans != 0:
            spans += 1
    pieces *= spans
    block_rows = round_up(round_up(rows, max(blocks, 1)), tiles.ROWS) * tiles.ROWS
    blocks = round_up(rows, max(block_rows, 1))
    # five multiplications in a unit of work
    put_words(plan, at.SPREAD, 0, packed, left, panels, lanes, spans, blocks, block_rows)
    put_words(plan, at.TASKS, pieces * blocks, block_rows * round_up(panels, max(spans, 1)) * tiles.VECTORS * lanes * terms // 5 + 1)
    if single:
        put_words(plan, at.TASKS, round_up(images, at.PLANES), at.PLANES * rows * phases * direct * lanes * terms // 2 + 1)
    # a vector at the end of the last row may reach beyond the frame
    area = word(plan, at.FRAME_AREA)
    phases_h = word(plan, at.PHASE_H)
    of_task = max(min(at.PLANES, planes // PIECES), 1)
    put_words(plan, at.FRAME_PLANES, of_task)
    put_words(plan, at.FRAME_TASKS, round_up(planes, of_task) * phases_h * framed, (planes * area + 128) * framed,
              2 * of_task * area // phases_h)  # fmt: skip
    put_words(plan, at.UNFRAMED, 0)
    put_words(plan, at.WINOGRAD, 0)
    put_words(plan, at.ALIGNED, 0 if single else aligned)
    put_words(plan, at.BY_ROWS, 1 if pointwise and rows > depth and word(plan, at.FRAME_AREA) <= SHORT else 0)


def plan_output(plan: int, size: int, images: int, groups: int, depth: int, rows: int, height: int, width: int, out_height: int,
                out_width: int, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, dilation_h: int, dilation_w: int,
                top: int, left: int, single: int) -> None:  # fmt: skip
    """Plans the output: images [images, groups * depth, height, width], `rows` filters for each group; an element has `size` bytes.
    `single`: each plane is an image, as of depthwise convolutions."""
    taps = kernel_h * kernel_w
    phases_h = 1 if kernel_h == 1 else stride_h
    phases_w = 1 if kernel_w == 1 else stride_w
    frame_h = out_height + (kernel_h - 1) * dilation_h // stride_h
    frame_w = out_width + (kernel_w - 1) * dilation_w // stride_w
    is_image = stride_h == 1 and stride_w == 1 and top == 0 and left == 0 and frame_h == height and frame_w == width
    put_words(plan, at.IMAGES, images, groups, depth, groups * depth, rows, height, width, frame_h, frame_w,
              phases_h * phases_w * frame_h * frame_w, phases_h, phases_w, stride_h, stride_w, top, left,
              0 if is_image and not single else 1, depth * taps, taps, rows * depth * taps, out_height * out_width, out_width, 1, 1,
              taps)  # fmt: skip
    phase = _phase(plan, 0)
    put_words(phase, 0, out_height, out_width, 0, taps)
    y, x = 0, 0
    for t in range(taps):
        plane = y % stride_h * phases_w + x % stride_w
        _enter(phase, taps, t, t, (plane * frame_h + y // stride_h) * frame_w + x // stride_w, size)
        x += dilation_w
        if x == kernel_w * dilation_w:
            x = 0
            y += dilation_h
    _cut(plan, size, single, 1 - single)
    if word(plan, at.PACKED) and word(plan, at.FRAMED) and stride_h == 1 and stride_w == 1 and not single:
        _leave_frame(plan, taps, size, height, width, kernel_w, dilation_h, dilation_w, top, left)


def _leave_frame(plan: int, taps: int, size: int, height: int, width: int, kernel_w: int, dilation_h: int, dilation_w: int, top: int,
                 left: int) -> None:  # fmt: skip
    """Packs columns from the images: with strides of 1 a row of pixels is a run of the image, but for what lies outside."""
    put_words(plan, at.FRAME_H, height, width, height * width)
    put_words(plan, at.FRAMED, 0)
    put_words(plan, at.FRAME_TASKS, 0, 0)
    put_words(plan, at.UNFRAMED, 1)
    put_words(plan, at.HEIGHT, height, width, kernel_w, 1, 1, dilation_h, dilation_w, top, left)
    for t in range(taps):
        y, x = t // kernel_w * dilation_h - top, t % kernel_w * dilation_w - left
        _enter(_phase(plan, 0), taps, t, t, y * width + x, size)


def plan_input(plan: int, size: int, images: int, groups: int, depth: int, rows: int, height: int, width: int, out_height: int,
               out_width: int, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, dilation_h: int, dilation_w: int,
               top: int, left: int, single: int) -> None:  # fmt: skip
    """Plans the gradient in the image: of outputs [images, groups * rows, out_height, out_width] to images
    [images, groups * depth, height, width]."""
    taps = kernel_h * kernel_w
    reach_h, reach_w = (kernel_h - 1) * dilation_h // stride_h, (kernel_w - 1) * dilation_w // stride_w
    frame_h, frame_w = (height - 1 + top) // stride_h + 1 + reach_h, (width - 1 + left) // stride_w + 1 + reach_w
    is_image = reach_h == 0 and reach_w == 0 and frame_h == out_height and frame_w == out_width
    put_words(plan, at.IMAGES, images, groups, rows, groups * rows, depth, out_height, out_width, frame_h, frame_w, frame_h * frame_w,
              1, 1, 1, 1, reach_h, reach_w, 0 if is_image and not single else 1, taps, depth * taps, rows * depth * taps,
              height * width, stride_h * width, stride_w, stride_h * stride_w, taps, height, width, kernel_w, stride_h, stride_w,
              dilation_h, dilation_w, top, left)  # fmt: skip
    for p in range(stride_h * stride_w):
        ry, rx = p // stride_w, p % stride_w
        u, v = max(round_up(top - ry, stride_h), 0), max(round_up(left - rx, stride_w), 0)
        phase = _phase(plan, p)
        t = 0
        for tap in range(taps):
            y, x = tap // kernel_w * dilation_h, tap % kernel_w * dilation_w
            if y % stride_h == ry and x % stride_w == rx:
                _enter(phase, taps, t, tap, (u - y // stride_h + reach_h) * frame_w + v - x // stride_w + reach_w, size)
                t += 1
        put_words(phase, 0, (height - 1 + top - ry) // stride_h + 1 - u, (width - 1 + left - rx) // stride_w + 1 - v,
                  (stride_h * u + ry - top) * width + stride_w * v + rx - left, t)  # fmt: skip
    _cut(plan, size, single, 0)
    # the product meets each tap once for each pixel of the image; without paddings many of these lie outside of the output
    if not single and height * width * 4 > out_height * out_width * 5 * stride_h * stride_w:
        _cut_spread(plan, images * groups, depth, taps, rows * out_height * out_width)


def _enter(phase: int, taps: int, t: int, in_filter: int, in_frame: int, size: int) -> None:
    """A tap in the three tables of a phase."""
    table = phase + 8 * at.PHASE_WORDS
    put_words(table, t, in_filter)
    put_words(table, taps + t, in_frame)
    put_words(table, 2 * taps + t, t * (tiles.VECTOR_BYTES // size) * tiles.VECTORS)


def _cut_spread(plan: int, pieces: int, depth: int, taps: int, products: int) -> None:
    """How the work is cut where outputs are spread: a task has some channels of an image and group, whose taps fill a block of rows."""
    blocks = min(max(round_up(depth * taps, MAX_ROWS), PIECES // max(pieces, 1)), max(depth, 1))
    put_words(plan, at.SPREAD, 1)
    put_words(plan, at.BLOCKS, blocks)
    put_words(plan, at.FRAME_TASKS, 0, 0)
    put_words(plan, at.TASKS, pieces * blocks, depth * taps * products // (5 * blocks) + 1)


def few_left(tiles_: int, lanes: int) -> int:
    """How many tiles are left to plain sums: those behind the last whole vector, if these cost less than another vector."""
    left = tiles_ % lanes
    return left if tiles_ > lanes and left * 9 < lanes * 2 else 0


def _products(high: int, spans: int, width: int, lanes: int, rows: int, depth: int) -> int:
    """What it costs to transform filters and to multiply them with so many rows of tiles, cut into spans."""
    few, many = high // spans * width, (high // spans + 1) * width
    left = few_left(many, lanes) * (high % spans) + few_left(few, lanes) * (spans - high % spans)
    vectors = round_up(many - few_left(many, lanes), lanes) * (high % spans)
    vectors += round_up(few - few_left(few, lanes), lanes) * (spans - high % spans)
    times = spans * round_up(round_up(vectors, spans), at.WINOGRAD_VECTORS)
    # a product with a single vector waits for the filters
    products = vectors * (16 if vectors > spans else 20) + left * 36 * 2 // lanes
    return products * rows * depth + TRANSFORMING * times * rows * round_up(depth, lanes)


def plan_winograd(plan: int, size: int, images: int, groups: int, depth: int, rows: int, height: int, width: int, out_height: int,
                  out_width: int, kernel_h: int, kernel_w: int, stride_h: int, stride_w: int, dilation_h: int, dilation_w: int,
                  top: int, left: int, single: int) -> None:  # fmt: skip
    """Plans the output of filters of 3x3 with strides of 1: by transforms where these cost less than they save, else as `plan_output`."""
    plan_output(plan, size, images, groups, depth, rows, height, width, out_height, out_width, kernel_h, kernel_w, stride_h, stride_w,
                dilation_h, dilation_w, top, left, single)  # fmt: skip
    lanes = tiles.VECTOR_BYTES // size
    high, wide = round_up(out_height, 2), round_up(out_width, 2)
    block_rows = round_up(round_up(rows, max(round_up(rows, at.WINOGRAD_ROWS), 1)), tiles.ROWS) * tiles.ROWS
    blocks = round_up(rows, max(block_rows, 1))
    planes, wanted, of_image = images * groups * blocks, PIECES // 2, 4 * high * wide * block_rows
    # small images are put together
    together = max(min(planes // wanted, LARGE // max(of_image, 1)), 1)
    pieces = round_up(images, together) * groups
    least = max(min(round_up(of_image, LARGE), high), 1)
    most = max(min(wanted // max(planes, 1), high), least)
    spans = most
    products = _products(high, most, together * wide, lanes, rows, depth)
    for fewer in range(max(least, most // 4, round_up(4, max(planes, 1))), most):
        found = _products(high, fewer, together * wide, lanes, rows, depth)
        if found * 10 < products * 9:
            spans, products = fewer, found
    # the last vector in a row of tiles may be a half or a quarter of one
    last = wide % lanes
    quarters = wide // lanes * 4 + (0 if last == 0 else 2 if last * 4 <= lanes else 3 if last * 2 <= lanes else 4)
    moved = together * high * quarters * (ENTERING * depth * blocks + LEAVING * rows) // 4
    cost = pieces * (products + moved)
    if cost * 5 < images * groups * word(plan, at.COST) * 4:
        _leave_frame(plan, 9, size, height, width, 3, 1, 1, top, left)
        put_words(plan, at.PACKED, 1, 0, 1, lanes, spans, blocks, block_rows)
        tasks = pieces * spans * blocks
        put_words(plan, at.TASKS, tasks, cost * lanes // (5 * max(tasks, 1)) + 1)
        put_words(plan, at.WINOGRAD, together)
        put_words(plan, at.ALIGNED, 0)


PLANS: dict[str, Any] = {"conv_plan_output": plan_output, "conv_plan_input": plan_input, "conv_plan_winograd": plan_winograd}
