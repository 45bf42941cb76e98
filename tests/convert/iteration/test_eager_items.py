# ruff: noqa: C417 (it is about map)
"""Items that have to be made before a loop, as only then is known how many there are: refused where that shows."""

import collections

import pytest

from dy2st import jit, nn
from dy2st.convert.pyfacts.iterable_sources import variables_of, with_code
from dy2st.errors import StagedValueError, StructureError
from dy2st.tensor import Tensor

RATES = {"a": 1.0, "b": 2.0}


class Turns:
    factor = 1.0

    def scaled(self, v):
        return v * self.factor


def changed_by_the_loop(x):
    factor, y = 1.0, x * 0
    for w, row in zip((v * factor for v in x if v > 0), x, strict=False):
        y = y + w * row
        factor = factor + 1
    return y


def changed_behind_a_function(x):
    factor, y = 1.0, x * 0

    def scaled(v):
        return v * factor

    for w, row in zip((scaled(v) for v in x if v > 0), x, strict=False):
        y = y + w * row
        factor = factor + 1
    return y


def changed_in_an_object(x):
    turns, y = Turns(), x * 0
    for w, row in zip((turns.scaled(v) for v in x if v > 0), x, strict=False):
        y = y + w * row
        turns.factor = turns.factor + 1
    return y


def changed_under_a_map_over_texts(x):
    y = x * 0
    for w, row in zip(map(lambda key: RATES[key] * 2, ["a", "b"]), x, strict=False):
        y = y + w * row
        RATES["b"] = 7.0
    return y


@pytest.mark.parametrize(("function", "what"), [
    (changed_by_the_loop, "factor"), (changed_behind_a_function, "factor"), (changed_in_an_object, r"turns\.factor"),
    (changed_under_a_map_over_texts, "attribute 'b'"),
])  # fmt: skip
def test_what_the_loop_changes(function, what):
    with pytest.raises(StructureError, match=rf"the items of zip\(\) are made before the loop, which changes {what}: functions"):
        jit.to_static(function, input_spec=[jit.InputSpec([None])])(Tensor([1.0, 2.0]))


def printed(x):
    y = x * 0
    for w, row in zip((shown(v) for v in x if v > 0), x, strict=False):
        y = y + w * row
    return y


def shown(v):
    print(v)
    return v


def counted(x):
    turns, y = Turns(), x * 0

    def count(v):
        turns.factor = turns.factor + 1
        return v

    for w, row in zip((count(v) for v in x if v > 0), x, strict=False):
        y = y + w * row * turns.factor
    return y


@pytest.mark.parametrize(("function", "what"), [(printed, "prints"), (counted, "changes what is used elsewhere")])
def test_what_is_done_to_make_them(function, what):
    with pytest.raises(StagedValueError, match=rf"to take the items of zip\(\) {what}, which would be done for all of them"):
        jit.to_static(function, input_spec=[jit.InputSpec([None])])(Tensor([1.0, 2.0]))


@pytest.mark.parametrize("values", [dict.values, lambda d: iter(d.values()), lambda d: filter(None, d.values())])
def test_entries_of_a_dict_that_the_loop_sets(values):
    def entries(x):
        rates, y = {"a": 1.0, "b": 2.0}, x * 0
        for rate, row in zip(values(rates), x, strict=False):
            rates["b"] = row * 2
            y = y + rate
        return y

    with pytest.raises(StructureError, match="the dict over which the loop runs changes"):
        jit.to_static(entries, input_spec=[jit.InputSpec([None])])(Tensor([1.0, 2.0]))


class Rates:
    def __init__(self):
        self.data = [1.0, 2.0, 3.0]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]

    def __setitem__(self, i, value):
        self.data[i] = value


@pytest.mark.parametrize("kind", [Rates, lambda: collections.UserList([1.0, 2.0, 3.0])])
def test_entries_of_a_container_of_the_users_that_the_loop_sets(kind):
    def entries(x):
        rates, y = kind(), x * 0
        for rate, row in zip(rates, x, strict=False):
            rates[1] = 9.0
            y = y + rate * row
        return y

    with pytest.raises(StructureError, match=r"the items of zip\(\) are made before the loop, which changes"):
        jit.to_static(entries, input_spec=[jit.InputSpec([None])])(Tensor([1.0, 2.0]))


def test_the_variables_that_functions_read():
    a, b, c = 1, 2, 3

    def inner():
        return a

    def outer():
        return inner() + b

    def gives():
        yield c

    later = lambda: not_yet  # noqa: E731
    assert variables_of([outer]) == {"inner", "a", "b"}
    assert variables_of([gives(), later]) == {"c", "not_yet"}
    not_yet = 4
    assert later() == not_yet


def test_what_runs_code_of_the_users():
    def own(x):
        return x

    class Called:
        def __call__(self, x):
            return x

    assert with_code([own, float, abs, jit.to_static(own).raw]) == [own, own]
    class Inherits(Called):
        pass

    assert with_code([Inherits()]) == [Called.__call__]
    assert with_code([[1], {}, range(3), nn.Linear(2, 2)]) == []
    assert with_code([Turns().scaled]) == [Turns.scaled]
