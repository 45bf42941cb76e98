"""The manager times, dumps and verifies; the pipeline is one list and gives the same text each time."""

from __future__ import annotations

import random

import pytest
from dy2st_runtime import config
from dy2st_runtime.errors import VerifyError
from dy2st_runtime.ir import Program, clone_program
from dy2st_runtime.passes.manager import PassManager
from dy2st_runtime.passes.pipeline import PASSES, optimize

from hand_built import Made  # isort: skip
from random_programs import FLOATS, random_source, staged  # isort: skip


def test_times_and_dumps_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    m = Made()
    y = m.b.relu(m.b.op("assign", X=m.data("x", [3])))
    manager = PassManager(PASSES)
    with config.DUMP.override(frozenset({"simplify"})):
        manager.run(m.program, [y.name])
    assert [name for name, _ in manager.times] == [name for name, _ in PASSES]
    text = capsys.readouterr().err
    assert text.count("# after simplify") == [name for name, _ in PASSES].count("simplify")
    assert "relu(X=x)" in text
    assert "# after dce" not in text
    assert manager.report().splitlines()[0].startswith("ssa")


def breaks(program: Program, keep: frozenset[str]) -> bool:
    program.global_block().ops[0].inputs["X"] = ["nowhere"]
    return True


def test_a_pass_that_breaks_the_program_is_named() -> None:
    m = Made()
    m.b.relu(m.data("x", [3]))
    with (
        config.CHECKS.override(True),
        pytest.raises(VerifyError, match="after the pass breaks: 'nowhere' is read before"),
    ):
        PassManager([("breaks", breaks)]).run(m.program, [])


def test_without_checks_nothing_is_verified() -> None:
    m = Made()
    m.b.relu(m.data("x", [3]))
    with config.CHECKS.override(False):
        PassManager([("breaks", breaks)]).run(m.program, [])


@pytest.mark.parametrize("seed", range(3))
def test_the_pipeline_gives_the_same_text_each_time(seed: int) -> None:
    program, target = staged(random_source(random.Random(seed), depth=3))
    texts = {str(optimize(clone_program(program), [*FLOATS, "w", "n"], [target.name])[0]) for _ in range(2)}
    assert len(texts) == 1


def test_the_pipeline_reports_updates_and_shapes() -> None:
    m = Made()
    s = m.program.global_block().create_var("s", "float32", [-1], persistable=True)
    m.program.updates = {"s": m.b.exp(m.b.relu(s)).name}
    program, updates, shapes = optimize(m.program, [], [])
    assert updates == {"s": "exp.Out_0"}
    assert shapes["exp.Out_0"] == shapes["s"] or shapes["exp.Out_0"][0].same(shapes["s"][0])
    assert program is m.program
