"""What the machine can do, and what a workload asks of it.

`python -m benchmarks.roofline` prints the rates of this machine: float32 matrix products of 1024 x 1024 by NumPy, and copying 256 MiB.
`python -m benchmarks.roofline WORKLOAD CASE` prints the work of one step, counted while the reference interpreter runs its Program, so
loops count as often as they run: products (matrix products, convolutions, their gradients), and optimizer steps, which read and write all
parameters. Each has a least time, by its arithmetic or by reading its inputs and writing its results once; elementwise work counts as
fused into these.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import sys
import threading
import time
from collections import Counter
from typing import Any

import numpy as np

from .frameworks import Stage


def rates(threads: int) -> dict[str, float]:
    """GFLOP/s of products and GB/s of copies (read and written), with so many threads; the best of several tries."""
    n = 1024
    a, b, c = (np.ones((n, n), "float32") for _ in range(3))
    source = np.ones(1 << 26, "float32")
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(source, threads), np.array_split(target, threads), strict=True))

    def copy() -> None:
        workers = [threading.Thread(target=np.copyto, args=(t, s)) for s, t in parts]
        for w in workers:
            w.start()
        for w in workers:
            w.join()

    products, copies = _fastest(lambda: np.matmul(a, b, out=c)), _fastest(copy)
    return {"gemm": 2 * n**3 / products / 1e9, "copy": 2 * source.nbytes / copies / 1e9}


def _fastest(function: Any, repeat: int = 15) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def _product(record: Any, ins: tuple, outs: tuple, attrs: dict[str, Any]) -> float:
    """Floating-point operations of a matrix product."""
    x = ins[0]
    inner = x.shape[-2] if attrs.get("trans_x") and x.ndim > 1 else x.shape[-1]
    if record.type == "mul":
        inner = math.prod(x.shape[attrs["x_num_col_dims"] :])
    return 2.0 * outs[0].size * inner


def _convolution(record: Any, ins: tuple, outs: tuple, attrs: dict[str, Any]) -> float:
    """Of a convolution or one of its gradients: each element of the (gradient of the) output meets one filter."""
    values = dict(zip([s.name for s in (*record.input_slots, *record.output_slots)], (*ins, *outs), strict=True))
    filters = values["Filter"] if "Filter" in values else values["Filter@GRAD"]
    output = values["Output"] if "Output" in values else values["Output@GRAD"]
    return 2.0 * output.size * math.prod(filters.shape[1:])


def _nothing(record: Any, ins: tuple, outs: tuple, attrs: dict[str, Any]) -> float:
    return 0.0


OPERATIONS = {
    **dict.fromkeys(("matmul_v2", "mul", "bmm"), _product),
    **dict.fromkeys(("conv2d", "depthwise_conv2d", "conv2d_grad_input", "conv2d_grad_filter"), _convolution),
    **dict.fromkeys(("sgd", "momentum", "adam", "adamw", "lookup_table_v2", "lookup_table_v2_grad"), _nothing),
}


class Counting:
    """Counts the heavy ops that the reference runs."""

    def __init__(self) -> None:
        self.ops: Counter[tuple[str, float, float]] = Counter()

    def __enter__(self) -> Counting:
        from dy2st_runtime.ops.registry import OpDef

        self.before = before = OpDef.__dict__["run_reference"].__func__
        counter = self.ops

        def run(record: Any, ins: tuple, attrs: dict[str, Any]) -> tuple:
            outs = before(record, ins, attrs)
            if record.type in OPERATIONS:
                tensors = [x for value in (*ins, *outs) for x in (value if isinstance(value, (list, tuple)) else [value])]
                moved = sum(x.nbytes for x in tensors if isinstance(x, np.ndarray))
                counter[record.type, OPERATIONS[record.type](record, ins, outs, attrs), moved] += 1
            return outs

        OpDef.run_reference = classmethod(run)
        return self

    def __exit__(self, *error: Any) -> None:
        from dy2st_runtime.ops.registry import OpDef

        OpDef.run_reference = classmethod(self.before)


def work(workload: str, case: str) -> list[list[Any]]:
    """The heavy ops of one step: type, floating-point operations and bytes of one, how many of these."""
    import dy2st
    from dy2st import config

    module = importlib.import_module(f"benchmarks.workloads.{workload}")
    with config.NO_JIT.override(True):
        step = module.on_paddle(dy2st, Stage(dy2st.jit.to_static), case)
        step()
        with Counting() as counting:
            step()
    return [[*key, count] for key, count in sorted(counting.ops.items())]


def least(ops: list[list[Any]], gemm: float, copy: float) -> dict[str, float]:
    """The work in all (GFLOP, GB), and the least milliseconds that a machine of these rates needs for it."""
    total = sum(n * flops for _, flops, _, n in ops), sum(n * moved for _, _, moved, n in ops)
    bound = sum(n * max(flops / gemm, moved / copy) for _, flops, moved, n in ops)
    return {"gflop": total[0] / 1e9, "gb": total[1] / 1e9, "least": bound / 1e6}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.roofline", description=__doc__.splitlines()[0])
    parser.add_argument("workload", nargs="?")
    parser.add_argument("case", nargs="?")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    print(json.dumps(rates(options.threads) if options.workload is None else work(options.workload, options.case)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
