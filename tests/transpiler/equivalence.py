"""Runs a function and its transformed twin, and compares all that can be seen."""

import contextlib
import copy
import io

from pyruntime import PyRuntime

from dy2st.transpiler import convert, is_generated


def observe(function, args, kwargs):
    """(result or exception, printed text, arguments afterwards)."""
    args, kwargs = copy.deepcopy((args, kwargs))
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            result = ("returned", function(*args, **kwargs))
    except Exception as error:
        result = ("raised", type(error), "" if isinstance(error, NameError) else str(error))
    return result, out.getvalue(), args, kwargs


def assert_same(function, *arg_lists, **kwargs):
    """The transformed function does what the function does, for each tuple of arguments; returns it."""
    converted = convert(function, PyRuntime())
    for args in arg_lists:
        expected, got = observe(function, args, kwargs), observe(converted.fn, args, kwargs)
        assert got == expected, f"for {args}\n{converted.code}"
    return converted


def recursive_runtime():
    """A runtime that converts the functions that are called."""
    runtime = PyRuntime(convert=lambda f: convert_call(f, runtime))
    return runtime


def convert_call(function, runtime):
    inner = getattr(function, "__func__", function)
    code = getattr(inner, "__code__", None)
    if code is None or is_generated(code) or "tests" not in code.co_filename:
        return function
    return convert(function, runtime).fn
