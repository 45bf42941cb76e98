"""Depthwise convolution and maxima of windows straight from the image, where their size and strides are known when a kernel is made.

A plane is computed by blocks: some rows of a vector of output pixels. A line of the image is read once for all rows of the block that it
belongs to, with masks at its ends; lines outside of the image are read from a line of zeros. So there is no frame, and no pixel that is
computed and left out, but for planes that are smaller than a block. The last block of a row, and the last ones of a plane, begin early
enough to be whole ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .. import dtype as dt
from . import tiles
from .runs import LINE, SCALARS, ask_line, spread
from .values import I32, I64, Instruction, counted, declared

ROWS = {1: 4, 2: 2}
"""Rows of a block, by stride."""
NARROW_ROWS = 8
"""Rows of a block of narrow planes."""
AHEAD = 8192
"""How many bytes ahead an image is asked for: its lines are too short for the machine to foresee them."""


def direct(kernel: int, stride: int, dtype: str) -> Callable[..., None]:
    """direct(source, weights, out, channels, filters, height, width, out_height, out_width, top, left, plane): a plane of the output, of
    images with so many channels and filters, each channel with as many filters."""
    size = dt.size(dtype)
    sums = _plane(kernel, stride, dtype, True)

    def direct(source: int, weights: int, out: int, channels: int, filters: int, height: int, width: int, out_height: int,
               out_width: int, top: int, left: int, plane: int) -> None:  # fmt: skip
        filter_ = plane
        if plane >= filters:
            filter_ = plane % filters
        from_ = plane
        if channels != filters:
            from_ = plane // filters * channels + filter_ * channels // filters
        from_ = source + from_ * height * width * size
        sums(from_, weights + filter_ * kernel * kernel * size, out + plane * out_height * out_width * size, height, width, out_height,
             out_width, top, left)  # fmt: skip

    return direct


def maxima(kernel: int, stride: int, dtype: str) -> Callable[..., None]:
    """maxima(source, out, height, width, out_height, out_width, top, left, plane): the greatest elements of the windows of a plane."""
    size = dt.size(dtype)
    greatest = _plane(kernel, stride, dtype, False)

    def maxima(source: int, out: int, height: int, width: int, out_height: int, out_width: int, top: int, left: int,
               plane: int) -> None:  # fmt: skip
        greatest(source + plane * height * width * size, 0, out + plane * out_height * out_width * size, height, width, out_height,
                 out_width, top, left)  # fmt: skip

    return maxima


def _plane(kernel: int, stride: int, dtype: str, weighted: bool) -> Callable[..., None]:
    """plane(source, weights, out, height, width, out_height, out_width, top, left): the windows of a plane, summed with weights, or the
    greatest element of each. Planes narrower than a vector, or lower than a block, have masks for what is written; those narrower than
    half a vector are computed by halves."""
    lanes, rows = tiles.lanes(dtype), ROWS[stride]
    half = lanes // 2
    whole = _blocks(dtype, kernel, stride, lanes, weighted, True)
    some, few = (_blocks(dtype, kernel, stride, n, weighted, False) for n in (lanes, half))
    # small planes of so many columns at most are summed from one vector for each line
    narrow = _blocks(dtype, kernel, stride, half, weighted, False, True) if weighted and tiles.REGISTERS == 32 else few
    most = min((lanes - kernel) // stride + 1, half) if weighted and tiles.REGISTERS == 32 else 0

    def plane(source: int, weights: int, out: int, height: int, width: int, out_height: int, out_width: int, top: int,
              left: int) -> None:  # fmt: skip
        if out_width >= lanes and out_height >= rows:
            whole(source, weights, out, height, width, out_height, out_width, top, left)
        elif out_width > half:
            some(source, weights, out, height, width, out_height, out_width, top, left)
        elif out_width <= most and out_height <= NARROW_ROWS:
            narrow(source, weights, out, height, width, out_height, out_width, top, left)
        else:
            few(source, weights, out, height, width, out_height, out_width, top, left)

    return plane


def _blocks(dtype: str, kernel: int, stride: int, lanes: int, weighted: bool, whole: bool, narrow: bool = False) -> Instruction:
    """blocks(source, weights, out, height, width, out_height, out_width, top, left): a plane by vectors of so many lanes; a `whole` one is
    no smaller than a block. A `narrow` one is a block, and a vector of twice as many lanes holds all
    pixels of a line that are met."""
    scalar, rows, size = SCALARS[dtype], NARROW_ROWS if narrow else ROWS[stride], dt.size(dtype)
    read = 2 * lanes if narrow else lanes
    vector, sum_vector = ir.VectorType(scalar, read), ir.VectorType(scalar, lanes)
    nothing = ir.Constant(vector, [0.0 if weighted else float("-inf")] * read)
    align = ir.Constant(I32, size)
    # where the vectors of a line begin, from its window; with strides of 2 those of the middle of the windows, which is where an image is
    # cut into lines of memory, if its rows are
    places = [0] if narrow else list(range(kernel)) if stride == 1 else [kernel // 2, kernel // 2 + lanes]
    reach = places[-1] // lanes + 2  # vectors of a line

    def constant(value: int) -> ir.Constant:
        return ir.Constant(I64, value)

    def masked(build: ir.IRBuilder, kind: str, result: Any, *arguments: Any) -> Any:
        lanes_ = next(a.type.count for a in arguments if isinstance(a.type, ir.VectorType))
        name = f"llvm.masked.{kind}.v{lanes_}{'f32' if dtype == 'float32' else 'f64'}.p0"
        kind_ = ir.FunctionType(result, [a.type for a in arguments])
        return build.call(declared(build.module, kind_, name), arguments)

    def below(build: ir.IRBuilder, first: Any, limit: Any, count: int) -> Any:
        """Which of so many first, first + 1, ... are in 0..limit; sizes of an image are far below 2 ** 31."""
        ramp = ir.Constant(ir.VectorType(I32, count), list(range(count)))
        lane = build.add(spread(build, build.trunc(first, I32), count), ramp)
        return build.icmp_unsigned("<", lane, spread(build, build.trunc(limit, I32), count))

    def larger(build: ir.IRBuilder, a: Any, b: Any) -> Any:
        """The larger values; a NaN wins, as in NumPy."""
        wins = build.or_(build.fcmp_ordered(">", b, a), build.fcmp_unordered("uno", b, b))
        return build.select(wins, b, a)

    def begins(build: ir.IRBuilder, index: Any, step: int, limit: Any) -> Any:
        """Where a block begins: early enough to be a whole one, if there is room for one."""
        begun = build.mul(index, constant(step))
        if not whole:
            return begun
        last = build.sub(limit, constant(step))
        return build.select(build.icmp_signed("<", begun, last), begun, last)

    def emit(build: ir.IRBuilder, source: Any, weights: Any, out: Any, height: Any, width: Any, out_height: Any, out_width: Any,
             top: Any, left: Any) -> None:  # fmt: skip
        pixels, taps, target = (build.inttoptr(a, scalar.as_pointer()) for a in (source, weights, out))
        with build.goto_entry_block():
            outside = build.alloca(ir.ArrayType(vector, reach))
        outside.align = 64  # so is the stack, then, and no vector that is put there lies on two lines
        for i in range(reach):
            build.store(nothing, build.gep(outside, [constant(0), constant(i)]))
        outside = build.bitcast(outside, scalar.as_pointer())
        factors = []
        for t in range(kernel * kernel if weighted else 0):
            factors.append(spread(build, build.load(build.gep(taps, [constant(t)])), lanes))
        if narrow:
            emit_block(build, pixels, factors, target, outside, height, width, out_height, out_width, top, left, constant(0), constant(0))
            return
        sizes = ((out_height, rows), (out_width, lanes))
        down, across = (build.sdiv(build.add(n, constant(step - 1)), constant(step)) for n, step in sizes)
        with counted(build, down) as block:
            y = begins(build, block, rows, out_height)
            with counted(build, across) as part:
                emit_block(build, pixels, factors, target, outside, height, width, out_height, out_width, top, left, y,
                           begins(build, part, lanes, out_width))  # fmt: skip

    def of_one(build: ir.IRBuilder, line: Any) -> list[Any]:
        """The pixels that meet each tap, of a narrow line. Lanes that are no pixel of the output may have any."""
        picks = [[min(stride * i + tap, read - 1) for i in range(lanes)] for tap in range(kernel)]
        return [build.shuffle_vector(line, line, ir.Constant(ir.VectorType(I32, lanes), pick)) for pick in picks]

    def of_both(build: ir.IRBuilder, found: list[Any], start: Any, there: Any, column: Any, width: Any, outside: Any) -> list[Any]:
        """For strides of 2 the pixels that meet each tap, of two vectors that begin in the middle of the windows. Those of other taps are
        the same by one place, with a pixel before or behind."""
        picked = [ir.Constant(ir.VectorType(I32, lanes), list(range(first, 2 * lanes, 2))) for first in (0, 1)]
        even, odd = (build.shuffle_vector(*found, pick) for pick in picked)
        values = []
        for tap in range(-(kernel // 2), kernel // 2 + 1):
            those, shift = (odd, (tap - 1) // 2) if tap % 2 else (even, tap // 2)
            if shift:
                place = constant(kernel // 2 + (tap if shift < 0 else 2 * lanes))
                is_there = build.and_(there, build.icmp_unsigned("<", build.add(column, place), width))
                pixel = spread(build, build.load(build.select(is_there, build.gep(start, [place]), outside)), lanes)
                order = [0, *range(lanes, 2 * lanes - 1)] if shift < 0 else list(range(1, lanes + 1))
                pair = (pixel, those) if shift < 0 else (those, pixel)
                those = build.shuffle_vector(*pair, ir.Constant(ir.VectorType(I32, lanes), order))
            values.append(those)
        return values

    def emit_block(build: ir.IRBuilder, pixels: Any, factors: list[Any], target: Any, outside: Any, height: Any, width: Any,
                   out_height: Any, out_width: Any, top: Any, left: Any, y: Any, x: Any) -> None:  # fmt: skip
        row, column = (build.sub(build.mul(a, constant(stride)), before) for a, before in ((y, top), (x, left)))
        inside = [below(build, build.add(column, constant(p)), width, read) for p in places]
        sums: list[Any] = [None] * rows
        for line in range((rows - 1) * stride + kernel):
            at = build.add(row, constant(line))
            there = build.icmp_unsigned("<", at, height)
            start = build.gep(pixels, [build.add(build.mul(at, width), column)])
            if line < rows * stride and not (narrow and line % 2):  # what other blocks have not asked for
                for step in range(0, lanes * stride, LINE // size):
                    ask_line(build, build.gep(start, [constant(AHEAD // size + step)]), 0, 3)
            found = []
            here = build.select(there, start, outside)
            for p, mask in zip(places, inside, strict=True):
                place = build.bitcast(build.gep(here, [constant(p)]), vector.as_pointer())
                found.append(masked(build, "load", vector, place, align, mask, nothing))
            if narrow:
                found = of_one(build, found[0])
            elif stride == 2:
                found = of_both(build, found, start, there, column, width, outside)
            for j, values in enumerate(found):
                for r in range(rows):
                    i = line - r * stride
                    if 0 <= i < kernel and not factors:
                        sums[r] = values if sums[r] is None else larger(build, sums[r], values)
                    elif 0 <= i < kernel:
                        product = build.fmul(factors[i * kernel + j], values, flags=("contract",))
                        sums[r] = product if sums[r] is None else build.fadd(sums[r], product, flags=("contract",))
        # where a row is one vector, what that writes beyond it is written over by the rows behind it: masks are slow to store with
        last = build.select(build.icmp_signed("<=", out_width, constant(lanes)), out_height, constant(0))
        for r in range(rows):
            here = build.add(y, constant(r))
            at = build.add(build.mul(here, out_width), x)
            place = build.bitcast(build.gep(target, [at]), sum_vector.as_pointer())
            if whole:
                build.store(sums[r], place, align=size)
                continue
            end = build.select(build.icmp_signed("<", here, last), last, build.add(here, constant(1)))
            room = build.sub(build.mul(end, out_width), at)  # elements, up to the end of the plane or of the row
            room = build.select(build.icmp_signed("<", here, out_height), room, constant(0))
            with build.if_else(build.icmp_signed("<=", constant(lanes), room)) as (then, otherwise):
                with then:
                    build.store(sums[r], place, align=size)
                with otherwise:
                    masked(build, "store", ir.VoidType(), sums[r], place, align, below(build, constant(0), room, lanes))

    return Instruction(emit)
