"""Where the time of a workload's call goes: each kind of convolution beside what the machine can do, the other kernels, the driver, Python.

`python -m benchmarks.layers WORKLOAD CASE [--threads N]`, as in `python -m benchmarks.layers resnet50 infer1`. Times are medians of
recorded runs (`executor/profile.py`), of a convolution for its plan, the copy into its frame and its products; rates count its
multiplications and additions, bytes are those of its operands, once each. A training step is one static function, as "dy2st step" is. Of a
call that runs several programs it is the largest, and the others count as Python. The rate of the machine is that of a loop of
multiply-adds in registers.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import statistics
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from llvmlite import ir

from . import roofline
from .frameworks import FRAMEWORKS, opened


def fma_rate(threads: int, count: int = 4_000_000) -> float:
    """GFLOP/s of multiply-adds of float32 vectors in registers, so many threads at a time; the best of several tries."""
    from dy2st_runtime.executor import compile as compiling
    from dy2st_runtime.executor import scalars, tiles
    from dy2st_runtime.executor.machine import machine
    from dy2st_runtime.executor.values import Instruction, counted

    lanes, sums = tiles.lanes("float32"), tiles.ROWS * tiles.VECTORS
    vector = ir.VectorType(ir.FloatType(), lanes)

    def emit(build: ir.IRBuilder, times: Any) -> Any:
        factor, term = (ir.Constant(vector, [value] * lanes) for value in (0.999, 0.001))
        slots = [build.alloca(vector) for _ in range(sums)]
        for i, slot in enumerate(slots):
            build.store(ir.Constant(vector, [float(i)] * lanes), slot)
        with counted(build, times):
            for slot in slots:
                product = build.fmul(build.load(slot), factor, flags=("contract",))
                build.store(build.fadd(product, term, flags=("contract",)), slot)
        total = build.load(slots[0])
        for slot in slots[1:]:
            total = build.fadd(total, build.load(slot))
        return build.fptosi(build.extract_element(total, ir.Constant(ir.IntType(32), 0)), ir.IntType(64))

    multiply_adds = Instruction(emit)

    def loop(times: int) -> int:
        return multiply_adds(times)

    target = machine()
    code = target.emit_object(scalars.optimized(scalars.module_of(loop, "multiply_adds"), target))
    linker = compiling.Linker()
    run = compiling.ENTRY(linker.link({"multiply_adds": code})["multiply_adds"])
    best = math.inf
    for _ in range(10):
        workers = [threading.Thread(target=run, args=(count,)) for _ in range(threads)]
        begun = time.perf_counter()
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        best = min(best, time.perf_counter() - begun)
    return threads * count * sums * lanes * 2 / best / 1e9


@dataclass
class Kind:
    """Convolutions of one shape. Times in microseconds, of one: the plan, the frame, the products with what follows them."""

    work: float
    nbytes: float
    times: list[list[float]] = field(default_factory=list)

    def mean(self) -> list[float]:
        return [statistics.mean(column) for column in zip(*self.times, strict=True)]


class Measured:
    """A workload's call: what it takes as a whole, and by kernel.

    Attributes:
        call, native, kernels: milliseconds of a call, of its native part, and of the kernels in that.
        kinds: the convolutions; others: of other kernels how many, and the microseconds of all.
    """

    def __init__(self, workload: str, case: str, threads: int, runs: int):
        from dy2st_runtime import threads as pool
        from dy2st_runtime.executor import profile

        pool.set_num_threads(threads)
        module = importlib.import_module(f"benchmarks.workloads.{workload}")
        step = module.on_paddle(*opened(FRAMEWORKS["dy2st step" if case == "train" else "dy2st"], threads), case)
        data = module.data(case) if hasattr(module, "data") else ()  # all with convolutions have it
        self.batch = len(data[0] if isinstance(data, tuple) and data else data)
        for _ in range(5):
            step()
        self.call = self._median(step, runs)
        recording = profile.start()
        for _ in range(runs):
            step()
        profile.stop()
        plan = max((run.plan for run in recording.runs), key=lambda plan: len(plan.code))
        of_plan = [run for run in recording.runs if run.plan is plan]
        parts = len(of_plan) // runs  # a training step runs its plan in two: the results, then the gradients
        self.native = statistics.median(
            sum(run.ended - run.begun for run in of_plan[i : i + parts]) / 1e6 for i in range(0, len(of_plan), parts)
        )
        times: dict[int, list[float]] = defaultdict(list)
        for run in of_plan:
            for instruction, begun, ended in run.events:
                times[int(instruction)].append((ended - begun) / 1e3)
        self.kinds: dict[str, Kind] = {}
        self.others: dict[str, tuple[int, float]] = {}
        self._sort(plan, {i: statistics.median(taken) for i, taken in times.items()}, profile)
        self.kernels = sum(statistics.median(taken) for taken in times.values()) / 1e3

    @staticmethod
    def _median(step: Any, runs: int) -> float:
        taken = []
        for _ in range(runs):
            begun = time.perf_counter()
            step()
            taken.append((time.perf_counter() - begun) * 1e3)
        return statistics.median(taken)

    def _sort(self, plan: Any, times: dict[int, float], profile: Any) -> None:
        before: list[float] = []  # of a convolution, the kernels before the last
        for i, taken in sorted(times.items()):
            op = plan.ops[i]
            if op is not None and op.type == "conv2d":
                before.append(taken)
            elif op is not None and op.type == "fused_conv2d":
                name, work, nbytes = self._shape(op)
                # one that reads its image directly has one kernel; what is before the last two belongs to another convolution, whose
                # group is in this one
                parts = [0.0, 0.0, *before][-2:]
                self.kinds.setdefault(name, Kind(work, nbytes)).times.append([*parts, taken])
                if before[:-2]:
                    self._add("conv2d without what follows it", sum(before[:-2]))
                before = []
            else:
                self._add(profile.kernel_name(plan, i), taken)
        if before:
            self._add("conv2d without what follows it", sum(before))

    def _add(self, name: str, taken: float) -> None:
        count, total = self.others.get(name, (0, 0.0))
        self.others[name] = count + 1, total + taken

    def _shape(self, op: Any) -> tuple[str, float, float]:
        """What a fused convolution is, its floating-point operations, and the bytes of its operands."""
        body = op.blocks[0]
        conv = body.ops[0]
        filters, image, out = (body.var(*names).shape for names in (conv.input("Filter"), conv.input("Input"), conv.output("Output")))
        stride, groups = conv.attrs["strides"][0], conv.attrs["groups"]
        results = self.batch * math.prod(out[1:])
        met = sum(len(body.var(p).shape) == 4 and body.var(p).shape[2:] == out[2:] for p in body.params) - (image[2:] == out[2:])
        nbytes = 4.0 * (self.batch * math.prod(image[1:]) + math.prod(filters) + results * (1 + met))
        name = f"{filters[2]}x{filters[3]}, {image[1]} to {out[1]}, {out[2]}x{out[3]}" + (f", stride {stride}" if stride > 1 else "")
        name += f", {groups} groups" if groups > 1 else ""
        return name + (" and a residual" if met else ""), 2.0 * results * math.prod(filters[1:]), nbytes


def _rates(work: float, taken: float, rate: float) -> str:
    """GFLOP/s, and what part of the machine's that is."""
    return f"{work / taken / 1e3:.0f} | {work / taken / 1e3 / rate:.2f}"


def report(found: Measured, rate: float, copies: float) -> str:
    """The tables."""
    lines = [f"call {found.call:.3f} ms: kernels {found.kernels:.3f}, driver {found.native - found.kernels:.3f}, "
             f"Python {max(found.call - found.native, 0.0):.3f}",
             f"the machine: {rate:.0f} GFLOP/s in registers, {copies:.0f} GB/s of copies", ""]  # fmt: skip
    if found.kinds:
        lines += [*_convolutions(found.kinds, rate), ""]
    lines += ["| other kernels | how many | us in all |", "|---|---|---|"]
    for name, (count, taken) in sorted(found.others.items(), key=lambda entry: -entry[1][1]):
        lines.append(f"| {name} | {count} | {taken:.0f} |")
    return "\n".join(lines)


def _convolutions(kinds: dict[str, Kind], rate: float) -> list[str]:
    lines = ["| convolution | how many | plan us | frame us | products us | GFLOP/s | of the machine | GB/s |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    total, work, count = 0.0, 0.0, 0
    for name, kind in kinds.items():
        plan, frame, products = kind.mean()
        taken, times = plan + frame + products, len(kind.times)
        total, work, count = total + taken * times, work + kind.work * times, count + times
        lines.append(f"| {name} | {times} | {plan:.1f} | {frame:.0f} | {products:.0f} | {_rates(kind.work, taken, rate)} | "
                     f"{kind.nbytes / taken / 1e3:.0f} |")  # fmt: skip
    return [*lines, f"| all | {count} | | | {total:.0f} | {_rates(work, total, rate)} | |"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.layers", description=__doc__.splitlines()[0])
    parser.add_argument("workload")
    parser.add_argument("case")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    found = Measured(options.workload, options.case, options.threads, options.runs)
    print(report(found, fma_rate(options.threads), roofline.rates(options.threads)["copy"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
