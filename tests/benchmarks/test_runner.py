"""The benchmarks' runner: a small workload by itself, and two saved runs beside each other."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir.builder import IRBuilder
from dy2st_runtime.ir.program import Program

from benchmarks import __main__ as command
from benchmarks import beside, frameworks, layers, measure, report, roofline, runner
from benchmarks import common as common_of_benchmarks
from benchmarks.workloads import MODULES, autoencoder, common


@pytest.mark.slow
def test_a_workload_is_measured_and_saved(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file = tmp_path / "run.jsonl"
    assert command.main(["autoencoder", "--seconds", "0.1", "--save", str(file)]) == 0
    machine, static, step, eager = report.load(file)
    assert machine["threads"] == 2
    assert machine["gemm"] > 0 < machine["copy"]
    assert (static["workload"], static["case"], static["framework"]) == ("autoencoder", "train", "dy2st")
    assert eager["framework"] == "dy2st eager"
    assert step["framework"] == "dy2st step"
    assert max(eager["difference"], step["difference"]) < 1e-5
    assert step["gflop"] == static["gflop"]
    for key in ("import", "cold", "warm", "steady", "fastest", "cpu", "memory"):
        assert static[key] > 0, key
    assert static["cold"] > static["warm"]
    products = 2 * autoencoder.BATCH * autoencoder.INPUT * autoencoder.HIDDEN
    # two products forward, and their gradients but for that of x
    assert static["gflop"] == pytest.approx(5 * products / 1e9)
    text = capsys.readouterr().out
    assert "| autoencoder.train |" in text
    assert command.main(["--show", str(file)]) == 0
    assert "| autoencoder.train |" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(("case", "shown"), [("train", "| sgd |"), ("infer1", "| convolution |")])
def test_where_the_time_of_a_call_goes(case: str, shown: str) -> None:
    found = layers.Measured("mnist_cnn", case, threads=2, runs=3)
    assert min(found.kernels, found.native, found.call) > 0  # which is more is a matter of who else runs
    text = layers.report(found, rate=100.0, copies=10.0)
    assert shown in text
    assert "| pool2d |" in text


def test_a_quick_run_measures_what_is_compiled(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    file = tmp_path / "run.jsonl"
    assert command.main(["scalar_loop", "--quick", "--seconds", "0", "--by", "cpu", "--save", str(file)]) == 0
    machine, static = report.load(file)
    assert "gemm" not in machine
    assert (static["workload"], static["case"], static["framework"], static["calls"]) == ("scalar_loop", "infer", "dy2st", 5)
    assert static["steady"] >= static["fastest"] > 0
    assert "| scalar_loop.infer |" in capsys.readouterr().out


def record(framework: str, steady: float, **more: Any) -> dict[str, Any]:
    return {"workload": "newton", "case": "grad", "framework": framework, "steady": steady, "memory": 100.0, **more}


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    own = {"benchmark": "startup", "name": "import", "value": 0.5, "unit": "s"}
    first = [{"commit": "aaa"}, record("dy2st", 2.0), record("jax", 1.0), own]
    second = [{"commit": "bbb"}, record("dy2st", 1.0), record("jax", 1.1), record("torch eager", 3.0)]
    files = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for file, records in zip(files, (first, second), strict=True):
        report.save(records, file)
    assert command.main(["--compare", *map(str, files)]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0][1].startswith("aaa")
    assert ["newton.grad, dy2st, steady ms", "2", "1", "0.5"] in cells
    assert ["newton.grad, jax, steady ms", "1", "1.1", "1.1"] in cells
    assert lines[-2:] == ["only in the first: startup: import s", "only in the second: newton.grad, torch eager, steady ms"]


def test_a_peer_with_another_result_is_not_the_best() -> None:
    records = [record("dy2st", 2.0), record("jax", 1.0, difference=0.5), record("torch eager", 4.0, difference=1e-6),
               {"workload": "newton", "case": "grad", "framework": "torch script", "refused": "why"}]  # fmt: skip
    text = report.comparison(records)
    assert "| torch eager 4 ms | 0.5 " in text
    assert "newton.grad: jax: its results differ by 5.0e-01" in text
    assert "newton.grad: torch script: why" in text
    assert "| (1) |" in report.frameworks_table(records)


def test_the_loop_around_a_model_is_shown_beside_the_whole_step() -> None:
    text = report.ways([record("dy2st", 3.0), record("dy2st step", 2.0), record("jax", 1.0)])
    assert [*map(str.strip, text.splitlines()[-1].split("|"))][1:-1] == ["newton.grad", "3 ms", "2 ms", "1.5"]
    assert report.ways([record("dy2st", 3.0)]) == ""


def test_results_are_compared_element_by_element() -> None:
    a = measure.summary([np.arange(100.0).reshape(10, 10), np.zeros(0)])
    assert runner.difference([a], [a]) == 0
    assert runner.difference([a], [measure.summary([np.arange(100.0), np.zeros(0)])]) == float("inf")
    moved = measure.summary([np.arange(100.0).reshape(10, 10)[::-1], np.zeros(0)])
    assert runner.difference([a], [moved]) > 0.5
    (nan,) = measure.summary([np.array([float("nan"), 1.0])])
    (one,) = measure.summary([np.ones(2)])
    assert runner.difference([[nan]], [[nan]]) == 0
    assert runner.difference([[nan]], [[one]]) == runner.difference([[one]], [[nan]]) == float("inf")


def test_names_of_workloads() -> None:
    assert runner.cases(["mnist_cnn.infer1", "newton"]) == [("mnist_cnn", "infer1"), ("newton", "grad")]
    with pytest.raises(ValueError, match="unknown benchmark"):
        runner.cases(["mnist_cnn.nothing"])
    every = runner.cases()
    assert {module for module, _ in every} == set(MODULES)
    assert {f.name for f in runner.Settings(["torch eager", "jax"]).frameworks("infer8")} == {"dy2st", "dy2st eager", "torch eager", "jax"}
    assert "onnxruntime" not in {f.name for f in runner.Settings(["onnxruntime"]).frameworks("train")}


@pytest.mark.parametrize("arguments", [["nothing"], ["--peers", "nobody", "newton"], ["--compare", "a", "b"]])
def test_wrong_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert "error:" in capsys.readouterr().err


def test_a_file_that_is_no_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps({"a": 1}) + "\n[1]\n")
    with pytest.raises(ValueError, match=r"x\.jsonl:2 is no record"):
        report.load(file)


def test_the_work_of_a_loop_counts_its_iterations() -> None:
    ops = roofline.work("dynamic_rnn", "infer")
    products = [(flops, count) for kind, flops, _, count in ops if kind == "matmul_v2"]
    assert len(products) == 1
    flops, count = products[0]
    assert flops == 2 * 8 * 64 * 64
    assert count % 2 == 0
    assert 50 < count // 2 < 100
    least = roofline.least([["matmul_v2", 1e9, 4e6, 2], ["sgd", 0.0, 4e9, 1]], gemm=100.0, copy=10.0)
    assert least["least"] == pytest.approx(2 * 10 + 400)


def test_parameters_are_the_same_for_all_frameworks() -> None:
    draw, again = common.Parameters(), common.Parameters()
    (w, b), (v, c) = draw.linear(3, 4), again.linear(3, 4)
    assert (w == v).all()
    assert (b == c).all()
    assert draw(3, 4).tolist() != w.tolist()
    assert abs(draw.norm(1000)[0].mean() - 1) < 0.02
    assert frameworks.leaves([1, (2, [3])]) == [1, 2, 3]


def test_eager_models_beside_a_peer_that_is_not_there_are_skipped_with_a_line(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert beside.run(runner.Settings(venvs=tmp_path)) == []
    assert "skipped, as it is not installed; `python -m benchmarks.peers paddle`" in capsys.readouterr().out


def test_a_row_beside_a_peer_has_the_ratio_of_the_least_medians(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def process(command: list[str], python: str, settings: Any, cache: str) -> dict[str, Any]:
        asked.append((command[3], "--first" in command))
        ours = command[3] == "dy2st eager"
        steady = (6.0 if ours else 2.0) + len(asked)
        return {"steady": steady, "cpu": 1.0, "first": 5.0, "results": [] if "--first" in command else [summary(2.0)]}

    def summary(value: float) -> list[dict[str, Any]]:
        return measure.summary([np.full(3, value)])

    monkeypatch.setattr(beside, "process", process)
    monkeypatch.setattr(beside, "python_of", lambda *_: "python")
    row = beside.measured("autoencoder.train", runner.Settings(rounds=2), "")
    assert asked == [("dy2st eager", True), *[("dy2st eager", False), ("paddle eager", False)] * 2]
    assert (row.ours, row.theirs, row.value) == (8.0, 5.0, 1.6)
    assert "MISSED" in str(row)
    monkeypatch.setattr(beside, "process", lambda *_: {"refused": "no such thing"})
    assert str(beside.measured("ctc.train", runner.Settings(), "")).endswith("dy2st eager: no such thing")


@pytest.mark.parametrize("name", beside.ROWS)
def test_the_workloads_of_the_rows_exist(name: str) -> None:
    workload, case = name.split(".")
    assert case in importlib.import_module(f"benchmarks.workloads.{workload}").CASES


def test_what_is_bound_once_runs_at_each_call() -> None:
    program = Program()
    x = program.global_block().create_var("x", "float32", (4,), is_data=True)
    executable = Executable(program, ["x"], [IRBuilder(program.global_block()).op("relu", X=x).name])
    run = common_of_benchmarks.on_bound(executable, [np.ones(4, np.float32)])
    taken: list[float] = []
    executable.note_native_time(taken.append)
    for _ in range(3):
        run()
    assert len(taken) == 3
