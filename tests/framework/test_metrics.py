"""Metrics of two classes, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as paddle
from dy2st.errors import AttributeValueError, ShapeError


def test_precision_and_recall_over_batches() -> None:
    chances, labels = np.float32([0.1, 0.5, 0.6, 0.7, 0.2, 0.9]), np.int64([0, 1, 1, 0, 1, 1])
    for cls, expected in ((paddle.metric.Precision, 3 / 4), (paddle.metric.Recall, 3 / 4)):
        m = cls()
        assert m.accumulate() == 0.0
        m.update(chances[:4], labels[:4])
        assert m.accumulate() == (2 / 3 if cls is paddle.metric.Precision else 1.0)
        m.update(paddle.to_tensor(chances[4:, None]), paddle.to_tensor(labels[4:, None]))
        assert m.accumulate() == expected
        with pytest.raises(ShapeError):
            m.update(chances, labels[:2])


def test_auc_counts_the_pairs_in_order() -> None:
    rng = np.random.default_rng(0)
    score, label = rng.integers(0, 20, 60) / 20, rng.integers(0, 2, 60)
    score = score * 0.5 + label * 0.2
    difference = score[label == 1][:, None] - score[label == 0]
    m = paddle.metric.Auc()
    for part in (slice(0, 25), slice(25, 60)):
        m.update(np.stack([1 - score, score], 1)[part], label[part, None])
    assert m.accumulate() == pytest.approx(((difference > 1e-9) + 0.5 * (abs(difference) < 1e-9)).mean(), abs=1e-3)
    with pytest.raises(AttributeValueError):
        m.update(np.array([[0.0, 2.0]]), np.array([1]))
    with pytest.raises(AttributeValueError):
        paddle.metric.Auc("PR")
