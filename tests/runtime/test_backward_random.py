"""Gradients of random structured programs equal those of the straight line of ops that a run takes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.ir import Program, Variable, verify
from dy2st_runtime.ops.control import ABSENT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from random_programs import FLOATS, random_feeds, random_source, staged, unrolled  # isort: skip

WRT = (*FLOATS, "w")


def differentiated(program: Program, target: Variable) -> list[str | None]:
    block = program.global_block()
    gradients = append_backward(program, [target], [block.var(name) for name in WRT])
    verify(program)
    return [None if g is None else g.name for g in gradients]


def check(statements: list, batch: int, seeds: range) -> None:
    program, target = staged(statements, batch)
    names = differentiated(program, target)
    for seed in seeds:
        feeds = random_feeds(seed)
        line, line_target = unrolled(statements, feeds)
        line_names = differentiated(line, line_target)
        got, want = reference.run_program(program, feeds, {}), reference.run_program(line, feeds, {})
        np.testing.assert_allclose(got[target.name], want[line_target.name], rtol=1e-12)
        for wrt, name, line_name in zip(WRT, names, line_names, strict=True):
            value = None if name is None or got[name] is ABSENT else got[name]
            expected = None if line_name is None else want[line_name]
            assert (value is None) == (expected is None), (wrt, seed, value, expected)
            if expected is not None:
                np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12, err_msg=f"{wrt}, feeds {seed}")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.sampled_from((2, -1)))
def test_gradients_of_random_programs(rng: random.Random, batch: int) -> None:
    check(random_source(rng), batch, range(2))


@pytest.mark.parametrize("seed", range(12))
def test_deeply_nested(seed: int) -> None:
    check(random_source(random.Random(seed), size=3, depth=4), 2, range(3))
