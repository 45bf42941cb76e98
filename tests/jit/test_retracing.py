"""How many traces there are, why, and what arguments and results may be."""

import collections
import gc
import warnings
import weakref
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st as paddle
from dy2st import jit, nn
from dy2st.convert.regions.write_journal import Watcher
from dy2st.errors import FeedError
from dy2st.jit import InputSpec, reasons
from dy2st.jit.outside import Outside
from dy2st.tensor import Tensor


@pytest.fixture(autouse=True)
def interpreted():
    with config.NO_JIT.override(True):
        yield


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


def why(static):
    return [concrete.reason for concrete in static.concrete_programs]


# ---- sizes ----
def test_sizes_that_differed_in_training_are_open_in_evaluation():
    static = jit.to_static(lambda x, y: (x @ y).sum())
    for n in (3, 4, 5):
        static(ones(2, n), ones(n, 7))
    with paddle.no_grad():
        for n in (6, 7):
            static(ones(2, n), ones(n, 7))
    assert why(static) == ["the first call", "argument 'x' has shape [2, 4], traced was [?, 3]", "gradients are not recorded now"]


def test_so_they_are_for_other_values_of_an_argument():
    static = jit.to_static(lambda x, k: x * k)
    for n, k in ((3, 1), (4, 1), (5, 2), (6, 2)):
        static(ones(2, n), k)
    assert len(static.concrete_programs) == 3
    assert why(static)[2] == "argument 'k' was 1, is 2"


# ---- numbers outside ----
class Annealed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.beta, self.table, self.at, self.calls = 0.0, np.array([1.0, 2.0, 4.0]), 0, 0

    def forward(self, x):
        self.calls += 1
        return x * self.beta + self.table[self.at]


def test_an_attribute_that_is_set_between_calls_is_an_input_from_its_second_value_on():
    net = jit.to_static(Annealed())
    for beta in (0.0, 0.25, 0.5, 1.0, -0.0):
        net.beta = beta
        found = net(ones(2))
        np.testing.assert_array_equal(found.numpy(), np.float32([beta + 1] * 2))
        assert found.dtype == "float32"
    assert net.calls == 5
    assert why(net.forward) == ["the first call", "attribute 'beta' of Annealed was 0.0, is 0.25"]
    net.beta = 2  # another kind of number
    np.testing.assert_array_equal(net(ones(2)).numpy(), np.float32([3, 3]))
    assert "attribute 'beta' is no float64 any more" in why(net.forward)


def test_a_number_that_python_needs_has_a_trace_for_each_value():
    net = jit.to_static(Annealed())
    for at in (0, 1, 2, 1, 0):
        net.at = at
        np.testing.assert_array_equal(net(ones(1)).numpy(), np.float32([net.table[at]]))
    assert len(net.forward.concrete_programs) == 3
    assert net.calls == 5
    net.beta = 0.5  # that other one can be an input all the same
    net(ones(1))
    net.beta = 0.75
    assert float(net(ones(1))) == 1.75
    assert len(net.forward.concrete_programs) == 4


def test_a_number_that_decides_in_python_what_is_done():
    class Net(nn.Layer):
        mode = 0

        def forward(self, x):
            name = "double" if self.mode == 1 else "same"
            return x * 2 if name == "double" else x

    net = jit.to_static(Net())
    for mode, value in ((0, 1), (1, 2), (0, 1), (1, 2)):
        net.mode = mode
        assert float(net(ones(1))) == value
    assert len(net.forward.concrete_programs) == 2


def test_a_saved_program_has_no_such_inputs(tmp_path):
    net = jit.to_static(Annealed())
    for net.beta in (0.0, 0.5, 0.25):
        net(ones(2))
    jit.save(net, str(tmp_path / "net"))
    loaded = jit.load(str(tmp_path / "net"))
    np.testing.assert_array_equal(loaded(ones(2)).numpy(), np.float32([1.25, 1.25]))


# ---- attributes that a call assigns before it reads them ----
class Keeping(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.last = None


class OnlyAssigned(Keeping):
    def forward(self, x):
        self.last = self.fc(x)
        return x * 2


class ReadBehind(Keeping):
    def forward(self, x):
        for _ in range(2):
            x = x + 1
        self.last = x * 3
        self.parts = [self.last, {"x": x}]
        return self.last * 2


class ReadByAnother(Keeping):
    def forward(self, x):
        self.last = x * 3
        return self.head()

    def head(self):
        return self.last + 1


@pytest.mark.parametrize("cls", [OnlyAssigned, ReadBehind, ReadByAnother])
def test_an_attribute_that_is_assigned_before_it_is_read_costs_no_trace(cls):
    net, eager = jit.to_static(cls()), cls()
    eager.set_state_dict(net.state_dict())
    for size in (2, 2, 3, 4):
        x = paddle.ones([size, 2]) * size
        np.testing.assert_allclose(net(x).numpy(), eager(x).numpy(), rtol=1e-5)
        np.testing.assert_allclose(net.last.numpy(), eager.last.numpy(), rtol=1e-5)
    assert why(net.forward) == ["the first call"]


class Conditional(Keeping):
    def forward(self, x):
        if x.sum() > 3:
            self.last = x
        return x * 1


class BehindAnEarlyReturn(Keeping):
    def forward(self, x):
        if x.sum() < 3:
            return x * 1
        self.last = x * 2
        return x * 3


class ReadBefore(Keeping):
    def forward(self, x):
        y = x * 1 if self.last is None else x + self.last.sum()
        self.last = x * 2
        return y


class ReadBeforeByAnother(Keeping):
    def count(self):
        return 0 if self.last is None else 1

    def forward(self, x):
        k = self.count()
        self.last = x * 2
        return x + k + self.count()


class Asked(nn.Layer):
    last = None

    def forward(self, x):
        k = 1 if hasattr(self, "seen") else 0
        self.seen = self.last = x * 2
        return x + k


class CalledInALoop(Keeping):
    def update(self, x):
        self.last = x * 2
        return x

    def forward(self, x):
        total = x.sum() * 0
        for y in map(self.update, x[: (x.sum() - 4).astype("int64")]):
            total = total + y.sum()
        return total


@pytest.mark.parametrize("cls", [Conditional, BehindAnEarlyReturn, ReadBefore, ReadBeforeByAnother, Asked, CalledInALoop])
def test_an_attribute_whose_old_value_counts_is_looked_at(cls):
    net, eager = jit.to_static(cls()), cls()
    for value in (1.0, 2.0, 1.0, 1.25, 2.0):
        x = paddle.full([2, 2], value)
        np.testing.assert_allclose(net(x).numpy(), eager(x).numpy(), rtol=1e-5)
        assert (net.last is None) == (eager.last is None)
        if eager.last is not None:
            np.testing.assert_allclose(net.last.numpy(), eager.last.numpy(), rtol=1e-5)


# ---- how many there are ----
def test_the_trace_that_was_not_called_for_the_longest_goes():
    static = jit.to_static(lambda x, k: x * k)
    with config.TRACES.override(3), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in (1, 2, 3, 1, 4):
            assert float(static(ones(1), k)) == k
        kept = [c.key.leaves[1].value for c in static.concrete_programs]
        assert kept == [1, 3, 4]
        for k in range(100):
            assert float(static(ones(1), k)) == k
        assert len(static.concrete_programs) == 3
    gone = weakref.ref(static.concrete_programs[0])
    with config.TRACES.override(3):
        for k in (200, 201, 202):
            static(ones(1), k)
    gc.collect()
    assert gone() is None


# ---- warnings ----
def warned(static, calls):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for args in calls:
            static(*args)
    return found


def test_an_argument_with_many_values_is_named_once():
    static = jit.to_static(lambda x, scale, shift: x * scale + shift)
    assert warned(static, [(ones(1), k, 0) for k in range(reasons.LIMIT)]) == []
    (warning,) = warned(static, [(ones(1), k, 0) for k in range(reasons.LIMIT, 3 * reasons.LIMIT)])
    text = str(warning.message)
    assert "anew for each value of argument 'scale' (argument 'scale' was 7, is 8; 9 traces so far): a tensor in its place" in text
    assert warning.filename == __file__


def test_an_object_that_is_made_for_each_call_is_named():
    static = jit.to_static(lambda x, f: f(x))
    kept = [lambda x: x * 2 for _ in range(2 * reasons.LIMIT)]
    (warning,) = warned(static, [(ones(1), f) for f in kept])
    assert "argument 'f'" in str(warning.message)
    assert str(warning.message).endswith("pass the same one")


def test_an_attribute_with_many_values_that_cannot_be_an_input_is_named():
    net = Annealed()
    net.table = np.arange(20.0)
    net = jit.to_static(net)

    def call(x, at):
        net.at = at
        return net(x)

    (warning,) = warned(call, [(ones(1), k) for k in range(12)])
    assert "each value of attribute 'at' of Annealed" in str(warning.message)


# ---- reasons ----
@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ((ones(2), [ones(1)]), (ones(2), [ones(1), ones(1)]), "argument 'y' was a list of 1, is a list of 2"),
        ((ones(2), {"a": 1}), (ones(2), {"b": 1}), "argument 'y' was a dict with a, is a dict with b"),
        ((ones(2), None), (ones(2), ones(1)), "argument 'y' was None, is a float32 tensor with 1 dims"),
        ((ones(2), ones(1)), (ones(2).astype("float64"), ones(1)), "argument 'x' was a float32 tensor with 1 dims, is a float64 tensor"),
        ((ones(2), {"a": [1, 2]}), (ones(2), {"a": [1, 3]}), "argument \"y['a'][1]\" was 2, is 3"),
        ((ones(2), 1), (ones(2), 1.0), "argument 'y' was 1, is 1.0"),
    ],
)
def test_the_reason_names_the_argument(first, second, reason):
    static = jit.to_static(lambda x, y: x * 2)
    static(*first)
    static(*second)
    assert why(static)[1].startswith(reason), why(static)


def test_two_arguments_that_are_one_tensor():
    static = jit.to_static(lambda x, y: x + y)
    x = ones(2)
    static(ones(2), ones(2))
    static(x, x)
    assert why(static)[1].endswith("is a float32 tensor with 1 dims that is argument 'x'")


def test_the_most_similar_trace_is_compared():
    static = jit.to_static(lambda x, a, b: x * a + b)
    for a, b in ((1, 1), (2, 2), (2, 1)):
        static(ones(2), a, b)
    assert why(static)[2] in ("argument 'b' was 2, is 1", "argument 'a' was 1, is 2")


def test_the_log_says_why(capsys):
    with config.DUMP.override(frozenset({"traces"})):
        static = jit.to_static(annealed := lambda x, k: x * k)
        static(ones(2), 1)
        static(ones(2), 2)
    found = capsys.readouterr().err.splitlines()
    name = annealed.__qualname__
    assert found == [f"# --- trace 1 of {name}: the first call", f"# --- trace 2 of {name}: argument 'k' was 1, is 2"]


# ---- what arguments and results may be ----
class Pair(NamedTuple):
    a: Any
    b: Any


Point = collections.namedtuple("Point", "x y")


@dataclass
class Box:
    h: Any
    rest: Any = None


def rebuilt(x, pair, *more, box, scale=2.0, **kinds):
    for _ in range(len(x)):
        pair = Pair(pair.a + x.sum(), pair.b * scale)
    box = Box(box.h + x, {"rest": [box.rest["n"] + 1, *more]})
    return {"pair": pair, "box": box, "point": Point(x, kinds["k"] * 2), "all": (x, [pair.a])}


def test_nested_arguments_and_results():
    def call(function):
        box = Box(ones(3), {"n": ones(1)})
        return function(ones(3), Pair(ones(1), ones(2)), ones(2), 5, box=box, k=ones(1), scale=3.0)

    static, expected = jit.to_static(rebuilt), call(rebuilt)
    found = call(static)
    assert str(found) == str(expected)
    assert type(found["pair"]) is Pair
    assert type(found["point"]) is Point
    assert type(found["box"]) is Box
    call(static)
    assert len(static.concrete_programs) == 1


def test_gradients_flow_through_nested_results():
    static = jit.to_static(lambda state: {"loss": [(state["h"].b * 2).sum()]})
    h = Tensor([1.0, 2.0], stop_gradient=False)
    static({"h": Pair(1, h)})["loss"][0].backward()
    assert h.grad.tolist() == [2.0, 2.0]


def test_a_nested_spec_names_inputs_and_opens_dims():
    spec = [{"h": InputSpec([None, 3], "float32", "state"), "steps": 2}, Pair(InputSpec([None], "int64"), InputSpec([1]))]

    @jit.to_static(input_spec=spec)
    def f(state, pair):
        return state["h"] * state["steps"] + pair.a.sum().astype("float32") + pair.b

    concrete = f.concrete_program
    assert [(v.name, list(v.shape), v.dtype) for v in concrete.inputs] == [
        ("state", [-1, 3], "float32"), ("pair_a", [-1], "int64"), ("pair_b", [1], "float32")]  # fmt: skip
    for n in (1, 4):
        f({"h": ones(n, 3), "steps": 2}, Pair(Tensor([1, 2]), ones(1)))
    assert len(f.concrete_programs) == 1
    with pytest.raises(FeedError, match=r"argument \"state\['h'\]\" is float32\[2, 4\], its InputSpec says float32\[\?, 3\]"):
        f({"h": ones(2, 4), "steps": 2}, Pair(Tensor([1, 2]), ones(1)))
    with pytest.raises(FeedError, match=r"argument 'pair\.a' is 5, its InputSpec says int64"):
        f({"h": ones(2, 3), "steps": 2}, Pair(5, ones(1)))


def test_a_spec_of_keyword_arguments():
    @jit.to_static(input_spec=[InputSpec([None, 2], "float32", "x"), InputSpec([2], "float32", "bias")])
    def f(x, bias=None):
        return x if bias is None else x + bias

    assert f(bias=ones(2), x=ones(3, 2)).shape == [3, 2]
    with pytest.raises(FeedError, match="argument 'bias' is None, its InputSpec says float32"):
        f(ones(3, 2))


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(2, 2), nn.Linear(2, 2)

    def forward(self, x, lengths):
        _, (h, _) = self.lstm(x, sequence_length=lengths)
        found = []
        for _ in range(3):
            found.append(self.out(h[0]))
            if found[-1].sum() > 1e6:
                break
        return paddle.stack(found)


def test_a_trace_does_not_look_at_the_traces_before_it(monkeypatch):
    looked, watch_locals = [], Watcher.watch_locals

    def watched(self):
        watch_locals(self)
        looked.append(len(list(self.containers)))

    monkeypatch.setattr(Watcher, "watch_locals", watched)
    model, counts = Tagger(), []
    jit.to_static(model)
    for sizes in ([3, 5, 2], [2, 7, 2]):
        model(paddle.ones(sizes), paddle.to_tensor([2] * sizes[0]))
        counts.append(max(looked))
        looked.clear()
    assert counts[1] <= counts[0] + 20, counts  # it was 300 and 6,700: all ops of the first Program


def test_a_trace_that_serves_again_and_again_is_looked_at_before_those_that_do_not(monkeypatch):
    model, x = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)), ones(1, 2)
    jit.to_static(model)
    model.train()
    model(x)
    model.eval()
    for _ in range(2):
        model(x)
    looks, look = [], Outside.look
    monkeypatch.setattr(Outside, "look", lambda self, concrete: looks.append(concrete) or look(self, concrete))
    model(x)
    assert looks == [model.forward.concrete_programs[1]]
    model.train()
    model(x)
    model(x)
    assert looks[-1] is model.forward.concrete_programs[0] is looks[-2]
    assert why(model.forward) == ["the first call", "attribute 'training' of Dropout was True, is False"]
