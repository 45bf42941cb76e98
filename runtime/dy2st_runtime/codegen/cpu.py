"""The CPU: a kernel is `int64 kernel(int64 args)`; `args` is the address of its argument record.

The record holds the address of each tensor's descriptor, then the scalar arguments, 8 bytes each. The layout of descriptors is in
`layout`. Elements are read and written through `ld_*`/`st_*` on plain addresses: no array objects, no wrap-around of
negative indices, nothing that allocates.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import dtype as dt
from ..loopir import nodes as n
from . import layout
from .renderer import Language, Renderer


class CpuLanguage(Language):
    """Numba on the CPU.

    Args:
        bounds: check every element access (DY2ST_CHECKS).
        views: output argument → input argument whose elements it shows.
    """

    name = "cpu"
    fail = (f"return {layout.FAILED}",)

    def __init__(self, bounds: bool = False, views: dict[str, str] | None = None):
        self.bounds, self.views = bounds, views or {}

    def header(self, kernel: n.Kernel, name: str) -> list[str]:
        lines = [f"def {name}(args):", f"    # {kernel.label}"]
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

    def load(self, tensor: str, index: str, dtype: str) -> str:
        return f"ld_{dtype}({tensor}_p, {self._index(tensor, index)})"

    def store(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        return [f"st_{dtype}({tensor}_p, {self._index(tensor, index)}, {value})"]

    def atomic_add(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        at = self._index(tensor, index)
        return [f"st_{dtype}({tensor}_p, {at}, ld_{dtype}({tensor}_p, {at}) + {value})"]

    def set_shape(self, tensor: n.TensorArg, dims: list[str]) -> list[str]:
        name = tensor.name
        lines = [f"{name}_d{a} = {d}" for a, d in enumerate(dims)]
        lines += [f"st_int64({name}, {layout.DIMS + a}, {name}_d{a})" for a in range(len(dims))]
        lines += self._numel(name, len(dims), 0)
        if name in self.views:
            source = self.views[name]
            return [
                *lines,
                f"{name}_p = {source}_p",
                f"st_int64({name}, {layout.DATA}, {name}_p)",
                f"st_int64({name}, {layout.STATE}, 1)",
            ]
        numel = " * ".join(f"{name}_d{a}" for a in range(len(dims))) or "1"
        lines.append(f"{name}_p = reserve({name}, ({numel}) * {dt.size(tensor.dtype)})")
        lines += [f"if {name}_p == 0:", f"    return {layout.NO_MEMORY}"]
        return lines

    def native_call(self, fn: str, arguments: list[str]) -> list[str]:
        return [f"status = {fn}({', '.join(arguments)})", "if status != 0:", "    return status"]

    def gemm(self, g: n.Gemm, expr: Callable[[n.Expr], str], dtype: str) -> list[str]:
        if dtype not in ("float32", "float64"):
            raise TypeError(f"gemm of {dtype}: the lowering casts to float32")
        size = dt.size(dtype)
        address = lambda t, off: f"{t}_p + ({expr(off)}) * {size}"  # noqa: E731
        arguments = [repr(int(g.trans_a)), repr(int(g.trans_b)), expr(g.m), expr(g.n), expr(g.k), expr(g.alpha),
                     address(g.a, g.a_offset), expr(g.lda), address(g.b, g.b_offset), expr(g.ldb), expr(g.beta),
                     address(g.c, g.c_offset), expr(g.ldc)]  # fmt: skip
        return [f"gemm_{dtype}({', '.join(arguments)})"]


def render(kernel: n.Kernel, name: str = "kernel", bounds: bool = False, views: dict[str, str] | None = None) -> str:
    """The CPU source of a kernel. `views`: output variable → input variable whose elements it shows."""
    arguments = {t.var: t.name for t in kernel.tensors}
    by_argument = {arguments[out]: arguments[source] for out, source in (views or {}).items()}
    return Renderer(CpuLanguage(bounds, by_argument), kernel).source(name)
