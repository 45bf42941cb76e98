"""The rows of the op cases on CUDA: every kernel compiles to PTX, and the simulator gives the results of the reference.

Compiled for sm_80: each distinct kernel of all rows, with open dims. For sm_90: those of the first slice (elementwise,
reductions, matrix products, normalization, losses, fill), as compiling everything twice takes CI too long; the two differ in
what NVVM makes of the same source. Left out are float16, which is an error on CUDA, and the calls of array functions,
which are the host's work.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import op_cases
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor.cuda import compile_ptx
from dy2st_runtime.ir import Program
from dy2st_runtime.passes.pipeline import optimize

from cuda_corpus import first_slice_ops, good_rows, has_half, identity, kernels  # isort: skip
from random_programs import FLOATS, random_source, staged  # isort: skip

ROWS = good_rows()
OPS = list(dict.fromkeys(c.op for c in ROWS))
compiled: set[tuple] = set()
"""Kernels that an earlier test has compiled: many ops share theirs."""


def compile_all(program: Program, capability: tuple[int, int]) -> None:
    if has_half(program):
        return
    for kernel in kernels(program):
        key = (capability, identity(kernel))
        if key not in compiled:
            assert f".target sm_{capability[0]}{capability[1]}" in compile_ptx(kernel, capability)
            compiled.add(key)


@pytest.mark.slow
@pytest.mark.parametrize("op", OPS)
def test_kernels_compile_for_sm_80(op: str) -> None:
    for case in ROWS:
        if case.op == op:
            compile_all(op_cases.build(case, open_dims=True).program, (8, 0))


@pytest.mark.slow
@pytest.mark.parametrize("op", first_slice_ops())
def test_kernels_of_the_first_slice_compile_for_sm_90(op: str) -> None:
    for case in ROWS:
        if case.op == op:
            compile_all(op_cases.build(case, open_dims=True).program, (9, 0))


@pytest.mark.slow
@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
@pytest.mark.parametrize("seed", range(4))
def test_fused_kernels_of_programs_with_control_flow_compile(seed: int, capability: tuple[int, int]) -> None:
    program, target = staged(random_source(random.Random(seed)))
    grads = append_backward(program, [target], [program.global_block().var(name) for name in FLOATS])
    feeds = [v.name for v in program.global_block().vars.values() if v.is_data]
    program, _, _ = optimize(program, feeds, [target.name, *[g.name for g in grads if g is not None]], ())
    compile_all(program, capability)


HERE = Path(__file__).parent
EXECUTOR = HERE.parent / "executor"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "options"),
    [
        (HERE / "corpus_on_device.py", []),
        (EXECUTOR / "test_executable.py", ["-p", "on_cuda"]),
        (EXECUTOR / "test_gradients.py", ["-p", "on_cuda"]),
    ],
    ids=["rows", "programs", "gradients"],
)
def test_results_in_the_simulator(script: Path, options: list[str]) -> None:
    paths = os.pathsep.join([str(HERE), str(EXECUTOR), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore::RuntimeWarning", *options, str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "passed" in done.stdout
