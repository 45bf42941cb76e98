"""Special methods and properties are converted where a trace runs, and nowhere else."""

import threading

import numpy as np
import pytest
from dy2st_runtime import config

from dy2st import jit
from dy2st.errors import StagedValueError, StructureError
from dy2st.tensor import Tensor


class Switch:
    def __init__(self, value):
        self.value = value

    @property
    def sign(self):
        if self.value.sum() > 0:
            return 1.0
        return -1.0

    def __len__(self):
        return 3 if self.value.sum() > 0 else 2


# as code of a library, into which no trace looks
WAITING: dict = {"__name__": "numpy", "inside": threading.Event(), "done": threading.Event()}
exec("def wait():\n    inside.set()\n    assert done.wait(30)\n", WAITING)


class Traced(Switch):
    """Waits inside a trace."""

    inside, done = WAITING["inside"], WAITING["done"]
    wait = staticmethod(WAITING["wait"])

    def __len__(self):
        self.wait()
        return super().__len__()


@pytest.fixture(autouse=True)
def interpreted():
    with config.NO_JIT.override(True):
        yield


def tensor(*values):
    return Tensor(np.array(values, np.float32))


def both(x):
    it = Switch(x)
    return x * len(it) * it.sign


def test_classes_are_as_before_after_a_trace():
    before = dict(vars(Switch))
    static = jit.to_static(both)
    np.testing.assert_allclose(static(tensor(1.0, 2.0)).numpy(), [3.0, 6.0])
    np.testing.assert_allclose(static(tensor(-1.0, -2.0)).numpy(), [2.0, 4.0])
    assert dict(vars(Switch)) == before
    assert len(static.concrete_programs) == 1


def test_classes_are_as_before_after_an_error():
    before = dict(vars(Switch))

    def fails(x):
        it = Switch(x)
        return it if it.sign > 0 else x

    with pytest.raises(StructureError):
        jit.to_static(fails)(tensor(1.0))
    assert dict(vars(Switch)) == before


def test_other_threads_run_what_the_user_wrote():
    """Also two traces at a time that meet one class: the one that ends first does not take the methods of the other away."""
    before = dict(vars(Switch))

    def waits(x):
        it = Traced(x)
        n = len(it)
        return x * n * it.sign

    found = []
    thread = threading.Thread(target=lambda: found.append(jit.to_static(waits)(tensor(1.0))))
    thread.start()
    assert Traced.inside.wait(30)
    np.testing.assert_allclose(jit.to_static(both)(tensor(-1.0)).numpy(), [2.0])
    assert Switch(tensor(-1.0)).sign == -1.0
    assert len(Switch(tensor(-1.0))) == 2
    Traced.done.set()
    thread.join()
    np.testing.assert_allclose(found[0].numpy(), [3.0])
    assert dict(vars(Switch)) == before


def test_a_changed_special_method_is_seen(monkeypatch):
    static = jit.to_static(both)
    np.testing.assert_allclose(static(tensor(1.0)).numpy(), [3.0])
    monkeypatch.setattr(Switch, "__len__", lambda self: 7)
    np.testing.assert_allclose(static(tensor(1.0)).numpy(), [7.0])
    monkeypatch.setattr(Switch, "sign", 2.0)
    np.testing.assert_allclose(static(tensor(1.0)).numpy(), [14.0])


def test_length_and_truth_are_checked_as_in_python():
    class Wrong:
        def __len__(self):
            return -1

    with pytest.raises(ValueError, match="should return >= 0"):
        len(Wrong())
    with pytest.raises(ValueError, match="should return >= 0"):
        jit.to_static(lambda x: x * len(Wrong()))(tensor(1.0))


MADE, TIMES = [], 0


class Registered(type):
    def __call__(cls, *args):
        global TIMES
        TIMES += 1
        new = super().__call__(*args)
        MADE.append(new.v)
        return new

    def __getitem__(cls, i):
        return MADE[i]


class Registering(metaclass=Registered):
    def __init__(self, v):
        self.v = v


def test_methods_of_a_metaclass():
    """What they change is changed by each call, on the path that it takes."""

    def function(x):
        if x.sum() > 0:
            return Registering(x).v * 2 + Registering[0]
        return x

    static = jit.to_static(function)
    for sign, times in ((1, 1), (-1, 1), (1, 2)):
        result = static(Tensor([1.0]) * sign).item()
        assert (result, TIMES, [v.item() for v in MADE]) == (3.0 if sign > 0 else -1.0, times, [1.0] * times)


class Bare:
    """A class that gets its special methods between calls."""


class Other:
    def __len__(self):
        return 3


COMES = {
    "__bool__": (lambda x, it: x if it else x * 3, lambda self: False),
    "__len__": (lambda x, it: x if it else x * 3, lambda self: 0),
    "__eq__": (lambda x, it: x if it == 1 else x * 3, lambda self, other: True),
    "__call__": (lambda x, it: it(x) if callable(it) else x, lambda self, x: x * 7),
    "__getattr__": (lambda x, it: x * getattr(it, "factor", 1.0), lambda self, name: 9.0),
    "__getattribute__": (lambda x, it: x * getattr(it, "factor", 1.0), lambda self, name: 5.0),
}


@pytest.mark.parametrize("name", COMES)
@pytest.mark.parametrize("where", ["argument", "closure", "attribute"])
def test_a_special_method_that_comes_between_calls(name, where, monkeypatch):
    use, method = COMES[name]
    it, box = Bare(), Other()
    box.it = it
    functions = {"argument": lambda x, it: use(x, it), "closure": lambda x, _: use(x, it), "attribute": lambda x, _: use(x, box.it)}
    f, x = functions[where], tensor(1.0, 2.0)
    static = jit.to_static(f)
    before = static(x, it).numpy()
    np.testing.assert_array_equal(before, f(x, it).numpy())
    monkeypatch.setattr(Bare, name, method, raising=False)
    found = static(x, it).numpy()
    np.testing.assert_array_equal(found, f(x, it).numpy())
    assert not np.array_equal(before, found)


@pytest.mark.parametrize("where", ["argument", "closure", "attribute", "item", "self"])
def test_an_object_that_gets_another_class_between_calls(where):
    class One:
        def act(self, x):
            return x + 1

        def twice(self, x):
            return self.act(self.act(x))

    class Two(One):
        def act(self, x):
            return x * 5

    it, box, items = One(), Other(), []
    box.it = it
    items.append(it)
    functions = {"argument": lambda x, it: it.act(x), "closure": lambda x, _: it.act(x), "attribute": lambda x, _: box.it.act(x),
                 "item": lambda x, _: items[0].act(x), "self": lambda x, it: it.twice(x)}  # fmt: skip
    f, x = functions[where], tensor(1.0, 2.0)
    static = jit.to_static(f)
    for cls in (One, Two, One):
        it.__class__ = cls
        np.testing.assert_array_equal(static(x, it).numpy(), f(x, it).numpy())
    assert len(static.concrete_programs) <= 3


@pytest.mark.parametrize("where", ["argument", "closure", "attribute", "item"])
def test_an_object_that_gets_other_attributes_as_a_whole(where):
    class One:
        def __init__(self, k):
            self.k = k

    it, box, items = One(2.0), Other(), []
    box.it = it
    items.append(it)
    functions = {"argument": lambda x, it: x * it.k, "closure": lambda x, _: x * it.k, "attribute": lambda x, _: x * box.it.k,
                 "item": lambda x, _: x * items[0].k}  # fmt: skip
    f, x = functions[where], tensor(1.0, 2.0)
    static = jit.to_static(f)
    first = vars(it)
    for attributes in (first, {"k": 5.0}, first):
        it.__dict__ = attributes
        np.testing.assert_array_equal(static(x, it).numpy(), f(x, it).numpy())
        it.k += 1
        np.testing.assert_array_equal(static(x, it).numpy(), f(x, it).numpy())


@pytest.mark.parametrize("signs", [1.0, -1.0])
def test_methods_that_a_path_replaces(signs):
    """What stands in the class then is one of several functions, properties, class methods: Python binds it to the object."""

    def make():
        class Counted:
            def f(self):
                return 1

            @property
            def q(self):
                return 1

            @classmethod
            def c(cls):
                return 1

        def function(x):
            if x.sum() > 0:
                Counted.f = lambda self: 2
                Counted.q = property(lambda self: 3)
                Counted.c = classmethod(lambda cls: 4)
            a = Counted()
            return x * a.f() + a.q, x * Counted.c(), a.f.__self__ is a

        return function

    x = tensor(1.0 * signs, 2.0 * signs)
    for found, wanted in zip(jit.to_static(make())(x), make()(x), strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))


@pytest.mark.parametrize("signs", [1.0, -1.0])
def test_an_exception_that_holds_one_of_several_objects(signs):
    class Bad(Exception):
        def __init__(self, mode):
            super().__init__("bad")
            self.mode, self.pair = mode, (1, mode)

    def function(x):
        mode = "low" if x[0] < 0 else None
        if x.sum() < 10:
            raise Bad(mode)
        return x

    found = []
    for f in (function, jit.to_static(function)):
        with pytest.raises(Bad) as caught:
            f(tensor(1.0 * signs, 2.0))
        found.append((caught.value.mode, caught.value.pair))
    assert found[0] == found[1]
    assert found[1][0] is found[0][0]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit])
def test_an_interrupt_that_only_some_runs_raise(kind):
    def function(x):
        try:
            if x.sum() > 0:
                raise kind
        except BaseException:
            return x * 3
        return x

    with pytest.raises(StagedValueError, match=f"{kind.__name__} is raised under a condition on tensors"):
        jit.to_static(function)(tensor(-1.0))


def test_an_index_that_an_object_computes():
    class Place:
        k = 2.0

        def __index__(self):
            return int(self.k)

    it = Place()

    def function(x):
        for j in range(it):
            x = x + j
        return x * [10, 20, 30, 40][it] + (1, 2, 3, 4)[it]

    static = jit.to_static(function)
    for k in (2.0, 3.0, 1.0):
        it.k = k
        np.testing.assert_array_equal(static(tensor(1.0)).numpy(), function(tensor(1.0)).numpy())
