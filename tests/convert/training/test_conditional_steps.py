"""`backward()`, steps of optimizers, and gradients that are cleared, in branches and loops that depend on tensors, or on numbers that
change."""

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


class StoppedWhereItIsLarge(Case):
    """As in PPO, where the policy has moved too far."""

    def step(self, x):
        loss = (self.model(x) ** 2).mean()
        if loss < 0.5:
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            self.schedule.step()
        return [loss]


class WholeInABranch(Case):
    """Nothing is computed, and nothing changes, in the runs that do not come there."""

    def step(self, x):
        norm = x.sum() * 0
        if x.abs().max() < 2:
            out = self.model(x)
            if out.mean() > 0:
                loss = (out**2).mean()
            else:
                loss = (self.model(x * 0.5) ** 2).sum()
            loss.backward()
            norm = self.model.first.weight.grad.norm()
            self.optimizer.step()
            self.optimizer.clear_grad()
        return [norm]


class AddedInABranch(Case):
    """A second loss, or the same one again, in some runs."""

    def step(self, x):
        x = x.clip(-1.0, 1.0)
        out = self.model(x)
        loss = (out**2).mean()
        loss.backward(retain_graph=True)
        if loss > 0.05:
            (out.mean() * 0.1).backward()
        elif x.sum() > 0:
            self.optimizer.clear_grad()
            (self.model(x * 0.1).mean() * 3).backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return [loss]


class OneLossOrTheOther(Case):
    """What is not cleared stays, and is added to by the next call."""

    traces = 4

    def step(self, x):
        x = x.clip(-1.0, 1.0)
        loss = (self.model(x) ** 2).mean()
        if x.sum() > 0:
            loss.backward()
        elif x[0, 0] < 0:
            (self.model.third.weight ** 2).sum().backward()
        if x[1, 1] > 0.1:
            self.optimizer.step()
            self.optimizer.clear_grad()
        return [loss]


class TrainedUntilItIsSmall(Case):
    def step(self, x):
        x = x.clip(-1.0, 1.0)
        count, loss = 0, (self.model(x) ** 2).mean()
        while loss > 0.01 and count < 4:
            loss = (self.model(x) ** 2).mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            count += 1
        return [loss.detach(), Tensor(count)]


class AccumulatedInALoop(Case):
    """The gradients of parts of a batch, of which some are left out; then one step."""

    def step(self, x):
        total = x.sum() * 0
        for row in x:
            if not paddle.isfinite(row).all():
                continue
            loss = (self.model(row.unsqueeze(0).clip(-1.0, 1.0)) ** 2).mean()
            loss.backward()
            total = total + loss.detach()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return [total]


class StepsInALoop(Case):
    """A step every other iteration, under a condition; what is left goes into the step behind."""

    def step(self, x):
        x = x.clip(-1.0, 1.0)
        total = x.sum() * 0
        for i in range(x.shape[0]):
            loss = (self.model(x[i : i + 1]) ** 2).mean()
            if loss > 0.02:
                loss.backward()
            if i % 2 == 1:
                self.optimizer.step()
                self.optimizer.clear_grad()
                self.schedule.step()
            total = total + loss.detach()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return [total]


CASES = [SkippedWhereItIsInfinite, LeftWhereItIsInfinite, AccumulatedOverCalls, ScaledLoss, ClearedInPart, InALoop, StoppedWhereItIsLarge,
         WholeInABranch, AddedInABranch, OneLossOrTheOther, TrainedUntilItIsSmall, AccumulatedInALoop, StepsInALoop]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_as_eagerly(case):
    with config.NO_JIT.override(True):
        compare(case)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_optimizer(name):
    with config.NO_JIT.override(True):
        compare(SkippedWhereItIsInfinite, name)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_each_optimizer_where_backward_is_in_the_branch_or_loop(name):
    with config.NO_JIT.override(True):
        compare(StoppedWhereItIsLarge, name)
        compare(TrainedUntilItIsSmall, name)


@pytest.mark.parametrize("case", [SkippedWhereItIsInfinite, AccumulatedOverCalls, ScaledLoss, StoppedWhereItIsLarge, TrainedUntilItIsSmall])
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
