"""Softmax, normalizations and gates: what is computed row by row."""

from __future__ import annotations

from ..builder import Builder
from .expressions import ACTIVATIONS, UNARY


def softmax(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3, 4))
    a = g.axis(x) if g.chance(0.4) else -1
    inner = str(x)
    if g.chance(0.5):
        patterns = ["X * 0.5 + Y", "X / 2.0", "X - Y", "paddle.where(Y > 0, X, X * 0 - 1e9)", "(X + Y) * 0.3", g.pick(UNARY)]
        inner = g.fill(patterns, X=x, Y=lambda: g.partner(x))
    text = g.fill(["F.softmax(Y, axis=A)", "F.softmax(Y, axis=A)", "F.log_softmax(Y, axis=A)"], Y=inner, A=a)
    return g.new(["Y", "Y", "Y * 2.0", "Y * X", "Y + 0.1"], Y=text, X=x)


def infinite_mask(g: Builder) -> str:
    x = g.var("float32", rank=(2, 3, 4))
    text = f"F.softmax(paddle.where({g.partner(x, 'bool')}, {x}, paddle.full_like({x}, -float('inf'))), axis={g.pick([-1, -1, 0])})"
    return g.new(["Y", "Y * X"], Y=text, X=x)


def layer_norm(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3, 4), where=lambda v: v.fixed(v.rank - 1) and v.shape[-1] > 0)
    n = 1
    while n < x.rank and x.fixed(x.rank - n - 1) and g.chance(0.35):
        n += 1
    shape = x.shape[-n:]
    inner = str(x)
    if g.chance(0.5):
        inner = g.fill([g.pick(UNARY), "X + Y", "X * 2 + X"], X=x, Y=lambda: g.partner(x))
    more = f", weight={g.weight(*shape, dtype=x.dtype, kind='positive')}" if g.chance(0.6) else ""
    more += f", bias={g.weight(*shape, dtype=x.dtype)}" if g.chance(0.6) else ""
    text = f"F.layer_norm({inner}, {list(shape)}{more})"
    if g.chance(0.4):
        text = g.fill(ACTIVATIONS, Y=text)
    return g.new(["Y", "Y", "Y + X"], Y=text, X=x)


def rms_norm(g: Builder) -> str:
    x = g.var(rank=(2, 3, 4), where=lambda v: v.fixed(v.rank - 1) and v.shape[-1] > 0)
    w = g.weight(x.shape[-1], dtype=x.dtype, kind="positive")
    return g.new(["X * paddle.rsqrt(X.pow(2).mean(-1, keepdim=True) + 1e-6) * W"], X=x, W=w)


def channel_norm(g: Builder) -> str:
    x = g.var(rank=(2, 3, 4), where=lambda v: v.fixed(1) and v.shape[1] > 0)
    c = x.shape[1]
    kind = g.pick(["batch", "batch", "group", "other"])
    if kind == "batch":
        patterns = ["F.batch_norm(X, M, S, weight=W, bias=B, training=T)", "F.batch_norm(X, M, S, training=T, momentum=0.5)",
                    "F.batch_norm(X, M, S, training=T, epsilon=0.01)"]  # fmt: skip
    elif kind == "group":
        patterns = ["F.group_norm(X, G, weight=W, bias=B)", "F.group_norm(X, G)"]
    else:
        patterns = ["F.instance_norm(X, weight=W, bias=B)", "F.instance_norm(X)", "F.local_response_norm(X, 3)", "F.normalize(X, axis=1)",
                    "F.normalize(X, p=1, axis=-1)"]  # fmt: skip
    text = g.fill(
        patterns, X=x, T=g.chance(0.5), G=g.pick(n for n in (1, 2, 3, 4, 5, 7, 8, c) if c % n == 0),
        W=lambda: g.weight(c, kind="positive"), B=lambda: g.weight(c),
        M=lambda: g.weight(c, trained=False), S=lambda: g.weight(c, kind="positive", trained=False),
    )  # fmt: skip
    return g.new(["Y", "Y", "Y + X"], Y=g.fill(ACTIVATIONS, Y=text), X=x)


def gated(g: Builder) -> str:
    x = g.var(rank=(2, 3), where=lambda v: v.fixed(v.rank - 1) and v.shape[-1] % 2 == 0 and v.shape[-1] > 0)
    patterns = ["F.glu(X)", "F.silu(X[..., :N]) * X[..., N:]", "paddle.tanh(X[..., :N]) * F.sigmoid(X[..., N:])",
                "paddle.concat([-X[..., N:], X[..., :N]], axis=-1)"]  # fmt: skip
    return g.new(patterns, X=x, N=x.shape[-1] // 2)
