"""Layers, parameters, buffers and optimizers that a function makes: eager mode makes others at each call, with values of their own."""

import argparse
import collections
import copy
import datetime
import decimal
import pathlib
import queue
import random
import re
import threading
import types
from xml.etree import ElementTree

import numpy as np
import pytest
from guarding import require_same_in_turn, tensor

import dy2st as paddle
from dy2st import jit, nn, optimizer
from dy2st.errors import StagedValueError

X = [[1.0, -2.0], [0.5, 3.0]]
ANEW = "is traced anew at each call, because it makes a layer"

pytestmark = pytest.mark.filterwarnings(f"ignore:.*{ANEW}")


def linear(x):
    return nn.Linear(2, 3)(x)


def two_of_them(x):
    h = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))(x)
    return h.sum() if x.sum() > 0 else h.max()


def normed(x):
    norm = nn.BatchNorm1D(2, weight_attr=False, bias_attr=False)
    y = norm(x)
    return y, norm._mean * 1


def drawn_behind(x):
    y = nn.Linear(2, 2)(x)
    return y + paddle.rand([2])


WEIGHT = paddle.create_parameter([2, 1], "float32")


def an_optimizer(x):
    optimizer = paddle.optimizer.Adam(0.1, parameters=[WEIGHT])
    loss = ((x @ WEIGHT) ** 2).sum()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss, WEIGHT * 1


def drawn_with_a_count(x, seen=[0.0]):  # noqa: B006
    seen[0] += 1.5
    return nn.Linear(2, 2)(x) * seen[0]


@pytest.mark.parametrize("function", [linear, two_of_them, normed, drawn_behind, an_optimizer, drawn_with_a_count])
def test_each_call_makes_its_own(function):
    found = []
    for wrap in (lambda f: f, jit.to_static):
        if function.__defaults__:
            function.__defaults__[0][:] = [0.0]
        WEIGHT.set_value(np.array([[1.0], [2.0]], np.float32))
        f = wrap(function)
        paddle.seed(5)
        for i in range(4):
            result = f(tensor(*X) * (i - 1.5))
            found.append([t.numpy() for t in (result if isinstance(result, tuple) else [result])])
    require_same_in_turn(found)


def test_a_call_that_fails_has_drawn_nothing():
    @jit.to_static
    def f(x):
        return nn.Linear(2, 2)(x).numpy()

    paddle.seed(5)
    expected = paddle.rand([2]).numpy()
    paddle.seed(5)
    with pytest.raises(StagedValueError):
        f(tensor(*X))
    assert (paddle.rand([2]).numpy() == expected).all()


class Lazy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = None

    def forward(self, x):
        if self.fc is None:
            self.fc = nn.Linear(x.shape[-1], 2)
        return self.fc(x)


def test_a_layer_that_the_first_call_makes_is_made_again_only_where_it_is_gone():
    found = []
    for wrap in (lambda f: f, jit.to_static):
        net = Lazy()
        forward = wrap(net.forward)
        paddle.seed(7)
        for call in range(5):
            if call == 3:
                net.fc = None
            y = forward(tensor(*X))
            y.sum().backward()
            found.append((y.numpy(), net.fc.weight.grad.numpy()))
            net.clear_gradients()
    require_same_in_turn(found)


def test_traces_for_each_call_are_not_kept_and_said_once():
    f = jit.to_static(linear)
    f(tensor(*X))
    f(tensor(*X))
    with pytest.warns(UserWarning, match=ANEW):
        f(tensor(*X))
    f(tensor(*X))
    assert len(f.concrete_programs) == 1
    assert "makes a layer, a parameter, a buffer or an optimizer" in f.explain()


def in_a_branch(x):
    if x.sum() > 0:
        x = nn.Linear(2, 2)(x)
    return x


def in_a_loop(x):
    for row in x[: (x.sum() > 0).astype("int64")]:
        x = x + nn.Linear(2, 2)(row)
    return x


def an_optimizer_in_a_branch(x):
    if x.sum() > 0:
        paddle.optimizer.SGD(0.1, parameters=[WEIGHT])
    return x


@pytest.mark.parametrize("function", [in_a_branch, in_a_loop, an_optimizer_in_a_branch])
def test_how_often_it_is_made_must_be_known(function):
    with pytest.raises(StagedValueError, match="is made in a branch, a loop or a recursion on tensors"):
        jit.to_static(function)(tensor(*X))


def test_what_is_drawn_behind_random_numbers_of_the_run():
    def f(x):
        x = x + paddle.rand([2])
        return nn.Linear(2, 2)(x)

    with pytest.raises(StagedValueError, match="random"):
        jit.to_static(f)(tensor(*X))


@pytest.mark.parametrize("make", [lambda p: optimizer.Adam(parameters=p), lambda p: optimizer.Momentum(0.1, parameters=p),
                                  lambda p: optimizer.SGD(0.1, parameters=p)])  # fmt: skip
def test_the_state_of_an_optimizer_before_its_first_step(make):
    found = []
    for static in (False, True):
        net = nn.Linear(2, 1)
        opt = make(net.parameters())

        def step(x):
            before = sorted(name.partition("_0_")[2] for name in opt.state_dict())  # noqa: B023
            loss = net(x).sum()  # noqa: B023
            loss.backward()
            opt.step()  # noqa: B023
            opt.clear_grad()  # noqa: B023
            return before, len(opt.state_dict())  # noqa: B023

        call = jit.to_static(step) if static else step
        found.append([call(tensor([[1.0, 2.0]])) for _ in range(4)])
        if static:
            assert len(call.concrete_programs) <= 2  # that of the second call serves the others
    assert found[0] == found[1]


class Copies(nn.Layer):
    def __init__(self, make):
        super().__init__()
        self.fc, self.make, self.made = nn.Linear(2, 2), make, None

    def forward(self, x):
        self.made = self.make(self.fc)
        return self.made(x) if callable(self.made) else x


def test_a_layer_that_is_kept_is_another_one_after_each_call():
    x = tensor(*X)
    for make in (copy.copy, lambda fc: nn.ReLU(), lambda fc: nn.Sequential(fc, nn.ReLU())):
        for net in (Copies(make), jit.to_static(Copies(make))):
            made = []
            for call in range(5):
                if call == 2:
                    net.eval()
                if call == 3:
                    net.train()
                    net.fc.extra = 3
                net(x)
                made.append(net.made)
                assert net.made.training is (net.fc.training or make is not copy.copy)
                assert getattr(net.made, "extra", None) == (3 if call > 2 and make is copy.copy else None)
            assert len(set(map(id, made))) == 5


def test_a_layer_that_is_only_called_takes_one_trace():
    static = jit.to_static(lambda x: nn.ReLU()(x))
    for _ in range(3):
        np.testing.assert_array_equal(static(tensor(*X)).numpy(), np.maximum(X, 0))
    assert len(static.concrete_programs) == 1


MAKERS = {
    "argparse": (lambda: argparse.Namespace(a=1, b=[2]), lambda it: (it.b.append(3), len(it.b))),
    "chain": (lambda: collections.ChainMap({"a": 1}), lambda it: (it.update(b=3), len(it))),
    "proxy": (lambda: types.MappingProxyType({"a": [1]}), lambda it: (it["a"].append(2), len(it["a"]))),
    "memory": (lambda: memoryview(bytearray(b"ab")), lambda it: (it.__setitem__(0, it[0] + 1), it[0])),
    "lock": (lambda: threading.Lock(), lambda it: it.acquire(False)),
    "queue": (lambda: queue.Queue(), lambda it: (it.put(1), it.qsize())),
    "random": (lambda: random.Random(0), lambda it: it.random()),
    "generator": (lambda: np.random.default_rng(0), lambda it: it.random()),
    "element": (lambda: ElementTree.Element("a"), lambda it: (it.append(ElementTree.Element("b")), len(it))),
    "context": (lambda: decimal.Context(prec=3), lambda it: (setattr(it, "prec", it.prec + 1), it.prec)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_objects_of_libraries_that_calls_make(name):
    make, change = MAKERS[name]
    kept = types.SimpleNamespace()

    def f(x):
        kept.it = make()
        return x * 2, make()

    static = jit.to_static(f)
    x = tensor(1.0)
    for _ in range(2):
        for one in (f, static):
            _, made = one(x)
            assert made is not kept.it
            expected = change(make())
            assert change(made) == change(kept.it) == expected


def test_an_object_of_a_library_that_the_first_call_makes():
    box = types.SimpleNamespace(lock=None)

    @jit.to_static
    def f(x):
        if box.lock is None:
            box.lock = threading.Lock()
        return x * 2

    for _ in range(3):
        f(tensor(1.0))
    first = box.lock
    box.lock = None
    f(tensor(1.0))
    assert box.lock is not first
    assert len(f.concrete_programs) == 2, f.explain()


def test_objects_of_libraries_that_do_not_change_are_made_once():
    static = jit.to_static(lambda x: (x, decimal.Decimal("1.5"), datetime.date(2020, 1, 1), pathlib.PurePath("a"), re.compile("a")))
    for _ in range(3):
        static(tensor(1.0))
    assert len(static.concrete_programs) == 1
