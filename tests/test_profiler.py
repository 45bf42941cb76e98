"""`dy2st.profiler`: the time of ops and lines, traces, and that nothing of it is there while nothing is recorded."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dy2st_runtime.executor import executable, profile, scalars
from dy2st_runtime.executor.driver import DRIVERS
from dy2st_runtime.executor.machine import machine

import dy2st as paddle
from dy2st import profiler
from dy2st.errors import ModeError


@paddle.jit.to_static
def halved(x, w):
    y = paddle.matmul(x, w)
    while y.norm() > 1.0:
        y = y / 2
    return y.sum()


@paddle.jit.to_static
def counters(first, second):
    while first < second:
        first = first + 2
        second = second + 1
    return first


FIRST_OF_HALVED = halved.raw.__code__.co_firstlineno
FIRST_OF_COUNTERS = counters.raw.__code__.co_firstlineno


def arguments() -> tuple[Any, Any]:
    x = paddle.to_tensor(np.full((3, 4), 5.0, "float32"))
    return x, paddle.to_tensor(np.ones((4, 2), "float32"), stop_gradient=False)


def lines_of(entry: profiler.Entry, first: int) -> list[int]:
    return [place.line - first for place in entry.places]


def test_each_op_and_line_has_its_calls_and_time() -> None:
    x, w = arguments()
    want = halved(x, w)
    with profiler.Profiler() as prof:
        got = halved(x, w)
        got.backward()
    assert got.numpy() == want.numpy()
    assert w.grad is not None
    ops = {entry.name: entry for entry in prof.ops}
    assert ops["matmul_v2"].calls == 2  # forward, and the gradient of w
    lines = {tuple(lines_of(entry, FIRST_OF_HALVED)): entry for entry in prof.lines}
    assert {(2,), (3,), (4,), (5,)} <= set(lines)
    assert lines[4,].calls > lines[5,].calls
    assert "matmul_v2" in lines[2,].ops
    for entry in (*prof.ops, *prof.lines):
        assert 0 <= entry.shortest <= entry.average <= entry.longest <= entry.total
    assert sum(e.total for e in prof.ops) == sum(e.total for e in prof.lines)


def test_a_loop_that_is_one_kernel_is_one_entry_with_all_its_lines() -> None:
    with profiler.Profiler() as prof:
        counters(paddle.to_tensor(0.0), paddle.to_tensor(1000.0))
    (entry,) = [e for e in prof.lines if len(e.places) > 1]
    assert lines_of(entry, FIRST_OF_COUNTERS) == [2, 3, 4]
    assert entry.calls == 1


def test_the_trace_is_json_with_kernels_inside_runs(tmp_path: Path) -> None:
    with profiler.Profiler(on_trace_ready=profiler.export_chrome_tracing(str(tmp_path / "made"), "me")) as prof, \
            profiler.RecordEvent("mine"):  # fmt: skip
        halved(*arguments())
    (file,) = (tmp_path / "made").iterdir()
    assert file.name.startswith("me_time_")
    events = json.loads(file.read_text())["traceEvents"]
    assert {"name", "cat", "ph", "ts", "dur", "pid", "tid"} <= set(events[0])
    runs, kernels, (mine,) = ([e for e in events if e["cat"] == cat] for cat in ("run", "op", "user"))
    assert mine["name"] == "mine"
    assert runs[0]["name"].startswith("halved (")
    assert {e["name"] for e in kernels} >= {"matmul_v2"}
    assert any(e["args"]["source"] == "y = y / 2" for e in kernels)
    for outer, inner in [(mine, run) for run in runs] + [(runs[0], kernel) for kernel in kernels]:
        assert outer["tid"] == inner["tid"]
        assert outer["ts"] <= inner["ts"]
        assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-3  # in microseconds, as doubles
    prof.export(str(tmp_path / "again.json"))
    assert json.loads((tmp_path / "again.json").read_text())["traceEvents"] == events


def test_without_a_recording_runs_go_by_the_plain_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, notes in (("driver", False), ("profiling_driver", True)):
        module = scalars.optimized(scalars.module_of(DRIVERS[name], name), machine())
        # the plain driver asks another clock, which is cheaper, whether it is time to look for signals
        assert (f"@clock_gettime(i32 {time.CLOCK_MONOTONIC}," in str(module)) == notes
    x, w = arguments()
    halved(x, w)

    def refuse() -> Any:
        raise AssertionError("the profiling driver was asked for")

    with profiler.Profiler():
        monkeypatch.setattr(executable, "profiling_driver", refuse)
        with pytest.raises(AssertionError, match="asked for"):
            halved(x, w)
    halved(x, w)
    assert profile.active() is None


def test_launches_beyond_the_room_are_in_the_sums_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(profile, "EVENTS_OF_A_RUN", 3)
    with profiler.Profiler() as prof:
        halved(*arguments())
    calls = sum(e.calls for e in prof.ops)
    assert calls > 10
    prof.summary()
    assert f"{calls - 3} launches are in these sums" in capsys.readouterr().out


def test_a_scheduler_says_which_steps_are_recorded(tmp_path: Path) -> None:
    found: list[int] = []
    schedule = profiler.make_scheduler(closed=1, ready=1, record=2, repeat=2, skip_first=1)
    names = [schedule(i).name for i in range(10)]
    assert names[:5] == ["CLOSED", "CLOSED", "READY", "RECORD", "RECORD_AND_RETURN"]
    assert names[9] == "CLOSED"

    def count(prof: profiler.Profiler) -> None:
        found.append(sum(e.calls for e in prof.ops if e.name == "matmul_v2"))

    prof = profiler.Profiler(scheduler=schedule, on_trace_ready=count)
    x, w = arguments()
    with paddle.no_grad():
        prof.start()
        for _ in range(10):
            halved(x, w)
            prof.step(num_samples=3)
        prof.stop()
    assert found == [2, 2]
    assert prof.recordings == 2
    assert prof.step_info("images").endswith("images/s")
    with profiler.Profiler(scheduler=(1, 2)) as prof:
        for _ in range(3):
            prof.step()
    assert prof.recordings == 1


def test_a_run_that_fails_is_recorded_too() -> None:
    @paddle.jit.to_static
    def picked(x, i):
        y = x * 2
        return paddle.gather(y, i)

    x = paddle.ones([3])
    with profiler.Profiler() as prof, pytest.raises(IndexError):
        picked(x, paddle.to_tensor([7]))
    assert "scale" in [e.name for e in prof.ops]
    assert profile.active() is None


def test_the_summary_is_sorted_as_asked(capsys: pytest.CaptureFixture) -> None:
    with profiler.Profiler() as prof:
        halved(*arguments())
    prof.summary(profiler.SortedKeys.CPUMin, time_unit="us")
    text = capsys.readouterr().out
    assert "total us" in text
    assert "y = paddle.matmul(x, w)" in text
    with pytest.raises(ModeError, match="time_unit"):
        prof.summary(time_unit="weeks")


def test_what_cannot_be_profiled_is_an_error() -> None:
    from dy2st_runtime import config

    with pytest.raises(ModeError, match="can be profiled"):
        profiler.Profiler(targets=[profiler.ProfilerTarget.GPU])
    with profiler.Profiler() as prof:
        with pytest.raises(ModeError, match="another profiler"):
            profiler.Profiler().start()
        with pytest.raises(ModeError, match="not as 'pb'"):
            prof.export("x", "pb")
    with config.NO_JIT.override(True), pytest.raises(ModeError, match="DY2ST_NO_JIT"):
        profiler.Profiler().start()
    with profiler.Profiler(timer_only=True) as prof:
        prof.step()
    assert (prof.ops, prof.recordings) == ([], 0)
    assert prof.step_info().startswith("batch_cost")
