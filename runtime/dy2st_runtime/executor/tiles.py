"""Register tiles: the innermost loops of convolution and of matrix products, as LLVM code on vectors of the machine's width.

A tile is the product of `rows` rows of A with `vectors` vectors of columns of B, kept in registers while the reduction runs:

    C[r, :] (+)= sum over channels c and taps t of A[a + r * a_row + c * a_channel + a_taps[t]] * B[b + c * b_channel + b_taps[t] + :]

B is read in whole vectors at any address, A element by element, so neither needs another layout than it has: the tables of taps
say where the windows lie. Every operand of every convolution and of its gradients has this form (see `convolution`).

The sizes are those of the BLIS model (Van Zee and van de Geijn, 2015): as many accumulators as the registers hold beside the vectors of B.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

from .. import dtype as dt
from .runs import LINE, SCALARS, ask_line, spread
from .scalars import from_source
from .values import I64, Instruction, counted


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


def _tile(dtype: str, rows: int, vectors: int) -> Instruction:
    """tile(a, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, c_row, first): addresses are in bytes,
    everything else counts elements; `first` != 0 begins with zeros, else with what C holds."""
    scalar, count = SCALARS[dtype], lanes(dtype)
    vector = ir.VectorType(scalar, count)
    name = f"tile_{dtype}_{rows}x{vectors}"

    def define(module: ir.Module) -> ir.Function:
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * 12), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        a, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, c_row, first = function.args
        build = ir.IRBuilder(function.append_basic_block("entry"))
        pointer = lambda address: build.inttoptr(address, scalar.as_pointer())  # noqa: E731
        zero = ir.Constant(I64, 0)

        def places(builder: ir.IRBuilder) -> list[list[Any]]:
            out = []
            for r in range(rows):
                row = builder.gep(c_pointer, [builder.mul(c_row, ir.Constant(I64, r))])
                out.append([builder.bitcast(builder.gep(row, [ir.Constant(I64, v * count)]), vector.as_pointer())
                            for v in range(vectors)])  # fmt: skip
            return out

        a_pointer, b_pointer, c_pointer = pointer(a), pointer(b), pointer(c)
        a_table, b_table = (build.inttoptr(t, I64.as_pointer()) for t in (a_taps, b_taps))
        steps = [build.mul(a_row, ir.Constant(I64, r)) for r in range(rows)]
        targets = places(build)
        for row in targets:
            for place in row:
                ask_line(build, place, 1, 3)
        slots = [[build.alloca(vector) for _ in range(vectors)] for _ in range(rows)]
        with build.if_else(build.icmp_signed("!=", first, zero)) as (then, otherwise):
            with then:
                for row in slots:
                    for slot in row:
                        build.store(ir.Constant(vector, [0.0] * count), slot)
            with otherwise:
                for row, target in zip(slots, targets, strict=True):
                    for slot, place in zip(row, target, strict=True):
                        build.store(build.load(place, align=dt.size(dtype)), slot)
        with (
            counted(build, channels) as channel,
            counted(build, taps) as tap,
        ):
            a_at = build.add(build.mul(channel, a_channel), build.load(build.gep(a_table, [tap])))
            b_at = build.add(build.mul(channel, b_channel), build.load(build.gep(b_table, [tap])))
            a_here, b_here = build.gep(a_pointer, [a_at]), build.gep(b_pointer, [b_at])
            columns = []
            for v in range(vectors):
                place = build.bitcast(build.gep(b_here, [ir.Constant(I64, v * count)]), vector.as_pointer())
                columns.append(build.load(place, align=dt.size(dtype)))
            for r in range(rows):
                value = build.load(build.gep(a_here, [steps[r]]))
                factor = spread(build, value, count)
                for v in range(vectors):
                    product = build.fmul(factor, columns[v], flags=("contract",))
                    build.store(build.fadd(build.load(slots[r][v]), product, flags=("contract",)), slots[r][v])
        for row, target in zip(slots, targets, strict=True):
            for slot, place in zip(row, target, strict=True):
                build.store(build.load(slot), place, align=dt.size(dtype))
        build.ret_void()
        return function

    def emit(builder: Any, *operands: Any) -> None:
        builder.call(builder.module.globals.get(name) or define(builder.module), operands)

    return Instruction(emit)


def _run_tile(dtype: str, rows: int, vectors: int) -> Instruction:
    """run_tile(a, a_row, ahead, b, b_row, terms, c, c_row, first, met, far, far_rows): a tile of which each row of A is a run of memory,
    and B has a row for each term. Meanwhile it asks for what comes from far and is needed soon: the rows of A that are at `ahead`, which
    the next tile reads (weights are read once or a few times in a run, and begin anew with every tile, so that the machine does not foresee
    them); what C meets, which is `met` bytes behind it (0: nothing does); and, for each LINE of A, so many rows of other columns of B, from
    `far` on."""
    scalar, count = SCALARS[dtype], lanes(dtype)
    vector, align = ir.VectorType(scalar, count), dt.size(dtype)
    name, some = f"run_tile_{dtype}_{rows}x{vectors}", LINE // dt.size(dtype)

    def define(module: ir.Module) -> ir.Function:
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * 12), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        a, a_row, ahead, b, b_row, terms, c, c_row, first, met, far, far_rows = function.args
        build = ir.IRBuilder(function.append_basic_block("entry"))
        constant = lambda value: ir.Constant(I64, value)  # noqa: E731
        pointers = (build.inttoptr(address, scalar.as_pointer()) for address in (a, b, c, ahead, far))
        a_pointer, b_pointer, c_pointer, next_pointer, far_pointer = pointers
        steps = [build.mul(a_row, constant(r)) for r in range(rows)]
        targets = []
        for r in range(rows):
            row = build.gep(c_pointer, [build.mul(c_row, constant(r))])
            targets.append([build.bitcast(build.gep(row, [constant(v * count)]), vector.as_pointer()) for v in range(vectors)])
        for row in targets:
            for place in row:
                ask_line(build, place, 1, 3)
        with build.if_then(build.icmp_signed("!=", met, constant(0))):
            for row in targets:
                for place in row:
                    ask_line(build, build.inttoptr(build.add(build.ptrtoint(place, I64), met), place.type), 0, 2)
        slots = [[build.alloca(vector) for _ in range(vectors)] for _ in range(rows)]
        cells = [pair for row, target in zip(slots, targets, strict=True) for pair in zip(row, target, strict=True)]
        with build.if_else(build.icmp_signed("!=", first, constant(0))) as (then, otherwise):
            with then:
                for slot, _ in cells:
                    build.store(ir.Constant(vector, [0.0] * count), slot)
            with otherwise:
                for slot, place in cells:
                    build.store(build.load(place, align=align), slot)

        def add(term: Any) -> None:
            """The products of one column of A and one row of B."""
            a_here, b_here = build.gep(a_pointer, [term]), build.gep(b_pointer, [build.mul(term, b_row)])
            columns = [build.load(build.bitcast(build.gep(b_here, [constant(v * count)]), vector.as_pointer()), align=align)
                       for v in range(vectors)]  # fmt: skip
            for r in range(rows):
                factor = spread(build, build.load(build.gep(a_here, [steps[r]])), count)
                for v in range(vectors):
                    product = build.fmul(factor, columns[v], flags=("contract",))
                    build.store(build.fadd(build.load(slots[r][v]), product, flags=("contract",)), slots[r][v])

        whole = build.sdiv(terms, constant(some))
        with counted(build, whole) as part:
            begun = build.mul(part, constant(some))
            for r in range(rows):
                ask_line(build, build.gep(next_pointer, [build.add(begun, steps[r])]), 0, 3)
            with counted(build, far_rows) as row:
                place = build.mul(build.add(build.mul(part, far_rows), row), b_row)
                for line in range(vectors * VECTOR_BYTES // LINE + 1):
                    ask_line(build, build.gep(far_pointer, [build.add(place, constant(line * some))]), 0, 2)
            with counted(build, constant(some)) as term:
                add(build.add(begun, term))
        done = build.mul(whole, constant(some))
        with counted(build, build.sub(terms, done)) as term:
            add(build.add(done, term))
        for slot, place in cells:
            build.store(build.load(slot), place, align=align)
        build.ret_void()
        return function

    def emit(builder: Any, *operands: Any) -> None:
        builder.call(builder.module.globals.get(name) or define(builder.module), operands)

    return Instruction(emit)


def dispatch_runs(dtype: str) -> Any:
    """products(a, a_row, b, b_row, terms, c, c_row, rows, vectors, first, after, met, far): as `dispatch`, where rows of A are runs of
    memory. `after`: where those rows of A are that are read next; `far`: where those of B are, 0 if these are near; `met`: as `_run_tile`
    has it. Rows that fill no tile of the full height are left to `dispatch`: how many are done is returned."""
    size = dt.size(dtype)
    some = LINE // size
    source = ["def products(a, a_row, b, b_row, terms, c, c_row, rows, vectors, first, after, met, far):", "    r = 0",
              # all rows of B are asked for by all tiles together
              f"    each = ({some} + rows // {ROWS} - 1) // max(rows // {ROWS}, 1) if far != 0 else 0",
              f"    while r + {ROWS} <= rows:",
              f"        here = a + r * a_row * {size}",
              f"        ahead = here + {ROWS} * a_row * {size} if r + {2 * ROWS} <= rows else after",
              f"        asked = r // {ROWS} * (terms // {some}) * each",
              "        each = each if asked < terms else 0",
              f"        there = far + asked * b_row * {size}"]  # fmt: skip
    scope: dict[str, Any] = {}
    for vectors in range(1, VECTORS + 1):
        scope[f"tile_{vectors}"] = _run_tile(dtype, ROWS, vectors)
        source += [f"        {'if' if vectors == 1 else 'elif'} vectors == {vectors}:",
                   f"            tile_{vectors}(here, a_row, ahead, b, b_row, terms, c + r * c_row * {size}, c_row, first, met, there, "
                   "each)"]  # fmt: skip
    source += [f"        r += {ROWS}", "    return r"]
    return from_source("\n".join(source) + "\n", scope)


def dispatch(dtype: str) -> Any:
    """products(a, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, c_row, rows, vectors, first): a tile for `rows` rows
    of any number and up to VECTORS vectors."""
    size = dt.size(dtype)
    arguments = "a, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, c, c_row, rows, vectors, first"
    source = [f"def products({arguments}):", "    r = 0"]
    scope: dict[str, Any] = {}
    for i, height in enumerate(HEIGHTS):
        source.append(f"    {'while' if i == 0 else 'if'} r + {height} <= rows:")
        for vectors in range(1, VECTORS + 1):
            name = f"tile_{height}_{vectors}"
            scope[name] = _tile(dtype, height, vectors)
            source += [f"        {'if' if vectors == 1 else 'elif'} vectors == {vectors}:",
                       f"            {name}(a + r * a_row * {size}, a_row, a_channel, a_taps, b, b_channel, b_taps, channels, taps, "
                       f"c + r * c_row * {size}, c_row, first)"]  # fmt: skip
        source.append(f"        r += {height}")
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
