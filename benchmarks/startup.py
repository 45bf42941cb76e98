"""How long the first call takes: import, cold (empty cache) and warm (filled cache, fresh process)."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

from .common import Row

IMPORT = "import time; t = time.perf_counter(); import dy2st; print(time.perf_counter() - t)"
# the demo's model: one training step (forward and backward) and one inference
FIRST = """
import sys, time
sys.path.insert(0, "examples")
import numpy as np, dy2st as paddle
import digits
t = time.perf_counter()
model = digits.DigitNet()
paddle.jit.to_static(model)
x, y = paddle.to_tensor(np.random.rand(64, 1, 8, 8).astype("float32")), paddle.to_tensor(np.arange(64) % 10)
digits.loss_of(model, x, y).backward()
model.eval()
with paddle.no_grad():
    model(x)
print(time.perf_counter() - t)
"""


def seconds(code: str, cache: str) -> float:
    out = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "DY2ST_CACHE_DIR": cache}, check=True, capture_output=True
    )
    return float(out.stdout.split()[-1])


def run() -> list[Row]:
    cold, warm = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(seconds(FIRST, cache))
            warm += [seconds(FIRST, cache) for _ in range(2)]
    with tempfile.TemporaryDirectory() as cache:
        imports = [seconds(IMPORT, cache) for _ in range(5)]
    return [
        Row("import dy2st", statistics.median(imports), "s", 1.0),
        Row("demo model, training step and inference, empty cache", statistics.median(cold), "s", 6.0),
        Row("the same, filled cache, fresh process", statistics.median(warm), "s", 1.2),
    ]
