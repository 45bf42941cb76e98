"""CUDA: a kernel is a `cuda.jit` function on flat device arrays and their sizes.

The lowering is the CPU's; only the language options differ. The parallel loop (a perfect nest is collapsed into one) becomes a
grid-stride loop; shapes and checks, which on the CPU are part of the kernel, are the host's work (`loopir.evaluate`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import DTypeError
from ..loopir import nodes as n
from ..loopir.evaluate import bodies
from ..loopir.parallel import batch_of_products, nest, working
from .renderer import Language, Renderer


class CudaLanguage(Language):
    """numba-cuda."""

    name = "cuda"
    registers: dict[str, str] = {}
    fail = ("status[0] = 1", "return")

    def header(self, kernel: n.Kernel, name: str) -> list[str]:
        self.tensors = {t.name: t for t in kernel.tensors}
        for t in kernel.tensors:
            if t.dtype == "float16":
                raise DTypeError(f"{kernel.label}: float16 is not supported on CUDA yet", hint="cast to float32")
        arguments = [a for t in kernel.tensors for a in (t.name, *(f"{t.name}_d{i}" for i in range(t.rank)))]
        arguments += [s.name for s in kernel.scalars]
        arguments.append("status")
        return [f"def {name}({', '.join(arguments)}):", f"    # {kernel.label}"]

    def footer(self) -> list[str]:
        return []

    def math(self, fn: str, dtype: str, arguments: list[str]) -> str:
        x = arguments[0]
        if fn in ("isnan", "isinf"):
            return f"math.{fn}({x})"
        if fn == "isfinite":
            return f"(not (math.isnan({x}) or math.isinf({x})))"
        if fn == "abs":
            return f"{dtype}(abs({x}))"
        if fn == "pow" and not dtype.startswith("float"):
            return f"{dtype}({x} ** {arguments[1]})"
        if fn in ("maximum", "minimum"):
            return f"({x} if {x} {'>' if fn == 'maximum' else '<'} {arguments[1]} or {x} != {x} else {arguments[1]})"
        one = f"{dtype}(1.0)"
        if fn == "sigmoid":
            return f"({one} / ({one} + {dtype}(math.exp(-({x})))))"
        if fn == "rsqrt":
            return f"({one} / {dtype}(math.sqrt({x})))"
        if fn == "round":
            return f"{dtype}(rint_{dtype}({x}))"  # Numba's `round` goes through int64, which has no inf and no nan
        return f"{dtype}(math.{fn}({', '.join(arguments)}))"

    def load(self, tensor: str, index: str, dtype: str) -> str:
        return f"{tensor}[{index}]"

    def store(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        return [f"{tensor}[{index}] = {value}"]

    def atomic_add(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        return [f"cuda.atomic.add({tensor}, {index}, {value})"]

    def set_shape(self, tensor: n.TensorArg, dims: Sequence[n.Expr], expr: Callable[[n.Expr], str]) -> list[str]:
        return []  # done by the host; the sizes are arguments

    def parallel_for(self, loop: n.For, render: Callable[[list[Any], int], list[str]], expr: Callable[[n.Expr], str],
                     indent: int) -> list[str]:  # fmt: skip
        loops, between = nest(loop)
        pad = "    " * indent
        counts = [expr(lp.stop) for lp in loops]
        flat = f"{loop.name}_flat"
        lines = [f"{pad}for {flat} in range(cuda.grid(1), {' * '.join(counts)}, cuda.gridsize(1)):"]
        rest = flat
        for lp, count in reversed(list(zip(loops[1:], counts[1:], strict=True))):
            lines.append(f"{pad}    {lp.name} = {rest} % {count}")
            lines.append(f"{pad}    {lp.name}_rest = {rest} // {count}")
            rest = f"{lp.name}_rest"
        lines.append(f"{pad}    {loop.name} = {rest}")
        return [*lines, *render([*between, *loops[-1].body], indent + 1)]

    def gemm(self, g: n.Gemm, render: Callable[[list[Any], int], list[str]], expr: Callable[[n.Expr], str], dtype: str) -> list[str]:
        a, b, c = (expr(e) for e in (g.a_offset, g.b_offset, g.c_offset))
        lda, ldb, ldc = (expr(e) for e in (g.lda, g.ldb, g.ldc))
        a_at = f"({a}) + p * ({lda}) + row" if g.trans_a else f"({a}) + row * ({lda}) + p"
        b_at = f"({b}) + col * ({ldb}) + p" if g.trans_b else f"({b}) + p * ({ldb}) + col"
        columns, at = expr(g.n), f"({c}) + row * ({ldc}) + col"
        return [f"for cell in range(cuda.grid(1), ({expr(g.m)}) * ({columns}), cuda.gridsize(1)):",
                f"    row = cell // ({columns})",
                f"    col = cell % ({columns})",
                f"    total = {dtype}(0.0)",
                f"    for p in range({expr(g.k)}):",
                f"        total += {g.a}[{a_at}] * {g.b}[{b_at}]",
                f"    {g.c}[{at}] {'+=' if g.add else '='} total",
                *([f"    {g.row} = row", f"    {g.column} = col", *render(g.body, 1)] if g.body else [])]  # fmt: skip


def render(kernel: n.Kernel, name: str = "kernel") -> str:
    """The CUDA source of a kernel."""
    return Renderer(CudaLanguage(), kernel).source(name)


def is_parallel(kernel: n.Kernel) -> bool:
    """Whether the threads of a grid may share the work of a kernel; otherwise one thread runs all of it.

    Threads do not wait for one another, so what they share must be all that the kernel writes: a second step could read what
    the first has not written yet.
    """
    statements = working(kernel)
    return len(statements) == 1 and _is_shared(statements[0])


def _is_shared(s: Any) -> bool:
    if isinstance(s, n.Gemm):
        return s.c not in (s.a, s.b)
    if not isinstance(s, n.For):
        return False
    if not s.parallel:  # a batch of products: each cell is one thread's, whatever the others do
        return batch_of_products(s) and _is_shared(s.body[-1])
    loops, _ = nest(s)
    return not any(_divides(b) for b in loops[-1].body)


def _divides(s: Any) -> bool:
    """Whether a part of an iteration is itself shared among the threads."""
    return (
        isinstance(s, n.Gemm)
        or (isinstance(s, n.For) and s.parallel)
        or any(_divides(b) for body in bodies(s) for b in body)
    )


def argument_types(kernel: n.Kernel) -> list[str]:
    """The Numba types of the arguments: `float32[::1]` for a tensor, int64 for its sizes, then the scalars, then the status."""
    types: list[str] = []
    for t in kernel.tensors:
        types += [f"{'boolean' if t.dtype == 'bool' else t.dtype}[::1]", *["int64"] * t.rank]
    return [*types, *("boolean" if s.dtype == "bool" else s.dtype for s in kernel.scalars), "int64[::1]"]
