"""Containers among the arguments: they stay the objects that they are, also where two arguments are one."""

from dataclasses import dataclass

import pytest
from dy2st_runtime import config

import dy2st
from dy2st import jit


@dataclass
class State:
    h: object
    steps: int = 0


@dataclass(slots=True)
class Slotted:
    h: object
    steps: int = 0


def tensor(*values):
    return dy2st.to_tensor(list(values))


def same_list(xs, ys, x):
    xs.append(x * 2)
    return ys, len(ys)


def list_in_dict(d, xs, x):
    d["xs"][0] = x
    return xs[0] + d["n"]


def grows(xs, x, n):
    for i in range(n):
        xs.append(x * i)
    return xs


def keeps(d, x):
    d["sum"] = x.sum()
    return d, d["sum"]


def steps(state, x):
    state.h = state.h + x
    state.steps += 1
    return state


def kept_elsewhere(xs, x, box):
    box["last"] = xs
    xs.append(x)
    return x


@pytest.fixture(params=[False, True], ids=["native", "interpreted"], autouse=True)
def engine(request):
    with config.NO_JIT.override(request.param):
        yield


def test_two_arguments_are_one_list():
    static = jit.to_static(same_list)
    for function in (same_list, static):
        xs = [tensor(1.0)]
        found, n = function(xs, xs, tensor(3.0))
        assert found is xs
        assert n == len(xs) == 2
        assert float(xs[1]) == 6.0
        a, b = [tensor(1.0)], [tensor(2.0)]
        found, n = function(a, b, tensor(3.0))
        assert found is b
        assert (len(a), len(b), n) == (2, 1, 1)
    assert len(static.concrete_programs) == 2


def test_a_list_within_another_argument():
    for function in (list_in_dict, jit.to_static(list_in_dict)):
        xs = [tensor(1.0)]
        assert float(function({"xs": xs, "n": 2}, xs, tensor(5.0))) == 7.0
        assert float(function({"xs": [tensor(0.0)], "n": 2}, xs, tensor(6.0))) == 7.0


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_list_that_grows_is_returned_itself(count):
    for function in (grows, jit.to_static(grows)):
        first = tensor(1.0)
        xs = [first]
        assert function(xs, tensor(2.0), dy2st.to_tensor(count)) is xs
        assert len(xs) == count + 1
        assert xs[0] is first


def test_dicts_and_dataclasses_are_returned_themselves():
    for keep, step in ((keeps, steps), (jit.to_static(keeps), jit.to_static(steps))):
        d = {"n": 1}
        found, total = keep(d, tensor(1.0, 2.0))
        assert found is d
        assert float(d["sum"]) == float(total) == 3.0
        state = State(tensor(1.0))
        assert step(state, tensor(2.0)) is state
        assert (float(state.h), state.steps) == (3.0, 1)


def test_a_dataclass_with_slots_that_some_runs_change():
    def step(state, x):
        if x.sum() > 0:
            state.h = state.h * 2
        state.steps += 1
        return state.h

    for function in (step, jit.to_static(step)):
        state = Slotted(tensor(1.0))
        found = [float(function(state, tensor(v))) for v in (1.0, -1.0, 3.0, 4.0)]
        assert found == [2.0, 2.0, 4.0, 8.0]
        assert (float(state.h), state.steps) == (8.0, 4)


def test_an_argument_that_another_one_keeps():
    for function in (kept_elsewhere, jit.to_static(kept_elsewhere)):
        xs, box = [tensor(1.0)], {}
        function(xs, tensor(2.0), box)
        assert box["last"] is xs
        assert len(xs) == 2
