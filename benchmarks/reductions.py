"""Reductions, softmax and normalizations with elementwise ops around, beside the same without the passes that make them one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from dy2st_runtime.passes import pipeline

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import jit

from .common import Row, fastest_in_turn

Case = tuple[str, Callable[..., Any], list[list[int]], float]
CASES: list[Case] = [
    ("mean of squares, 1000 x 1000", lambda x, y: ((x - y) ** 2).mean(), [[1000, 1000], [1000, 1000]], 1.0),
    ("distances of 1000 points to 100, 64 axes", lambda x, c: ((x.unsqueeze(1) - c) ** 2).sum(-1), [[1000, 64], [100, 64]], 0.7),
    ("weighted rows, 4096 x 256", lambda x, w: (x * w).sum(-1), [[4096, 256], [256]], 1.0),
    ("columns of products, 4096 x 256", lambda x, y: (x * y).sum(0), [[4096, 256], [4096, 256]], 1.0),
    ("columns of products, 65536 x 16", lambda x, y: (x * y).sum(0), [[65536, 16], [65536, 16]], 1.0),
    ("entropy of rows, 4096 x 256", lambda x: -(x.exp() * x).sum(-1), [[4096, 256]], 1.3),
    ("largest size in rows, 4096 x 256", lambda x: x.abs().max(-1), [[4096, 256]], 1.1),
    ("largest exponential in rows, 4096 x 256", lambda x: x.exp().max(-1), [[4096, 256]], 1.1),
    ("softmax of masked scores, 8 x 8 x 128 x 128", lambda x, m: F.softmax(x * 0.125 + m, -1),
     [[8, 8, 128, 128], [8, 1, 1, 128]], 1.1),
    ("layer_norm of a sum, 4096 x 1024", lambda x, y: F.layer_norm(x + y, [1024]), [[4096, 1024], [4096, 1024]], 1.1),
    ("gelu of layer_norm, 1024 x 512", lambda x: F.gelu(F.layer_norm(x, [512])), [[1024, 512]], 1.1),
    ("how many are positive, 1000 x 1000", lambda x: (x > 0).astype("int64").sum(), [[1000, 1000]], 1.0),
]


def run() -> list[Row]:
    rows = []
    paddle.seed(0)
    for name, function, shapes, limit in CASES:
        inputs = [paddle.randn(shape) for shape in shapes]
        one = _warm(jit.to_static(function), inputs)
        with mock.patch.object(pipeline, "PASSES", [p for p in pipeline.PASSES if p[0] not in ("prologue", "rows")]):
            apart = _warm(jit.to_static(function), inputs)
        times = fastest_in_turn(one, apart, repeat=40)
        rows += [Row(f"{name}: as one", times[0] * 1e6, "us"), Row(f"{name}: as one / apart", times[0] / times[1], "x", limit)]
    return rows


def _warm(function: Callable[..., Any], inputs: list[Any]) -> Callable[[], Any]:
    def call() -> Any:
        with paddle.no_grad():
            return function(*inputs)

    call()
    return call
