"""Data-dependent loops: counters on one-element tensors, and a small LSTM cell against NumPy eager."""

from __future__ import annotations

import numpy as np

import dy2st as paddle

from .common import Row, in_turn, median_seconds

TRIPS = 100_000
STEPS = 200


@paddle.jit.to_static
def counters(first, second):
    """Seed 003's loop: two counters, one of them faster."""
    while first < second:
        first = first + 2
        second = second + 1
    return first, second


def lstm(x, h, c, w, u, b, limit):
    """An LSTM cell applied to the same input until the state has settled or `limit` steps are done."""
    i = paddle.zeros([], "int64")
    while i < limit:
        gates = paddle.matmul(x, w) + paddle.matmul(h, u) + b
        a, f, o, g = paddle.split(gates, 4, axis=1)
        c = paddle.nn.functional.sigmoid(f) * c + paddle.nn.functional.sigmoid(a) * paddle.tanh(g)
        h = paddle.nn.functional.sigmoid(o) * paddle.tanh(c)
        i = i + 1
    return h, c


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def lstm_numpy(x, h, c, w, u, b, limit):
    """The same by hand, as one writes it in NumPy."""
    i = 0
    while i < limit:
        gates = x @ w + h @ u + b
        a, f, o, g = np.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(a) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        i += 1
    return h, c


def run() -> list[Row]:
    t = paddle.to_tensor
    with paddle.no_grad():
        seconds = median_seconds(lambda: counters(t(np.zeros(1, "float32")), t(np.full(1, TRIPS, "float32"))))
    rows = [Row("counters: one iteration of a while loop", seconds / TRIPS * 1e9, "ns", 20)]
    static = paddle.jit.to_static(lstm)
    for batch, hidden in ((1, 16), (4, 32), (20, 64)):
        rng = np.random.default_rng(0)
        sizes = [(batch, hidden)] * 3 + [(hidden, 4 * hidden)] * 2 + [(4 * hidden,)]
        arrays = [rng.normal(size=s).astype("float32") * 0.3 for s in sizes]
        tensors = [t(a) for a in arrays]
        limit = t(np.array(STEPS, "int64"))
        with paddle.no_grad():
            got, want = static(*tensors, limit)[0].numpy(), lstm_numpy(*arrays, STEPS)[0]
            np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
            ours, numpy, eager = in_turn(lambda: static(*tensors, limit), lambda: lstm_numpy(*arrays, STEPS),  # noqa: B023
                                         lambda: lstm(*tensors, limit), repeat=7)  # fmt: skip  # noqa: B023
        name = f"LSTM cell, batch {batch}, hidden {hidden}"
        rows.append(Row(f"{name}: one iteration", ours / STEPS * 1e6, "us"))
        rows.append(Row(f"{name}: static / NumPy by hand", ours / numpy, "x"))
        rows.append(Row(f"{name}: static / NumPy eager (undecorated)", ours / eager, "x", 0.25))
    return rows
