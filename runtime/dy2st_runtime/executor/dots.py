"""Dot products: of a matrix with few rows and one that is transposed, and for the pixels that are left where whole vectors of pixels end.

    C[r, p] (+)= sum over t of A[a + r * a_row + t] * B[b + p * b_row + t]

Both operands lie along the sum, so it runs in vectors of terms: a column costs what it is worth, where it would cost a tile a whole vector.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from .. import dtype as dt
from . import tiles
from .runs import SCALARS
from .scalars import from_source
from .values import I64, Instruction, counted

HEIGHTS = {4: (4, 1) if tiles.REGISTERS == 32 else (2, 1), 1: (8, 4, 1)}
"""Rows that are summed at the same time, by how many columns are: so many sums as there are registers for, and enough to hide that each
addition waits for the one before."""


def dots(dtype: str) -> Any:
    """dots(a, a_row, b, b_row, terms, c, c_row, rows, columns, first): addresses are in bytes, steps count elements; `first` != 0 begins
    with zeros, else with what C holds."""
    size = dt.size(dtype)
    source = ["def dots(a, a_row, b, b_row, terms, c, c_row, rows, columns, first):", "    p = 0"]
    scope: dict[str, Any] = {}
    for width, heights in HEIGHTS.items():
        source += [f"    while p + {width} <= columns:", "        r = 0"]
        for height in heights:
            name = f"dots_{height}_{width}"
            scope[name] = _dots(dtype, height, width)
            source += [f"        while r + {height} <= rows:",
                       f"            {name}(a + r * a_row * {size}, a_row, b + p * b_row * {size}, b_row, terms, "
                       f"c + (r * c_row + p) * {size}, c_row, first)",
                       f"            r += {height}"]  # fmt: skip
        source.append(f"        p += {width}")
    return from_source("\n".join(source) + "\n", scope)


def _dots(dtype: str, rows: int, columns: int) -> Instruction:
    scalar, lanes = SCALARS[dtype], tiles.lanes(dtype)
    vector = ir.VectorType(scalar, lanes)
    align = dt.size(dtype)

    def emit(build: ir.IRBuilder, a: Any, a_row: Any, b: Any, b_row: Any, terms: Any, c: Any, c_row: Any, first: Any) -> None:
        constant = lambda value: ir.Constant(I64, value)  # noqa: E731
        pointers = [build.inttoptr(address, scalar.as_pointer()) for address in (a, b)]
        ins = list(zip(pointers, (a_row, b_row), (rows, columns), strict=True))
        with build.goto_entry_block():
            sums = [[build.alloca(vector) for _ in range(columns)] for _ in range(rows)]
            rest = [[build.alloca(scalar) for _ in range(columns)] for _ in range(rows)]
        target = build.inttoptr(c, scalar.as_pointer())
        places = [[build.gep(target, [build.add(build.mul(c_row, constant(r)), constant(p))]) for p in range(columns)] for r in range(rows)]
        zero = ir.Constant(scalar, 0.0)
        fresh = build.icmp_signed("!=", first, constant(0))
        for r in range(rows):
            for p in range(columns):
                build.store(ir.Constant(vector, [0.0] * lanes), sums[r][p])
                build.store(build.select(fresh, zero, build.load(places[r][p])), rest[r][p])

        def add(at: Any, kind: Any, slots: list[list[Any]]) -> None:
            """A step of so many terms of every sum."""
            values = []
            for pointer, step, count in ins:
                here = [build.gep(pointer, [build.add(build.mul(step, constant(i)), at)]) for i in range(count)]
                values.append([build.load(build.bitcast(place, kind.as_pointer()), align=align) for place in here])
            for r in range(rows):
                for p in range(columns):
                    product = build.fmul(values[0][r], values[1][p], flags=("contract",))
                    build.store(build.fadd(build.load(slots[r][p]), product, flags=("contract",)), slots[r][p])

        whole = build.sdiv(terms, constant(lanes))
        with counted(build, whole) as step:
            add(build.mul(step, constant(lanes)), vector, sums)
        done = build.mul(whole, constant(lanes))
        with counted(build, build.sub(terms, done)) as step:
            add(build.add(done, step), scalar, rest)
        for r in range(rows):
            for p in range(columns):
                build.store(build.fadd(build.load(rest[r][p]), _total(build, build.load(sums[r][p]), lanes)), places[r][p])

    return Instruction(emit)


def _total(build: ir.IRBuilder, values: Any, lanes: int) -> Any:
    """The sum of the lanes of a vector, by halves."""
    index = ir.IntType(32)
    while lanes > 1:
        lanes //= 2
        halves = [build.shuffle_vector(values, ir.Constant(values.type, ir.Undefined),
                                       ir.Constant(ir.VectorType(index, lanes), list(range(start, start + lanes))))
                  for start in (0, lanes)]  # fmt: skip
        values = build.fadd(*halves)
    return build.extract_element(values, ir.Constant(index, 0))
