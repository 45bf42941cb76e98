"""Attention: a product, a mask, a softmax, a product."""

from __future__ import annotations

from ..builder import Builder


def attention(g: Builder) -> str:
    x = g.var(rank=3, where=lambda v: v.fixed(2) and v.shape[2] > 0)
    width = x.shape[2]
    q = str(x)
    if g.chance(0.4):
        width = g.pick([1, 2, 3, 5, 8, 16, 17])
        q = f"({x} @ {g.weight(x.shape[2], width, dtype=x.dtype)})"
    if g.chance(0.5):
        keys, k, v = x.sizes(1), q, g.pick([x.name, q])
    else:
        keys = [g.size()] * g.calls
        k, v = (str(g.argument([[s[0], n, d] for s, n in zip(x.shapes, keys, strict=True)], x.dtype))
                for d in (width, g.batches[0] % 7 + 1))  # fmt: skip
    shapes = [[s[0], s[1], n] for s, n in zip(x.shapes, keys, strict=True)]
    scores = g.fill(["paddle.matmul(Q, K, transpose_y=True)", "Q @ K.transpose([0, 2, 1])"], Q=q, K=k)
    scores = g.fill(["Y", "Y * 0.3", f"Y / {width**0.5:.3f}"], Y=scores)
    masks = ["Y", "Y", "Y", "Y + A", "Y + B", "Y + C", "Y * D", "paddle.where(E, Y, -1e9)"]
    a, b = g.name(), g.name()
    text = g.fill(
        masks, Y=scores, A=lambda: g.argument(shapes, x.dtype), B=lambda: g.argument([s[1:] for s in shapes], x.dtype),
        C=lambda: g.argument([[s[0], 1, s[2]] for s in shapes], x.dtype), D=lambda: g.argument([[*s[:2], 1] for s in shapes], x.dtype),
        E=lambda: g.argument(shapes, "bool"),
    )  # fmt: skip
    return f"{a} = {text}\n{b} = F.softmax({a}, axis=-1)\n{g.new(['Y', 'Y', 'F.relu(Y)', '(Y) * 2'], Y=f'{b} @ {v}')}"


def heads(g: Builder) -> str:
    x = g.var(rank=3, where=lambda v: v.fixed(2) and v.shape[2] in (8, 16, 64))
    h, d = g.pick([2, 4, 8]), x.shape[2]
    shape = g.fill(["[0, X.shape[1], H, D]", "[X.shape[0], X.shape[1], H, D]"], X=x, H=h, D=d // h)
    q, k, v, o = (g.name() for _ in range(4))
    lines = [f"{n} = ({x} @ {g.weight(d, d, dtype=x.dtype)}).reshape({shape}).transpose([0, 2, 1, 3])" for n in (q, k, v)]
    scores = f"paddle.matmul({q} * {d**-0.5:.3f}, {k}, transpose_y=True)"
    mask = g.pick(["", "", f" + paddle.triu(paddle.full([{x}.shape[1], {x}.shape[1]], -1e9), 1)"])
    lines += [f"{o} = F.softmax({scores}{mask}, -1) @ {v}", f"{g.name()} = {o}.transpose([0, 2, 1, 3]).reshape([0, 0, {d}])"]
    return "\n".join(lines)


def ready_made(g: Builder) -> str:
    x = g.var(rank=4, where=lambda v: v.shape[3] > 0)
    return g.new(["F.scaled_dot_product_attention(X, X * 0.5, X, is_causal=C, training=False)"], X=x, C=g.chance(0.5))


def big(g: Builder) -> str:
    n = g.pick([1, 16, 33, 64, 100, 128, 300, 760])
    m = g.pick([n, n, 17, 65, 128])
    d, e = (8, 8) if n == 760 else (g.pick([1, 4, 8, 16, 17, 32]), g.pick([1, 4, 8, 16, 33]))
    more = g.pick([[], [2]])
    batch = [[min(b, 1 if n > 200 else 3) or 1, *more] for b in g.batches]
    q, k, v = (g.argument([[*b, *s] for b in batch]) for s in ([n, d], [m, d], [m, e]))
    scores = g.fill(["paddle.matmul(Q, K, transpose_y=True)", "paddle.matmul(Q * 0.5, K, transpose_y=True)",
                     "Q @ paddle.swapaxes(K, -1, -2)"], Q=q, K=k)  # fmt: skip
    ones = [1] * len(batch[0])
    scores = g.fill(
        ["Y", "Y", "Y + A", "Y + B", "Y + C", "Y * D", "Y + paddle.triu(paddle.full([N, M], -1e9), 1)"], Y=f"{scores} * {d**-0.5:.3f}",
        A=lambda: g.weight(n, m), B=lambda: g.argument([[*b, 1, m] for b in batch]), C=lambda: g.weight(*ones, n, m),
        D=lambda: g.weight(n, 1), N=n, M=m,
    )  # fmt: skip
    a = g.name()
    result = g.new(["Y", "Y", "Y * 0.5", "Y + E"], Y=f"paddle.matmul({a}, {v})", E=lambda: g.weight(e))
    return f"{a} = F.softmax({scores}, axis=-1)\n{result}"
