"""Builds a kernel with Python's own syntax.

k = KernelBuilder("row_sum")
x, out = k.input("x", "float32", 2), k.output("out", "float32", 1)
k.set_shape(out, [x.shape[0]])
with k.parallel(x.shape[0]) as i:
    acc = k.var(0.0, "float32")
    with k.loop(x.shape[1]) as j:
        acc.add(x[i * x.shape[1] + j])
    out[i] = acc.get()
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import nodes as n


class TensorRef:
    """A tensor argument: `x[flat_index]` loads, `x[flat_index] = v` stores, `x.shape[axis]` is a size."""

    def __init__(self, builder: KernelBuilder, arg: n.TensorArg, static_shape: Sequence[int]):
        self._builder, self.arg = builder, arg
        self.dtype, self.rank, self.name = arg.dtype, arg.rank, arg.name
        # a size known to be 1 is a constant: it decides the form of the code; other sizes stay run-time values
        self.shape: tuple[Any, ...] = tuple(1 if d == 1 else n.Size(arg.name, i) for i, d in enumerate(static_shape))
        self.static = tuple(static_shape)

    @property
    def size(self) -> Any:
        """The number of elements."""
        total: Any = 1
        for d in self.shape:
            total = total * d
        return total

    def __getitem__(self, index: Any) -> n.Expr:
        return n.Load(self.name, n.as_expr(index), self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._builder.emit(n.Store(self.name, n.as_expr(index), self._builder.typed(value, self.dtype)))

    def atomic_add(self, index: Any, value: Any) -> None:
        self._builder.emit(
            n.Store(self.name, n.as_expr(index), self._builder.typed(value, self.dtype), atomic_add=True)
        )

    def flat(self, index: Sequence[Any]) -> Any:
        """The flat index of a multi-index."""
        total: Any = 0
        for i, d in zip(index, self.shape, strict=True):
            total = total * d + i
        return total


class VarRef:
    """A mutable local scalar."""

    def __init__(self, builder: KernelBuilder, name: str, dtype: str):
        self._builder, self.name, self.dtype = builder, name, dtype

    def get(self) -> n.Expr:
        return n.Name(self.name, self.dtype)

    def set(self, value: Any) -> None:
        self._builder.emit(n.Assign(self.name, self._builder.typed(value, self.dtype)))

    def add(self, term: Any) -> None:
        """Adds a term of a sum whose order is free, as of an op that sums elements."""
        self._builder.emit(n.Assign(self.name, self.get() + self._builder.typed(term, self.dtype), free=True))

    def multiply(self, factor: Any) -> None:
        """Multiplies by a factor of a product whose order is free."""
        self._builder.emit(n.Assign(self.name, self.get() * self._builder.typed(factor, self.dtype), free=True))


class KernelBuilder:
    """Collects the arguments and the statements of one kernel."""

    def __init__(self, label: str):
        self.kernel = n.Kernel(label)
        self._bodies: list[list[Any]] = [self.kernel.body]
        self._count = 0
        self._static: dict[tuple[str, int], int] = {}

    def fresh(self, stem: str) -> str:
        assert stem != "t", "the tensors of a kernel have these names"
        self._count += 1
        return f"{stem}{self._count}"

    def emit(self, stmt: Any) -> None:
        self._bodies[-1].append(stmt)

    @staticmethod
    def typed(value: Any, dtype: str) -> n.Expr:
        """A value as an expression of exactly this dtype; mixing dtypes is an error of the lowering."""
        e = n.as_expr(value)
        if isinstance(e, n.Const) and e.weak:
            return n.cast(e, dtype)
        if e.dtype != dtype:
            raise TypeError(f"{e!r} is {e.dtype}, not {dtype}; cast it")
        return e

    # ---- arguments ----
    def tensor(self, var: str, dtype: str, shape: Sequence[int], written: bool) -> TensorRef:
        """An argument bound to the Program's variable `var`; `shape` is its static shape (-1 = open)."""
        ones = tuple([axis for axis, d in enumerate(shape) if d == 1])
        arg = n.TensorArg(f"t{len(self.kernel.tensors)}", var, dtype, len(shape), written, ones)
        self.kernel.tensors.append(arg)
        self._static.update(((arg.name, axis), d) for axis, d in enumerate(shape) if d != -1)
        return TensorRef(self, arg, shape)

    def input(self, var: str, dtype: str, rank_or_shape: int | Sequence[int]) -> TensorRef:
        shape = (-1,) * rank_or_shape if isinstance(rank_or_shape, int) else rank_or_shape
        return self.tensor(var, dtype, shape, written=False)

    def output(self, var: str, dtype: str, rank_or_shape: int | Sequence[int]) -> TensorRef:
        shape = (-1,) * rank_or_shape if isinstance(rank_or_shape, int) else rank_or_shape
        return self.tensor(var, dtype, shape, written=True)

    def attr(self, value: int | float | bool, dtype: str = n.INDEX) -> n.Expr:
        """A scalar argument: kernels that differ only in its value share their code."""
        name = f"a{len(self.kernel.scalars)}"
        self.kernel.scalars.append(n.ScalarArg(name, dtype, value))
        return n.Attr(name, dtype)

    # ---- statements ----
    def set_shape(self, out: TensorRef, dims: Sequence[Any]) -> None:
        self.emit(n.SetShape(out.name, tuple(n.as_expr(d, n.INDEX) for d in dims)))

    def let(self, value: Any, stem: str = "v") -> n.Expr:
        """Names a value, so that it is computed once."""
        e = n.as_expr(value)
        if isinstance(e, (n.Name, n.Const, n.Attr, n.Size)):
            return e
        name = self.fresh(stem)
        self.emit(n.Let(name, e))
        return n.Name(name, e.dtype)

    def var(self, value: Any, dtype: str, stem: str = "m") -> VarRef:
        name = self.fresh(stem)
        self.emit(n.Var(name, self.typed(value, dtype)))
        return VarRef(self, name, dtype)

    def fail_if(self, cond: n.Expr) -> None:
        """Ends the kernel where the condition holds. A check that the static sizes settle is left out: whoever feeds the kernel
        has compared them, and what cannot fail may write a parameter in place."""
        if self._known(cond) is not False:
            self.emit(n.Fail(cond))

    def _known(self, e: n.Expr) -> Any:
        """The value of an expression on static sizes; None if it is not known before the run."""
        if isinstance(e, n.Const):
            return e.value
        if isinstance(e, n.Size):
            return self._static.get((e.tensor, e.axis))
        if not isinstance(e, n.Binary):
            return None
        a, b = self._known(e.a), self._known(e.b)
        if e.op == "&":
            return False if a is False or b is False else None if a is None or b is None else a and b
        if e.op == "|":
            return True if a is True or b is True else None if a is None or b is None else a or b
        if a is None or b is None:
            return None
        comparisons = {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
        return comparisons.get(e.op)

    def gemm(self, a: TensorRef, b: TensorRef, c: TensorRef, m: Any, n_: Any, k: Any, *, trans_a: bool = False,
             trans_b: bool = False, a_offset: Any = 0, b_offset: Any = 0, c_offset: Any = 0, lda: Any = None,
             ldb: Any = None, ldc: Any = None, add: bool = False,
             finish: Callable[[n.Expr, n.Expr], None] | None = None) -> None:  # fmt: skip
        """C = op(A) @ op(B), or C += it; see `nodes.Gemm`. Leading dims default to packed row-major. `finish` emits what is done to an
        element of C, given its flat offset and its column."""
        ix = lambda v: n.as_expr(v, n.INDEX)  # noqa: E731
        lda = (m if trans_a else k) if lda is None else lda
        ldb = (k if trans_b else n_) if ldb is None else ldb
        ldc = n_ if ldc is None else ldc
        g = n.Gemm(trans_a, trans_b, ix(m), ix(n_), ix(k), a.name, ix(a_offset), ix(lda), b.name, ix(b_offset), ix(ldb), add,
                   c.name, ix(c_offset), ix(ldc))  # fmt: skip
        if finish is not None:
            g.row, g.column = self.fresh("row"), self.fresh("column")
            row, column = n.Name(g.row, n.INDEX), n.Name(g.column, n.INDEX)
            with self._nested(g.body):
                finish(self.let(g.c_offset + row * g.ldc + column), column)
        self.emit(g)

    def routine(self, fn: str, tensors: Sequence[TensorRef], *scalars: Any, writes: Sequence[TensorRef], work: Any = 1) -> None:
        """Calls a routine of the target; see `nodes.RoutineCall`."""
        self.emit(n.RoutineCall(fn, tuple(t.name for t in tensors), tuple(n.as_expr(s, n.INDEX) for s in scalars),
                                tuple(t.name for t in writes), n.as_expr(work, n.INDEX)))  # fmt: skip

    @contextlib.contextmanager
    def _nested(self, body: list[Any]) -> Iterator[None]:
        self._bodies.append(body)
        try:
            yield
        finally:
            self._bodies.pop()

    @contextlib.contextmanager
    def loop(self, stop: Any, start: Any = 0, step: Any = 1, *, parallel: bool = False) -> Iterator[n.Expr]:
        """`for i in range(start, stop, step)`; yields the index."""
        name = self.fresh("i")
        body: list[Any] = []
        with self._nested(body):
            yield n.Name(name, n.INDEX)
        ix = [n.as_expr(v, n.INDEX) for v in (start, stop, step)]
        self.emit(n.For(name, ix[0], ix[1], ix[2], body, parallel))

    @contextlib.contextmanager
    def parallel(self, count: Any) -> Iterator[n.Expr]:
        """The parallel loop over independent iterations: a plain loop on one core, threads of the grid on CUDA."""
        with self.loop(count, parallel=True) as i:
            yield i

    @contextlib.contextmanager
    def when(self, cond: n.Expr) -> Iterator[None]:
        body: list[Any] = []
        with self._nested(body):
            yield
        self.emit(n.When(cond, body))

    @contextlib.contextmanager
    def otherwise(self) -> Iterator[None]:
        """The else branch of the `when` just before it."""
        last = self._bodies[-1][-1]
        if not isinstance(last, n.When):
            raise TypeError("otherwise() must follow when()")
        with self._nested(last.orelse):
            yield

    @contextlib.contextmanager
    def loop_while(self, lasting: bool = False) -> Iterator[tuple[Any, LoopBody]]:
        """`with k.loop_while() as (setup, run):` then `with setup:` computes `run.cond`, `with run:` is the body. `lasting`: see
        `While`."""
        setup: list[Any] = []
        run = LoopBody(self)
        yield self._nested(setup), run
        self.emit(n.While(setup, run.cond, run.statements, lasting))


class LoopBody:
    """The body of a `loop_while`, a context manager; `cond` must be set before the loop ends."""

    cond: n.Expr

    def __init__(self, builder: KernelBuilder):
        self._builder, self.statements = builder, []  # type: ignore[var-annotated]

    def __enter__(self) -> LoopBody:
        self._builder._bodies.append(self.statements)
        return self

    def __exit__(self, *exc: object) -> None:
        self._builder._bodies.pop()
