"""Leaves that a static function modifies in place, under `no_grad()`: gradients of what was computed before and after go to them, and
optimizers update them."""

import pytest
from dy2st_runtime import config
from training import OPTIMIZERS, Net, agree, batches, gradients

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import GradientError
from dy2st.nn import functional as F
from dy2st.tensor import Tensor


def used_before_and_after(x, w):
    y = (x * w**2).sum()
    with paddle.no_grad():
        w.set_value(w * 0.5)
    z = (x * w**3).sum()
    (y + z).backward()
    return w.grad


def on_a_path(x, w):
    y = (x * w**2).sum()
    if x.sum() > 3:
        with paddle.no_grad():
            w.scale_(0.5)
        y = y + (x * w**2).sum()
    (y * (x * w).sum()).backward()
    return w.grad


def in_a_while_loop(x, w):
    y = (x * w**2).sum()
    while y > 1.0:
        with paddle.no_grad():
            w.scale_(0.5)
        y = y * 0.5 + (x * w**2).sum() * 0.1
    (y + (w * x).sum()).backward()
    return w.grad


def asked_for(x, w):
    y = (x * w**2).sum()
    with paddle.no_grad():
        w.subtract_(x)
    return paddle.grad(y * (w * x).sum(), [w])[0]


def computed(x, w):
    h = w * x
    y = (h**2).sum()
    if x.sum() > 3:
        with paddle.no_grad():
            h.scale_(2.0)
    return paddle.grad(y + (h**3).sum(), [h, w])


def an_argument(x, w):
    y = (x * w).sum()
    with paddle.no_grad():
        x.scale_(2.0)
    (y + (x**2 * w).sum()).backward()
    return x.grad


def made_inside(x, w):
    moved = paddle.zeros_like(x)
    moved.stop_gradient = False
    for _ in range(3):
        ((x + moved) ** 2 * w).sum().backward()
        with paddle.no_grad():
            moved.set_value((moved + 0.1 * moved.grad).clip(-0.5, 0.5))
        moved.clear_grad()
    return moved.detach()


GRADIENTS = [used_before_and_after, on_a_path, in_a_while_loop, asked_for, computed, an_argument, made_inside]


@pytest.mark.parametrize("function", GRADIENTS)
def test_gradients(function):
    with config.NO_JIT.override(True):
        compare(function)


@pytest.mark.parametrize("function", [on_a_path, in_a_while_loop])
def test_gradients_natively(function):
    compare(function)


def compare(function):
    found = []
    for stage in (lambda f: f, jit.to_static):
        w = paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Constant(1.5))
        outer = stage(lambda x, w=w: function(x, w))
        each = []
        for values in ([1.0, 0.5], [2.0, 3.0], [0.1, 0.2]):
            x = Tensor(values, stop_gradient=function is not an_argument)
            result = outer(x)
            each += [*(result if isinstance(result, list) else [result]), x * 1, w * 1, w.grad]
            w.clear_grad()
        found.append([None if t is None else t.numpy() for t in each])
    agree(*found)


def sharpness_aware(model, optimizer, x):
    """A step by the gradient at the worst point nearby."""
    loss = (model(x) ** 2).mean()
    loss.backward()
    with paddle.no_grad():
        moves = [(p, p.grad * 0.05) for p in model.first.parameters()]
        for p, move in moves:
            p.add_(move)
    optimizer.clear_grad()
    (model(x) ** 2).mean().backward()
    with paddle.no_grad():
        for p, move in moves:
            p.subtract_(move)
    optimizer.step()
    optimizer.clear_grad()
    return loss


def with_clipped_weights(model, optimizer, x):
    """The layer in the middle is not used, and not updated, in some runs."""
    for _ in range(2):
        loss = F.relu(model(x)).mean() - model(-x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        with paddle.no_grad():
            for p in model.parameters():
                p.set_value(p.clip(-0.3, 0.3))
    return loss


@pytest.mark.parametrize("step", [sharpness_aware, with_clipped_weights])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name, step):
    with config.NO_JIT.override(True):
        compare_steps(name, step)


@pytest.mark.parametrize("step", [sharpness_aware, with_clipped_weights])
def test_steps_natively(step):
    compare_steps("momentum", step)


def compare_steps(name, step):
    found = []
    for stage in (lambda f: f, jit.to_static):
        model = Net()
        optimizer = OPTIMIZERS[name](0.1, model.parameters())
        static = stage(lambda x, model=model, optimizer=optimizer: step(model, optimizer, x))
        each = [static(x) for x, _ in batches(4)]
        each += [*model.parameters(), *(v for v in optimizer.state_dict().values() if isinstance(v, Tensor))]
        found.append([t.numpy() for t in each])
        assert not any(g is not None for g in gradients(model))
    agree(*found)


def test_the_value_before_a_step_is_missed_also_behind_a_change():
    w = paddle.create_parameter([2], "float32")
    sgd = paddle.optimizer.SGD(0.1, [w])

    @jit.to_static
    def step(x):
        y = x * w**2
        (x * w).sum().backward()
        sgd.step()
        with paddle.no_grad():
            w.scale_(0.5)
        y.sum().backward()

    with pytest.raises(GradientError, match="the gradient needs the value that"):
        step(Tensor([1.0, 2.0]))
