"""Gradients that the user gives, gets, or returns from hooks: they fit their tensors and belong to one tensor each."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor
from dy2st.errors import DTypeError, GradientError, ShapeError


def leaf(*values):
    return Tensor(list(values), stop_gradient=False)


class TestEachTensorHasItsOwn:
    def test_in_place_functions_change_one_gradient(self):
        a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
        (a + b).sum().backward()
        a.grad.zero_()
        assert (a.grad.tolist(), b.grad.tolist()) == ([0, 0], [1, 1])

    def test_the_gradient_to_start_with_stays_the_users(self):
        a, seed = leaf(1.0), Tensor([5.0])
        a.backward(seed)
        a.grad.zero_()
        assert seed.tolist() == [5]

    def test_results_of_grad(self):
        a, b, seed = leaf(1.0), leaf(2.0), Tensor([3.0])
        da, db = paddle.grad(a + b, [a, b], seed)
        da.zero_()
        assert (db.tolist(), seed.tolist()) == ([3], [3])

    def test_those_of_create_graph_keep_their_graph(self):
        a, b = leaf(2.0), leaf(3.0)
        y = (a + b) * (a + b)
        da, db = paddle.grad(y, [a, b], create_graph=True)
        (da * 2 + db).backward()
        assert (a.grad.item(), b.grad.item()) == (6, 6)

    def test_a_hook_that_modifies_its_argument(self):
        a, b = leaf(1.0), leaf(2.0)
        a.register_hook(lambda g: g.scale_(7.0) and None)
        (a + b).backward()
        assert (a.grad.item(), b.grad.item()) == (7, 1)


class TestWhatDoesNotFitIsAnError:
    def test_to_start_with(self):
        x = leaf(1.0, 2.0) * 2
        with pytest.raises(DTypeError, match="must be a Tensor, got ndarray"):
            x.backward(np.ones(2, "float32"))
        with pytest.raises(DTypeError, match="is float64, its tensor is float32"):
            x.backward(Tensor(np.ones(2)))
        with pytest.raises(ShapeError, match=r"shape \[1\], its tensor has shape \[2\]"):
            x.backward(Tensor([1.0]))

    @pytest.mark.parametrize(
        ("hook", "error"), [(lambda g: g.sum(), ShapeError), (lambda g: g.astype("float64"), DTypeError)]
    )
    def test_what_hooks_return(self, hook, error):
        x = leaf(1.0, 2.0)
        x.register_hook(hook)
        with pytest.raises(error, match="what a gradient hook returns"):
            (x * 2).sum().backward()
        assert x.grad is None

    def test_a_hook_is_a_function(self):
        with pytest.raises(DTypeError, match="must be a function, got int"):
            leaf(1.0).register_hook(3)

    def test_what_a_pylayer_returns(self):
        class Sum(paddle.autograd.PyLayer):
            @staticmethod
            def forward(ctx, x):
                return x.sum()

            @staticmethod
            def backward(ctx, dy):
                return dy  # of shape [], not [2]

        with pytest.raises(ShapeError, match=r"Sum\.backward"):
            Sum.apply(leaf(1.0, 2.0)).backward()

    def test_set_by_the_user(self):
        x = leaf(1.0, 2.0)
        with pytest.raises(ShapeError, match=r"\[2\] cannot have a gradient of shape \[3\]"):
            x.grad = Tensor([1.0, 2.0, 3.0])
        x.grad = Tensor([1.0, 2.0])
        x.grad = None

    def test_integers_say_that_they_are(self):
        n = Tensor([1, 2], stop_gradient=False)
        with pytest.raises(GradientError, match="is int64: only floating-point"):
            (n * 2).backward()
        with pytest.raises(GradientError, match="input 0 of grad\\(\\) is int64"):
            paddle.grad(leaf(1.0), n)
        with pytest.raises(GradientError, match="is int64"):
            n.register_hook(print)


def test_clearing_takes_the_argument_of_paddle():
    x = leaf(1.0)
    for clear in (x.clear_grad, x.clear_gradient):
        for to_zero in (True, False):
            (x * 2).backward()
            clear(set_to_zero=to_zero)
            assert x.grad is None


def test_retained_gradients():
    x = leaf(1.0, 2.0)
    y = x * 3
    y.retain_grads()
    (y * y).sum().backward()
    assert y.grad.tolist() == [6, 12]
    stopped = Tensor([1.0])
    stopped.retain_grads()
    (stopped * x).sum().backward()
    assert stopped.grad is None
    stopped.stop_gradient = False
    (stopped * 2).sum().backward()
    assert stopped.grad.tolist() == [2]
