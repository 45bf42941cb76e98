"""One measurement, in a process of its own: `python -m benchmarks.measure WORKLOAD CASE FRAMEWORK`; prints a JSON line.

`--first` ends after the first call, of which there are the time and the processor time (`processor`), also of the process that helps to
compile. Otherwise the steady time is measured too: calls until `--seconds` are over, at least five. A second of calls before is not
counted: dy2st compiles a training loop that goes on as one program. Of the calls there are the median (`steady`), the fastest, and the
least processor time of all threads (`cpu`), which a busy machine changes least.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import sys
import time
from typing import Any

import numpy as np

from .frameworks import FRAMEWORKS, arrays, finish, opened
from .workloads.common import Refused

STEPS_COMPARED = 3
"""How many steps' results are kept: those after the first depend on the gradients of the ones before."""

WARMUP = 1.0
"""Seconds of calls before the steady ones."""


def memory() -> float:
    """The most memory that this process has had resident, in MiB."""
    try:
        with open("/proc/self/status") as f:  # getrusage would count what the parent had before the fork
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024
    except FileNotFoundError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def summary(results: list[np.ndarray]) -> list[dict[str, Any]]:
    """What of the results is compared: shapes, norms, and up to 16 elements spread over each."""
    found = []
    for a in results:
        flat = a.astype("float64").reshape(-1)
        some = flat[np.linspace(0, flat.size - 1, min(flat.size, 16)).astype(int)] if flat.size else flat
        found.append({"shape": list(a.shape), "norm": float(np.linalg.norm(flat)), "some": some.tolist()})
    return found


def measured(workload: str, case: str, name: str, *, threads: int, seconds: float, first: bool) -> dict[str, Any]:
    """Times in milliseconds, memory in MiB, and the results of the first steps."""
    framework = FRAMEWORKS[name]
    start = time.perf_counter()
    given = opened(framework, threads)
    imported = time.perf_counter()
    step = getattr(importlib.import_module(f"benchmarks.workloads.{workload}"), f"on_{framework.dialect}")(*given, case)
    built, used = time.perf_counter(), sum(os.times()[:4])
    results = [finish(step())]
    called = time.perf_counter()
    record = {"import": imported - start, "build": built - imported, "first": called - built, "processor": sum(os.times()[:4]) - used}
    record = {key: value * 1e3 for key, value in record.items()}
    if first:
        return record
    results += [finish(step()) for _ in range(STEPS_COMPARED - 1)]
    record["results"] = [summary(arrays(r)) for r in results]
    begun = time.perf_counter()
    while time.perf_counter() - begun < WARMUP:
        finish(step())
    times, cpu = [], []
    begun = time.perf_counter()
    while len(times) < 5 or (time.perf_counter() - begun < seconds and len(times) < 2000):
        start, used = time.perf_counter(), time.process_time()
        finish(step())
        times.append((time.perf_counter() - start) * 1e3)
        cpu.append((time.process_time() - used) * 1e3)
    record |= {"steady": statistics.median(times), "fastest": min(times), "cpu": min(cpu), "calls": len(times), "memory": memory()}
    return record


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure", description=__doc__)
    parser.add_argument("workload")
    parser.add_argument("case")
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--first", action="store_true", help="only the first call")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    try:
        record = measured(options.workload, options.case, options.framework, threads=options.threads, seconds=options.seconds,
                          first=options.first)  # fmt: skip
    except Refused as refusal:
        record = {"refused": str(refusal)}
    except Exception as error:
        record = {"refused": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:200]}
        if not options.first:
            import traceback

            traceback.print_exc()
    print("\n" + json.dumps(record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
