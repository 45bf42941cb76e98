"""Random programs: all ways give what eager mode gives; what was found once stays right; and the parts of the fuzzer."""

import ast
import contextlib
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dy2st import jit
from dy2st.errors import StructureError
from tests.fuzz import driver, found_once, kept
from tests.fuzz.generator import Generator, alternatives, pieces, program
from tests.fuzz.reduce import candidates, reduced, regression_test
from tests.fuzz.ways import CALLS, WAYS, Disagreement, Way, check

INTERPRETED = [name for name in WAYS if name != "native"]


@settings(max_examples=14, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_random_programs(rng, mode):
    check(Generator(rng, 6).program(), ["optimized", "converted"], mode)


def test_few_are_refused():
    refusals = [check(program(seed), ["interpreted"], seed % 4)[0] for seed in range(20)]
    assert sum(r is not None and r.useful for r in refusals) <= 5, refusals


@pytest.mark.parametrize("seed", range(3))
def test_native(seed):
    check(program(seed), ["native", "saved", "recomputed"], seed % 4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400, 50))
def test_more_programs(seed):
    for number in range(seed, seed + 50):
        check(program(number), driver.ways_of(number, 25), number % 4)


@pytest.mark.parametrize("function", found_once.PROGRAMS, ids=lambda f: f.__name__)
def test_found_once(function):
    for mode in (0, 2):
        refusal, _ = check(function, [*WAYS], mode)
        assert refusal is None, refusal


@pytest.mark.parametrize("function", kept.TOLD, ids=lambda f: f.__name__)
def test_kept_as_eagerly(function):
    for mode in (0, 2):
        refusal, _ = check(function, ["converted", "interpreted", "optimized"], mode)
        assert refusal is None, refusal


@pytest.mark.parametrize("function", kept.NOT_TOLD, ids=lambda f: f.__name__)
def test_what_would_be_two_objects_is_not_kept(function):
    way = Way(function, jit.to_static, 0)
    error = next(e for values in CALLS if (e := way.observe(values).error) is not None)
    assert isinstance(error, StructureError)
    assert error.location is not None
    assert error.location.file == kept.__file__


WRONG = """
def program(x, n, m, a):
    items = []
    for v in x:
        s = v * 2
        items.append(s.tanh() + n)
    if n > 0:
        y = x * 2 + len(items)
    else:
        y = x
    return y, items
"""


def test_a_disagreement_is_found_and_made_small(monkeypatch):
    """Where a way is wrong about lists that are not empty."""

    def wrong(function):
        def called(*args):
            y, items = function(*args)
            return y, [v + 1 for v in items]

        return called

    monkeypatch.setitem(WAYS, "interpreted", (wrong, contextlib.nullcontext, 2e-5))
    with pytest.raises(Disagreement, match="interpreted: result"):
        check(WRONG, ["interpreted"])
    monkeypatch.setattr(driver, "ways_of", lambda *_: ["interpreted"])
    monkeypatch.setattr(driver, "program", lambda _: WRONG)
    what, report = driver.run(3, 0)
    assert what == "DISAGREEMENT interpreted: result"
    assert "def fuzzed_3(x, n, m, a):" in report
    assert "n > 0" not in report


def test_state_is_brought_back_after_an_exception():
    def attribute_made_a_parameter(self, x, n, m, a):
        self.best = self.params["p"]
        if n > 0:
            raise ValueError
        return x

    assert check(attribute_made_a_parameter, ["converted"]) == (None, 2)


def test_reduced_keeps_what_shows():
    small = reduced(WRONG, lambda text: "len(items)" in text)
    assert len(small) < 120
    assert "len(items)" in small
    assert regression_test(small, "kept").lstrip().startswith("def kept(")


def test_texts_stay_texts():
    source = """def program(x, n, m, a):
    return f"a {n:>{m}} {x!r} b" + str(f"{n + 1:.3f}")
"""
    smaller = set(candidates(ast.parse(source)))
    assert len(smaller) > 10
    assert all(ast.parse(text) for text in smaller)


def test_what_no_text_can_hold_is_left_out():
    """A pattern with fewer keys than patterns, in the first statement; the others get smaller all the same."""
    source = """def program(x, n, m, a):
    match a:
        case {"k": v, "l": w}:
            x = v + w
    return x * 2
"""
    small = reduced(source, lambda text: "'k': v" in text and "return" in text)
    assert small.endswith("            pass\n    return x")


def test_templates():
    assert pieces("a < <@c> <<+|(<num> < 2)>") == (("a < ", False), ("@c", True), (" <", False), ("+|(<num> < 2)", True), ("", False))
    assert alternatives("+|<a|b>|c") == ["+", "<a|b>", "c"]
    assert program(5) == program(5)
    assert all(compile(program(seed), "p", "exec") for seed in range(300))
    assert Generator(random.Random(1)).program() != Generator(random.Random(2)).program()
