"""Runs measurements, each in a process of its own, and gathers their records."""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import roofline
from .frameworks import FRAMEWORKS, Framework, environment
from .peers import FOLDER, python_of
from .workloads import MODULES

ROOT = Path(__file__).parent.parent
TOLERANCE = 2e-3
"""How far results may differ, relative to the largest element; sums in another order differ by less."""


@dataclass
class Settings:
    """How to measure.

    Attributes:
        peers: which ones beside dy2st: peers, or ways to run one (`torch eager`).
        threads: of each measurement.
        seconds: how long the steady time is measured.
        rounds: how often, each time in a new process; the round of median steady time counts.
        quick: only steady times of what is compiled: no empty cache, no eager dy2st, no roofline.
    """

    peers: Sequence[str] = ()
    threads: int = 2
    seconds: float = 3.0
    rounds: int = 1
    quick: bool = False
    venvs: Path = field(default=FOLDER)

    def frameworks(self, case: str) -> list[Framework]:
        """Those that can do a case."""
        kind = case.rstrip("0123456789")
        asked = {"dy2st", "dy2st step", *([] if self.quick else ["dy2st eager"]), *self.peers}
        return [f for f in FRAMEWORKS.values() if not asked.isdisjoint((f.name, f.peer)) and kind in f.only]


def cases(names: Sequence[str] = MODULES) -> list[tuple[str, str]]:
    """The workloads and cases that names like `newton` or `mnist_cnn.train` mean.

    Raises:
        ValueError: there is none of the name.
    """
    found = []
    for name in names:
        module, _, case = name.partition(".")
        known = importlib.import_module(f"benchmarks.workloads.{module}").CASES if module in MODULES else {}
        if not known or (case and case not in known):
            raise ValueError(f"unknown benchmark {name!r}")
        found += [(module, c) for c in ([case] if case else known)]
    return found


def machine(settings: Settings) -> dict[str, Any]:
    """Where and when: the first record of a run."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    record = {"commit": commit, "date": time.strftime("%Y-%m-%d %H:%M"), "machine": f"{_processor()}, {os.cpu_count()} cores",
              "python": platform.python_version(), "threads": settings.threads}  # fmt: skip
    if not settings.quick:
        record |= process(["benchmarks.roofline", "--threads", str(settings.threads)], sys.executable, settings, "")
    return record


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as f:
            return next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    except (FileNotFoundError, StopIteration):
        return platform.processor() or platform.machine()


def measurements(names: Sequence[tuple[str, str]], settings: Settings, rates: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The record of each case by each framework."""
    for workload, case in names:
        reference: list[Any] | None = None
        bound: dict[str, float] = {}
        for framework in settings.frameworks(case):
            record = {"workload": workload, "case": case, "framework": framework.name, **_measured(workload, case, framework, settings)}
            results = record.pop("results", None)
            if reference is None:
                reference = results
            elif results is not None:
                record["difference"] = difference(results, reference)
            if framework.name in ("dy2st", "dy2st step") and not settings.quick:
                if not bound:
                    ops = process(["benchmarks.roofline", workload, case], sys.executable, settings, "")
                    bound = roofline.least(ops, rates["gemm"], rates["copy"])
                record |= bound
            yield record


def _measured(workload: str, case: str, framework: Framework, settings: Settings) -> dict[str, Any]:
    """The first call with empty caches; then, in new processes, with filled ones, and the steady time."""
    python = python_of(framework.peer, settings.venvs) if framework.peer else sys.executable
    command = ["benchmarks.measure", workload, case, framework.name, "--threads", str(settings.threads)]
    with tempfile.TemporaryDirectory(prefix="dy2st-bench-") as cache:
        cold = {} if settings.quick else process([*command, "--first"], python, settings, cache)
        if "refused" in cold:
            return cold
        rounds = [process([*command, "--seconds", str(settings.seconds)], python, settings, cache) for _ in range(settings.rounds)]
    if any("refused" in r for r in rounds):
        return next(r for r in rounds if "refused" in r)
    record = sorted(rounds, key=lambda r: r["steady"])[len(rounds) // 2]
    times = {"cold": cold["build"] + cold["first"], "warm": record["build"] + record["first"]} if cold else {}
    return {**times, **{k: v for k, v in record.items() if k not in ("build", "first", "processor")}}


def process(command: list[str], python: str, settings: Settings, cache: str) -> Any:
    """The last line that `python -m command` prints, as JSON."""
    env = environment(settings.threads, cache) if cache else {**os.environ, "OMP_NUM_THREADS": str(settings.threads)}
    done = subprocess.run([python, "-m", *command], cwd=ROOT, env=env, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return {"refused": f"the process failed: {last[0]}"[:200]}
    return json.loads(lines[-1])


def difference(results: list[Any], reference: list[Any]) -> float:
    """The largest difference of the results of all compared steps, relative to the largest element; infinite for other shapes."""
    worst = 0.0
    for ours, theirs in zip(results, reference, strict=True):
        if [a["shape"] for a in ours] != [b["shape"] for b in theirs]:
            return float("inf")
        for a, b in zip(ours, theirs, strict=True):
            scale = max(map(abs, b["some"]), default=0.0) or 1.0
            pairs = [*((x, y, scale) for x, y in zip(a["some"], b["some"], strict=True)), (a["norm"], b["norm"], b["norm"] or 1.0)]
            worst = max(worst, *(_apart(*pair) for pair in pairs))
    return worst


def _apart(x: float, y: float, scale: float) -> float:
    """How far two numbers are apart; infinitely, if one of them is no number or infinite and the other is something else."""
    if x == y or (math.isnan(x) and math.isnan(y)):
        return 0.0
    return abs(x - y) / scale if math.isfinite(x) and math.isfinite(y) else math.inf
