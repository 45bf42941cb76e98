"""Depthwise convolution and maxima of windows straight from the image, where their size and strides are known when a kernel is made.

A block is some rows of a vector of output pixels. A line of the image is read once for all rows of the block that it belongs to, with
masks where it ends; so there is no frame, and no pixel that is computed and left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from .. import dtype as dt
from . import tiles
from .runs import LINE, SCALARS, ask_line, spread
from .values import I64, Instruction, declared

ROWS = {1: 4, 2: 2}
"""Rows of a block, by stride."""
AHEAD = 8192
"""How many bytes ahead an image is asked for: its lines are too short for the machine to foresee them."""


def direct(kernel: int, stride: int, dtype: str) -> Callable[..., None]:
    """direct(source, weights, out, channels, filters, height, width, out_height, out_width, top, left, plane): a plane of the output, of
    images with so many channels and filters, each channel with as many filters."""
    size, lanes = dt.size(dtype), tiles.lanes(dtype)
    tall = ROWS[stride]
    high, low = _block(dtype, kernel, stride, tall, True), _block(dtype, kernel, stride, 1, True)

    def direct(source: int, weights: int, out: int, channels: int, filters: int, height: int, width: int, out_height: int,
               out_width: int, top: int, left: int, plane: int) -> None:  # fmt: skip
        image = plane // filters
        filter_ = plane - image * filters
        from_ = source + (image * channels + filter_ * channels // filters) * height * width * size
        taps = weights + filter_ * kernel * kernel * size
        to = out + plane * out_height * out_width * size
        if out_height >= tall:
            for begun in range(0, out_height, tall):
                y = min(begun, out_height - tall)  # the last block begins early enough to be a whole one
                for x in range(0, out_width, lanes):
                    high(from_, y * stride - top, x * stride - left, height, width, taps, to + (y * out_width + x) * size, out_width,
                         out_width - x)  # fmt: skip
        else:
            for y in range(out_height):
                for x in range(0, out_width, lanes):
                    low(from_, y * stride - top, x * stride - left, height, width, taps, to + (y * out_width + x) * size, out_width,
                        out_width - x)  # fmt: skip

    return direct


def maxima(kernel: int, stride: int, dtype: str) -> Callable[..., None]:
    """maxima(source, out, height, width, out_height, out_width, top, left, plane): the greatest elements of the windows of a plane."""
    size, lanes = dt.size(dtype), tiles.lanes(dtype)
    tall = ROWS[stride]
    high, low = _block(dtype, kernel, stride, tall, False), _block(dtype, kernel, stride, 1, False)

    def maxima(source: int, out: int, height: int, width: int, out_height: int, out_width: int, top: int, left: int,
               plane: int) -> None:  # fmt: skip
        from_, to = source + plane * height * width * size, out + plane * out_height * out_width * size
        if out_height >= tall:
            for begun in range(0, out_height, tall):
                y = min(begun, out_height - tall)
                for x in range(0, out_width, lanes):
                    high(from_, y * stride - top, x * stride - left, height, width, 0, to + (y * out_width + x) * size, out_width,
                         out_width - x)  # fmt: skip
        else:
            for y in range(out_height):
                for x in range(0, out_width, lanes):
                    low(from_, y * stride - top, x * stride - left, height, width, 0, to + (y * out_width + x) * size, out_width,
                        out_width - x)  # fmt: skip

    return maxima


def _block(dtype: str, kernel: int, stride: int, rows: int, weighted: bool) -> Instruction:
    """block(source, y, x, height, width, weights, out, out_width, count): `rows` rows of a vector of pixels, of which `count` are in the
    output; the first window begins at (y, x) of the image at `source`. What is not `weighted` is the greatest element of a window."""
    scalar, lanes = SCALARS[dtype], tiles.lanes(dtype)
    vector, flags = ir.VectorType(scalar, lanes), ir.VectorType(ir.IntType(1), lanes)
    mask_bits, i32 = ir.IntType(lanes), ir.IntType(32)
    outside = ir.Constant(vector, [0.0 if weighted else float("-inf")] * lanes)
    align = ir.Constant(i32, dt.size(dtype))

    def constant(value: int) -> ir.Constant:
        return ir.Constant(I64, value)

    def masked(build: ir.IRBuilder, kind: str, result: Any, *arguments: Any) -> Any:
        name = f"llvm.masked.{kind}.v{lanes}{'f32' if dtype == 'float32' else 'f64'}.p0"
        kind_ = ir.FunctionType(result, [a.type for a in arguments])
        return build.call(declared(build.module, kind_, name), arguments)

    def below(build: ir.IRBuilder, first: Any, limit: Any) -> Any:
        """The bits of the lanes first, first + 1, ... that are in 0..limit."""
        ramp = ir.Constant(ir.VectorType(I64, lanes), list(range(lanes)))
        lane = build.add(spread(build, first, lanes), ramp)
        return build.bitcast(build.icmp_unsigned("<", lane, spread(build, limit, lanes)), mask_bits)

    def larger(build: ir.IRBuilder, a: Any, b: Any) -> Any:
        """The larger values; a NaN wins, as in NumPy."""
        wins = build.or_(build.fcmp_ordered(">", b, a), build.fcmp_unordered("uno", b, b))
        return build.select(wins, b, a)

    def emit(build: ir.IRBuilder, source: Any, y: Any, x: Any, height: Any, width: Any, weights: Any, out: Any, out_width: Any,
             count: Any) -> None:  # fmt: skip
        pixels, taps, target = (build.inttoptr(a, scalar.as_pointer()) for a in (source, weights, out))
        factors = []
        for t in range(kernel * kernel if weighted else 0):
            factors.append(spread(build, build.load(build.gep(taps, [constant(t)])), lanes))
        # where the vectors of a line begin, from its window
        places = list(range(kernel)) if stride == 1 else [2 * s + half * lanes for s in range((kernel + 1) // 2) for half in (0, 1)]
        inside = [below(build, build.add(x, constant(p)), width) for p in places]
        sums: list[Any] = [None] * rows
        for line in range((rows - 1) * stride + kernel):
            at = build.add(y, constant(line))
            there = build.sext(build.icmp_unsigned("<", at, height), mask_bits)
            start = build.gep(pixels, [build.add(build.mul(at, width), x)])
            if line < rows * stride:  # what other blocks have not asked for
                for step in range(0, lanes * stride, LINE // dt.size(dtype)):
                    ask_line(build, build.gep(start, [constant(AHEAD // dt.size(dtype) + step)]), 0, 3)
            found = []
            for p, mask in zip(places, inside, strict=True):
                place = build.bitcast(build.gep(start, [constant(p)]), vector.as_pointer())
                valid = build.bitcast(build.and_(mask, there), flags)
                found.append(masked(build, "load", vector, place, align, valid, outside))
            for j in range(kernel):
                if stride == 1:
                    values = found[j]
                else:
                    pick = ir.Constant(ir.VectorType(i32, lanes), [2 * i + j % 2 for i in range(lanes)])
                    values = build.shuffle_vector(found[j // 2 * 2], found[j // 2 * 2 + 1], pick)
                for r in range(rows):
                    i = line - r * stride
                    if 0 <= i < kernel and not weighted:
                        sums[r] = values if sums[r] is None else larger(build, sums[r], values)
                    elif 0 <= i < kernel:
                        product = build.fmul(factors[i * kernel + j], values, flags=("contract",))
                        sums[r] = product if sums[r] is None else build.fadd(sums[r], product, flags=("contract",))
        used = build.bitcast(below(build, constant(0), count), flags)
        for r in range(rows):
            place = build.gep(target, [build.mul(out_width, constant(r))])
            masked(build, "store", ir.VoidType(), sums[r], build.bitcast(place, vector.as_pointer()), align, used)

    return Instruction(emit)
