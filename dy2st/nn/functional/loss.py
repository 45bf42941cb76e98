"""Losses. `reduction` is "mean", "sum" or "none" (the loss of each element or sample)."""

from __future__ import annotations

import math as _math
from typing import Any

from dy2st_runtime import dims

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, logic, manipulation, math, scaling, search
from ...tensor import reduction as _reduction
from ...tensor.arguments import known
from ...tensor.attribute import size_of
from ...tensor.composite import composite
from ...tensor.dispatch import ops
from ...tensor.failures import require_sizes
from ...tensor.promotion import as_tensor, cast
from . import activation


def reduced(loss: Tensor, how: str) -> Tensor:
    """The mean, the sum, or the loss as it is.

    Raises:
        AttributeValueError: the reduction is unknown.
    """
    if how == "mean":
        return _reduction.mean(loss)
    if how == "sum":
        return _reduction.sum(loss)
    if how == "none":
        return loss
    raise AttributeValueError(f"reduction {how!r} is unknown", hint="use 'mean', 'sum' or 'none'")


@composite
def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Tensor:
    """(input - label) ** 2.

    >>> mse_loss(Tensor([1.0, 3.0]), Tensor([1.0, 1.0])).numpy()
    array(2., dtype=float32)
    """
    return reduced(math.square(math.subtract(input, label)), reduction)


@composite
def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Tensor:
    """`|input - label|`."""
    return reduced(math.abs(math.subtract(input, label)), reduction)


@composite
def smooth_l1_loss(
    input: Any, label: Any, reduction: str = "mean", delta: float = 1.0, name: str | None = None
) -> Tensor:
    """`0.5 * d ** 2` where `d = |input - label| < delta`, else `delta * (d - 0.5 * delta)`."""
    delta = float(known(delta, "smooth_l1_loss: delta"))
    return reduced(ops.op("huber_loss", X=as_tensor(input), Y=as_tensor(label), delta=delta)[0], reduction)


@composite
def kl_div(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Tensor:
    """label * (log(label) - input), `input` being log-probabilities; 0 where the label is not positive. `reduction` can
    also be "batchmean": the sum divided by the batch size."""
    input, label = as_tensor(input), as_tensor(label)
    positive = label > 0
    safe = logic.where(positive, label, 1.0)
    loss = logic.where(positive, label * (math.log(safe) - input), 0.0)
    if reduction == "batchmean":
        return reduced(loss, "sum") / input.shape[0]
    return reduced(loss, reduction)


def cross_entropy(input: Any, label: Any, weight: Tensor | None = None, ignore_index: int = -100,
                  reduction: str = "mean", soft_label: bool = False, axis: int = -1, use_softmax: bool = True,
                  label_smoothing: float = 0.0, name: str | None = None) -> Tensor:  # fmt: skip
    """-log of the probability of the label, the probabilities being softmax(input) along `axis`.

    Args:
        input: Tensor [..., C, ...]: logits, or probabilities without `use_softmax`.
        label: integers [..., ...] or [..., 1, ...]; with `soft_label`, probabilities of the shape of the input.
        weight: Tensor [C]: a factor for each class; the mean is then the weighted one.
        ignore_index: samples with this label have the loss 0. If it is negative they count in the mean all the same (without
            `weight`), as in PaddlePaddle.
        label_smoothing: this much of the probability is spread over all classes.

    Returns:
        0-d Tensor, or with reduction "none" the shape of the label (soft: with size 1 on the axis).

    Raises:
        OutOfRangeError: a label is not a class.
        ShapeError: the shapes do not fit.

    >>> round(cross_entropy(Tensor([[0.0, 0.0]]), Tensor([1])).item(), 4)
    0.6931
    """
    input, label = as_tensor(input), as_tensor(label)
    axis = axis % input.ndim
    if weight is not None:
        weight = as_tensor(weight)
        # a longer weight would be read in part, and nobody would notice
        def message() -> str:
            return (f"cross_entropy: the weight must have shape {dims.show([input._form.shape[axis]])}, one for each class, "
                    f"got {dims.show(weight._form.shape)}")  # fmt: skip

        require_sizes(weight.ndim == 1, message)
        require_sizes(size_of(weight, 0) == size_of(input, axis), message)
    classes = input.shape[axis]
    if soft_label:
        if label_smoothing > 0:
            label = scaling.scale(label, 1 - label_smoothing, label_smoothing / classes)
        return _soft_cross_entropy(input, label, weight, reduction, axis, use_softmax)
    squeeze = label.ndim + 1 == input.ndim
    if squeeze:
        label = manipulation.unsqueeze(label, axis)
    elif label.ndim != input.ndim:
        raise ShapeError(f"cross_entropy: labels with {label.ndim} dims do not fit an input with {input.ndim}")
    loss = ops.op("softmax_with_cross_entropy", Logits=input, Label=label, axis=axis, ignore_index=ignore_index,
                  use_softmax=use_softmax)[1]  # fmt: skip
    factor = cast(label != ignore_index, input.dtype)
    if label_smoothing > 0:
        # the share of the probability that all classes get alike is a loss of its own, which ignored samples have not
        alike = ops.op("fill_any_like", X=input, value=1.0)
        spread = ops.op("softmax_with_cross_entropy", Logits=input, Label=alike, axis=axis, soft_label=True,
                        use_softmax=use_softmax)[1]  # fmt: skip
        loss = loss * (1 - label_smoothing) + spread * factor * (label_smoothing / classes)
    if weight is not None:
        safe = logic.where(label == ignore_index, 0, label)
        own = manipulation.reshape(manipulation.gather(weight, manipulation.reshape(safe, [-1])), label.shape)
        if label_smoothing > 0:
            own = own * (1 - label_smoothing) + _reduction.mean(weight) * label_smoothing
        factor = factor * own
        loss = loss * factor
    if reduction == "mean" and (weight is not None or ignore_index >= 0):
        total = _sum(factor)
        return _sum(loss) / logic.where(total == 0, 1.0, total)
    return reduced(manipulation.squeeze(loss, axis) if squeeze else loss, reduction)


def _sum(x: Tensor) -> Tensor:
    return _reduction.sum(x)


def _soft_cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None, how: str, axis: int, use_softmax: bool
) -> Tensor:
    loss = ops.op("softmax_with_cross_entropy", Logits=input, Label=label, axis=axis, soft_label=True,
                  use_softmax=use_softmax)[1]  # fmt: skip
    if weight is None:
        return reduced(loss, how)
    shape = [-1] + [1] * (input.ndim - 1 - axis)
    factor = _reduction.sum(label * manipulation.reshape(weight, shape), axis, keepdim=True)
    loss = loss * factor
    return _sum(loss) / _sum(factor) if how == "mean" else reduced(loss, how)


def softmax_with_cross_entropy(logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100,
                               numeric_stable_mode: bool = True, return_softmax: bool = False, axis: int = -1) -> Any:  # fmt: skip
    """The loss of each sample, with size 1 on the axis; with `return_softmax` also the probabilities."""
    logits, label = as_tensor(logits), as_tensor(label)
    if not soft_label and label.ndim + 1 == logits.ndim:
        label = manipulation.unsqueeze(label, axis)
    softmax, loss = ops.op("softmax_with_cross_entropy", Logits=logits, Label=label, soft_label=soft_label,
                           ignore_index=ignore_index, axis=axis)  # fmt: skip
    return (loss, softmax) if return_softmax else loss


def nll_loss(input: Any, label: Any, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
             name: str | None = None) -> Tensor:  # fmt: skip
    """-input[n, label[n]], `input` being log-probabilities [N, C] or [N, C, ...]; the mean is the weighted one.

    >>> nll_loss(Tensor([[-0.5, -1.0]]), Tensor([1])).numpy()
    array(1., dtype=float32)
    """
    factors = None if weight is None else as_tensor(weight)
    return ops.op("nll_loss", X=as_tensor(input), Label=as_tensor(label), Weight=factors, ignore_index=ignore_index,
                  reduction=reduction)[0]  # fmt: skip


@composite
def binary_cross_entropy(input: Any, label: Any, weight: Tensor | None = None, reduction: str = "mean",
                         name: str | None = None) -> Tensor:  # fmt: skip
    """-(label * log(input) + (1 - label) * log(1 - input)), `input` being probabilities; a log is at least -100.

    >>> round(binary_cross_entropy(Tensor([0.5]), Tensor([1.0])).item(), 4)
    0.6931
    """
    loss = ops.op("bce_loss", X=as_tensor(input), Label=as_tensor(label))
    return reduced(loss if weight is None else math.multiply(loss, weight), reduction)


@composite
def binary_cross_entropy_with_logits(logit: Any, label: Any, weight: Tensor | None = None, reduction: str = "mean",
                                     pos_weight: Tensor | None = None, name: str | None = None) -> Tensor:  # fmt: skip
    """`binary_cross_entropy` of sigmoid(logit), without overflow; `pos_weight` is a factor on the first term."""
    logit, label = as_tensor(logit), as_tensor(label)
    if pos_weight is None:
        loss = activation.softplus(logit) - logit * label
    else:
        loss = label * pos_weight * activation.softplus(-logit) + (1.0 - label) * activation.softplus(logit)
    return reduced(loss if weight is None else math.multiply(loss, weight), reduction)


def sigmoid_focal_loss(logit: Any, label: Any, normalizer: Tensor | None = None, alpha: float = 0.25,
                       gamma: float = 2.0, reduction: str = "sum", name: str | None = None) -> Tensor:  # fmt: skip
    """`binary_cross_entropy_with_logits` with the factor alpha_t * (1 - p_t) ** gamma, divided by the normalizer."""
    logit, label = as_tensor(logit), as_tensor(label)
    p = activation.sigmoid(logit)
    loss = binary_cross_entropy_with_logits(logit, label, reduction="none")
    p_t = p * label + (1.0 - p) * (1.0 - label)
    loss = loss * (alpha * label + (1 - alpha) * (1.0 - label)) * math.pow(1.0 - p_t, gamma)
    return reduced(loss if normalizer is None else loss / normalizer, reduction)


def margin_ranking_loss(input: Any, other: Any, label: Any, margin: float = 0.0, reduction: str = "mean",
                        name: str | None = None) -> Tensor:  # fmt: skip
    """max(0, -label * (input - other) + margin), the label being 1 or -1."""
    difference = math.multiply(label, math.subtract(other, input))
    return reduced(activation.relu(math.add(difference, margin)), reduction)


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Tensor:
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon), element by element."""
    input, label = as_tensor(input), as_tensor(label)
    return -(label * math.log(input + epsilon)) - (1.0 - label) * math.log(1.0 - input + epsilon)


def poisson_nll_loss(input: Any, label: Any, log_input: bool = True, full: bool = False, epsilon: float = 1e-8,
                     reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """-log of the Poisson probability of the label, the rate being exp(input), or without `log_input` the input.

    Args:
        full: with Stirling's approximation of log(label!), which does not depend on the input.
        epsilon: added to a rate before its logarithm.
    """
    input, label = as_tensor(input), as_tensor(label)
    loss = math.exp(input) - label * input if log_input else input - label * math.log(input + epsilon)
    if full:
        safe = logic.where(label > 1, label, 1.0)
        stirling = label * math.log(safe) - label + 0.5 * math.log(safe * (2 * _math.pi))
        loss = loss + logic.where(label > 1, stirling, 0.0)
    return reduced(loss, reduction)


def gaussian_nll_loss(input: Any, label: Any, variance: Any, full: bool = False, epsilon: float = 1e-6,
                      reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """-log of the normal probability of the label: (log(variance) + (input - label) ** 2 / variance) / 2; the variance is at
    least epsilon. `full` adds log(2 pi) / 2."""
    variance = math.maximum(as_tensor(variance), epsilon)
    loss = 0.5 * (math.log(variance) + math.square(math.subtract(input, label)) / variance)
    return reduced(loss + 0.5 * _math.log(2 * _math.pi) if full else loss, reduction)


def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Tensor:
    """`1 - 2 * |input and label| / (|input| + |label|)`, the mean over the batch.

    Args:
        input: probabilities [N, ..., classes].
        label: integers [N, ..., 1].
    """
    input = as_tensor(input)
    wanted = cast(search.one_hot(manipulation.squeeze(label, -1), input.shape[-1]), input.dtype)
    axes = list(range(1, input.ndim))
    both = _reduction.sum(input * wanted, axes)
    total = _reduction.sum(input, axes) + _reduction.sum(wanted, axes)
    return _reduction.mean(1.0 - both * 2.0 / (total + epsilon))
