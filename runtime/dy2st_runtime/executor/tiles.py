"""Register tiles: the innermost loops of convolution and of matrix products, as LLVM code on vectors of the machine's width.

A tile is the product of `rows` rows of A with `vectors` vectors of columns of B, kept in registers while the reduction runs:

    C[r, :] (+)= sum over channels c and taps t of A[a + r * a_row + c * a_channel + a_taps[t]] * B[b + c * b_channel + b_taps[t] + :]

B is read in whole vectors at any address, A element by element, so neither needs another layout than it has: the tables of taps
say where the windows lie. Every operand of every convolution and of its gradients has this form (see `convolution`).

The sizes are those of the BLIS model (Van Zee and van de Geijn, 2015): as many accumulators as the registers hold beside the vectors of B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

from .. import dtype as dt
from .lines import Builder
from .runs import LINE, SCALARS, ask_line, spread
from .scalars import from_source
from .values import I64, Instruction, counted, slot


def _machine() -> tuple[int, int]:
    """Bytes of a vector, and how many vector registers there are."""
    features = dict(llvm.get_host_cpu_features())
    if features.get("avx512f"):
        return 64, 32
    if llvm.get_default_triple().startswith(("aarch64", "arm64")):
        return 16, 32
    return (32 if features.get("avx") else 16), 16


VECTOR_BYTES, REGISTERS = _machine()


def lanes(dtype: str) -> int:
    """Elements of a vector."""
    return VECTOR_BYTES // dt.size(dtype)


ROWS, VECTORS = (8, 3) if REGISTERS == 32 else (6, 2)
"""The largest tile."""
HEIGHTS = (8, 4, 2, 1) if ROWS == 8 else (6, 4, 2, 1)
PRODUCTS = 48
"""Products of vectors in an iteration where rows of A are runs of memory. The places of several terms are the same but for a constant, and
on a core that another thread uses too, instructions beside the products cost as much as these. Of more products LLVM reads the operands so
early that it has to put them on the stack."""
ASKED = 2
"""Rows of C that a tile with short sums asks for between two LINEs of A."""
SHORT = 4
"""So many LINEs of A, and up to twice as many, are a short sum: it takes no longer than C takes to come. A core waits for some lines of
memory at a time only, and for what the sum needs at once behind those."""
UNROLLED = PRODUCTS // (ROWS * VECTORS)
"""Terms of such an iteration."""


class _Sums:
    """The accumulators of a tile, which code in the making adds to, and the places of C that they belong to.

    Those lines of C are asked for, so that they are there when the reduction has run.
    """

    def __init__(self, build: ir.IRBuilder, dtype: str, rows: int, vectors: int, c: Any, c_row: Any):
        self.c, self.c_row = c, c_row
        self.build, self.count, self.align = build, lanes(dtype), dt.size(dtype)
        self.vector = ir.VectorType(SCALARS[dtype], self.count)
        starts = [build.gep(c, [build.mul(c_row, ir.Constant(I64, r))]) for r in range(rows)]
        self.targets = [[self._vector_at(start, v) for v in range(vectors)] for start in starts]

    def ask(self, operand: Any = None) -> None:
        """Asks for C, and for what is `operand` bytes behind it unless that is 0."""
        places = [place for row in self.targets for place in row]
        for place in places:
            ask_line(self.build, place, 1, 3)
        if operand is not None:
            with self.build.if_then(self.build.icmp_signed("!=", operand, ir.Constant(I64, 0))):
                for place in places:
                    self._ask_operand(place, operand)

    def ask_rows(self, rows: Any, first: Any, operand: Any) -> None:
        """The same for so many rows from the first."""
        with counted(self.build, rows) as row:
            start = self.build.gep(self.c, [self.build.mul(self.c_row, self.build.add(first, row))])
            for v in range(len(self.targets[0])):
                place = self._vector_at(start, v)
                ask_line(self.build, place, 1, 3)
                self._ask_operand(place, operand)

    def _ask_operand(self, place: Any, operand: Any) -> None:
        ask_line(self.build, self.build.inttoptr(self.build.add(self.build.ptrtoint(place, I64), operand), place.type), 0, 2)

    def _vector_at(self, pointer: Any, v: int) -> Any:
        return self.build.bitcast(self.build.gep(pointer, [ir.Constant(I64, v * self.count)]), self.vector.as_pointer())

    def begin(self, first: Any) -> None:
        """They begin with zeros if `first` != 0, else with what C holds."""
        build = self.build
        self.slots = [[slot(build, self.vector) for _ in row] for row in self.targets]
        with build.if_else(build.icmp_signed("!=", first, ir.Constant(I64, 0))) as (then, otherwise):
            with then:
                for total, _ in self._cells():
                    build.store(ir.Constant(self.vector, [0.0] * self.count), total)
            with otherwise:
                for total, place in self._cells():
                    build.store(build.load(place, align=self.align), total)

    def add(self, a: Any, steps: list[Any], b: Any) -> None:
        """The products of a column of A, whose elements are `steps` apart from the first, and a row of B."""
        self.add_at([self.build.gep(a, [step]) for step in steps], b)

    def add_at(self, places: list[Any], b: Any) -> None:
        """The products of the elements of A in some places, one for each row, and a row of B."""
        build = self.build
        columns = [build.load(self._vector_at(b, v), align=self.align) for v in range(len(self.slots[0]))]
        for row, place in zip(self.slots, places, strict=True):
            factor = spread(build, build.load(place), self.count)
            for total, column in zip(row, columns, strict=True):
                product = build.fmul(factor, column, flags=("contract",))
                build.store(build.fadd(build.load(total), product, flags=("contract",)), total)

    def end(self) -> None:
        """C gets them."""
        for total, place in self._cells():
            self.build.store(self.build.load(total), place, align=self.align)

    def _cells(self) -> list[tuple[Any, Any]]:
        return [cell for row, target in zip(self.slots, self.targets, strict=True) for cell in zip(row, target, strict=True)]


def _function(name: str, emit: Callable[..., None]) -> Instruction:
    """An instruction that calls a function of integers, of which each module has one; `emit` writes it."""

    def define(module: ir.Module, count: int) -> ir.Function:
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * count), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        build = Builder(function.append_basic_block("entry"))
        emit(build, *function.args)
        build.ret_void()
        return function

    def call(builder: Any, *operands: Any) -> None:
        builder.call(builder.module.globals.get(name) or define(builder.module, len(operands)), operands)

    return Instruction(call)


def _tile(dtype: str, rows: int, vectors: int) -> Instruction:
    """tile(a, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, c_row, first): addresses are in bytes,
    everything else counts elements; `first` != 0 begins with zeros, else with what C holds."""

    def emit(build: ir.IRBuilder, a: Any, a_row: Any, a_channel: Any, a_taps: Any, b: Any, b_channel: Any, b_taps: Any, channels: Any,
             taps: Any, c: Any, c_row: Any, first: Any) -> None:  # fmt: skip
        a, b, c = (build.inttoptr(address, SCALARS[dtype].as_pointer()) for address in (a, b, c))
        a_table, b_table = (build.inttoptr(t, I64.as_pointer()) for t in (a_taps, b_taps))
        steps = [build.mul(a_row, ir.Constant(I64, r)) for r in range(rows)]
        sums = _Sums(build, dtype, rows, vectors, c, c_row)
        sums.ask()
        sums.begin(first)
        with counted(build, channels) as channel, counted(build, taps) as tap:
            a_at = build.add(build.mul(channel, a_channel), build.load(build.gep(a_table, [tap])))
            b_at = build.add(build.mul(channel, b_channel), build.load(build.gep(b_table, [tap])))
            sums.add(build.gep(a, [a_at]), steps, build.gep(b, [b_at]))
        sums.end()

    return _function(f"tile_{dtype}_{rows}x{vectors}", emit)


def _run_tile(dtype: str, rows: int, vectors: int, by_parts: bool = False) -> Instruction:
    """run_tile(a, a_row, ahead, b, b_row, terms, c, c_row, first, operand, far, far_row, far_rows): a tile of which each row of A is a run
    of memory, and B has a row for each term. Meanwhile it asks for what comes from far and is needed soon: the rows of A at `ahead`, which
    the next tile reads (weights are read once or a few times in a run, and begin anew with every tile, so that the machine does not foresee
    them); the operand that C meets, `operand` bytes behind it (0: there is none); and, for each LINE of A, so many rows of other
    columns of B, from `far` on, `far_row` elements apart."""
    some = LINE // dt.size(dtype)

    def emit(build: ir.IRBuilder, a: Any, a_row: Any, ahead: Any, b: Any, b_row: Any, terms: Any, c: Any, c_row: Any, first: Any,
             operand: Any, far: Any, far_row: Any, far_rows: Any) -> None:  # fmt: skip
        constant = lambda value: ir.Constant(I64, value)  # noqa: E731
        a, b, c, ahead, far = (build.inttoptr(address, SCALARS[dtype].as_pointer()) for address in (a, b, c, ahead, far))
        steps = [build.mul(a_row, constant(r)) for r in range(rows)]
        sums = _Sums(build, dtype, rows, vectors, c, c_row)
        whole = build.sdiv(terms, constant(some))
        if not by_parts:
            sums.ask(operand)
        sums.begin(first)

        def add(term: Any) -> None:
            sums.add(build.gep(a, [term]), steps, build.gep(b, [build.mul(term, b_row)]))

        with counted(build, whole) as part:
            begun = build.mul(part, constant(some))
            if by_parts:
                asked = build.mul(part, constant(ASKED))
                sums.ask_rows(build.select(build.icmp_signed("<", asked, constant(rows)), constant(ASKED), constant(0)), asked, operand)
            for step in steps:
                ask_line(build, build.gep(ahead, [build.add(begun, step)]), 0, 3)
            with counted(build, far_rows) as row:
                place = build.mul(build.add(build.mul(part, far_rows), row), far_row)
                for line in range(vectors * VECTOR_BYTES // LINE + 1):
                    ask_line(build, build.gep(far, [build.add(place, constant(line * some))]), 0, 2)
            with counted(build, constant(some // UNROLLED)) as some_terms:
                first_term = build.add(begun, build.mul(some_terms, constant(UNROLLED)))
                row, starts = build.gep(b, [build.mul(first_term, b_row)]), [build.gep(a, [build.add(first_term, s)]) for s in steps]
                for i in range(UNROLLED):
                    sums.add_at([build.gep(start, [constant(i)]) for start in starts], row)
                    row = build.gep(row, [b_row])
        done = build.mul(whole, constant(some))
        with counted(build, build.sub(terms, done)) as term:
            add(build.add(done, term))
        sums.end()

    return _function(f"run_tile_{dtype}_{rows}x{vectors}{'_by_parts' if by_parts else ''}", emit)


def _if_left(vectors: int) -> str:
    """Where so many vectors are left behind the first `v`, or the most that a tile has."""
    return f"{'if' if vectors == 1 else 'elif'} vectors - v {'>=' if vectors == VECTORS else '=='} {vectors}"


def dispatch_runs(dtype: str) -> Any:
    """products(a, a_row, b, b_row, terms, c, c_row, rows, vectors, first, after, operand, far, far_row): as `dispatch`, where rows of A are
    runs of memory. `after`: where those rows of A are that are read next; `far`: where those of B are, `far_row` elements apart, 0 if these
    are near; `operand`: as `_run_tile` has it. Rows that fill no tile of the full height are left to `dispatch`: how many are done is
    returned."""
    size = dt.size(dtype)
    some = LINE // size
    source = ["def products(a, a_row, b, b_row, terms, c, c_row, rows, vectors, first, after, operand, far, far_row):", "    r = 0",
              # all rows of B are asked for by all tiles together
              f"    each = ({some} + rows // {ROWS} - 1) // max(rows // {ROWS}, 1) if far != 0 else 0",
              f"    while r + {ROWS} <= rows:",
              f"        here = a + r * a_row * {size}",
              f"        ahead = here + {ROWS} * a_row * {size} if r + {2 * ROWS} <= rows else after",
              f"        asked = r // {ROWS} * (terms // {some}) * each",
              "        each = each if asked < terms else 0",
              f"        there = far + asked * far_row * {size}",
              "        v = 0",
              "        while v < vectors:",
              f"            to = c + (r * c_row + v * {lanes(dtype)}) * {size}",
              f"            past = v * {VECTOR_BYTES}",
              f"            if terms >= {SHORT * some} and terms <= {2 * SHORT * some} and vectors - v >= {VECTORS}:",
              "                short_tile(here, a_row, ahead, b + past, b_row, terms, to, c_row, first, operand, there + past, far_row, "
              "each)"]  # fmt: skip
    scope: dict[str, Any] = {"short_tile": _run_tile(dtype, ROWS, VECTORS, True)}
    for vectors in range(1, VECTORS + 1):
        scope[f"tile_{vectors}"] = _run_tile(dtype, ROWS, vectors)
        source += [f"            el{_if_left(vectors).removeprefix('el')}:",
                   f"                tile_{vectors}(here, a_row, ahead, b + past, b_row, terms, to, c_row, first, operand, there + past, "
                   "far_row, each)"]  # fmt: skip
    source += [f"            v += {VECTORS}", f"        r += {ROWS}", "    return r"]
    return from_source("\n".join(source) + "\n", scope)


def dispatch(dtype: str) -> Any:
    """products(a, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, c_row, rows, vectors, first): tiles for any number of
    rows and of vectors; those of the same rows come one after the other."""
    size = dt.size(dtype)
    arguments = "a, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, c_row, rows, vectors, first"
    source = [f"def products({arguments}):", "    r = 0"]
    scope: dict[str, Any] = {}
    for i, height in enumerate(HEIGHTS):
        source += [f"    {'while' if i == 0 else 'if'} r + {height} <= rows:", "        v = 0", "        while v < vectors:",
                   f"            to = c + (r * c_row + v * {lanes(dtype)}) * {size}"]  # fmt: skip
        for vectors in range(1, VECTORS + 1):
            name = f"tile_{height}_{vectors}"
            scope[name] = _tile(dtype, height, vectors)
            source += [f"            {_if_left(vectors)}:",
                       f"                {name}(a + r * a_row * {size}, a_row, a_channel, a_taps, b + v * {VECTOR_BYTES}, b_channel, "
                       "b_taps, channels, taps, to, c_row, first)"]  # fmt: skip
        source += [f"            v += {VECTORS}", f"        r += {height}"]
    return from_source("\n".join(source) + "\n", scope)


def dispatch_row(dtype: str) -> tuple[Any, int]:
    """row(a, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, vectors): one row of C, of as many vectors as the return value
    says, at most `vectors`; and the largest such number."""
    widths = (ROWS, 4, 2, 1)
    source = ["def row(a, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, vectors):"]
    scope: dict[str, Any] = {}
    for vectors in widths:
        scope[f"tile_{vectors}"] = _tile(dtype, 1, vectors)
        source += [f"    if vectors >= {vectors}:",
                   f"        tile_{vectors}(a, 0, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, 0, 1)",
                   f"        return {vectors}"]  # fmt: skip
    source.append("    return 0")
    return from_source("\n".join(source) + "\n", scope), ROWS
