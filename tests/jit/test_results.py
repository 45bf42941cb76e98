"""Which objects a call returns."""

import pytest

from dy2st import jit, to_tensor
from dy2st.errors import StructureError

TABLE, OTHER, KEPT = [1.0], [2.0], [None]


def table(x):
    return TABLE


def one_or_the_other(x, given):
    return TABLE if x.sum() > 0 else given


def test_a_list_of_the_outside_is_returned_itself():
    assert jit.to_static(table)(to_tensor([1.0])) is TABLE


def test_what_is_one_list_of_the_outside_or_another_is_returned_as_a_new_one():
    static = jit.to_static(one_or_the_other)
    for value, expected in ((1.0, TABLE), (-1.0, OTHER)):
        found = static(to_tensor([value]), OTHER)
        assert found == expected
        assert found is not expected  # docs/reference/language.md


def keeps(x, items=OTHER):
    if x.sum() > 0:
        KEPT[0] = items


def test_a_default_that_is_kept_elsewhere_on_a_path_is_refused():
    with pytest.raises(StructureError, match="kept elsewhere too"):
        jit.to_static(keeps)(to_tensor([1.0]))
    assert KEPT == [None]


def test_a_list_of_the_run_is_not_a_none_that_there_is_outside():
    nothing = None

    def f(x, n, box):
        nonlocal nothing
        if n > 1:
            return None
        found = []
        for v in x:
            if v > n:
                found.append(v * 2)
        return found

    static = jit.to_static(f)
    for values, n in (([1.0, 2.0, -1.0], 0), ([1.0, 2.0], 3), ([0.5, 3.0, 4.0], 1)):
        found, expected = (call(to_tensor(values), to_tensor(n), {"value": None}) for call in (static, f))
        assert (found is None) is (expected is None)
        if expected is not None:
            assert [float(v) for v in found] == [float(v) for v in expected]


def test_a_number_is_no_variable_that_has_it():
    state = 1

    def f(x, held):
        nonlocal state
        state = 0
        return 1, held["n"]

    static = jit.to_static(f)
    for _ in range(2):  # the second one begins with another
        assert static(to_tensor([1.0]), {"n": 1}) == (1, 1)
        assert state == 0


def integers(x):
    made, computed = to_tensor([1, 2], stop_gradient=False), x.astype("int64")
    computed.stop_gradient = False
    return made, computed, computed + 1, x > 1, [to_tensor([3])], made


@pytest.mark.parametrize("stop", [True, False])
def test_flags_of_integers_are_those_of_the_eager_call(stop):
    x, static = to_tensor([1.0, 2.0], stop_gradient=stop), jit.to_static(integers)
    for _ in range(2):
        eager, found = integers(x), static(x)
        assert found[0] is found[5]
        flags = [[t.stop_gradient for t in (*results[:4], results[4][0])] for results in (eager, found)]
        assert flags == [[False, False, True, True, True]] * 2
