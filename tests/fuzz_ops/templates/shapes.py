"""Reshaping, transposing, joining, splitting, and sizes that are open."""

from __future__ import annotations

from ..builder import Builder, Var

PARTS = 16  # more of them are slow to compile


def dims(x: Var, **other: str) -> list[str]:
    """The sizes of a tensor, as texts; `other`: of the axes i0, i1, ..."""
    return [other.get(f"i{i}", x.dim(i)) for i in range(x.rank)]


def listed(*items: object) -> str:
    return f"[{', '.join(map(str, items))}]"


def reshape(g: Builder) -> str:
    x = g.var(g.pick(["float", "float", "float", "int", "bool"]), rank=(1, 2, 3, 4))
    r, i = x.rank, g.rng.randrange(x.rank)
    patterns = ["X.reshape([-1])", "X.flatten()", f"X.unsqueeze({g.rng.randrange(-r - 1, r + 1)})", f"paddle.unsqueeze(X, [0, {r + 1}])",
                "X.squeeze()", f"X.unsqueeze({i}).squeeze({i})", f"X.reshape({listed(*dims(x), 1)})",
                f"X.reshape({listed(1, *dims(x, **{f'i{i}': '-1'}))})"]  # fmt: skip
    if r > 1:
        patterns += [f"X.flatten({r - 2})", "X.reshape([0, -1])", f"X.reshape([-1, {x.dim(r - 1)}])", f"X.reshape([{x.dim(0)}, -1])",
                     f"X.reshape({listed(*dims(x)[: r - 2], x.dim(r - 1), -1)})"]  # fmt: skip
    for n in (2, 3, 4):
        if x.fixed(i) and x.shape[i] and x.shape[i] % n == 0:
            patterns.append(f"X.reshape({listed(*dims(x, **{f'i{i}': f'{n}, {x.shape[i] // n}'}))})")
    return g.new(patterns, X=x)


def transpose(g: Builder) -> str:
    x = g.var(g.pick(["float", "float", "float", "int", "bool"]), rank=(2, 3, 4))
    order = g.rng.sample(range(x.rank), x.rank)
    patterns = ["X.transpose(P)", "paddle.transpose(X, P)", "X.T", "paddle.moveaxis(X, 0, -1)", "paddle.swapaxes(X, 0, -1)",
                "X.transpose(P) * 2", "X.transpose(P) + X.transpose(P).abs()"]  # fmt: skip
    return g.new(patterns, X=x, P=order)


def join(g: Builder) -> str:
    x = g.var(g.pick(["float", "float", "float", "int"]), rank=(1, 2, 3, 4))
    a = g.axis(x, 0)

    def fits(v: Var) -> bool:
        return v.dtype == x.dtype and v.rank == x.rank and all(v.sizes(i) == x.sizes(i) for i in range(x.rank) if i != a % x.rank)

    same = [v for v in g.vars if fits(v)]
    items = ", ".join(g.fill(["Y", "X * 2", "-Y"], X=x, Y=g.pick(same)) for _ in range(g.rng.randint(1, 3)))
    patterns = ["paddle.concat([X, I], axis=A)", "paddle.concat([X, I], axis=A)", "paddle.stack([X, Y], axis=B)", "paddle.add_n([X, Y, X])",
                "paddle.stack([X, X * 2, Y], axis=A).sum(axis=A)", "paddle.hstack([X, X])", "paddle.vstack([X, X])"]  # fmt: skip
    equal = [v for v in same if v.shapes == x.shapes]
    return g.new(patterns, X=x, Y=g.pick(equal), I=items, A=a, B=g.rng.randrange(-x.rank - 1, x.rank + 1))


def split(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3, 4))
    a = g.axis(x, 1)
    n, v, w = x.sizes(a), g.name(), g.name()
    if max(n) <= PARTS and g.chance(0.3):
        return g.fill(["V = paddle.unbind(X, axis=A)[0]", "V = paddle.unstack(X, axis=A)[-1]"], V=v, X=x, A=a)
    parts = [k for k in range(2, PARTS + 1) if all(m % k == 0 for m in n)]
    if parts and g.chance(0.6):
        patterns = ["V, W = paddle.split(X, K, axis=A)[:2]", "V, W = paddle.chunk(X, K, axis=A)[-2:]",
                    "V = X.split(K, axis=A)[0] * X.split(K, axis=A)[1]"]  # fmt: skip
        return g.fill(patterns, V=v, W=w, X=x, K=g.pick(parts), A=a)
    m = g.rng.randint(1, max(min(n) - 1, 1))
    return f"{v}, {w} = paddle.split({x}, [{m}, {g.pick([-1, n[0] - m]) if x.fixed(a) else -1}], axis={a})"


def spread(g: Builder) -> str:
    """Copies, and elements in another order."""
    x = g.var(rank=(1, 2, 3))
    r, i = x.rank, g.rng.randrange(x.rank)
    minus = ["-1"] * r
    patterns = [f"paddle.tile(X, {[g.pick([1, 2, 1, 3]) for _ in range(r + g.chance(0.3))]})", f"X.expand({listed(2, *minus)})",
                f"X.unsqueeze({i}).expand({listed(*minus[:i], 3, *minus[i:])})", "paddle.flip(X, [A])", "paddle.roll(X, N, axis=A)",
                "paddle.roll(X, 3)", "paddle.repeat_interleave(X, 2, axis=A)", f"paddle.broadcast_to(X, {listed(2, *dims(x))})",
                "paddle.tril(X)", "paddle.triu(X, D)", "paddle.diagonal(X)", "paddle.rot90(X)", "paddle.diag(X)", "F.diag_embed(X)",
                "paddle.meshgrid(X, X)[1]", "paddle.trace(X)", f"paddle.flip(X, axis={list(range(r))})",
                "X.expand_as(X.unsqueeze(0))"]  # fmt: skip
    return g.new(patterns, X=x, A=g.axis(x, 1), N=g.pick([1, -1, 2, 5]), D=g.pick([-1, 0, 1]))


def by_size(g: Builder) -> str:
    """Sizes that are open, in numbers and shapes."""
    x = g.var(rank=(1, 2, 3, 4))
    a = g.rng.randrange(x.rank)
    lead, tail = ":, " * a, ", 1" * (x.rank - a - 1)
    column = f"[N{tail}]"
    patterns = ["X.sum(axis=A) / N", f"X * paddle.arange(N).astype(X.dtype).reshape([-1{tail}])", f"X[{lead}:N // 2]", f"X[{lead}N // 2:]",
                f"X * (paddle.arange(N) % 2).astype(X.dtype).reshape({column})", f"X[{lead}N - 1]", "paddle.ones([N, 3]) * X.mean()",
                "paddle.full([N], X.max())", "paddle.tril(paddle.ones([N, N])).sum(axis=1)",
                f"paddle.where((paddle.arange(N) > 1).reshape({column}), X, X * 0)", "paddle.eye(N) @ paddle.ones([N, 2])", "X + N",
                "X.sum() * 0.1 + N", "paddle.zeros([N, 2], dtype=X.dtype) + X.mean()", "F.one_hot(paddle.arange(N) % 3, 3)",
                f"paddle.concat([X, paddle.zeros_like(X)], axis=A)[{lead}N:]", "paddle.linspace(0, 1, N)",
                f"X[{lead}paddle.arange(N - 1, -1, -1)]", "paddle.roll(X, N // 2, axis=A)",
                "paddle.topk(X, (N + 1) // 2, axis=A)[0]"]  # fmt: skip
    if x.rank > 1:
        patterns += ["X.reshape([X.shape[0] * X.shape[1], -1])", "X.reshape([N * 1, -1])", "X.flatten().reshape(X.shape)",
                     f"X.transpose({[*range(1, x.rank), 0]}).reshape([-1, X.shape[0]])",
                     f"X.unsqueeze(0).expand({listed(2, *(f'X.shape[{i}]' for i in range(x.rank)))})"]  # fmt: skip
    return g.new(patterns, X=x, A=a, N=f"{x}.shape[{a}]")
