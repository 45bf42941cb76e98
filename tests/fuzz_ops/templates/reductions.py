"""Reductions, sorting and sums along an axis."""

from __future__ import annotations

from ..builder import Builder, Var
from .expressions import BINARY, UNARY


def axes(g: Builder, x: Var) -> str:
    """None, an axis or several, as a text."""
    if x.rank == 0 or g.chance(0.15):
        return "None"
    if g.chance(0.45):
        return str(g.rng.randrange(-x.rank, x.rank))
    some = sorted(g.rng.sample(range(x.rank), g.rng.randint(1, x.rank)))
    if g.chance(0.3):
        some = [a - x.rank for a in some]
    if g.chance(0.1):
        g.rng.shuffle(some)
    return str(some)


def fold(g: Builder) -> str:
    x = g.var("any" if g.chance(0.15) else "float")
    op = g.pick(["sum", "sum", "mean", "mean", "max", "min", "prod", "logsumexp", "std", "var", "any", "all", "amax", "amin", "nansum",
                 "nanmean", "count_nonzero", "norm"])  # fmt: skip
    a = axes(g, x)
    inner = x.name
    if op in ("any", "all"):
        inner = f"({x} > 0)" if x.dtype != "bool" else x.name
    elif op == "prod":
        inner = f"({x} * 0.3 + 1.0)"
    elif x.dtype.startswith("float") and g.chance(0.4):
        inner = f"({g.fill(UNARY, X=x)})" if g.chance(0.6) else f"({g.fill(BINARY, A=x, B=lambda: g.partner(x))})"
    more = ", keepdim=True" if g.chance(0.4) else ""
    if op in ("std", "var") and g.chance(0.4):
        more += ", unbiased=False"
    if op == "norm":
        order = "" if a[0] == "[" else ", p=" + g.pick(["1", "2", "3", "float('inf')"])
        return g.new(["paddle.norm(X, axis=A)"], X=inner, A=a + order + more)
    if op == "sum" and g.chance(0.1):
        more += f", dtype={g.pick(['float64', 'float32', 'int64'])!r}"
    return g.new(["paddle.O(X, axis=A)", "X.O(axis=A)"] if op != "nansum" else ["paddle.nansum(X, axis=A)"], X=inner, O=op, A=a + more)


def centered(g: Builder) -> str:
    """A tensor along with a reduction of it."""
    x = g.var(rank=(1, 2, 3, 4))
    patterns = ["X - X.mean(axis=A, keepdim=True)", "X / (X.abs().sum(axis=A, keepdim=True) + 1.0)", "X - X.max(axis=A, keepdim=True)",
                "X * paddle.rsqrt((X * X).mean(axis=A, keepdim=True) + 1e-5)",
                "(X - X.mean(axis=A, keepdim=True)) / (X.std(axis=A, keepdim=True, unbiased=False) + 0.1)",
                "paddle.exp(X.clip(-3, 3)) / paddle.exp(X.clip(-3, 3)).sum(axis=A, keepdim=True)"]  # fmt: skip
    return g.new(patterns, X=x, A=axes(g, x))


def ordered(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3, 4), dtype=g.pick(["float", "float", "float", "int"]))
    a = g.axis(x)
    k = g.rng.randint(1, max(1, min(*x.sizes(a), 5)))
    patterns = ["X.argmax(axis=A)", "paddle.argmin(X, axis=A, keepdim=True)", "X.argmax()", "paddle.argsort(X, axis=A, descending=D)",
                "paddle.sort(X, axis=A, descending=D)", "paddle.topk(X, K, axis=A)[0]", "paddle.topk(X, K, axis=A, largest=D)[1]",
                "paddle.kthvalue(X, K, axis=A)[0]", "paddle.median(X, axis=A)", "X.cumsum(axis=A)", "X.cumsum()",
                "paddle.cumprod(X * 0.1 + 1.0, dim=A)", "paddle.diff(X, axis=A)", "X.max(axis=A) - X.min(axis=A)",
                "paddle.cumsum(X, axis=A).max(axis=A, keepdim=True)"]  # fmt: skip
    return g.new(patterns, X=x, A=a, K=k, D=g.chance(0.5))


def big(g: Builder) -> str:
    shape = g.pick([[4099, 3], [3, 4099], [2, 4099], [1, 8200], [65, 70], [5000], [9000, 1], [17, 16, 33], [300, 2, 17], [2, 1000, 5],
                    [1000, 64]])  # fmt: skip
    x = g.argument([[g.pick([shape[0], b]), *shape[1:]] for b in g.batches] if g.chance(0.5) else [shape] * g.calls)
    inner = g.fill(["X", "(X * Y)", "((X - Y) ** 2)", "paddle.exp(-X.abs())", "F.relu(X + Y)"], X=x, Y=lambda: g.partner(x))
    op = g.pick(["sum", "mean", "max", "min", "logsumexp", "var", "norm", "any", "prod", "argmax", "cumsum", "sort", "softmax"])
    if op in ("argmax", "cumsum", "sort", "softmax"):
        name = "F.softmax" if op == "softmax" else f"paddle.{op}"
        return g.new(["O(X, axis=A)", "O(X, axis=A) * 2"], O=name, X=inner, A=g.axis(x))
    a = axes(g, x)
    if op == "norm" and a[0] == "[":
        a = "None"
    inner = {"any": f"({inner} > 2)", "prod": f"({inner} * 0.001 + 1.0)"}.get(op, inner)
    return g.new(["paddle.O(X, axis=A)", "paddle.O(X, axis=A, keepdim=True)", "paddle.O(X, axis=A) * 2"], O=op, X=inner, A=a)
