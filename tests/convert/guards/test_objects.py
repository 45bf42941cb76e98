"""State and tensors in objects outside of a function: read where they stand, changed at each call, told apart by identity."""

import collections
import functools
import gc
import warnings
import weakref

import numpy as np
import pytest
from guarding import Box, Slots, check, putting, tensor

from dy2st import jit, nn
from dy2st.errors import StagedValueError
from dy2st.tensor.creation import arange, full, ones


def test_tensors_that_become_something_else():
    it = Box(w=tensor(1.0, 2.0), v=tensor(1.0, 2.0))

    def f(x):
        x = x if it.w is None else x * it.w
        return x * it.v.shape[0], it.v

    static = jit.to_static(f)
    check(
        lambda x: static(x)[0],
        lambda x: f(x)[0],
        putting(it, w=None),
        putting(it, w=tensor(3.0, 3.0)),
        putting(it, v=tensor(1.0)),
    )
    assert static(tensor(1.0, 2.0))[1] is it.v


def test_a_buffer_that_was_replaced_is_the_one_that_changes():
    class Summing(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", tensor(0.0))

        def forward(self, x):
            self.total.add_(x.sum().reshape([1]))
            return self.total * 1

    net = jit.to_static(Summing())
    net(tensor(1.0))
    net.total = tensor(100.0)
    assert net(tensor(1.0)).numpy() == [101.0]
    assert net.total.numpy() == [101.0]


def test_tied_tensors_that_are_parted():
    it = Box(a=tensor(1.0, 2.0))
    it.b = it.a

    def f(x):
        return x * it.a + it.b

    check(jit.to_static(f), f, putting(it, b=tensor(5.0, 5.0)), putting(it, a=tensor(7.0, 7.0)), traces=2)


def test_what_a_function_changes_in_objects_outside_is_changed_at_each_call():
    def make():
        class Counted:
            total = 0

        cfg, slots, log = Box(n=0, last=None, opt=Box(n=5.0)), Slots(1), {"n": 0}

        def bump(it):
            it.n += 1

        def f(x):
            bump(cfg)
            cfg.opt.n = cfg.opt.n * 0.5
            cfg.last = x * cfg.n
            slots.k += 1
            Counted.total += 2
            log["n"] += 1
            if x.sum() > 0:
                cfg.flag = cfg.n
            return x * cfg.n * cfg.opt.n + slots.k + Counted.total + log["n"]

        return f, lambda: (cfg.n, cfg.opt.n, slots.k, Counted.total, log["n"], int(cfg.flag)), cfg

    (eager, seen, _), (function, found, cfg) = make(), make()
    static = jit.to_static(function)
    for i in range(5):
        x = tensor(1.0, float(i))
        np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-5)
        assert found() == seen()
        np.testing.assert_allclose(cfg.last.numpy(), x.numpy() * (i + 1))
    assert len(static.concrete_programs) <= 3


def test_state_in_tuples_lists_and_objects_that_are_replaced():
    class Cell(nn.Layer):
        def __init__(self):
            super().__init__()
            self.pair, self.items, self.count = (tensor(1.0, 1.0), 2.0), [tensor(1.0, 1.0)], Box(n=0)

        def forward(self, x):
            h, k = self.pair
            self.pair = (h * 0.5 + x, k)
            self.items = [self.items[0] + x]
            self.count = Box(n=self.count.n + 1)
            return h * k + self.items[0] * self.count.n

    eager, static = Cell(), jit.to_static(Cell())
    for _ in range(4):
        x = tensor(1.0, 2.0)
        np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-5)
    eager.count = static.count = Box(n=10)
    np.testing.assert_allclose(static(x).numpy(), eager(x).numpy(), rtol=1e-5)


@pytest.mark.parametrize("many", [False, True])
def test_lists_that_grow_at_each_call(many):
    class Log(nn.Layer):
        def __init__(self):
            super().__init__()
            self.written, self.counted = list(range(100 * many)), list(range(100 * many))

        def forward(self, x):
            self.written.append(1)
            self.counted.append(2)
            return x * len(self.counted)

    def only_written(x):
        log.written.append(x if not many else 3)
        return x * 2

    eager, static, log = Log(), jit.to_static(Log()), Log()
    for _ in range(3):
        np.testing.assert_allclose(static(tensor(1.0)).numpy(), eager(tensor(1.0)).numpy())
    assert static.counted == eager.counted
    assert static.written == eager.written
    function = jit.to_static(only_written)
    for _ in range(4):
        function(tensor(1.0))
    assert len(log.written) == 100 * many + 4
    assert len(function.concrete_programs) == 1


@pytest.mark.parametrize("place", [0, -1])
def test_a_list_under_an_index_that_grows_and_is_looked_at(place):
    """That the function itself appends to a list is no reason to trace again, unless it looks at what is in it."""

    def grown(items, value):
        for old in items:
            if old > value:
                break
        else:
            items.append(value)

    found = []
    for static in (False, True):
        rows = [[]]

        def first(x):
            grown(rows[0], x.sum())  # noqa: B023

        def last(x):
            grown(rows[-1], x.sum())  # noqa: B023

        f = last if place else first
        call = jit.to_static(f) if static else f
        for k in (3.0, 1.0, 5.0, 2.0, 7.0):
            call(tensor(k))
        found.append([t.numpy().item() for t in rows[0]])
    assert found[0] == found[1] == [3.0, 5.0, 7.0]


def test_large_containers():
    vocabulary, rows = {str(i): i for i in range(1000)}, [Box(k=float(i)) for i in range(1000)]
    key = ["7"]

    def f(x):
        return x * vocabulary[key[0]] + rows[9].k

    changes = [lambda: vocabulary.update({"7": 8}), putting(rows[9], k=1.0), lambda: rows.__setitem__(9, Box(k=2.0)),
               lambda: vocabulary.update({"7": 8.0})]  # fmt: skip
    check(jit.to_static(f), f, *changes, traces=5)


@functools.lru_cache
def cached_box():
    return Box(k=2.0)


def test_an_object_that_only_a_cache_knows():
    def f(x):
        return x * cached_box().k

    check(jit.to_static(f), f, putting(cached_box(), k=5.0), traces=2)


def test_what_a_cache_holds_after_a_trace_is_what_eager_calls_put_there():
    @functools.lru_cache
    def positions(n):
        return arange(n).astype("float32") if n > 1 else ones([n])

    class Scaled(nn.Layer):
        @functools.lru_cache  # noqa: B019
        def scale(self, n):
            return full([n], 3.0)

        def forward(self, x):
            if x.sum() > 0:
                return x * positions(2) * self.scale(2)
            return x + positions(2)[0] + positions(x.shape[0])

    layer = Scaled()
    static = jit.to_static(Scaled.forward.__get__(layer))
    for values in ([1.0, 2.0], [-1.0, 0.5], [3.0, 2.0]):
        np.testing.assert_allclose(static(tensor(*values)).numpy(), layer.forward(tensor(*values)).numpy())
    assert positions.cache_info().currsize == 1
    assert positions(2).numpy().tolist() == [0.0, 1.0]


def test_a_cached_function_that_changes_what_the_function_sees():
    notes = []

    @functools.cache
    def noted(n):
        notes.append(n)
        return n

    def f(x):
        return x * noted(3) + len(notes)

    for _ in range(2):
        with pytest.raises(StagedValueError, match="has a cache, changes a list"):
            jit.to_static(f)(tensor(1.0))


def test_sizes_of_a_tensor_that_is_replaced():
    it = Box(w=tensor(1.0))

    def f(x):
        return x * it.w.sum() * it.w.shape[0]

    check(jit.to_static(f), f, *(putting(it, w=tensor(*range(n))) for n in range(2, 6)), traces=2)


def test_state_in_a_tuple_needs_no_new_trace():
    class Cell(nn.Layer):
        def __init__(self):
            super().__init__()
            self.state = (tensor(1.0, 1.0), collections.OrderedDict(h=tensor(0.0, 0.0)))

        def forward(self, x):
            h, more = self.state
            self.state = (h * 0.5 + x, collections.OrderedDict(h=more["h"] + h))
            return self.state[1]["h"] * 1

    eager, static = Cell(), jit.to_static(Cell())
    for _ in range(4):
        np.testing.assert_allclose(static(tensor(1.0, 2.0)).numpy(), eager(tensor(1.0, 2.0)).numpy(), rtol=1e-5)
    assert len(static.forward.concrete_programs) == 1


class Equal:
    """All of them are equal."""

    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return isinstance(other, Equal)

    def __hash__(self):
        return 1

    @jit.to_static
    def scaled(self, x):
        return x * self.k


def test_objects_are_told_apart_by_identity():
    def f(x, it):
        return x * it.k

    static = jit.to_static(f)
    for k in (2.0, 5.0):
        assert Equal(k).scaled(tensor(1.0)).numpy() == [k]
        assert static(tensor(1.0), Equal(k)).numpy() == [k]
    a, b = Equal(3.0), Equal(4.0)
    assert [x.scaled(tensor(1.0)).numpy().item() for x in (a, b)] == [3.0, 4.0]


def test_a_new_object_at_the_same_address_is_not_taken_for_the_old_one():
    def f(x, it):
        return x * it.k

    static = jit.to_static(f)
    warnings.filterwarnings("ignore", "test_a_new_object.*traced and compiled anew")
    for k in range(8):
        assert static(tensor(1.0), Box(k=float(k))).numpy() == [k]
        assert Equal(float(k)).scaled(tensor(1.0)).numpy() == [k]
        gc.collect()


def test_traces_of_a_method_do_not_keep_its_object_alive():
    it = Equal(2.0)
    it.scaled(tensor(1.0))
    gone = weakref.ref(it)
    del it
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("place", ["known", "chosen"])
def test_numbers_in_a_list_that_a_function_counts_are_inputs(place):
    def make():
        layer = Box(counts=[0, 0, 5], sizes=[2, 3])

        def f(x):
            if place == "known":
                layer.counts[0] += 1
            else:
                layer.counts[(x.sum() > 0).astype("int64")] += 1
            return x.reshape([layer.sizes[0], 1]) * layer.counts[0] + layer.counts[2]

        return f, layer

    (eager, seen), (function, found) = make(), make()
    static = jit.to_static(function)
    for i in range(7):
        x = tensor(1.0, float(i) - 3.5)
        np.testing.assert_array_equal(static(x).numpy(), eager(x).numpy())
        assert found.counts == seen.counts
        assert [type(c) for c in found.counts] == [int] * 3
    assert len(static.concrete_programs) <= 3
    for layer in (seen, found):  # what somebody else sets meanwhile counts, and stays
        layer.counts[0], layer.counts[2] = 40, 7
    np.testing.assert_array_equal(static(tensor(1.0, 2.0)).numpy(), eager(tensor(1.0, 2.0)).numpy())
    assert found.counts == seen.counts


class Bare:
    pass


# one in a line: Python 3.10 does not know which of several it is
@pytest.mark.parametrize("read", [
    lambda it: sum(vars(it).values()),
    lambda it: it.__dict__.get("b", 0),
    lambda it: len([k for k in dir(it) if k in ("a", "b")]),
    lambda it: getattr(it, "b", 0),
    lambda it: getattr(it, "c", 0),
    lambda it: 1 if hasattr(it, "c") else 2,
])  # fmt: skip
def test_attributes_that_come_later(read):
    class Own(Bare):
        pass

    it = Own()
    it.a = 1

    def f(x):
        return x * read(it)

    static, x = jit.to_static(f), tensor(1.0, 2.0)
    for change in (lambda: None, lambda: setattr(it, "b", 10), lambda: setattr(Own, "c", 7), lambda: delattr(it, "b")):
        change()
        np.testing.assert_array_equal(static(x).numpy(), f(x).numpy())


class Alike:
    """Equal to whatever has such a number; asked of what has none, it fails."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __hash__(self):
        return hash(self.n)

    def __repr__(self):
        raise AssertionError("nobody asks for a text")


def test_no_code_of_keys_and_values_runs_for_what_is_said_of_a_trace():
    weights = {Alike(1): 3.0, Alike(2): 4.0}

    @jit.to_static
    def f(x, it):
        return x * weights[it]

    assert float(f(tensor(1.0), Alike(1))) == 3
    assert float(f(tensor(1.0), Alike(2))) == 4
