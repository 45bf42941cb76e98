"""Images with channels last."""

from __future__ import annotations

from ..builder import Builder
from .expressions import UNARY
from .images import divisor


def channels_last(g: Builder) -> str:
    """Several operations, one after the other."""
    c = g.pick([1, 2, 3, 5, 8, 16])
    v = str(g.argument([[min(b, 4) or 1, g.pick([7, 8]), 8, c] for b in g.batches]))
    lines = []
    for _ in range(g.rng.randint(2, 4)):
        kind = g.pick(["conv", "conv", "norm", "pool", "unary", "unary", "add", "center"])
        if kind == "conv":
            n = g.pick([c, 1, 2, 4, 8, 17])
            text, c = conv(g, v, c, n), n
        elif kind == "norm":
            text = norm(g, v, c)
        elif kind == "pool":
            text = g.fill(["F.max_pool2d(X, K, padding=1, data_format='NHWC')", "F.avg_pool2d(X, K, padding=1, data_format='NHWC')"], X=v,
                          K=f"{g.pick([2, 3])}, stride={g.pick([1, 2])}")  # fmt: skip
        elif kind == "unary":
            text = g.fill(UNARY, X=v)
        elif kind == "add":
            text = g.fill(["X + B", "X + C", "X + X", "X + X.mean(axis=[1, 2], keepdim=True)", "X + X.sum(axis=-1, keepdim=True)"], X=v,
                          B=lambda c=c: g.weight(c), C=lambda c=c: g.weight(8, c))  # fmt: skip
        else:
            text = g.fill(["X - X.mean(axis=A, keepdim=True)"], X=v, A=g.pick([[1, 2], -1, 0, [0, 1, 2], 3]))
        v = g.name()
        lines.append(f"{v} = {text}")
    if g.chance(0.3):
        lines.append(f"{g.name()} = {v}.transpose([0, 3, 1, 2])")
    return "\n".join(lines)


def conv(g: Builder, v: str, c: int, n: int) -> str:
    k, groups = g.pick([1, 3]), c if n == c and g.chance(0.5) else 1
    bias = f"bias={g.weight(n)}, " if g.chance(0.5) else ""
    return f"F.conv2d({v}, {g.weight(n, c // groups, k, k)}, {bias}padding={k // 2}, groups={groups}, data_format='NHWC')"


def norm(g: Builder, v: str, c: int) -> str:
    return g.fill(
        ["F.batch_norm(X, M, S, W, B, training=T, data_format='NHWC')", "F.group_norm(X, G, weight=W, bias=B, data_format='NHWC')"],
        X=v, T=g.chance(0.5), G=divisor(g, c, 1, 2, 4, c), W=lambda: g.weight(c, kind="positive"), B=lambda: g.weight(c),
        M=lambda: g.weight(c, trained=False), S=lambda: g.weight(c, kind="positive", trained=False),
    )  # fmt: skip
