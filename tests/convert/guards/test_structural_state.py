"""What is outside of a function between its calls: what is read there, and what only some traces store there."""

import functools
import math
import typing

import numpy as np
import pytest
import stateful
from guarding import Box

from dy2st import jit, nn, to_tensor


def as_bound(box):
    def f(x, n):
        for i in range(box.k):
            x = x + i
        for _ in range(n, box.k + 3, 2):
            x = x * 2
        return x

    return f


def as_index(box):
    items, tensors = [1.0, 2.0, 3.0, 4.0], [to_tensor(float(i)) for i in range(4)]

    def f(x, n):
        return x * items[box.k] + tensors[box.k], items[: box.k], {0: 1.0, 1: 2.0, 2: 3.0, 3: 5.0}[int(box.k)]

    return f


def as_truth(box):
    def f(x, n):
        return bool(box.truth), not box.truth, x if box.truth else -x

    return f


def as_number(box):
    def f(x, n):
        return math.hypot(box.v, 2.0), math.pow(box.v, 3), math.atan2(box.v, box.v), int(box.k), float(box.v)

    return f


def as_reason(box):
    def f(x, n):
        try:
            if box.truth:
                raise ValueError
            x = x + 1
        except ValueError:
            x = x * 3
        return x

    return f


def replaced(k, truth, v):
    def change(box):
        box.k, box.truth, box.v = to_tensor(k), to_tensor(truth), to_tensor(np.float64(v))

    return change


def filled(k, truth, v):
    def change(box):
        for t, value in ((box.k, k), (box.truth, truth), (box.v, v)):
            t.set_value(np.asarray(value, t.dtype))

    return change


@pytest.mark.parametrize("function", [as_bound, as_index, as_truth, as_number, as_reason], ids=lambda f: f.__name__)
@pytest.mark.parametrize("change", [replaced, filled], ids=lambda f: f.__name__)
def test_a_tensor_where_a_number_is_asked_for(function, change):
    def make():
        box = Box()
        replaced(2, True, 0.5)(box)
        return function(box), box

    stateful.check(make, between=[change(3, False, 2.5), change(1, True, 0.25), change(0, False, 1.0)])


class Remembers(nn.Layer):
    """Keeps what it computes while it trains."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.last, self.steps = None, 0

    def forward(self, x):
        y = self.linear(x)
        if self.training:
            self.last = y.detach()
            self.steps = self.steps + 1
        return y


def test_what_one_mode_keeps_is_no_matter_of_the_other():
    model = Remembers()
    static = jit.to_static(model)
    for i in range(5):
        model.train()
        static(to_tensor([[1.0, float(i)]]))
        model.eval()
        static(to_tensor([[float(i), 1.0]]))
        assert model.steps == i + 1
    assert len(model.forward.concrete_programs) == 3, model.forward.explain()


def test_a_number_that_is_read_only_is_not_written_back():
    """What another thread sets while a call runs stays."""
    class Scaled(nn.Layer):
        def __init__(self):
            super().__init__()
            self.k, self.count = 2.0, 0

        def forward(self, x):
            self.count += 1
            return x * self.k

    net = Scaled()
    static = jit.to_static(net.forward)
    for net.k in (2.0, 9.0, 3.0):
        static(to_tensor([1.0]))
    trace = static.concrete_program
    assert {number.entry for number in trace.numbers} == {"k", "count"}
    assert [cell.entry for cell, _ in trace.effects.cells] == ["count"]
    assert net.count == 3


def wrapped(f):
    @functools.wraps(f)
    def wrapper(self, x):
        return f(self, x)

    return lambda self, x: wrapper(self, x)


@pytest.mark.parametrize("decorate", [lambda f: f, wrapped], ids=["as it is", "decorated"])
def test_what_is_behind_super_changes(decorate):
    found = []
    for convert in (lambda f: f, jit.to_static):

        class Base:
            gain = 2.0

            def act(self, x):
                return x * self.gain

        class Mid(Base):
            gain = 3.0

            def act(self, x):
                return x - 1

        class Net(Mid):
            gain = 5.0

            @decorate
            def run(self, x):
                return super(Mid, self).act(x) * super(Mid, self).gain + super().act(x) * super().gain

        net, x = Net(), to_tensor([1.0, 2.0])
        static = convert(lambda x, net=net: net.run(x))
        found.append([static(x).numpy().tolist()])
        Base.gain = 7.0
        found[-1].append(static(x).numpy().tolist())
        Base.act = lambda self, x: x + 10
        found[-1].append(static(x).numpy().tolist())
    assert found[0] == found[1]
    assert len({str(row) for row in found[0]}) == 3


@typing.runtime_checkable
class HasScale(typing.Protocol):
    scale: float


class Thing:
    pass


def test_what_a_protocol_asks_for_comes_between_calls():
    found = []
    for convert in (lambda f: f, jit.to_static):
        thing = Thing()
        static = convert(lambda x, thing=thing: x * thing.scale if isinstance(thing, HasScale) else x)
        found.append([float(static(to_tensor(3.0)))])
        thing.scale = 2.0
        found[-1].append(float(static(to_tensor(3.0))))
        del thing.scale
        found[-1].append(float(static(to_tensor(3.0))))
    assert found[0] == found[1] == [3.0, 6.0, 3.0]


def test_parameters_that_are_one_between_calls_count_once():
    found = []
    for convert in (lambda f: f, jit.to_static):
        net = nn.LayerList([nn.Linear(1, 1) for _ in range(3)])
        own = net[0].weight
        static = convert(lambda x, net=net: (net[0](x), len(net.parameters())))
        found.append([])
        for weight in (own, net[1].weight, own, net[2].weight):
            net[0].weight = weight
            found[-1].append(static(to_tensor([[1.0]]))[1])
    assert found[0] == found[1] == [6, 5, 6, 5]
