"""Which work of a kernel threads can share, and how much of it there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import nodes as n
from .evaluate import bodies, stores


def working(kernel: n.Kernel) -> list[Any]:
    """The statements of a kernel that write tensors; what is before them names sizes and checks."""
    return [s for s in kernel.body if stores(s)]


def nest(loop: n.For) -> tuple[list[n.For], list[Any]]:
    """A perfect nest of parallel loops, outermost first, and the names given between them."""
    loops: list[n.For] = [loop]
    between: list[Any] = []
    while True:
        body = loops[-1].body
        inner = body[-1] if body else None
        if not isinstance(inner, n.For) or not inner.parallel or not only_lets(body[:-1]):
            return loops, between
        between += body[:-1]
        loops.append(inner)


def along_memory(body: list[Any]) -> bool:
    """Whether iterations with this body are elements next to one another."""
    return not any(bodies(s) or isinstance(s, n.RoutineCall) for s in body)


def only_lets(body: list[Any]) -> bool:
    return all(isinstance(s, n.Let) for s in body)


def batch_of_products(s: Any) -> bool:
    """Whether a statement is a loop whose iterations are one matrix product each."""
    return isinstance(s, n.For) and bool(s.body) and isinstance(s.body[-1], n.Gemm) and only_lets(s.body[:-1])


def divisible(kernel: n.Kernel) -> Any:
    """The one statement of a kernel that writes, if parts of it can run at the same time, in any order; else None.

    The rest of the kernel can then be run again for each part: it names values that the statement does not change.
    """
    found = working(kernel)
    if len(found) != 1 or found[0] is not kernel.body[-1]:
        return None
    (s,) = found
    if any(isinstance(t, n.NativeCall) for t in _statements(s)):
        return None
    rest = kernel.body[:-1]
    if not all(isinstance(r, (n.Let, n.Fail, n.SetShape)) for r in rest):
        return None
    written = {r.tensor for r in rest if isinstance(r, n.SetShape)} | _written(s)
    if any(load in written for r in rest for e in _expressions(r) for load in _loads(e)):
        return None
    if isinstance(s, n.Gemm):
        return s if s.c not in (s.a, s.b) else None
    if not isinstance(s, n.For) or _number(s.start) != 0 or _number(s.step) != 1:
        return None
    if batch_of_products(s):
        g, inside = s.body[-1], _named(s)
        sizes = (g.m, g.n, g.k)
        return s if g.c not in (g.a, g.b) and not any(name in inside for e in sizes for name in _names(e)) else None
    if not s.parallel or adds(s) or _assigned(s) - _named(s):
        return None
    loops, _ = nest(s)
    if any(_number(loop.start) != 0 or _number(loop.step) != 1 for loop in loops):
        return None
    inside = _named(s)
    return None if any(name in inside for loop in loops for name in _names(loop.stop)) else s


def _number(e: n.Expr) -> Any:
    return e.value if isinstance(e, n.Const) else None


def _statements(s: Any) -> list[Any]:
    """A statement and all inside it."""
    return [s, *(inner for body in bodies(s) for one in body for inner in _statements(one))]


def _written(s: Any) -> set[str]:
    found: set[str] = set()
    for t in _statements(s):
        if isinstance(t, n.RoutineCall):
            found.update(t.writes)
        elif isinstance(t, (n.Store, n.Gemm)):
            found.add(t.tensor if isinstance(t, n.Store) else t.c)
    return found


def adds(s: Any) -> bool:
    """Whether iterations may add to one element: threads would lose additions."""
    return any(isinstance(t, n.Store) and t.atomic_add for t in _statements(s))


def _named(s: Any) -> set[str]:
    """The names that a statement gives."""
    found = {t.name for t in _statements(s) if isinstance(t, (n.Let, n.Var, n.For))}
    return found | {name for t in _statements(s) if isinstance(t, n.Gemm) and t.body for name in (t.row, t.column)}


def _assigned(s: Any) -> set[str]:
    return {t.name for t in _statements(s) if isinstance(t, n.Assign)}


def _expressions(s: Any) -> list[n.Expr]:
    """The expressions that a statement itself evaluates."""
    if isinstance(s, n.SetShape):
        return list(s.dims)
    return [v for v in vars(s).values() if isinstance(v, n.Expr)]


def _parts(e: n.Expr) -> list[n.Expr]:
    """An expression and all inside it."""
    found = [e]
    for part in found:  # which goes on growing
        found += part.inner
    return found


def _loads(e: n.Expr) -> list[str]:
    return [p.tensor for p in _parts(e) if isinstance(p, n.Load)]


def _names(e: n.Expr) -> list[str]:
    return [p.name for p in _parts(e) if isinstance(p, n.Name)]


# ---- how much work ------------------------------------------------------------------------------------------------
# In units of about an eighth of a nanosecond, where the loop is vectorized. It decides only what is worth sharing.

MEMORY, ARITHMETIC, DIVISION, INT_DIVISION = 1.0, 0.2, 1.5, 40.0
VECTOR_CALL, LIBRARY_CALL = 5.0, 100.0
PRODUCT = 0.32
"""For each multiplication of a matrix product: twice what it takes, since what is estimated for loops is the time from memory beyond the
caches, and products are worth sharing sooner."""
VECTORIZED = {("exp", "float32"), ("log", "float32"), ("tanh", "float32"), ("sigmoid", "float32"), ("erf", "float32")}
SIMPLE = {"abs", "sqrt", "rsqrt", "floor", "ceil", "round", "trunc", "isnan", "isinf", "isfinite", "maximum", "minimum", "half"}
UNKNOWN_TRIPS = 16
"""Iterations of an inner loop whose number depends on what the outer one computes."""


def cost(body: list[Any], indices: Sequence[str] = ()) -> n.Expr:
    """The work of a body, as an expression on what is known before the loops that it belongs to, which have these indices."""
    inside: dict[str, n.Expr | None] = dict.fromkeys([*indices, *(name for s in body for name in _named(s))])
    inside.update((t.name, t.value) for s in body for t in _statements(s) if isinstance(t, n.Let))
    fixed, total = _cost(body, inside)
    return n.as_expr(max(1, round(fixed))) + total


def _known(e: n.Expr, inside: dict[str, n.Expr | None]) -> n.Expr | None:
    """An expression that a number is, or is not larger than, on what is known before the loop; None if there is none."""
    if isinstance(e, n.Name) and e.name in inside:
        value = inside[e.name]
        return None if value is None else _known(value, inside)
    if not any(name in inside for name in _names(e)):
        return e
    bounds = [_known(part, inside) for part in (e.a, e.b)] if isinstance(e, n.Binary) and e.op == "min" else []
    return next((bound for bound in bounds if bound is not None), None)


def _cost(body: list[Any], inside: dict[str, n.Expr | None]) -> tuple[float, Any]:
    """The part that is a number, and the rest. `inside`: the names given in the body, with their values where they have one."""
    fixed, terms = 0.0, [n.as_expr(0, n.INDEX)]
    for s in body:
        fixed += sum(map(_expression_cost, _expressions(s))) + (MEMORY if isinstance(s, n.Store) else 0.0)
        if isinstance(s, n.RoutineCall):
            terms.append(s.work)
        if isinstance(s, n.Gemm):
            # two operations for each of m * n * k at 100 GFLOP/s
            bounds = [_known(e, inside) for e in (s.m, s.n, s.k)]
            sizes: list[Any] = [UNKNOWN_TRIPS if bound is None else bound for bound in bounds]
            terms.append(n.as_expr(sizes[0] * sizes[1] * sizes[2], n.INDEX) // round(1 / ARITHMETIC))
            if s.body:
                terms.append(sizes[0] * sizes[1] * cost(s.body, (s.row, s.column)))
            continue
        for inner in bodies(s):
            part, rest = _cost(inner, inside)
            if isinstance(s, (n.For, n.While)):
                trips: Any = n.as_expr(UNKNOWN_TRIPS, n.INDEX)
                if isinstance(s, n.For) and not any(name in inside for e in (s.start, s.step) for name in _names(e)):
                    stop = _known(s.stop, inside)
                    trips = trips if stop is None else (stop - s.start) // s.step
                terms.append(trips * (n.as_expr(max(1, round(part)), n.INDEX) + rest))
            else:
                fixed += part
                terms.append(rest)
    return fixed, n.total(terms)


def _expression_cost(e: n.Expr) -> float:
    total = 0.0
    for p in _parts(e):
        if isinstance(p, n.Load):
            total += MEMORY
        elif isinstance(p, n.Call):
            simple = p.fn in SIMPLE
            total += DIVISION if simple else VECTOR_CALL if (p.fn, p.args[0].dtype) in VECTORIZED else LIBRARY_CALL
        elif isinstance(p, n.Binary) and p.op in ("/", "//", "%"):
            total += DIVISION if p.dtype.startswith("float") else INT_DIVISION
        elif isinstance(p, (n.Binary, n.Unary, n.Select, n.Cast)):
            total += ARITHMETIC
    return total
