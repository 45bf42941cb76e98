"""Leaves and their gradients in static functions that call `backward()`: those outside, arguments, and those that the function makes."""

import numpy as np
import pytest
from dy2st_runtime import config
from training import OPTIMIZERS, Net, Training, agree, batches, gradients

import dy2st as paddle
from dy2st import jit, nn
from dy2st import optimizer as opt
from dy2st.errors import GradientError, StagedValueError, StructureError
from dy2st.nn import functional as F
from dy2st.tensor import Tensor


def test_an_argument_with_a_gradient_from_before_the_call_is_an_error():
    model = Net()

    @jit.to_static
    def backward(x):
        model(x).sum().backward()

    x = next(batches())[0]
    x.stop_gradient = False
    backward(x)
    before = [x.grad.numpy(), *gradients(model)]
    with pytest.raises(GradientError, match="has a gradient from before the call"):
        backward(x)
    agree([x.grad.numpy(), *gradients(model)], before)


@pytest.mark.parametrize("clears", [False, True])
def test_a_parameter_that_is_an_argument_too(clears):
    """The optimizer knows it from outside: a trace would take it for another one, and make no step."""
    w = paddle.create_parameter([2], "float32")
    optimizer = opt.SGD(0.1, [w])

    @jit.to_static
    def step(x, w):
        (x * w).sum().backward()
        optimizer.step()
        if clears:
            optimizer.clear_grad()
        return w * 1

    with pytest.raises(StructureError, match=r"a Parameter among the arguments is also known to the static function '.*step' from outside"):
        step(Tensor([1.0, 2.0]), w)


def test_hooks_that_come_and_go():
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))

    @jit.to_static
    def step(x):
        (w * x).sum().backward()

    step(Tensor([1.0]))
    w.clear_grad()
    hook = w.register_hook(lambda g: g * 10)
    with pytest.raises(GradientError, match="has a hook"):
        step(Tensor([1.0]))
    with pytest.raises(StagedValueError, match=r"grad\(\) in a static function cannot call the hook of a leaf"):
        jit.to_static(lambda x: paddle.grad((w * x).sum(), [w])[0])(Tensor([1.0]))
    hook.remove()
    step(Tensor([2.0]))
    np.testing.assert_array_equal(w.grad.numpy(), [2.0])


BOX = {}


def by_argument(x, y):
    (y * 2).sum().backward()


def by_global(x, y):
    (BOX["y"] * 2).sum().backward()


@pytest.mark.parametrize("function", [by_argument, by_global])
def test_a_gradient_that_flows_on_outside(function):
    """It would be lost on the way to the leaves behind."""
    x = Tensor([1.0, 2.0], stop_gradient=False)
    static = jit.to_static(function)
    for y in (x, x * 3, x):
        BOX["y"], args = y, (x.detach(), y if function is by_argument else x.detach())
        if y is x:
            static(*args)
            np.testing.assert_array_equal(x.grad.numpy(), [2.0, 2.0])
            x.clear_grad()
        else:
            with pytest.raises((StagedValueError, GradientError), match="flows on"):
                static(*args)
            with pytest.raises(StagedValueError, match=r"the gradient flows on from .* into what has been computed outside"):
                jit.to_static(function)(*args)
        BOX["y"] = None


def test_a_frozen_parameter():
    training, wanted = (Training(OPTIMIZERS["sgd"], stage) for stage in (jit.to_static, lambda f: f))
    for i, (x, y) in enumerate(batches()):
        for t in (training, wanted):
            t.model.first.weight.stop_gradient = i > 1
            t.step(x, y)
        agree(training.state(), wanted.state())


def test_only_leaves_keep_gradients():
    model = Net()

    @jit.to_static
    def of_a_result(x):
        y = model(x)
        y.sum().backward()
        return y.grad

    with pytest.raises(StagedValueError, match="only leaves keep the gradients"):
        of_a_result(next(batches())[0])


def test_hooks_of_leaves_are_refused():
    training = Training(OPTIMIZERS["sgd"], jit.to_static)
    training.model.first.weight.register_hook(lambda g: g * 2)
    (x, y), *_ = batches()
    with pytest.raises(StagedValueError, match="cannot call the hook of a leaf"):
        training.step(x, y)


def test_leaves_that_the_function_makes():
    """Adversarial training: the gradient of a disturbance of the input, in several steps."""

    def losses(stage):
        paddle.seed(1)
        net = nn.Linear(3, 1)
        optimizer = opt.SGD(0.1, net.parameters())

        @stage
        def step(x, y):
            moved = paddle.zeros_like(x)
            for _ in range(3):
                moved = moved.detach()
                moved.stop_gradient = False
                assert moved.grad is None
                F.mse_loss(net(x + moved), y).backward()
                moved = (moved + 0.05 * moved.grad.sign()).clip(-0.1, 0.1)
            optimizer.clear_grad()
            loss = F.mse_loss(net(x + moved.detach()), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss, moved.detach()

        return [v.numpy() for x, y in batches(3) for v in step(x, y)] + [p.numpy() for p in net.parameters()]

    agree(losses(lambda f: f), losses(jit.to_static))


def on_some_paths(x, w):
    y = x * w if x.sum() > 0 else x
    y.sum().backward()
    return w.grad


def in_some_iterations(x, w):
    y = x
    for i in range(x.shape[0] - 1):
        y = y * w[i]
    y.sum().backward()
    return w.grad


def one_of_two(x, w):
    y = x * w if x.sum() > 0 else x
    paddle.autograd.backward([y.sum(), w.sum()])
    return w.grad


def asked_for(x, w):
    y = x * w if x.sum() > 0 else x
    return paddle.grad(y.sum(), [w], allow_unused=True)[0]


@pytest.mark.parametrize("function", [on_some_paths, in_some_iterations, one_of_two, asked_for])
def test_what_needs_no_gradient_in_a_run_is_an_error_of_that_run(function):
    w = paddle.create_parameter([3], "float32", default_initializer=nn.initializer.Constant(2.0))
    static = jit.to_static(lambda x: function(x, w))
    with config.NO_JIT.override(True):
        for values in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [2.0, 2.0, 2.0], [1.0]):
            found = []
            for f in (lambda x: function(x, w), static):
                try:
                    found.append(f(Tensor(values)).numpy().tolist())
                except GradientError as error:
                    found.append(error.message)
                w.clear_grad()
            assert found[0] == found[1]
