"""Counts, quantiles, places, functions in place, and names of PaddlePaddle 3: eager and static alike, as NumPy has them."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st.errors import AttributeValueError, OutOfRangeError, ShapeError

X = np.random.default_rng(0).normal(size=(4, 5)).astype("float32")
K = np.random.default_rng(1).integers(0, 4, (4, 5))


def modes(rows):
    values = np.array([np.bincount(row).argmax() for row in rows])
    return values, np.array([np.flatnonzero(row == v)[-1] for row, v in zip(rows, values, strict=True)])


CASES = [
    (lambda x: paddle.histogram(x, 6, -1, 1), [X], np.histogram(X, 6, (-1, 1))[0]),
    (lambda x: x.histogram(7), [X], np.histogram(X, 7)[0]),
    (lambda x: x.histogram(4), [np.ones(2, "float32")], [0, 0, 2, 0]),
    (lambda x: x.histogram(3, 0, 3), [K], np.histogram(K, 3, (0, 3))[0]),
    (lambda x: paddle.bincount(x, minlength=6), [K[0]], np.bincount(K[0], minlength=6)),
    (lambda x, w: x.bincount(w), [K[0], X[0]], np.bincount(K[0], X[0])),
    (lambda x: paddle.quantile(x, [0.3, 0.5], axis=1, keepdim=True), [X], np.quantile(X, [0.3, 0.5], axis=1, keepdims=True)),
    (lambda x: x.quantile(0.3), [X], np.quantile(X, 0.3)),
    (lambda x: x.quantile(0.9, [0, -1], interpolation="higher"), [X[None]], np.quantile(X[None], 0.9, (0, 2), method="higher")),
    (lambda x: x.quantile(0.5, 0), [np.array([[np.nan, 1], [2, 3]], "float32")], [np.nan, 2]),
    (lambda x: paddle.mode(x), [K], modes(K)),
    (lambda x: x.mode(0), [K], modes(K.T)),
    (lambda x, i: paddle.take(x, i), [X, K - 2], X.ravel()[K - 2]),
    (lambda x, i: x.take(i, "wrap"), [X, K * 9], np.take(X, K * 9, mode="wrap")),
    (lambda x, i: x.take(i, "clip"), [X, K * 9 - 3], np.take(X, K * 9 - 3, mode="clip")),
    (lambda x: paddle.heaviside(x, paddle.to_tensor(0.5)), [np.round(X)], np.heaviside(np.round(X), np.float32(0.5))),
    (lambda x, i: x.index_fill(i, 1, 7), [X, np.array([0, -1])], np.concatenate([np.full((4, 1), 7), X[:, 1:4], np.full((4, 1), 7)], 1)),
    (lambda x: x.unfold(1, 3, 2), [X], np.stack([X[:, 0:3], X[:, 2:5]], 1)),
    (lambda x: x.permute(1, 0) + x.mT + x.permute([1, 0]), [X], 3 * X.T),
    (lambda x: x.repeat(2, 1), [X], np.tile(X, (2, 1))),
    (lambda x: x.sub(x, alpha=3).clamp(max=1).ravel(), [X], np.minimum(-2 * X, 1).ravel()),
    (lambda x: (x.eq(1).int() + x.float().long()).reverse(0), [K], ((K == 1) + K)[::-1]),
    (lambda x: x.value().contiguous().data, [X], X),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "expected"), CASES)
def test_values(function, args, expected):
    for run in (function, paddle.jit.to_static(function)):
        found = run(*(paddle.to_tensor(a) for a in args))
        for one, right in zip(*((found, expected) if isinstance(found, tuple) else ([found], [expected])), strict=True):
            assert one.shape == list(np.shape(right))
            np.testing.assert_allclose(one.numpy(), right, rtol=1e-5)


@pytest.mark.parametrize(("shape", "offset", "wrap"), [((3, 4), 0, False), ((3, 4), 1, False), ((7, 2), 0, False), ((7, 2), 0, True)])
def test_a_diagonal_is_filled(shape, offset, wrap):
    expected = np.zeros(shape, "float32")
    if wrap:
        np.fill_diagonal(expected, 2, wrap=True)
    else:
        expected += 2 * np.eye(*shape, offset, dtype="float32")
    for run in (lambda x: x.fill_diagonal_(2, offset, wrap), paddle.jit.to_static(lambda x: x.fill_diagonal_(2, offset, wrap))):
        x = paddle.zeros(shape)
        run(x)
        np.testing.assert_array_equal(x.numpy(), expected)


def test_functions_in_place():
    def change(x):
        y = paddle.abs_(x * 1)
        paddle.log1p(y.neg_().abs_()).sum()
        paddle.transpose_(y, [1, 0]).cumsum_(0)
        y.clamp_(0.1, 2)
        return y

    x = paddle.to_tensor(X, stop_gradient=False)
    expected = np.clip(np.abs(X).T.cumsum(0), 0.1, 2)
    for run in (change, paddle.jit.to_static(change)):
        np.testing.assert_allclose(run(x).numpy(), expected, rtol=1e-5)
    change(x).sum().backward()
    inside = np.abs(X).T.cumsum(0) < 2
    counts = inside[::-1].cumsum(0)[::-1].T
    np.testing.assert_allclose(x.grad.numpy(), counts * np.sign(X), rtol=1e-5)
    assert paddle.abs_ is paddle.Tensor.abs_


def test_gradients_of_picked_elements():
    x = paddle.to_tensor(X, stop_gradient=False)
    (x.quantile(0.25, 1).sum() + x.mode(1)[0].sum() + x.take(paddle.to_tensor([0, 0])).sum() + x.unfold(1, 2, 3).sum()).backward()
    expected = np.zeros_like(X)
    order = X.argsort(1)
    np.put_along_axis(expected, order[:, 1:2], 1, 1)  # five elements: the quarter is an element
    at = order[:, :1]  # all are as frequent: the smallest
    np.put_along_axis(expected, at, np.take_along_axis(expected, at, 1) + 1, 1)
    expected[0, 0] += 2
    expected[:, [0, 1, 3, 4]] += 1
    np.testing.assert_allclose(x.grad.numpy(), expected)


def test_attributes():
    x = paddle.to_tensor(X)
    assert (x.device, x.device.type, x.device.index, x.get_device()) == ("cpu", "cpu", None, -1)
    assert (x.strides, x.stride(), x.stride(1), x.get_strides()) == ([5, 1], (5, 1), 1, [5, 1])
    assert x.is_contiguous()
    assert [getattr(x, name)().dtype for name in ("double", "half", "short", "bool")] == ["float64", "float16", "int16", "bool"]
    assert not x.requires_grad
    x.requires_grad = True
    assert not x.stop_gradient
    x.data = paddle.ones([2])
    np.testing.assert_array_equal(x.numpy(), [1, 1])
    with pytest.raises(RuntimeError, match="needs a gradient"):
        x.apply(paddle.exp)
    assert x.detach().apply(lambda t: t + 1).tolist() == [2, 2]


@pytest.mark.parametrize(("function", "error", "text"), [
    (lambda x: x.histogram(0), AttributeValueError, "0 parts"),
    (lambda x: x.quantile(1.5), AttributeValueError, "0 to 1"),
    (lambda x: x.quantile(0.5, interpolation="nearest"), AttributeValueError, "interpolation"),
    (lambda x: (x[0] - 9).astype("int64").bincount(), AttributeValueError, "negative"),
    (lambda x: x.astype("int64").bincount(), ShapeError, "integers"),
    (lambda x: x.take(paddle.to_tensor([20])), OutOfRangeError, "20"),
    (lambda x: x.take(paddle.to_tensor([0]), "other"), AttributeValueError, "mode"),
    (lambda x: x.unfold(1, 6, 1), ShapeError, "6"),
    (lambda x: x[0].fill_diagonal_(1), ShapeError, "matrix"),
])  # fmt: skip
def test_what_is_refused(function, error, text):
    with pytest.raises(error, match=text):
        function(paddle.to_tensor(X))
