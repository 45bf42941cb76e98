"""The rows of `cases_*.py` with any work divided that can be, down to one iteration, on several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import op_cases
import pytest
import test_ops
from dy2st_runtime import reference, threads
from dy2st_runtime.executor.executable import Executable
from op_cases import Case


@pytest.fixture
def divided(monkeypatch):
    """Each kernel whose work can be divided has it divided."""
    for name in ("MUCH", "LEAST", "VECTOR"):
        monkeypatch.setattr(threads, name, 1)
    yield
    monkeypatch.undo()
    threads.set_num_threads(0)


def rows() -> list[Any]:
    """The first row of each op; the others if there is time."""
    params: list[Any] = []
    seen: set[str] = set()
    cases = [c for c in test_ops.GOOD if c.native and not c.record.host]
    for case, name in zip(cases, op_cases.case_ids(cases), strict=True):
        params.append(pytest.param(case, id=name, marks=[pytest.mark.slow] if case.op in seen else []))
        seen.add(case.op)
    return params


@pytest.mark.parametrize("case", rows())
def test_divided_work_gives_what_the_reference_gives(case: Case, divided) -> None:
    built = op_cases.build(case, open_dims=True)
    names = list(built.feeds)
    executable = Executable(built.program, names, built.outputs, absent_feeds=built.absent)
    expected_state = dict(built.state)
    want = reference.run_program(built.program, built.feeds, expected_state)
    for count in (1, 2, 4):
        threads.set_num_threads(count)
        state = {name: value.copy() for name, value in built.state.items()}
        got = executable.run([built.feeds[name] for name in names], state)
        for name, value in zip(built.outputs, got, strict=True):
            test_ops.same(value, want[name], case.rtol)
        for name, value in expected_state.items():
            test_ops.same(state[name], value, case.rtol)


@pytest.mark.parametrize("case", [pytest.param(c, id=name) for c, name in zip(test_ops.BAD, op_cases.case_ids(test_ops.BAD), strict=True)
                                  if not c.static])  # fmt: skip
def test_divided_work_raises_what_the_reference_raises(case: Case, divided) -> None:
    assert case.raises is not None
    built = op_cases.build(case, open_dims=True)
    names = list(built.feeds)
    executable = Executable(built.program, names, built.outputs)
    for count in (2, 4):
        threads.set_num_threads(count)
        state = {name: value.copy() for name, value in built.state.items()}
        with pytest.raises(case.raises, match=case.match):
            executable.run([built.feeds[name] for name in names], state)
        for name, value in state.items():
            np.testing.assert_array_equal(value, built.state[name])
