"""Gradients that leaves outside have when a call begins, or in some runs only: added to, read, changed and used by steps, as eagerly."""

import numpy as np
import pytest
from dy2st_runtime import config
from training import Net, agree, batches, gradients

import dy2st as paddle
from dy2st import jit, nn
from dy2st import optimizer as opt
from dy2st.tensor import Tensor


class Accumulated:
    """Two of three calls add gradients, the third makes a step with the sum."""

    def __init__(self, stage):
        self.model = Net()
        self.optimizer = opt.Adam(0.1, parameters=self.model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(0.1))
        self.step = stage(self.step)

    def step(self, x, update):
        loss = (self.model(x) ** 2).mean() / 3
        loss.backward()
        if update:
            self.optimizer.step()
            self.optimizer.clear_grad()
        return loss

    def calls(self):
        for i, (x, _) in enumerate(batches(9)):
            yield self.step(x, i % 3 == 2)


class InTwoFunctions:
    """One static function computes gradients, another one makes the step; the layer in the middle may have none."""

    def __init__(self, stage):
        self.model = Net()
        self.optimizer = opt.Momentum(0.1, parameters=self.model.parameters())
        self.backward, self.apply = stage(self.backward), stage(self.apply)

    def backward(self, x):
        self.model(x).sum().backward()

    def apply(self):
        norms = [p.grad.norm() for p in self.model.parameters() if p.grad is not None]
        self.optimizer.step()
        self.optimizer.clear_grad()
        return norms

    def calls(self):
        for i, (x, _) in enumerate(batches(6)):
            self.backward(x)
            if i % 3:
                yield from self.apply()


class ChangedInPlace:
    """Gradients of an eager `backward()`, scaled where others hold them, and returned."""

    def __init__(self, stage):
        self.model = Net()
        self.held = []
        self.scale = stage(self.scale)

    def scale(self):
        for p in self.model.parameters():
            if p.grad is not None:
                p.grad.scale_(0.5)
        return self.model.third.bias.grad

    def calls(self):
        for x, _ in batches(3):
            self.model(x).sum().backward()
            self.held.append(self.model.third.bias.grad)
            for _ in range(2):
                assert self.scale() is self.held[-1]
            yield from self.held


class Frozen:
    """A parameter that is frozen keeps the gradient that it has, and no step uses it."""

    def __init__(self, stage):
        self.model = Net()
        self.optimizer = opt.SGD(0.1, self.model.parameters())
        self.step = stage(self.step)

    def step(self, x):
        self.model(x).sum().backward()
        self.optimizer.step()
        return [p.grad for p in self.model.first.parameters()]

    def calls(self):
        for i, (x, _) in enumerate(batches(6)):
            self.model.first.weight.stop_gradient = i in (2, 3)
            yield from self.step(x)
            if i == 4:
                self.optimizer.clear_grad()


class OfSomeRuns:
    """The layer in the middle has a gradient in some runs only: asked for, measured, returned, and added to."""

    def __init__(self, stage):
        self.model = Net()
        self.optimizer = opt.SGD(0.1, self.model.parameters())
        self.step = stage(self.step)

    def step(self, x):
        self.model(x).sum().backward()
        first = self.model.second.bias.grad
        self.model(x * 10).sum().backward()
        norm = count = 0
        for p in self.model.parameters():
            if p.grad is not None:
                norm, count = norm + (p.grad**2).sum(), count + 1
        own = self.model.second.bias.grad
        self.optimizer.step()
        self.optimizer.clear_grad()
        return norm, count, first, own

    def calls(self):
        for x, _ in batches(6):
            norm, count, first, own = self.step(x)
            yield norm
            yield Tensor([count, first is None, own is None])
            yield from (g for g in (first, own) if g is not None)


@pytest.mark.parametrize("kind", [Accumulated, InTwoFunctions, ChangedInPlace, Frozen, OfSomeRuns])
def test_as_eagerly(kind):
    with config.NO_JIT.override(True):
        compare(kind)


@pytest.mark.parametrize("kind", [Accumulated, OfSomeRuns])
def test_natively(kind):
    compare(kind)


def compare(kind):
    eager, static = kind(lambda f: f), kind(jit.to_static)
    for a, b in zip(eager.calls(), static.calls(), strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=2e-5, atol=1e-6)
        agree(gradients(static.model), gradients(eager.model))
        agree([p.numpy() for p in static.model.parameters()], [p.numpy() for p in eager.model.parameters()])


def test_a_gradient_that_is_kept_elsewhere_is_told_from_the_next_one():
    w = paddle.create_parameter([2], "float32")
    box = {}

    def both():
        w.grad.add_(paddle.ones([2]))
        return box["g"] * 1, w.grad * 1, box["g"] is w.grad

    static = jit.to_static(both)
    for keep in (True, False, True):
        (w * Tensor([1.0, 2.0])).sum().backward()
        if keep:
            box["g"] = w.grad
        before, own = box["g"].numpy(), w.grad.numpy()
        kept, now, same = static()
        assert same is keep
        np.testing.assert_array_equal(now.numpy(), own + 1)
        np.testing.assert_array_equal(kept.numpy(), before + keep)


def test_two_parameters_with_one_gradient():
    a, b = (paddle.create_parameter([2], "float32") for _ in range(2))

    @jit.to_static
    def double():
        a.grad.scale_(2.0)
        return b.grad * 1

    for shared in (True, False, True):
        a.grad = Tensor([1.0, 2.0])
        b.grad = a.grad if shared else Tensor([5.0, 6.0])
        np.testing.assert_array_equal(double().numpy(), [2.0, 4.0] if shared else [5.0, 6.0])
