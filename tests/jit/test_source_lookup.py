"""Functions whose source is hard to get: cells of notebooks, doctests, lambdas, what decorators and loops make."""

import asyncio
import doctest
import functools
import importlib
import linecache
import py_compile

import pytest

from dy2st import jit, nn, to_tensor
from dy2st.errors import StagedValueError
from dy2st.transpiler import ConversionError

ABSOLUTE = "def absolute(x):\n    if x > 0:\n        return x\n    return -x\n"
BOTH = (2.0, -3.0)


def values(function):
    return [float(function(to_tensor(v))) for v in BOTH]


def cell(text, number):
    """What a notebook does with a cell, which it keeps as the lines of a file."""
    name = f"<ipython-input-{number}-0a1b2c>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    return names


def test_cells_of_a_notebook():
    names = cell(ABSOLUTE, 1)
    static = jit.to_static(names["absolute"])
    assert values(static) == [2.0, 3.0]
    again = cell(ABSOLUTE.replace("return x\n    return -x", "return x * 2\n    return -x"), 2)  # the same name, run once more
    assert values(jit.to_static(again["absolute"])) == [4.0, 3.0]
    assert values(static) == [2.0, 3.0]


def test_a_doctest():
    text = (
        ">>> @jit.to_static\n... def absolute(x):\n...     if x > 0:\n...         return x\n...     return -x\n"
        ">>> values(absolute)\n[2.0, 3.0]\n"
    )
    test = doctest.DocTestParser().get_doctest(text, {"jit": jit, "values": values}, "example", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_lambdas_on_one_line_and_functions_of_a_loop():
    up, down = (lambda x: x if x > 0 else -x), (lambda x: -x if x > 0 else x)  # fmt: skip
    assert values(jit.to_static(up)) == [2.0, 3.0]
    assert values(jit.to_static(down)) == [-2.0, -3.0]
    made = []
    for k in (1, 2, 3):

        def scaled(x, k=k):
            return x * k if x > 0 else x - k

        made.append(jit.to_static(scaled))
    assert [values(f) for f in made] == [[2.0, -4.0], [4.0, -5.0], [6.0, -6.0]]


def twice(function):
    @functools.wraps(function)
    def wrapped(*args):
        return function(*args) * 2

    return wrapped


class Net(nn.Layer):
    @twice
    def forward(self, x):
        return self.sign(x) * x

    @staticmethod
    @twice
    def sign(x):
        return 1 if x > 0 else -1


def test_what_decorators_have_made():
    @twice
    def absolute(x):
        if x > 0:
            return x
        return -x

    assert values(jit.to_static(absolute)) == [4.0, 6.0]
    assert values(jit.to_static(Net())) == [8.0, 12.0]


@pytest.mark.parametrize("name", ["<stdin>", "<string>"])
def test_without_source_the_error_says_so_where_a_condition_is_met(name):
    names = {}
    exec(compile(ABSOLUTE + "def plain(x):\n    return x * 2\n", name, "exec"), names)
    assert values(jit.to_static(names["plain"])) == [4.0, -6.0]
    with pytest.raises(StagedValueError) as caught:
        jit.to_static(names["absolute"])(to_tensor(1.0))
    assert "the source of 'absolute' cannot be had: define the function in a file or a notebook cell" in caught.value.hint


def test_functions_that_suspend_are_no_static_ones():
    async def waits(x):
        await asyncio.sleep(0)
        return x if x > 0 else -x

    def gives(x):
        yield x if x > 0 else -x

    for function, kind, line in ((waits, "async", 0), (gives, "generator", 1)):  # of the `def`, and of the `yield`
        with pytest.raises(ConversionError, match=kind) as caught:
            jit.to_static(function)(to_tensor(1.0))
        assert caught.value.location.line == function.__code__.co_firstlineno + line


def test_where_only_compiled_files_are(tmp_path, monkeypatch):
    source = tmp_path / "packed_module.py"
    source.write_text(ABSOLUTE)
    py_compile.compile(str(source), str(tmp_path / "packed_module.pyc"))
    source.unlink()
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("packed_module")
    with pytest.raises(StagedValueError) as caught:
        jit.to_static(module.absolute)(to_tensor(1.0))
    assert "the source of 'absolute' cannot be had (packed_module.py is not there)" in caught.value.hint
    assert "save the model before it is packed, or pack the .py files too" in caught.value.hint
