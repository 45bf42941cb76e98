"""Losses as layers; each has the options of its function in `nn.functional`."""

from __future__ import annotations

from typing import Any

from ..errors import AttributeValueError
from ..tensor import Tensor
from . import functional as F
from .layer import Layer


class Loss(Layer):
    """Base of losses."""

    reductions: tuple[str, ...] = ("mean", "sum", "none")

    def __init__(self, reduction: str) -> None:
        super().__init__()
        if reduction not in self.reductions:
            known = ", ".join(map(repr, self.reductions))
            raise AttributeValueError(f"reduction {reduction!r} is unknown", hint=f"use one of {known}")
        self.reduction = reduction


class MSELoss(Loss):
    """(input - label) ** 2.

    >>> MSELoss()(Tensor([1.0, 3.0]), Tensor([1.0, 1.0])).numpy()
    array(2., dtype=float32)
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__(reduction)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Loss):
    """`|input - label|`."""

    def __init__(self, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.l1_loss(input, label, self.reduction)


class SmoothL1Loss(Loss):
    """Squared below delta, linear above."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0, name: str | None = None):
        super().__init__(reduction)
        self.delta = delta

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.smooth_l1_loss(input, label, self.reduction, self.delta)


class CrossEntropyLoss(Loss):
    """-log of the probability of the label, from logits; see `functional.cross_entropy`."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
                 soft_label: bool = False, axis: int = -1, use_softmax: bool = True, label_smoothing: float = 0.0,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(reduction)
        self.weight, self.ignore_index, self.soft_label, self.axis = weight, ignore_index, soft_label, axis
        self.use_softmax, self.label_smoothing = use_softmax, label_smoothing

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.cross_entropy(input, label, self.weight, self.ignore_index, self.reduction, self.soft_label, self.axis,
                               self.use_softmax, self.label_smoothing)  # fmt: skip


class NLLLoss(Loss):
    """-log of the probability of the label, from log-probabilities."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(reduction)
        self.weight, self.ignore_index = weight, ignore_index

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.nll_loss(input, label, self.weight, self.ignore_index, self.reduction)


class BCELoss(Loss):
    """Binary cross entropy of probabilities."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)
        self.weight = weight

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.binary_cross_entropy(input, label, self.weight, self.reduction)


class BCEWithLogitsLoss(Loss):
    """Binary cross entropy of logits."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None,
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(reduction)
        self.weight, self.pos_weight = weight, pos_weight

    def forward(self, logit: Any, label: Any) -> Tensor:
        return F.binary_cross_entropy_with_logits(logit, label, self.weight, self.reduction, self.pos_weight)


class KLDivLoss(Loss):
    """label * (log(label) - input), the input being log-probabilities."""

    reductions = (*Loss.reductions, "batchmean")

    def __init__(self, reduction: str = "mean"):
        super().__init__(reduction)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.kl_div(input, label, self.reduction)


class MarginRankingLoss(Loss):
    """max(0, -label * (input - other) + margin)."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input: Any, other: Any, label: Any) -> Tensor:
        return F.margin_ranking_loss(input, other, label, self.margin, self.reduction)


class HingeEmbeddingLoss(Loss):
    """The input where the label is 1, max(0, margin - input) where it is -1."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.hinge_embedding_loss(input, label, self.margin, self.reduction)


class CosineEmbeddingLoss(Loss):
    """1 - cos for pairs with the label 1, max(0, cos - margin) for those with -1."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, label: Any) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, label, self.margin, self.reduction)


class TripletMarginLoss(Loss):
    """max(0, d(input, positive) - d(input, negative) + margin); see `functional.triplet_margin_loss`."""

    def __init__(self, margin: float = 1.0, p: float = 2.0, epsilon: float = 1e-6, swap: bool = False,
                 reduction: str = "mean", name: str | None = None) -> None:  # fmt: skip
        super().__init__(reduction)
        self.margin, self.p, self.epsilon, self.swap = margin, p, epsilon, swap

    def forward(self, input: Any, positive: Any, negative: Any) -> Tensor:
        return F.triplet_margin_loss(input, positive, negative, self.margin, self.p, self.epsilon, self.swap, self.reduction)


class SoftMarginLoss(Loss):
    """log(1 + exp(-label * input)), the label being 1 or -1."""

    def __init__(self, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.soft_margin_loss(input, label, self.reduction)


class MultiLabelSoftMarginLoss(Loss):
    """The mean over classes of the binary cross entropy of sigmoid(input)."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)
        self.weight = weight

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.multi_label_soft_margin_loss(input, label, self.weight, self.reduction)


class PoissonNLLLoss(Loss):
    """-log of the Poisson probability of the label; see `functional.poisson_nll_loss`."""

    def __init__(self, log_input: bool = True, full: bool = False, epsilon: float = 1e-8, reduction: str = "mean",
                 name: str | None = None) -> None:  # fmt: skip
        super().__init__(reduction)
        self.log_input, self.full, self.epsilon = log_input, full, epsilon

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.poisson_nll_loss(input, label, self.log_input, self.full, self.epsilon, self.reduction)


class GaussianNLLLoss(Loss):
    """-log of the normal probability of the label; see `functional.gaussian_nll_loss`."""

    def __init__(self, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean", name: str | None = None):
        super().__init__(reduction)
        self.full, self.epsilon = full, epsilon

    def forward(self, input: Any, label: Any, variance: Any) -> Tensor:
        return F.gaussian_nll_loss(input, label, variance, self.full, self.epsilon, self.reduction)
