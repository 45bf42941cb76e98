"""Static calls amid eager code: several before one backward, hooks, modes, optimizers, copies, pickles, threads."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import jit, nn, optimizer
from dy2st.errors import GradientError
from dy2st.tensor import Tensor

R = np.random.default_rng(0)


class TwoPaths(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x):
        if x.sum() > 0:
            return self.a(x)
        return self.b(x)


class Deep(nn.Layer):
    """Without a bias before the BatchNorm: its gradient would be rounding noise, which Adam makes steps of."""

    def __init__(self):
        super().__init__()
        self.fc, self.bn = nn.Linear(3, 4, bias_attr=False), nn.BatchNorm1D(4)
        self.dropout, self.out = nn.Dropout(0.4), nn.Linear(4, 1)

    def forward(self, x):
        h = self.dropout(F.relu(self.bn(self.fc(x))))
        if h.mean() > 100:
            h = h * 0
        return self.out(h)


class Decorated(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    @jit.to_static
    def forward(self, x):
        return self.fc(x) if x.sum() > 0 else x


@jit.to_static
def square_or_minus(x):
    if x.sum() > 0:
        return x * x
    return -x


def both(cls):
    eager, static = cls(), cls()
    static.set_state_dict(eager.state_dict())
    return eager, jit.to_static(static)


def close(a, b, tolerance=1e-6):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=tolerance)


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


OPTIMIZERS = {
    "SGD": lambda p, rate: optimizer.SGD(rate, p, weight_decay=0.1),
    "Momentum": lambda p, rate: optimizer.Momentum(rate, 0.9, p, use_nesterov=True, grad_clip=nn.ClipGradByNorm(0.2)),
    "Adam": lambda p, rate: optimizer.Adam(rate, parameters=p, weight_decay=0.01),
    "AdamW": lambda p, rate: optimizer.AdamW(rate, parameters=p, grad_clip=nn.ClipGradByGlobalNorm(0.3)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_parameters_of_the_path_not_taken_do_not_move(name):
    eager, static = both(TwoPaths)
    opts = [OPTIMIZERS[name](m.parameters(), 0.1) for m in (eager, static)]
    for i, sign in enumerate([1, 1, -1, 1, -1, -1]):
        for model, opt in zip((eager, static), opts, strict=True):
            unused = model.b if sign > 0 else model.a
            before = unused.weight.numpy()
            (model(ones(1, 2) * (sign * (i + 1.0))) ** 2).mean().backward()
            assert [p.grad for p in unused.parameters()] == [None, None]
            opt.step()
            opt.clear_grad()
            np.testing.assert_array_equal(before, unused.weight.numpy())
    for p, q in zip(eager.parameters(), static.parameters(), strict=True):
        close(p, q)


@pytest.mark.parametrize("name", ["Momentum", "AdamW"])
def test_twenty_steps_with_a_schedule_and_modes(name):
    models = both(Deep)
    rates = [optimizer.lr.LinearWarmup(optimizer.lr.CosineAnnealingDecay(0.02, 10), 5, 0.0, 0.02) for _ in models]
    opts = [OPTIMIZERS[name](m.parameters(), r) for m, r in zip(models, rates, strict=True)]
    for i in range(20):
        x, target = Tensor(R.random((8, 3), np.float32)), Tensor(R.random((8, 1), np.float32))
        outs = []
        for model, opt, rate in zip(models, opts, rates, strict=True):
            paddle.seed(i)
            if i % 4 == 3:
                model.eval()
                outs.append(model(x))
                model.train()
            loss = F.mse_loss(model(x), target)
            loss.backward()
            opt.step()
            opt.clear_grad()
            rate.step()
            outs += [loss, paddle.rand([1])]
        half = len(outs) // 2
        for a, b in zip(outs[:half], outs[half:], strict=True):
            close(a, b)
    for a, b in zip(models[0].state_dict().values(), models[1].state_dict().values(), strict=True):
        close(a, b)
    assert len(models[1].forward.concrete_programs) == 2


def test_calls_before_a_backward_in_any_order():
    gradients = []
    for model in both(TwoPaths):
        ys = [model(ones(1, 2) * k).sum() for k in (1.0, -2.0, 3.0)]
        ys[1].backward()
        with paddle.no_grad():  # what was recorded stays as it was
            model.a.weight.set_value(model.a.weight * 2)
        ys[0].backward(retain_graph=True)
        ys[0].backward()
        (ys[2] * model(ones(1, 2)).sum()).backward()
        with pytest.raises(GradientError, match="retain_graph"):
            ys[2].backward()
        gradients.append([p.grad for p in model.parameters()])
    for a, b in zip(*gradients, strict=True):
        close(a, b)


def test_a_retained_graph_draws_the_same_dropout_and_updates_statistics_once():
    for model in both(Deep):
        paddle.seed(7)
        x = Tensor(np.arange(12, dtype=np.float32).reshape(4, 3), stop_gradient=False)
        loss = model(x).sum()
        statistics, position = model.bn._mean.numpy(), paddle.get_rng_state()
        loss.backward(retain_graph=True)
        once = x.grad.numpy()
        loss.backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * once, rtol=1e-6)
        np.testing.assert_array_equal(model.bn._mean.numpy(), statistics)
        np.testing.assert_array_equal(np.asarray(paddle.get_rng_state()), np.asarray(position))


def test_a_static_call_in_eager_code_in_a_static_function():
    @jit.not_to_static
    def between(x):
        return square_or_minus(x) * 2

    @jit.to_static
    def outer(x):
        return between(x * 3) + 1

    x = Tensor([1.0, 2.0], stop_gradient=False)
    outer(x).sum().backward()
    assert x.grad.tolist() == [36, 72]


def test_hooks_on_inputs_parameters_and_results():
    found = []
    for model in both(TwoPaths):
        log = []
        x = ones(1, 2)
        x.stop_gradient = False
        x.register_hook(lambda g, log=log: log.append("x"))
        model.a.weight.register_hook(lambda g, log=log: (log.append("w"), g * 3)[1])
        y = model(x)
        y.register_hook(lambda g, log=log: (log.append("y"), g * 5)[1])
        (y * y).sum().backward()
        found.append((x.grad, model.a.weight.grad, model.a.bias.grad, y.grad))
        assert sorted(log) == ["w", "x", "y"]
    for a, b in zip(*found, strict=True):
        close(a, b)


def test_forward_hooks_come_and_go():
    eager, static = both(TwoPaths)
    for model in (eager, static):
        plain = model(ones(1, 2))
        handle = model.a.register_forward_post_hook(lambda layer, inputs, out: out * 2)
        close(model(ones(1, 2)), plain * 2)
        handle.remove()
        close(model(ones(1, 2)), plain)
        model.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 3,))
        close(model(ones(1, 2)), TwoPaths.forward(model, ones(1, 2) * 3))


def test_gradients_of_gradients():
    x, w = Tensor([1.0, 2.0], stop_gradient=False), Tensor([3.0, 4.0], stop_gradient=False)
    y = square_or_minus(x)
    with pytest.raises(GradientError, match="cannot be differentiated again"):
        paddle.grad(y, x, create_graph=True, retain_graph=True)
    (g,) = paddle.grad((y * w).sum(), w, create_graph=True)  # does not go through the static call
    (g * g).sum().backward()
    assert x.grad.tolist() == [4, 32]


def test_no_grad_and_detach():
    x = Tensor([1.0, 2.0], stop_gradient=False)
    with paddle.no_grad():
        assert square_or_minus(x).stop_gradient
    assert square_or_minus(x.detach()).stop_gradient
    assert not square_or_minus(x).stop_gradient

    def inside(x):
        with paddle.no_grad():
            h = x * 10
        return x.detach() * x + h

    for f in (inside, jit.to_static(inside)):
        x.clear_grad()
        f(x).sum().backward()
        assert x.grad.tolist() == [1, 2]


def test_in_place_on_results_and_inputs():
    for f in (square_or_minus.raw, square_or_minus):
        x = Tensor([1.0, 2.0], stop_gradient=False)
        h = x * 2
        y = f(h)
        h.add_(ones(2))
        y[0] = 0.0
        (y * 3).sum().backward()
        assert x.grad.tolist() == [0, 48]


class TestCopiesAndPickles:
    @pytest.mark.parametrize("make", [Decorated, lambda: jit.to_static(TwoPaths())], ids=["class", "instance"])
    @pytest.mark.parametrize(
        "how", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["deepcopy", "pickle"]
    )
    def test_of_a_used_layer(self, make, how):
        model = make()
        model(ones(1, 2)).sum().backward()
        other = how(model)
        close(model(ones(1, 2)), other(ones(1, 2)))
        before = model(ones(1, 2))
        for p in other.parameters():
            p.set_value(p * 0)
        assert other(ones(1, 2)).numpy().tolist() == [[0, 0]]
        close(model(ones(1, 2)), before)
        assert other.forward.concrete_programs != model.forward.concrete_programs

    def test_of_a_function(self):
        assert pickle.loads(pickle.dumps(square_or_minus)) is square_or_minus


def test_threads_share_a_model():
    eager, static = both(Deep)
    eager.eval()
    static.eval()
    xs = [Tensor(R.random((4 + i % 3, 3), np.float32), stop_gradient=False) for i in range(6)]
    failed = []

    def work(x):
        try:
            for _ in range(5):
                static(x).sum().backward()
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(x,)) for x in xs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == []
    for x in xs:
        own = Tensor(x.numpy(), stop_gradient=False)
        eager(own).sum().backward()
        close(own.grad * 5, x.grad)


def test_a_call_that_waits_for_its_gradient_in_a_cycle_of_garbage():
    static = jit.to_static(lambda x: x * x)

    def wait():
        cycle = [static(Tensor([1.0, 2.0], stop_gradient=False) * 1.0)]
        cycle.append(cycle)

    wait()
    frames = static.concrete_program.training().executable._frames
    assert frames == []
    gc.collect()
    assert frames == []  # its memory is gone with the garbage
    for _ in range(3):
        x = Tensor([1.0, 2.0], stop_gradient=False)
        static(x).sum().backward()
    assert len(frames) == 1
