"""Random programs: static gives what eager gives, with gradients, texts and exceptions, for several inputs and sizes.

A program that static refuses with a clear error is no failure; how many are is bounded, so that refusals do not become common.
"""

import contextlib
import io
import itertools
import linecache
import random

import numpy as np
import pytest
from dy2st_runtime import config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from three_ways import compare, outcome
from typed_programs import Writer

from dy2st import jit
from dy2st.errors import Dy2stError
from dy2st.tensor import Tensor

_numbers = itertools.count()
INPUTS = [([1.0, -2.0], 3, [1, 2]), ([0.5, 2.0, -0.25], 0, [0, -1, 4]), ([-1.5], 1, [3])]
REFUSED = "refused"


def compiled(source):
    name = f"<random program {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"__name__": "random_program"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def observed(function, values):
    """The outcome of a call, and what it prints."""
    x, n, m = values
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        found = outcome(function, (x, n, Tensor(np.array(m))))
    return found, shown.getvalue()


def is_refusal(kind):
    """Whether it is an error of the conversion, not one that the run has found in the values."""
    return isinstance(kind, type) and issubclass(kind, Dy2stError) and not issubclass(kind, (IndexError, ZeroDivisionError))


def check(source):
    """Compares all calls; `REFUSED` if there is a clear error instead."""
    function = compiled(source)
    static = jit.to_static(function)
    result = ""
    for values in INPUTS:
        (expected, shown), (found, printed) = observed(function, values), observed(static, values)
        if is_refusal(found[0]) and found[:2] != expected[:2]:
            # that a variable is undefined has a message of its own in static
            if not (isinstance(expected[0], type) and issubclass(found[0], expected[0])):
                result = REFUSED
            continue
        compare(expected, found, (source, values))
        assert printed == shown, (source, values)
    return result


def program(rng, exceptions):
    return Writer(rng, exceptions).program(depth=rng.choice((1, 2, 2, 3)), statements=rng.choice((2, 3, 5)))


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.booleans())
def test_interpreted_is_eager(rng, exceptions):
    with config.NO_JIT.override(True):
        check(program(rng, exceptions))


def test_few_are_refused():
    with config.NO_JIT.override(True):
        results = [check(program(random.Random(seed), False)) for seed in range(8)]
    assert results.count(REFUSED) <= 2, results


@pytest.mark.parametrize("seed", range(2))
def test_native_is_eager(seed):
    check(program(random.Random(seed), True))
