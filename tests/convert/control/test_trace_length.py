"""How many operations a trace takes for a function that says many things: about as many, or the square of that, not two to its power."""

import linecache
import textwrap

import pytest
from dy2st_runtime import config

import dy2st as paddle
from dy2st import jit

COUNT = 20
# two to the power of 20 is a million
LIMIT = 50 * COUNT**2
DIFFER = """\
def differ(a, b):
    if a > b:
        return a == b
    return a != b + 1


def f(x, n):
"""


def lines(template, count=COUNT):
    return "\n".join(template.format(i=i) for i in range(count))


BODIES = {
    "or": "return " + " or ".join(f"n + {i} > 40" for i in range(COUNT)),
    "and of or": "return " + " and ".join(f"(n > {i} or n == -{i})" for i in range(COUNT)),
    "or of tensors": "return " + " or ".join(f"x[{i % 2}]" for i in range(COUNT)),
    "comparisons": "return " + " < ".join(f"n * {i}" for i in range(COUNT)),
    "any": f"return any(differ(n, i) for i in range({COUNT}))",
    "all": f"return all(differ(n, i) for i in range({COUNT}))",
    "in": "return (n, 1) in [" + ", ".join(f"(n * {i}, {i})" for i in range(COUNT)) + "]",
    "named": "return " + " and ".join(f"(v{i} := n + {i}) > {i}" for i in range(COUNT)),
    "elif": "if n == -1: x = x * 2\n" + lines("elif n == {i}: x = x + {i}") + "\nreturn x",
    "returns": lines("if n == {i}: return x + {i}") + "\nreturn x",
    "match": "match n:\n" + lines("    case {i}: x = x + {i}") + "\nreturn x",
    "else in else": "return " + "".join(f"x + {i} if n == {i} else " for i in range(COUNT)) + "x",
    "raised in one try": "try:\n" + lines("    if n == {i}: raise ValueError") + "\nexcept ValueError:\n    x = x * 2\nreturn x",
    "tries": lines("try:\n    if n == {i}: raise ValueError\nexcept ValueError:\n    x = x * 2") + "\nreturn x",
    "breaks": "for i in range(n):\n" + lines("    if x[0] > {i}: break\n    x = x + 1") + "\nreturn x",
    "optional values": lines("v{i} = x if n > {i} else None") + "\nreturn " + " or ".join(f"v{i} is None" for i in range(COUNT)),
    "one of several": "f = abs\n" + lines("if n == {i}: f = [abs, len, str, repr][{i} % 4]") + "\nreturn f is abs",
    "keys": "d = {}\n" + lines("if n > {i}: d[{i}] = x") + "\nreturn len(d)",
}


@pytest.mark.parametrize("name", BODIES)
def test_it_does_not_double_with_each_part(name):
    text = DIFFER + textwrap.indent(BODIES[name], "    ")
    file = f"<length of a trace: {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {}
    exec(compile(text, file, "exec"), scope)
    x, n = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor(3)
    with config.NO_JIT.override(True), config.TRACE_LIMIT.override(LIMIT):
        found = jit.to_static(scope["f"])(x, n)
    wanted = scope["f"](x, n)
    assert type(found) is type(wanted)
    assert (found == wanted).all() if isinstance(wanted, paddle.Tensor) else found == wanted
