"""What Python's own functions and operators raise on a path is raised by the runs that take it, not while the path is traced."""

import collections
import functools
import itertools
import linecache
import math
import operator
import re
import statistics
import textwrap

import numpy as np
import pytest
from guarding import Box

from dy2st import jit, to_tensor

STATEMENTS = """
sum([none, 2])
sum(text)
sum([[1], 2], [])
math.sqrt(none)
math.floor(text)
abs(none)
round(none)
divmod(none, 2)
pow(2, none)
int(none)
float(numbers)
range(none)
1 in none
dict(numbers)
set([numbers])
isinstance(1, five)
issubclass(1, int)
",".join(numbers)
text.upper(3)
text.encode("zz")
"%d" % text
f"{text:d}"
numbers.index()
len(wrong)
iter(wrong)
bool(wrong)
wrong.method()
Wrong(1)
getattr(wrong, "absent")
hasattr(1)
setattr(wrong, five, 1)
none.attribute = 1
functools.reduce(operator.add, [none, 1])
functools.partial(five)
operator.attrgetter("absent")(wrong)
list(itertools.accumulate([1, text]))
for _ in itertools.accumulate([1, text]): pass
collections.namedtuple("P", "a b")(1)
statistics.mean([])
re.match(five, "a")
re.compile("(")
np.add(none, 1)
str(1, 2, 3)
(lambda a: a)()
dict(**none)
max(*five)
print(1, sep=5)
open(none)
if wrong: pass
y = not wrong
""".strip().splitlines()


class Wrong:
    """Its special methods give what they may not."""

    def method(self, a):
        return a

    def __len__(self):
        return "x"

    def __bool__(self):
        return 3

    def __iter__(self):
        return 5


def function_of(statement):
    text = f"def f(x, n):\n    if n > 0:\n{textwrap.indent(statement, ' ' * 8)}\n    return x * 2\n"
    name = f"<raised: {statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"none": None, "text": "ab", "numbers": [1, 2], "five": 5, "wrong": Wrong(), "Wrong": Wrong, "math": math, "np": np, "re": re}
    scope |= {m.__name__: m for m in (collections, functools, itertools, operator, statistics)}
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


def said(call, *args):
    """The class and the first line of the text of what a call raises."""
    try:
        call(*args)
    except Exception as error:
        return type(error), str(error).split("\n")[0]
    return None


@pytest.mark.parametrize("statement", STATEMENTS)
def test_it_is_raised_by_the_run(statement):
    f = function_of(statement)
    static = jit.to_static(f)
    x = to_tensor([1.0])
    assert static(x, to_tensor(0)).tolist() == [2.0]
    wanted = said(f, x, to_tensor(1))
    assert wanted is not None
    assert said(static, x, to_tensor(1)) == wanted
    assert len(static.concrete_programs) == 1


def test_a_truth_value_that_is_a_tensor_is_none():
    class Positive(Box):
        def __bool__(self):
            return self.value > 0

    box = Positive(value=to_tensor(1.0))

    def f(x):
        return x * 2 if box else x

    for call in (f, jit.to_static(f)):
        with pytest.raises(TypeError, match="__bool__ should return bool, returned Tensor"):
            call(to_tensor(1.0))


def test_a_truth_value_that_the_run_knows():
    class Positive(Box):
        def __bool__(self):
            return bool(self.value > 0)

    box = Positive(value=to_tensor(1.0))

    def f(x):
        return x * 2 if box else x

    static = jit.to_static(f)
    for value in (1.0, -1.0):
        box.value = to_tensor(value)
        assert static(to_tensor(1.0)).item() == f(to_tensor(1.0)).item()


def test_functions_and_classes_on_a_path_have_the_names_that_they_have_in_the_source():
    def f(x, n):
        names = []
        for i in range(n):
            if x.sum() > i:
                def inner():
                    return lambda: 0

                class Inner:
                    def method(self):
                        return 0

                names = [inner.__qualname__, inner().__qualname__, Inner.__qualname__, Inner.method.__qualname__]
                names.append((lambda: 0).__qualname__)
            else:
                names = [(lambda: 0).__qualname__] * 5
        return x, names

    # Python 3.10 has no name of the function around in the code
    eager, static = ([name.partition(".f.<locals>.")[2] or name for name in call(to_tensor([1.0]), 1)[1]] for call in (f, jit.to_static(f)))
    assert [name.removeprefix("f.<locals>.") for name in static] == eager


class Entry:
    def __init__(self, value):
        self.value = value


def set_behind_if(items, x, n):
    if n > 0:
        items[0].value = "new"
    return x + len(items)


def set_in_a_loop(items, x, n):
    while n > 0:
        items[-1].value += 1
        n = n - 1
    return x + len(items)


def set_in_an_entry(items, x, n):
    for _ in range(n):
        items[0].value[0] = x
    return x + len(items)


def taken_behind_the_loop(items, x, n):
    for v in range(n):
        items[0].value = v
    if n < 1:
        items.pop()
    return x + len(items)


@pytest.mark.parametrize("function", [set_behind_if, set_in_a_loop, set_in_an_entry, taken_behind_the_loop])
@pytest.mark.parametrize("kind", [list, tuple])
def test_an_attribute_of_an_entry_that_is_not_there(function, kind):
    """The place is looked for also on the path that does not set it."""
    static, seen = jit.to_static(function), []
    for f in (function, static):
        items = kind()
        seen.append([])
        for n in (0, 2, 0):
            try:
                seen[-1].append(f(items, to_tensor(1.0), to_tensor(n)).item())
            except (IndexError, AttributeError) as error:
                seen[-1].append((type(error), str(error).split("\n")[0]))
    assert seen[0] == seen[1]
