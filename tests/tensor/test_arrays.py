"""Arrays of tensors, eager and in static functions."""

import numpy as np
import pytest
from three_ways import check

import dy2st as paddle
from dy2st import jit
from dy2st.tensor import array_length, array_read, array_write, create_array


def squares(x, n):
    array = create_array("float32")
    i = paddle.zeros([1], "int64")
    while i < n:
        array = array_write(x * i.astype("float32"), i, array)
        i = i + 1
    array_write(x, 0, array)
    total = array_read(array, 0) * array_length(array)
    for k in range(array_length(array)):
        total = total + array_read(array, k)
    return total


def beyond(x, n):
    array = array_write(x, 0)
    array_write(x, n, array)
    return array_read(array, n)


@pytest.mark.parametrize(("function", "calls"), [
    (squares, [([1.0, 2.0], 3), ([1.0, 2.0], 1), ([3.0, 1.0], 5)]),
    (beyond, [([1.0], 1), ([1.0], 0), ([1.0], 2), ([1.0], -1)]),
])  # fmt: skip
def test_eager_is_static(function, calls):
    check(function, calls, 1)


def test_what_is_there_first():
    array = create_array("float32", [paddle.ones([2])])
    assert array_length(array) == 1
    np.testing.assert_array_equal(array_read(array, paddle.zeros([1], "int64")).numpy(), [1, 1])
    with pytest.raises(IndexError):
        array_read(array, 1)
    with pytest.raises(IndexError, match="negative"):
        array_read(array, -1)


def test_a_static_function_gives_the_list():
    array = jit.to_static(lambda x: array_write(x, 0))(paddle.ones([2]))
    assert isinstance(array, list)
    assert len(array) == 1
