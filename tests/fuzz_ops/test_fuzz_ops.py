"""Random programs of many operations: native calls give what eager mode gives; and the parts of the fuzzer."""

import ast
import functools
import itertools
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import dy2st as paddle
from dy2st.errors import ShapeError
from tests.fuzz.ways import Disagreement
from tests.fuzz_ops import driver
from tests.fuzz_ops.check import check
from tests.fuzz_ops.generator import IMPORTS, Generator, program
from tests.fuzz_ops.reduce import candidates
from tests.fuzz_ops.templates import GROUPS


# ---- random programs ----
def agree(seeds):
    for seed in seeds:
        text = program(seed)
        try:
            check(text)
        except Disagreement as error:
            pytest.fail(f"seed {seed}: {error}\n\n{text}", pytrace=False)


@pytest.mark.parametrize("first", range(300, 320, 4))
def test_programs_agree(first):
    agree(range(first, first + 4))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 300, 20))
def test_more_programs_agree(first):
    agree(range(first, first + 20))


# ---- the checker ----
AGREES = f"""{IMPORTS}
THREADS = 1
GRAD = True
CALLS = [
    [("float32", (2, 3), "normal", 1), ("float32", (3,), "normal", 2)],
    [("float32", (4, 3), "normal", 3), ("float32", (3,), "normal", 4)],
]
FROZEN = ["a1"]

def program(a0, a1):
    v1 = a0 * a1
    v2 = F.relu(v1) - paddle.tanh(a0).sum(axis=0)
    return [v1, v2]
"""
RAISES = AGREES.replace("return", "v3 = v1.reshape([2, 3])\n    return")


def changed(change):
    """Makes of a function one whose results are other ones."""
    return lambda function: lambda *args: change(*function(*args))


def raising(error):
    def make(function):
        def call(*args):
            raise error

        return call

    return make


def changing_an_argument(function):
    def call(x, y):
        results = function(x, y)
        y.scale_(2.0)
        return results

    return call


FAULTS = {
    "number": ("result: values", changed(lambda v, w: [v + 0.01, w])),
    "infinity": ("result: values", changed(lambda v, w: [v, w / 0.0])),
    "dtype": ("result: dtype", changed(lambda v, w: [v, w.astype("float64")])),
    "shape": ("result: shape", changed(lambda v, w: [v.unsqueeze(0), w])),
    "fewer results": ("structure", changed(lambda v, w: [v])),
    "no tensor": ("structure", changed(lambda v, w: [1.0, w])),
    "gradient": ("gradient of a: values", changed(lambda v, w: [v * 2.0 - v.detach(), w])),
    "no gradient": ("result stop_gradient: kind", changed(lambda v, w: [v.detach(), w])),
    "argument": ("argument a: values", changing_an_argument),
    "exception": ("only static raises KeyError 'key'", raising(KeyError("key"))),
    "refusal": ("only static raises ShapeError", raising(ShapeError("3 and 4 do not fit"))),
}


@pytest.mark.parametrize(("kind", "make"), FAULTS.values(), ids=FAULTS)
def test_planted_faults_are_found(kind, make):
    with pytest.raises(Disagreement) as error:
        check(AGREES, make)
    assert error.value.kind.startswith(kind.replace("'key'", "#"))


def test_planted_faults_in_exceptions_are_found():
    def quiet(function):
        def call(*args):
            try:
                return function(*args)
            except ShapeError:
                return [*args]

        return call

    with pytest.raises(Disagreement, match="no ShapeError\nin call 1: eager ShapeError"):
        check(RAISES, quiet)
    with pytest.raises(Disagreement, match="only static raises KeyError"):
        check(RAISES, raising(KeyError("key")))
    with pytest.raises(Disagreement, match="another exception ShapeError KeyError"):
        check(RAISES.replace("[2, 3]", "[5]"), raising(KeyError("key")))


def test_what_agrees():
    assert check(AGREES) == "same"
    assert check(AGREES, changed(lambda v, w: [v + 1e-6, w])) == "same"
    assert check(RAISES) == "raised"


def test_what_is_no_disagreement():
    assert check(AGREES, raising(ShapeError("the size is not known yet"))).startswith("refused [D#S#] the size")
    noise = AGREES.replace("a0 * a1", "paddle.frac(a0 * 1000000.0)")
    assert check(noise, changed(lambda v, w: [v + 0.05, w])) == "unstable"
    with pytest.raises(Disagreement, match="gradient of a: values"):
        check(noise, changed(lambda v, w: [v.detach() + 0.05 * v, w]))
    special = AGREES.replace("normal", "special", 1)
    assert check(special, changed(lambda v, w: [v, w / 0.0])) == "odd"


# ---- the generator ----
def test_a_seed_is_a_program():
    texts = [program(seed) for seed in range(20)]
    assert [program(seed) for seed in reversed(range(20))] == texts[::-1]
    assert len(set(texts)) == 20
    command = [sys.executable, "-m", "tests.fuzz_ops", "--show", "7"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
                           env={**os.environ, "PYTHONHASHSEED": "3"}).stdout  # fmt: skip
    assert shown == texts[7] + "\n"


def test_programs_have_all_templates():
    taken = set()
    for seed in range(150):
        generator = Generator(seed)
        compile(generator.program(), "p", "exec")
        taken.update(generator.taken)
    missing = {template for _, templates in GROUPS.values() for template in templates} - taken
    assert len(missing) <= 2, missing


def test_groups_of_templates():
    generator = Generator(2, ["products", "shapes"])
    assert generator.program() == program(2, ["products", "shapes"]) != program(2)
    assert set(generator.taken) <= {*GROUPS["products"][1], *GROUPS["shapes"][1]}


# ---- the reducer and the command ----
def wrong_relu(function):
    """The function with a ReLU that is wrong."""
    wrong = types.SimpleNamespace(**vars(paddle.nn.functional))
    wrong.relu = lambda x: paddle.nn.functional.relu(x) + 1.0
    return types.FunctionType(function.__code__, {**function.__globals__, "F": wrong})


def test_a_disagreement_is_made_small(monkeypatch):
    monkeypatch.setattr(driver, "check", functools.partial(check, make=wrong_relu))
    text = next(t for t in map(program, itertools.count()) if "= F.relu(" in t and t.count("\n") > 18)
    known = []
    what, report = driver.run(text, 60, lambda *said: known.append(said))
    assert what.startswith("DISAGREEMENT result")
    assert known[0] == (driver.NOTHING, text)
    assert known[1][0] == what
    small = report[report.index("import dy2st") :]
    function = small[small.index("def program") :]
    assert "F.relu(" in function
    assert function.count("\n") <= 3
    assert function.partition(")")[0].count(",") <= 1
    with pytest.raises(Disagreement):
        driver.check(small)


def test_candidates_are_programs():
    text = AGREES.replace("return [v1, v2]", "v3 = v1\n    if v3.sum() > 0:\n        v3 = v3 * 2\n    return [v2, v3]")
    before = ast.unparse(ast.parse(text))
    tree = ast.parse(text)
    found = list(candidates(tree))
    assert ast.unparse(tree) == before
    assert len(set(found)) > 20
    assert all(ast.parse(smaller) for smaller in found)
    assert any("v3 = v1" not in smaller and "if v1.sum() > 0" in smaller for smaller in found)
    unread = next(candidates(ast.parse(AGREES.replace("a0 * a1", "a0 * 2"))))
    assert "def program(a0):" in unread
    assert unread.count("float32") == 2


def test_a_process_that_dies_or_hangs_is_told(tmp_path, capfd, monkeypatch):
    assert list(driver.chunk(range(3, 5), ["no such group"], 1, str(tmp_path))) == [(3, driver.NOTHING, "exit status 1\n")]
    assert "KeyError: 'no such group'" in capfd.readouterr().err
    monkeypatch.setattr(driver, "PATIENCE", 0.01)
    assert list(driver.chunk(range(3, 5), [], 1, str(tmp_path))) == [(3, driver.NOTHING, "nothing for 0.01 s\n")]


@pytest.mark.parametrize("wrong", [False, True])
def test_the_command(monkeypatch, capsys, wrong):
    monkeypatch.setattr(sys, "argv", ["fuzz_ops", "--seed", "28", "--programs", "2"])
    if wrong:
        monkeypatch.setattr(driver, "results", lambda options: [(28, "same", ""), (29, "DISAGREEMENT dtype", "def program")])
    assert driver.main() == int(wrong)
    shown = capsys.readouterr().out
    assert shown.splitlines()[-1].startswith("2 programs, seeds 28 to 29, in ")
    assert shown.endswith(f"s: {int(wrong)} disagreements\n")
    assert ("--- seed 29: DISAGREEMENT dtype\ndef program" in shown) == wrong
