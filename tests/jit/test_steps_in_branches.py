"""Steps of optimizers, and gradients that are cleared, in branches and loops that depend on tensors or on numbers that change."""

import numpy as np
import pytest
from dy2st_runtime import config
from training import OPTIMIZERS, Net, agree, gradients

import dy2st as paddle
from dy2st import jit
from dy2st.optimizer import lr
from dy2st.tensor import Tensor


class Case:
    """A model with its optimizer; `step` is called with batches of which some are large, and some hold an infinite number."""

    traces = 1

    def __init__(self, stage, name="momentum"):
        self.model, self.schedule = Net(), lr.ExponentialDecay(0.1, 0.9)
        self.optimizer = OPTIMIZERS[name](self.schedule, self.model.parameters())
        self.step = stage(self.step)

    def found(self):
        rng = np.random.default_rng(1)
        for i in range(8):
            x = rng.normal(size=(4, 3)).astype(np.float32) * (3 if i % 3 == 2 else 0.3)
            if i in (2, 5):
                x[0, 0] = np.inf
            yield from self.step(Tensor(x))
            yield from self.model.parameters()
            yield from gradients(self.model)
            yield self.schedule()

    def state(self):
        return {name: v.numpy() for name, v in self.optimizer.state_dict().items() if isinstance(v, Tensor)}


class SkippedWhereItIsInfinite(Case):
    def step(self, x):
        loss = (self.model(x) ** 2).mean()
        loss.backward()
        if paddle.isfinite(loss):
            self.optimizer.step()
            self.schedule.step()
        self.optimizer.clear_grad()
        return [loss]


class LeftWhereItIsInfinite(Case):
    def step(self, x):
        loss = (self.model(x) ** 2).mean()
        loss.backward()
        if not paddle.isfinite(loss):
            self.optimizer.clear_grad()
            return [loss * 0]
        self.optimizer.step()
        self.optimizer.clear_grad()
        return [self.model(x * 0.1).mean()]


class AccumulatedOverCalls(Case):
    """The gradients of three calls; the counter becomes an input. There are traces for no gradient before, for some, and for all."""

    traces = 3
    count = 0

    def step(self, x):
        loss = (self.model(x.clip(-1.0, 1.0)) ** 2).mean() / 3
        loss.backward()
        self.count += 1
        if self.count % 3 == 0:
            self.optimizer.step()
            self.optimizer.clear_grad()
        return [loss]


class ScaledLoss(Case):
    """As with numbers of few bits: a scale that falls where gradients are infinite and grows where they are not for a while."""

    traces = 3  # the first calls make attributes of those of the class
    scale, good = 8.0, 0

    def step(self, x):
        loss = (self.model(x) ** 2).mean()
        (loss * self.scale).backward()
        infinite = False
        for p in self.model.first.parameters():
            p.grad.scale_(1.0 / self.scale)
            infinite = infinite or bool(paddle.isfinite(p.grad).all().logical_not())
        if infinite:
            self.scale, self.good = self.scale / 2, 0
        else:
            self.optimizer.step()
            self.good += 1
            if self.good >= 2:
                self.scale, self.good = self.scale * 2, 0
        self.optimizer.clear_grad()
        return [loss, Tensor(self.scale)]


class ClearedInPart(Case):
    def step(self, x):
        loss = (self.model(x.clip(-1.0, 1.0)) ** 2).mean()
        loss.backward()
        if loss > 0.1:
            self.model.first.weight.clear_grad()
        elif x.sum() > 0:
            self.model.third.clear_gradients()
        there = [p.grad is not None for p in self.model.parameters()]
        (self.model(x.clip(-0.1, 0.1)).mean() * 3).backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return [loss, Tensor(there)]


class InALoop(Case):
    def step(self, x):
        loss = self.model(x.clip(-1.0, 1.0)).mean()
        loss.backward()
        count = 0
        while count < x[1].sum():
            self.optimizer.step()
            if count > 1:
                self.optimizer.clear_grad()
            count += 1
        self.optimizer.clear_grad()
        return [loss]


CASES = [SkippedWhereItIsInfinite, LeftWhereItIsInfinite, AccumulatedOverCalls, ScaledLoss, ClearedInPart, InALoop]


@pytest.mark.parametrize("case", CASES)
def test_as_eagerly(case):
    with config.NO_JIT.override(True):
        compare(case)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_optimizer(name):
    with config.NO_JIT.override(True):
        compare(SkippedWhereItIsInfinite, name)


@pytest.mark.parametrize("case", [SkippedWhereItIsInfinite, AccumulatedOverCalls, ScaledLoss])
def test_natively(case):
    compare(case)


def compare(case, *name):
    eager, static = case(lambda f: f, *name), case(jit.to_static, *name)
    numbers = ([None if x is None else np.array(x.numpy() if isinstance(x, Tensor) else x, np.float64) for x in made.found()]
               for made in (eager, static))  # fmt: skip
    agree(*numbers)
    names = {p.name: q.name for p, q in zip(static.model.parameters(), eager.model.parameters(), strict=True)}
    own, wanted = {}, eager.state()
    for key, value in static.state().items():  # it has that of all parameters which some run may use
        of = next(p for p in names if key.startswith(p))
        own[names[of] + key[len(of) :]] = value
    agree([own[key] for key in wanted], wanted.values())
    assert len(static.step.concrete_programs) <= case.traces
