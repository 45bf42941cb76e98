"""Plans on disk: `executor.kept`."""

import os
import pathlib
import subprocess
import sys
from typing import Any
from unittest import mock

import numpy as np
import pytest
from dy2st_runtime import config, custom_op
from dy2st_runtime.errors import Location
from dy2st_runtime.executor import compile, engines, executable, kept, planning
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


def fuller() -> Program:
    """One with all that a Program may have."""
    made = Program()
    block = made.global_block()
    block.create_var("w", "float32", (2, 3), persistable=True)
    x = block.create_var("x", "float32", (2, 3), is_data=True)
    c = block.create_var("c", "bool", (1,), is_data=True)
    b = IRBuilder(block)
    sides = []
    for factor in (2.0, 3.0):
        side = b.sub_block()
        with b.inside(side):
            side.results = [b.scaled(x, factor).name]
        sides.append(side)
    b.cond(c, true_block=sides[0], false_block=sides[1])
    b.constant(2.0, "float32", [2])
    block.ops[1].attrs["values"] = np.array([1, 2])
    return made


def _attr(name: str, value: Any) -> Any:
    return lambda p: p.global_block().ops[0].attrs["true_block"].ops[0].attrs.__setitem__(name, value)


def _of(name: str, **values: Any) -> Any:
    return lambda p: vars(p.global_block().vars[name]).update(values)


PARTS: dict[str, Any] = {
    "dtype": _of("x", dtype="float64"),
    "shape": _of("x", shape=(2, -1)),
    "kind": _of("x", kind="array"),
    "persistable": _of("w", persistable=False),
    "stop_gradient": _of("x", stop_gradient=True),
    "is_parameter": _of("w", is_parameter=True),
    "is_data": _of("x", is_data=False),
    "an attribute": _attr("scale", 4.0),
    "the type of an attribute": _attr("scale", 2),
    "the sign of 0": _attr("bias", -0.0),
    "one more attribute": _attr("more", None),
    "an array": lambda p: p.global_block().ops[1].attrs.update(values=np.array([1, 3])),
    "the dtype of an array": lambda p: p.global_block().ops[1].attrs.update(values=np.array([1, 2], "int32")),
    "an input": lambda p: p.global_block().ops[0].attrs["true_block"].ops[0].inputs.update(X=["w"]),
    "an output": lambda p: p.global_block().ops[1].outputs.update(Out=["w"]),
    "a result": lambda p: setattr(p.global_block().ops[0].attrs["true_block"], "results", ["x"]),
    "a param": lambda p: setattr(p.global_block().ops[0].attrs["true_block"], "params", ["x"]),
    "which block": lambda p: p.global_block().ops[0].attrs.update(true_block=p.global_block().ops[0].attrs["false_block"]),
    "the order of ops": lambda p: p.global_block().ops.reverse(),
    "a place": lambda p: setattr(p.global_block().ops[0], "location", Location("model.py", 1)),
    "a place's caller": lambda p: setattr(p.global_block().ops[0], "location", Location("model.py", 1, caller=Location("main.py", 2))),
    "segments": lambda p: setattr(p.global_block().ops[0], "segments", (1,)),
    "updates": lambda p: p.updates.update(w="x"),
    "absent feeds": lambda p: p.absent_feeds.add("x"),
    "the seed": lambda p: setattr(p, "random_seed", 3),
    "a function": lambda p: p.add_function("f"),
}


def test_each_part_of_a_program_is_in_its_name():
    names = dict.fromkeys(["nothing", *PARTS])
    for part in names:
        changed = fuller()
        PARTS.get(part, lambda p: None)(changed)
        names[part] = kept.symbol(changed, ["x", "c"], ["x"], (), "")
    assert names["nothing"] == kept.symbol(fuller(), ["x", "c"], ["x"], (), "")
    assert None not in names.values()
    assert len(set(names.values())) == len(names)


def test_what_is_fed_and_fetched_is_in_the_name():
    p = fuller()
    asked = [(["x", "c"], ["x"], ()), (["c", "x"], ["x"], ()), (["x", "c"], ["w"], ()), (["x", "c"], ["x", "x"], ()),
             (["x", "c"], ["x"], ["c"])]  # fmt: skip
    assert len({kept.symbol(p, *one, "") for one in asked}) == len(asked)


@pytest.mark.parametrize("switch", [config.CHECKS, config.WINOGRAD], ids=lambda s: s.name)
def test_switches_are_in_the_name(switch):
    plain = kept.symbol(fuller(), ["x"], ["x"], (), "")
    with switch.override(not switch.get()):
        assert kept.symbol(fuller(), ["x"], ["x"], (), "") != plain


@pytest.mark.parametrize("name", ["NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE"])
def test_what_decides_on_the_digits_of_constants_is_in_the_name(name, monkeypatch):
    plain = kept.symbol(fuller(), ["x"], ["x"], (), "")
    monkeypatch.setenv(name, "AVX2")
    changed = kept.symbol(fuller(), ["x"], ["x"], (), "")
    with mock.patch.object(os, "confstr", return_value="glibc 9.9"):
        other_library = kept.symbol(fuller(), ["x"], ["x"], (), "")
    assert len({plain, changed, other_library}) == 3


@pytest.mark.parametrize(("of", "name"), [("llvmlite", "__version__"), ("np", "__version__")])
def test_versions_are_in_what_a_plan_depends_on(of, name, monkeypatch):
    engine = engines.ENGINES["llvm"]
    plain = compile.fingerprint(engine)
    monkeypatch.setattr(getattr(compile, of), name, "0.0")
    assert compile.fingerprint(engine) != plain


@pytest.mark.parametrize("of", ["get_host_cpu_features", "get_host_cpu_name", "get_default_triple"])
def test_the_processor_is_in_what_a_plan_depends_on(of, monkeypatch):
    engine = engines.ENGINES["llvm"]
    plain = compile.fingerprint(engine)
    monkeypatch.setattr(compile.llvm, of, dict if of.endswith("features") else lambda: "other")
    assert compile.fingerprint(engine) != plain


def test_the_text_of_the_runtime_and_pythons_version_are_in_the_name(monkeypatch):
    plain = kept._environment()
    with mock.patch.object(sys, "version", "4.0"):
        other_python = kept._environment.__wrapped__()
    read = pathlib.Path.read_bytes
    monkeypatch.setattr(pathlib.Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == "fold.py"))
    assert len({plain, other_python, kept._environment.__wrapped__()}) == 3


def test_an_op_from_elsewhere_is_planned_in_each_process(monkeypatch):
    monkeypatch.setattr(registry.get("scale"), "__module__", "elsewhere")
    assert kept.symbol(fuller(), ["x"], ["x"], (), "") is None


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
