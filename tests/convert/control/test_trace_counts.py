"""How often the bodies of loops, and recursive functions, are traced."""

import numpy as np
import pytest

from dy2st import jit
from dy2st.convert.control.recursion import StagedFunction
from dy2st.convert.control.while_stmt import Loop
from dy2st.errors import StructureError
from dy2st.static import InputSpec
from dy2st.tensor import Tensor


@pytest.fixture
def trials(monkeypatch):
    """The names of the variables of each loop whose body is traced, each time."""
    found = []
    body = Loop._iterate

    def traced(self):
        found.append(self.names)
        return body(self)

    monkeypatch.setattr(Loop, "_iterate", traced)
    return found


def three_deep(x):
    a = x.sum()
    while a < 100:
        b = a
        while b < 50:
            c = b
            while c < 25:
                c = c * 2 + 1
            b = b + c
        a = a + b
    return a


def halvings(x):
    steps = 0
    while x.norm() > 1:
        x = x / 2
        steps += 1
    return steps


def called_again(x):
    return halvings(x) + halvings(x * 2) + halvings(x * 3)


def times(x, k, grow):
    while x.norm() > 1:
        x = x / 2
        k = k + 1 if grow else k
    return x, k


def called_with_less_to_do(x):
    a, steps = times(x, 2, True)
    b, two = times(x, 2, False)
    return a * steps + b, [0] * two


def with_a_state_elsewhere(x):
    counts = {"n": 0, "m": 0}

    def count(name, y):
        while y.norm() > 1:
            y = y / 2
            counts[name] = counts[name] + 1

    count("n", x)
    count("m", x * 4)
    count("n", x * 8)
    return counts


def counted_elsewhere(x):
    counts = {"n": 0}

    def halved(y):
        counts["n"] = counts["n"] + 1
        return y / 2

    while x.norm() > 1:
        x = halved(x)
    return x, counts["n"]


def with_a_state_changed_in_place(x):
    state = {"seen": [x, x], "total": x * 0}

    def keep(y):
        state["total"].add_(y)
        state["seen"] = [state["seen"][1], state["total"] * 2]

    a = x.sum()
    while a < 100:
        b = a
        while b < 50:
            b = b * 2 + 1
            keep(x)
        a = a + b
    return a, state["total"], state["seen"][0]


def with_a_function_made_in_each_iteration(x):
    for v in x:

        def again(y, n=2):
            return y if n == 0 else again(y * v, n - 1)  # noqa: B023

        if v > 100:
            return x
        x = again(x)
    return x


def chosen_in_a_list(x):
    return sum([v * 2 for v in x if v > 0])


def agrees(function):
    x = np.array([3.0, 4.0], np.float32)
    wanted, found = function(Tensor(x)), jit.to_static(function)(Tensor(x))
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (wanted, found)), strict=True):
        assert np.array_equal(np.asarray(a), np.asarray(b)) if isinstance(a, Tensor) else a == b


def test_work_grows_with_the_depth_of_loops(trials):
    agrees(three_deep)
    # one trial more for each loop around, instead of twice as many
    assert [trials.count(names) for names in (("a",), ("b",), ("c",))] == [2, 3, 4]


def test_a_loop_of_a_function_that_is_called_again_is_traced_once_more(trials):
    agrees(called_again)
    assert len(trials) == 2 + 1 + 1


def test_no_more_varies_than_in_a_trace_of_its_own(trials):
    agrees(called_with_less_to_do)
    assert len(trials) == 2 + 1 + 2


def test_what_varies_elsewhere_is_found_each_time():
    agrees(with_a_state_elsewhere)


def test_a_comprehension_with_a_test_is_traced_three_times(trials):
    agrees(chosen_in_a_list)
    assert trials.count(("the index", "the list of a comprehension")) == 3


def test_a_state_elsewhere_takes_no_trial_more(trials):
    agrees(counted_elsewhere)
    assert len(trials) == 2


def test_a_loop_inside_goes_on_from_what_it_came_to_though_objects_may_be_one(trials):
    agrees(with_a_state_changed_in_place)
    assert trials.count(("b", "state")) == 4 + 2 + 2


def test_what_each_iteration_makes_anew_is_refused_without_many_trials(trials):
    with pytest.raises(StructureError, match="'again' does not settle: each iteration makes another function") as caught:
        jit.to_static(with_a_function_made_in_each_iteration, input_spec=[InputSpec([None], "float32")])(Tensor([3.0, 4.0]))
    assert caught.value.location.text.strip() == "for v in x:"
    assert len(trials) == 4


# ---- recursive functions ----
@pytest.fixture
def bodies(monkeypatch):
    """The name of each recursive function whose body is traced, each time."""
    found = []
    trial = StagedFunction._trial

    def traced(self):
        found.append(self.original.__name__)
        return trial(self)

    monkeypatch.setattr(StagedFunction, "_trial", traced)
    return found


class Counting:
    def __init__(self):
        self.total = 0.0


def inner(x, counting):
    if x.sum() < 1:
        return x
    counting.total = counting.total + 1
    return inner(x / 2, counting) + 1


def outer(x, counting):
    if x.sum() < 2:
        return x
    x = inner(x, counting)
    counting.total = counting.total * 2
    return outer(x / 4, counting) + inner(x * 3, counting)


def called_in_each_other(x):
    counting = Counting()
    return outer(x, counting), counting.total


def picked(x, twice):
    if x.sum() < 1:
        return x, 0
    x, count = picked(x / 2, twice)
    return x, count + 1 if twice else count


def called_with_less_to_return(x):
    a, steps = picked(x, True)
    b, none = picked(x, False)
    return a * steps + b, [0] * (none + 2)


def one_of_four(x, n, way):
    if n <= 0:
        return x
    if x.sum() > n:
        return one_of_four(x, n - 1, way)
    return one_of_four(x, n - 1, (way + 1) % 4) - way


def with_each_in_the_one_before(x):
    n = x.max()
    return one_of_four(x, n, 0) + one_of_four(x, n + 1, 2), one_of_four(x * 2, n, 1)


def given_on(x, n):
    if n <= 0:
        return x
    return given_on(x, n - 1)


def with_one_of_its_own_argument(x, n):
    if n <= 0:
        return x
    y = x * 1
    z = given_on(y, n)
    z.add_(n)  # it is y, which each call makes
    return with_one_of_its_own_argument(y, n - 1) + given_on(x, n + 1)


def called_with_what_each_call_makes(x):
    return with_one_of_its_own_argument(x, x.max()), with_one_of_its_own_argument(x * 2, x.min())


@pytest.mark.parametrize(
    "f", [called_in_each_other, called_with_less_to_return, with_each_in_the_one_before, called_with_what_each_call_makes]
)
def test_recursive_functions_that_are_traced_again(f):
    static = jit.to_static(f)
    for values in ([3.0, 4.0], [0.1, 0.2], [40.0, 4.0]):
        x = Tensor(np.array(values, np.float32))
        for a, b in zip(f(x), static(x), strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)


def test_a_recursive_function_starts_from_what_it_came_to(bodies):
    jit.to_static(called_in_each_other)(Tensor(np.array([3.0, 4.0], np.float32)))
    # 9 in each of the outer one's, if they were traced as if they were new
    assert bodies.count("inner") <= 6 * bodies.count("outer")


def test_what_a_recursive_function_returns_of_the_outside_takes_no_trial_more(bodies):
    jit.to_static(with_each_in_the_one_before)(Tensor(np.array([3.0, 4.0], np.float32)))
    # each is in the one before: with two trials for each in each of the one around they were 106
    assert len(bodies) < 75
