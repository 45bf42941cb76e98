"""What a handler or `finally` reads of variables that the body sets behind one thing that may be raised and before another."""

import pytest

import dy2st as paddle
from dy2st import jit, to_tensor
from dy2st.errors import UndefinedError
from dy2st.tensor import Tensor


def in_a_handler(x, n):
    try:
        if n > 5:
            raise IndexError("first")
        r = x * 2
        if n < 3:
            raise IndexError("second")
    except IndexError as e:
        return r, str(e)
    return r, "none"


def in_finally(x, n):
    found = []
    try:
        if n > 5:
            raise IndexError("first")
        r = x * 2
        if n < 3:
            raise ValueError("second")
    finally:
        found.append(r * 3)
    return found[0] + r


def by_a_handler_around(x, n):
    said = "none"
    try:
        try:
            if n > 5:
                raise IndexError("first")
            r = x * 2
            if n < 3:
                raise IndexError("second")
        except IndexError as e:
            said = str(e)
            x = r + 1
    except UnboundLocalError:
        return x, said
    return r, said


def behind_a_loop(x, n):
    try:
        for v in x:
            if v > n:
                raise IndexError("first")
        r = x * 2
        if n < 5:
            raise IndexError("second")
    except IndexError as e:
        return r, str(e)
    return r, "none"


def in_a_loop(x, n):
    try:
        for v in x:
            if v > n:
                raise IndexError("first")
            r = x * v
        if n < 5:
            raise IndexError("second")
    except IndexError as e:
        return r, str(e)
    return r, "none"


def a_list(x, n):
    try:
        if n > 5:
            raise IndexError("first")
        table = [x, x * 2]
        if n < 3:
            raise IndexError("second")
        return table[int(n) // 3]
    except IndexError:
        return table[-1]


def popped(x, n):
    rows = [v for v in x if v < n]
    try:
        while len(rows) > 2:
            rows.append(rows.pop() + rows.pop())
        r = rows.pop()
        rows.pop()
    except IndexError as e:
        return r, str(e)
    return r, "none"


FUNCTIONS = [in_a_handler, in_finally, by_a_handler_around, behind_a_loop, in_a_loop, a_list, popped]


def outcome(function, n):
    x = Tensor([1.0, 2.0, 4.0], stop_gradient=False)
    try:
        result = function(x, to_tensor(n))
    except (IndexError, ValueError, UnboundLocalError) as error:
        return UnboundLocalError if isinstance(error, UnboundLocalError) else repr(error)
    value, *more = result if isinstance(result, tuple) else (result,)
    value.sum().backward()
    return value.tolist(), x.grad.tolist(), more


@pytest.mark.parametrize("function", FUNCTIONS)
def test_only_the_runs_without_a_value_raise(function):
    static = jit.to_static(function)
    seen = [outcome(function, n) for n in (0, 8, 4, 2, 3)]
    assert [outcome(static, n) for n in (0, 8, 4, 2, 3)] == seen
    assert UnboundLocalError in seen or function is by_a_handler_around
    assert len(static.concrete_programs) == 1


def test_the_error_names_the_variable_and_the_line_and_is_saved(tmp_path):
    static = jit.to_static(a_list, input_spec=[jit.InputSpec([3], "float32", "x"), jit.InputSpec([], "int64", "n")])
    jit.save(static, str(tmp_path / "model"))
    for f in (static, jit.load(str(tmp_path / "model"))):
        assert f(paddle.ones([3]), to_tensor(0)).tolist() == [2.0, 2.0, 2.0]
        with pytest.raises(UndefinedError, match="local variable 'table' is read where it has no value") as caught:
            f(paddle.ones([3]), to_tensor(8))
        if f is static:
            assert caught.value.location.line == a_list.__code__.co_firstlineno + 9


def test_what_no_path_to_a_handler_sets_is_refused_at_once():
    def f(x, n):
        try:
            if n > 5:
                raise IndexError
            r = x * 2
        except IndexError:
            return r
        return r

    with pytest.raises(UndefinedError, match="local variable 'r' is read where it has no value"):
        jit.to_static(f)(paddle.ones([3]), to_tensor(0))
