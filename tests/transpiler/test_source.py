"""Finding the source of functions that are hard to find."""

import ast
import doctest
import importlib.util
import linecache
import os
import sys
import textwrap
import warnings

import pytest
from pyruntime import PyRuntime

from dy2st.transpiler import ConversionError, convert
from dy2st.transpiler.source import get_source

double = lambda x: x * 2 if x else -1  # noqa: E731
pair = (lambda x: x + 1 if x else 0, lambda x: x - 1 if x else 0)
nested = lambda x: (lambda y: y + x if y else x)  # noqa: E731
several = {
    "a": lambda x: (
        x
        and 1
    ),
    "b": lambda x, *, k=1: x or k,
}


def run(function, *args, **kwargs):
    return convert(function, PyRuntime()).fn(*args, **kwargs)


def test_lambdas():
    assert (run(double, 2), run(double, 0)) == (4, -1)
    assert run(several["a"], 2) == 1
    assert run(several["b"], 0, k=5) == 5
    converted = convert(double, PyRuntime())
    assert converted.fn.__name__ == converted.fn.__code__.co_name == "<lambda>"


def test_operators_with_a_parent(tmp_path):
    # tools that show errors (those of IPython) note parents on the nodes of their trees, and all trees share the nodes of operators
    shown = ast.parse("a + b")
    operator = shown.body[0].value.op
    operator.parent = shown.body[0].value
    operator.parent.parent = shown
    try:
        path = tmp_path / "sums.py"
        path.write_text("def add(a, b):\n    return a + b\n")
        module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("sums", path))
        spec.loader.exec_module(module)
        assert run(module.add, 2, 3) == 5
    finally:
        del operator.parent


def test_lambdas_on_one_line():
    assert (run(pair[0], 5), run(pair[1], 5)) == (6, 4)
    assert run(run(nested, 3), 0) == 3 if False else run(nested(3), 0) == 3


def test_lambdas_on_one_line_that_return_constants():
    """Some versions of Python give such code no positions."""
    ones = [lambda x: 1.0, lambda x: 2.0, lambda x: "a"]
    assert [run(one, 0) for one in ones] == [1.0, 2.0, "a"]


def test_equal_lambdas_on_one_line():
    same = [lambda x: x or 1, lambda x: x or 1]
    assert run(same[0], 0) == run(same[1], 0) == 1


def test_ambiguous_lambdas(monkeypatch):
    from dy2st.transpiler import source

    monkeypatch.setattr(source, "_tell_apart", lambda candidates, *_: candidates)
    with pytest.raises(ConversionError, match="cannot tell which of 2 lambdas on this line is meant"):
        get_source(pair[0])


def test_functions_made_in_a_loop():
    made = []
    for n in range(3):

        def f(x, n=n):
            return x + n if x else n

        made.append(f)
    assert [run(f, 1) for f in made] == [1, 2, 3]


def test_a_class_in_a_function_in_a_function(tmp_path):
    kept = "        class Kept:\n            def get(self): return 2 if x else 3\n        return Kept().get()\n"
    text = f"def make():\n    def f(x):\n{kept}    return f\n"
    module = imported(tmp_path / "nested.py", text, "nested")
    assert (run(module.make(), 1), run(module.make(), 0)) == (2, 3)
    (tmp_path / "nested.py").write_text(text.replace("Kept", "Left"))
    os.utime(tmp_path / "nested.py", (1, 1))
    with pytest.raises(ConversionError, match="the file was changed after it was imported"):
        run(module.make(), 1)


def from_text(text, name="f", filename=None):
    filename = filename or f"<text {hash(text)}>"
    text = textwrap.dedent(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def test_multi_line_statements_and_comments():
    f = from_text(
        '''
        def f(x,
              y=(1,
                 2)):  # comment
            """Doc
          with odd indentation
            """
            text = """
        no indentation
            """  # comment
            if (x and
                    y):
                # comment
                return [x, \\
                        y, text]
            return text
        '''
    )
    assert run(f, 1) == f(1)
    assert run(f, 0) == f(0)
    assert convert(f, PyRuntime()).fn.__doc__ == f.__doc__


def test_one_line_function():
    f = from_text("def f(x): return 1 if x else 2\n")
    assert (run(f, 0), run(f, 1)) == (2, 1)


def test_tabs_and_unicode():
    f = from_text("class Ä:\n\tdef größe(self, x):\n\t\tif x: return 'ß'\n\t\treturn x\nf = Ä().größe\n")
    assert run(f, 1) == "ß"


def test_same_name_defined_twice():
    f = from_text("def f(x):\n    return 1 if x else 0\ng = f\ndef f(x):\n    return 2 if x else 0\n", name="g")
    assert run(f, 1) == 1


def test_doctest_source():
    test = doctest.DocTestParser().get_doctest(
        ">>> def f(x):\n...     return x if x > 0 else -x\n>>> print(run(f, -3))\n3\n", {"run": run}, "example", None, 0
    )
    runner = doctest.DocTestRunner()
    assert runner.run(test).failed == 0


def test_text_of_the_source():
    source = get_source(run)
    assert source.text.startswith("def run(function, *args, **kwargs):\n")
    assert source.line == run.__code__.co_firstlineno
    assert source.class_name is None


def imported(path, text, name):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


FILE = """import math

class Model:
    def __init__(self): self.__w = 2

    def forward(self, x, k=lambda v: v + 1):
        '''Doc.'''
        if x in {1, 2, 3}:
            return super().__repr__() and math.floor(k(x)) * self.__w
        return [v * 2.0 for v in (x, -x)]
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{1, 2, 3}", "{1, 2, 4}"),
        ("math.floor", "math.ceil"),
        ("* 2.0", "* 2"),
        ("(x, -x)", "(-x, x)"),
        ("            return super", "            pass\n            return super"),
        ("'''Doc.'''", "'''Doc.'''\n        x += 1"),
    ],
)
def test_a_file_that_has_changed_since_it_was_imported(tmp_path, old, new):
    module = imported(tmp_path / "changing.py", FILE, "changing")
    assert run(module.Model.forward, module.Model(), 5) == [10.0, -10.0]
    assert run(module.Model.forward, module.Model(), 2) == 6
    assert old in FILE
    (tmp_path / "changing.py").write_text(FILE.replace(old, new))
    os.utime(tmp_path / "changing.py", (1, 1))
    with pytest.raises(ConversionError, match="the file was changed after it was imported") as caught:
        run(module.Model.forward, module.Model(), 5)
    assert caught.value.location.line == 6


def test_a_change_elsewhere_in_the_file_or_of_a_comment_does_no_harm(tmp_path):
    module = imported(tmp_path / "commented.py", FILE, "commented")
    (tmp_path / "commented.py").write_text(FILE.replace("v in (x, -x)]", "v in (x, -x)]  # both") + "\nx = 1\n")
    os.utime(tmp_path / "commented.py", (1, 1))
    assert run(module.Model.forward, module.Model(), 5) == [10.0, -10.0]


def test_lines_put_in_above_are_noticed(tmp_path):
    module = imported(tmp_path / "moved.py", FILE, "moved")
    (tmp_path / "moved.py").write_text("import os\n" + FILE)
    os.utime(tmp_path / "moved.py", (1, 1))
    with pytest.raises(ConversionError, match="restart the process"):
        run(module.Model.forward, module.Model(), 5)


def test_a_module_that_is_loaded_again_has_its_new_source(tmp_path):
    imported(tmp_path / "again.py", FILE, "again")
    module = imported(tmp_path / "again.py", FILE.replace("2.0", "3.0"), "again")
    assert run(module.Model.forward, module.Model(), 5) == [15.0, -15.0]


WARNED = r"""
def said(x):
    text = '\d'
    if x is 1:
        return text
    return str(x)

def left(x):
    for v in (x,):
        try:
            x = v / 0
        finally:
            continue
"""


def test_what_python_warns_of_it_has_said_when_the_module_was_compiled(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = imported(tmp_path / "warned.py", WARNED, "warned")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [run(module.said, v) for v in (1, 2)] == ["\\d", "2"]
        with pytest.raises(ConversionError, match="'continue' inside 'finally'"):
            run(module.left, 1)


INSIDE = """
def make():
    class Model:
        def forward(self, x):
            class Pair:
                def sum(self): return [y for y in (x, x)]

            def twice(y): return y * 2
            return twice(sum(Pair().sum()))

    def count(x):
        class Done(Exception): pass

        def next(y): return count(y - 1)
        try:
            if x == 0: raise Done("make.<locals>.count.<locals>.Done")
            return next(x)
        except Done as done: return str(done)

    return Model(), count
"""


def test_classes_and_functions_in_functions_that_are_in_functions_themselves(tmp_path):
    model, count = imported(tmp_path / "inside.py", INSIDE, "inside").make()
    assert run(type(model).forward, model, 3) == 12
    assert run(count, 2) == "make.<locals>.count.<locals>.Done"
    (tmp_path / "inside.py").write_text(INSIDE.replace("count.<locals>.Done", "count.<locals>.Gone"))
    os.utime(tmp_path / "inside.py", (1, 1))
    with pytest.raises(ConversionError, match="the file was changed after it was imported"):
        run(count, 2)
