"""Losses that compare: distances, angles and signs with a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import AttributeValueError, ShapeError
from ...tensor import Tensor, logic, math
from ...tensor import reduction as _reduction
from ...tensor.promotion import as_tensor
from . import activation
from .common import pairwise_distance
from .loss import reduced


def cosine_embedding_loss(input1: Any, input2: Any, label: Any, margin: float = 0.0, reduction: str = "mean",
                          name: str | None = None) -> Tensor:  # fmt: skip
    """1 - cos for pairs with the label 1, max(0, cos - margin) for those with -1, cos being the cosine of their angle.

    Args:
        input1, input2: Tensors [N, size] or [size].
        label: 1 or -1 for each pair: [N], or without dims.

    Raises:
        ShapeError: the labels do not fit the inputs.

    >>> cosine_embedding_loss(Tensor([[1.0, 0.0]]), Tensor([[0.0, 1.0]]), Tensor([1])).numpy()
    array(1., dtype=float32)
    """
    a, b, label = as_tensor(input1), as_tensor(input2), as_tensor(label)
    if a.ndim not in (1, 2) or b.ndim != a.ndim or label.ndim != a.ndim - 1:
        raise ShapeError("cosine_embedding_loss takes inputs [N, size] and labels [N], or inputs [size] and one label, got "
                         f"{a.ndim}, {b.ndim} and {label.ndim} dims")  # fmt: skip
    squares = (_reduction.sum(a * a, -1) + 1e-11) * (_reduction.sum(b * b, -1) + 1e-11)
    cosine = _reduction.sum(a * b, -1) / math.sqrt(squares)
    loss = logic.where(label == 1, 1.0 - cosine, logic.where(label == -1, activation.relu(cosine - margin), 0.0))
    return reduced(loss, reduction)


def hinge_embedding_loss(input: Any, label: Any, margin: float = 1.0, reduction: str = "mean",
                         name: str | None = None) -> Tensor:  # fmt: skip
    """input where the label is 1, max(0, margin - input) where it is -1.

    >>> hinge_embedding_loss(Tensor([0.5, 0.5]), Tensor([1.0, -1.0])).numpy()
    array(0.5, dtype=float32)
    """
    input, label = as_tensor(input), as_tensor(label)
    other = logic.where(label == -1, activation.relu(margin - input), 0.0)
    return reduced(logic.where(label == 1, input, other), reduction)


def triplet_margin_with_distance_loss(input: Any, positive: Any, negative: Any,
                                      distance_function: Callable[[Any, Any], Tensor] | None = None, margin: float = 1.0,
                                      swap: bool = False, reduction: str = "mean", name: str | None = None) -> Tensor:  # fmt: skip
    """max(0, d(input, positive) - d(input, negative) + margin), with the euclidean distance by default.

    Args:
        swap: take the distance from `positive` to `negative` where it is the smaller one.

    Raises:
        AttributeValueError: the margin is not positive.
    """
    if margin <= 0:
        raise AttributeValueError(f"the margin between positive and negative samples must be positive, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = math.minimum(far, distance(positive, negative))
    return reduced(activation.relu(near - far + margin), reduction)


def triplet_margin_loss(input: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2.0,
                        epsilon: float = 1e-6, swap: bool = False, reduction: str = "mean",
                        name: str | None = None) -> Tensor:  # fmt: skip
    """max(0, d(input, positive) - d(input, negative) + margin), d being `pairwise_distance` with p and epsilon.

    >>> x, y = Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]])
    >>> triplet_margin_loss(x, y, y, epsilon=0.0).numpy()
    array(1., dtype=float32)
    """
    return triplet_margin_with_distance_loss(input, positive, negative, lambda a, b: pairwise_distance(a, b, p, epsilon),
                                             margin, swap, reduction)  # fmt: skip


def soft_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Tensor:
    """log(1 + exp(-label * input)), the label being 1 or -1."""
    return reduced(activation.softplus(-(as_tensor(label) * as_tensor(input))), reduction)


def multi_label_soft_margin_loss(input: Any, label: Any, weight: Tensor | None = None, reduction: str = "mean",
                                 name: str | None = None) -> Tensor:  # fmt: skip
    """The mean over classes of the binary cross entropy of sigmoid(input): [N, classes] → [N] before the reduction."""
    input, label = as_tensor(input), as_tensor(label)
    loss = -(label * activation.log_sigmoid(input) + (1.0 - label) * activation.log_sigmoid(-input))
    return reduced(_reduction.mean(loss if weight is None else loss * weight, -1), reduction)
