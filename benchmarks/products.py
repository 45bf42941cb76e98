"""Matrix products and what follows them element by element: one kernel beside two, in turn in one process.

`python -m benchmarks.products [--threads N]`. Times are medians in microseconds of runs on inputs that are bound already.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from unittest import mock

import numpy as np
from dy2st_runtime import threads
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program
from dy2st_runtime.passes import pipeline

from .common import in_turn, on_bound

# rows, reduction, columns, what follows the bias
PRODUCTS = [
    (128, 768, 3072, "gelu"), (128, 768, 768, ""), (128, 3072, 768, "residual"), (2048, 2048, 2048, "relu"), (4096, 64, 64, "relu"),
    (2048, 512, 512, ""), (64, 256, 256, "relu"), (64, 128, 256, "tanh"), (20, 200, 800, "tanh"), (8, 64, 64, "relu"),
]  # fmt: skip


def product(rows: int, inner: int, columns: int, then: str, fused: bool) -> Callable[[], object]:
    program = Program()
    block = program.global_block()
    b = IRBuilder(block)
    rng = np.random.default_rng(0)
    shapes = {"x": (rows, inner), "w": (inner, columns), "bias": (columns,)}
    x, w, bias = (block.create_var(name, "float32", shape, is_data=True) for name, shape in shapes.items())
    out = b.add(b.matmul_v2(x, w), bias)
    if then == "residual":
        shapes["residual"] = (rows, columns)
        out = b.add(out, block.create_var("residual", "float32", (rows, columns), is_data=True))
    elif then:
        out = b.op(then, X=out)
    passes = [p for p in pipeline.PASSES if fused or p[0] != "epilogue"]
    with mock.patch.object(pipeline, "PASSES", passes):
        made = Executable(program, list(shapes), [out.name])
    return on_bound(made, [rng.standard_normal(shape).astype("float32") for shape in shapes.values()])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.products", description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads.set_num_threads(parser.parse_args().threads)
    print(f"{'product, what follows':34}{'two kernels':>14}{'one':>14}{'ratio':>8}")
    for *sizes, then in PRODUCTS:
        apart, one = (t * 1e6 for t in in_turn(*(product(*sizes, then, fused) for fused in (False, True)), repeat=100))
        name = f"{' x '.join(map(str, sizes))}, {'bias' + (', ' + then if then else '')}"
        print(f"{name:34}{apart:14.1f}{one:14.1f}{one / apart:8.2f}")


if __name__ == "__main__":
    main()
