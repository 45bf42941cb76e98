"""How cost grows: with the iterations of a loop, the ops in its body, the ops of a program, and with another batch size."""

from __future__ import annotations

import time
from collections.abc import Callable

from dy2st_runtime.executor.executable import compiler

import dy2st as paddle
from dy2st import nn
from dy2st.jit import to_static

from .common import Row, fastest_in_turn


def loop(ops: int) -> Callable:
    """A loop on a vector whose body has so many ops."""

    @to_static
    def run(x, trips):
        i = paddle.zeros([], "int64")
        while i < trips:
            for _ in range(ops):
                x = x.tanh().matmul(w) if ops > 1 else x * 0.999
            i = i + 1
        return x

    w = paddle.eye(16) * 0.5
    return run


def chain(count: int) -> Callable:
    """A function of so many ops, none of which can be left out."""

    @to_static
    def run(x):
        for _ in range(count // 2):
            x = x.cumsum(0) * 0.5
        return x

    return run


def run() -> list[Row]:
    rows = []
    wide, x = paddle.ones([64, 1024]), paddle.ones([1, 16])
    few, body = loop(1), 200
    counts = (10, 1_000, 100_000)
    trips = [paddle.to_tensor(n) for n in counts]
    ten, thousand, most = fastest_in_turn(*(lambda n=n: few(wide, n) for n in trips), repeat=9)
    each = (thousand - ten) / (counts[1] - counts[0]), (most - thousand) / (counts[2] - counts[1])
    rows.append(Row("an iteration, from 10 to 1,000 of them", each[0] * 1e6, "us"))
    rows.append(Row("an iteration, from 1,000 to 100,000 / from 10 to 1,000", each[1] / each[0], "x", 1.2))
    loops = [loop(n) for n in (10, body)]
    n = paddle.to_tensor(1_000)
    small, large = fastest_in_turn(*(lambda f=f: f(x, n) for f in loops), repeat=5)
    rows.append(Row(f"an op of a body of {2 * body} / of 20", large / small * 10 / body, "x", 1.2))
    programs = []
    for ops in (2_500, 20_000):
        start = time.perf_counter()
        chain(ops)(paddle.ones([4]))
        programs.append((time.perf_counter() - start) / ops)
        rows.append(Row(f"an op of a program of {ops:,}, from the call to its result", programs[-1] * 1e6, "us"))
    rows.append(Row("an op of a program of 20,000 / of 2,500", programs[1] / programs[0], "x", 1.5))
    model = to_static(nn.Sequential(nn.Conv2D(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 26 * 26, 10)))
    for batch in (4, 4, 4):
        model(paddle.ones([batch, 1, 28, 28]))
    compiled, extra = compiler().compiled, []
    for batch in range(5, 12):
        images = paddle.ones([batch, 1, 28, 28])
        first, *again = (_seconds(lambda: model(images)) for _ in range(9))  # noqa: B023
        extra.append(first - min(again))
    rows.append(Row("the first call of another batch size, beyond the next ones", sorted(extra)[len(extra) // 2] * 1e3, "ms", 5))
    rows.append(Row("kernels compiled for seven more batch sizes", compiler().compiled - compiled, "", 0))
    return rows


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
