import numpy as np
import pytest

import dy2st as paddle
from dy2st import Tensor, nn
from dy2st.errors import AttributeValueError, DTypeError, StateDictError
from dy2st.optimizer import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Momentum, RMSProp, lr
from dy2st.regularizer import L1Decay, L2Decay


def parameter(value):
    return paddle.create_parameter(np.shape(value), attr=nn.initializer.Assign(np.asarray(value, "float32")))


START = np.array([[1.0, -2.0], [0.5, 3.0]], "float32")
GRADS = [np.array([[0.1, -0.2], [0.3, 0.0]], "float32"), np.array([[-0.5, 0.2], [0.1, 1.0]], "float32")] * 2


def run(make, grads=GRADS):
    p = parameter(START)
    optimizer = make([p])
    for g in grads:
        p.grad = Tensor(g)
        optimizer.step()
        optimizer.clear_grad()
    return p.numpy(), optimizer


def by_hand(step):
    """`step(t, w, g, state)` returns the new w; state is a dict."""
    w, state = START.astype("float64"), {}
    for t, g in enumerate(GRADS, 1):
        w = step(t, w, g.astype("float64"), state)
    return w


def sgd(t, w, g, s):
    return w - 0.1 * g


def momentum(t, w, g, s):
    s["v"] = 0.9 * s.get("v", 0) + g
    return w - 0.1 * s["v"]


def nesterov(t, w, g, s):
    s["v"] = 0.9 * s.get("v", 0) + g
    return w - 0.1 * (g + 0.9 * s["v"])


def adam(t, w, g, s, decay=0.0):
    w = w * (1 - 0.1 * decay)
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g * g
    return w - 0.1 * (s["m"] / (1 - 0.8**t)) / (np.sqrt(s["v"] / (1 - 0.9**t)) + 1e-8)


def adamax(t, w, g, s):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["u"] = np.maximum(abs(g), 0.999 * s.get("u", 0) + 1e-8)
    return w - 0.1 / (1 - 0.9**t) * s["m"] / s["u"]


def adagrad(t, w, g, s):
    s["m"] = s.get("m", 0) + g * g
    return w - 0.1 * g / (np.sqrt(s["m"]) + 1e-6)


def adadelta(t, w, g, s):
    s["g"] = 0.95 * s.get("g", 0) + 0.05 * g * g
    d = np.sqrt((s.get("d", 0) + 1e-6) / (s["g"] + 1e-6)) * g
    s["d"] = 0.95 * s.get("d", 0) + 0.05 * d * d
    return w - 0.1 * d


def rmsprop(t, w, g, s):
    s["q"] = 0.95 * s.get("q", 0) + 0.05 * g * g
    s["b"] = 0.95 * s.get("b", 0) + 0.05 * g
    s["m"] = 0.5 * s.get("m", 0) + 0.1 * g / np.sqrt(s["q"] - s["b"] ** 2 + 1e-6)
    return w - s["m"]


CASES = {
    "sgd": (lambda ps: SGD(0.1, ps), sgd),
    "momentum": (lambda ps: Momentum(0.1, 0.9, ps), momentum),
    "nesterov": (lambda ps: Momentum(0.1, 0.9, ps, use_nesterov=True), nesterov),
    "adam": (lambda ps: Adam(0.1, 0.8, 0.9, parameters=ps), adam),
    "adamw": (lambda ps: AdamW(0.1, 0.8, 0.9, parameters=ps, weight_decay=0.3), lambda *a: adam(*a, decay=0.3)),
    "adamax": (lambda ps: Adamax(0.1, parameters=ps), adamax),
    "adagrad": (lambda ps: Adagrad(0.1, parameters=ps), adagrad),
    "adadelta": (lambda ps: Adadelta(0.1, parameters=ps), adadelta),
    "rmsprop": (lambda ps: RMSProp(0.1, momentum=0.5, centered=True, parameters=ps), rmsprop),
}


@pytest.mark.parametrize("name", CASES)
def test_steps(name):
    make, step = CASES[name]
    np.testing.assert_allclose(run(make)[0], by_hand(step), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_state_goes_on_after_saving(name, tmp_path):
    make, _ = CASES[name]
    expected, _ = run(make)
    middle, optimizer = run(make, GRADS[:2])
    paddle.save(optimizer.state_dict(), tmp_path / "o.pdopt")
    p = parameter(middle)
    (old,) = optimizer._parameter_list
    p.name = old.name
    fresh = make([p])
    fresh.set_state_dict(paddle.load(tmp_path / "o.pdopt"))
    for g in GRADS[2:]:
        p.grad = Tensor(g)
        fresh.step()
    np.testing.assert_array_equal(p.numpy(), expected)


class TestOptions:
    def test_weight_decay(self):
        def decayed(t, w, g, s):
            return w - 0.1 * (g + 0.2 * w)

        np.testing.assert_allclose(run(lambda ps: SGD(0.1, ps, 0.2))[0], by_hand(decayed), rtol=1e-5)
        np.testing.assert_allclose(run(lambda ps: SGD(0.1, ps, L2Decay(0.2)))[0], by_hand(decayed), rtol=1e-5)
        found = run(lambda ps: SGD(0.1, ps, L1Decay(0.2)))[0]
        np.testing.assert_allclose(found, by_hand(lambda t, w, g, s: w - 0.1 * (g + 0.2 * np.sign(w))), rtol=1e-5)

    def test_a_parameters_own_decay_goes_first(self):
        p = paddle.create_parameter(
            [1], attr=paddle.ParamAttr(initializer=nn.initializer.Constant(1.0), regularizer=L2Decay(0.0))
        )
        p.grad = Tensor([0.0])
        SGD(0.1, [p], 0.5).step()
        assert p.item() == 1

    def test_adamw_can_leave_parameters_out(self):
        p = parameter([1.0])
        p.grad = Tensor([0.0])
        AdamW(0.1, parameters=[p], weight_decay=0.5, apply_decay_param_fun=lambda name: False).step()
        assert p.item() == 1
        q = parameter([1.0])
        q.grad = Tensor([0.0])
        AdamW(0.1, parameters=[q], weight_decay=0.5).step()
        assert abs(q.item() - 0.95) < 1e-6

    def test_clips(self):
        p, q = parameter([3.0, 4.0]), parameter([1.0])
        grads = [(p, Tensor([3.0, 4.0])), (q, Tensor([12.0]))]
        values = lambda clip: [g.numpy().tolist() for _, g in clip(grads)]  # noqa: E731
        np.testing.assert_allclose(values(nn.ClipGradByGlobalNorm(6.5))[0], [1.5, 2.0], rtol=1e-6)
        assert values(nn.ClipGradByGlobalNorm(100.0)) == [[3, 4], [12]]
        np.testing.assert_allclose(values(nn.ClipGradByNorm(1.0))[0], [0.6, 0.8], rtol=1e-6)
        assert values(nn.ClipGradByValue(3.5))[0] == [3, 3.5]
        q.need_clip = False
        assert values(nn.ClipGradByGlobalNorm(2.5)) == [[1.5, 2.0], [12]]

    def test_clipping_comes_before_decay(self):
        p = parameter([10.0])
        p.grad = Tensor([100.0])
        SGD(0.1, [p], weight_decay=1.0, grad_clip=nn.ClipGradByNorm(1.0)).step()
        assert abs(p.item() - (10 - 0.1 * (1 + 10))) < 1e-5

    def test_learning_rate_factors(self):
        p = paddle.create_parameter(
            [1], attr=paddle.ParamAttr(initializer=nn.initializer.Constant(1.0), learning_rate=0.1)
        )
        p.grad = Tensor([1.0])
        SGD(0.5, [p]).step()
        assert abs(p.item() - 0.95) < 1e-6

    def test_groups(self):
        p, q = parameter([1.0]), parameter([1.0])
        optimizer = SGD(0.5, [{"params": [p], "learning_rate": 0.1, "weight_decay": 1.0}, {"params": [q]}])
        p.grad, q.grad = Tensor([1.0]), Tensor([1.0])
        optimizer.step()
        np.testing.assert_allclose([p.item(), q.item()], [1 - 0.05 * 2, 0.5], rtol=1e-6)

    def test_what_has_no_gradient_stays(self):
        p, q = parameter([1.0]), parameter([1.0])
        adam = Adam(0.1, parameters=[p, q])
        p.grad = Tensor([1.0])
        adam.step()
        assert (p.item() != 1, q.item() == 1) == (True, True)
        assert not any(q.name in name for name in adam.state_dict())

    def test_the_parameter_objects_stay(self):
        layer = nn.Linear(2, 1)
        weight, before = layer.weight, layer.weight.numpy()
        layer(paddle.ones([1, 2])).backward()
        SGD(0.1, layer.parameters()).step()
        assert layer.weight is weight
        np.testing.assert_allclose(weight.numpy(), before - 0.1, rtol=1e-6)

    def test_minimize(self):
        layer = nn.Linear(2, 1)
        before = layer.weight.numpy()
        optimizer = SGD(0.1, layer.parameters())
        loss = layer(paddle.ones([1, 2])).sum()
        loss.backward()
        _, pairs = optimizer.minimize(loss)
        assert [p.name for p, _ in pairs] == [p.name for p in layer.parameters()]
        np.testing.assert_allclose(layer.weight.numpy(), before - 0.1, rtol=1e-6)
        optimizer.clear_grad()
        assert layer.weight.grad is None

    def test_errors(self):
        with pytest.raises(AttributeValueError, match="parameters"):
            SGD(0.1).step()
        with pytest.raises(DTypeError, match=r"layer\.parameters"):
            SGD(0.1, parameter([1.0]))
        with pytest.raises(DTypeError, match="learning_rate"):
            SGD("0.1", [parameter([1.0])])
        with pytest.raises(DTypeError, match="weight_decay"):
            SGD(0.1, [parameter([1.0])], "x")
        with pytest.raises(DTypeError, match="grad_clip"):
            SGD(0.1, [parameter([1.0])], grad_clip=1.0)
        with pytest.raises(AttributeValueError, match="beta1"):
            Adam(0.1, beta1=1.0)
        with pytest.raises(AttributeValueError, match="cannot set 'x'"):
            SGD(0.1, [{"params": [parameter([1.0])], "x": 1}])
        _, optimizer = run(lambda ps: Momentum(0.1, parameters=ps))
        state = {k: np.zeros(7) for k in optimizer.state_dict()}
        with pytest.raises(StateDictError, match="velocity"):
            optimizer.set_state_dict(state)


class TestSchedules:
    CASES = {
        "noam": (lambda: lr.NoamDecay(100, 4), lambda n: 0.1 * min((n or 1) ** -0.5, n * 4**-1.5)),
        "piecewise": (lambda: lr.PiecewiseDecay([2, 4], [3.0, 2.0, 1.0]), lambda n: 3.0 if n < 2 else 2.0 if n < 4 else 1.0),
        "natural_exp": (lambda: lr.NaturalExpDecay(1.0, 0.1), lambda n: np.exp(-0.1 * n)),
        "inverse_time": (lambda: lr.InverseTimeDecay(1.0, 0.1), lambda n: 1 / (1 + 0.1 * n)),
        "polynomial": (lambda: lr.PolynomialDecay(1.0, 5, 0.1), lambda n: 0.9 * (1 - min(n, 5) / 5) + 0.1),
        "exponential": (lambda: lr.ExponentialDecay(1.0, 0.5), lambda n: 0.5**n),
        "multi_step": (lambda: lr.MultiStepDecay(1.0, [2, 5], 0.1), lambda n: 0.1 ** ((n >= 2) + (n >= 5))),
        "step": (lambda: lr.StepDecay(1.0, 3, 0.1), lambda n: 0.1 ** (n // 3)),
        "lambda": (lambda: lr.LambdaDecay(2.0, lambda n: 0.9**n), lambda n: 2 * 0.9**n),
        "multiplicative": (lambda: lr.MultiplicativeDecay(2.0, lambda n: 0.9), lambda n: 2 * 0.9**n),
        "cosine": (lambda: lr.CosineAnnealingDecay(1.0, 8, 0.2), lambda n: 0.2 + 0.8 * (1 + np.cos(np.pi * n / 8)) / 2),
        "warmup": (lambda: lr.LinearWarmup(lr.StepDecay(1.0, 2, 0.1), 4, 0.0, 1.0),
                   lambda n: n / 4 if n < 4 else 0.1 ** ((n - 4) // 2)),
        "cyclic": (lambda: lr.CyclicLR(1.0, 2.0, 2), lambda n: 1 + [0, 0.5, 1, 0.5][n % 4]),
    }  # fmt: skip

    @pytest.mark.parametrize("name", CASES)
    def test_values(self, name):
        make, value = self.CASES[name]
        schedule = make()
        for n in range(8):
            np.testing.assert_allclose(schedule(), value(n), rtol=1e-6, atol=1e-12)
            schedule.step()

    @pytest.mark.parametrize("name", CASES)
    def test_state(self, name):
        make, _ = self.CASES[name]
        first = make()
        for _ in range(5):
            first.step()
        second = make()
        second.set_state_dict(first.state_dict())
        first.step()
        second.step()
        assert first() == second()
        with pytest.raises(AttributeValueError, match="lacks"):
            second.set_state_dict({})

    def test_one_cycle(self):
        schedule = lr.OneCycleLR(1.0, 10, phase_pct=0.5)
        values = []
        for _ in range(10):
            values.append(schedule())
            schedule.step()
        np.testing.assert_allclose([values[0], values[4], max(values)], [1 / 25, 1, 1])
        np.testing.assert_allclose(values[-1], 0.0001)

    def test_plateau(self):
        schedule = lr.ReduceOnPlateau(1.0, factor=0.5, patience=1, cooldown=1, min_lr=0.2)
        values = []
        for metric in (3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2):
            schedule.step(paddle.to_tensor(float(metric)))
            values.append(schedule())
        assert values == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2]

    def test_with_an_optimizer(self, capsys):
        schedule = lr.StepDecay(1.0, 1, 0.5, verbose=True)
        p = parameter([10.0])
        optimizer = SGD(schedule, [p])
        for _ in range(2):
            p.grad = Tensor([1.0])
            optimizer.step()
            schedule.step()
        assert (p.item(), optimizer.get_lr()) == (8.5, 0.25)
        assert "StepDecay set learning rate to 0.25" in capsys.readouterr().out
        with pytest.raises(AttributeValueError, match="scheduled"):
            optimizer.set_lr(1.0)
        state = optimizer.state_dict()
        other = SGD(lr.StepDecay(1.0, 1, 0.5), [p])
        other.set_state_dict(state)
        assert other.get_lr() == 0.25
        with pytest.warns(UserWarning, match="LR_Scheduler"):
            other.set_state_dict({})

    def test_errors(self):
        with pytest.raises(AttributeValueError, match="3 values"):
            lr.PiecewiseDecay([1, 2], [0.1])
        with pytest.raises(AttributeValueError, match="increase"):
            lr.MultiStepDecay(0.1, [3, 1])
        with pytest.raises(DTypeError):
            lr.StepDecay("a", 1)
        schedule = lr.OneCycleLR(1.0, 3)
        for _ in range(3):
            schedule.step()
        with pytest.raises(AttributeValueError, match="has 3 steps"):
            schedule.step()


def test_training_converges():
    paddle.seed(0)
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    y = (x @ np.array([[1.0], [-2.0], [3.0], [0.5]]) + 0.7).astype("float32")
    net = nn.Linear(4, 1)
    adam = Adam(0.1, parameters=net.parameters())
    for _ in range(200):
        loss = nn.functional.mse_loss(net(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        adam.step()
        adam.clear_grad()
    assert loss.item() < 1e-4
