"""`stop_gradient` of leaves outside, set before and after a static function has used them: what was computed before keeps its way."""

import pytest
from dy2st_runtime import config
from training import agree

import dy2st as paddle
from dy2st import jit, nn
from dy2st import optimizer as opt
from dy2st.errors import StructureError
from dy2st.tensor import Tensor


class Two:
    """Two parameters; `begin` says whether the first one is frozen before each call, None leaves it as the call before did."""

    begin = None

    def __init__(self, stage):
        ones = nn.initializer.Constant(1.5)
        self.w, self.u = (paddle.create_parameter([2], "float32", default_initializer=ones) for _ in range(2))
        self.optimizer = opt.SGD(0.1, [self.w, self.u])
        self.call = stage(self.call)

    def found(self):
        for i in range(4):
            if self.begin is not None:
                self.w.stop_gradient = self.begin
            y = self.call(Tensor([1.0, 2.0 + i]))
            if y is not None:
                yield y.stop_gradient
                y.backward()
            for p in (self.w, self.u):
                yield p.stop_gradient
                yield p
                yield p.grad
                p.clear_grad()


class FrozenAfterUse(Two):
    def call(self, x):
        y = (x * self.w * self.u).sum()
        self.w.stop_gradient = True
        return y + (self.w * self.u).sum()


class FrozenAfterUseEachTime(FrozenAfterUse):
    begin = False


class FrozenBeforeUse(Two):
    begin = False

    def call(self, x):
        self.w.stop_gradient = True
        return (x * self.w * self.u).sum()


class FreedBeforeUse(Two):
    begin = True

    def call(self, x):
        self.w.stop_gradient = False
        return (x * self.w * self.u).sum()


class FreedAtTheEnd(Two):
    begin = True

    def call(self, x):
        y = (x * self.w * self.u).sum()
        self.w.stop_gradient = False
        return y


class FrozenForAPart(Two):
    def call(self, x):
        y = (x * self.w * self.u).sum()
        self.w.stop_gradient = True
        y = y * (self.w * self.u).sum()
        self.w.stop_gradient = False
        return y + self.w.sum()


class FrozenAndModified(Two):
    def call(self, x):
        y = (x * self.w**2).sum()
        self.w.stop_gradient = True
        self.w.scale_(0.5)
        y = y * (self.w * self.u).sum()
        self.w.stop_gradient = False
        return y + (self.w**2).sum()


class ByTurns(Two):
    def call(self, x):
        self.w.stop_gradient = not self.w.stop_gradient
        return (x * self.w * self.u).sum()


class InTwoPhases(Two):
    """As in a GAN: what one phase freezes the other one trains."""

    def call(self, x):
        self.w.stop_gradient = True
        (x * self.w * self.u).sum().backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.w.stop_gradient, self.u.stop_gradient = False, True
        (x * self.w * self.u).sum().backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.u.stop_gradient = False


class InTwoPhasesEachFreed(InTwoPhases):
    """It begins with all of them frozen, and leaves one so."""

    begin = True

    def call(self, x):
        y = (x * self.w * self.u).sum()
        self.w.stop_gradient = False
        (y + (self.w * self.u**2).sum()).backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.w.stop_gradient = True


CASES = [FrozenAfterUse, FrozenAfterUseEachTime, FrozenBeforeUse, FreedBeforeUse, FreedAtTheEnd, FrozenForAPart, FrozenAndModified, ByTurns,
         InTwoPhases, InTwoPhasesEachFreed]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_as_eagerly(case):
    with config.NO_JIT.override(True):
        compare(case)


@pytest.mark.parametrize("case", [FrozenForAPart, InTwoPhases])
def test_natively(case):
    compare(case)


def compare(case):
    found = []
    for stage in (lambda f: f, jit.to_static):
        found.append([x.numpy() if isinstance(x, Tensor) else x for x in case(stage).found()])
    agree(*found)


def test_a_result_of_what_is_frozen_until_it_was_used_is_refused():
    """Its gradient would go to what the trace has for the parameter since then."""
    w, u = (paddle.create_parameter([2], "float32") for _ in range(2))
    w.stop_gradient = True

    @jit.to_static
    def late(x):
        y = (x * w * u).sum()
        w.stop_gradient = False
        return y + w.sum()

    with pytest.raises(StructureError, match="depends on a tensor that the function gives stop_gradient=False"):
        late(Tensor([1.0, 2.0]))
    assert w.stop_gradient
