"""Matrix products and what follows them element by element: one kernel beside two, in turn in one process; and with weights from far.

`python -m benchmarks.products [--threads N]`. Times are medians in microseconds of runs on inputs that are bound already. The second table
has rates in GFLOP/s of products that have weights of their own, which come from memory, and that share one, which a cache holds.
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

# rows, reduction, columns of products with weights of their own
FAR = [(128, 768, 3072), (128, 3072, 768), (128, 768, 768), (20, 200, 800), (400, 200, 10000)]
COUNT = 24
"""So many weights are more than caches hold."""


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


def many_products(rows: int, inner: int, columns: int, weights: int) -> Callable[[], object]:
    """COUNT products of one tensor with the weights in turn."""
    program = Program()
    block = program.global_block()
    b = IRBuilder(block)
    rng = np.random.default_rng(0)
    x = block.create_var("x", "float32", (rows, inner), is_data=True)
    ws = [block.create_var(f"w{i}", "float32", (inner, columns), is_data=True) for i in range(weights)]
    # each of another tensor, as equal products would be one
    outs = [b.matmul_v2(b.scaled(x, i + 2.0), ws[i % weights]) for i in range(COUNT)]
    made = Executable(program, ["x", *(w.name for w in ws)], [out.name for out in outs])
    return on_bound(made, [rng.standard_normal(shape).astype("float32") for shape in ((rows, inner), *[(inner, columns)] * weights)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.products", description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads.set_num_threads(parser.parse_args().threads)
    print(f"{'product, what follows':34}{'two kernels':>14}{'one':>14}{'ratio':>8}")
    for *sizes, then in PRODUCTS:
        apart, one = (t * 1e6 for t in in_turn(*(product(*sizes, then, fused) for fused in (False, True)), repeat=100))
        name = f"{' x '.join(map(str, sizes))}, {'bias' + (', ' + then if then else '')}"
        print(f"{name:34}{apart:14.1f}{one:14.1f}{one / apart:8.2f}")
    print(f"\n{'product, GFLOP/s':34}{'one weight':>14}{'its own':>14}")
    for sizes in FAR:
        near, far = in_turn(*(many_products(*sizes, weights) for weights in (1, COUNT)), repeat=10)
        work = 2e-9 * COUNT * np.prod(sizes, dtype=float)
        print(f"{' x '.join(map(str, sizes)):34}{work / near:14.1f}{work / far:14.1f}")


if __name__ == "__main__":
    main()
