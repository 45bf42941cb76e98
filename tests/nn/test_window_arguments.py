"""Strides, sizes and paddings of convolutions and pools that are refused, and those of sequences."""

import numpy as np
import pytest

import dy2st.nn.functional as F
from dy2st import Tensor, nn
from dy2st.errors import AttributeValueError

IMAGE, SEQUENCE = Tensor(np.ones((1, 1, 6, 6), "float32")), Tensor(np.arange(5.0, dtype="float32").reshape(1, 1, 5))


@pytest.mark.parametrize("options", [{"stride": 1.5}, {"stride": [1, 1.5]}, {"dilation": [1, 2, 3]}, {"padding": 0.5}])
def test_what_is_no_int_is_not_cut_to_one(options):
    with pytest.raises(AttributeValueError, match="must be an int or 2 ints"):
        nn.Conv2D(1, 1, 3, **options)(IMAGE)


@pytest.mark.parametrize(("padding", "both"), [(1, (1, 1)), ([1], (1, 1)), ([0, 1], (0, 1)), ([1, 0], (1, 0))])
def test_paddings_of_sequences(padding, both):
    weight = Tensor(np.ones((1, 1, 2), "float32"))
    padded = np.pad(np.arange(5.0), both)
    sums = padded[1:] + padded[:-1]
    np.testing.assert_array_equal(F.conv1d(SEQUENCE, weight, padding=padding).numpy()[0, 0], sums)
    pooled = F.avg_pool1d(SEQUENCE, 2, 1, padding, exclusive=False)
    np.testing.assert_array_equal(pooled.numpy()[0, 0], sums / 2)


def test_paddings_of_sequences_that_do_not_fit():
    for use in (lambda: F.avg_pool1d(SEQUENCE, 2, 2, [1, 0, 1]), lambda: F.max_pool1d(SEQUENCE, [2, 2]),
                lambda: nn.Conv1D(1, 1, 3, padding=[1, 2, 3])(SEQUENCE)):  # fmt: skip
        with pytest.raises(AttributeValueError, match="must be an int or"):
            use()
