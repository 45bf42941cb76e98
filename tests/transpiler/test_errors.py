"""What cannot be converted is an error at the user's line: `# error: text` marks the line and begins the message."""

# ruff: noqa: B012, RUF018

import functools
import inspect
import linecache
import re
import subprocess
import sys

import pytest
from pyruntime import PyRuntime

from dy2st.transpiler import ConversionError, convert


async def asynchronous(x):  # error: async function 'asynchronous' cannot be converted
    return x


def reserved(x):
    _dy = x  # error: the name '_dy' is reserved for converted code
    return _dy


def local_names(x):
    if x:
        return "{x}".format(**locals())  # error: 'locals' reads the variables of the running function
    return x


def evaluated(x):
    return eval("x + 1")  # error: 'eval' reads the variables of the running function


def directory(x):
    return dir()  # error: 'dir' reads the variables of the running function


def return_in_finally(x):
    try:
        print(x)
    finally:
        if x:
            return x  # error: 'return' inside 'finally' cannot be converted
    return 1


def return_in_finally_in_loop(x):
    while x:
        try:
            x -= 1
        finally:
            return x  # error: 'return' inside 'finally' cannot be converted


def break_in_finally(xs):
    for x in xs:
        try:
            print(x)
        finally:
            break  # error: 'break' inside 'finally' cannot be converted


def continue_in_finally(xs):
    for x in xs:
        try:
            print(x)
        finally:
            if x:
                continue  # error: 'continue' inside 'finally' cannot be converted



def walrus_in_message(x):
    assert x, x and (y := 1)  # error: ':=' in a part that may not be evaluated
    return y


def walrus_in_item(d, x):
    d[x] += x and (y := 1)  # error: ':=' in a part that may not be evaluated
    return y


def walrus_in_manager(x, m):
    with m((y := 1) if x else 2):  # error: ':=' in a part that may not be evaluated
        return y


def walrus_in_default(x):
    def inner(z=x and (y := 1)):  # error: ':=' in a part that may not be evaluated
        return z

    return inner(), y


def walrus_in_deletion(d, x):
    del d[x and (y := 1)]  # error: ':=' in a part that may not be evaluated
    return y


def walrus_in_lambda(x):
    return (lambda v: y + 1 if v and (y := v * 3) > 2 else v)(x)  # error: ':=' in a part that may not be evaluated


CASES = [
    walrus_in_manager,
    walrus_in_default,
    walrus_in_deletion,
    walrus_in_lambda,
    asynchronous,
    reserved,
    local_names,
    evaluated,
    directory,
    return_in_finally,
    return_in_finally_in_loop,
    break_in_finally,
    continue_in_finally,
    walrus_in_message,
    walrus_in_item,
]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_error_names_line_and_reason(function):
    lines, first = inspect.getsourcelines(function)
    ((line, text),) = [
        (n, re.search(r"# error: (.*?)(  #|$)", t).group(1)) for n, t in enumerate(lines, first) if "# error:" in t
    ]
    with pytest.raises(ConversionError) as caught:
        convert(function, PyRuntime())
    error = caught.value
    assert error.message.startswith(text)
    assert (error.location.file, error.location.line) == (__file__, line)
    assert error.hint


def test_error_shows_line_caret_and_hint():
    with pytest.raises(ConversionError) as caught:
        convert(local_names, PyRuntime())
    line = local_names.__code__.co_firstlineno + 2
    assert str(caught.value) == (
        "[D2S020] 'locals' reads the variables of the running function, which a converted function keeps elsewhere\n"
        f"  {__file__}:{line}:31 in local_names\n"
        '    return "{x}".format(**locals())  # error: \'locals\' reads the variables of the running function\n'
        "                          ^^^^^^^^\n"
        "  hint: name the variables"
    )
    assert isinstance(caught.value, SyntaxError)
    assert caught.value.msg == str(caught.value)


def test_no_source():
    namespace = {}
    exec("def f(x):\n    return x", namespace)
    with pytest.raises(ConversionError, match="the source of 'f' cannot be had") as caught:
        convert(namespace["f"], PyRuntime())
    assert "exec" in caught.value.hint


def test_code_of_exec_is_not_taken_for_what_else_has_its_file_name():
    code = "\n".join([
        "import linecache",
        "from dy2st.transpiler import convert",
        "from dy2st import convert as runtime",
        "def f(x): return x + 1",
        "text = 'def f(x): return x + 2'",
        "linecache.cache['<string>'] = 0, None, [text.replace('2', '1') + chr(10)], '<string>'",
        "exec(text)",
        "try: print(convert(f, runtime))",
        "except SyntaxError as error: print(error.message)",
    ])  # fmt: skip
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "the source of 'f' cannot be had"


def test_source_that_changed():
    name = "<changed>"
    namespace = {}
    exec(compile("def f(x):\n    return x", name, "exec"), namespace)
    text = "\ndef f(x):\n    return x + 1\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    with pytest.raises(ConversionError, match="does not stand where it was defined"):
        convert(namespace["f"], PyRuntime())
    linecache.cache[name] = (3, None, ["def f(x:\n"], name)
    with pytest.raises(ConversionError, match="does not parse"):
        convert(namespace["f"], PyRuntime())


@pytest.mark.parametrize("thing", [len, int, functools.partial(print), PyRuntime()], ids=lambda t: type(t).__name__)
def test_not_a_function(thing):
    with pytest.raises(ConversionError, match="is not a Python function"):
        convert(thing, PyRuntime())


def plain(x):
    return x


def test_converted_already():
    once = convert(plain, PyRuntime()).fn
    with pytest.raises(ConversionError, match="'plain' is converted already"):
        convert(once, PyRuntime())


def test_nested_too_deeply():
    # Each elif is a branch inside the else of the one before.
    text = "def f(x):\n    if x == 0:\n        y = 0\n"
    text += "".join(f"    elif x == {n}:\n        y = {n}\n" for n in range(110)) + "    return y\n"
    namespace = {}
    exec(compile(text, "<deep>", "exec"), namespace)
    linecache.cache["<deep>"] = (len(text), None, text.splitlines(keepends=True), "<deep>")
    with pytest.raises(ConversionError, match="'f' is nested too deeply to be converted"):
        convert(namespace["f"], PyRuntime())
