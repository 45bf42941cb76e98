"""How long conversion takes: a forward of 300 lines, from its source to the compiled function, and again in a fresh process."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from .common import Row

# twelve lines as models have them; the function repeats them
_LINES = """
        h = self.layers[{i}](x) * {i} + self.scale
        if h.mean() > {i} and not self.training:
            h = h / (h.sum() + {i})
            self.count += 1
        elif h.max() < 0:
            return h - {i}
        total = [v * 2 for v in (h, x)] if {i} % 2 else [h]
        for j, row in enumerate(h):
            if row.sum() > j:
                continue
            x = x + row * self.weights["{i}"]
        assert x.shape[0] > 0, f"empty at {i}: {{x}}"
"""
_RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
import generated
from dy2st import convert
from dy2st.convert.calls.calls import convert_function
start = time.perf_counter()
convert_function(generated.Model.forward)
print(time.perf_counter() - start)
"""


def source(lines: int = 300) -> str:
    """A module with a class whose `forward` has so many lines."""
    body = "".join(_LINES[1:].format(i=i) for i in range(lines // 12))
    return f"class Model:\n    def forward(self, x):\n{body}        return x, total\n"


def seconds(folder: str) -> float:
    """The time of the conversion in a process of its own, with this folder as its cache."""
    out = subprocess.run([sys.executable, "-c", _RUN, folder], env={**os.environ, "DY2ST_CACHE_DIR": folder}, check=True,
                         capture_output=True)  # fmt: skip
    return float(out.stdout.split()[-1])


def run() -> list[Row]:
    cold, warm = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "generated.py").write_text(source())
            cold.append(seconds(folder))
            warm += [seconds(folder) for _ in range(2)]
    return [
        Row("a forward of 300 lines, from source to compiled function", statistics.median(cold), "s", 0.3),
        Row("the same in a fresh process, from the cache", statistics.median(warm), "s", 0.05),
    ]
