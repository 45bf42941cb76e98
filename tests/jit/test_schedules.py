"""Schedules and optimizers are state of a static function, as objects of a user's class are."""

import numpy as np
import pytest

from dy2st import jit, metric, nn
from dy2st.errors import StagedValueError
from dy2st.optimizer import SGD, lr
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


def test_a_metric_needs_values():
    accuracy = metric.Accuracy()

    @jit.to_static
    def counted(x, label):
        accuracy.update(accuracy.compute(x, label))
        return x

    with pytest.raises(StagedValueError, match=r"accuracy\.update"):
        counted(Tensor(np.eye(3, dtype=np.float32)), Tensor(np.array([[0], [1], [0]])))
