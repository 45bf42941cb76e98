"""Loops and branches on tensors and open sizes."""

from __future__ import annotations

from ..builder import Builder, broadcast
from .expressions import BINARY, UNARY


def cell(g: Builder) -> str:
    """A recurrent cell over the rows of a tensor."""
    x = g.var("float32", rank=(2, 3), where=lambda v: v.fixed(v.rank - 1) and v.shape[-1] > 0)
    h, v = g.pick([1, 2, 3, 5, 8, 16, 17]), g.name()
    head = g.fill(["for row in X:", "for i in range(X.shape[0]):", "for i in reversed(range(X.shape[0])):",
                   "for i in range(X.shape[0] - 1):", "for row in X[1:]:"], X=x)  # fmt: skip
    steps = ["paddle.tanh(R @ W + V @ U * 0.3)", "V * 0.5 + F.relu(R @ W)", "R @ W - V * 0.5", "F.sigmoid(R @ W) * V + 0.1",
             "F.softmax(V + R @ W, axis=-1)"]  # fmt: skip
    step = g.fill(steps, R="row" if "row" in head else f"{x}[i]", V=v, W=g.weight(x.shape[-1], h), U=lambda: g.weight(h, h))
    start = f"{v} = paddle.{g.pick(['zeros', 'ones'])}([{h if x.rank == 2 else f'{x.dim(1)}, {h}'}])"
    loop = f"{head}\n    {v} = {step}"
    patterns = ["S\nL", "S\nL", "S\nouts = []\nL\n    outs.append(R)\nO = paddle.stack(outs)",
                "S\nO = paddle.zeros([1])\nL\n    O = O + V.max()"]  # fmt: skip
    return g.fill(patterns, S=start, L=loop, V=v, O=g.name(), R=g.fill(["V", "V * 2", "V.sum()"], V=v))


def accumulate(g: Builder) -> str:
    """A loop over the parts of a tensor along an axis."""
    x = g.var(rank=(1, 2, 3))
    v, a = g.name(), g.rng.randrange(x.rank)
    item = f"{x}[{':, ' * a}i]"
    steps = ["V + I", f"V * 0.5 + {g.fill(UNARY, X=item)}", "paddle.maximum(V, I)", "V + I * I", "paddle.where(I > V, I, V * 0.9)"]
    return f"{v} = paddle.zeros_like({x}[{':, ' * a}0])\nfor i in range({x}.shape[{a}]):\n    {v} = {g.fill(steps, V=v, I=item)}"


def branch(g: Builder) -> str:
    x, v = g.var(), g.name()
    conditions = ["X.sum() > 0", "X.mean() > X.max() * 0.5", "(X > 0).any()", "X.max() > 1", "X.shape[0] > 4" if x.rank else "X > 0"]
    y = x if g.chance(0.5) else g.partner(x)
    one, other = (g.fill(BINARY, A=x, B=y) for _ in range(2))
    patterns = ["if C:\n    V = A\nelse:\n    V = B"]
    if y.rank <= x.rank and broadcast(x.shape, y.shape):
        patterns += ["V = X * 1\nif C:\n    V = A"]
    return g.fill(patterns, C=g.fill(conditions, X=x), V=v, X=x, A=one, B=other)


def repeat(g: Builder) -> str:
    x, v = g.var("float32", rank=(1, 2, 3)), g.name()
    if g.chance(0.5):
        return g.fill(["V = X + 0.0\nwhile V.abs().sum() > 3 * X.abs().mean():\n    V = V * 0.6 - 0.0"], V=v, X=x)
    steps = ["V * 0.5 + X", "F.softmax(V, axis=-1) + X * 0.1", "paddle.tanh(V) * 0.9", "V - V.mean(axis=-1, keepdim=True)",
             "F.relu(V - 0.1)"]  # fmt: skip
    times = g.pick(["2", "3", f"{x}.shape[0]"])
    return f"{v} = {x} + 0.0\nfor k in range({times}):\n    {v} = {g.fill(steps, V=v, X=x)}"


def body(g: Builder) -> str:
    """A loop over rows, or a count, with several operations and now and then a branch in it."""
    x = g.var("float32", rank=(2, 3), where=lambda v: v.fixed(v.rank - 1) and v.shape[-1] > 0)
    d, v = x.shape[-1], g.name()
    w, b = g.weight(d, d), g.weight(d)
    head, row = g.pick([(f"for row in {x}:", "row"), (f"for i in range({x}.shape[0]):", f"{x}[i]"),
                        (f"for i, row in enumerate({x}):", "row"), ("for i in range(3):", f"{x}.mean(axis=0)")])  # fmt: skip
    steps = ["F.relu(R @ W + B) + V * 0.5", "F.layer_norm(V + R, [D], weight=B)", "F.softmax(V * 0.5 + R, axis=-1)",
             "paddle.tanh(V @ W * 0.2 + R)", "V - V.mean(axis=-1, keepdim=True) + R", "V * (R > 0).astype('float32') + B",
             "paddle.where(R > V, R, V)", "V + R.sum() * 0.1", "V * F.sigmoid(R) + paddle.cumsum(R, axis=-1) * 0.1",
             "paddle.concat([V[..., 1:], R[..., :1]], axis=-1)"]  # fmt: skip
    lines = [f"{v} = paddle.zeros_like({x}[0])", head]
    lines += [f"    {v} = {g.fill(steps, R=row, V=v, W=w, B=b, D=d)}" for _ in range(g.rng.randint(1, 3))]
    if g.chance(0.35):
        lines.append(g.fill(["    if V.sum() > 0:", "    if V.sum() > 1.0:", "    if V.sum() > R.sum():"], V=v, R=row))
        lines.append(f"        {v} = {v} * 0.5")
        if g.chance(0.5):
            lines += ["    else:", f"        {v} = {v} + {b}"]
    if g.chance(0.2):
        lines += [f"    if {v}.abs().max() > 5:", "        break"]
    return "\n".join(lines)
