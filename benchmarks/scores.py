"""Attention with its scores by blocks beside one that stores them all, in turn in one process, with and without the gradients.

`python -m benchmarks.scores [--threads N]`. Times are medians in milliseconds of runs on inputs that are bound already.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from unittest import mock

import numpy as np
from dy2st_runtime import threads
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor import kept
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import IRBuilder, Program
from dy2st_runtime.passes import attention, pipeline

from .common import in_turn, on_bound

# batch and heads, queries, keys, size of a head, whether it has a mask, with gradients
CASES = [(*sizes, gradients) for gradients in (False, True)
         for sizes in [(8, 128, 128, 64, False), (8, 512, 512, 64, False), (8, 2048, 2048, 64, False), (96, 128, 128, 64, True),
                       (1, 512, 512, 64, False), (8, 1024, 1024, 64, True), (128, 16, 16, 16, False)]]  # fmt: skip


def attended(matrices: int, rows: int, columns: int, size: int, masked: bool, gradients: bool, blocks: bool) -> Callable[[], object]:
    program = Program()
    block = program.global_block()
    b = IRBuilder(block)
    rng = np.random.default_rng(0)
    shapes = {"q": (matrices, rows, size), "k": (matrices, columns, size), "v": (matrices, columns, size)}
    q, k, v = (block.create_var(name, "float32", shape, is_data=True) for name, shape in shapes.items())
    scores = b.scaled(b.matmul_v2(q, k, trans_y=True), size**-0.5)
    if masked:
        shapes["mask"] = (rows, columns)
        scores = b.add(scores, block.create_var("mask", "float32", (rows, columns), is_data=True))
    out = b.matmul_v2(b.softmax(scores, axis=-1), v)
    found = append_backward(program, [b.mul(out, out)], [q, k, v]) if gradients else [out]
    passes = [p for p in pipeline.PASSES if blocks or p[0] != "attention"]
    with mock.patch.object(pipeline, "PASSES", passes), mock.patch.object(attention, "LARGE", 0), \
            mock.patch.object(kept, "symbol", return_value=None):  # fmt: skip
        made = Executable(program, list(shapes), [g.name for g in found if g is not None])
    return on_bound(made, [rng.standard_normal(shape).astype("float32") for shape in shapes.values()])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scores", description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads.set_num_threads(parser.parse_args().threads)
    print(f"{'matrices, sizes':40}{'stored':>10}{'blocks':>10}{'ratio':>8}")
    for *sizes, masked, gradients in CASES:
        runs = [attended(*sizes, masked, gradients, blocks) for blocks in (False, True)]
        stored, blocks = (t * 1e3 for t in in_turn(*runs, repeat=max(5, min(100, 2**26 // (sizes[0] * sizes[1] * sizes[2])))))
        name = f"{' x '.join(map(str, sizes))}{', mask' if masked else ''}{', gradients' if gradients else ''}"
        print(f"{name:40}{stored:10.3f}{blocks:10.3f}{blocks / stored:8.2f}", flush=True)


if __name__ == "__main__":
    main()
