"""The rows of the op cases, and random programs with `cond`, `while_loop` and gradients, on CUDA against the reference: on a GPU
(`make test-gpu`), or in numba-cuda's simulator. For that test_corpus.py collects them in a process of its own, as the simulator must be
chosen before Numba is imported."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import op_cases
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.executor.cuda import CudaExecutable, simulated
from dy2st_runtime.ops.control import ABSENT
from op_cases import Case

from cuda_corpus import good_rows, has_half  # isort: skip
from random_programs import FLOATS, random_feeds, random_source, staged  # isort: skip
from recursive_programs import chain_by_hand, chain_with_gradients  # isort: skip

# devices have no floating-point warnings, but the simulator computes with NumPy's scalars
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

LARGEST = 5000 if simulated() else 1_000_000
"""Elements of an input: the simulator is Python."""

REMAINS = 0.1 if simulated() else 20
"""How far from zero, in relative tolerances, a number may be that should be zero. A GPU computes a * b + c with one rounding, so terms that
cancel elsewhere leave something, which `1 / sqrt(epsilon)` of a norm of equal numbers makes three hundred times as large."""


def small(case: Case) -> bool:
    values = [v for x in case.inputs.values() for v in op_cases.as_list(x)]
    return all(v.size <= LARGEST for v in values if isinstance(v, np.ndarray))


def same(got: Any, want: Any, rtol: float) -> None:
    if want is ABSENT:
        assert got is None
    elif isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, rtol)
    else:
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        exact = want.dtype.kind != "f"
        np.testing.assert_allclose(got, want, rtol=0 if exact else rtol, atol=0 if exact else rtol * REMAINS)


def rows(cases: list[Case]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=op_cases.case_ids(cases))


@rows([c for c in good_rows() if small(c)])
def test_a_row_gives_the_results_of_the_reference(case: Case) -> None:
    built = op_cases.build(case, open_dims=True)
    names = list(built.feeds)
    executable = CudaExecutable(built.program, names, built.outputs, absent_feeds=built.absent)
    state = {name: value.copy() for name, value in built.state.items()}
    feeds = [built.feeds[name] for name in names]
    if has_half(built.program):
        with pytest.raises(DTypeError, match="float16 is not supported on CUDA yet"):
            executable.run(feeds, state)
        return
    got = executable.run(feeds, state)
    expected_state = dict(built.state)
    want = reference.run_program(built.program, built.feeds, expected_state)
    for name, value in zip(built.outputs, got, strict=True):
        same(value, want[name], case.rtol)
    for name, value in expected_state.items():
        same(state[name], value, case.rtol)


@rows([c for c in op_cases.all_cases() if c.raises is not None and not c.static])
def test_a_row_raises_what_the_reference_raises(case: Case) -> None:
    assert case.raises is not None
    built = op_cases.build(case, open_dims=True)
    names = list(built.feeds)
    executable = CudaExecutable(built.program, names, built.outputs)
    state = {name: value.copy() for name, value in built.state.items()}
    with pytest.raises(case.raises, match=case.match):
        executable.run([built.feeds[name] for name in names], state)
    for name, value in built.state.items():
        np.testing.assert_array_equal(state[name], value)


@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize("seed", range(20))
def test_a_program_with_control_flow_and_its_gradients(seed: int, batch: int) -> None:
    program, target = staged(random_source(random.Random(seed), size=4), batch)
    wrt = [program.global_block().var(name) for name in (*FLOATS, "w")]
    names = [target.name, *[g.name for g in append_backward(program, [target], wrt) if g is not None]]
    feeds = random_feeds(seed)
    executable = CudaExecutable(program, list(feeds), names)
    want = reference.run_program(program, feeds, {})
    for name, value in zip(names, executable.run(list(feeds.values())), strict=True):
        same(value, want[name], 1e-9)


@pytest.mark.parametrize("n", [0, 4])
def test_a_function_that_calls_itself_and_its_gradients(n: int) -> None:
    program, names = chain_with_gradients()
    x, w = np.array([1.0, -2.0], np.float32), np.array([0.5, 1.25], np.float32)
    got = CudaExecutable(program, ["x", "n"], names).run([x, np.array(n)], {"w": w})
    for value, want in zip(got, chain_by_hand(x, n, w), strict=True):
        if value is not None:
            np.testing.assert_allclose(value, want, rtol=1e-5)
    assert (got[2] is None) == (n == 0)  # no path that was taken uses w
