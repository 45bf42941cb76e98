"""The routine of matrix products on the CPU: over register tiles (see `tiles`), as convolution is.

A library's product copies both operands into an order of its own first, which costs small products, the most frequent ones of models,
up to two thirds of their time. Here A is read where it lies, element by element, and so is B, in whole vectors, if A has few rows;
otherwise the columns of B that a panel of tiles needs are copied to the stack, where they stay in the cache of the first level for all
rows of a block. The copy of a transposed B turns squares of vectors over in registers. The blocks are those of Goto and van de Geijn
(2008).

With fewer columns than a vector has elements most of each vector would be idle: there the transposed product is computed, whose columns
are the rows of A.

A row or column alone has no tiles: it is a sum of rows of the matrix, or a dot product with each of them (see `dots`).

Each element of C is the sum of its products in the order of the reduction, whatever else is computed with it; so the results are equal
to the last bit however a product is divided.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from .. import dtype as dt
from ..codegen import layout
from . import symbols, tiles
from .runs import SCALARS, Elements, copy_run, put_words, round_up, spread, stack
from .values import I64, Instruction, counted, external

MAX_ROWS = 256
"""Rows of a block of A: with REDUCTION columns it stays in the cache of the second level."""
REDUCTION = 256
"""Steps of a reduction between two visits of C."""
FEW_ROWS = 32
"""So many rows read B where it lies."""
DOTS = 4
"""So many rows of A are multiplied with a transposed B by dot products: turning B over would cost more."""

STREAMED, TOGETHER = 1 << 19, 8
"""A row times a matrix of more than so many bytes, which no cache near to a core holds, meets so many rows of the matrix at a time: these
are runs of memory, which the machine reads ahead, where some columns of all rows are on another page each."""


def _turn(dtype: str) -> Instruction:
    """turn(target, target_row, source, source_row): the transpose of a square of as many rows as a vector has elements."""
    scalar, count = SCALARS[dtype], tiles.lanes(dtype)
    vector = ir.VectorType(scalar, count)

    def emit(builder: Any, target: Any, target_row: Any, source: Any, source_row: Any) -> None:
        def place(address: Any, step: Any, row: int) -> Any:
            pointer = builder.gep(builder.inttoptr(address, scalar.as_pointer()), [builder.mul(step, ir.Constant(I64, row))])
            return builder.bitcast(pointer, vector.as_pointer())

        def shuffled(a: Any, b: Any, lanes: list[int]) -> Any:
            return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), count), lanes))

        rows = [builder.load(place(source, source_row, r), align=dt.size(dtype)) for r in range(count)]
        half = 1
        while half < count:  # exchanges blocks of `half` x `half` on either side of the diagonal
            low = [i - half + count if i & half else i for i in range(count)]
            high = [i + count if i & half else i + half for i in range(count)]
            for i in range(count):
                if not i & half:
                    a, b = rows[i], rows[i + half]
                    rows[i], rows[i + half] = shuffled(a, b, low), shuffled(a, b, high)
            half *= 2
        for r, row in enumerate(rows):
            builder.store(row, place(target, target_row, r), align=dt.size(dtype))

    return Instruction(emit)


def _add_rows(dtype: str, rows: int) -> Instruction:
    """add_rows(x, x_step, b, ldb, vectors, c, first): so many rows of B, each times an element of x, are added to the vectors of c, or to
    zeros if `first` != 0."""
    scalar, count, size = SCALARS[dtype], tiles.lanes(dtype), dt.size(dtype)
    vector = ir.VectorType(scalar, count)

    def emit(build: ir.IRBuilder, x: Any, x_step: Any, b: Any, ldb: Any, vectors: Any, c: Any, first: Any) -> None:
        x, b, c = (build.inttoptr(address, scalar.as_pointer()) for address in (x, b, c))
        steps = [ir.Constant(I64, r) for r in range(rows)]
        factors = [spread(build, build.load(build.gep(x, [build.mul(x_step, r)])), count) for r in steps]
        starts = [build.gep(b, [build.mul(ldb, r)]) for r in steps]
        fresh = build.icmp_signed("!=", first, ir.Constant(I64, 0))

        def beside(start: Any, place: Any) -> Any:
            return build.bitcast(build.gep(start, [place]), vector.as_pointer())

        with counted(build, vectors) as v:
            place = build.mul(v, ir.Constant(I64, count))
            total = build.select(fresh, ir.Constant(vector, [0.0] * count), build.load(beside(c, place), align=size))
            for factor, start in zip(factors, starts, strict=True):
                product = build.fmul(factor, build.load(beside(start, place), align=size), flags=("contract",))
                total = build.fadd(total, product, flags=("contract",))
            build.store(total, beside(c, place), align=size)

    return Instruction(emit)


def product(dtype: str) -> Any:
    """product(trans_a, trans_b, m, n, k, a, lda, b, ldb, add, c, ldc, parts, first, last): C (+)= op(A) @ op(B), row-major; of all
    parts, into which the columns are divided, or the rows if these are more, those from first to last."""
    size, lanes, vectors = dt.size(dtype), tiles.lanes(dtype), tiles.VECTORS
    width = lanes * vectors
    panel, cells, origin = stack(REDUCTION * width * size), stack(MAX_ROWS * width * size), stack(8)
    copy = Elements(dtype).copy
    tile, run_tile = external(symbols.symbol(f"tiles_{dtype}")), external(symbols.symbol(f"run_tiles_{dtype}"))
    dots, turn = external(symbols.symbol(f"dots_{dtype}")), _turn(dtype)
    row, _ = tiles.dispatch_row(dtype)
    add_rows, add_row = _add_rows(dtype, TOGETHER), _add_rows(dtype, 1)

    def pack(target: int, trans_b: int, b: int, ldb: int, columns: int, depth: int) -> None:
        """The columns of a panel, each row of it `width` elements after the one before."""
        if trans_b:
            whole = depth // lanes * lanes
            for j in range(0, columns, lanes):
                rest = min(lanes, columns - j)
                turned = whole if rest == lanes else 0
                for x in range(0, turned, lanes):
                    turn(target + (x * width + j) * size, width, b + (j * ldb + x) * size, ldb)
                for x in range(turned, depth):
                    for i in range(rest):
                        copy(target, x * width + j + i, b, (j + i) * ldb + x)
        else:
            for x in range(depth):
                copy_run(target + x * width * size, b + x * ldb * size, columns * size)

    def copy_rows(target: int, target_row: int, source: int, source_row: int, rows: int, columns: int) -> None:
        for r in range(rows):
            copy_run(target + r * target_row * size, source + r * source_row * size, columns * size)

    def tiled(trans_a: int, trans_b: int, m: int, n: int, k: int, a: int, lda: int, b: int, ldb: int, add: int, c: int,
              ldc: int) -> None:  # fmt: skip
        a_row, a_step = (1 if trans_a else lda), (lda if trans_a else 1)
        count = round_up(n, lanes)
        panels = round_up(count, vectors)
        zero, room, kept = origin(), panel(), cells()
        put_words(zero, 0, 0)
        for block in range(0, m, MAX_ROWS):
            rows = min(m - block, MAX_ROWS)
            for s in range(max(round_up(k, REDUCTION), 1)):
                step = s * REDUCTION
                depth = min(k - step, REDUCTION)
                from_ = a + (block * a_row + step * a_step) * size
                is_first = 1 - add if s == 0 else 0
                for p in range(panels):
                    begin = p * count // panels * lanes
                    wide = (p + 1) * count // panels - p * count // panels
                    columns = min(wide * lanes, n - begin)
                    out = c + (block * ldc + begin) * size
                    here, b_step = b + ((begin * ldb + step) if trans_b else (step * ldb + begin)) * size, ldb
                    if trans_b or rows > FEW_ROWS or columns < wide * lanes:
                        pack(room, trans_b, here, ldb, columns, depth)
                        here, b_step = room, width
                    to, c_row = out, ldc
                    if columns < wide * lanes:
                        to, c_row = kept, width
                        if not is_first:
                            copy_rows(kept, width, out, ldc, rows, columns)
                    done = 0
                    if not trans_a:
                        # the columns that are read next come from far, as of weights, each row from another page
                        far = 0
                        if not trans_b and p + 1 < panels:
                            far = b + (step * ldb + begin + wide * lanes) * size
                        elif not trans_b and step + depth < k:
                            far = b + (step + depth) * ldb * size
                        done = run_tile(from_, a_row, here, b_step, depth, to, c_row, rows, wide, is_first, from_, 0, far, ldb)
                    if done < rows:
                        tile(from_ + done * a_row * size, a_row, a_step, zero, here, b_step, zero, depth, 1, to + done * c_row * size,
                             c_row, rows - done, wide, is_first)  # fmt: skip
                    if columns < wide * lanes:
                        copy_rows(out, ldc, kept, width, rows, columns)

    def narrow(trans_a: int, trans_b: int, m: int, n: int, k: int, a: int, lda: int, b: int, ldb: int, add: int, c: int,
               ldc: int) -> None:  # fmt: skip
        """Of fewer columns than a vector has: the rows of the transposed product, whose vectors are whole."""
        b_column, b_step = (ldb if trans_b else 1), (1 if trans_b else ldb)
        count = round_up(m, lanes)
        panels = round_up(count, vectors)
        zero, room, kept = origin(), panel(), cells()
        put_words(zero, 0, 0)
        for p in range(panels):
            begin = p * count // panels * lanes
            wide = (p + 1) * count // panels - p * count // panels
            rows = min(wide * lanes, m - begin)
            for i in range(rows if add else 0):
                for j in range(n):
                    copy(kept, j * width + i, c, (begin + i) * ldc + j)
            for s in range(max(round_up(k, REDUCTION), 1)):
                step = s * REDUCTION
                depth = min(k - step, REDUCTION)
                here, a_step = a + ((step * lda + begin) if trans_a else (begin * lda + step)) * size, lda
                if not trans_a or rows < wide * lanes:
                    pack(room, 1 - trans_a, here, lda, rows, depth)
                    here, a_step = room, width
                is_first = 1 - add if s == 0 else 0
                tile(b + step * b_step * size, b_column, b_step, zero, here, a_step, zero, depth, 1, kept, width, n, wide, is_first)
            for i in range(rows):
                for j in range(n):
                    copy(c, (begin + i) * ldc + j, kept, j * width + i)

    def rows_summed(count: int, k: int, x: int, x_step: int, b: int, ldb: int, c: int) -> None:
        """c = the sum of the rows of B [k, count], each times an element of x."""
        zero = origin()
        put_words(zero, 0, 0)
        done = 0
        left = count // lanes
        if k * count * size > STREAMED:
            whole = k // TOGETHER * TOGETHER
            for i in range(0, whole, TOGETHER):
                add_rows(x + i * x_step * size, x_step, b + i * ldb * size, ldb, left, c, i == 0)
            for i in range(whole, k):
                add_row(x + i * x_step * size, x_step, b + i * ldb * size, ldb, left, c, i == 0)
            done = left * lanes
            left = 0
        while left > 0:
            here = row(x, x_step, zero, b + done * size, ldb, zero, k, 1, c + done * size, left)
            done += here * lanes
            left -= here
        if done < count:
            tiled(1, 0, 1, count - done, k, x, x_step, b + done * size, ldb, 0, c + done * size, count)

    def product(trans_a: int, trans_b: int, m: int, n: int, k: int, a: int, lda: int, b: int, ldb: int, add: int, c: int, ldc: int,
                parts: int, first: int, last: int) -> None:  # fmt: skip
        # before the division: how an element is computed must not depend on it
        few, one_row, one_column = m <= DOTS, m == 1, n == 1 and ldc == 1
        few_columns = n < lanes and m >= lanes
        if last - first < parts:
            low = first * layout.PRODUCT_PART
            if m > n:
                m = min(m, last * layout.PRODUCT_PART) - low
                a += low * (1 if trans_a else lda) * size
                c += low * ldc * size
            else:
                n = min(n, last * layout.PRODUCT_PART) - low
                b += low * (ldb if trans_b else 1) * size
                c += low * size
        if few and trans_b and not trans_a:
            dots(a, lda, b, ldb, k, c, ldc, m, n, 1 - add)
        elif one_column and not trans_a and (trans_b or ldb == 1):
            dots(b, 0, a, lda, k, c, 0, 1, m, 1 - add)
        elif one_row and not trans_b and not add:
            rows_summed(n, k, a, lda if trans_a else 1, b, ldb, c)
        elif one_column and trans_a and not add:
            rows_summed(m, k, b, 1 if trans_b else ldb, a, lda, c)
        elif few_columns:
            narrow(trans_a, trans_b, m, n, k, a, lda, b, ldb, add, c, ldc)
        else:
            tiled(trans_a, trans_b, m, n, k, a, lda, b, ldb, add, c, ldc)

    return product
