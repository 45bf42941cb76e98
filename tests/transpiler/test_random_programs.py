"""Random terminating functions: results, exceptions and printed text are those of the original."""

import linecache
import textwrap

from equivalence import observe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyruntime import PyRuntime

from dy2st.transpiler import conversion, convert

NAMES = ["a", "b", "c", "d"]


class OutOfFuel(Exception):
    pass


def make_tick():
    fuel = 60

    def tick(value=True):
        nonlocal fuel
        fuel -= 1
        if fuel < 0:
            raise OutOfFuel
        return value

    return tick


def expressions(depth=2):
    leaf = st.sampled_from([*NAMES, "0", "1", "2", "3", "len(xs)", "xs[0]", "box['n']"])
    if depth == 0:
        return leaf
    sub = expressions(depth - 1)
    return st.one_of(
        leaf,
        st.builds("({} {} {})".format, sub, st.sampled_from(["+", "-", "*", "//", "%"]), sub),
        st.builds("({} {} {})".format, sub, st.sampled_from(["and", "or", "<", "==", ">=", "!="]), sub),
        st.builds("({} < {} <= {})".format, sub, sub, sub),
        st.builds("({} if {} else {})".format, sub, sub, sub),
        st.builds("(not {})".format, sub),
        st.builds("show({!r}, {})".format, st.sampled_from("pqr"), sub),
        st.builds("({} in ({}, {}))".format, sub, sub, sub),
        st.builds("({} := {})".format, st.sampled_from(NAMES), sub),
        st.builds("[v + {} for v in xs if v > {}][-1]".format, sub, sub),
    )


def simple(in_loop):
    kinds = [
        st.builds("{} = {}".format, st.sampled_from(NAMES), expressions()),
        st.builds("{} {}= {}".format, st.sampled_from(NAMES), st.sampled_from("+-*"), expressions()),
        st.builds("{0}, {1} = {2}, {3}".format, *[st.sampled_from(NAMES)] * 2, *[expressions(1)] * 2),
        st.builds("print({})".format, expressions()),
        st.builds("xs.append({})".format, expressions(1)),
        st.builds("xs[{}] = {}".format, expressions(1), expressions(1)),
        st.builds("xs[{}] += {}".format, expressions(1), expressions(1)),
        st.builds("{} = xs.pop()".format, st.sampled_from(NAMES)),
        st.builds("box['n'] = {}".format, expressions(1)),
        st.builds("obj.h = {}".format, expressions(1)),
        st.builds("print(obj.h, {})".format, expressions(0)),
        st.builds("del {}".format, st.sampled_from(NAMES)),
        st.builds("assert {}, {}".format, expressions(1), expressions(1)),
        st.builds("fs.append(lambda: {})".format, expressions(1)),
        st.just("print([f() for f in fs])"),
        st.builds("return {}".format, expressions(1)),
        st.just("return"),
        st.builds("raise ValueError({})".format, expressions(1)),
    ]
    if in_loop:
        kinds += [st.just("break"), st.just("continue")] * 3
    return st.one_of(kinds)


def indent(lines):
    return textwrap.indent("\n".join(lines), "    ")


def block(depth, in_loop):
    return st.lists(statement(depth, in_loop), min_size=1, max_size=4)


def statement(depth, in_loop):
    if depth == 0:
        return simple(in_loop)

    def inner(loop=in_loop):
        return block(depth - 1, loop).map(indent)

    def optional(word, loop=in_loop):
        return st.one_of(st.just(""), inner(loop).map(lambda text: f"\n{word}:\n{text}"))

    test = expressions(1)
    compound = [
        st.builds("if {}:\n{}{}".format, test, inner(), optional("else")),
        st.builds("if {}:\n{}\nelif {}:\n{}{}".format, test, inner(), test, inner(), optional("else")),
        st.builds("while tick({}):\n{}{}".format, test, inner(True), optional("else")),
        st.builds(
            "for {} in {}:\n{}{}".format,
            st.sampled_from([*NAMES, "(a, *b)", "xs[0]"]),
            st.sampled_from(["range(3)", "list(xs)", "range(tick(2))", "zip(xs, xs)", "(1, 2)"]),
            inner(True),
            optional("else"),
        ),
        st.builds("try:\n{}\nexcept (ZeroDivisionError, NameError) as {}:\n{}{}".format, inner(),
                  st.sampled_from(["e", "a"]), inner(), optional("else")),
        st.builds("try:\n{}\nfinally:\n    print('finally')".format, inner()),
        st.builds("with manager({}):\n{}".format, st.booleans(), inner()),
        st.builds("def g(a=1):\n{}\nfs.append(g)".format, block(depth - 1, False).map(indent)),
    ]
    return st.one_of(simple(in_loop), *compound, *compound[:4])


class Manager:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        print("enter")

    def __exit__(self, kind, *rest):
        print("exit", kind)
        return self.swallow and kind is not OutOfFuel


class Thing:
    def __eq__(self, other):
        return vars(self) == vars(other)


def show(name, value):
    print(name, value)
    return value


def build(source, filename):
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"show": show, "manager": Manager}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["f"], namespace


def compare(source, arguments):
    function, namespace = build(source, "<random program>")
    conversion._cache.clear()
    converted = convert(function, PyRuntime())
    for a, b, xs in arguments:
        seen = []
        for candidate in (function, converted.fn):
            namespace["tick"] = make_tick()
            seen.append(_comparable(observe(candidate, (a, b, xs, {"n": 1}, Thing()), {})))
        assert seen[0] == seen[1], f"{source}\n{converted.code}"


def _comparable(observed):
    """Addresses of functions and texts about names differ."""
    result, printed, arguments, _ = observed
    return repr(result).partition(" at 0x")[0], printed.partition(" at 0x")[0], repr(arguments[2:4]), vars(arguments[4])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(block(3, False), st.lists(st.tuples(*[st.integers(-2, 3)] * 2, st.lists(st.integers(0, 3), min_size=1, max_size=3)),
       min_size=2, max_size=3))
def test_random_programs(body, arguments):
    source = "def f(a, b, xs, box, obj):\n    fs = []\n" + indent(body) + "\n"
    try:
        compile(source, "<random program>", "exec")
    except SyntaxError:
        return  # a walrus where Python allows none
    compare(source, arguments)
