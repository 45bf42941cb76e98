"""Integers that a float does not hold, and such that a dtype does not hold."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor, jit
from dy2st.errors import DTypeError, IntegerRangeError

LARGE = [2**53 + 1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("n", LARGE)
def test_large_integers_are_exact(n):
    def make(x):
        y = paddle.full([2], 0, "int64")
        y.fill_(n)
        return paddle.full([2], n, "int64"), paddle.full_like(x, n), y

    x = Tensor([1, 2])
    for f in (make, jit.to_static(make)):
        assert [t.tolist() for t in f(x)] == [[n, n]] * 3


def test_numbers_out_of_range_are_errors():
    small = Tensor(np.array([1], "uint8"))
    for make in (lambda: paddle.full([1], 300, "uint8"), lambda: paddle.full_like(small, -1), lambda: small.fill_(256),
                 lambda: small + 300, lambda: small < -1, lambda: Tensor(np.array([1], "int32")) + 2**40):  # fmt: skip
        with pytest.raises(IntegerRangeError, match=r"out of range for u?int"):
            make()
    for value in (float("nan"), float("inf")):
        with pytest.raises(DTypeError, match="cannot be an int64"):
            paddle.full([1], value, "int64")
    assert paddle.full([1], 2.0, "int64").tolist() == [2]
    assert paddle.full([1], True, "int32").tolist() == [1]
