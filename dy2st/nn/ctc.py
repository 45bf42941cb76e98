"""The loss of connectionist temporal classification, a layer that is converted as its function is."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import functional as F
from .loss import Loss


class CTCLoss(Loss):
    """-log of the probability of a sequence of labels; see `functional.ctc_loss`."""

    def __init__(self, blank: int = 0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.blank = blank

    def forward(self, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any,
                norm_by_times: bool = False) -> Tensor:  # fmt: skip
        return F.ctc_loss(log_probs, labels, input_lengths, label_lengths, self.blank, self.reduction, norm_by_times)
