"""Dims of 2**31 and more: bounds and sizes have 64 bits; a size that an int32 has to hold is an error."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from dy2st_runtime.errors import IntegerRangeError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.formats import program_from_bytes
from dy2st_runtime.formats.paddle_program import program_to_bytes
from dy2st_runtime.loopir.builder import KernelBuilder
from dy2st_runtime.loopir.evaluate import Evaluator
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.bounds import TO_THE_END, TO_THE_START, Bounds, read_kernel
from dy2st_runtime.ops.registry import TensorType
from hand_built import Made

N = 2**31 + 64
SLICES = [(-5, TO_THE_END, 1), (1, TO_THE_END, 1), (0, TO_THE_END, 1), (2**31, 2**31 + 3, 1), (TO_THE_END, TO_THE_START, -1),
          (TO_THE_END, -N + 2, -(2**29)), (0, TO_THE_END, 2**63 - 1), (TO_THE_END, TO_THE_START, -(2**63)), (3, 1, 2**63 - 1),
          (0, TO_THE_END, 2**31)]  # fmt: skip


@pytest.mark.parametrize(("start", "end", "step"), SLICES)
def test_slices(start: int, end: int, step: int) -> None:
    """By inference, and by the arithmetic of a kernel with bounds that only the run knows."""
    wanted = len(range(N)[start:end:step])
    given = {"axes": [0], "starts": [start], "ends": [end], "strides": [step]}
    attrs = registry.get("strided_slice").complete_attrs(given)
    (t,) = registry.get("strided_slice").infer_types((TensorType("int8", (N,)), None, None, None, [], [], []), attrs)
    assert t.shape == (wanted,)
    k = KernelBuilder("slice")
    x, out = k.input("x", "int8", 1), k.output("out", "int8", 1)
    bounds = Bounds.of(read_kernel(k, 1), 1, {}, [0], [start], [end], [step], [])
    k.set_shape(out, bounds.native(k, x.shape, [1])[0])
    ok, sizes = Evaluator({x.name: (N,)}, {s.name: s.value for s in k.kernel.scalars}, lambda *_: 0).prologue(k.kernel)
    assert ok
    assert sizes[out.name] == (wanted,)


@pytest.mark.parametrize(("start", "end", "step"), [(0, TO_THE_END, 2), (TO_THE_END, TO_THE_START, -1), (0, 5, 1)])
def test_open_bounds_in_files_are_those_of_paddlepaddle(start: int, end: int, step: int) -> None:
    m = Made()
    y = m.b.op("strided_slice", Input=m.data("x", [-1]), axes=[0], starts=[start], ends=[end], strides=[step])
    data = program_to_bytes(m.program, ["x"], [y.name])
    assert all(str(abs(number)) not in str(data) for number in (TO_THE_END, TO_THE_START))
    (op,) = [op for op in program_from_bytes(data).program.global_block().ops if op.type == "strided_slice"]
    assert (op.attrs["starts"], op.attrs["ends"]) == ([start], [end])
    assert end > 5 or "LONGS" not in str(data)


def test_sizes_beyond_int32() -> None:
    with pytest.raises(IntegerRangeError, match=f"shape gives int32, which cannot hold the size {N}"):
        registry.get("shape").run_reference((np.broadcast_to(np.int8(0), (N,)),), {})


def free_memory() -> int:
    try:
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 0


@pytest.mark.slow
@pytest.mark.skipif(sys.maxsize < 2**32 or free_memory() < 12 * 2**30, reason="takes some GB of memory")
def test_a_tensor_with_as_many_elements() -> None:
    array = np.zeros(N, "int8")
    array[-3] = 7
    m = Made()
    x = m.data("x", [-1], "int8")
    outs = [*(m.b.op("slice", Input=x, axes=[0], starts=[start], ends=[TO_THE_END]) for start in (-5, 1)), m.b.op("size", Input=x)]
    last, rest, size = Executable(m.program, ["x"], [v.name for v in outs]).run([array])
    assert last.tolist() == [0, 0, 7, 0, 0]
    assert rest.shape == (N - 1,)
    assert rest[-3] == 7
    assert size == N
    shape = m.b.op("shape", Input=x)
    with pytest.raises(IntegerRangeError, match="cannot hold the size"):
        Executable(m.program, ["x"], [shape.name]).run([array])
