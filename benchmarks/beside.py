"""Eager models beside PaddlePaddle's eager mode: each row's ratio of steady times, measured in turn in one run.

A row is a process of each, in turn, as often as `--rounds` says; the caches of dy2st are filled before. The ratio is that of the least
medians; on a busy machine the ratio of processor times says more.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from . import report
from .common import Row
from .frameworks import FRAMEWORKS
from .peers import python_of
from .runner import TOLERANCE, Settings, difference, process

LIMIT = 1.5
"""How many times as long as PaddlePaddle's a row may take."""
ROWS = ("mlp_branch.train", "autoencoder.train", "mnist_cnn.train", "dynamic_rnn.grad", "lstm_language_model.train", "char_lstm.train",
        "seq2seq.train", "ctc.train", "reinforce.train", "transformer_encoder.infer", "transformer_encoder.train", "unet.train",
        "mobilenet_v2.infer8", "resnet50.train")  # fmt: skip
HEADER = (f"  {'steady ms of a step':<28}{'dy2st':>9}{'Paddle':>9}{'ratio':>8}{'processor':>11}{'first call':>13}"
          f"   (limit of the ratio: {LIMIT:g})")  # fmt: skip


@dataclass
class BesideRow(Row):
    """A line of the table; `value` is the ratio.

    Attributes:
        ours, theirs: milliseconds.
        cpu: the ratio of processor times.
        first: milliseconds of the first call with filled caches, without the import.
        note: why there are none.
    """

    ours: float = 0.0
    theirs: float = 0.0
    cpu: float = 0.0
    first: float = 0.0
    note: str = ""

    def __str__(self) -> str:
        if self.note:
            return f"  {self.name:<28}{self.note}"
        figures = f"{report.figure(self.ours):>9}{report.figure(self.theirs):>9}{self.value:>8.2f}{self.cpu:>11.2f}"
        return f"  {self.name:<28}{figures}{report.figure(self.first, ' ms'):>13}{'   MISSED' if self.value > LIMIT else ''}"


def measured(name: str, settings: Settings, cache: str) -> BesideRow:
    """A row; its note says what went wrong, if something did."""
    found: dict[str, list[dict[str, Any]]] = {"dy2st eager": [], "paddle eager": []}
    for round_ in range(settings.rounds + 1):
        for way, records in found.items():
            framework = FRAMEWORKS[way]
            if round_ == 0 and framework.peer:
                continue  # there is no cache to fill
            python = python_of(framework.peer, settings.venvs) if framework.peer else sys.executable
            command = ["benchmarks.measure", *name.split("."), way, "--threads", str(settings.threads)]
            record = process([*command, *(["--first"] if round_ == 0 else ["--seconds", str(settings.seconds)])], python, settings, cache)
            if "refused" in record:
                return BesideRow(name, 0.0, "", note=f"{way}: {record['refused']}")
            if round_:
                records.append(record)
    ours, theirs = found.values()
    if (apart := difference(ours[0]["results"], theirs[0]["results"])) > TOLERANCE:
        return BesideRow(name, 0.0, "", note=f"the results differ by {apart:.1e}")
    least = {key: [min(r[key] for r in records) for records in (ours, theirs)] for key in ("steady", "cpu", "first")}
    (a, b), (cpu, their_cpu) = least["steady"], least["cpu"]
    return BesideRow(name, a / b, "", LIMIT, a, b, cpu / their_cpu, least["first"][0])


def run(settings: Settings) -> list[Row]:
    """The rows, each printed as soon as it is there; none where PaddlePaddle is not installed."""
    if not (settings.venvs / "paddle" / "installed.txt").exists():
        print("  beside PaddlePaddle: skipped, as it is not installed; `python -m benchmarks.peers paddle` does that")
        return []
    print(HEADER)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="dy2st-bench-") as cache:
        for name in ROWS:
            rows.append(measured(name, settings, cache))
            print(rows[-1], flush=True)
    return rows
