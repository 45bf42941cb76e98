"""Indices of all kinds: slices, masks, tensors of indices, for reading and writing."""

from __future__ import annotations

from ..builder import Builder, Var


def part(g: Builder, x: Var, axis: int) -> str:
    """An index or slice of one axis."""
    n = min(x.sizes(axis))
    if n == 0:
        return ":"
    a, b = g.rng.randrange(n), g.rng.randrange(n)
    return g.pick([":", ":", str(a), str(-a - 1), f"{min(a, b)}:{max(a, b) + 1}", "::2", "::3", f"{a}:", f":-{a + 1}", "::-1", f"{-a - 1}:",
                   "::-2", f"{a}::2", "1:", ":-1", f"{n + 3}:", f":{n + 2}"])  # fmt: skip


def basic(g: Builder) -> str:
    x = g.var(g.pick(["float", "float", "float", "float", "int", "bool"]), rank=(1, 2, 3, 4))
    k = g.rng.randint(1, x.rank)
    parts = [part(g, x, i) for i in range(k)]
    if k < x.rank and g.chance(0.2):
        parts = ["...", *(part(g, x, x.rank - k + i) for i in range(k))]
    elif g.chance(0.2):
        parts.insert(g.rng.randint(0, k), "None")
    return g.new(["X[I]", "X[I]", "X[I]", "X[I] * 2", "X[I] + X[I]"], X=x, I=", ".join(parts))


def masked(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3))
    patterns = ["X[M]", "X[X > 0]", "paddle.masked_select(X, X > 0)", "X[M].sum(axis=0)", "X[X > 0].sum()",
                "X[(X > 0).astype('int64')[0] * 0]", "paddle.nonzero(X > 0)",
                "X[paddle.argsort(X.reshape([X.shape[0], -1]).sum(axis=1))]"]  # fmt: skip
    return g.new(patterns, X=x, M=lambda: g.argument([s[:1] for s in x.shapes], "bool"))


def gather(g: Builder) -> str:
    x = g.var(g.pick(["float", "float", "float", "int"]), rank=(1, 2, 3, 4))
    a, m = g.axis(x, 1), g.size()
    front = a % x.rank
    shapes = [[m if i == front else n for i, n in enumerate(s)] for s in x.shapes]
    patterns = ["paddle.gather(X, I, axis=F)", "paddle.index_select(X, I, axis=A)", "paddle.take_along_axis(X, E, axis=F)", "X[W]",
                "paddle.gather_nd(X, N)"]  # fmt: skip
    if x.rank > 1:
        patterns += ["X[:, V]", "X[U, V]"]
    return g.new(
        patterns, X=x, A=a, F=front, I=lambda: g.indices(x.sizes(a), [[m]] * g.calls), E=lambda: g.indices(x.sizes(a), shapes, "int64"),
        W=lambda: g.indices(x.sizes(0), [g.pick([[m], [2, 3], []])] * g.calls, "int64", wrap=True),
        N=lambda: g.indices(x.sizes(0), [[m, 1]] * g.calls), U=lambda: g.indices(x.sizes(0), [[m]] * g.calls, "int64", wrap=True),
        V=lambda: g.indices(x.sizes(1), [[m]] * g.calls, "int64", wrap=True),
    )  # fmt: skip


def scatter(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3), where=lambda v: min(map(min, v.shapes)) > 0)
    m, a, v = g.pick([1, 2, 3, 5]), g.axis(x), g.name()
    shapes = [[2 if i == a % x.rank else n for i, n in enumerate(s)] for s in x.shapes]
    patterns = ["V = paddle.scatter(X, I, U, overwrite=False)", "V = paddle.index_add(X, I, 0, U)", "V = paddle.scatter(X, I, U)",
                "V = paddle.scatter_nd_add(X, I.unsqueeze(-1), U)", "V = X * 1\nV[I] = U",
                "V = paddle.put_along_axis(X, J, 0.5, axis=A, reduce=R)",
                "V = paddle.put_along_axis(X, J, W, axis=A, reduce=R)"]  # fmt: skip
    return g.fill(
        patterns, V=v, X=x, A=a % x.rank, R=repr(g.pick(["assign", "add", "multiply"])), I=lambda: g.indices(x.sizes(0), [[m]] * g.calls),
        U=lambda: g.argument([[m, *s[1:]] for s in x.shapes], x.dtype), J=lambda: g.indices(x.sizes(a), shapes, "int64"),
        W=lambda: g.argument(shapes, x.dtype),
    )  # fmt: skip


def setitem(g: Builder) -> str:
    x = g.var(g.pick(["float", "float", "float", "int"]), rank=(1, 2, 3, 4))
    v = g.name()
    if g.chance(0.2):
        return g.fill(["V = X + 0\nV[X > 0] = 0", "V = X + 0\nV[X > 0] = -1"], V=v, X=x)
    parts = ", ".join(part(g, x, i) for i in range(g.rng.randint(1, x.rank)))
    number = "1.5" if x.dtype.startswith("float") else "2"
    value = g.fill(["0", number, "X[I] * 2", "X[I].flip(0)", "X.sum()", "X[I] + 1"], X=x, I=parts)
    start = g.fill(["X * 1", "paddle.zeros_like(X)", "X + 1", "X.clone()"], X=x)
    return f"{v} = {start}\n{v}[{parts}] {g.pick(['=', '=', '=', '+=', '*='])} {value}"


def embedding(g: Builder) -> str:
    n, d = g.pick([2, 5, 17, 33]), g.size()
    patterns = ["F.embedding(I, W)", "F.embedding(I, W, padding_idx=0)", "W[I]", "F.one_hot(I, N) @ W", "F.one_hot(I, N)",
                "F.embedding(I, W).sum(axis=1)", "paddle.gather(W, I.flatten())"]  # fmt: skip
    return g.new(patterns, I=g.indices([n] * g.calls, [[b, 3] for b in g.batches]), W=lambda: g.weight(n, d), N=n)
