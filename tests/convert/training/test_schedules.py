"""Schedules and optimizers are state of a static function, as objects of a user's class are."""

import numpy as np
import pytest

from dy2st import jit, metric, nn
from dy2st.errors import StagedValueError
from dy2st.optimizer import SGD, Adam, lr
from dy2st.tensor import Tensor

SCHEDULES = {
    "noam": lambda: lr.NoamDecay(8, 3),
    "piecewise": lambda: lr.PiecewiseDecay([1, 2], [0.1, 0.01, 0.001]),
    "natural exponent": lambda: lr.NaturalExpDecay(0.1, 0.1),
    "inverse time": lambda: lr.InverseTimeDecay(0.1, 0.1),
    "polynomial": lambda: lr.PolynomialDecay(0.1, 3),
    "polynomial in cycles": lambda: lr.PolynomialDecay(0.1, 3, cycle=True),
    "warmup": lambda: lr.LinearWarmup(lr.StepDecay(0.1, 1), 2, 0.0, 0.1),
    "exponent": lambda: lr.ExponentialDecay(0.1, 0.9),
    "milestones": lambda: lr.MultiStepDecay(0.1, [1, 3]),
    "steps": lambda: lr.StepDecay(0.1, 2),
    "lambda": lambda: lr.LambdaDecay(0.1, lambda epoch: 0.9**epoch),
    "cosine": lambda: lr.CosineAnnealingDecay(0.1, 4),
}


class Scaled(nn.Layer):
    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule

    def forward(self, x):
        if x.sum() > 0:
            self.schedule.step()
        return x * self.schedule()


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_moves_at_each_call(name):
    eager, static = Scaled(SCHEDULES[name]()), jit.to_static(Scaled(SCHEDULES[name]()))
    for sign in (1, 1, -1, 1, 1):
        x = Tensor(np.full(2, sign, np.float32))
        np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-6)
    assert static.schedule.last_epoch == eager.schedule.last_epoch == 4
    assert static.schedule() == pytest.approx(eager.schedule())


def test_the_rate_of_an_optimizer_is_that_of_the_call():
    optimizer = SGD(0.5, parameters=nn.Linear(2, 2).parameters())

    @jit.to_static
    def halving(x):
        rate = optimizer.get_lr()
        optimizer.set_lr(rate / 2)
        return x * rate

    assert [float(halving(Tensor(1.0))) for _ in range(3)] == [0.5, 0.25, 0.125]
    optimizer.set_lr(8.0)
    assert float(halving(Tensor(1.0))) == 8.0
    assert optimizer.get_lr() == 4.0


def test_a_rate_that_only_the_run_knows_is_that_of_its_step():
    found = []
    for convert in (lambda f: f, jit.to_static):
        layer = nn.Linear(2, 1, weight_attr=nn.initializer.Constant(1.0))
        optimizer = Adam(0.5, parameters=layer.parameters())

        def step(x, layer=layer, optimizer=optimizer):
            loss = layer(x).square().mean()
            loss.backward()
            optimizer.set_lr(0.1 if loss > 1 else optimizer.get_lr() * float(loss))
            optimizer.step()
            optimizer.clear_grad()
            return loss.detach()

        step = convert(step)
        losses = [float(step(Tensor(np.full([1, 2], v, np.float32)))) for v in (2.0, 0.25, 0.5)]
        found.append([*losses, optimizer.get_lr(), *layer.weight.numpy().ravel()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


def test_a_metric_needs_values():
    accuracy = metric.Accuracy()

    @jit.to_static
    def counted(x, label):
        accuracy.update(accuracy.compute(x, label))
        return x

    with pytest.raises(StagedValueError, match=r"accuracy\.update"):
        counted(Tensor(np.eye(3, dtype=np.float32)), Tensor(np.array([[0], [1], [0]])))
