"""How cost grows: with the iterations of a loop, also one that changes a list, the ops of a body or a program, the exits of a function,
another batch size."""

from __future__ import annotations

import linecache
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


def filtered(x, trips):
    """A list that grows in some iterations."""
    rows, i = [x], paddle.zeros([], "int64")
    while i < trips:
        if i % 3 > 0:
            rows.append(x * i.astype("float32"))
        i = i + 1
    return paddle.stack(rows).sum()


def reduced(x, trips):
    """A stack machine: two are shifted, then one is taken off."""
    rows, i, total = [x], paddle.zeros([], "int64"), x.sum()
    while i < trips:
        if i % 3 == 2:
            total = total + rows.pop().sum()
        else:
            rows.append(x * i.astype("float32"))
        i = i + 1
    return total


def queue(x, trips):
    """Eight rows, of which the loop inside reads all and each iteration replaces one."""
    rows, i, total = [x * k for k in range(8)], paddle.zeros([], "int64"), x.sum()
    while i < trips:
        k = paddle.zeros([], "int64")
        while k < 8:
            total = total + (rows[k] * x).sum()
            k = k + 1
        rows[i % 8] = x * i.astype("float32")
        i = i + 1
    return total


def leaving(words: tuple[str, ...], count: int) -> Callable:
    """A function with so many conditions on tensors, behind which it does these in turn: in a loop, or `return` without one."""
    around = ["    if i < 3:"] if words == ("return y",) else ["    while i < 3:", "        i = i + 1"]
    lines = ["def leaving(x, k):", "    y, i = x * 1, k * 0", *around]
    for i in range(count):
        lines += [f"        if k + i == {i + 2}:", f"            {words[i % len(words)]}", f"        y = y * 1.01 + {i}"]
    text = "\n".join([*lines, "    return y", ""])
    file = f"<{count} times {words}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope: dict[str, Callable] = {}
    exec(compile(text, file, "exec"), scope)
    return scope["leaving"]


def exits() -> list[Row]:
    """What the first call takes, with its gradient, for functions of many exits."""
    rows, counts = [], (10, 40, 80, 200)
    for what, words in (("early returns", ("return y",)), ("breaks", ("break",)), ("continues", ("continue",)),
                        ("breaks, continues and returns", ("break", "continue", "return y"))):  # fmt: skip
        found = []
        for count in counts:
            static = to_static(leaving(words, count))
            x = paddle.ones([4])
            x.stop_gradient = False
            start = time.process_time()
            static(x, paddle.to_tensor(count + 9)).sum().backward()
            found.append(time.process_time() - start)
            rows.append(Row(f"the first call of a function of {count} {what}, with gradients", found[-1], "s"))
        rows.append(Row(f"one of {counts[-1]} {what} / of {counts[1]}", found[-1] / found[1] * counts[1] / counts[-1], "x", 2))
    return rows


def lists() -> list[Row]:
    """What an iteration costs that changes a list of rows, in long loops relative to short ones."""
    rows, (few, many) = [], (200, 1_600)
    for function, backward in ((filtered, False), (reduced, False), (queue, False), (filtered, True), (queue, True)):
        static, x = to_static(function), paddle.ones([1_000])
        x.stop_gradient = not backward

        def call(trips: paddle.Tensor, static: Callable = static, backward: bool = backward) -> None:
            result = static(x, trips)  # noqa: B023
            if backward:
                result.backward()

        short, long = fastest_in_turn(*(lambda n=n: call(n) for n in map(paddle.to_tensor, (few, many))), repeat=9)
        what = f"an iteration that changes a list ({function.__name__}{', with gradients' * backward})"
        rows.append(Row(f"{what}, of {many:,} / of {few}", long / short * few / many, "x", 1.5))
    return rows


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
    rows += lists() + exits()
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
