"""From generated code back to the user's lines and columns."""

# ruff: noqa: E702, PT011, W191

import sys
import traceback

import pytest
from pyruntime import PyRuntime

from dy2st.transpiler import convert, is_generated, locate


def fail(x):
    raise ValueError(x)


def in_branch(x):
    y = 1
    if x > 0:
        y = (
            x
            + fail(x)
        )
    return y


def in_loop(xs):
    for x in xs:
        while x:
            if x > 2:
                return [1][x]
            x -= 1


def in_test(x):
    return 1 if x and 1 / (x - 1) else 2


def ünïcode(x):
    größe = "äöü"; größe = größe[x]
    return größe


def	tabbed(x):
	if x:
		return x.missing
	return 1


def chain(x):
    return 0 < x < x.y


def unset(c):
    if c:
        x = 1
    return x


def in_append(xs):
    a = []
    for x in xs:
        a.append(x // (x - 1))
    return a


def in_walrus(x):
    if x and (y := 1 // (x - 1)) and y:
        return y


def in_inner(x):
    def g(y):
        if y:
            return y["k"]

    return g(x)


def in_early_return(x):
    if x:
        return 0
    return 1 // x


CASES = [
    (in_branch, 1, 5, "fail(x)"),
    (in_loop, [1, 5], 4, "[1][x]"),
    (in_test, 1, 1, "1 / (x - 1)"),
    (ünïcode, 7, 1, "größe[x]"),
    (tabbed, 1, 2, "x.missing"),
    (chain, 1, 1, "x.y"),
    (unset, 0, 3, "x"),
    (in_append, [2, 1], 3, "x // (x - 1)"),
    (in_walrus, 1, 1, "1 // (x - 1)"),
    (in_inner, 1, 3, 'y["k"]'),
    (in_early_return, 0, 3, "1 // x"),
]


def deepest(error):
    """The last traceback entry in generated code."""
    found, entry = None, error.__traceback__
    while entry is not None:
        if is_generated(entry.tb_frame.f_code):
            found = entry
        entry = entry.tb_next
    return found


@pytest.mark.parametrize(("function", "argument", "line", "text"), CASES, ids=[c[0].__name__ for c in CASES])
def test_exceptions_are_located(function, argument, line, text):
    with pytest.raises(Exception) as caught:
        convert(function, PyRuntime()).fn(argument)
    place = locate(deepest(caught.value))
    assert (place.file, place.line) == (__file__, function.__code__.co_firstlineno + line)
    assert place.text[place.col : place.end_col] == text
    assert place.function in (function.__name__, "g")


def here():
    return sys._getframe(1)


def calls_here(x):
    if x:
        y = [1, here()]
    return y[1]


def test_running_frame_is_located():
    seen = []

    class Runtime(PyRuntime):
        def call(self, function):
            seen.append(locate(sys._getframe(1)))
            return function

    convert(calls_here, Runtime()).fn(1)
    assert seen[0].line == calls_here.__code__.co_firstlineno + 2
    assert seen[0].text[seen[0].col : seen[0].end_col] == "here"


def test_lines_of_other_files_are_not_ours():
    assert locate(sys._getframe()) is None
    assert not is_generated(sys._getframe().f_code)


def test_traceback_shows_the_users_line():
    with pytest.raises(ZeroDivisionError) as caught:
        convert(in_early_return, PyRuntime()).fn(0)
    text = "".join(traceback.format_exception(caught.value))
    assert f'File "{__file__}", line {in_early_return.__code__.co_firstlineno + 3}' in text
    assert "    return 1 // x\n" in text


def test_side_by_side():
    text = convert(in_early_return, PyRuntime()).side_by_side()
    line = in_early_return.__code__.co_firstlineno
    assert f"{line + 3:4}     return 1 // x" in text
    row = next(r for r in text.splitlines() if "retval_ = 1 // x" in r)
    assert row.startswith(f"{line + 3:4}     return 1 // x")
