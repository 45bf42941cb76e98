"""Functions that take a size, an offset or a bound: a number that only the run knows, as sizes are under open dims, will do."""

import numpy as np
import pytest
from corpus import sizes
from dy2st_runtime import Predictor, config

import dy2st as paddle
from dy2st import jit
from dy2st.errors import AttributeValueError, OutOfRangeError, ShapeError
from dy2st.jit import InputSpec
from dy2st.nn import functional as F
from dy2st.tensor import Tensor


def drawn(x, n):
    return paddle.randint(0, n + 1, [3]), paddle.randint(-n, x.shape[0], [2, 2], dtype="int32")


def looped(x, n):
    rows, total = x.unbind(0), 0.0
    for i, row in enumerate(rows):
        total = total + (row * row).sum() * i
    return total, rows[-1]


FUNCTIONS = [drawn, looped, *(function for function, *_ in sizes.CASES)]
CALLS = [(3, 4, 2), (4, 6, 3), (5, 5, 1)]


def outcome(function, rows, columns, n):
    x = Tensor(np.linspace(-2, 2, rows * columns, dtype=np.float32).reshape(rows, columns), stop_gradient=False)
    paddle.seed(5)
    found = function(x, Tensor(n))
    found = [v for part in (found if isinstance(found, tuple) else (found,)) for v in (part if isinstance(part, (tuple, list)) else [part])]
    terms = [(v * v).sum() for v in found if isinstance(v, Tensor) and not v.stop_gradient]
    if terms:
        sum(terms).backward()
    values = [np.asarray(v.numpy() if isinstance(v, Tensor) else v) for v in found]
    return [(v.dtype, v) for v in values], None if x.grad is None else x.grad.numpy()


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_program_for_all_sizes(function, native):
    compiled = jit.to_static(function, input_spec=[InputSpec([None, None], "float32"), InputSpec([], "int64")])
    with config.NO_JIT.override(not native):
        for call in CALLS:
            (wanted, gradient), (found, static_gradient) = outcome(function, *call), outcome(compiled, *call)
            for (dtype, a), (found_dtype, b) in zip(wanted, found, strict=True):
                assert dtype == found_dtype
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
            assert (gradient is None) is (static_gradient is None)
            if gradient is not None:
                np.testing.assert_allclose(static_gradient, gradient, rtol=1e-5, atol=1e-6)
    assert len(compiled.concrete_programs) == 1


@pytest.mark.parametrize(("function", "error", "text"), [
    (lambda n: paddle.eye(-n), AttributeValueError, "cannot have the negative size -2"),
    (lambda n: F.one_hot(n, n), OutOfRangeError, "index 2 is out of range for one_hot, a depth of size 2"),
    (lambda n: F.one_hot(n, n - 2), ShapeError, "one_hot needs a depth of at least 1: 0"),
    (lambda n: paddle.randint(n, 2, [3]), ValueError, r"randint: the range \[2, 2\) is empty"),
])  # fmt: skip
@pytest.mark.parametrize("native", [False, True])
def test_what_eager_mode_refuses_is_an_error_of_the_run(function, error, text, native):
    for f in (function, jit.to_static(function)):
        with config.NO_JIT.override(not native), pytest.raises(error, match=text):
            f(Tensor(2))


def test_saved_with_open_sizes(tmp_path):
    def contrast(x):
        labels = F.one_hot(paddle.arange(x.shape[0]), x.shape[0])
        return x.matmul(x.T) * (1 - paddle.eye(x.shape[0])) + labels + paddle.roll(x, x.shape[0] - 1, 0).sum()

    jit.save(jit.to_static(contrast), str(tmp_path / "model"), input_spec=[InputSpec([None, 3], "float32")])
    predictor = Predictor(str(tmp_path / "model"))
    for rows in (2, 5):
        x = np.random.RandomState(rows).randn(rows, 3).astype(np.float32)
        np.testing.assert_allclose(predictor.run([x])[0], contrast(Tensor(x)).numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("values", [
    np.float32([3, 1, np.nan, 3, np.nan, -1]), np.float32([]), np.int64([[2, 2], [1, 2]]), np.array([True, False]), np.float64([0.0, -0.0]),
], ids=str)  # fmt: skip
def test_unique_elements(values):
    def found(x):
        return paddle.unique(x, return_index=True, return_inverse=True, return_counts=True)

    wanted = np.unique(values, True, True, True)
    for f in (found, jit.to_static(found)):
        for a, b in zip(wanted, f(Tensor(values)), strict=True):
            np.testing.assert_array_equal(b.numpy(), a.reshape(-1))


def test_unique_slices_are_eager_only():
    x = Tensor([[1, 2], [1, 2], [0, 2]])
    values, inverse = paddle.unique(x, return_inverse=True, axis=0)
    assert (values.tolist(), inverse.tolist()) == ([[0, 2], [1, 2]], [1, 1, 0])
    assert x.unique(axis=1).tolist() == x.tolist()
    with pytest.raises(paddle.errors.StagedValueError, match=r"unique\(\) along an axis needs the value of a tensor"):
        jit.to_static(lambda t: paddle.unique(t, axis=0))(x)


@pytest.mark.parametrize("function", [lambda x, k: x.sum(axis=int(k)), lambda x, k: paddle.split(x, int(k))], ids=["axis", "split"])
def test_what_decides_the_shapes_is_a_number_of_python(function):
    x = paddle.ones([4, 2])
    with pytest.raises(paddle.errors.StagedValueError, match="hint: pass it as a Python number"):
        jit.to_static(function)(x, paddle.to_tensor(1))
    jit.to_static(function)(x, 1)  # as the hint says


@pytest.mark.parametrize("function", [lambda x, k: F.one_hot(x, k), lambda x, k: paddle.topk(x, k)[0]], ids=["one_hot", "topk"])
def test_a_number_of_several_elements(function):
    """An error of ours, as in eager mode, and not one of the code that takes the number out."""
    for make in (lambda f: f, jit.to_static):
        with pytest.raises(ShapeError):
            make(function)(paddle.to_tensor([0, 1]), paddle.to_tensor([1, 2]))


def test_a_diagonal_of_floats():
    for make in (lambda f: f, jit.to_static):
        with pytest.raises(AttributeValueError, match="'diagonal' must be INT"):
            make(lambda x: paddle.tril(paddle.diag(x), x[0]))(Tensor([0.5, 2.0]))


def rows_of_bytes(n):
    return paddle.zeros([n, 2**20]).shape[0]


def square(n):
    return (paddle.ones([n, n]) * n).sum()


def known(n):
    return paddle.zeros([2**40, 2**40])[n]


@pytest.mark.parametrize("function", [rows_of_bytes, square, known])
def test_a_number_of_bytes_beyond_64_bits_is_no_small_one(function):
    """The product wraps around to 0, for which there is memory."""
    static = jit.to_static(function)
    n = paddle.to_tensor(2**61 if function is rows_of_bytes else 2**32)
    with pytest.raises((MemoryError, ValueError)):
        function(n)
    with pytest.raises(MemoryError, match="no memory") as caught:
        static(n)
    assert caught.traceback[-1].name == function.__name__  # the line that makes it
    if function is rows_of_bytes:
        assert static(paddle.to_tensor(2)) == 2
