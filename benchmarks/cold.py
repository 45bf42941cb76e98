"""First calls in processes of their own, with an empty compile cache and with the filled one."""

from __future__ import annotations

import sys
import tempfile

from . import runner
from .common import Row

CASES = (("char_lstm", "train"), ("seq2seq", "train"), ("unet", "train"), ("transformer_encoder", "train"), ("mlp_branch", "train"),
         ("newton", "grad"), ("mnist_cnn", "train"))  # fmt: skip


def run() -> list[Row]:
    rows = []
    for workload, case in CASES:
        with tempfile.TemporaryDirectory(prefix="dy2st-bench-") as cache:
            for label in ("empty", "filled"):
                command = ["benchmarks.measure", workload, case, "dy2st", "--first"]
                record = runner.process(command, sys.executable, runner.Settings(), cache)
                if "refused" in record:
                    raise RuntimeError(f"{workload}.{case}: {record['refused']}")
                rows.append(Row(f"{workload}.{case}, {label} cache", record["first"] / 1e3, "s"))
                rows.append(Row(f"{workload}.{case}, {label} cache: processor time", record["processor"] / 1e3, "s"))
    return rows
