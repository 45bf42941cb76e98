"""A 0-d tensor takes the dtype of one with dims: the table is PaddlePaddle 3.3.1's, without what that refuses."""

import operator

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor
from dy2st.errors import IntegerRangeError

RESULTS = {
    ("int32", "int64"): "int32", ("int64", "int32"): "int64", ("uint8", "int64"): "uint8", ("float32", "float64"): "float32",
    ("float64", "float32"): "float64", ("float16", "float64"): "float16", ("float32", "int64"): "float32", ("int64", "float32"): "float32",
    ("int32", "float64"): "float64", ("bool", "int64"): "int64", ("int64", "bool"): "int64",
}  # fmt: skip
ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "pow": operator.pow, "mod": operator.mod}
PROMOTED = {"maximum": paddle.maximum, "where": lambda x, y: paddle.where(x == x, x, y) if x.ndim else paddle.where(y == y, x, y)}


def dtypes(f, vector, scalar):
    """Of f(vector, scalar) and f(scalar, vector): eager, and as a static function."""
    x, y = paddle.ones([2], vector), paddle.ones([], scalar)
    static = paddle.jit.to_static(lambda a, b: f(a, b))
    made = [g(a, b) for g in (f, static) for a, b in ((x, y), (y, x))]
    assert [t.shape for t in made] == [[2]] * 4
    return [t.dtype for t in made]


@pytest.mark.parametrize(("vector", "scalar"), RESULTS)
def test_arithmetic(vector, scalar):
    for name, f in ARITHMETIC.items():
        if "bool" not in (vector, scalar) or name in ("add", "mul"):
            assert dtypes(f, vector, scalar) == [RESULTS[vector, scalar]] * 4, name
    quotient = RESULTS[vector, scalar]
    assert dtypes(operator.truediv, vector, scalar) == [quotient if quotient.startswith("float") else "float32"] * 4
    if vector.startswith("float") or not scalar.startswith("float"):
        assert (paddle.ones([2], vector) + paddle.ones([2], scalar)).dtype == (paddle.ones([], vector) + paddle.ones([], scalar)).dtype


@pytest.mark.parametrize("name", PROMOTED)
def test_what_paddlepaddle_promotes_all_the_same(name):
    assert dtypes(PROMOTED[name], "float32", "float64") == ["float64"] * 4
    assert dtypes(operator.floordiv, "int32", "int64") == ["int64"] * 4


def test_comparisons_are_made_in_that_dtype():
    wide = Tensor(2.0**24 + 1, "float64")
    x = Tensor([2.0**24])
    for compare in (lambda x, y: (x == y, x < y, y > x), paddle.jit.to_static(lambda x, y: (x == y, x < y, y > x))):
        assert [t.item() for t in compare(x, wide)] == [True, False, False]


def test_gradients_have_the_dtypes_of_the_operands():
    for f in (lambda x, y: x * y, paddle.jit.to_static(lambda x, y: x * y)):
        x, y = Tensor([1.0, 2.0], stop_gradient=False), Tensor(3.0, "float64", stop_gradient=False)
        f(x, y).sum().backward()
        assert (x.grad.dtype, x.grad.tolist()) == ("float32", [3, 3])
        assert (y.grad.dtype, y.grad.shape, y.grad.item()) == ("float64", [], 3)


def test_a_sum_in_a_loop_keeps_its_dtype():
    def f(x, n):
        s = paddle.zeros([1], "int32")
        for _ in range(n):
            s = s + x.sum()
        return s

    made = paddle.jit.to_static(f)(Tensor([1, 2]), Tensor(3))
    assert (made.dtype, made.tolist()) == ("int32", [9])


def test_what_is_a_number_on_one_path():
    def f(x, y, c):
        s = 2.0
        if c > 0:
            s = y
        return x + s, s * x, x < s

    static = paddle.jit.to_static(f)
    x, y = Tensor([1.0, 2.0]), Tensor(3.0, "float64")
    for c in (1, -1):
        for eager, staged in zip(f(x, y, Tensor(c)), static(x, y, Tensor(c)), strict=True):
            assert eager.dtype == staged.dtype
            np.testing.assert_array_equal(eager.numpy(), staged.numpy())


def test_a_number_must_fit_where_a_tensor_wraps_around():
    def f(x, n, y):
        b = int(n)
        if n < 0:
            b = y
        return x * b

    static = paddle.jit.to_static(f)
    x, y = Tensor([1, 2], "int32"), Tensor(2**32 + 5, "int64")
    for g in (f, static):
        assert g(x, Tensor(3), y).tolist() == [3, 6]
        assert g(x, Tensor(-1), y).tolist() == [5, 10]
        with pytest.raises(IntegerRangeError):
            g(x, Tensor(2**40), y)
