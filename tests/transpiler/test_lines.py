"""Converted code has the user's file and lines: what runs of it are the lines that run of the function itself."""

import copy
import io
import linecache
import sys
from contextlib import redirect_stdout, suppress

import pytest
from pyruntime import PyRuntime
from test_scenarios import CASES

from dy2st.transpiler import convert, loader

# declarations run nowhere, and a `case _` needs no test
_NOTHING = ("nonlocal ", "global ", "step: int", "case _")


def lines_run(function, file, args):
    """The lines of a file that a call runs."""
    found = []

    def local(frame, event, arg):
        if event == "line":
            found.append(frame.f_lineno)
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: local if frame.f_code.co_filename == file else None)
    try:
        with redirect_stdout(io.StringIO()), suppress(Exception):
            function(*args)
    finally:
        sys.settrace(before)
    return {line for line in found if not linecache.getline(file, line).lstrip().startswith(_NOTHING)}


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_same_lines_run(function, arguments):
    converted, code = convert(function, PyRuntime()), function.__code__
    for args in arguments:
        expected = lines_run(function, code.co_filename, copy.deepcopy(args))
        got = lines_run(converted.fn, code.co_filename, copy.deepcopy(args))
        assert got - {code.co_firstlineno} == expected - {code.co_firstlineno}, f"for {args}\n{converted.code}"


def codes(code):
    """Code and all code inside."""
    yield code
    for inner in code.co_consts:
        if hasattr(inner, "co_consts"):
            yield from codes(inner)


def decorator(function):
    return function


@decorator
@decorator
def decorated(x):
    y = 0
    for v in x:
        if v > 1:
            y += v
    return y


def test_code_begins_where_the_users_does():
    converted = convert(decorated, PyRuntime())
    code, own = converted.fn.__code__, decorated.__code__
    assert (code.co_filename, code.co_firstlineno, code.co_name) == (own.co_filename, own.co_firstlineno, own.co_name)


def test_what_carries_variables_stays_in_the_text():
    converted = convert(decorated, PyRuntime())
    text = converted.code.splitlines()
    found = {c.co_name: c for c in codes(converted.fn.__code__)}
    for name in ("get_state", "set_state"):
        code = found[name]
        assert code.co_filename == converted.filename
        assert text[code.co_firstlineno - 1].strip().startswith(f"def {name}(")
        lines = {line for _, _, line in code.co_lines() if line is not None}
        assert lines <= set(range(code.co_firstlineno, code.co_firstlineno + 4))
        assert loader.is_generated(code)
    assert found["if_body"].co_filename == found["loop_body"].co_filename == __file__


def debugged(xs):
    total = 0
    for x in xs:
        square = x * x
        if square > 3:
            breakpoint()
            total += 1
    return total


def test_a_debugger_sees_the_variables_around(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: seen.append(dict(sys._getframe(1).f_locals)))
    converted = convert(debugged, PyRuntime())
    assert converted.fn([1, 2]) == 1
    assert {"xs": [1, 2], "x": 2, "square": 4, "total": 0}.items() <= seen[0].items()
    assert "nonlocal square" not in converted.code  # the text does without


def test_code_without_a_debugger_has_no_more_variables_than_it_names():
    converted = convert(decorated, PyRuntime())
    found = {c.co_name: c for c in codes(converted.fn.__code__)}
    if sys.gettrace() is None:
        assert found["if_body"].co_freevars == ("v", "y")
