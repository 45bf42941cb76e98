"""Global variables that have no value before the call."""

import numpy as np
import pytest

from dy2st import jit
from dy2st.errors import StructureError
from dy2st.tensor import Tensor


def set_on_both_paths(x):
    global NEW
    if x.sum() > 0:
        NEW = x.sum()
    else:
        NEW = x.mean()
    return NEW


def read_by_a_function_inside(x):
    global NEW
    if x.sum() > 0:
        NEW = x.sum()
    else:
        NEW = x.mean()

    def more():
        return NEW + 1

    return more()


def set_behind_what_may_raise(x):
    global NEW
    try:
        if x.sum() < 0:
            raise ValueError("less")
        NEW = x.sum()
    except ValueError:
        NEW = x.mean()
    return NEW


def set_in_a_loop_that_runs(x):
    global NEW
    for v in x:
        NEW = v
    return NEW


def set_on_one_path(x):
    global NEW
    if x.sum() > 0:
        NEW = x.sum()
    return x


def set_unless_something_is_raised(x):
    global NEW
    try:
        if x.sum() < 0:
            raise ValueError("less")
        NEW = x.sum()
    except ValueError:
        return x
    return NEW


def called(function, values):
    globals().pop("NEW", None)
    return function(Tensor(np.float32(values))).numpy(), NEW.numpy()


@pytest.mark.parametrize("function", [set_on_both_paths, read_by_a_function_inside, set_behind_what_may_raise, set_in_a_loop_that_runs])
@pytest.mark.parametrize("values", [[1.0, 2.0], [-1.0, -2.0]])
def test_with_a_value_on_all_paths(function, values):
    np.testing.assert_array_equal(called(jit.to_static(function), values), called(function, values))


@pytest.mark.parametrize("function", [set_on_one_path, set_unless_something_is_raised])
def test_on_some_paths_only(function):
    globals().pop("NEW", None)
    with pytest.raises(StructureError, match="the global variable 'NEW' gets or loses its value under a condition"):
        jit.to_static(function)(Tensor(np.float32([1.0, 2.0])))
    assert "NEW" not in globals()


def longest(x):
    return x * max(2, 3) + len(x)


def test_a_global_hides_a_function_of_python_s_from_some_call_on():
    static, names = jit.to_static(longest), globals()
    x = Tensor(np.array([1.0, 2.0], np.float32))
    assert static(x).numpy().tolist() == [5.0, 8.0]
    try:
        names["max"] = min
        assert static(x).numpy().tolist() == longest(x).numpy().tolist() == [4.0, 6.0]
        names["len"] = lambda x: 10
        assert static(x).numpy().tolist() == longest(x).numpy().tolist() == [12.0, 14.0]
    finally:
        names.pop("max", None)
        names.pop("len", None)
    assert static(x).numpy().tolist() == [5.0, 8.0]
