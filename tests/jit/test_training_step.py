"""A whole training step in a static function: as eagerly, one call of one Program."""

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st as paddle
from dy2st import jit, nn
from dy2st import optimizer as opt
from dy2st.errors import GradientError, StagedValueError, StructureError
from dy2st.jit import InputSpec
from dy2st.nn import functional as F
from dy2st.tensor import Tensor

OPTIMIZERS = {
    "sgd": lambda rate, p: opt.SGD(rate, p),
    "momentum": lambda rate, p: opt.Momentum(rate, parameters=p, use_nesterov=True),
    "adam": lambda rate, p: opt.Adam(rate, parameters=p),
    "adamw": lambda rate, p: opt.AdamW(rate, parameters=p, weight_decay=0.1),
    "rmsprop": lambda rate, p: opt.RMSProp(rate, parameters=p),
    "adagrad": lambda rate, p: opt.Adagrad(rate, parameters=p),
    "clipped and decayed": lambda rate, p: opt.Adam(rate, parameters=p, weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(0.1)),
    "in groups": lambda rate, p: opt.SGD(rate, [{"params": p[:2], "learning_rate": 0.5}, {"params": p[2:]}]),
}


class Net(nn.Layer):
    """The layer in the middle is used on one path only."""

    def __init__(self):
        super().__init__()
        paddle.seed(5)
        self.first, self.second, self.third = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        x = F.relu(self.first(x))
        if x.mean() > 0.3:
            x = F.relu(self.second(x))
        return self.third(x)


class Training:
    """A model with its optimizer, and a step of both."""

    def __init__(self, make, stage):
        self.model, self.schedule = Net(), opt.lr.StepDecay(0.1, 2)
        self.optimizer = make(self.schedule, self.model.parameters())
        self.step = stage(self.step)

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return loss

    def state(self):
        of_optimizer = [v for v in self.optimizer.state_dict().values() if isinstance(v, Tensor)]
        return [t.numpy() for t in (*self.model.parameters(), *of_optimizer)]


def batches(count=5):
    rng = np.random.default_rng(3)
    for i in range(count):
        x = rng.normal(size=(4 + i % 2, 3)) * (0.1 if i % 2 else 1)
        yield Tensor(x.astype(np.float32)), Tensor(rng.normal(size=(4 + i % 2, 1)).astype(np.float32))


def same_training(make, tolerance):
    eager, static = Training(make, lambda f: f), Training(make, jit.to_static)
    for x, y in batches():
        a, b = eager.step(x, y), static.step(x, y)
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=tolerance)
        for p, q in zip(eager.state(), static.state(), strict=True):
            np.testing.assert_allclose(q, p, rtol=tolerance, atol=tolerance)
        assert all(p.grad is None for p in static.model.parameters())
        for training in (eager, static):
            training.schedule.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_is_that_of_eager_mode(name):
    with config.NO_JIT.override(True):
        same_training(OPTIMIZERS[name], 1e-6)


@pytest.mark.parametrize("name", ["sgd", "clipped and decayed"])
def test_a_native_step_is_that_of_eager_mode(name):
    same_training(OPTIMIZERS[name], 1e-5)


def two_models():
    for stage in (lambda f: f, jit.to_static):
        yield Net(), stage


def gradients(model):
    return [None if p.grad is None else p.grad.numpy() for p in model.parameters()]


def agree(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_gradients_that_are_not_cleared_stay():
    found = []
    for model, stage in two_models():

        def backward(x, model=model):
            y = model(x).sum()
            y.backward()
            return y

        static = stage(backward)
        each = []
        for x, _ in batches(2):  # in the second one a layer is not used
            static(x)
            each += gradients(model)
            for p in model.parameters():
                p.clear_grad()
        found.append(each)
    agree(*found)
    assert any(g is None for g in found[0])


def test_a_gradient_from_before_the_call_is_an_error():
    model = Net()

    @jit.to_static
    def backward(x):
        model(x).sum().backward()

    (x, _), *_ = batches()
    backward(x)
    before = gradients(model)
    with pytest.raises(GradientError, match="has a gradient from before the call"):
        backward(x)
    agree(gradients(model), before)


def test_gradients_are_cleared_at_the_begin():
    model = Net()
    sgd = opt.SGD(0.1, model.parameters())

    @jit.to_static
    def step(x):
        sgd.clear_grad()
        y = model(x).sum()
        y.backward()
        sgd.step()
        return y

    wanted = Net()
    other = opt.SGD(0.1, wanted.parameters())
    for x, _ in batches():
        step(x)
        other.clear_grad()
        wanted(x).sum().backward()
        other.step()
        agree(gradients(model), gradients(wanted))
        agree([p.numpy() for p in model.parameters()], [p.numpy() for p in wanted.parameters()])


def test_minimize_takes_the_gradients_that_are_there():
    found = []
    for model, stage in two_models():
        sgd = opt.SGD(0.1, model.parameters())

        @stage
        def step(x, model=model, sgd=sgd):
            loss = model(x).sum()
            loss.backward()
            sgd.minimize(loss)
            model.clear_gradients()
            return loss

        found.append([*(step(x).numpy() for x, _ in batches(3)), *(p.numpy() for p in model.parameters())])
    agree(*found)


def test_gradients_that_are_applied_by_hand_have_the_rate_of_the_call():
    found = []
    for stage in (lambda f: f, jit.to_static):
        paddle.seed(3)
        model = nn.Linear(3, 1)
        schedule = opt.lr.ExponentialDecay(0.1, 0.5)
        sgd = opt.SGD(schedule, model.parameters())

        @stage
        def step(x, model=model, sgd=sgd):
            model(x).sum().backward()
            sgd.apply_gradients([(p, p.grad) for p in model.parameters()])
            model.clear_gradients()

        for x, _ in batches(3):
            step(x)
            schedule.step()
        found.append([p.numpy() for p in model.parameters()])
    agree(*found)


def test_two_optimizers_and_what_follows_a_step():
    found = []
    for model, stage in two_models():
        one, other = opt.SGD(0.1, model.parameters()[:2]), opt.Adam(0.1, parameters=model.parameters()[2:])

        @stage
        def step(x, model=model, one=one, other=other):
            loss = model(x).sum()
            loss.backward()
            norm = sum([(p.grad**2).sum() for p in model.third.parameters()])
            one.step()
            other.step()
            model.clear_gradients()
            return loss, norm, model(x).sum()  # by the new parameters

        found.append([v.numpy() for x, _ in batches(3) for v in step(x)] + [p.numpy() for p in model.parameters()])
    agree(*found)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_backward_behind_a_step(name):
    """Two nets against each other: what trains one of them reads the other one as its step has left it."""

    def losses(stage):
        paddle.seed(3)
        maker, judge = nn.Linear(3, 2), nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
        of_maker, of_judge = OPTIMIZERS[name](0.1, maker.parameters()), OPTIMIZERS[name](0.2, judge.parameters())

        @stage
        def step(x, real):
            made = maker(x)
            for _ in range(2):
                wrong = F.softplus(-judge(real)).mean() + F.softplus(judge(made.detach())).mean()
                wrong.backward()
                of_judge.step()
                of_judge.clear_grad()
            seen = F.softplus(-judge(made)).mean()
            seen.backward()
            of_maker.step()
            of_maker.clear_grad()
            of_judge.clear_grad()
            return wrong, seen

        rng, found = np.random.default_rng(2), []
        for _ in range(3):
            x, real = (Tensor(rng.normal(size=(5, size)).astype(np.float32)) for size in (3, 2))
            found += [v.numpy() for v in step(x, real)]
        return found + [p.numpy() for p in (*maker.parameters(), *judge.parameters())]

    agree(losses(lambda f: f), losses(jit.to_static))
    with config.NO_JIT.override(True):
        agree(losses(lambda f: f), losses(jit.to_static))


def test_of_a_parameter_before_its_step_the_shape_is_known():
    found = []
    for stage in (lambda f: f, jit.to_static):
        w = paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Constant(0.5))
        optimizer = opt.SGD(0.1, [w])

        @stage
        def step(x, optimizer=optimizer):
            (w,) = optimizer._parameter_list
            before = ((x + w) * 3).sum()
            (x * w).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
            before.backward()
            return w.grad * 1

        found.append([step(Tensor([[1.0, 2.0], [3.0, 4.0]])).numpy(), w.numpy()])
    agree(*found)


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


def set_momentum(o, w):
    o._momentum = 0.0


def set_norm(o, w):
    o._grad_clip.clip_norm = 0.1


def set_decay(o, w):
    o.regularization.coeff = 1.0


def set_clipped(o, w):
    w.need_clip = False


def set_own_decay(o, w):
    w.regularizer = paddle.regularizer.L2Decay(1.0)


def set_own_rate(o, w):
    w.optimize_attr["learning_rate"] = 0.25


@pytest.mark.parametrize("change", [set_momentum, set_norm, set_decay, set_clipped, set_own_decay, set_own_rate], ids=lambda f: f.__name__)
def test_settings_of_a_step_that_change(change):
    found = []
    for stage in (lambda f: f, jit.to_static):
        w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
        decay, clip = paddle.regularizer.L2Decay(0.1), nn.ClipGradByGlobalNorm(0.5)
        optimizer = opt.Momentum(0.1, parameters=[w], weight_decay=decay, grad_clip=clip)

        @stage
        def step(x, optimizer=optimizer):
            (optimizer._parameter_list[0] * x).sum().backward()
            optimizer.step()
            optimizer.clear_grad()

        step(Tensor([1.0]))
        change(optimizer, w)
        step(Tensor([1.0]))
        found.append([w.numpy()])
    agree(*found)


class Counted(nn.ClipGradByGlobalNorm):
    def clip(self, grads):
        self.calls = getattr(self, "calls", 0) + 1
        return grads


def test_code_of_the_users_that_clips_is_refused():
    w = paddle.create_parameter([1], "float32")
    optimizer = opt.SGD(0.1, parameters=[w], grad_clip=Counted(1.0))

    @jit.to_static
    def step(x):
        (w * x).sum().backward()
        optimizer.step()

    with pytest.raises(StagedValueError, match="clipped by a class of your own, Counted"):
        step(Tensor([1.0]))


def test_hooks_that_come_and_go():
    w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))

    @jit.to_static
    def step(x):
        (w * x).sum().backward()

    step(Tensor([1.0]))
    w.clear_grad()
    hook = w.register_hook(lambda g: g * 10)
    with pytest.raises(GradientError, match="has a hook now"):
        step(Tensor([1.0]))
    with pytest.raises(StagedValueError, match=r"grad\(\) in a static function cannot call the hook of a leaf"):
        jit.to_static(lambda x: paddle.grad((w * x).sum(), [w])[0])(Tensor([1.0]))
    hook.remove()
    step(Tensor([2.0]))
    np.testing.assert_array_equal(w.grad.numpy(), [2.0])


def test_a_state_that_was_loaded_is_given_up_by_the_first_step():
    w = paddle.create_parameter([1], "float32")
    schedule = opt.lr.StepDecay(0.1, 2)
    optimizer = opt.Momentum(schedule, parameters=[w])
    optimizer.set_state_dict({f"{w.name}_velocity_0": np.ones(1, np.float32), "LR_Scheduler": schedule.state_dict()})

    @jit.to_static
    def step(x):
        (w * x).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()

    for _ in range(3):
        step(Tensor([1.0]))
    np.testing.assert_allclose(optimizer.state_dict()[f"{w.name}_velocity_0"].numpy(), [3.439], rtol=1e-6)


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


def test_two_losses_add_up():
    found = []
    for stage in (lambda f: f, jit.to_static):
        w = paddle.create_parameter([3], "float32", default_initializer=nn.initializer.Constant(0.5))

        @stage
        def both(x, w=w):
            a, b = (x * w).sum(), (w * w).sum()
            a.backward()
            b.backward()
            return w.grad * 2

        x = Tensor([1.0, 2.0, 3.0], stop_gradient=False)
        found.append([both(x).numpy(), w.grad.numpy(), x.grad.numpy()])
    agree(*found)


def test_the_gradient_of_recursion():
    def losses(stage):
        w = paddle.to_tensor([0.5, -0.25], stop_gradient=False)
        optimizer = opt.Adam(0.1, parameters=[w])

        def step(x, n):
            def deep(v, k):
                return v * w if k < 1 else paddle.tanh(deep(v, k - 1)) + w

            loss = deep(x, n).sum()
            if n > 0:
                part = x * w
                outer = lambda k: part if k < 1 else outer(k - 1) * part  # noqa: E731
                loss = loss + outer(n).sum()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        static, x = stage(step), Tensor(np.array([1.0, 2.0], np.float32))
        return [float(static(x, Tensor(np.array(n)))) for n in (2, 0, 3)] + w.numpy().tolist()

    np.testing.assert_allclose(losses(jit.to_static), losses(lambda f: f), rtol=1e-5)


def test_the_graph_of_the_results_is_freed():
    training = Training(OPTIMIZERS["sgd"], jit.to_static)
    (x, y), *_ = batches()
    loss = training.step(x, y)
    assert not loss.stop_gradient
    with pytest.raises(GradientError, match="keeps the gradients of leaves only"):
        _ = loss.grad
    with pytest.raises(GradientError, match="was freed by an earlier backward"):
        loss.backward()


def test_what_others_hold_of_a_parameter_is_not_written_to():
    training = Training(OPTIMIZERS["sgd"], jit.to_static)
    weight = training.model.third.weight
    held, array = weight.detach(), weight.numpy().copy()
    for x, y in batches(3):
        training.step(x, y)
    assert not np.allclose(weight.numpy(), array)
    np.testing.assert_array_equal(held.numpy(), array)


def test_a_state_that_was_loaded_goes_on():
    first = Training(OPTIMIZERS["adam"], jit.to_static)
    for x, y in batches(2):
        first.step(x, y)
    second = Training(OPTIMIZERS["adam"], jit.to_static)
    second.model.set_state_dict(first.model.state_dict())
    names = dict(zip([p.name for p in first.model.parameters()], [p.name for p in second.model.parameters()], strict=True))
    renamed = {}
    for key, value in first.optimizer.state_dict().items():
        owner = next((p for p in names if key.startswith(f"{p}_")), None)
        renamed[key if owner is None else names[owner] + key.removeprefix(owner)] = value
    second.optimizer.set_state_dict(renamed)
    for x, y in batches():
        assert float(first.step(x, y)) == float(second.step(x, y))


def test_state_of_layers_and_random_numbers():
    found = []
    for stage in (lambda f: f, jit.to_static):
        paddle.seed(1)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Dropout(0.5), nn.Linear(4, 1))
        sgd = opt.SGD(0.1, model.parameters())

        @stage
        def step(x, model=model, sgd=sgd):
            loss = model(x).sum()
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            return loss

        paddle.seed(7)
        losses = [step(x).numpy() for x, _ in batches(3)]
        found.append([*losses, *(t.numpy() for t in model.state_dict().values())])
    agree(*found)


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


def test_a_training_step_cannot_be_saved(tmp_path):
    training = Training(OPTIMIZERS["sgd"], jit.to_static)
    spec = [InputSpec([None, 3], "float32", "x"), InputSpec([None, 1], "float32", "y")]
    with pytest.raises(StagedValueError, match="is a training step"):
        jit.save(training.step, tmp_path / "m", spec)


def test_results_of_one_call_are_siblings():
    w = Tensor([1.0, 2.0], stop_gradient=False)

    @jit.to_static
    def f(x):
        h = x * w
        return h, (h * h).sum()

    h, loss = f(Tensor([3.0, 4.0]))
    with pytest.raises(GradientError, match="no result is computed from another one: call grad") as caught:
        paddle.grad(loss, [h])
    assert "allow_unused" in str(caught.value)


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
