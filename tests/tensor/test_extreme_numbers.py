"""Numbers at the ends of 64 bits, and beyond: eager and static give the same values, or errors of one class."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as paddle
from dy2st.errors import AttributeValueError, IntegerRangeError, OutOfRangeError

ENDS = (2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**70)
X = np.arange(6, dtype="float32").reshape(2, 3)


def same(f):
    """What a function gives of X, or the class of what it raises."""
    found = []
    for call in (f, paddle.jit.to_static(f)):
        try:
            found.append(call(paddle.to_tensor(X)).numpy())
        except Exception as error:
            found.append(type(error))
    np.testing.assert_array_equal(found[0], found[1])
    return found[0]


@pytest.mark.parametrize("n", ENDS)
def test_slices(n):
    np.testing.assert_array_equal(same(lambda x: x[:, :n]), X[:, :n])
    np.testing.assert_array_equal(same(lambda x: x[:, n:]), X[:, n:])
    np.testing.assert_array_equal(same(lambda x: x[:, ::n]), X[:, ::n])
    assert same(lambda x: x[n]) is OutOfRangeError


@pytest.mark.parametrize("n", ENDS)
def test_diagonals(n):
    inside = -(2**63) <= n < 2**63
    for f, wanted in ((paddle.tril, X * (n > 0)), (paddle.triu, X * (n < 0)), (paddle.diag, np.zeros(0))):
        got = same(lambda x, f=f: f(x, n))
        if inside:
            np.testing.assert_array_equal(got, wanted)
        else:
            assert got is IntegerRangeError


@pytest.mark.parametrize("n", ENDS)
def test_axes_and_shifts(n):
    inside = -(2**63) <= n < 2**63
    assert same(lambda x: paddle.unbind(x, n)[0]) is (AttributeValueError if inside else IntegerRangeError)
    roll = same(lambda x: paddle.roll(x, n, 1))
    if inside:
        np.testing.assert_array_equal(roll, np.roll(X, n % 3, 1))
    else:
        assert roll is IntegerRangeError


@pytest.mark.parametrize("bounds", [(2**63 - 1,), (-(2**63), 2**63 - 1), (2**63 - 2, -(2**63), -(2**63))])
def test_ranges_whose_bounds_are_too_far_apart(bounds):
    assert same(lambda x: paddle.arange(*bounds) + paddle.cast(x[0, 0], "int64")) is AttributeValueError


def test_ranges_at_the_ends():
    assert same(lambda x: paddle.arange(2**63 - 3, 2**63 - 1)).tolist() == [2**63 - 3, 2**63 - 2]
    assert same(lambda x: paddle.arange(-(2**63), -(2**63) + 2)).tolist() == [-(2**63), -(2**63) + 1]
