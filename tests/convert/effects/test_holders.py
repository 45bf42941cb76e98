"""Lists and dicts of the outside, and of the caller, that are held by what is no container: closures, named tuples, classes."""

import collections

import numpy as np
import pytest
from corpus.holders import recorder

from dy2st import jit
from dy2st.nn import Linear
from dy2st.tensor import Tensor

State = collections.namedtuple("State", "items scale")
LOG, BY_KEY, HOOKED = [], {}, []


ADD, GET = recorder()


def logged(log, by_key):
    def around(f):
        def wrapped(*args):
            log.append(f.__name__)
            by_key[f.__name__] = 1
            return f(*args)

        return wrapped

    return around


@logged(LOG, BY_KEY)
def doubled(v):
    return v * 2


class Registry:
    names = {}


def of_a_closure(x):
    if x[0] > 0:
        ADD(1)
    return len(GET())


def of_a_decorator(x):
    if x[0] > 0:
        x = doubled(x)
    for v in x:
        if v > 2:
            doubled(v)
    return len(LOG) + ("doubled" in BY_KEY)


def of_a_hook(x):
    y = LAYER(x)
    if x[0] > 0:
        y = LAYER(y)
    return len(HOOKED)


def of_a_class(x):
    if x[0] > 0:
        Registry.names["k"] = 1
    return 1 if "k" in Registry().names else 0


def noted_in(store):
    def hook(layer, inputs, output):
        store.append(output.mean())

    return hook


LAYER = Linear(2, 2)
LAYER.register_forward_post_hook(noted_in(HOOKED))


def emptied():
    for held in (GET(), LOG, BY_KEY, HOOKED, Registry.names):
        held.clear()


@pytest.mark.parametrize("function", [of_a_closure, of_a_decorator, of_a_hook, of_a_class], ids=lambda f: f.__name__)
def test_what_is_read_under_another_name_is_what_it_has_become(function):
    static = jit.to_static(function)
    for values in ([3.0, 1.0], [-3.0, 1.0], [3.0, 1.0]):
        found = []
        for run in (function, static):
            emptied()
            found.append((int(run(Tensor(values))), len(GET()), list(LOG), dict(BY_KEY), len(HOOKED), dict(Registry.names)))
        assert found[0] == found[1]
    emptied()


def into_a_named_tuple(x, s):
    if x[0] > 0:
        s.items.append(x[1])
    return len(s.items)


def test_a_named_tuple_of_the_caller():
    static = jit.to_static(into_a_named_tuple)
    for values in ([3.0, 1.0], [-3.0, 1.0]):
        found = []
        for run in (into_a_named_tuple, static):
            given = State([Tensor(4.0)], 1)
            items = given.items
            count = int(run(Tensor(values), given))
            assert given.items is items
            found.append((count, [np.asarray(v.numpy()).item() for v in items]))
        assert found[0] == found[1]


class Kept:
    """Its methods are those of a dict that a closure holds."""

    def __init__(self):
        self.items = {"k": 0}
        self.forget, self.keep = self.items.clear, self.items.__setitem__


def test_bound_methods_of_the_outside_stay_the_objects_that_they_are():
    KEPT.__init__()
    static = jit.to_static(of_bound_methods)
    before = KEPT.forget
    for values in ([3.0, 1.0], [-3.0, 1.0], [3.0, 1.0]):
        KEPT.items.clear()
        expected = 2 if values[0] > 0 else 0
        assert int(static(Tensor(values))) == expected
        assert KEPT.forget is before
        assert len(KEPT.items) == expected
    assert len(static.concrete_programs) == 1, static.explain()


KEPT = Kept()


def of_bound_methods(x):
    if x[0] > 0:
        KEPT.keep("a", 1)
        KEPT.items["b"] = 2
    return ("a" in KEPT.items) + ("b" in KEPT.items)
