"""Random programs: all ways give what eager mode gives; what was found once stays right; and the parts of the fuzzer."""

import ast
import contextlib
import gc
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dy2st import jit
from dy2st.errors import StructureError
from tests.fuzz import changes, constructs, driver, found_once, kept, mutants
from tests.fuzz.generator import Generator, alternatives, pieces, program
from tests.fuzz.reduce import candidates, reduced, regression_test, written
from tests.fuzz.ways import CALLS, WAYS, Disagreement, Way, check, compare, same

ON_THE_CPU = [name for name in WAYS if name not in ("cuda", "numba")]


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


@pytest.mark.parametrize("seed", range(6))
def test_mutants(seed):
    assert not driver.run(seed, 0, "mutants")[0].startswith("DISAGREEMENT")


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_tangles(seed):
    found = [driver.run(number, 0, "tangles")[0] for number in range(seed, seed + 10)]
    assert not [what for what in found if what.startswith("DISAGREEMENT")]
    assert "same" in found  # the others are refused, as only the run knows who sees a change


@pytest.mark.parametrize("seed", range(0, 60, 10))
def test_mixtures(seed):
    found = [driver.run(number, 0, "mixtures")[0] for number in range(seed, seed + 10)]
    assert not [what for what in found if what.startswith("DISAGREEMENT")]
    assert "same" in found


@pytest.mark.parametrize("change", {c.__name__: c for c in constructs.ALL}.values(), ids=lambda c: c.__name__)
def test_changes_of_mutants(change):
    """Each gives another program that Python compiles, for some program."""
    case = next(c for c in changes.corpus() if (c.module, c.name) == ("exits", "raises_in_loop"))
    text = ast.unparse(changes.sliced(case.module, case.name))
    changed = []
    for seed in range(20):
        new = changes.Changed(random.Random(seed), changes.sliced(case.module, case.name), case)
        new.once(change)
        changed.append(written(new.tree))
    assert any(new is not None and new != text for new in changed)


OWN_CLASSES = """
KEPT = []
class Own(Exception):
    pass
class Box:
    pass
def f(x, n):
    if x.sum() > n:
        raise Own("large")
    box = Box()
    box.rows = [x, x * 2]
    KEPT.append(n)
    return box, f
program = f
"""


def test_objects_of_a_mutant_are_compared_by_what_is_in_them():
    calls = [([1.0, 2.0], 5), ([3.0, 4.0], 5), ([0.0], 0)]
    assert check(OWN_CLASSES, ["converted"], 0, calls, mutants.MutantWay) == (None, 1)
    for other in ("x * 3", "x", "1"):
        with pytest.raises(Disagreement, match="other: result"):
            check_other(OWN_CLASSES, OWN_CLASSES.replace("x * 2", other), calls)
    with pytest.raises(Disagreement, match="other: KEPT"):
        check_other(OWN_CLASSES, OWN_CLASSES.replace("append(n)", "append(n + 1)"), calls)


def check_other(wanted, found, calls):
    """Compares two mutants as if one were a way to run the other."""
    ways = [mutants.MutantWay(text, lambda f: f, 0) for text in (wanted, found)]
    for values in calls:
        compare(*(way.observe(values) for way in ways), "other", 1e-4)


MODES = [0, pytest.param(2, marks=pytest.mark.slow)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", found_once.PROGRAMS, ids=lambda f: f.__name__)
def test_found_once(function, mode):
    refusal, _ = check(function, ON_THE_CPU, mode)
    assert refusal is None, refusal


@pytest.mark.slow
@pytest.mark.parametrize("function", found_once.PROGRAMS[::4], ids=lambda f: f.__name__)
def test_engines_agree_on_programs(function):
    refusal, _ = check(function, ["native", "numba"])
    assert refusal is None, refusal


@pytest.mark.parametrize("function", kept.TOLD, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_kept_as_eagerly(function, mode):
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
    assert gc.isenabled()


def test_programs_are_run_in_the_ways_that_are_told(monkeypatch):
    ran = []
    monkeypatch.setitem(WAYS, "converted", (lambda f: ran.append("converted") or f, contextlib.nullcontext, 0.0))
    monkeypatch.setitem(WAYS, "optimized", (lambda f: ran.append("optimized") or f, contextlib.nullcontext, 0.0))
    monkeypatch.setattr(driver, "program", lambda _: WRONG)
    assert driver.run(3, 0, only=["converted"])[0] == "same"
    assert driver.run(3, 0)[0] == "same"
    assert ran == ["converted", "optimized"]


@pytest.mark.parametrize(("found", "agrees"), [
    ({"1": "0", "2": "0"}, True),
    ({"2": "1", "1 may": ("0",), "2 may": ("0", "1")}, True),  # 1 and 2 are one, which may be 0
    ({"1 may": ("0",), "2 may": ("0",)}, True),
    ({"2": "1"}, False),
    ({"1": "0"}, False),
    ({"1": "0", "2": "0", "3": "0"}, False),
    ({"2": "1", "3": "1", "1 may": ("0",), "2 may": ("0", "1"), "3 may": ("0", "1", "2")}, False),
])  # fmt: skip
def test_objects_that_are_one(found, agrees):
    """0, 1 and 2 are one object eagerly, and 3 is another one."""
    found = {f"{path} be" if path.endswith("may") else f"{path} is": first for path, first in found.items()}
    with contextlib.nullcontext() if agrees else pytest.raises(Disagreement):
        same({"1 is": "0", "2 is": "0"}, found, "way")


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
