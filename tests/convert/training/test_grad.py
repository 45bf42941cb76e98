"""`grad()` called in a static function: gradient penalties, inner steps, sampling by gradients. The same as eagerly."""

import numpy as np
import pytest
from dy2st_runtime import config
from three_ways import check, compare, outcome

import dy2st
from dy2st import jit, nn
from dy2st.errors import GradientError, StagedValueError
from dy2st.tensor import Tensor
from dy2st.tensor.autograd import grad
from dy2st.tensor.linalg import matmul


def penalty(x):
    y = (x.tanh() * x).sum()
    (g,) = grad(y, x, create_graph=True)
    return y, (g * g).sum()


def steps(x, rate):
    for _ in range(3):
        (g,) = grad((x * x * x).sum(), [x], create_graph=True)
        x = x - g * rate
    return x


def constant(x):
    (g,) = grad((x * x * x).sum(), x, retain_graph=True)
    return g * x


def given(x, v):
    (g,) = grad(x.tanh(), x, grad_outputs=v, create_graph=True)
    return g, grad(g.sum(), x, create_graph=True)[0]


def behind_control_flow(x, n):
    h = x * 2 if x.sum() > 0 else x.tanh()
    for _ in range(n):
        h = h * h + x
    (g,) = grad(h.sum(), x, retain_graph=True)
    return h, g


def blocked(x):
    h = x * x
    return grad((h * x).sum(), x, no_grad_vars=[h])[0]


def unused(x, y):
    return grad((x * x).sum(), [x, y], allow_unused=True)


def missing(x, y):
    return grad((x * x).sum(), [x, y])


def of_a_constant(x):
    return grad(x.detach().sum(), x)


P, N = [0.5, 1.5, 2.0], [-0.5, -1.5, 0.2]


@pytest.mark.parametrize(
    ("function", "calls"),
    [(penalty, [(P,), (N,)]), (steps, [(P, 0.1), (N, 0.1)]), (constant, [(P,), (N,)]), (given, [(P, N), (N, P)]),
     (behind_control_flow, [(P, 2), (N, 0), (N, 3)]), (blocked, [(P,)]), (unused, [(P, N)]), (missing, [(P, N)]),
     (of_a_constant, [(P,)])],
)  # fmt: skip
def test_as_eagerly(function, calls):
    with config.NO_JIT.override(True):
        static = jit.to_static(function)
        for values in calls:
            compare(outcome(function, values), outcome(static, values), values)


def test_natively():
    compare(outcome(penalty, (P,)), outcome(jit.to_static(penalty), (P,)), P)


class Critic(nn.Layer):
    """With layers whose gradients depend on sizes that are open."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3), nn.LayerNorm(3), nn.Tanh(), nn.Linear(3, 1))

    def forward(self, x):
        y = self.body(x)
        (g,) = grad(y.sum(), x, create_graph=True)
        return y.mean() + ((g.norm() - 1) ** 2).mean()


@pytest.fixture
def double_precision():
    """Norms of few numbers can be so badly conditioned that float32 shows nothing."""
    dy2st.set_default_dtype("float64")
    yield
    dy2st.set_default_dtype("float32")


def test_penalty_of_a_critic(double_precision):
    eager, static = Critic(), jit.to_static(Critic())
    static.set_state_dict(eager.state_dict())
    rng = np.random.RandomState(0)
    with config.NO_JIT.override(True):
        for rows in (4, 3):
            values = rng.randn(rows, 2)
            losses = [net(Tensor(values, stop_gradient=False)) for net in (eager, static)]
            np.testing.assert_allclose(losses[1].numpy(), losses[0].numpy(), rtol=1e-9)
            for loss in losses:
                loss.backward()
            for p, q in zip(eager.parameters(), static.parameters(), strict=True):
                assert (p.grad is None) == (q.grad is None)
                if p.grad is not None:
                    np.testing.assert_allclose(q.grad.numpy(), p.grad.numpy(), rtol=1e-6, atol=1e-9)


def test_inner_step_on_parameters():
    layer = nn.Linear(2, 1)

    def adapted(x, y):
        loss = ((layer(x) - y) ** 2).mean()
        dw, db = grad(loss, [layer.weight, layer.bias], create_graph=True)
        return ((matmul(x, layer.weight - dw * 0.1) + layer.bias - db * 0.1 - y) ** 2).mean()

    x, y = Tensor(np.ones((3, 2), np.float32)), Tensor(np.full((3, 1), 2.0, np.float32))
    found = []
    with config.NO_JIT.override(True):
        for f in (adapted, jit.to_static(adapted)):
            loss = f(x, y)
            loss.backward()
            found.append((loss.numpy(), layer.weight.grad.numpy(), layer.bias.grad.numpy()))
            layer.clear_gradients()
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-4)


def used_on_one_path(x, y):
    h = x * x if x.sum() > 0 else y * y
    return grad(h.sum(), x)[0]


def unused_on_one_path(x, y):
    h = x * x if x.sum() > 0 else y * y
    gx, gy = grad(h.sum(), [x, y], retain_graph=True, allow_unused=True)
    a = h.sum()
    if gx is not None:
        a = a + (gx * x.detach()).sum()
    if gy is not None:
        a = a - gy.sum()
    return a, gx, [0.0 if g is None else g.max() for g in (gx, gy)]


def unused_on_one_path_and_differentiated(x, y):
    h = (x * x * x).sum() if x.sum() > 0 else (y * x.detach()).sum()
    (g,) = grad(h, [x], create_graph=True, allow_unused=True)
    return h if g is None else h + (g * g).sum()


def used_without_a_look(x, y):
    h = (x * y).sum()
    for _ in range(int(y.sum())):
        h = (y * 2).sum()
    (g,) = grad(h, [x], allow_unused=True)
    return g * 2


def caught(x, y):
    h = x * x if x.sum() > 0 else y * y
    try:
        g = grad(h.sum(), x)[0]
    except GradientError:
        g = y * 0.5
    return g


@pytest.mark.parametrize(
    "function", [used_on_one_path, unused_on_one_path, unused_on_one_path_and_differentiated, used_without_a_look, caught]
)
def test_gradient_of_what_the_path_does_not_use(function):
    check(function, [(P, P), (N, P), (N, N), (P, N)], 1)


def test_the_error_of_what_the_path_does_not_use_names_the_line():
    x, y = (Tensor(np.array(v, np.float32), stop_gradient=False) for v in (N, P))
    for f in (used_on_one_path, jit.to_static(used_on_one_path)):
        with pytest.raises(GradientError, match=r"input 0 of grad\(\) is not used by the outputs") as caught:
            f(x, y)
        assert caught.value.location.line == used_on_one_path.__code__.co_firstlineno + 2


def by_one_that_is_used_beside_it(x, y):
    h = x if x.sum() > 0 else y
    return grad((h * x).sum(), [h])[0]


def test_what_may_be_a_tensor_that_is_used_beside_it_is_an_error():
    """In some runs x is it, and its gradient the sum of both."""
    with pytest.raises(StagedValueError, match="one tensor or another one"):
        jit.to_static(by_one_that_is_used_beside_it)(Tensor(P, stop_gradient=False), Tensor(N, stop_gradient=False))


weight = Tensor([2.0, 3.0], stop_gradient=False)


def by_what_is_outside(x):
    return grad((x * weight * weight).sum(), [weight])[0]


def by_the_argument(x):
    return grad((x * x * weight).sum(), [x])[0]


def by_one_of_both(x):
    h = x if x.sum() > 0 else weight
    return grad((h * h).sum(), [h])[0]


def leaf():
    return Tensor([1.0, 1.0], stop_gradient=False)


def test_what_was_computed_outside_from_what_it_differentiates_by_is_an_error():
    w = Tensor([1.0, 2.0], stop_gradient=False)
    held = {}

    def by_argument(h):
        return grad((h * w).sum(), [w])[0]

    def by_outside(x):
        return grad((held["h"] * w * x).sum(), [w])[0]

    for function in (by_argument, by_outside):
        static, x = jit.to_static(function), Tensor([3.0, 5.0])
        held["h"] = x
        np.testing.assert_array_equal(static(x).numpy(), function(x).numpy())
        held["h"] = computed = (w * 2).tanh()
        given = computed if function is by_argument else x
        with pytest.raises(GradientError, match=r"was computed from .* outside of the static function .* does not see this way"):
            static(given)
        held["h"] = computed.detach()
        given = computed.detach() if function is by_argument else x
        np.testing.assert_array_equal(static(given).numpy(), function(given).numpy())


@pytest.mark.parametrize(
    ("f", "make", "hooked"),
    [
        (by_what_is_outside, leaf, lambda x: weight),
        (by_the_argument, leaf, lambda x: x),
        (by_the_argument, lambda: leaf() * 2, lambda x: x),
        (by_one_of_both, leaf, lambda x: x),
        (by_one_of_both, leaf, lambda x: weight),
    ],
    ids=["outside", "argument", "computed", "argument on a path", "outside on a path"],
)
def test_hooks_of_what_it_differentiates_by_are_not_passed_over(f, make, hooked):
    static = jit.to_static(f)
    with config.NO_JIT.override(True):
        before = static(make()).numpy()
        x = make()
        hook = hooked(x).register_hook(lambda g: g * 10)
        try:
            with pytest.raises(GradientError, match=r"has a hook, which the grad\(\) in the static function"):
                static(x)
        finally:
            hook.remove()
        np.testing.assert_array_equal(static(x).numpy(), before)


def test_grad_by_what_is_computed_outside_and_has_a_hook():
    h = weight * 2
    h.register_hook(lambda g: g * 10)
    with pytest.raises(StagedValueError, match=r"grad\(\) in a static function cannot call the hook of what is computed outside"):
        jit.to_static(lambda x: grad((x * h).sum(), [h])[0])(Tensor([1.0, 1.0]))
