"""A whole training step in a static function: as eagerly, one call of one Program."""

import numpy as np
import pytest
from dy2st_runtime import config
from training import OPTIMIZERS, Net, Training, agree, batches, gradients, same_training, two_models

import dy2st as paddle
from dy2st import jit, nn
from dy2st import optimizer as opt
from dy2st.errors import GradientError, StagedValueError
from dy2st.jit import InputSpec
from dy2st.nn import functional as F
from dy2st.tensor import Tensor


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_is_that_of_eager_mode(name):
    with config.NO_JIT.override(True):
        same_training(OPTIMIZERS[name], 1e-6)


@pytest.mark.parametrize("name", ["sgd", "clipped and decayed"])
def test_a_native_step_is_that_of_eager_mode(name):
    same_training(OPTIMIZERS[name], 1e-5)


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


def test_a_parameter_that_the_layer_gets_back_is_trained_again():
    found = []
    for convert in (lambda f: f, jit.to_static):
        layer = nn.Linear(3, 2, weight_attr=nn.initializer.Constant(0.5))
        first, other = layer.weight, nn.Linear(3, 2, weight_attr=nn.initializer.Constant(0.25)).weight
        momentum = opt.Momentum(0.1, parameters=layer.parameters())

        def step(x, layer=layer, momentum=momentum):
            loss = layer(x).square().sum()
            loss.backward()
            momentum.step()
            layer.clear_gradients()
            return loss.detach()

        step = convert(step)
        values = []
        with config.NO_JIT.override(True):
            for weight in (first, first, other, other, first, other, first):
                layer.weight = weight
                values += [step(paddle.to_tensor([[1.0, -2.0, 0.5]])), first.numpy().copy(), other.numpy().copy()]
        found.append(values)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, 1e-6)
    assert not np.array_equal(found[0][-2], found[0][-5])


def test_what_others_hold_of_a_parameter_is_not_written_to():
    training = Training(OPTIMIZERS["sgd"], jit.to_static)
    weight = training.model.third.weight
    held, array = weight.detach(), weight.numpy().copy()
    for x, y in batches(3):
        training.step(x, y)
    assert not np.allclose(weight.numpy(), array)
    np.testing.assert_array_equal(held.numpy(), array)


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


def test_a_training_step_cannot_be_saved(tmp_path):
    training = Training(OPTIMIZERS["sgd"], jit.to_static)
    spec = [InputSpec([None, 3], "float32", "x"), InputSpec([None, 1], "float32", "y")]
    with pytest.raises(StagedValueError, match="is a training step"):
        jit.save(training.step, tmp_path / "m", spec)
