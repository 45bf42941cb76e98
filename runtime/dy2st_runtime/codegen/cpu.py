"""The CPU: a kernel is `int64 kernel(int64 args, int64 start, int64 stop)`; `args` is the address of its argument record.

With a negative `stop` it does all of its work; but if that is at least `-stop` and can be divided, it only sets the shapes, notes how many
iterations there are, and returns DIVIDE. The driver then has it called for parts of them, from `start` to before `stop`, by several threads
at once. Work is measured in the unit of `loopir.parallel`.

The record holds the address of each tensor's descriptor, then the scalar arguments, 8 bytes each. The layout of descriptors is in
`layout`. Elements are read and written through `ld_*`/`st_*` on plain addresses: no array objects, no wrap-around of
negative indices, nothing that allocates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import dtype as dt
from ..loopir import nodes as n
from ..loopir.parallel import PRODUCT, adds, along_memory, batch_of_products, cost, divisible, nest
from . import layout
from .renderer import Language, Renderer

CHUNKS_OF_LOOP, CHUNKS_OF_PRODUCT = 16, 1
"""Chunks for each thread: with more, a thread that loses its core holds up the others less; a product loses speed with each part."""
WHOLE = 1 << 19
"""A product of fewer multiplications, 10 microseconds, is not divided (a batch of them is)."""
LOOK = 1 << 16
"""Iterations of a loop on scalars after which it looks for signals: some 0.1 milliseconds."""
NEAR = 16
"""Parts of a product after which what follows is done to them."""


class CpuLanguage(Language):
    """The language of `executor.scalars`.

    Args:
        bounds: check every element access (DY2ST_CHECKS).
        views: output argument → input argument whose elements it shows.
    """

    name = "cpu"
    fail = (f"return {layout.FAILED}",)

    def __init__(self, bounds: bool = False, views: dict[str, str] | None = None):
        self.bounds, self.views = bounds, views or {}

    def header(self, kernel: n.Kernel, name: str) -> list[str]:
        self.parts = divisible(kernel)
        self.tensors = kernel.tensors
        self.given = [t for t in kernel.tensors if not self._sets_shape(kernel, t.name)]
        lines = [f"def {name}(args, start, stop):"]
        if n.holds_lasting(kernel.body):
            lines.append(f"    left = {LOOK}")
        for i, t in enumerate(kernel.tensors):
            lines.append(f"    {t.name} = ld_int64(args, {i})")
            if not self._sets_shape(kernel, t.name):
                lines.append(f"    {t.name}_p = ld_int64({t.name}, {layout.DATA})")
                lines += [f"    {t.name}_d{a} = ld_int64({t.name}, {layout.DIMS + a})" for a in range(t.rank)]
                lines += self._numel(t.name, t.rank, 1)
        for i, s in enumerate(kernel.scalars):
            at = len(kernel.tensors) + i
            if s.dtype.startswith("float"):
                lines.append(f"    {s.name} = {self.register(s.dtype)}(ld_float64(args, {at}))")
            elif s.dtype == "bool":
                lines.append(f"    {s.name} = ld_int64(args, {at}) != 0")
            else:
                lines.append(f"    {s.name} = {'' if s.dtype == 'int64' else s.dtype}(ld_int64(args, {at}))")
        return lines

    @staticmethod
    def _sets_shape(kernel: n.Kernel, tensor: str) -> bool:
        return any(isinstance(s, n.SetShape) and s.tensor == tensor for s in kernel.body)

    def _numel(self, tensor: str, rank: int, indent: int) -> list[str]:
        if not self.bounds:
            return []
        return [f"{'    ' * indent}{tensor}_n = {' * '.join(f'{tensor}_d{a}' for a in range(rank)) or '1'}"]

    def footer(self) -> list[str]:
        return [f"return {layout.OK}"]

    def _index(self, tensor: str, index: str) -> str:
        return f"checked(args, {index}, {tensor}_n)" if self.bounds else index

    def sum(self, parts: list[str], dtype: str) -> str:
        return f"{'sum' if len(parts) == 2 else 'sum_product'}_{dtype}({', '.join(parts)})"

    def product(self, total: str, factor: str, dtype: str) -> str:
        return f"product_{dtype}({total}, {factor})"

    def load(self, tensor: str, index: str, dtype: str) -> str:
        return f"ld_{dtype}({tensor}_p, {self._index(tensor, index)})"

    def store(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        return [f"st_{dtype}({tensor}_p, {self._index(tensor, index)}, {value})"]

    def atomic_add(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        at = self._index(tensor, index)
        return [f"st_{dtype}({tensor}_p, {at}, ld_{dtype}({tensor}_p, {at}) + {value})"]

    def set_shape(self, tensor: n.TensorArg, dims: Sequence[n.Expr], expr: Callable[[n.Expr], str]) -> list[str]:
        name, size = tensor.name, dt.size(tensor.dtype)
        lines = [f"{name}_d{a} = {expr(d)}" for a, d in enumerate(dims)]
        lines += self._numel(name, len(dims), 0)
        like = next((t for t in self.given if _is_shape_of(dims, t)), None)
        if like is not None:  # kernels of any rank are one then
            once, room = [], f"like{words_of(like.rank)}({name}, {like.name}, {size})"
        else:
            once = [f"st_int64({name}, {layout.DIMS + a}, {name}_d{a})" for a in range(len(dims))]
            room = f"room({', '.join([*(f'{name}_d{a}' for a in range(len(dims))), str(size)])})"
        if name in self.views:
            once += [room] if like is not None else []
            once += [f"st_int64({name}, {layout.DATA}, {self.views[name]}_p)", f"st_int64({name}, {layout.STATE}, 1)"]
        else:
            once += [f"if call_reserve({name}, {room}) == 0:", f"    return {layout.NO_MEMORY}"]
        lines += ["if stop < 0:", *("    " + line for line in once)] if self.parts else once
        return [*lines, f"{name}_p = ld_int64({name}, {layout.DATA})"]

    def parallel_for(self, loop: n.For, render: Callable[[list[Any], int], list[str]], expr: Callable[[n.Expr], str],
                     indent: int) -> list[str]:  # fmt: skip
        """One iteration after the other, in any order, unless several of them may add to one element."""
        over = "range" if adds(loop) else "independent"
        return [f"{'    ' * indent}for {loop.name} in {over}({expr(loop.start)}, {expr(loop.stop)}, {expr(loop.step)}):",
                *render(loop.body, indent + 1)]  # fmt: skip

    def native_call(self, fn: str, arguments: list[str]) -> list[str]:
        return [f"status = call_{fn}({', '.join(arguments)})", "if status != 0:", "    return status"]

    def routine_call(self, fn: str, tensors: list[str], scalars: list[str]) -> list[str]:
        return [f"call_{fn}({', '.join([*(f'{t}_p' for t in tensors), *scalars])})"]

    def gemm(self, g: n.Gemm, render: Callable[[list[Any], int], list[str]], expr: Callable[[n.Expr], str], dtype: str) -> list[str]:
        return [f"{self._product(g, expr, dtype)}, 1, 0, 1)",
                *(self._finish(g, render, "0", expr(g.m), "0", expr(g.n)) if g.body else [])]  # fmt: skip

    @staticmethod
    def _finish(g: n.Gemm, render: Callable[[list[Any], int], list[str]], top: str, bottom: str, left: str, right: str) -> list[str]:
        """What is done to the elements of a part of a product."""
        return [f"for {g.row} in range({top}, {bottom}):", f"    for {g.column} in range({left}, {right}):", *render(g.body, 2)]

    @staticmethod
    def _product(g: n.Gemm, expr: Callable[[n.Expr], str], dtype: str) -> str:
        """The call of the routine, up to the parts of the product that it does."""
        if dtype not in ("float32", "float64"):
            raise TypeError(f"gemm of {dtype}: the lowering casts to float32")
        size = dt.size(dtype)
        address = lambda t, off: f"{t}_p + ({expr(off)}) * {size}"  # noqa: E731
        arguments = (repr(int(g.trans_a)), repr(int(g.trans_b)), expr(g.m), expr(g.n), expr(g.k), address(g.a, g.a_offset), expr(g.lda),
                     address(g.b, g.b_offset), expr(g.ldb), repr(int(g.add)), address(g.c, g.c_offset), expr(g.ldc))  # fmt: skip
        return f"call_product_{dtype}({', '.join(arguments)}"

    def look(self) -> list[str]:
        return ["left -= 1", "if left == 0:", f"    if call_look(ld_int64(args, {layout.SIGNALS})) != 0:",
                f"        return {layout.INTERRUPTED}", f"    left = {LOOK}"]  # fmt: skip

    # ---- parts of the work ----
    def divided(self, renderer: Renderer) -> list[str] | None:
        s = self.parts
        if s is None:
            return None
        lines = self._products(s, renderer) if isinstance(s, n.Gemm) or batch_of_products(s) else self._iterations(s, renderer)
        return ["    " + line for line in lines]

    @staticmethod
    def _ask(count: str, work: str, flat: bool, chunks: int) -> list[str]:
        """Takes all the iterations where no part is asked for, if they are little work."""
        return ["if stop < 0:",
                f"    count, work = {count}, {work}",
                "    if count * work >= -stop:",
                f"        st_int64(args, {layout.ITERATIONS}, count)",
                f"        st_int64(args, {layout.WORK}, work)",
                f"        st_int64(args, {layout.FLAT}, {int(flat)})",
                f"        st_int64(args, {layout.CHUNKS}, {chunks})",
                f"        return {layout.DIVIDE}",
                "    stop = count"]  # fmt: skip

    def _iterations(self, s: n.For, renderer: Renderer) -> list[str]:
        """A loop; of a nest of loops the rows, those of the innermost loop, are divided."""
        expr = renderer.expr
        loops, between = nest(s)
        outer, body = ([s], s.body) if len(loops) == 1 else (loops[:-1], [*between, loops[-1]])
        work = expr(cost(body, [loop.name for loop in outer]))
        lines = self._ask(" * ".join(self._count(loop.stop, expr) for loop in outer), work, along_memory(body), CHUNKS_OF_LOOP)
        if len(outer) == 1:
            return [*lines, f"for {s.name} in independent(start, stop):", *renderer.body(body, 1)]
        lines += ["for flat in range(start, stop):", "    rest = flat"]
        for loop in outer[:0:-1]:
            lines += [f"    {loop.name} = rest % {expr(loop.stop)}", f"    rest = rest // {expr(loop.stop)}"]
        return [*lines, f"    {s.name} = rest", *renderer.body(body, 1)]

    def _count(self, e: n.Expr, expr: Callable[[n.Expr], str]) -> str:
        """A number of iterations; where it is that of a tensor's elements, whatever its rank is."""
        whole = next((t for t in self.tensors if t.rank and _is_size_of(e, t)), None)
        return expr(e) if whole is None else f"elements{words_of(whole.rank)}({whole.name})"

    def _products(self, s: Any, renderer: Renderer) -> list[str]:
        """Matrix products; an iteration is a part of one of them: a number of its columns, or rows if these are more."""
        g = s if isinstance(s, n.Gemm) else s.body[-1]
        expr, dtype = renderer.expr, renderer.tensors[g.c].dtype
        m, columns = expr(g.m), expr(g.n)
        inner = expr(g.k) if not g.body else f"({expr(g.k)} + {round(1 / PRODUCT)} * {expr(cost(g.body, (g.row, g.column)))})"
        lines = [f"size = {m} * {columns} * {inner}",
                 f"parts = 1 if size < {WHOLE} else (max({m}, {columns}) - 1) // {layout.PRODUCT_PART} + 1"]  # fmt: skip
        count = "parts" if s is g else f"({expr(s.stop)}) * parts"
        work = f"max(1, size * {round(100 * PRODUCT)} // (100 * parts))"
        lines += self._ask(count, work, False, CHUNKS_OF_PRODUCT)
        call = self._product(g, expr, dtype)
        if s is g and not g.body:
            return [*lines, f"{call}, parts, start, stop)"]
        # what is done to elements is done while they are in a cache
        most = f"min(parts, {{}} + {NEAR})" if g.body else "parts"
        if s is g:
            lines += ["while start < stop:", "    first = start", f"    last = min({most.format('first')}, stop)"]
        else:
            lines += ["while start < stop:",
                      f"    {s.name} = start // parts",
                      f"    first = start - {s.name} * parts",
                      f"    last = min({most.format('first')}, first + stop - start)",
                      *(renderer.body(s.body[:-1], 1) if s.body[:-1] else [])]  # fmt: skip
        lines.append(f"    {call}, parts, first, last)")
        if g.body:
            part = layout.PRODUCT_PART
            lines += [f"    top, bottom, left, right = 0, {m}, 0, {columns}",
                      "    if last - first < parts:",
                      f"        if {m} > {columns}:",
                      f"            top, bottom = first * {part}, min({m}, last * {part})",
                      "        else:",
                      f"            left, right = first * {part}, min({columns}, last * {part})",
                      *("    " + line for line in self._finish(g, renderer.body, "top", "bottom", "left", "right"))]  # fmt: skip
        return [*lines, "    start += last - first"]


def words_of(rank: int) -> int:
    """The sizes that a descriptor of this rank is looked at for; those beyond the rank are 1."""
    return layout.FEW_DIMS if rank <= layout.FEW_DIMS else layout.MAX_RANK


def _is_shape_of(dims: Sequence[n.Expr], t: n.TensorArg) -> bool:
    """Whether sizes are those of a tensor argument, of which no kernel has the sizes of more than one by chance."""
    return 0 < len(dims) == t.rank and all(
        (isinstance(d, n.Size) and (d.tensor, d.axis) == (t.name, axis)) or (axis in t.ones and isinstance(d, n.Const) and d.value == 1)
        for axis, d in enumerate(dims)
    )


def _is_size_of(e: n.Expr, t: n.TensorArg) -> bool:
    """Whether an expression is the product of all sizes of a tensor argument that are not known to be 1."""
    factors, axes = [e], []
    while factors:
        f = factors.pop()
        if isinstance(f, n.Binary) and f.op == "*":
            factors += [f.a, f.b]
        elif isinstance(f, n.Size) and f.tensor == t.name:
            axes.append(f.axis)
        else:
            return False
    return sorted(axes) == [axis for axis in range(t.rank) if axis not in t.ones]


def render(kernel: n.Kernel, name: str = "kernel", bounds: bool = False, views: dict[str, str] | None = None) -> str:
    """The CPU source of a kernel. `views`: output variable → input variable whose elements it shows."""
    return _without_unread(Renderer(CpuLanguage(bounds, by_argument(kernel, views or {})), kernel).source(name))


_OF_TENSOR = re.compile(r"\bt\d+(?:_\w+)?\b")
"""A descriptor, or something of it: `t0`, `t0_p`, `t0_d1`, `t0_n`."""


def _without_unread(source: str) -> str:
    """The source without what it takes from descriptors and does not read: kernels that differ only in that become one."""
    read: set[str] = set()
    kept = []
    for line in reversed(source.splitlines(keepends=True)):
        # each of these names has one value, so what reads it stands behind; where the value comes from may be unread then too
        name, is_value, _ = line.strip().partition(" = ")
        if not is_value or not _OF_TENSOR.fullmatch(name):
            read.update(_OF_TENSOR.findall(line))
        elif name in read:
            read.update(_OF_TENSOR.findall(line.partition(" = ")[2]))
        else:
            continue
        kept.append(line)
    return "".join(reversed(kept))


def by_argument(kernel: n.Kernel, views: Mapping[str, str]) -> dict[str, str]:
    """Views of variables as views of the arguments that stand for them."""
    arguments = {t.var: t.name for t in kernel.tensors}
    return {arguments[out]: arguments[source] for out, source in views.items()}
