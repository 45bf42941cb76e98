"""Gradients of random structured programs equal those of the straight line of ops that a run takes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.ir import Block, Program, Variable, verify
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


def mark(block: Block, rng: random.Random, around: tuple[int, ...] = ()) -> None:
    """Makes some runs of ops segments that are computed again, also within each other."""
    ends = sorted(rng.sample(range(len(block.ops) + 1), 2)) if len(block.ops) > 1 and rng.random() < 0.7 else [0, 0]
    block.program.segment_count += 1
    for i, op in enumerate(block.ops):
        op.segments = (*around, block.program.segment_count) if ends[0] <= i < ends[1] else around
        for inner in op.blocks:
            mark(inner, rng, op.segments)


def check(statements: list, batch: int, seeds: range, segments: random.Random | None = None) -> None:
    program, target = staged(statements, batch)
    if segments is not None:
        mark(program.global_block(), segments)
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


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False), st.sampled_from((2, -1)))
def test_gradients_of_what_is_computed_again(rng: random.Random, batch: int) -> None:
    check(random_source(rng), batch, range(2), rng)


@pytest.mark.parametrize("seed", range(12))
def test_deeply_nested(seed: int) -> None:
    source = random_source(random.Random(seed), size=3, depth=4)
    for segments in (None, random.Random(seed)):
        check(source, 2, range(3), segments)
