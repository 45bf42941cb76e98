"""nll_loss: the negative log likelihood of the labels, weighted by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import AttributeValueError, DTypeError
from ..loopir import nodes as n
from . import images
from .checked import CheckedOp
from .cross_entropy import HardLabel, are_labels, checked_labels
from .registry import Int, Str, TensorType, register
from .softmax import float_type

ATTRS = {"ignore_index": Int(-100), "reduction": Str("mean")}


def check(op: str, x: TensorType, label: TensorType, weight: TensorType | None, reduction: str) -> None:
    """X [N, C, ...], Label [N, ...] of integers, Weight [C]."""
    float_type(op, x)
    if reduction not in ("mean", "sum", "none"):
        raise AttributeValueError(f"{op}: reduction {reduction!r} is unknown", hint="use 'mean', 'sum' or 'none'")
    if not dtype.is_int(label.dtype):
        raise DTypeError(f"{op}: the label is an integer, got {label.dtype}")
    dims.require_at_least(x.rank, 2, f"{op}: the number of dims of X")
    dims.require_same_shape(
        label.shape, (x.shape[0], *x.shape[2:]), f"{op}: the label and the input without its classes"
    )
    if weight is not None:
        dims.require_equal(
            dims.product(weight.shape), x.shape[1], f"{op}: the number of weights must be that of classes"
        )


def label_weights(label: np.ndarray, weight: np.ndarray | None, counts: np.ndarray, name: np.dtype) -> np.ndarray:
    """The weight of each label, 0 where it is ignored."""
    values = np.ones(label.shape, name) if weight is None else weight.reshape(-1)[label].astype(name)
    return np.where(counts, values, name.type(0))


@register
class NLLLoss(CheckedOp):
    """Out = -Weight[Label] * X[Label]: the sum, the mean (divided by Total_weight) or one for each label ("none").

    X [N, C, ...] are log probabilities, Label int [N, ...] with values in [0, C) or `ignore_index`. OutOfRangeError
    for any other label. Total_weight is the sum of the weights of the labels that count; a mean over none of them is
    0.

        loss, total = b.nll_loss(x, label, reduction="mean")
    """

    type = "nll_loss"
    inputs = ("X", "Label", "Weight?")
    outputs = ("Out", "Total_weight")
    attrs = ATTRS
    may_raise = True
    raises_for = "Label"

    @classmethod
    def values_fit(cls, values: np.ndarray, ins: Sequence[Any], attrs: dict[str, Any]) -> bool:
        return are_labels(values, ins[0].shape[1], attrs["ignore_index"])

    @classmethod
    def infer(
        cls, x: TensorType, label: TensorType, weight: TensorType | None, *, ignore_index: int, reduction: str
    ) -> tuple:
        check(cls.title, x, label, weight, reduction)
        scalar = x.with_shape(())
        return (x.with_shape(label.shape) if reduction == "none" else scalar), scalar

    @classmethod
    def reference(
        cls, x: np.ndarray, label: np.ndarray, weight: np.ndarray | None, *, ignore_index: int, reduction: str
    ) -> tuple:
        index, counts = checked_labels(cls.title, label, x.shape[1], ignore_index)
        name = np.dtype(widened(x.dtype.name))
        weights = label_weights(index, weight, counts, name)
        picked = np.take_along_axis(x, index[:, None], 1)[:, 0].astype(name)
        losses = np.where(counts, -picked * weights, name.type(0))
        total = weights.sum()
        if reduction == "none":
            out = losses
        else:
            out = losses.sum() / (total if reduction == "mean" and total != 0 else name.type(1))
        return np.asarray(out).astype(x.dtype), np.asarray(total).astype(x.dtype)

    @staticmethod
    def lower(
        cx: Any, x: Any, label: Any, weight: Any, out: Any, total: Any, *, ignore_index: int, reduction: str
    ) -> None:
        compute = widened(x.dtype)
        inputs = [v for v in (x, label, weight) if v is not None]
        outs = [v for v in (out, total) if v is not None]
        with cx.kernel(inputs, outs) as (k, (src, labels, *given), refs):
            found = dict(zip((v.name for v in outs), refs, strict=True))
            classes, inner = src.shape[1], k.let(dims.product(src.shape[2:]))
            hard = HardLabel(k, labels, ignore_index, classes)
            losses, weights = k.var(0.0, compute), k.var(0.0, compute)
            # one label after the other: the sums are over all of them
            with k.loop(labels.size) as lane:
                index, counts = hard.at(lane)
                share = n.cast(given[0][index], compute) if given else n.as_expr(1.0, compute)
                share = k.let(n.select(counts, share, 0.0))
                value = n.cast(src[(lane // inner * classes + index) * inner + lane % inner], compute)
                loss = k.let(n.select(counts, -value * share, 0.0))
                losses.add(loss)
                weights.add(share)
                if reduction == "none" and out is not None:
                    found[out.name][lane] = n.cast(loss, x.dtype)
            if reduction != "none" and out is not None:
                mass = weights.get()
                divisor = n.select(mass == 0.0, 1.0, mass) if reduction == "mean" else 1.0
                found[out.name][0] = n.cast(losses.get() / divisor, x.dtype)
            if total is not None:
                found[total.name][0] = n.cast(weights.get(), x.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        if douts[0] is None:
            return None, None, None
        return b.nll_loss_grad(*ins, outs[1], douts[0], **attrs), None, None


@register
class NLLLossGrad(CheckedOp):
    """The gradient of nll_loss in X (only its shape is read): -Weight[Label] * dOut at the label, 0 elsewhere."""

    type = "nll_loss_grad"
    inputs = ("X", "Label", "Weight?", "Total_weight", "Out@GRAD")
    outputs = ("X@GRAD",)
    attrs = ATTRS
    shape_only = frozenset({"X"})
    may_raise = True

    @classmethod
    def infer(
        cls,
        x: TensorType,
        label: TensorType,
        weight: TensorType | None,
        total: TensorType,
        dout: TensorType,
        *,
        ignore_index: int,
        reduction: str,
    ) -> TensorType:
        _, one = NLLLoss.infer(x, label, weight, ignore_index=ignore_index, reduction=reduction)
        dims.require_equal(dims.product(total.shape), 1, f"{cls.title}: Total_weight must have one element")
        wanted = label.shape if reduction == "none" else one.shape
        dims.require_equal(dims.product(dout.shape), dims.product(wanted), f"{cls.title}: the gradient does not have the shape of the loss")
        return x

    @classmethod
    def reference(
        cls,
        x: np.ndarray,
        label: np.ndarray,
        weight: np.ndarray | None,
        total: np.ndarray,
        dout: np.ndarray,
        *,
        ignore_index: int,
        reduction: str,
    ) -> np.ndarray:
        index, counts = checked_labels(cls.title, label, x.shape[1], ignore_index)
        name = np.dtype(widened(x.dtype.name))
        values = -label_weights(index, weight, counts, name) * dout.astype(name)
        if reduction == "mean":
            values = values / np.where(total == 0, 1, total).astype(name)
        dx = np.zeros(x.shape, name)
        np.put_along_axis(dx, index[:, None], values[:, None], 1)
        return dx.astype(x.dtype)

    @staticmethod
    def lower(
        cx: Any, x: Any, label: Any, weight: Any, total: Any, dout: Any, dx: Any, *, ignore_index: int, reduction: str
    ) -> None:
        compute = widened(x.dtype)
        inputs = [v for v in (x, label, weight) if v is not None]
        with cx.kernel([total, dout, *inputs], [dx]) as (k, (mass, grad, src, labels, *given), (dst,)):
            classes, inner = src.shape[1], k.let(dims.product(src.shape[2:]))
            hard = HardLabel(k, labels, ignore_index, classes)
            divisor = n.as_expr(1.0, compute)
            if reduction == "mean":
                divisor = k.let(n.cast(mass[0], compute))
                divisor = k.let(n.select(divisor == 0.0, 1.0, divisor))

            with k.parallel(src.shape[0]) as sample:
                images.fill(k, dst, sample * classes * inner, classes * inner, 0.0)
                with k.loop(inner) as p:
                    lane = k.let(sample * inner + p)
                    index, counts = hard.at(lane)
                    share = n.cast(given[0][index], compute) if given else n.as_expr(1.0, compute)
                    g = n.cast(grad[lane if reduction == "none" else 0], compute)
                    value = n.select(counts, -share * g / divisor, 0.0)
                    dst[(sample * classes + index) * inner + p] = n.cast(value, dst.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        _, label, weight, _, _ = ins
        # linear in the gradient of Out: its adjoint is nll_loss itself
        return None, None, None, None, lambda: b.nll_loss(douts[0], label, weight, **attrs)[0]
