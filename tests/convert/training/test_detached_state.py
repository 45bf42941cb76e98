"""State that a static function sets apart from the computation: by `set_value`, or in place under `no_grad`.

Eagerly such a tensor keeps its place in the graph: a buffer takes no gradient on, and a parameter gets its own for what is
computed from its new value. So for several calls with a `backward` after each.
"""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import InplaceError
from dy2st.tensor import Tensor


def by_set_value(w, x):
    w.set_value(w * 2 + x.mean())


def by_copy(w, x):
    w.copy_(w * 2)


def under_no_grad(w, x):
    with paddle.no_grad():
        w.add_(x.mean() * paddle.ones([2]))


def an_element(w, x):
    with paddle.no_grad():
        w[0] = x[1] * 3


def on_one_path(w, x):
    if x.sum() > 2:
        w.set_value(w * 2)


def in_a_loop(w, x):
    i = paddle.to_tensor(0)
    while i < 2:
        w.set_value(w * 2 + i)
        i = i + 1


def after_nan(w, x):
    w.set_value(w / 0.0 - w / 0.0)
    w.set_value(x * 2)


HOWS = [by_set_value, by_copy, under_no_grad, an_element, on_one_path, in_a_loop, after_nan]


class Model(nn.Layer):
    def __init__(self, how, buffer):
        super().__init__()
        self.how = how
        if buffer:
            self.register_buffer("w", Tensor([3.0, 4.0]))
        else:
            self.w = self.create_parameter([2], default_initializer=nn.initializer.Assign(np.array([3.0, 4.0])))
        self.scale = self.create_parameter([2], default_initializer=nn.initializer.Constant(0.5))

    def forward(self, x):
        before = self.w * x
        self.how(self.w, x * self.scale)
        return before + x * self.w * self.w * self.scale


def trained(model):
    xs = [Tensor([1.0, 2.0], stop_gradient=False), Tensor([3.0, 4.0], stop_gradient=False)]
    for x in [*xs, xs[0]]:
        model(x).sum().backward()
    found = [model.w, model.scale.grad, *(x.grad for x in xs), *([] if model.w.stop_gradient else [model.w.grad])]
    return [t.numpy() for t in found], model.w.is_leaf, model.w.stop_gradient


@pytest.mark.parametrize("buffer", [False, True], ids=["parameter", "buffer"])
@pytest.mark.parametrize("how", HOWS, ids=lambda f: f.__name__)
def test_as_eagerly(how, buffer):
    with np.errstate(all="ignore"):
        values, *marks = trained(Model(how, buffer))
        static_values, *static_marks = trained(jit.to_static(Model(how, buffer)))
    assert marks == static_marks == [True, buffer]
    for a, b in zip(values, static_values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_an_argument():
    def accumulate(x, total):
        total.set_value(total + x)
        return total * x

    results = []
    for f in (accumulate, jit.to_static(accumulate)):
        x, total = Tensor([2.0], stop_gradient=False), Tensor([1.0])
        for _ in range(2):
            f(x, total).backward()
        results.append((total.item(), total.stop_gradient, x.grad.item()))
    assert results[0] == results[1] == (5.0, True, 8.0)


def test_a_buffer_that_a_handler_leaves_as_it_was():
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", Tensor([1.0, 2.0]))

        def forward(self, x, n):
            for row in x:
                try:
                    if n > 2:
                        raise KeyError("n")
                    self.mean.set_value(self.mean * 0.5 + row)
                except KeyError:
                    pass
            return x + self.mean

    eager, static = Counting(), jit.to_static(Counting())
    for grad in (True, False):
        with paddle.set_grad_enabled(grad):
            for n in (3, 0, 5):
                x = Tensor([[1.0, -1.0], [0.5, 2.0]])
                np.testing.assert_allclose(static(x, Tensor(n)).numpy(), eager(x, Tensor(n)).numpy(), rtol=1e-6)
                np.testing.assert_allclose(static.mean.numpy(), eager.mean.numpy(), rtol=1e-6)


class TestWhatDependsOnNothingGetsNoGradient:
    @pytest.mark.parametrize("name", ["zero_", "uniform_", "normal_"])
    def test_eagerly(self, name):
        x = Tensor([1.0, 2.0], stop_gradient=False)
        y = x * 2
        getattr(y, name)()
        (y * x).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.numpy())

    def test_assign(self):
        x = Tensor([1.0], stop_gradient=False)
        y = x * 2
        paddle.assign(Tensor([5.0]), y)
        (y * x).backward()
        assert x.grad.item() == 5

    def test_in_a_static_function(self):
        def clear(x, y):
            y.zero_()
            return x * 1

        for f in (clear, jit.to_static(clear)):
            x = Tensor([1.0], stop_gradient=False)
            y = x * 2
            out = f(x, y)
            (out + y * x).backward()
            assert (x.grad.item(), y.stop_gradient) == (1, True)

    def test_a_leaf_is_still_an_error(self):
        with pytest.raises(InplaceError, match="leaf"):
            Tensor([1.0], stop_gradient=False).zero_()


def test_a_result_with_gradients_stopped_is_a_leaf():
    @jit.to_static
    def stopped(w, x):
        y = w * x
        y.stop_gradient = True
        return y

    w, x = paddle.to_tensor([2.0, 3.0], stop_gradient=False), paddle.to_tensor([1.0, 4.0])
    y = stopped(w, x)
    y.stop_gradient = False
    (y * w).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [2, 12])  # eagerly twice as much: y leads to w there
    np.testing.assert_array_equal(y.grad.numpy(), [2, 3])
