"""The sums of gradients in `backward`: parts of a tensor, many uses of one, and that nobody shares an array with a sum."""

import numpy as np
import pytest
from dy2st_runtime.ops import registry

import dy2st as paddle
from dy2st import nn

rng = np.random.default_rng(5)


def leaf(*shape):
    return paddle.to_tensor(rng.standard_normal(shape).astype("float32"), stop_gradient=False)


def steps(x):
    """Reads parts of a tensor in several ways, some of them twice, and all of it."""
    total = (x * x).sum()
    for t, row in enumerate(x):
        total = total + (row * (t + 1)).sum() + (x[t, 1:] ** 2).sum()
    return total + (x[::-2] ** 3).sum() + (x[-1] * x[0]).sum() + (paddle.tanh(x) * x).sum()


def test_parts_are_summed_as_whole_gradients_are():
    x = leaf(5, 4)
    (wanted,) = paddle.grad(steps(x), x, create_graph=True)  # recorded: nothing is changed in place
    (got,) = paddle.grad(steps(x), x)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5)
    steps(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), wanted.numpy(), rtol=1e-5)


@pytest.mark.parametrize("padding_idx", [None, 2])
def test_rows_of_an_embedding_are_summed(padding_idx):
    table = nn.Embedding(6, 3, padding_idx=padding_idx)
    ids = paddle.to_tensor([[1, 2, 1], [5, 1, 2]])

    def loss():
        return sum((table(ids[:, t]) * (t + 1.0)).sum() for t in range(3)) + (table.weight * 0.5).sum()

    (wanted,) = paddle.grad(loss(), table.weight, create_graph=True)
    loss().backward()
    np.testing.assert_allclose(table.weight.grad.numpy(), wanted.numpy(), rtol=1e-6)
    expected = np.full((6, 3), 0.5, "float32")
    for t in range(3):
        np.add.at(expected, ids.numpy()[:, t], t + 1.0)
    if padding_idx is not None:
        expected[padding_idx] = 0.5
    np.testing.assert_allclose(table.weight.grad.numpy(), expected, rtol=1e-6)


def test_an_embedding_of_nothing_has_a_gradient_of_zeros():
    table = nn.Embedding(4, 3)
    table(paddle.zeros([0], "int64")).sum().backward()
    assert not table.weight.grad.numpy().any()


def test_no_whole_gradient_is_made_for_a_part(monkeypatch):
    def refuse(*args, **attrs):
        raise AssertionError("made")

    monkeypatch.setattr(registry.get("slice_grad"), "quick", refuse)
    x = leaf(50, 3)
    sum((row**2).sum() for row in x).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy(), rtol=1e-6)


def test_a_gradient_that_is_handed_out_is_not_added_to():
    x = leaf(4)
    seen = []
    y = x * 2.0
    y.register_hook(lambda g: seen.append(g.numpy().copy()))
    z = y + 0.0
    (z.sum() + (y * y).sum() + y[1] + y[2:].sum()).backward()
    first = x.grad
    kept = first.numpy().copy()
    (x * 3.0).sum().backward()
    (x[1] + x[2]).backward()
    np.testing.assert_array_equal(first.numpy(), kept)
    np.testing.assert_allclose(kept, 2 * seen[0], rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), kept + 3.0 + np.array([0, 1, 1, 0]), rtol=1e-6)


def test_the_gradient_that_is_given_stays_what_it_was():
    x, given = leaf(3), paddle.ones([3])
    y = x * 1.0
    paddle.autograd.backward([y, y[0:2], y], [given, paddle.ones([2]), given])
    np.testing.assert_array_equal(given.numpy(), np.ones(3))
    np.testing.assert_array_equal(x.grad.numpy(), [3, 3, 2])


def test_other_leaves_have_arrays_of_their_own():
    x, y = leaf(3), leaf(3)
    z = x + y
    (z.sum() + z[0] + z[1:].sum()).backward()
    x.grad.zero_()
    np.testing.assert_array_equal(y.grad.numpy(), np.full(3, 2.0))
