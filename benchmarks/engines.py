"""The two compilers of kernels beside each other: first calls with an empty and a filled cache, steady time and memory."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from dy2st_runtime.executor.engines import ENGINES

from .common import Row
from .frameworks import environment
from .runner import ROOT

WORKLOADS = (("mlp_branch", "train"), ("newton", "grad"), ("mnist_cnn", "train"), ("lstm_language_model", "train"))
ROUNDS, THREADS, SECONDS = 3, 2, 1.0
FIGURES = {"cold": ("empty cache", "ms"), "warm": ("filled cache", "ms"), "steady": ("steady", "ms"), "memory": ("memory", "MiB")}


def run() -> list[Row]:
    rows = []
    for workload, case in WORKLOADS:
        found: dict[str, list[dict[str, float]]] = {name: [] for name in ENGINES}
        for _ in range(ROUNDS):  # in turn, so that a drift of the machine's speed meets both
            for name, measured in found.items():
                measured.append(_figures(workload, case, name))
        for key, (what, unit) in FIGURES.items():
            middle = {name: statistics.median(m[key] for m in measured) for name, measured in found.items()}
            rows += [Row(f"{workload}.{case}: {what}, {name}", value, unit) for name, value in middle.items()]
            rows.append(Row(f"{workload}.{case}: {what}, numba / llvm", middle["numba"] / middle["llvm"], "x"))
    return rows


def _figures(workload: str, case: str, engine: str) -> dict[str, float]:
    """Of a process with an empty cache and of one with what that has left there."""
    command = [sys.executable, "-m", "benchmarks.measure", workload, case, "dy2st step", "--threads", str(THREADS)]
    with tempfile.TemporaryDirectory(prefix="dy2st-bench-") as cache:
        env = {**environment(THREADS, cache), "DY2ST_ENGINE": engine}

        def record(*options: str) -> Any:
            done = subprocess.run([*command, *options], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
            return json.loads(done.stdout.strip().splitlines()[-1])

        cold, warm = record("--first"), record("--seconds", str(SECONDS))
    first = {key: r["build"] + r["first"] for key, r in (("cold", cold), ("warm", warm))}
    return {**first, "steady": warm["steady"], "memory": warm["memory"]}
