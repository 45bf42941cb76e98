"""Plans on disk: `executor.kept`."""

import os
import pathlib
import subprocess
import sys
from typing import Any
from unittest import mock

import numpy as np
import pytest
from dy2st_runtime import custom_op
from dy2st_runtime.errors import Location
from dy2st_runtime.executor import executable, kept, planning
from dy2st_runtime.executor.cache import ObjectCache
from dy2st_runtime.executor.compile import KernelCompiler
from dy2st_runtime.ir import IRBuilder, Program
from dy2st_runtime.ops import registry
from dy2st_runtime.passes import pipeline

from tests.conftest import KEPT_SYMBOL

FEEDS = ["x", "i"]


@pytest.fixture(autouse=True)
def compiler(tmp_path, monkeypatch):
    """A process that has nothing in memory yet, as often as it is called; what was linked stays alive."""
    alive = []

    def fresh() -> KernelCompiler:
        alive.append(KernelCompiler(ObjectCache(tmp_path)))
        monkeypatch.setattr(executable, "compiler", lambda: alive[-1])
        return alive[-1]

    monkeypatch.setattr(kept, "symbol", KEPT_SYMBOL)
    fresh()
    return fresh


def program(scale: float = 2.0, line: int = 7) -> tuple[Program, str]:
    """A row of a scaled x, which an index chooses."""
    made = Program()
    block = made.global_block()
    x = block.create_var("x", "float32", (-1, 3), is_data=True)
    i = block.create_var("i", "int64", (1,), is_data=True)
    b = IRBuilder(block)
    out = b.add(b.op("gather", X=b.scaled(x, scale), Index=i), b.op("exp", X=x))
    for op in block.ops:
        op.location = Location("model.py", line, text="row(x, i)")
    return made, out.name


def made(given: tuple[Program, str], feeds: list[str] = FEEDS) -> executable.Executable:
    return executable.Executable(given[0], feeds, [given[1]])


def run(exe: executable.Executable) -> np.ndarray:
    return exe.run([np.arange(3, dtype="float32").reshape(1, 3), np.array([0])])[0]


def planned_nowhere() -> Any:
    return mock.patch.object(planning, "planned_anew", side_effect=AssertionError("planned"))


def test_an_equal_program_is_not_planned_again(compiler):
    first = made(program())
    compiler()
    with planned_nowhere():
        second = made(program())
    np.testing.assert_array_equal(run(first), run(second))
    assert second.describe() == first.describe()
    assert second.sources == first.sources
    assert str(second.program) == str(first.program)
    assert second.kernels()[0][1] is None  # nothing was compiled


def test_errors_of_a_kept_plan_name_the_users_line(compiler):
    made(program(line=41))
    compiler()
    with planned_nowhere():
        exe = made(program(line=41))
    with pytest.raises(IndexError) as error:
        exe.run([np.ones((1, 3), "float32"), np.array([5])])
    assert error.value.location.line == 41


def test_what_a_plan_depends_on_is_in_its_name(monkeypatch):
    def name(given: tuple[Program, str], feeds: Any = FEEDS, absent: Any = (), text: str = "llvm") -> str | None:
        return kept.symbol(given[0], feeds, [given[1]], absent, text)

    plain = name(program())
    assert plain == name(program())
    others = [name(program(scale=3.0)), name(program(line=8)), name(program(), ["i", "x"]), name(program(), absent=["x"]),
              name(program(), text="numba")]  # fmt: skip
    open_ = program()
    open_[0].global_block().vars["x"].shape = (2, 3)
    with mock.patch.object(pipeline, "PASSES", pipeline.PASSES[:-1]):
        others.append(name(program()))
    assert len({plain, name(open_), *others}) == len(others) + 2
    assert None not in others


def test_the_name_is_the_same_in_every_process(tmp_path):
    code = ("from tests.runtime.executor.test_kept import *; p = program(); p[0].absent_feeds |= {'x', 'i', 'y', 'z'};"
            "print(kept.symbol(p[0], FEEDS, [p[1]], (), ''))")  # fmt: skip
    root = pathlib.Path(__file__).parents[3]
    names = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root,
                            env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}  # fmt: skip
    assert len(names) == 1
    assert len(names.pop()) == 65


@pytest.mark.parametrize("harm", ["cut", "other", "object"])
def test_what_is_damaged_is_made_anew(tmp_path, compiler, harm):
    expected = run(made(program()))
    (entry,) = (tmp_path / "plans").glob("*.plan")
    data = entry.read_bytes()
    if harm == "object":
        next((tmp_path / "objects").glob("*.o")).unlink()
    else:
        entry.write_bytes(data[: len(data) // 2] if harm == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    compiler()
    np.testing.assert_array_equal(run(made(program())), expected)
    assert entry.read_bytes() == data


def test_what_is_too_deep_for_an_entry_runs_without(tmp_path, compiler):
    given = program()
    for op in given[0].global_block().ops:
        for line in range(5000):
            op.location = Location("model.py", line, caller=op.location)
    expected = run(made(program()))
    before = len([*(tmp_path / "plans").glob("*.plan")])
    np.testing.assert_array_equal(run(made(given)), expected)
    assert len([*(tmp_path / "plans").glob("*.plan")]) == before


def test_kernels_of_users_are_planned_in_each_process(tmp_path):
    @custom_op(infer=lambda x: (x.shape, x.dtype), name="twice_kept_of_a_test")
    def twice(x):
        return x * 2

    given = Program()
    x = given.global_block().create_var("x", "float32", (3,), is_data=True)
    (out,) = IRBuilder(given.global_block()).apply(registry.get("twice_kept_of_a_test"), (x,), {})
    assert kept.symbol(given, ["x"], [out.name], (), "") is None
