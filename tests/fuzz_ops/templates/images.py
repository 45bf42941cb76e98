"""Convolutions, pools, and what else is done with images of [N, C, H, W] and rows of [N, C, L]."""

from __future__ import annotations

from ..builder import Builder, Var
from .expressions import ACTIVATIONS, UNARY, and_more


def image(g: Builder, rank: int = 4) -> Var:
    """A variable whose channels are fixed, or a new one."""
    made = [v for v in g.vars if v.rank == rank and v.dtype == "float32" and v.fixed(1) and min(map(min, v.shapes)) > 0]
    if made and g.chance(0.85):
        return g.pick(made[-3:])
    c = g.pick([1, 2, 3, 4, 8, 16])
    sizes = [[g.pick([1, 2, 3, 5, 7, 8, 14, 17]) for _ in range(rank - 2)]] * g.calls
    if g.chance(0.25):
        sizes = [[g.pick([3, 5, 7, 8, 17]) for _ in range(rank - 2)] for _ in range(g.calls)]
    return g.argument([[min(b, 8), c, *s] for b, s in zip(g.batches, sizes, strict=True)])


def divisor(g: Builder, c: int, *numbers: int) -> int:
    return g.pick(n for n in numbers if c % n == 0)


def conv(g: Builder) -> str:
    rank = g.pick([4, 4, 4, 3])
    x = image(g, rank)
    c, n, groups = x.shape[1], g.pick([1, 2, 3, 4, 8, 16, 17]), 1
    size = [g.pick([1, 2, 3, 3, 3, 5]) for _ in range(rank - 2)]
    kind = g.pick(["any", "any", "square", "point", "depth", "groups"])
    if kind == "square":
        size = [3] * (rank - 2)
    elif kind == "point":
        size = [1] * (rank - 2)
    elif kind == "depth":
        groups, n, size = c, c * g.pick([1, 1, 2]), [g.pick([3, 3, 5, 2])] * (rank - 2)
    elif kind == "groups":
        groups = divisor(g, c, 1, 2, 4, c)
        n = groups * g.pick([1, 2, 3])
    stride, padding = g.pick([1, 1, 1, 2, 3]), g.pick([0, 1, 1, 2, "'SAME'", "'VALID'"])
    if rank == 4 and g.chance(0.1):
        stride, padding = [2, 1], g.pick([[1, 0], [1, 2, 0, 1]])
    more = f"{g.weight(n, c // groups, *size)}" + (f", bias={g.weight(n)}" if g.chance(0.5) else "")
    more += f", stride={stride}, padding={padding}, dilation={g.pick([1, 1, 1, 1, 2])}, groups={groups}"
    if g.chance(0.15):
        return channels_last(g, x, more)
    text = g.new([g.pick(ACTIVATIONS)], Y=f"F.conv{rank - 2}d({x}, {more})")
    return and_more(g, text) if g.chance(0.35) else text


def channels_last(g: Builder, x: Var, more: str) -> str:
    """A convolution with channels last, between transposes, or with something that reads it as it is."""
    there, back, layout = ([0, 2, 3, 1], [0, 3, 1, 2], "NHWC") if x.rank == 4 else ([0, 2, 1], [0, 2, 1], "NLC")
    text = f"F.conv{x.rank - 2}d({x}.transpose({there}), {more}, data_format={layout!r})"
    if g.chance(0.5):
        return f"{g.name()} = {text}\n{g.new(UNARY, X=f'v{g.count}')}"
    return g.new(ACTIVATIONS, Y=f"{text}.transpose({back})")


def conv_transpose(g: Builder) -> str:
    rank = g.pick([4, 4, 3])
    x = image(g, rank)
    c, n = x.shape[1], g.pick([1, 2, 3, 5])
    groups = divisor(g, c, 1, 1, 2, c)
    more = f", bias={g.weight(n * groups)}" if g.chance(0.5) else ""
    more += g.pick(["", ", stride=2", ", stride=2, padding=1", ", stride=3, output_padding=1", ", padding=1", ", dilation=2"])
    return f"{g.name()} = F.conv{rank - 2}d_transpose({x}, {g.weight(c, n, *[g.pick([1, 2, 3, 4])] * (rank - 2))}{more}, groups={groups})"


def pool(g: Builder) -> str:
    if g.chance(0.2):
        patterns = ["F.max_pool1d(X, 2)", "F.avg_pool1d(X, 3, stride=1, padding=1)", "F.adaptive_avg_pool1d(X, 3)",
                    "F.adaptive_max_pool1d(X, 2)", "F.max_pool1d(X, 3, stride=2, padding=1, ceil_mode=True)"]  # fmt: skip
        return g.new(patterns, X=image(g, 3))
    more = g.pick(["", ", stride=1", ", stride=2, padding=1", ", stride=2", ", padding=1", ", ceil_mode=True", ", stride=2, ceil_mode=True",
                   ", stride=1, padding=1", ", stride=[2, 1]"])  # fmt: skip
    patterns = ["F.max_pool2d(X, K)", "F.avg_pool2d(X, K)", "F.avg_pool2d(X, K, exclusive=False)", "F.adaptive_avg_pool2d(X, S)",
                "F.adaptive_max_pool2d(X, S)", "X.mean(axis=[2, 3])", "F.max_pool2d(X.transpose([0, 2, 3, 1]), K, data_format='NHWC')",
                "F.avg_pool2d(X.transpose([0, 2, 3, 1]), K, data_format='NHWC').transpose([0, 3, 1, 2])"]  # fmt: skip
    return g.new(patterns, X=image(g), K=f"{g.pick([1, 2, 2, 3, 3])}{more}", S=g.pick([1, 2, 3, 7, [2, 3]]))


def resize(g: Builder) -> str:
    mode = g.pick(["nearest", "bilinear", "bilinear", "bicubic", "area"])
    to = g.pick(["scale_factor=2", "size=[5, 7]", "scale_factor=0.5", "size=[3, 3]", "size=[1, 4]", "scale_factor=[1.5, 2]"])
    more = g.pick(["", "", ", align_corners=True", ", align_mode=1"]) if mode in ("bilinear", "bicubic") else ""
    patterns = [f"F.interpolate(X, {to}, mode={mode!r}{more})"] * 3
    patterns += ["F.pixel_shuffle(X, 2)", "F.pixel_unshuffle(X, 2)", "F.channel_shuffle(X, 2)", "F.unfold(X, 3, paddings=1)",
                 "F.unfold(X, [2, 1], strides=2)", "F.temporal_shift(X, 1)", "F.maxout(X, 2)",
                 "F.grid_sample(X, paddle.tanh(X[:, :1].transpose([0, 2, 3, 1]) * paddle.ones([2])))"]  # fmt: skip
    return g.new(patterns, X=image(g))


def pad(g: Builder) -> str:
    x = g.var(rank=(1, 2, 3, 4))
    if x.rank < 3 or g.chance(0.3):
        amounts = [g.pick([0, 1, 2]) for _ in range(2 * x.rank)]
        return g.new(["F.pad(X, P, value=0.0)", "F.pad(X, P, value=-1.0)"], X=x, P=amounts)
    amounts = [g.pick([0, 1, 1, 2]) for _ in range(2 * (x.rank - 2))]
    patterns = ["F.pad(X, P, mode='constant', value=V)", "F.pad(X, P, mode='constant', value=V)", "F.pad(X, P, mode='reflect')",
                "F.pad(X, P, mode='replicate')", "F.pad(X, P, mode='circular')"]  # fmt: skip
    return g.new(patterns, X=x, P=amounts, V=g.pick(["0.0", "1.5", "-2.0"]))


def block(g: Builder) -> str:
    """Convolution, normalization, activation and residual sum."""
    x = image(g)
    c, n, k = x.shape[1], g.pick([1, 2, 3, 4, 8, 16]), g.pick([1, 3, 3, 5])
    stride = g.pick([1, 1, 2])
    v, y = g.name(), g.name()
    norms = ["F.batch_norm(X, M, S, W, B, training=T)", "F.group_norm(X, G, weight=W, bias=B)", "F.instance_norm(X, weight=W, bias=B)"]
    norm = g.fill(
        norms, X=v, T=g.chance(0.5), G=divisor(g, n, 1, 2, 4), W=lambda: g.weight(n, kind="positive"), B=lambda: g.weight(n),
        M=lambda: g.weight(n, trained=False), S=lambda: g.weight(n, kind="positive", trained=False),
    )  # fmt: skip
    ends = ["Z", "Z", "Z + Y"]
    if n == c and stride == 1:
        ends = ["Z + X", "Z + X.mean(axis=[2, 3], keepdim=True)", "Z * F.sigmoid(Y.mean(axis=[2, 3], keepdim=True))"]
    return "\n".join([
        f"{v} = F.conv2d({x}, {g.weight(n, c, k, k)}, stride={stride}, padding={k // 2})", f"{y} = {norm}",
        g.new(ends, X=x, Y=y, Z=g.fill(ACTIVATIONS, Y=y)),
    ])  # fmt: skip


def big_conv(g: Builder) -> str:
    made = [v for v in g.vars if v.rank == 4 and v.dtype == "float32" and v.fixed(1) and v.shape[1] > 7 and min(map(min, v.shapes)) > 0]
    if made and g.chance(0.6):
        x = g.pick(made)
    else:
        c, h, w = (g.pick(sizes) for sizes in ([1, 3, 8, 9, 16, 24, 32, 48, 64], [1, 2, 4, 7, 8, 13, 14, 15, 16, 17, 28, 30, 33],
                                               [1, 3, 7, 8, 13, 14, 15, 16, 17, 28, 31, 32, 33, 48]))  # fmt: skip
        x = g.argument([[min(b, 3) or 1, c, h, w] for b in g.batches], kind=g.pick(["normal"] * 6 + ["special"]))
    c, n, groups = x.shape[1], g.pick([1, 3, 8, 15, 16, 17, 32, 40, 64]), 1
    kind = g.pick(["square", "square", "point", "depth", "depth", "any"])
    size = {"square": [3, 3], "point": [1, 1], "depth": [g.pick([3, 3, 5, 7])] * 2,
            "any": [g.pick([1, 2, 3, 4, 5, 7]), g.pick([1, 2, 3, 5])]}[kind]  # fmt: skip
    if kind == "depth":
        n = groups = c
    elif kind == "any" and g.chance(0.5):
        groups = divisor(g, c, 1, 2, 4)
        n = groups * g.pick([1, 3, 8, 9])
    stride = 1 if kind == "square" and g.chance(0.8) else g.pick([1, 1, 2, 2, 3, [1, 2]])
    padding, dilation = g.pick([0, size[0] // 2, size[0] // 2, 1, "'SAME'"]), g.pick([1, 1, 1, 1, 1, 2])
    more = f"stride={stride}, padding={padding}, dilation={dilation}, groups={groups}" + (f", bias={g.weight(n)}" if g.chance(0.4) else "")
    text = g.new([g.pick(ACTIVATIONS)], Y=f"F.conv2d({x}, {g.weight(n, c // groups, *size)}, {more})")
    return and_more(g, text, wild=True) if g.chance(0.5) else text
