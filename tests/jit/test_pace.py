"""The warning that eager mode would be faster."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from dy2st_runtime import config
from dy2st_runtime.executor.executable import Executable

from dy2st import jit, to_tensor
from dy2st.jit import pace
from dy2st.tensor import Tensor

X = to_tensor(np.ones((2, 2), np.float32))


def plus_one(x):
    return x + 1.0


def halved(x):
    while x.sum() > 1:
        x = x / 2
    return x


def long(x):
    for _ in range(pace.FEW + 1):
        x = x + 1.0
    return x


def shown(x):
    print(x.sum())
    return x


def called(function, times: int = pace.JUDGED, x: Tensor = X) -> list[str]:
    """What a static function warns of in so many calls."""
    static = jit.to_static(function)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(times):
            static(x)
    assert all(w.filename == __file__ for w in found)
    return [str(w.message) for w in found]


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations of eager mode cost nothing."""
    monkeypatch.setattr(pace, "eager_cost", lambda: 0.0)
    monkeypatch.setattr(Executable, "note_native_time", lambda self, note: None)


def test_it_is_said_once_and_not_before_calls_have_settled(free) -> None:
    assert called(plus_one, pace.JUDGED - 1) == []
    (text,) = called(plus_one, 2 * pace.JUDGED)
    assert "plus_one: a static call takes" in text
    assert "its 1 operation some" in text


@pytest.mark.parametrize("function", [halved, long, shown], ids=lambda f: f.__name__)
def test_loops_and_long_functions_are_not_timed(free, function, capsys: pytest.CaptureFixture) -> None:
    assert called(function) == []


def test_nothing_is_said_where_eager_mode_takes_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "eager_cost", lambda: 1.0)
    assert called(plus_one) == []


def test_nothing_is_said_of_what_runs_without_kernels(free) -> None:
    with config.NO_JIT.override(True):
        assert called(plus_one) == []


def test_native_time_is_what_eager_mode_would_take_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with operations that cost nothing: of a second in kernels a call can only lose the rest."""
    monkeypatch.setattr(pace, "eager_cost", lambda: 0.0)
    static = jit.to_static(plus_one)
    static(X)
    judged = pace.Pace(static.concrete_programs[0], "plus_one")

    def calls(seconds: float, native: float) -> None:
        judged.calls = pace.SETTLED - 1
        judged.called(9.0)
        while judged.calls < pace.JUDGED - 1:
            judged._add(native)
            assert not judged.called(seconds)
        judged._add(native)
        assert judged.called(seconds)

    calls(1.1, 1.0)
    judged.least = judged.least_native = 9.0
    with pytest.warns(UserWarning, match="takes 1100000 microseconds, its 1 operation some 500000 in eager mode"):
        calls(1.1, 0.5)


def test_the_kernels_are_timed_only_then() -> None:
    static = jit.to_static(plus_one)
    static(X)
    (executable,) = static.concrete_programs[0].executables.values()
    plain, times = executable._driver, []
    executable.note_native_time(times.append)
    static(X)
    assert len(times) == 1
    assert 0 < times[0] < 1
    executable.note_native_time(None)
    static(X)
    assert executable._driver is plain
    assert len(times) == 1


def test_what_judges_calls_loads_no_compiler() -> None:
    code = "from dy2st import jit; from dy2st_runtime.executor import runs_native; jit.to_static(lambda x: x); assert not runs_native()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_operation_costs_something() -> None:
    assert 0 < pace.eager_cost() < 0.01
