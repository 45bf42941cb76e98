"""Cross entropy of classes: softmax_with_cross_entropy, cross_entropy (of probabilities), nll_loss, and their
gradients.

A hard label is an integer in [0, classes), or `ignore_index`, which gives neither loss nor gradient; any other value
raises OutOfRangeError. A soft label is a distribution with the shape of the logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims, dtype
from ..dtype import widened
from ..errors import DTypeError, OutOfRangeError
from ..loopir import nodes as n
from .checked import CheckedOp
from .elementwise import widened_array
from .lanes import Lanes, scratch
from .registry import Bool, Int, TensorType, register
from .softmax import axis_sum, float_type, lane_softmax

LARGEST_LOSS = 1e20
"""-log(0) of a probability: large, but finite, as in Paddle."""


def check_labels(op: str, x: TensorType, label: TensorType, axis: int, soft: bool) -> TensorType:
    """The type of the loss: that of x with size 1 along the axis."""
    float_type(op, x)
    axis = dims.normalize_axis(axis, x.rank, f"{op}: axis")
    if soft and label.dtype != x.dtype:
        raise DTypeError(f"{op}: a soft label has the dtype of the input, {x.dtype}; got {label.dtype}")
    if not soft and not dtype.is_int(label.dtype):
        raise DTypeError(f"{op}: a hard label is an integer, got {label.dtype}",
                         hint="cast it to int64, or set soft_label=True for probabilities")  # fmt: skip
    dims.require_equal(label.rank, x.rank, f"{op}: the label must have as many dims as the input",
                       "a hard label has size 1 along the axis of the classes")  # fmt: skip
    expected = x.shape if soft else (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    for i, (a, c) in enumerate(zip(label.shape, expected, strict=True)):
        dims.require_equal(a, c, f"{op}: axis {i} of the label does not fit the input",
                           "labels have the shape of the input without the axis of the classes, soft ones all of it")  # fmt: skip
    return x.with_shape((*x.shape[:axis], 1, *x.shape[axis + 1 :]))


def checked_labels(op: str, label: np.ndarray, classes: int, ignored: int) -> tuple[np.ndarray, np.ndarray]:
    """The labels as indices that are safe to use, and which count."""
    counts = label != ignored
    wrong = counts & ((label < 0) | (label >= classes))
    if wrong.any():
        raise OutOfRangeError(f"{op}: label {label[wrong][0]} is out of range for {classes} classes",
                              hint=f"labels are 0 to {classes - 1}, or ignore_index ({ignored})")  # fmt: skip
    return np.where(counts, label, 0).astype(np.intp), counts


def are_labels(label: np.ndarray, classes: int, ignored: int) -> bool:
    """Whether each label is a class, or ignored."""
    if not label.size or (label.min() >= 0 and label.max() < classes):
        return True
    return not ((label != ignored) & ((label < 0) | (label >= classes))).any()


def one_hot(label: np.ndarray, axis: int, x: np.ndarray) -> np.ndarray:
    """1 at the label, 0 elsewhere, like x."""
    out = np.zeros_like(x)
    np.put_along_axis(out, label, 1, axis)
    return out


def clipped_log(k: Any, x: n.Expr, bound: n.Expr) -> n.Expr:
    """max(log(x), bound), where NaN stays NaN."""
    value = k.let(n.call("log", x))
    return n.select(value < bound, bound, value)


class HardLabel:
    """The label of each lane in a kernel: `index` is safe to use, `counts` is False where it is ignored."""

    def __init__(self, k: Any, label: Any, ignored: int, classes: Any):
        self.k, self.label, self.classes = k, label, classes
        self.ignored = k.attr(ignored)

    def at(self, lane: Any) -> tuple[n.Expr, n.Expr]:
        value = self.k.let(n.cast(self.label[lane], n.INDEX))
        counts = self.k.let(value != self.ignored)
        self.k.fail_if(counts & ((value < 0) | (value >= self.classes)))
        return self.k.let(n.select(counts, value, 0)), counts


SOFTMAX_ATTRS = {
    "soft_label": Bool(False),
    "use_softmax": Bool(True),
    "numeric_stable_mode": Bool(True),
    "ignore_index": Int(-100),
    "axis": Int(-1),
}


@register
class SoftmaxWithCrossEntropy(CheckedOp):
    """Loss = -log(softmax(Logits)[Label]) along `axis`, or -sum(Label * log(softmax(Logits))) with `soft_label`.

    Logits [N, C] (classes along `axis`), Label int [N, 1] or like Logits → Softmax like Logits, Loss [N, 1]. With
    `use_softmax` False the Logits are probabilities already. ShapeError, DTypeError; OutOfRangeError for a label that
    is no class.

        softmax, loss = b.softmax_with_cross_entropy(logits, label, ignore_index=-100)
    """

    type = "softmax_with_cross_entropy"
    title = "cross_entropy"
    inputs = ("Logits", "Label")
    outputs = ("Softmax", "Loss")
    attrs = SOFTMAX_ATTRS
    may_raise = True
    raises_for = "Label"

    @classmethod
    def values_fit(cls, values: np.ndarray, ins: Sequence[Any], attrs: dict[str, Any]) -> bool:
        return attrs["soft_label"] or are_labels(values, ins[0].shape[attrs["axis"]], attrs["ignore_index"])

    @classmethod
    def infer(cls, x: TensorType, label: TensorType, *, soft_label: bool, axis: int, **attrs: Any) -> tuple:
        return x, check_labels(cls.title, x, label, axis, soft_label)

    @classmethod
    def reference(
        cls,
        x: np.ndarray,
        label: np.ndarray,
        *,
        soft_label: bool,
        use_softmax: bool,
        ignore_index: int,
        axis: int,
        **attrs: Any,
    ) -> tuple:
        logits = widened_array(x)
        if use_softmax:
            shifted = logits - logits.max(axis, keepdims=True, initial=-np.inf)
            e = np.exp(shifted)
            total = e.sum(axis, keepdims=True)
            log, softmax = shifted - np.log(total), e / total
        else:
            log, softmax = np.maximum(np.log(logits), -LARGEST_LOSS), logits
        if soft_label:
            loss = -(label * log).sum(axis, keepdims=True)
        else:
            index, counts = checked_labels(cls.title, label, x.shape[axis], ignore_index)
            loss = np.where(counts, -np.take_along_axis(log, index, axis), 0)
        return softmax.astype(x.dtype, copy=False), loss.astype(x.dtype, copy=False)

    @classmethod
    def lower(
        cls,
        cx: Any,
        x: Any,
        label: Any,
        softmax: Any,
        loss: Any,
        *,
        soft_label: bool,
        use_softmax: bool,
        ignore_index: int,
        axis: int,
        **attrs: Any,
    ) -> None:
        compute = widened(x.dtype)
        outs = [v for v in (softmax, loss) if v is not None]
        temps = scratch(cx, x, axis, 5, compute)
        with cx.kernel([x, label], [*outs, *temps]) as (k, (src, target), refs):
            found = dict(zip((v.name for v in outs), refs, strict=False))
            probabilities = None if softmax is None else found[softmax.name]
            lanes = Lanes(k, src.shape, axis, refs[len(outs) :])
            hard = None if soft_label else HardLabel(k, target, ignore_index, lanes.size)
            load = lambda ref, i: n.cast(ref[i], compute)  # noqa: E731
            with lanes.groups() as group:
                if use_softmax:
                    top, total = lane_softmax(group, src, probabilities, compute)
                    shift = group.of_lane(compute, lambda lane: n.call("log", total(lane)))
                    log = lambda i, lane: (load(src, i) - top(lane)) - shift(lane)  # noqa: E731
                else:
                    bound = n.as_expr(-LARGEST_LOSS, compute)
                    log = lambda i, lane: clipped_log(k, load(src, i), bound)  # noqa: E731
                    if probabilities is not None:
                        group.store(probabilities, lambda i, lane: load(src, i))
                if hard is None:
                    sums = group.total(compute, lambda i, lane: load(target, i) * log(i, lane))
                with group.each() as (lane, start):
                    if hard is None:
                        value = -sums(lane)
                    else:
                        index, counts = hard.at(lane)
                        value = n.select(counts, -log(start + index * lanes.inner, lane), 0.0)
                    if loss is not None:
                        found[loss.name][lane] = n.cast(value, loss.dtype)

    @staticmethod
    def grad(b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        _, label = ins
        dsoftmax, dloss = douts

        def of_logits() -> Any:
            total = None
            if dloss is not None:
                total = b.softmax_with_cross_entropy_grad(label, outs[0], dloss, **attrs)
            if dsoftmax is not None:
                part = b.softmax_grad(outs[0], dsoftmax, axis=attrs["axis"]) if attrs["use_softmax"] else dsoftmax
                total = part if total is None else b.add(total, part)
            return total

        return of_logits, None


@register
class SoftmaxWithCrossEntropyGrad(CheckedOp):
    """The gradient of Loss in the Logits: (Softmax - one_hot(Label)) * dLoss; with use_softmax False -one_hot /
    Softmax * dLoss."""

    type = "softmax_with_cross_entropy_grad"
    inputs = ("Label", "Softmax", "Loss@GRAD")
    outputs = ("Logits@GRAD",)
    attrs = SOFTMAX_ATTRS
    may_raise = True

    @classmethod
    def infer(
        cls, label: TensorType, softmax: TensorType, dloss: TensorType, *, soft_label: bool, axis: int, **attrs: Any
    ) -> TensorType:
        loss = check_labels(cls.title, softmax, label, axis, soft_label)
        dims.require_same_shape(
            dloss.shape, loss.shape, f"{cls.title}: the gradient does not have the shape of the loss"
        )
        return softmax

    @classmethod
    def reference(
        cls,
        label: np.ndarray,
        softmax: np.ndarray,
        dloss: np.ndarray,
        *,
        soft_label: bool,
        use_softmax: bool,
        ignore_index: int,
        axis: int,
        **attrs: Any,
    ) -> np.ndarray:
        name = widened(softmax.dtype.name)
        y, grad = softmax.astype(name, copy=False), dloss.astype(name, copy=False)
        if soft_label:
            target = label.astype(name, copy=False)
            mass = target.sum(axis, keepdims=True)
        else:
            index, counts = checked_labels(cls.title, label, softmax.shape[axis], ignore_index)
            target, mass = one_hot(index, axis, y), y.dtype.type(1)
            grad = np.where(counts, grad, 0)
        local = y * mass - target if use_softmax else np.where(target == 0, 0, -target / y)
        return (local * grad).astype(softmax.dtype, copy=False)

    @staticmethod
    def lower(
        cx: Any,
        label: Any,
        softmax: Any,
        dloss: Any,
        out: Any,
        *,
        soft_label: bool,
        use_softmax: bool,
        ignore_index: int,
        axis: int,
        **attrs: Any,
    ) -> None:
        compute = widened(softmax.dtype)
        temps = scratch(cx, softmax, axis, 1, compute)
        with cx.kernel([label, softmax, dloss], [out, *temps]) as (k, (target, y, grad), (dst, *refs)):
            lanes = Lanes(k, y.shape, axis, refs)
            hard = None if soft_label else HardLabel(k, target, ignore_index, lanes.size)
            load = lambda ref, i: n.cast(ref[i], compute)  # noqa: E731

            def local(i: Any, share: n.Expr, mass: Any) -> n.Expr:
                if use_softmax:
                    return load(y, i) * mass - share
                return n.select(share == 0.0, 0.0, -share / load(y, i))

            with lanes.groups() as group:
                if hard is None:
                    mass: Any = group.total(compute, lambda i, lane: load(target, i))
                    group.store(dst, lambda i, lane: local(i, load(target, i), mass(lane)) * load(grad, lane))
                else:
                    # everywhere as if the label were another class, then once more at the label
                    zero, one = n.as_expr(0.0, compute), n.as_expr(1.0, compute)
                    factor = group.of_lane(compute, lambda lane: n.select(hard.at(lane)[1], load(grad, lane), 0.0))
                    group.store(dst, lambda i, lane: local(i, zero, 1.0) * factor(lane))
                    with group.each() as (lane, start):
                        at = k.let(start + hard.at(lane)[0] * lanes.inner)
                        dst[at] = n.cast(local(at, one, 1.0) * factor(lane), dst.dtype)

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        label, y, dloss = ins
        c, axis = douts[0], attrs["axis"]
        again = lambda s, g: b.op(cls.type, Label=label, Softmax=s, **{"Loss@GRAD": g}, **attrs)  # noqa: E731

        def like(x: Any, value: float) -> Any:
            return b.op("fill_any_like", X=x, value=value)

        def of_softmax() -> Any:
            if not attrs["use_softmax"]:
                # out = -target / y * dloss, so its derivative in y is -out / y
                return b.scaled(b.div(b.mul(c, outs[0]), y), -1.0)
            # linear in y: the difference of two values is the factor (mass * dloss, 0 where the label is ignored)
            return b.mul(c, b.sub(again(like(y, 1.0), dloss), again(like(y, 0.0), dloss)))

        return None, of_softmax, lambda: axis_sum(b, b.mul(c, again(y, like(dloss, 1.0))), axis)


@register
class CrossEntropy(CheckedOp):
    """Y = -log(X[Label]) for probabilities X [N, ..., C] (classes last), or -sum(Label * log(X)) with `soft_label`.

    Label int [N, ..., 1] or like X → Y [N, ..., 1]. Errors as for softmax_with_cross_entropy.

        loss = b.cross_entropy(probabilities, label)
    """

    type = "cross_entropy"
    inputs = ("X", "Label")
    outputs = ("Y",)
    attrs = {"soft_label": Bool(False), "ignore_index": Int(-100)}
    may_raise = True

    @staticmethod
    def shared(attrs: dict[str, Any]) -> dict[str, Any]:
        """The attributes of softmax_with_cross_entropy that mean the same."""
        return {**attrs, "use_softmax": False, "numeric_stable_mode": True, "axis": -1}

    @classmethod
    def infer(cls, x: TensorType, label: TensorType, *, soft_label: bool, **attrs: Any) -> TensorType:
        return check_labels(cls.title, x, label, -1, soft_label)

    @classmethod
    def reference(cls, x: np.ndarray, label: np.ndarray, **attrs: Any) -> np.ndarray:
        return SoftmaxWithCrossEntropy.reference(x, label, **cls.shared(attrs))[1]

    @classmethod
    def lower(cls, cx: Any, x: Any, label: Any, y: Any, **attrs: Any) -> None:
        SoftmaxWithCrossEntropy.lower(cx, x, label, None, y, **cls.shared(attrs))

    @classmethod
    def grad(cls, b: Any, ins: tuple, outs: tuple, douts: tuple, **attrs: Any) -> tuple:
        x, label = ins
        return lambda: b.softmax_with_cross_entropy_grad(label, x, douts[0], **cls.shared(attrs)), None
