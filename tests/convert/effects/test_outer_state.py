"""What a static call changes besides computing its result: tensors, attributes, lists, arguments. The same as eagerly."""

import copy
import dataclasses

import numpy as np
import pytest

import dy2st
from dy2st import jit, nn
from dy2st.errors import StructureError
from dy2st.tensor import Tensor


class Counter(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", Tensor([0.0]))
        self.steps = 0
        self.last = None
        self.history = []

    def update(self, x):
        self.total.add_(x.sum().reshape([1]))
        self.last = x * 2

    def forward(self, x):
        self.steps = self.steps + 1
        if x.sum() > 0:
            self.update(x)
            self.history.append(x.mean())
        else:
            self.total.set_value(self.total * 0.5)
            self.history.append(x.sum())
        return self.total + x


class LoopState(nn.Layer):
    def __init__(self):
        super().__init__()
        self.h = Tensor([0.0, 0.0])
        self.cache = {"seen": Tensor([1.0])}

    def step(self, x):
        self.h = self.h * 0.5 + x
        self.cache["seen"] = self.cache["seen"] + 1

    def forward(self, x, n):
        for _ in range(n):
            self.step(x)
        return self.h * 1


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.head = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), Gate())
        self.scale = 1.0

    @jit.to_static
    def forward(self, x):
        return self.head(self.fc(x)) * self.scale


class Gate(nn.Layer):
    def forward(self, x):
        if x.sum() > 1:
            return x
        return x * 2


def tensor(*values, **flags):
    return Tensor(np.array(values, np.float32), **flags)


def close(a, b):
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_buffers_attributes_and_lists_of_a_layer():
    eager, static = Counter(), jit.to_static(Counter())
    for x in [tensor(1.0, 2.0), tensor(-1.0, -2.0), tensor(3.0, 4.0), tensor(-3.0, 4.0), tensor(-5.0, 4.0)]:
        close(eager(x), static(x))
        close(eager.total, static.total)
        assert static.steps == eager.steps
        if eager.last is not None:
            close(eager.last, static.last)
        assert len(static.history) == len(eager.history)
        for a, b in zip(eager.history, static.history, strict=True):
            close(a, b)
    assert len(static.forward.concrete_programs) == 2
    assert not static.total.is_symbolic


def test_state_of_methods_called_in_a_loop():
    eager, static = LoopState(), jit.to_static(LoopState())
    for n in [2, 0, 1]:
        close(eager(tensor(1.0, 2.0), n), static(tensor(1.0, 2.0), Tensor(n)))
        close(eager.h, static.h)
        close(eager.cache["seen"], static.cache["seen"])
    assert len(static.forward.concrete_programs) == 1


def test_training_step_of_a_decorated_forward():
    static = Net()
    eager = copy.deepcopy(static)
    x = tensor([1.0, 2.0], [3.0, 4.0])
    a = Net.forward.raw(eager, x)
    b = static(x)
    close(a, b)
    (a * a).mean().backward()
    (b * b).mean().backward()
    for p, q in zip(eager.parameters(), static.parameters(), strict=True):
        close(p.grad, q.grad)


def test_parameters_are_read_anew_at_each_call():
    net = Net()
    x = tensor([1.0, 2.0])
    net(x)
    net.fc.weight.set_value(np.ones([2, 2], np.float32))
    close(net(x), Net.forward.raw(net, x))
    net.fc.weight = nn.Linear(2, 2).weight
    close(net(x), Net.forward.raw(net, x))
    assert len(net.forward.concrete_programs) == 1
    net.fc = nn.Linear(2, 2)
    close(net(x), Net.forward.raw(net, x))
    assert len(net.forward.concrete_programs) == 2


def test_a_changed_python_attribute_retraces():
    net = Net()
    x = tensor([1.0, 2.0])
    net(x)
    net.scale = 3.0
    close(net(x), Net.forward.raw(net, x))
    net.scale = 1.0
    close(net(x), Net.forward.raw(net, x))
    assert len(net.forward.concrete_programs) == 2
    assert "attribute 'scale' of Net was 1.0, is 3.0" in net.forward.explain()


FACTOR = 2.0


@jit.to_static
def reads_global(x):
    return x * FACTOR


def test_a_changed_global_retraces(monkeypatch):
    close(reads_global(tensor(1.0)), tensor(2.0))
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    close(reads_global(tensor(1.0)), tensor(5.0))


scale = 1.0


class Scaled(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = 3.0

    @jit.to_static
    def forward(self, x):
        return x * self.scale


def test_a_global_with_the_name_of_an_attribute_is_no_reason_to_retrace(monkeypatch):
    net = Scaled()
    close(net(tensor(1.0)), tensor(3.0))
    monkeypatch.setitem(globals(), "scale", 2.0)
    close(net(tensor(1.0)), tensor(3.0))
    assert len(net.forward.concrete_programs) == 1


def test_each_instance_has_its_own_traces():
    a, b = Net(), Net()
    x = tensor([1.0, 2.0])
    close(a(x), Net.forward.raw(a, x))
    close(b(x), Net.forward.raw(b, x))
    assert len(a.forward.concrete_programs) == len(b.forward.concrete_programs) == 1


@jit.to_static
def writes_argument(x, values):
    if x.sum() > 0:
        x[0] = 10.0
        values["y"] = x * 2
    else:
        values["y"] = x
    values["n"].append(x)
    return x.sum()


def test_arguments_are_changed_as_eagerly():
    for start in ([1.0, 2.0], [-1.0, -2.0]):
        x, y = tensor(*start), tensor(*start)
        a, b = {"y": x, "n": []}, {"y": y, "n": []}
        close(writes_argument.original(x, a), writes_argument(y, b))
        close(x, y)
        close(a["y"], b["y"])
        assert len(b["n"]) == 1
        close(a["n"][0], b["n"][0])


@jit.to_static
def fails_late(net, x, n):
    net.total.add_(x)
    net.last = x * 2
    return x[n]


def test_a_failed_call_changes_nothing():
    net = Counter()
    fails_late(net, tensor(1.0), Tensor(0))
    before, last = net.total.numpy(), net.last
    with pytest.raises(IndexError):
        fails_late(net, tensor(1.0), Tensor(5))
    np.testing.assert_array_equal(net.total.numpy(), before)
    assert net.last is last


def test_a_failed_trace_changes_nothing():
    @jit.to_static
    def bad(net, x):
        net.total.add_(x)
        net.last = x
        net.history.append(x)
        return x.numpy()

    net = Counter()
    with pytest.raises(TypeError):
        bad(net, tensor(1.0))
    assert not net.total.is_symbolic
    assert net.last is None
    assert net.history == []


def test_random_numbers_are_those_of_eager():
    def draw(x, n):
        for _ in range(n):
            x = x + dy2st.rand([2])
        return x

    static = jit.to_static(draw)
    x = tensor(0.0, 0.0, stop_gradient=False)
    dy2st.seed(7)
    expected = [draw(x, 3), draw(x, 2)]
    dy2st.seed(7)
    close(static(x, Tensor(3)), expected[0])
    close(static(x, Tensor(2)), expected[1])


def test_train_and_eval_are_different_traces():
    net = jit.to_static(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2), nn.Dropout(0.5)))
    reference = copy.deepcopy(net)
    x = tensor([1.0, 2.0], [3.0, 5.0])
    for layer in (net, reference):
        dy2st.seed(3)
        layer.train()
    a = net(x)
    dy2st.seed(3)
    jit.enable_to_static(False)
    try:
        b = reference(x)
    finally:
        jit.enable_to_static(True)
    close(a, b)
    for p, q in zip(net.buffers(), reference.buffers(), strict=True):
        close(p, q)
    net.eval()
    net(x)
    assert len(net.forward.concrete_programs) == 2


def test_a_tensor_made_inside_is_new_at_each_call():
    @jit.to_static
    def f(x):
        total = Tensor([0.0])
        for _ in range(3):
            total.add_(x)
        return total

    for _ in range(2):
        np.testing.assert_array_equal(f(tensor(1.0)).numpy(), [3.0])


class Point:
    def __init__(self):
        self.at = tensor(1.0, 1.0)
        self.moves = 0


class Walker(nn.Layer):
    def __init__(self):
        super().__init__()
        self.h, self.n, self.point = tensor(0.0, 0.0), 0, Point()

    def forward(self, x, n):
        for _ in range(n):
            self.h = self.h * 0.5 + x
            self.n += 1
            self.point.moves += 1
        if x.sum() > 0:
            self.point.at = x + self.point.at
        self.point.last = x * 2
        return self.h + self.n


def test_attributes_assigned_in_a_loop_and_of_objects_in_a_layer():
    eager, static = Walker(), jit.to_static(Walker())
    for values, n in [((1.0, 2.0), 2), ((-1.0, -2.0), 1), ((3.0, 1.0), 0), ((3.0, 1.0), 3)]:
        close(eager(tensor(*values), n), static(tensor(*values), Tensor(n)))
        close(eager.h, static.h)
        close(eager.point.at, static.point.at)
        close(eager.point.last, static.point.last)
        assert (eager.n, eager.point.moves) == (static.n, static.point.moves)


@dataclasses.dataclass
class Pair:
    h: Tensor
    n: int = 0


def test_dataclass_arguments_are_changed_as_eagerly():
    def step(states, n):
        for _ in range(n):
            states[0].h = states[0].h * 2
            states[0].n += 1
        return states[0].h + 1

    static = jit.to_static(step)
    for n in [2, 0]:
        a, b = [Pair(tensor(1.0), 3)], [Pair(tensor(1.0), 3)]
        close(step(a, n), static(b, Tensor(n)))
        close(a[0].h, b[0].h)
        assert a[0].n == b[0].n


COUNT = 0


def test_variables_outside_are_changed_as_eagerly(monkeypatch):
    def make():
        calls, last = 0, None

        def f(x, n):
            nonlocal calls, last
            global COUNT
            for _ in range(n):
                if x.sum() > 0:
                    calls += 1
            last = x * 2
            COUNT = COUNT + 1
            return x * calls * COUNT

        return f, lambda: (calls, last)

    def run(f, values):
        monkeypatch.setitem(globals(), "COUNT", 0)
        return [f(tensor(v), Tensor(n)) for v, n in values], COUNT

    (eager, seen), (function, seen_static) = make(), make()
    calls = [(1.0, 2), (-1.0, 1), (2.0, 0), (2.0, 3)]
    (expected, count), (found, count_static) = run(eager, calls), run(jit.to_static(function), calls)
    for a, b in zip(expected, found, strict=True):
        close(a, b)
    assert (count_static, seen_static()[0]) == (count, seen()[0])
    close(seen()[1], seen_static()[1])


class Config:
    def __init__(self, gain):
        self.gain = gain


class Reader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.config, self.options = Config(1.0), {"bias": 0.0}
        self.kinds, self.table = {1, 2}, np.array([1.0, 2.0], np.float32)

    def forward(self, x):
        return x * self.config.gain * len(self.kinds) + self.options["bias"] + dy2st.to_tensor(self.table)


def test_what_was_read_of_objects_and_containers_does_not_go_stale():
    eager, static = Reader(), jit.to_static(Reader())
    changes = [
        lambda m: None,
        lambda m: setattr(m.config, "gain", 3.0),
        lambda m: setattr(m, "config", Config(5.0)),
        lambda m: setattr(m, "options", {"bias": 7.0}),
        lambda m: m.kinds.add(9),
        lambda m: m.table.__setitem__(0, 50.0),
    ]
    for change in changes:
        change(eager), change(static)
        close(eager(tensor(1.0, 2.0)), static(tensor(1.0, 2.0)))
    close(eager(tensor(2.0, 2.0)), static(tensor(2.0, 2.0)))
    assert len(static.forward.concrete_programs) == len(changes)


class Window(nn.Layer):
    """Puts a new list into an attribute, and lets a method fill it under a condition."""

    def __init__(self):
        super().__init__()
        self.items, self.pair = [tensor(1.0), tensor(2.0), tensor(3.0)], None

    def push(self, v):
        self.items.append(v)
        self.pair[1].append(v)

    def forward(self, x, n):
        self.items = self.items[2:]
        self.pair = ([], [])
        if n > 0:
            self.push(x)
        return x * len(self.items)


def test_a_method_changes_a_list_that_is_new_in_an_attribute():
    eager, static = Window(), jit.to_static(Window())
    for n in (1, 0, 0, 1, 1):
        results = [layer(tensor(2.0), Tensor(n)) for layer in (eager, static)]
        close(*results)
        assert len(static.items) == len(eager.items)
        assert len(static.pair[1]) == len(eager.pair[1])


class Scales(nn.Layer):
    """Keeps parameters themselves, and under a condition one of them."""

    def __init__(self):
        super().__init__()
        self.a, self.b = self.create_parameter([2]), self.create_parameter([2])
        self.kept, self.best = [], None
        self.register_buffer("total", tensor(0.0))

    def forward(self, x, n, how):
        if n > 0:
            self.total = self.total + x
        if how == "always":
            self.kept.append(self.a)
        elif how == "copy":
            if n > 0:
                self.kept.append(self.a.clone())
        elif how == "list":
            if n > 0:
                self.kept.append(self.a)
        elif how == "buffer":
            if n > 0:
                self.kept.append(self.total)
        else:
            self.best = self.a if n > 0 else self.b
        return x * 1


def test_a_parameter_that_is_kept_stays_itself():
    # a copy in its place would stay behind as an optimizer steps
    static = jit.to_static(Scales())
    static(tensor(1.0), Tensor(1), "always")
    assert static.kept[0] is static.a
    static.kept = []
    static(tensor(1.0), Tensor(1), "copy")
    close(static.kept[0], static.a)
    for how, what in (("list", "a list"), ("buffer", "a list"), ("attribute", "attribute 'best'")):
        with pytest.raises(StructureError, match=f"{what} is, or holds, a parameter or buffer itself"):
            static(tensor(1.0), Tensor(1), how)
    assert len(static.kept) == 1


@dataclasses.dataclass
class Sides:
    left: Tensor
    right: list


class Holder(nn.Layer):
    """Gives its attributes other containers on one path, and changes those that it has on the other."""

    def __init__(self):
        super().__init__()
        self.items, self.table, self.pair = [tensor(5.0)], {"a": tensor(1.0), "b": [tensor(2.0)]}, Sides(tensor(3.0), [tensor(4.0)])

    def replace(self, x):
        self.items[0] = x * 6
        self.pair.right[0] = x * 8

    def forward(self, x, n):
        if n == 1:
            self.items = self.items[0:]
            self.table = {"a": x, "b": [x * 3]}
            self.pair = Sides(x, self.pair.right)
        else:
            self.items.pop()
            self.items.append(x)
            self.table["b"][0] = x * 7
            self.pair.left = x * 5
            self.replace(x)

    def state(self):
        return [*self.items, self.table["a"], *self.table["b"], self.pair.left, *self.pair.right]


def test_containers_are_replaced_on_one_path_and_changed_on_the_other():
    eager, static = Holder(), jit.to_static(Holder())
    for i, n in enumerate((3, 1, 0, 1, 2)):
        for layer in (eager, static):
            layer(tensor(i + 1.0), Tensor(n))
        assert len(eager.state()) == len(static.state())
        for wanted, found in zip(eager.state(), static.state(), strict=True):
            close(wanted, found)
