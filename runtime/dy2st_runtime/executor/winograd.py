"""Convolution by 3x3 filters with strides of 1 as Winograd's F(2x2, 3x3) has it: 16 multiplications for four pixels, where the sum has 36.

    output = A' (sum over channels of (G f G') * (B' d B)) A, with

    A' = 1  1  1  0      B' = 1  0 -1  0      G = 1    0    0        d: a tile of 4x4 pixels, two pixels from the next one,
         0  1 -1 -1           0  1  1  0          1/2  1/2  1/2      f: the taps of a filter in that channel,
                              0 -1  1  0          1/2 -1/2  1/2      *: element by element
                              0  1  0 -1          0    0    1

For each of the 16 places in a tile the sums over channels are a matrix product of filters with tiles, over the register tiles of all
products. Both are transformed where they are multiplied, some channels at a time, so that they and the sums stay in the cache of the second
level; a filter is transformed anew for every few vectors of tiles, which costs less than to write it to memory once. The filters of the
next transforms are asked for during the products, which wait for no memory. Few tiles behind the last whole vector are left to plain sums.

An infinity or a NaN would reach all four pixels of a tile. So a task whose results are not all finite is done again by plain sums.

Sources: A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016; S. Winograd, "Arithmetic Complexity of
Computations", SIAM, 1980.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from .. import dtype as dt
from ..loopir import conv_plan as at
from ..loopir.conv_plan import WINOGRAD_CHANNELS as CHANNELS
from ..loopir.conv_plan import WINOGRAD_ROWS
from ..loopir.conv_plan import WINOGRAD_VECTORS as VECTORS
from . import symbols, tiles
from .conv_pack import picking
from .conv_plans import LEFT, few_left
from .runs import LINE, SCALARS, Elements, ask_line, round_up, spread, stack, word
from .values import I64, Instruction, counted, declared, external

ROWS = round_up(WINOGRAD_ROWS, tiles.ROWS) * tiles.ROWS
"""Filters of a task at most: whole tiles, as blocks of rows are."""
LEFT_TERMS = 9 * CHANNELS
"""Terms of the plain sums of pixels that no vector has, between two visits of them."""


class _Code:
    """Code in the making, on vectors of so many lanes; addresses are integers, distances count elements."""

    def __init__(self, build: ir.IRBuilder, dtype: str, lanes: int):
        self.build, self.size, self.lanes = build, dt.size(dtype), lanes
        self.vector = ir.VectorType(SCALARS[dtype], self.lanes)
        self.flags = ir.VectorType(ir.IntType(1), self.lanes)
        self.kind = f"v{self.lanes}{'f32' if dtype == 'float32' else 'f64'}.p0"
        self.zeros = self.all(0.0)

    def all(self, value: float) -> Any:
        return ir.Constant(self.vector, [value] * self.lanes)

    def after(self, address: Any, *factors: Any) -> Any:
        """The address that many elements (the product of the factors) behind another."""
        count = ir.Constant(I64, self.size)
        for factor in factors:
            count = self.build.mul(count, factor if isinstance(factor, ir.Value) else ir.Constant(I64, factor))
        return self.build.add(address, count)

    def below(self, first: Any, limit: Any) -> Any:
        """Which lanes of first, first + 1, ... are in 0..limit."""
        ramp = ir.Constant(ir.VectorType(I64, self.lanes), list(range(self.lanes)))
        return self.build.icmp_unsigned("<", self.build.add(spread(self.build, first, self.lanes), ramp),
                                        spread(self.build, limit, self.lanes))  # fmt: skip

    def both(self, lanes: Any, condition: Any) -> Any:
        return self.build.and_(lanes, spread(self.build, condition, self.lanes))

    def load(self, address: Any, lanes: Any = None) -> Any:
        """A vector; zeros but for these lanes."""
        place = self.build.inttoptr(address, self.vector.as_pointer())
        if lanes is None:
            return self.build.load(place, align=self.size)
        return self._masked("load", self.vector, place, self._align, lanes, self.zeros)

    def store(self, value: Any, address: Any, lanes: Any = None) -> None:
        place = self.build.inttoptr(address, self.vector.as_pointer())
        if lanes is None:
            self.build.store(value, place, align=self.size)
        else:
            self._masked("store", ir.VoidType(), value, place, self._align, lanes)

    @property
    def _align(self) -> ir.Constant:
        return ir.Constant(ir.IntType(32), self.size)

    def _masked(self, what: str, result: Any, *operands: Any) -> Any:
        kind = ir.FunctionType(result, [o.type for o in operands])
        return self.build.call(declared(self.build.module, kind, f"llvm.masked.{what}.{self.kind}"), operands)

    def pick(self, a: Any, b: Any, lanes: Sequence[int]) -> Any:
        """Some lanes of two vectors, counted through both."""
        return self.build.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), list(lanes)))

    def sum(self, *terms: Any) -> Any:
        total, *rest = terms
        for term in rest:
            total = self.build.fadd(total, term)
        return total

    def less(self, value: Any, *others: Any) -> Any:
        for other in others:
            value = self.build.fsub(value, other)
        return value


def _enter(dtype: str, lanes: int) -> Instruction:
    """enter(target, place, row, source, area, channels, y, x, height, width): B' d B of a vector of neighbouring tiles, of which the first
    begins at (y, x) of an image's planes, in each channel: `row` elements behind the one of the channel before, and `place` behind the one
    of the place before. Pixels outside of the image are zeros."""

    def emit(build: ir.IRBuilder, target: Any, place: Any, row: Any, source: Any, area: Any, channels: Any, y: Any, x: Any, height: Any,
             width: Any) -> None:  # fmt: skip
        code = _Code(build, dtype, lanes)
        offsets = (0, lanes, 2, lanes + 2)  # two vectors of pixels hold the first two columns of the tiles, two the others
        rows = [build.add(y, ir.Constant(I64, i)) for i in range(4)]
        there = [build.icmp_unsigned("<", r, height) for r in rows]
        columns = [build.add(x, ir.Constant(I64, offset)) for offset in offsets]
        inside = [code.below(column, width) for column in columns]
        used = [[code.both(mask, condition) for mask in inside] for condition in there]
        starts = [[code.after(code.after(source, r, width), column) for column in columns] for r in rows]
        even, odd = range(0, 2 * lanes, 2), range(1, 2 * lanes, 2)
        with counted(build, channels) as channel:
            d = [[code.load(code.after(start, channel, area), mask) for start, mask in zip(*pair, strict=True)]
                 for pair in zip(starts, used, strict=True)]  # fmt: skip
            half = [_halves(code, *column) for column in zip(*d, strict=True)]
            to = code.after(target, channel, row)
            for i, (a, b, c, e) in enumerate(zip(*half, strict=True)):
                found = _halves(code, code.pick(a, b, even), code.pick(a, b, odd), code.pick(c, e, even), code.pick(c, e, odd))
                for j, value in enumerate(found):
                    code.store(value, code.after(to, place, 4 * i + j))

    return Instruction(emit)


def _halves(code: _Code, a: Any, b: Any, c: Any, d: Any) -> list[Any]:
    """B' of a column."""
    return [code.less(a, c), code.sum(b, c), code.less(c, b), code.less(b, d)]


def _leave(dtype: str, lanes: int) -> Instruction:
    """leave(source, place, row, rows, target, plane, width, pixels, second): A' m A of a vector of neighbouring tiles, for so many filters:
    two rows of an output that is `width` wide, of which the `second` may be none, and so many pixels of each. Returns whether all are
    finite."""

    def emit(build: ir.IRBuilder, source: Any, place: Any, row: Any, rows: Any, target: Any, plane: Any, width: Any, pixels: Any,
             second: Any) -> Any:  # fmt: skip
        code = _Code(build, dtype, lanes)
        first = [code.below(ir.Constant(I64, start), pixels) for start in (0, lanes)]
        is_there = build.icmp_signed("!=", second, ir.Constant(I64, 0))
        used = [first, [code.both(mask, is_there) for mask in first]]
        with build.goto_entry_block():
            wrong = build.alloca(code.vector)
        build.store(code.zeros, wrong)
        low = [lanes * (i % 2) + i // 2 for i in range(lanes)]
        high = [i + lanes // 2 for i in low]
        with counted(build, rows) as r:
            from_, to = code.after(source, r, row), code.after(target, r, plane)
            m = [[code.load(code.after(from_, place, 4 * i + j)) for j in range(4)] for i in range(4)]
            half = [_results(code, *column) for column in zip(*m, strict=True)]
            for i, columns in enumerate(zip(*half, strict=True)):
                left, right = _results(code, *columns)
                for j, order in enumerate((low, high)):
                    values = code.pick(left, right, order)
                    code.store(values, code.after(code.after(to, width, i), lanes * j), used[i][j])
                    # a zero, or a NaN
                    nothing = build.fmul(build.select(used[i][j], values, code.zeros), code.zeros)
                    build.store(build.fadd(build.load(wrong), nothing), wrong)
        fine = build.bitcast(build.fcmp_ordered("ord", build.load(wrong), code.zeros), ir.IntType(lanes))
        return build.zext(build.icmp_signed("==", fine, ir.Constant(fine.type, -1)), I64)

    return Instruction(emit)


def _results(code: _Code, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """A' of a column."""
    return code.sum(a, b, c), code.less(b, c, d)


def _transform(dtype: str, lanes: int, whole: bool) -> Instruction:
    """transform(source, ahead, target, place, count): G f G' of a filter's taps in a `whole` vector of channels, or in `count`, which are
    fewer. Weights are read once, some of each filter: what is so far `ahead` is asked for, as the machine does not foresee it."""

    def emit(build: ir.IRBuilder, source: Any, ahead: Any, target: Any, place: Any, count: Any) -> None:
        code = _Code(build, dtype, lanes)
        for i in range(9):
            soon = code.after(code.after(source, ahead), lanes * i)
            ask_line(build, build.inttoptr(soon, code.vector.as_pointer()), 0, 3)
        given = build.mul(count, ir.Constant(I64, 9))
        masks = [None if whole else code.below(ir.Constant(I64, lanes * i), given) for i in range(9)]
        runs = [code.load(code.after(source, lanes * i), mask) for i, mask in enumerate(masks)]
        # every ninth element is every third of every third ones
        columns = zip(*(_thirds(code, *runs[i : i + 3]) for i in (0, 3, 6)), strict=True)
        half = [_spread_taps(code, *_thirds(code, *column)) for column in columns]
        used = None if whole else code.below(ir.Constant(I64, 0), count)
        for i, row in enumerate(zip(*half, strict=True)):
            for j, value in enumerate(_spread_taps(code, *row)):
                code.store(value, code.after(target, place, 4 * i + j), used)

    return Instruction(emit)


def _thirds(code: _Code, a: Any, b: Any, c: Any) -> list[Any]:
    """The elements 0, 3, 6, ... of three vectors, the elements 1, 4, 7, ... and those after these."""
    lanes, found = code.lanes, []
    for start in range(3):
        wanted = range(start, 3 * lanes, 3)
        most = code.pick(a, b, [i if i < 2 * lanes else 0 for i in wanted])
        found.append(code.pick(most, c, [k if i < 2 * lanes else i - lanes for k, i in enumerate(wanted)]))
    return found


def _spread_taps(code: _Code, a: Any, b: Any, c: Any) -> list[Any]:
    """G of a column."""
    ends, half = code.sum(a, c), code.all(0.5)
    return [a, code.build.fmul(code.sum(ends, b), half), code.build.fmul(code.less(ends, b), half), c]


def routines(dtype: str) -> dict[str, Any]:
    size, lanes = dt.size(dtype), tiles.lanes(dtype)
    # a vector of tiles may reach beyond the last one; what lies a power of two apart meets in the caches
    row, width, slack = (tiles.VECTORS + 1) * lanes, VECTORS * lanes, LINE // size
    filters_place, tiles_place, sums_place = ROWS * CHANNELS + slack, CHANNELS * row + slack, ROWS * width + slack
    filters_room, tiles_room, sums_room = (stack(16 * place * size) for place in (filters_place, tiles_place, sums_place))
    half, quarter = max(lanes // 2, 2), max(lanes // 4, 2)
    enter_whole, enter_half, enter_quarter = (_enter(dtype, n) for n in (lanes, half, quarter))
    leave_whole, leave_half, leave_quarter = (_leave(dtype, n) for n in (lanes, half, quarter))
    transform_whole, transform_some = _transform(dtype, lanes, True), _transform(dtype, lanes, False)
    left_columns, left_sums = stack(LEFT * 4 * LEFT_TERMS * size), stack(ROWS * LEFT * 4 * size)
    tile, run_tile = external(symbols.symbol(f"tiles_{dtype}")), external(symbols.symbol(f"run_tiles_{dtype}"))
    dot, pick, copy = external(symbols.symbol(f"dots_{dtype}")), picking(dtype), Elements(dtype).copy
    product = external(symbols.symbol(f"conv_output_{dtype}"))

    def enter(used: int, target: int, place: int, row: int, source: int, area: int, channels: int, y: int, x: int, height: int,
              width: int) -> None:  # fmt: skip
        """By vectors no wider than so many tiles: the rows of small images have few."""
        if used > half:
            enter_whole(target, place, row, source, area, channels, y, x, height, width)
        elif used > quarter:
            enter_half(target, place, row, source, area, channels, y, x, height, width)
        else:
            enter_quarter(target, place, row, source, area, channels, y, x, height, width)

    def leave(used: int, source: int, place: int, row: int, rows: int, target: int, plane: int, width: int, pixels: int,
              second: int) -> int:  # fmt: skip
        if used > half:
            return leave_whole(source, place, row, rows, target, plane, width, pixels, second)
        if used > quarter:
            return leave_half(source, place, row, rows, target, plane, width, pixels, second)
        return leave_quarter(source, place, row, rows, target, plane, width, pixels, second)

    def transform(source: int, step: int, target: int, rows: int, channels: int) -> None:
        """Some channels of some filters, which are `step` elements apart."""
        for r in range(rows):
            for c in range(0, channels, lanes):
                from_, to = source + (r * step + c * 9) * size, target + (r * CHANNELS + c) * size
                if c + lanes <= channels:
                    transform_whole(from_, step, to, filters_place, lanes)
                else:
                    transform_some(from_, step, to, filters_place, channels - c)

    def products(plan: int, source: int, frame: int, weights: int, out: int, operand: int, task: int) -> None:
        """One task of the output: by transforms, or by plain sums if these do not pay, or if their results would not be finite."""
        together = word(plan, at.WINOGRAD)
        if not together:
            product(plan, source, frame, weights, out, operand, task)
        elif not finite(plan, source, weights, out, task):
            # of the plain sums each image is a task
            each = word(plan, at.BLOCKS) * word(plan, at.SPANS) * word(plan, at.GROUPS)
            for image in range(task // each * together, min((task // each + 1) * together, word(plan, at.IMAGES))):
                product(plan, source, frame, weights, out, operand, image * each + task % each)

    def finite(plan: int, source: int, weights: int, out: int, task: int) -> int:
        """Whether the results of a task, some rows of tiles of some images for some filters, are finite numbers; then they are there."""
        blocks, spans, groups = word(plan, at.BLOCKS), word(plan, at.SPANS), word(plan, at.GROUPS)
        block, rest = task % blocks, task // blocks
        span, rest = rest % spans, rest // spans
        group, image = rest % groups, rest // groups * word(plan, at.WINOGRAD)
        together = min(word(plan, at.WINOGRAD), word(plan, at.IMAGES) - image)
        height, width_ = word(plan, at.HEIGHT), word(plan, at.WIDTH)
        phase = plan + 8 * at.HEADER
        out_height, out_width = word(phase, at.PHASE_HEIGHT), word(phase, at.PHASE_WIDTH)
        none = phase + 8 * at.PHASE_WORDS  # a table that begins with 0
        depth, rows_all, row0 = word(plan, at.DEPTH), word(plan, at.ROWS), block * word(plan, at.BLOCK_ROWS)
        rows = min(word(plan, at.BLOCK_ROWS), rows_all - row0)
        wide, high = round_up(out_width, 2), round_up(out_height, 2)
        first_row = span * high // spans
        each = ((span + 1) * high // spans - first_row) * wide
        left = few_left(together * each, lanes)
        count = together * each - left
        vectors = round_up(count, lanes)
        parts = round_up(vectors, VECTORS)
        area, plane = height * width_, out_height * out_width
        from_ = source + (image * groups + group) * depth * area * size
        to = out + ((image * groups + group) * rows_all + row0) * plane * size
        mine = weights + (group * rows_all + row0) * depth * 9 * size
        # whoever has the next task is likely to need those filters
        later = weights + (group * rows_all + (row0 + rows) % rows_all) * depth * 9 * size
        f, d, m, columns, pixels = filters_room(), tiles_room(), sums_room(), left_columns(), left_sums()
        fine = 1
        for part in range(parts):
            first, last = part * vectors // parts, (part + 1) * vectors // parts
            panels = round_up(last - first, tiles.VECTORS)
            for channel in range(0, depth, CHANNELS):
                channels = min(CHANNELS, depth - channel)
                here, soon = mine + channel * 9 * size, mine + (channel + CHANNELS) * 9 * size
                transform(here, depth * 9, f, rows, channels)
                if channel + CHANNELS >= depth:
                    soon = mine if part + 1 < parts else later
                soon = 0 if soon == here else soon
                if left > 0 and part == 0:
                    for t in range(count, count + left):
                        i, q = t // each, t % each
                        for row_ in range(2):
                            y, x = 2 * (first_row + q // wide) + row_, 2 * (q % wide)
                            if y < out_height:
                                pick(plan, phase, columns + (2 * (t - count) + row_) * 2 * LEFT_TERMS * size, LEFT_TERMS,
                                     from_ + (i * groups * depth + channel) * area * size, channels, 0, 9, out_width, y * out_width + x,
                                     min(2, out_width - x))  # fmt: skip
                    dot(here, depth * 9, columns, LEFT_TERMS, channels * 9, pixels, 4 * left, rows, 4 * left,
                        channel == 0)  # fmt: skip
                for panel in range(panels):
                    begin = (first + panel * (last - first) // panels) * lanes
                    some = first + (panel + 1) * (last - first) // panels - begin // lanes
                    t, end = begin, min(begin + some * lanes, count)
                    while t < end:
                        i, q = t // each, t % each
                        y, x = first_row + q // wide, q % wide
                        used = min(min(wide - x, lanes), end - t)
                        enter(used, d + (t - begin) * size, tiles_place, row, from_ + (i * groups * depth + channel) * area * size, area,
                              channels, 2 * y - word(plan, at.BEFORE_H), 2 * x - word(plan, at.BEFORE_W), height, width_)  # fmt: skip
                        t += used
                    for p in range(16):
                        a, b = f + p * filters_place * size, d + p * tiles_place * size
                        sums = m + (p * sums_place + begin - first * lanes) * size
                        next_ = a + filters_place * size
                        done = run_tile(a, CHANNELS, b, row, channels, sums, width, rows, some, channel == 0, next_, 0,
                                        soon + p * (9 * CHANNELS // 16) * size if panel == 0 and soon != 0 else 0, depth * 9)  # fmt: skip
                        if done < rows:
                            tile(a + done * CHANNELS * size, CHANNELS, 1, none, b, row, none, channels, 1, sums + done * width * size,
                                 width, rows - done, some, channel == 0)  # fmt: skip
            t, end = first * lanes, min(last * lanes, count)
            while t < end:
                i, q = t // each, t % each
                y, x = first_row + q // wide, q % wide
                used = min(min(wide - x, lanes), end - t)
                fine &= leave(used, m + (t - first * lanes) * size, sums_place, width, rows,
                              to + (i * groups * rows_all * plane + 2 * y * out_width + 2 * x) * size, plane, out_width,
                              min(2 * used, out_width - 2 * x), 2 * y + 1 < out_height)  # fmt: skip
                t += used
        for t in range(count, count + left):
            i, q = t // each, t % each
            for cell in range(4):
                y, x = 2 * (first_row + q // wide) + cell // 2, 2 * (q % wide) + cell % 2
                if y < out_height and x < out_width:
                    for r in range(rows):
                        copy(to, (i * groups * rows_all + r) * plane + y * out_width + x, pixels, (r * left + t - count) * 4 + cell)
        return fine

    return {f"conv_winograd_{dtype}": products}
