"""Products of matrices, with what their kernels compute on the way."""

from __future__ import annotations

from ..builder import Builder, Var
from .expressions import ACTIVATIONS, and_more


def linear(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3, 4), where=lambda v: v.fixed(v.rank - 1))
    k, n = x.shape[-1], g.size()
    patterns = ["X @ W", "paddle.matmul(X, W)", "F.linear(X, W)", "paddle.matmul(X, U, transpose_y=True)"]
    text = g.fill(patterns, X=x, W=lambda: g.weight(k, n, dtype=x.dtype), U=lambda: g.weight(n, k, dtype=x.dtype))
    if g.chance(0.6):
        text += f" + {g.weight(*g.pick([[n], [1], [1, n], []]), dtype=x.dtype)}"
    if g.chance(0.2):
        text = g.fill(["(Y) * 0.5", "(Y) * 2", "(Y) * B"], Y=text, B=lambda: g.weight(n, dtype=x.dtype))
    text = g.fill(ACTIVATIONS, Y=text)
    return g.new(["Y", "Y", "Y + X"] if n == k else ["Y"], Y=text, X=x)


def product(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3, 4))
    fits = [(y, tx, ty) for y in g.vars for tx in (False, True) for ty in (False, True) if inner_fits(x, y, tx, ty)]
    if fits and g.chance(0.6):
        y, tx, ty = g.pick(fits)
    else:
        tx, ty, n = x.rank > 1 and g.chance(0.3), g.chance(0.3), g.size()
        ones, cut = [g.chance(0.25) for _ in range(x.rank)], g.rng.randint(0, max(x.rank - 2, 0))
        shapes = []
        for s in x.shapes:
            k = s[-2] if tx else s[-1]
            batch = [1 if one else d for one, d in zip(ones, s[:-2], strict=False)][cut:]
            shapes.append([*batch, n, k] if ty else [*batch, k, n])
        y = g.argument(shapes, x.dtype)
    text = f"paddle.matmul({x}, {y}{', transpose_x=True' * tx}{', transpose_y=True' * ty})"
    if not tx and not ty and g.chance(0.5):
        text = f"({x} @ {y})"
    return f"{g.name()} = {g.fill(ACTIVATIONS, Y=text + g.pick(['', '', ' * 0.25', ' + 1.0']))}"


def inner_fits(x: Var, y: Var, tx: bool, ty: bool) -> bool:
    """Whether the sizes fit that a product sums over, with x or y transposed."""
    if y.dtype != x.dtype or not y.rank or (tx and x.rank < 2) or (ty and y.rank < 2):
        return False
    return x.sizes(-2 if tx else -1) == y.sizes(-1 if ty or y.rank == 1 else -2)


def product_and_more(g: Builder) -> str:
    return and_more(g, product(g))


def special(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3), where=lambda v: v.fixed(v.rank - 1))
    k, n = x.shape[-1], g.size()
    patterns = {
        1: ["paddle.dot(X, X * 2)", "paddle.outer(X, V)", "paddle.mv(U, X)", "paddle.einsum('i,ij->j', X, W)"],
        2: ["paddle.addmm(B, X, W, beta=0.5, alpha=2.0)", "paddle.mm(X, W)", "paddle.einsum('ij,jk->ki', X, W)", "paddle.mv(X, K)",
            "paddle.inner(X, U)", "paddle.einsum('ij->j', X)", "X.t() @ X", "X @ X.T", "paddle.tensordot(X, W, axes=1)",
            "paddle.kron(X, S)"],
        3: ["paddle.bmm(X, E)", "paddle.einsum('bij,bjk->bik', X, E)", "paddle.einsum('bij,jk->bik', X, W)",
            "paddle.einsum('bij,bkj->bik', X, X)", "paddle.einsum('bij->bj', X)", "X @ X.transpose([0, 2, 1])",
            "paddle.einsum('bij,bjk->ki', X, E)", "paddle.matmul(X, X, transpose_x=True)"],
    }  # fmt: skip
    return g.new(
        patterns[x.rank], X=x, W=lambda: g.weight(k, n, dtype=x.dtype), U=lambda: g.weight(n, k, dtype=x.dtype),
        V=lambda: g.weight(n, dtype=x.dtype), K=lambda: g.weight(k, dtype=x.dtype), S=lambda: g.weight(2, 3, dtype=x.dtype),
        B=lambda: g.weight(*g.pick([[n], [1, n], [1, 1]]), dtype=x.dtype),
        E=lambda: g.argument([[s[0], k, n] for s in x.shapes], x.dtype),
    )  # fmt: skip


def big(g: Builder) -> str:
    k = g.pick([1, 2, 3, 15, 16, 17, 31, 64, 100, 255, 256, 257, 385, 600, 1025])
    m = g.pick([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 65, 130])
    n = g.pick([1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 47, 48, 49, 64, 65, 96, 100, 127, 130, 260])
    tx, ty, batch = g.chance(0.3), g.chance(0.4), g.pick([[], [], [1], [2], [3], [2, 2]])
    made = [v for v in g.vars if v.rank == 2 and v.dtype == "float32" and v.fixed(1)]
    if made and g.chance(0.4):
        x = g.pick(made)
        tx, batch, k = False, [], x.shape[1]
    else:
        rows = [g.pick([m, b]) for b in g.batches] if g.chance(0.6) else [m] * g.calls
        dtype = g.pick(["float32"] * 8 + ["float64", "int64", "int32", "float16"])
        x = g.argument([[*batch, k, r] if tx else [*batch, r, k] for r in rows], dtype)
    batch = g.pick([batch, batch, [1] * len(batch), []])
    y = g.weight(*batch, *([n, k] if ty else [k, n]), dtype=x.dtype)
    text = f"paddle.matmul({x}, {y}, transpose_x={tx}, transpose_y={ty})"
    if not x.dtype.startswith("float"):
        return f"{g.name()} = {text} * 2"
    text = g.fill(["Y", "Y + B", "Y + C", "Y * 0.1", "Y * B", "Y - 1.0"], Y=text,
                  B=lambda: g.weight(n, dtype=x.dtype), C=lambda: g.weight(1, dtype=x.dtype))  # fmt: skip
    text = g.new([g.pick(ACTIVATIONS)], Y=text)
    return and_more(g, text, wild=True) if g.chance(0.4) else text
