"""Numbers that Python's `random` and `np.random` draw in static functions: anew at each call, as in eager mode."""

import random

import numpy as np
import pytest

from dy2st import jit, nn
from dy2st.errors import Dy2stError, StagedValueError
from dy2st.tensor import Tensor

OWN = random.Random(3)


def layer_drop(x, training=True):
    for scale in (1.5, 2.0, 0.5, 3.0):
        if training and random.random() < 0.5:
            continue
        x = x * scale if x.sum() < 10 else x + scale
    return x


def teacher_forcing(x, targets):
    state, out = x, []
    for t in range(3):
        state = state * 0.5 + targets[t]
        out.append(state)
        if random.random() < 0.5:
            state = targets[t]
    return out


def chosen(x):
    factor, bias = random.choice([1.0, 2.0, 4.0]), random.choice((x, -x))
    k = random.randint(0, len(x) - 1)
    rows = [x[i] for i in range(random.randrange(1, 3))]
    return factor * x + bias, x[k], k, len(rows), random.choice("ab")


def mixed(x):
    lam = np.random.beta(0.4, 0.4)
    lam = max(lam, 1 - lam)
    noise = [np.random.rand(), np.random.uniform(-1, 1), np.random.normal(0.0, 2.0), np.random.randint(5), np.random.randn()]
    return lam * x + (1 - lam) * x[::-1] + sum(noise), lam, noise


def of_a_generator(x):
    return x * OWN.uniform(1, 2) + OWN.gauss(0, 1) if len(x) > 1 or OWN.random() < 2 else x


def noises(count):
    for _ in range(count):
        yield random.random() - 0.5


def of_a_generator_function(x):
    return x + sum(noises(2)), [noise * k for k, noise in enumerate(noises(3))]


def unused(x):
    random.random()
    return x * random.random()


def observed(function, calls):
    random.seed(7)
    np.random.seed(7)
    OWN.seed(7)
    found = []
    for args in calls:
        x, *more = (Tensor(a, stop_gradient=i > 0) for i, a in enumerate(args))
        result = function(x, *more)
        parts = list(result) if isinstance(result, (list, tuple)) else [result]
        loss = sum(t.sum() for t in parts if isinstance(t, Tensor) and not t.stop_gradient)
        loss.backward()
        flat = [*(v for p in parts for v in (p if isinstance(p, list) else [p])), x.grad]
        found.append([v.numpy() if isinstance(v, Tensor) else v for v in flat])
    return found, random.random(), np.random.rand(), OWN.random()


@pytest.mark.parametrize(
    ("function", "more"),
    [(layer_drop, ()), (teacher_forcing, (np.arange(9.0, dtype="float32").reshape(3, 3),)), (chosen, ()), (mixed, ()), (of_a_generator, ()),
     (of_a_generator_function, ()), (unused, ())],
    ids=lambda f: getattr(f, "__name__", ""),
)  # fmt: skip
def test_each_call_draws_as_eagerly(function, more):
    calls = [(np.array([1.0, -2.0, k], "float32"), *more) for k in (0.5, -4.0, 8.0, 1.0, 2.0, -3.0)]
    static = jit.to_static(function)
    (found, *after), (expected, *after_eager) = observed(static, calls), observed(function, calls)
    assert after == after_eager
    for one, other in zip(found, expected, strict=True):
        assert [type(v) for v in one] == [type(v) for v in other]
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b) if isinstance(a, str) else np.testing.assert_allclose(a, b, rtol=1e-6)
    assert len(static.concrete_programs) == 1


class Dropping(nn.Layer):
    def __init__(self):
        super().__init__()
        self.generator = random.Random(1)
        self.layers = nn.LayerList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            if self.training and self.generator.random() < 0.5:
                continue
            x = layer(x)
        return x


def test_a_generator_in_an_attribute_may_be_replaced():
    net = Dropping()
    eager, static, x = net.forward, jit.to_static(net.forward), Tensor([[1.0, 2.0]])
    for k in range(8):
        net.train() if k % 3 else net.eval()
        net.generator = random.Random(k // 2)
        expected = eager(x).numpy()
        net.generator = random.Random(k // 2)
        np.testing.assert_allclose(static(x).numpy(), expected, rtol=1e-6)


def under_a_condition(x):
    if x.sum() > 0:
        x = x * random.random()
    return x


def in_a_loop(x):
    for v in x:
        if np.random.rand() < 0.5:
            x = x + v
    return x


def array(x):
    return x + np.random.rand(3)


def shuffled(x):
    order = [0, 1, 2]
    random.shuffle(order)
    return x[order]


def seeded(x):
    random.seed(3)
    return x * random.random()


def made_inside(x):
    return x * np.random.default_rng(0).random()


def up_to_a_tensor(x):
    return x * random.uniform(0, x.sum())


def huge(x):
    return x * random.getrandbits(80)


@pytest.mark.parametrize(
    "function", [under_a_condition, in_a_loop, array, shuffled, seeded, made_inside, up_to_a_tensor, huge], ids=lambda f: f.__name__
)
def test_what_no_call_can_draw_before_it_runs_is_refused(function):
    before = random.getstate()
    with pytest.raises(Dy2stError, match=r"random\.\w+\(\)|default_rng") as caught:
        jit.to_static(function)(Tensor(np.ones([40, 3], "float32") if function is in_a_loop else [1.0, 2.0, 3.0]))
    assert caught.value.location.line > function.__code__.co_firstlineno
    assert random.getstate() == before


def test_wrong_arguments_are_python_s_matter():
    static = jit.to_static(lambda x: x * random.randint(5, 1))
    with pytest.raises(ValueError, match="empty range"):
        static(Tensor([1.0]))


def test_no_model_file_draws_them(tmp_path):
    class Net(nn.Layer):
        @jit.to_static
        def forward(self, x):
            return x * random.random()

    net = Net()
    net(Tensor([1.0, 2.0]))
    with pytest.raises(StagedValueError, match=r"random\.random\(\), which no model file can hold"):
        jit.save(net, str(tmp_path / "net"))


def test_what_takes_the_place_of_a_function_of_random_is_called(monkeypatch):
    static = jit.to_static(lambda x: x * random.random())
    static(Tensor([1.0]))
    monkeypatch.setattr(random, "random", lambda: 2.0)
    assert float(static(Tensor([1.5]))) == 3.0
