"""Losses between two tensors of one shape."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError
from ..loopir import nodes as n
from .checked import CheckedOp
from .elementwise import Elementwise
from .registry import Bool, Float, Int, TensorType, register
from .softmax import float_type
from .vjp import vjp


class PairLoss(CheckedOp, Elementwise):
    """X and Label of one shape and dtype → Out of that shape. Label gets no gradient, as in Paddle."""

    inputs: ClassVar[tuple[str, ...]] = ("X", "Label")
    accepts = dtype.FLOATS
    of_one_shape = "the label and the input"

    @classmethod
    def infer(cls, *ins: TensorType, **attrs: Any) -> TensorType:
        for t in ins[1:]:
            dims.require_same_shape(t.shape, ins[0].shape, f"{cls.title}: {cls.of_one_shape}",
                                    "reshape the label to the shape of the input")  # fmt: skip
        return super().infer(*ins, **attrs)


@register
class SigmoidCrossEntropyWithLogits(PairLoss):
    """Out = max(X, 0) - X * Label + log(1 + exp(-|X|)), 0 where Label is `ignore_index`.

    loss = b.sigmoid_cross_entropy_with_logits(x, label)
    """

    type = "sigmoid_cross_entropy_with_logits"
    attrs = {"ignore_index": Int(-100), "normalize": Bool(False)}

    @classmethod
    def infer(cls, *ins: TensorType, **attrs: Any) -> TensorType:
        if attrs["normalize"]:
            raise AttributeValueError(f"{cls.title}: normalize is not supported",
                                      hint="divide the sum of the losses by the number of labels")  # fmt: skip
        return super().infer(*ins, **attrs)

    @staticmethod
    def array(x: np.ndarray, label: np.ndarray, *, ignore_index: int, **_: Any) -> np.ndarray:
        loss = np.maximum(x, 0) - x * label + np.log1p(np.exp(-np.abs(x)))
        return np.where(label == ignore_index, 0, loss)

    @staticmethod
    def scalar(k: Any, x: n.Expr, label: n.Expr, *, ignore_index: int, **_: Any) -> n.Expr:
        loss = n.select(x < 0.0, 0.0, x) - x * label + n.call("log1p", n.call("exp", -n.call("abs", x)))
        return n.select(label == k.attr(float(ignore_index), label.dtype), 0.0, loss)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        return b.sigmoid_cross_entropy_with_logits_grad(*ins, douts[0], ignore_index=attrs["ignore_index"]), None


@register
class SigmoidCrossEntropyWithLogitsGrad(PairLoss):
    """(sigmoid(X) - Label) * dOut, 0 where Label is `ignore_index`."""

    type = "sigmoid_cross_entropy_with_logits_grad"
    inputs = ("X", "Label", "Out@GRAD")
    outputs = ("X@GRAD",)
    attrs = {"ignore_index": Int(-100)}

    @staticmethod
    def array(x: np.ndarray, label: np.ndarray, dout: np.ndarray, *, ignore_index: int) -> np.ndarray:
        return np.where(label == ignore_index, 0, (1 / (1 + np.exp(-x)) - label) * dout)

    @staticmethod
    def scalar(k: Any, x: n.Expr, label: n.Expr, dout: n.Expr, *, ignore_index: int) -> n.Expr:
        return n.select(label == k.attr(float(ignore_index), label.dtype), 0.0, (n.call("sigmoid", x) - label) * dout)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, label, dout = ins
        c = douts[0]

        def of_x() -> Any:
            s = b.op("sigmoid", X=x)
            slope = b.mul(b.sub(s, b.mul(s, s)), b.mul(dout, c))
            ignored = b.compare("equal", label, float(attrs["ignore_index"]))
            return b.mul(slope, b.scaled(ignored, -1.0, 1.0))

        return of_x, None, lambda: b.op(cls.type, X=x, Label=label, **{"Out@GRAD": c}, **attrs)


@register
class BCELoss(PairLoss):
    """Out = -Label * log(X) - (1 - Label) * log(1 - X) of probabilities; a logarithm counts as at least -100.

    loss = b.bce_loss(x, label)
    """

    type = "bce_loss"

    @staticmethod
    def array(x: np.ndarray, label: np.ndarray) -> np.ndarray:
        return (label - 1) * np.maximum(np.log1p(-x), -100) - label * np.maximum(np.log(x), -100)

    @staticmethod
    def scalar(k: Any, x: n.Expr, label: n.Expr) -> n.Expr:
        logs = (k.let(n.call("log", x)), k.let(n.call("log1p", -x)))
        positive, negative = (n.select(v < -100.0, -100.0, v) for v in logs)
        return (label - 1.0) * negative - label * positive

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        return b.bce_loss_grad(*ins, douts[0]), None


@register
class BCELossGrad(PairLoss):
    """(X - Label) / max((1 - X) * X, 1e-12) * dOut."""

    type = "bce_loss_grad"
    inputs = ("X", "Label", "Out@GRAD")
    outputs = ("X@GRAD",)

    @staticmethod
    def array(x: np.ndarray, label: np.ndarray, dout: np.ndarray) -> np.ndarray:
        return dout * (x - label) / np.maximum((1 - x) * x, x.dtype.type(1e-12))

    @staticmethod
    def scalar(k: Any, x: n.Expr, label: n.Expr, dout: n.Expr) -> n.Expr:
        spread = k.let((1.0 - x) * x)
        return dout * (x - label) / n.select(spread < 1e-12, 1e-12, spread)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple) -> tuple:
        x, label, dout = ins
        c = douts[0]

        def compose(r: Any, x: Any) -> Any:
            spread = r.op("clip", X=r.mul(x, r.scaled(x, -1.0, 1.0)), min=1e-12)
            return r.mul(dout, r.div(r.sub(x, label), spread))

        return lambda: vjp(b, compose, (x,), (c,))[0], None, lambda: b.op(cls.type, X=x, Label=label, **{"Out@GRAD": c})


@register
class HuberLoss(CheckedOp):
    """Residual = Y - X; Out = Residual^2 / 2 where |Residual| <= delta, else delta * (|Residual| - delta / 2).

    loss, residual = b.huber_loss(x, y, delta=1.0)
    """

    type = "huber_loss"
    inputs = ("X", "Y")
    outputs = ("Out", "Residual")
    attrs = {"delta": Float(1.0)}

    @classmethod
    def infer(cls, x: TensorType, y: TensorType, *, delta: float) -> tuple:
        float_type(cls.title, x)
        dims.require_same_shape(x.shape, y.shape, f"{cls.title}: X and Y")
        return x, x

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray, *, delta: float) -> tuple:
        r = y - x
        size, d = np.abs(r), x.dtype.type(delta)
        return np.where(size <= d, r * r * x.dtype.type(0.5), d * (size - d * x.dtype.type(0.5))), r

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, out: Any, residual: Any, *, delta: float) -> None:
        compute = widened(x.dtype)
        outs = [v for v in (out, residual) if v is not None]
        with cx.kernel([x, y], outs) as (k, (a, b), refs):
            found = dict(zip((v.name for v in outs), refs, strict=True))
            d = k.attr(delta, compute)
            with k.parallel(a.size) as i:
                r = k.let(n.cast(b[i], compute) - n.cast(a[i], compute))
                size = k.let(n.call("abs", r))
                if out is not None:
                    found[out.name][i] = n.cast(n.select(size <= d, r * r * 0.5, d * (size - d * 0.5)), out.dtype)
                if residual is not None:
                    found[residual.name][i] = n.cast(r, residual.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, delta: float) -> tuple:
        dout, dresidual = douts
        parts = [] if dresidual is None else [dresidual]
        if dout is not None:
            parts.append(b.mul(dout, b.op("clip", X=outs[1], min=-delta, max=delta)))
        dy = parts[0] if len(parts) == 1 else b.add(*parts)
        return lambda: b.scaled(dy, -1.0), dy


@register
class SmoothL1Loss(CheckedOp):
    """Diff = (X - Y) * InsideWeight; Out [N, 1] sums OutsideWeight * f(Diff) over each row of X [N, ...].

    f(d) = (sigma * d)^2 / 2 where |d| < 1 / sigma^2, else |d| - 1 / (2 * sigma^2).

        diff, loss = b.smooth_l1_loss(x, y, sigma=1.0)
    """

    type = "smooth_l1_loss"
    inputs = ("X", "Y", "InsideWeight?", "OutsideWeight?")
    outputs = ("Diff", "Out")
    attrs = {"sigma": Float(1.0)}

    @classmethod
    def infer(cls, x: TensorType, y: TensorType, inside: Any, outside: Any, *, sigma: float) -> tuple:
        float_type(cls.title, x)
        dims.require_at_least(x.rank, 2, f"{cls.title}: the number of dims of X")
        for what, t in (("Y", y), ("InsideWeight", inside), ("OutsideWeight", outside)):
            if t is not None:
                dims.require_same_shape(x.shape, t.shape, f"{cls.title}: X and {what}")
        return x, x.with_shape((x.shape[0], 1))

    @staticmethod
    def reference(x: np.ndarray, y: np.ndarray, inside: Any, outside: Any, *, sigma: float) -> tuple:
        square = x.dtype.type(sigma * sigma)
        diff = x - y if inside is None else (x - y) * inside
        size = np.abs(diff)
        value = np.where(size < 1 / square, diff * diff * square * x.dtype.type(0.5), size - x.dtype.type(0.5) / square)
        value = value if outside is None else value * outside
        return diff, value.reshape(len(x), -1).sum(1, keepdims=True)

    @staticmethod
    def lower(cx: Any, x: Any, y: Any, inside: Any, outside: Any, diff: Any, out: Any, *, sigma: float) -> None:
        compute = widened(x.dtype)
        inputs = [v for v in (x, y, inside, outside) if v is not None]
        outs = [v for v in (diff, out) if v is not None]
        with cx.kernel(inputs, outs) as (k, ins, refs):
            by_name = dict(zip((v.name for v in [*inputs, *outs]), [*ins, *refs], strict=True))
            square = k.attr(sigma * sigma, compute)
            with k.parallel(ins[0].shape[0]) as row:
                width = k.let(dims.product(ins[0].shape[1:]))
                acc = k.var(0.0, compute)
                with k.loop(width) as j:
                    i = k.let(row * width + j)
                    d = n.cast(ins[0][i], compute) - n.cast(ins[1][i], compute)
                    d = k.let(d if inside is None else d * n.cast(by_name[inside.name][i], compute))
                    size = k.let(n.call("abs", d))
                    value = n.select(size < 1.0 / square, d * d * square * 0.5, size - 0.5 / square)
                    if outside is not None:
                        value = value * n.cast(by_name[outside.name][i], compute)
                    acc.add(value)
                    if diff is not None:
                        by_name[diff.name][i] = n.cast(d, diff.dtype)
                if out is not None:
                    by_name[out.name][row] = n.cast(acc.get(), out.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, *, sigma: float) -> tuple:
        def compose(r: Any, x: Any, y: Any, inside: Any, outside: Any) -> tuple:
            diff = r.sub(x, y) if inside is None else r.mul(r.sub(x, y), inside)
            # f(d) = |c| * (|d| - |c| / 2) * sigma^2 with c = d limited to the quadratic part
            bound = 1.0 / (sigma * sigma)
            inner = r.op("abs", X=r.op("clip", X=diff, min=-bound, max=bound))
            value = r.mul(inner, r.sub(r.op("abs", X=diff), r.scaled(inner, 0.5)))
            value = r.scaled(value if outside is None else r.mul(value, outside), sigma * sigma)
            total = r.op("reduce_sum", X=value, dim=list(range(1, len(x.shape))), keep_dim=False)
            return diff, r.op("unsqueeze2", X=total, axes=[1])

        return vjp(b, compose, ins, douts)
