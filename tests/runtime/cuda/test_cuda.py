"""CUDA without a GPU: the simulator for results, PTX for types."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from dy2st_runtime.codegen.cuda import is_parallel
from dy2st_runtime.errors import DeviceError
from dy2st_runtime.executor import cuda as executor
from dy2st_runtime.executor.cuda import CudaExecutable, compile_ptx

from cuda_corpus import kernels  # isort: skip
from hand_built import Made  # isort: skip


def test_results_in_the_simulator() -> None:
    script = Path(__file__).with_name("on_device.py")
    env = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", str(script)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "passed" in done.stdout


@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
def test_ptx(capability: tuple[int, int]) -> None:
    m = Made()
    x, w, i = m.data("x", [-1, 4]), m.data("w", [4, 4]), m.data("i", [1])
    y = m.b.op("softmax", X=m.b.op("matmul_v2", X=m.b.op("tanh", X=x), Y=w), axis=-1)
    m.b.op("reduce_sum", X=y, dim=[0])
    m.loop(lambda i: m.b.less_than(i, i), lambda i: [m.b.scaled(i, 2.0)], [i])
    made = kernels(m.program)
    assert len(made) == 6
    for kernel in made:
        ptx = compile_ptx(kernel, capability)
        assert f".target sm_{capability[0]}{capability[1]}" in ptx


def test_a_grid_shares_what_needs_no_waiting() -> None:
    m = Made()
    x, y, image, filters = (
        m.data("x", [-1, 4]),
        m.data("y", [-1, 4, 4]),
        m.data("i", [-1, 2, 5, 5]),
        m.data("f", [3, 2, 3, 3]),
    )
    m.b.op("tanh", X=x)
    m.b.op("reduce_sum", X=x, dim=[0])
    m.b.op("matmul_v2", X=y, Y=y)
    m.b.op("clip_by_norm", X=x, max_norm=1.0)
    m.b.op("conv2d", Input=image, Filter=filters, strides=[1, 1], paddings=[0, 0], dilations=[1, 1], groups=1)
    assert [is_parallel(k) for k in kernels(m.program)] == [True, True, True, True, False, True, False]


def test_that_a_grid_is_small_is_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dispatcher:
        def __getitem__(self, grid: tuple[int, int]) -> tuple[int, int]:
            # as numba-cuda says it, where the terminal has colours
            warnings.warn(f"\x1b[1mGrid size {grid[0]} will likely result in GPU under-utilization due to low occupancy.", stacklevel=1)
            return grid

    monkeypatch.setattr(executor, "_kernel", lambda source: Dispatcher())
    assert executor._launcher("", (1, 128)) == (1, 128)  # a warning is an error in this suite


def test_no_gpu_is_a_clear_error() -> None:
    from numba import cuda

    if cuda.is_available():
        m = Made()
        x = m.data("x", [-1])
        y = m.b.scaled(x, 2.0)
        (got,) = CudaExecutable(m.program, m.feeds, [y.name]).run([np.ones(3, "f")])
        assert got.tolist() == [2, 2, 2]
    else:
        with pytest.raises(DeviceError, match="no usable NVIDIA GPU"):
            CudaExecutable(Made().program, [], [])
