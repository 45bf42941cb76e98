"""A `finally` behind a body in which many things may be raised: traced once for all of them, not once for each."""

import pytest
from corpus import finals
from three_ways import check

import dy2st as paddle
from dy2st import jit
from dy2st.convert.control import try_stmt as tries

# the text with a number, and the order of the keys, are known where each way has its copy
CASES = [case for case in finals.CASES if case[0] not in (finals.stages, finals.keys)]


@pytest.mark.parametrize(("function", "calls", "traces"), CASES, ids=[c[0].__name__ for c in CASES])
def test_one_for_all(function, calls, traces, monkeypatch):
    monkeypatch.setattr(tries, "COPIES", -1)
    check(function, calls, traces)


def checked(x, n):
    for i in range(n):
        if x[i] > 9:
            raise ValueError("large")
    return x * 2


def cleaned(x, n):
    """Two `finally`s in each other, each of which may raise `2 * n` things."""
    y = x
    try:
        try:
            try:
                y = checked(y, n)
            finally:
                y = checked(y + 1, n)
        finally:
            y = checked(y + 2, n)
    except ValueError:
        y = y * 10
    return y


def count_ops(n):
    static = jit.to_static(cleaned)
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0] * 3)
    assert static(x, n).tolist() == cleaned(x, n).tolist()
    return sum(len(block.ops) for block in static.main_program.blocks)


def test_what_may_be_raised_does_not_multiply():
    assert count_ops(8) < 4 * count_ops(4)  # each with its copies had eight times as many
