"""Each pass, alone and in the pipeline, keeps the meaning of random structured programs and of their gradient programs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.ir import Program, clone_program, verify
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.passes.manager import Pass
from dy2st_runtime.passes.pipeline import PASSES, optimize
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from random_programs import FLOATS, random_feeds, random_source, staged  # isort: skip

EACH = dict(PASSES)


def gradient_program(rng: random.Random, batch: int, depth: int = 2) -> tuple[Program, list[str]]:
    program, target = staged(random_source(rng, depth=depth), batch)
    block = program.global_block()
    gradients = append_backward(program, [target], [block.var(name) for name in (*FLOATS, "w")])
    return program, [target.name, *(g.name for g in gradients if g is not None)]


def values(program: Program, names: list[str], seed: int) -> list[Any]:
    env = reference.run_program(program, random_feeds(seed), {})
    return [env[name] for name in names]


def check(before: Program, rewrite: Callable[[Program], Any], names: list[str]) -> None:
    after = clone_program(before)
    rewrite(after)
    verify(after)
    for seed in range(2):
        for name, got, want in zip(names, values(after, names, seed), values(before, names, seed), strict=True):
            assert (got is ABSENT) == (want is ABSENT), name
            if want is not ABSENT:
                np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", EACH)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(rng=st.randoms(use_true_random=False), batch=st.sampled_from((2, -1)))
def test_one_pass(name: str, rng: random.Random, batch: int) -> None:
    program, names = gradient_program(rng, batch)
    one: Pass = EACH[name]
    check(program, lambda p: one(p, frozenset(names)), names)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(rng=st.randoms(use_true_random=False), batch=st.sampled_from((2, -1)))
def test_the_pipeline(rng: random.Random, batch: int) -> None:
    program, names = gradient_program(rng, batch)
    check(program, lambda p: optimize(p, [*FLOATS, "w", "n"], names), names)


@pytest.mark.parametrize("seed", range(8))
def test_the_pipeline_on_deep_nesting(seed: int) -> None:
    program, names = gradient_program(random.Random(seed), 2 if seed % 2 else -1, depth=4)
    check(program, lambda p: optimize(p, [*FLOATS, "w", "n"], names), names)
