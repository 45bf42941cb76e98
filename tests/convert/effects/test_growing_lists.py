"""Lists of the caller, a layer or the module that grow in staged loops: they change as eagerly, and stay the same objects."""

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st
from dy2st import jit, nn
from dy2st.errors import ShapeError, StagedValueError
from dy2st.tensor import Tensor
from dy2st.tensor.manipulation import stack

LOG = []


def vector(*values):
    return Tensor(np.array(values, np.float32), stop_gradient=False)


def shown(value):
    if isinstance(value, Tensor):
        return np.round(value.numpy(), 4).tolist()
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    return {k: shown(v) for k, v in value.items()} if isinstance(value, dict) else value


class Keeper(nn.Layer):
    def __init__(self):
        super().__init__()
        self.items, self.by_name = [], {"a": [], "n": 0}
        self.linear = nn.Linear(2, 2)

    def push(self, value):
        self.items.append(value)

    def forward(self, x, n):
        for i in range(n):
            self.push(x * i)
            self.by_name["a"].append(self.linear(x))
        if x.sum() > 0:
            self.push(x)
        return x


class Reader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.items = []

    def forward(self, x, n):
        for i in range(n):
            self.items.append(x * i)
        self.items.append(x * 100)
        return stack(self.items).sum(0)


@pytest.mark.parametrize(("kind", "traces"), [(Keeper, 1), (Reader, 4)])
def test_lists_of_a_layer(kind, traces):
    dy2st.seed(0)
    eager = kind()
    dy2st.seed(0)
    layer = kind()
    static = jit.to_static(layer)
    kept = layer.items
    for n in (2, 0, 3, 1):
        first = kept[0] if kept else None
        expected, found = eager(vector(1, 2), Tensor(n)), static(vector(1, 2), Tensor(n))
        assert shown(found) == shown(expected)
        assert shown(layer.items) == shown(eager.items)
        assert layer.items is kept
        assert first is None or kept[0] is first
    if kind is Keeper:
        assert shown(layer.by_name) == shown(eager.by_name)
        sum(layer.by_name["a"][:2]).sum().backward()
        assert layer.linear.weight.grad.shape == [2, 2]
    assert len(static.forward.concrete_programs) == traces  # what only appends does not look at what there is


def append(xs, x, n):
    for i in range(n):
        xs.append(x * i)
    return len(xs)


def append_in_dict(xs, x, n):
    d = {"xs": xs}
    for i in range(n):
        d["xs"].append(x * i)
    return stack(d["xs"])


def pop(xs, x, n):
    s = x
    for _ in range(n):
        s = s + xs.pop() * x
    return s


def shift(xs, x, n):
    for i in range(n):
        xs.append(xs.pop(0) * i)
    return xs[-1]


@pytest.mark.parametrize("function", [append, append_in_dict, pop, shift])
def test_lists_of_the_caller(function):
    static = jit.to_static(function)
    for n in (2, 0, 3, 1):
        results = []
        for f in (function, static):
            x = vector(1.5, -2)
            xs = [x, x * 2, x * 3, x * 4]
            first, same = xs[0], xs
            result = f(xs, x, Tensor(n))
            assert same is xs
            if function is append:
                assert xs[0] is first
            total = sum(xs, vector(0, 0)).sum() + (result.sum() if isinstance(result, Tensor) else 0)
            total.backward()
            results.append((shown(result), shown(xs), shown(x.grad)))
        assert results[0] == results[1]
    assert len(static.concrete_programs) == 1


def log(x, n):
    for i in range(n):
        LOG.append(x * i)
    return x


def test_lists_outside():
    kept = []

    def keep(x, n):
        for i in range(n):
            if i > 0:
                kept.append(x * i)
        return x

    items = LOG
    jit.to_static(log)(vector(1, 2), Tensor(2))
    jit.to_static(keep)(vector(1, 2), Tensor(3))
    assert LOG is items
    assert shown(LOG) == [[0, 0], [1, 2]]
    assert shown(kept) == [[1, 2], [2, 4]]
    LOG.clear()


def test_a_failed_trace_leaves_the_lists():
    kept, mark = [], vector(7)
    kept.append(mark)
    layer = Keeper()

    def keep(x, n):
        for i in range(n):
            kept.append(x[:1] * i)
            layer.items.append(x)
        return x.numpy()

    items = layer.items
    with pytest.raises(dy2st.errors.StagedValueError, match="numpy"):
        jit.to_static(keep)(vector(1, 2), Tensor(3))
    assert len(kept) == 1
    assert kept[0] is mark
    assert layer.items is items
    assert items == []


class Logger:
    log = []

    def push(self, x, n):
        for i in range(n):
            self.log.append(x * i)
        return x


def test_lists_of_classes():
    items, logger = Logger.log, Logger()

    def by_class(x, n):
        for _ in range(n):
            Logger.log.append(x)
        return x

    def by_object(x, n):
        return logger.push(x, n)

    for function in (by_class, by_object):
        static = jit.to_static(function)
        static(vector(1, 2), Tensor(2))
        static(vector(1, 2), Tensor(1))
        assert len(static.concrete_programs) == 1
    assert Logger.log is items
    assert vars(logger) == {}
    assert shown(items) == [[1, 2], [1, 2], [1, 2], [0, 0], [1, 2], [0, 0]]
    items.clear()


def sorted_rows(x):
    return stack(sorted(x))


def test_entries_that_are_equal_up_to_a_part_without_an_order():
    @jit.to_static
    def f(x):
        return sorted([(x[0], [3]), (x[1], [1]), (x[2], [2])])

    assert shown(f(vector(3, 1, 2))) == [[1, [1]], [2, [2]], [3, [3]]]
    with pytest.raises(StagedValueError, match="a sort finds two entries that are equal up to a part whose order is not") as caught:
        f(vector(2, 1, 2))
    assert caught.value.location.text.strip() == "return sorted([(x[0], [3]), (x[1], [1]), (x[2], [2])])"


def test_a_list_with_nan_has_no_order():
    static = jit.to_static(sorted_rows)
    np.testing.assert_array_equal(static(Tensor([2.0, 1.0, 3.0])).numpy(), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="NaN"):
        static(Tensor([2.0, np.nan, 3.0]))


def grown_while_it_is_iterated(x):
    todo, count = list(x), 0
    for v in todo:
        count += 1
        if v > 0 and count < 5:
            todo.append(v - 1)
    return todo, count


def shortened_while_it_is_iterated(x):
    found, count = list(x), 0
    for i, v in enumerate(found):
        count += i
        if v > 1:
            found.pop()
    return found, count


@pytest.mark.parametrize("function", [grown_while_it_is_iterated, shortened_while_it_is_iterated])
def test_a_loop_sees_what_becomes_of_its_list(function):
    static = jit.to_static(function)
    for values in ([1.0, 2.0, 3.0], [-1.0, 0.5], [2.0, 3.0, 4.0, 0.5]):
        x = Tensor(np.float32(values))
        wanted, found = function(x), static(x)
        assert [t.tolist() for t in found[0]] == [t.tolist() for t in wanted[0]]
        assert int(found[1]) == wanted[1]
    assert len(static.concrete_programs) == 1


def grown_of(kind):
    def function(x, n):
        found = []
        for i in range(n):
            found.append({"tensors": x * i, "numbers": i}[kind])
        return found, found, list(found), {"a": found}

    return function


@pytest.mark.parametrize("kind", ["tensors", "numbers"])
def test_results_that_are_one_list_are_one_and_copies_are_not(kind):
    one, same, copy, held = jit.to_static(grown_of(kind))(Tensor([1.0, 2.0]), Tensor(np.array(3)))
    assert one is same
    assert one is held["a"]
    assert copy is not one
    assert len(copy) == len(one) == 3


def entries_that_grow(x, n):
    rows = [x, x * 2]
    for i in range(n):
        rows[i] = dy2st.concat([x, rows[i]])
    return rows


@pytest.mark.parametrize("interpreted", [True, False])
def test_no_gradient_of_entries_replaced_by_larger_ones(interpreted):
    x, n = vector(1.0, 2.0), Tensor(2)
    with config.NO_JIT.override(interpreted):
        first, second = jit.to_static(entries_that_grow)(x, n)
        assert first.tolist() == [1.0, 2.0, 1.0, 2.0]
        with pytest.raises(ShapeError, match="sum of shapes"):
            (first.sum() + second.sum()).backward()
