"""Random terminating functions: results, exceptions and printed text are those of the original."""

import linecache
import random
import re

import pytest
from equivalence import observe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import program
from pyruntime import PyRuntime

from dy2st.transpiler import conversion, convert

ARGUMENTS = [(0, 1, [1, 2]), (2, 0, [0]), (-1, 3, [3, 0, 1])]


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


def short(value):
    if isinstance(value, list) and len(value) > 50:
        raise OutOfFuel
    return value


class Manager:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        print("enter")

    def __exit__(self, kind, *rest):
        print("exit", "NameError" if kind and issubclass(kind, NameError) else kind)
        return self.swallow and kind is not OutOfFuel


class Thing:
    pass


def show(name, value):
    print(name, value)
    return value


def compare(source):
    filename = "<random program>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"show": show, "short": short, "manager": Manager}
    exec(compile(source, filename, "exec"), namespace)
    conversion._cache.clear()
    converted = convert(namespace["f"], PyRuntime())
    for a, b, xs in ARGUMENTS:
        seen = []
        for candidate in (namespace["f"], converted.fn):
            namespace["tick"] = make_tick()
            seen.append(comparable(observe(candidate, (a, b, xs, {"n": 1}, Thing()), {})))
        assert seen[0] == seen[1], f"for {a}, {b}, {xs}\n{source}\n{converted.code}"


def comparable(observed):
    """Addresses of functions differ, and the names of the functions that runs of code are in."""
    result, printed, arguments, _ = observed
    kind = "NameError" if result[0] == "raised" and issubclass(result[1], NameError) else result
    if "RecursionError" in repr(result):
        return "RecursionError"  # converted code needs more frames, so it comes earlier
    text = repr((kind, printed, arguments[2:4], vars(arguments[4])))
    text = re.sub(r"cannot access \w+ variable '(\w+)'[^\\'\"]*", r"no value: \1", text)
    return re.sub(r"<function .*? at 0x\w+>", "<function>", text)


def valid(source):
    try:
        compile(source, "<random program>", "exec")
    except SyntaxError:
        return False  # a walrus where Python allows none
    return True


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_random_programs(rnd):
    source = program(rnd, 2)
    if valid(source):
        compare(source)


@pytest.mark.parametrize("seed", range(4))
def test_larger_random_programs(seed):
    for number in range(12):
        source = program(random.Random(f"{seed} {number}"), 4)
        if valid(source):
            compare(source)
