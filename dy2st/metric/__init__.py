"""Metrics of classifiers."""

from __future__ import annotations

from typing import Any

from ..errors import ShapeError
from ..missing_names import explain_missing as _explain_missing
from ..tensor import Tensor, logic, manipulation, reduction, search
from ..tensor.promotion import as_tensor, cast
from .base import Metric as Metric
from .binary import Auc as Auc
from .binary import Precision as Precision
from .binary import Recall as Recall


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: str | None = None
) -> Tensor:
    """The part of the samples whose label is among the k largest entries.

    Args:
        input: Tensor [n, classes].
        label: integers [n, 1] or [n].

    Returns:
        0-d Tensor of the dtype of the input.

    Raises:
        ShapeError: the input has not 2 dims.

    >>> accuracy(Tensor([[0.1, 0.9], [0.8, 0.2]]), Tensor([[1], [1]])).numpy()
    array(0.5, dtype=float32)
    """
    input, label = as_tensor(input), as_tensor(label)
    if input.ndim != 2:
        raise ShapeError(f"accuracy takes an input [n, classes], got {input.ndim} dims")
    if label.ndim == 1:
        label = manipulation.unsqueeze(label, 1)
    _, best = search.topk(input, k)
    hits = reduction.any(logic.equal(best, cast(label, "int64")), axis=1)
    return reduction.mean(cast(hits, input.dtype))


class Accuracy(Metric):
    """The part of the samples whose label is among the k largest entries, for each k of `topk`.

    >>> m = Accuracy()
    >>> _ = m.update(m.compute(Tensor([[0.1, 0.9], [0.8, 0.2]]), Tensor([[1], [1]])))
    >>> m.accumulate()
    0.5
    """

    def __init__(self, topk: Any = (1,), name: str | None = None) -> None:
        self.topk = (topk,) if isinstance(topk, int) else tuple(topk)
        self._name = name or "acc"
        self.reset()

    def reset(self) -> None:
        self.hits, self.count = [0.0] * len(self.topk), 0

    def compute(self, pred: Any, label: Any, *args: Any) -> Tensor:
        """Whether each of the largest entries is the label: [n, max(topk)]."""
        pred, label = as_tensor(pred), as_tensor(label)
        if label.ndim == 1:
            label = manipulation.unsqueeze(label, 1)
        elif label.shape[-1] != 1:
            label = search.argmax(label, -1, keepdim=True)  # one-hot
        _, best = search.topk(pred, max(self.topk))
        return cast(logic.equal(best, cast(label, "int64")), "float32")

    def update(self, correct: Any, *args: Any) -> Any:
        """Takes what `compute` gave; returns the accuracy of this batch."""
        value = as_tensor(correct).numpy()
        hits = [float(value[:, :k].sum()) for k in self.topk]
        self.hits = [a + b for a, b in zip(self.hits, hits, strict=True)]
        self.count += len(value)
        found = [h / max(len(value), 1) for h in hits]
        return found[0] if len(found) == 1 else found

    def accumulate(self) -> Any:
        found = [h / self.count if self.count else 0.0 for h in self.hits]
        return found[0] if len(found) == 1 else found

    def name(self) -> Any:
        """The names of the values."""
        return self._name if len(self.topk) == 1 else [f"{self._name}_top{k}" for k in self.topk]


_explain_missing(__name__)
