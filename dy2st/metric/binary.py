"""Metrics of two classes: what is found, how much of it is right, and how well scores tell the classes apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import AttributeValueError, ShapeError
from ..tensor.promotion import as_tensor
from .base import Metric


def _found_and_true(preds: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which samples are said to be positive, and which are, both flat."""
    found = np.floor(as_tensor(preds).numpy() + 0.5).astype("int32").reshape(-1)
    true = as_tensor(labels).numpy().astype("int32").reshape(-1)
    if len(found) != len(true):
        raise ShapeError(f"there are {len(found)} predictions and {len(true)} labels")
    return found == 1, true == 1


class _Named(Metric):
    """A metric of one value, which has a name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.reset()

    def name(self) -> str:
        """The name of the value."""
        return self._name


class Precision(_Named):
    """The part of the samples said to be positive that are (`paddle.metric.Precision`).

    `update` takes the chances of being positive, [n, 1] or [n], which count from 0.5 on, and labels 0 or 1 of as many entries.

    >>> m = Precision()
    >>> m.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0, 1, 1, 0]))
    >>> round(m.accumulate(), 4)
    0.6667
    """

    def __init__(self, name: str = "precision") -> None:
        super().__init__(name)

    def reset(self) -> None:
        self.tp = self.fp = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Takes chances and labels of a batch.

        Raises:
            ShapeError: they are not as many.
        """
        found, true = _found_and_true(preds, labels)
        self.tp += int((found & true).sum())
        self.fp += int((found & ~true).sum())

    def accumulate(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(_Named):
    """The part of the positive samples that are said to be so (`paddle.metric.Recall`).

    `update` takes the chances of being positive, [n, 1] or [n], which count from 0.5 on, and labels 0 or 1 of as many entries.

    >>> m = Recall()
    >>> m.update(np.array([0.1, 0.4, 0.6, 0.7]), np.array([0, 1, 1, 0]))
    >>> m.accumulate()
    0.5
    """

    def __init__(self, name: str = "recall") -> None:
        super().__init__(name)

    def reset(self) -> None:
        self.tp = self.fn = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Takes chances and labels of a batch.

        Raises:
            ShapeError: they are not as many.
        """
        found, true = _found_and_true(preds, labels)
        self.tp += int((found & true).sum())
        self.fn += int((~found & true).sum())

    def accumulate(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Auc(_Named):
    """The area under the ROC curve, by the trapezoid rule over counts of scores in bins (`paddle.metric.Auc`).

    `update` takes the chances of both classes, [n, 2], of which the second counts, and labels 0 or 1 of n entries.

    Args:
        curve: "ROC". "PR", for which PaddlePaddle computes the area under the ROC curve too, is an error.
        num_thresholds: the scores of 0 to 1 are told apart by that many steps.

    >>> m = Auc()
    >>> m.update(np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.3, 0.7]]), np.array([[0], [1], [1], [0]]))
    >>> m.accumulate()
    0.75
    """

    def __init__(self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc") -> None:
        if curve != "ROC":
            raise AttributeValueError(f"Auc takes the curve 'ROC', got {curve!r}")
        self._bins = num_thresholds
        super().__init__(name)

    def reset(self) -> None:
        self._positive, self._negative = np.zeros(self._bins + 1), np.zeros(self._bins + 1)

    def update(self, preds: Any, labels: Any) -> None:
        """Takes chances and labels of a batch.

        Raises:
            ShapeError: the chances are not [n, 2], or the labels not n.
            AttributeValueError: a chance is not in 0 to 1.
        """
        preds, true = as_tensor(preds).numpy(), as_tensor(labels).numpy().reshape(-1) != 0
        if preds.ndim != 2 or preds.shape[1] != 2 or len(preds) != len(true):
            raise ShapeError(f"Auc takes chances [n, 2] and n labels, got {list(preds.shape)} and {len(true)} labels")
        if not ((preds[:, 1] >= 0) & (preds[:, 1] <= 1)).all():
            raise AttributeValueError("Auc takes chances of 0 to 1: use softmax before")
        steps = (preds[:, 1] * self._bins).astype("int64")
        self._positive += np.bincount(steps[true], minlength=self._bins + 1)
        self._negative += np.bincount(steps[~true], minlength=self._bins + 1)

    def accumulate(self) -> float:
        # from the highest score down: how many of each class are above
        positive, negative = self._positive[::-1].cumsum(), self._negative[::-1].cumsum()
        if not positive[-1] or not negative[-1]:
            return 0.0
        heights = (positive + np.concatenate([[0.0], positive[:-1]])) / 2
        return float((heights * self._negative[::-1]).sum() / positive[-1] / negative[-1])
