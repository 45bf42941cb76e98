"""`.grad` and hooks of what a call gives: within the call gradients flow between its results, which nobody sees from outside."""

import numpy as np
import pytest
from guarding import tensor

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import GradientError
from dy2st.tensor import Tensor

INSIDE = "computes other results from this one"


def leaf(*values):
    return Tensor(np.array(values, np.float32), stop_gradient=False)


def directly(x):
    y = x * 2
    return y, (y * y).sum()


def on_a_path(x):
    y = x * 2
    kept = x
    if x.sum() > 0:
        y = y * 3
        kept = y
        y = y * 5
    return kept, (y * y).sum()


def in_the_last_iteration(x):
    total = x.sum()
    for row in x:
        x = x * 2
        total = total + x.sum() * row
    return x, total


def as_an_entry(x):
    rows, total = [], x.sum()
    for row in x:
        rows.append(row * 2)
        total = total + rows[-1] * row
    return rows[0], total


def by_a_recursion(x):
    def halved(y):
        if y.sum() > 1:
            return halved(y / 2)
        return y

    y = halved(x * 2)
    return y, (y * y).sum()


@pytest.mark.parametrize("function", [directly, on_a_path, in_the_last_iteration, as_an_entry, by_a_recursion])
def test_what_other_results_are_computed_from(function):
    static = jit.to_static(function)
    for values in ([1.0, 2.0], [3.0, 0.5]):
        x, other = leaf(*values), leaf(*values)
        (y, loss), (expected, eager_loss) = static(x), function(other)
        assert y.grad is None
        loss.backward()
        eager_loss.backward()
        np.testing.assert_allclose(x.grad.numpy(), other.grad.numpy(), rtol=1e-6)
        assert expected.grad is not None
        with pytest.raises(GradientError, match=INSIDE) as caught:
            y.grad  # noqa: B018
        assert "paddle.grad()" in caught.value.hint


def apart(x):
    y = x * 2
    z = x * 3
    if x.sum() > 0:
        z = z * z
    return y, z.sum()


@pytest.mark.parametrize("function", [directly, on_a_path, in_the_last_iteration, as_an_entry, by_a_recursion, apart])
def test_what_is_computed_outside(function):
    static = jit.to_static(function)
    found = []
    for f in (function, static):
        x = leaf(1.0, 2.0)
        y, loss = f(x)
        calls = []
        y.register_hook(lambda g, calls=calls: calls.append(g.numpy()))
        (y * y).sum().backward()
        found.append((y.grad.numpy(), x.grad.numpy(), *calls))
        assert len(calls) == 1
        assert loss.grad is None
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_results_that_have_nothing_to_do_with_each_other():
    x = leaf(1.0, 2.0)
    y, z = jit.to_static(apart)(x)
    (y.sum() + z).backward()
    np.testing.assert_array_equal(y.grad.numpy(), [1, 1])
    np.testing.assert_array_equal(z.grad.numpy(), 1)


@pytest.mark.parametrize("function", [directly, on_a_path, in_the_last_iteration, as_an_entry, by_a_recursion])
def test_a_hook_would_see_a_part_only(function):
    x = leaf(1.0, 2.0)
    y, loss = jit.to_static(function)(x)
    calls = []
    handle = y.register_hook(calls.append)
    with pytest.raises(GradientError, match=INSIDE):
        loss.backward(retain_graph=True)
    assert not calls
    assert x.grad is None
    handle.remove()
    loss.backward()
    assert x.grad is not None


@pytest.mark.parametrize("allow_unused", [False, True])
def test_a_gradient_by_a_result(allow_unused):
    static = jit.to_static(directly)
    y, loss = static(leaf(1.0, 2.0))
    with pytest.raises(GradientError, match=INSIDE):
        paddle.grad(loss, y, allow_unused=allow_unused)
    y, loss = static(leaf(1.0, 2.0))
    (g,) = paddle.grad(y.sum(), y)
    np.testing.assert_array_equal(g.numpy(), [1, 1])


class Cam(nn.Layer):
    """Keeps its features, whose gradient somebody will ask for."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.features = None

    def forward(self, x):
        self.features = self.fc(x)
        return self.features.tanh().sum()


def test_what_a_layer_keeps():
    net = jit.to_static(Cam())
    net(tensor(1.0, 2.0)).backward()
    with pytest.raises(GradientError, match=INSIDE):
        net.features.grad  # noqa: B018
    net(tensor(1.0, 2.0))
    assert net.features.grad is None
