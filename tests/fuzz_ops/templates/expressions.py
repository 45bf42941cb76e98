"""Patterns of expressions that many templates use: of a tensor X, of whole numbers X, of tensors A and B, of an expression Y."""

from __future__ import annotations

from ..builder import Builder

UNARY = [
    "F.relu(X)", "paddle.tanh(X)", "F.sigmoid(X)", "F.gelu(X)", "F.gelu(X, approximate=True)", "F.silu(X)", "F.leaky_relu(X, 0.1)",
    "F.elu(X)", "F.softplus(X)", "F.hardswish(X)", "F.relu6(X * 4)", "F.mish(X)", "F.selu(X)", "F.celu(X, 0.7)", "F.hardsigmoid(X)",
    "F.hardtanh(X)", "F.softsign(X)", "F.log_sigmoid(X)", "F.hardshrink(X)", "F.softshrink(X)", "F.tanhshrink(X)",
    "F.thresholded_relu(X, 0.3)", "F.prelu(X, paddle.full([1], 0.2, 'float32'))", "paddle.stanh(X)",
    "X.abs()", "-X", "X * X", "paddle.square(X)", "(X * X + 0.5).sqrt()", "paddle.rsqrt(X * X + 1.0)", "paddle.exp(-X.abs())",
    "paddle.log(X.abs() + 0.5)", "paddle.log1p(X.abs())", "paddle.expm1(X * 0.1)", "X.sin()", "X.cos()", "paddle.atan(X)", "paddle.erf(X)",
    "paddle.floor(X)", "paddle.ceil(X)", "paddle.round(X)", "X.sign()", "paddle.trunc(X)", "paddle.frac(X)",
    "paddle.reciprocal(X.abs() + 1.0)", "X * 0.5", "X + 1", "1 - X", "2.0 / (X.abs() + 1)", "X ** 2", "X ** 3", "X / 3", "X // 2", "X % 3",
    "X // 0.7", "X.scale(2.0, 1.0)", "X.clip(-1, 1)", "X.clip(min=0.0)", "paddle.clip(X, max=0.7)", "X.clip(-1.5, 1.5).asin()",
    "paddle.sinh(X * 0.3)", "paddle.cosh(X * 0.2)", "paddle.asinh(X)", "paddle.acosh(X.abs() + 1.1)", "paddle.tan(X * 0.2)",
    "paddle.nan_to_num(X)", "paddle.log2(X.abs() + 1)", "paddle.log10(X.abs() + 1)", "paddle.logit(F.sigmoid(X))", "paddle.deg2rad(X)",
    "(X.abs() + 0.1) ** 0.5", "(X.abs() + 0.1) ** -1.5", "2 ** (X * 0.5)", "paddle.increment(X * 1.0, 2.0)", "X.detach() * 2",
    "paddle.where(X > 0, X, X * 0.1)", "paddle.maximum(X, paddle.zeros_like(X))", "paddle.full_like(X, 1.5) - X", "paddle.isfinite(X)",
    "paddle.isnan(X)", "paddle.ones_like(X) * X", "X.clone()", "paddle.assign(X)",
]  # fmt: skip
WHOLE = [
    "X + 1", "X * 2", "-X", "X // 2", "X % 3", "X.abs()", "X / 2", "X * 0.5", "X ** 2", "X.clip(-1, 2)", "X.sign()", "3 - X", "X // -2",
    "X % -3", "X + 0.5", "paddle.maximum(X, X - 1)", "paddle.where(X > 1, X, X - 2)", "X & 3", "X | 1", "X ^ 2", "~X", "X / 0.5",
    "2 ** X.clip(0, 3)", "X << 1", "X >> 1", "paddle.sqrt(X.abs().astype('float32'))", "paddle.cast(X, 'float32')", "X.astype('int32')",
    "X.astype('bool')",
]  # fmt: skip
NARROW = [
    "X + X", "X * X", "X - 3", "X * 5", "X // 3", "X % 4", "X.sum(axis=0)", "X.max(axis=-1)", "X.astype('float32') / 3", "X / 2",
    "X.cumsum(axis=0)", "paddle.clip(X, 1, 2)", "-X", "~X", "X << 1", "X >> 1", "X.mean(axis=0)", "X.prod(axis=0)", "X ** 2",
    "paddle.maximum(X, X - 1)", "X == 3", "X.argmax(axis=0)", "paddle.sort(X, axis=0)", "X & 5", "X + 1.5", "paddle.where(X > 2, X, X * 2)",
    "F.one_hot(X.astype('int64') % 4, 4)", "paddle.flip(X, [0])", "paddle.concat([X, X])",
]  # fmt: skip
BINARY = [
    "A + B", "A - B", "A * B", "A / (B.abs() + 0.5)", "paddle.maximum(A, B)", "paddle.minimum(A, B)", "paddle.where(A > B, A, B)",
    "A * 0.5 + B * 0.5", "paddle.fmax(A, B)", "paddle.fmin(A, B)", "paddle.atan(A / (B.abs() + 1))", "paddle.hypot(A, B)",
    "paddle.logaddexp(A, B)", "A % (B.abs() + 1)", "A // (B.abs() + 1)", "(A.abs() + 0.2) ** B.clip(-2, 2)", "paddle.lerp(A, B, 0.3)",
    "(A - B) ** 2", "F.relu(A + B)", "paddle.tanh(A * B) + A", "A * F.sigmoid(B)", "paddle.divide(A, B * B + 1)",
    "paddle.where(B > 0, A, paddle.zeros_like(A))", "paddle.add(A, B)", "paddle.multiply(A, B)", "F.gelu(A + B) * A",
    "paddle.subtract(A, B)",
]  # fmt: skip
COMPARE = [
    "A > B", "A <= B", "A == B", "A != B", "paddle.less_than(A, B)", "paddle.greater_equal(A, B)", "paddle.logical_and(A > 0, B > 0)",
    "paddle.isclose(A, B, atol=0.1)", "(A > 0) | (B < 0)", "(A > 0) ^ (B > 0)", "~(A > B)",
]  # fmt: skip
# what kernels of products and convolutions compute on the way
ACTIVATIONS = ["Y", "F.relu(Y)", "paddle.tanh(Y)", "F.gelu(Y)", "F.sigmoid(Y)", "F.silu(Y)", "F.leaky_relu(Y)", "(Y) * 0.5", "F.relu6(Y)",
               "F.hardswish(Y)", "(Y).clip(-1, 1)"]  # fmt: skip


def and_more(g: Builder, text: str, wild: bool = False) -> str:
    """Takes a statement, and gives another one that reads it along with what broadcasts with it."""
    if not g.take(text, wild) or g.draft.ended:
        return text
    y = g.vars[-1]
    return g.new(BINARY, A=y, B=g.partner(y))
