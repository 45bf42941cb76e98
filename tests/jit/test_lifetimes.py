"""What static functions know does not live longer than what it is about."""

import gc
import weakref

import pytest
from dy2st_runtime import config

from dy2st import Tensor, jit, nn


class Net(nn.Layer):
    def __init__(self, factor=2):
        super().__init__()
        self.part = nn.Linear(2, 2)
        self.factor = factor

    def forward(self, x):
        return self.part(x) * self.factor if x.sum() > 0 else self.part(x)


class Decorated(Net):
    forward = jit.to_static(Net.forward)


def x():
    return Tensor([[1.0, 2.0]])


@jit.to_static
def called(layer, v):
    return layer(v)


def as_an_argument():
    net = Net()
    called(net, x())
    return net


def in_a_closure():
    net = Net()

    @jit.to_static
    def run(v):
        return net(v) if v.sum() > 0 else run(-v)

    run(x())
    return net


def decorated():
    net = Decorated()
    net(x())
    return net


def made_static():
    net = Net()
    jit.to_static(net)
    net(x())
    return net


def cut():
    net = Net()

    @jit.to_static(full_graph=False)
    def run(v):
        y = net(v)
        return y * float(y.numpy().sum())

    run(x())
    return net


@pytest.mark.parametrize("make", [as_an_argument, in_a_closure, decorated, made_static, cut], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore")
def test_a_layer_goes_with_its_last_reference(make):
    with config.NO_JIT.override(True):
        left = []
        for _ in range(3):
            net = make()
            left += [weakref.ref(net), weakref.ref(net.part.weight)]
            del net
        gc.collect()
    assert [r() for r in left] == [None] * 6


@pytest.mark.filterwarnings("ignore")
def test_an_object_in_the_place_of_another_one_has_its_own_trace():
    @jit.to_static
    def run(v, of):
        return v * of.factor

    with config.NO_JIT.override(True):
        for factor in range(1, 14):
            net = Net(factor)
            assert run(x(), net).tolist() == [[factor, 2.0 * factor]]
            del net
            if factor % 4 == 0:
                gc.collect()
        gc.collect()
        assert len(run.concrete_programs) == 0
