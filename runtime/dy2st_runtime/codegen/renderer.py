"""Loop IR → Python source: for our own compiler on the CPU (`executor.scalars`), for Numba on CUDA. One renderer; the targets differ by
the options of a `Language` (see cpu.py, cuda.py).

The text is a pure function of the kernel's structure: names are positional, sizes and attributes are run-time values, and nothing
of a model (no variable name, no string) gets into it. So equal kernels of different models share one compiled
object, and a model file cannot reach the generated source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..loopir import nodes as n


class Language:
    """What a target spells differently. The defaults are those of plain Python with NumPy arrays."""

    name = "python"

    # -- language options --
    registers: dict[str, str] = {"float16": "float32"}
    """dtype in memory → dtype of computation, where they differ."""
    fail: tuple[str, ...] = ("return 1",)
    """The statements that end the kernel with a failure."""

    def register(self, dtype: str) -> str:
        return self.registers.get(dtype, dtype)

    def header(self, kernel: n.Kernel, name: str) -> list[str]:
        """The `def` line and the statements that unpack the arguments."""
        raise NotImplementedError

    def footer(self) -> list[str]:
        """The statements that end the kernel."""
        raise NotImplementedError

    def size(self, tensor: str, axis: int) -> str:
        return f"{tensor}_d{axis}"

    def math(self, fn: str, dtype: str, arguments: list[str]) -> str:
        """A call of a math function for operands of this dtype."""
        return f"{fn}_{dtype}({', '.join(arguments)})"

    def sum(self, parts: list[str], dtype: str) -> str:
        """A sum so far and its next term, or the factors of that, where the order of the terms is free."""
        return f"({parts[0]} + {' * '.join(parts[1:])})"

    def product(self, total: str, factor: str, dtype: str) -> str:
        """A product so far and its next factor, where their order is free."""
        return f"({total} * {factor})"

    def load(self, tensor: str, index: str, dtype: str) -> str:
        raise NotImplementedError

    def store(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        raise NotImplementedError

    def atomic_add(self, tensor: str, index: str, value: str, dtype: str) -> list[str]:
        raise NotImplementedError

    def set_shape(self, tensor: n.TensorArg, dims: Sequence[n.Expr], expr: Callable[[n.Expr], str]) -> list[str]:
        raise NotImplementedError

    def parallel_for(self, loop: n.For, render: Callable[[list[Any], int], list[str]], expr: Callable[[n.Expr], str],
                     indent: int) -> list[str]:  # fmt: skip
        """A parallel loop; here one after the other."""
        pad = "    " * indent
        return [f"{pad}for {loop.name} in range({expr(loop.start)}, {expr(loop.stop)}, {expr(loop.step)}):",
                *render(loop.body, indent + 1)]  # fmt: skip

    def look(self) -> list[str]:
        """What an iteration of a loop that may last does to end for a signal."""
        return []

    def divided(self, renderer: Renderer) -> list[str] | None:
        """The last statement of a kernel, as a part that the arguments name; None: it is rendered as any other."""
        return None

    def native_call(self, fn: str, arguments: list[str]) -> list[str]:
        raise NotImplementedError

    def routine_call(self, fn: str, tensors: list[str], scalars: list[str]) -> list[str]:
        raise NotImplementedError

    def gemm(self, g: n.Gemm, render: Callable[[list[Any], int], list[str]], expr: Callable[[n.Expr], str], dtype: str) -> list[str]:
        raise NotImplementedError


class Renderer:
    """Renders one kernel in one language."""

    def __init__(self, language: Language, kernel: n.Kernel):
        self.language, self.kernel = language, kernel
        self.tensors = {t.name: t for t in kernel.tensors}

    def source(self, name: str) -> str:
        """The whole function as text, ending in a line break."""
        lines = self.language.header(self.kernel, name)
        divided = self.language.divided(self)
        if divided is None:
            lines += self.body(self.kernel.body, 1)
        else:
            lines += [*(self.body(self.kernel.body[:-1], 1) if len(self.kernel.body) > 1 else []), *divided]
        lines += ["    " + line for line in self.language.footer()]
        return "\n".join(lines) + "\n"

    # ---- statements ----
    def body(self, statements: list[Any], indent: int) -> list[str]:
        pad = "    " * indent
        lines: list[str] = []
        for s in statements:
            lines += self.statement(s, indent, pad)
        return lines or [pad + "pass"]

    def statement(self, s: Any, indent: int, pad: str) -> list[str]:
        language, expr = self.language, self.expr
        if isinstance(s, n.Assign) and s.free and s.value.dtype.startswith("float"):
            assert isinstance(s.value, n.Binary)
            total, term = s.value.a, s.value.b
            register = language.register(total.dtype)
            if s.value.op == "*":
                return [f"{pad}{s.name} = {language.product(expr(total), self.typed(term), register)}"]
            factors = [term.a, term.b] if isinstance(term, n.Binary) and term.op == "*" else [term]
            return [f"{pad}{s.name} = {language.sum([expr(total), *map(self.typed, factors)], register)}"]
        if isinstance(s, (n.Let, n.Var, n.Assign)):
            return [f"{pad}{s.name} = {self.typed(s.value)}"]
        if isinstance(s, n.Store):
            dtype = self.tensors[s.tensor].dtype
            write = language.atomic_add if s.atomic_add else language.store
            return [pad + line for line in write(s.tensor, expr(s.index), self.typed(s.value), dtype)]
        if isinstance(s, n.For):
            if s.parallel:
                return language.parallel_for(s, self.body, expr, indent)
            step = "" if isinstance(s.step, n.Const) and s.step.value == 1 else f", {expr(s.step)}"
            start = "" if isinstance(s.start, n.Const) and s.start.value == 0 and not step else f"{expr(s.start)}, "
            return [f"{pad}for {s.name} in range({start}{expr(s.stop)}{step}):", *self.body(s.body, indent + 1)]
        if isinstance(s, n.While):
            inner = self.body(s.setup, indent + 1) if s.setup else []
            look = [f"{pad}    {line}" for line in language.look()] if s.lasting else []
            return [f"{pad}while True:", *inner, f"{pad}    if not {expr(s.cond)}:", f"{pad}        break",
                    *look, *self.body(s.body, indent + 1)]  # fmt: skip
        if isinstance(s, n.When):
            lines = [f"{pad}if {expr(s.cond)}:", *self.body(s.body, indent + 1)]
            return [*lines, f"{pad}else:", *self.body(s.orelse, indent + 1)] if s.orelse else lines
        if isinstance(s, n.Fail):
            return [f"{pad}if {expr(s.cond)}:", *(f"{pad}    {line}" for line in language.fail)]
        if isinstance(s, n.SetShape):
            return [pad + line for line in language.set_shape(self.tensors[s.tensor], s.dims, expr)]
        if isinstance(s, n.NativeCall):
            return [pad + line for line in language.native_call(s.fn, [*s.tensors, *map(expr, s.scalars)])]
        if isinstance(s, n.RoutineCall):
            return [pad + line for line in language.routine_call(s.fn, list(s.tensors), [expr(e) for e in s.scalars])]
        if isinstance(s, n.Gemm):
            return [pad + line for line in language.gemm(s, self.body, expr, self.tensors[s.c].dtype)]
        raise TypeError(f"no statement of the loop IR: {s!r}")

    # ---- expressions ----
    def typed(self, e: n.Expr) -> str:
        """An expression whose type is exactly its dtype, also where Python's operators would widen it."""
        text = self.expr(e)
        if isinstance(e, (n.Const, n.Name, n.Attr, n.Size, n.Load, n.Cast, n.Call)):
            return text
        return text if self.exact(e) else f"{self.language.register(e.dtype)}({text})"

    def exact(self, e: n.Expr) -> bool:
        """Whether the target's operators on this dtype give the same dtype; Numba widens small ints."""
        return e.dtype in ("float16", "float32", "float64", "int64", "bool")

    def expr(self, e: n.Expr) -> str:
        language = self.language
        if isinstance(e, n.Const):
            return self.const(e)
        if isinstance(e, (n.Name, n.Attr)):
            return e.name
        if isinstance(e, n.Size):
            return language.size(e.tensor, e.axis)
        if isinstance(e, n.Load):
            return language.load(e.tensor, self.expr(e.index), e.dtype)
        if isinstance(e, n.Unary):
            text = f"({e.op} {self.expr(e.a)})" if e.op == "not" else f"({e.op}{self.expr(e.a)})"
            return text if self.exact(e) else f"{e.dtype}{text}"
        if isinstance(e, n.Binary):
            return self.binary(e)
        if isinstance(e, n.Select):
            return f"({self.typed(e.a)} if {self.expr(e.cond)} else {self.typed(e.b)})"
        if isinstance(e, n.Cast):
            if e.dtype == "bool":
                return f"({self.expr(e.a)} != {self.const(n.Const(0, e.a.dtype))})"
            return f"{language.register(e.dtype)}({self.expr(e.a)})"
        if isinstance(e, n.Call):
            return language.math(e.fn, language.register(e.args[0].dtype), [self.typed(a) for a in e.args])
        raise TypeError(f"no expression of the loop IR: {e!r}")

    def binary(self, e: n.Binary) -> str:
        a, b = self.expr(e.a), self.expr(e.b)
        is_plain = e.op in ("+", "|") and (e.dtype == "bool" or self.exact(e))
        if is_plain and isinstance(e.a, n.Binary) and (e.a.op, e.a.dtype) == (e.op, e.dtype):
            a = a[1:-1]  # Python adds from the left too, and reads no more than 200 parentheses in each other
        if e.op in ("min", "max"):
            sign = "<" if e.op == "min" else ">"
            return f"({self.typed(e.a)} if {a} {sign} {b} else {self.typed(e.b)})"
        if e.dtype == "bool" and e.op in ("&", "|"):
            # both sides are scalars without side effects, so the logical form is the same and vectorizes
            return f"({a} {'and' if e.op == '&' else 'or'} {b})"
        if e.dtype == "bool" and e.op == "^":
            return f"({a} != {b})"
        text = f"({a} {e.op} {b})"
        if e.dtype == "bool" or self.exact(e):
            return text
        return f"{e.dtype}{text}"

    def const(self, e: n.Const) -> str:
        if e.dtype == "bool":
            return "True" if e.value else "False"
        if e.dtype.startswith("float"):
            value = float(e.value)
            register = self.language.register(e.dtype)
            if value != value or value in (float("inf"), float("-inf")):
                return f"{register}({'nan' if value != value else 'inf' if value > 0 else '-inf'})"
            return f"{register}({value!r})" if register != "float64" else repr(value)
        return repr(int(e.value)) if e.dtype == "int64" else f"{e.dtype}({int(e.value)})"
