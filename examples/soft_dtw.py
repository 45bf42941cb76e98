"""Soft-DTW as an op of one's own: how far two series are apart when time may be stretched, as a loss that trains a network.

Each cell of a table needs three neighbours that were computed just before. Composed of tensor operations that takes several operations a
cell. As a kernel in Python that Numba compiles (`dy2st.custom_op`) it is one call, also in static functions, and its gradient is a second
kernel. `python examples/soft_dtw.py` trains a network to continue noisy waves, saves it, and times the kernel beside the same thing
written with tensor operations.

M. Cuturi, M. Blondel: Soft-DTW: a Differentiable Loss Function for Time-Series, 2017.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time

import numpy as np

import dy2st as paddle
from dy2st import nn


@paddle.custom_op(infer=lambda distances, gamma: [(distances.shape[:1], distances.dtype), (distances.shape, distances.dtype)], outputs=2)
def soft_dtw(distances, gamma=1.0):
    """Of `distances` [batch, n, m]: the cost of the softly cheapest path through each table, [batch], and of the paths to each cell."""
    batch, n, m = distances.shape
    paths = np.empty_like(distances)
    total = np.empty(batch, distances.dtype)
    for b in range(batch):
        for i in range(n):
            for j in range(m):
                up = paths[b, i - 1, j] if i > 0 else np.inf
                left = paths[b, i, j - 1] if j > 0 else np.inf
                both = paths[b, i - 1, j - 1] if i > 0 and j > 0 else (0.0 if i == j else np.inf)
                least = min(up, left, both)
                rest = math.exp((least - up) / gamma) + math.exp((least - left) / gamma) + math.exp((least - both) / gamma)
                paths[b, i, j] = distances[b, i, j] + least - gamma * math.log(rest)
        total[b] = paths[b, n - 1, m - 1]
    return total, paths


@paddle.custom_op(infer=lambda distances, paths, dtotal, gamma: (distances.shape, distances.dtype))
def soft_dtw_grad(distances, paths, dtotal, gamma=1.0):
    """How much of `dtotal` goes through each cell: what comes from the three cells behind it."""
    batch, n, m = distances.shape
    grad = np.zeros_like(distances)
    for b in range(batch):
        for i in range(n - 1, -1, -1):
            for j in range(m - 1, -1, -1):
                g = dtotal[b] if i == n - 1 and j == m - 1 else 0.0
                for di, dj in ((1, 0), (0, 1), (1, 1)):
                    p, q = i + di, j + dj
                    if p < n and q < m:
                        g += grad[b, p, q] * math.exp((paths[b, p, q] - distances[b, p, q] - paths[b, i, j]) / gamma)
                grad[b, i, j] = g
    return grad


@soft_dtw.gradient
def rule(distances, total, paths, dtotal, dpaths, gamma):
    return soft_dtw_grad(distances, paths, dtotal, gamma=gamma)


def pairwise(x, y):
    """Squared distances of the points of series x [batch, n] and y [batch, m], shape [batch, n, m]."""
    return (x.unsqueeze(2) - y.unsqueeze(1)) ** 2


def composed(distances, gamma=1.0):
    """The same cost with tensor operations, row by row and cell by cell."""
    infinite = paddle.full_like(distances[:, 0, 0], 1e10)
    above = [paddle.zeros_like(infinite)] + [infinite] * distances.shape[2]
    for i in range(distances.shape[1]):
        row = [infinite]
        for j in range(distances.shape[2]):
            three = paddle.stack([above[j], above[j + 1], row[j]], axis=1)
            row.append(distances[:, i, j] - gamma * paddle.logsumexp(-three / gamma, axis=1))
        above = row
    return above[-1]


class Continues(nn.Layer):
    """The next `ahead` points of series of `length` points."""

    def __init__(self, length: int, ahead: int):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(length, 32), nn.Tanh(), nn.Linear(32, ahead))

    def forward(self, x):
        return self.net(x)


def waves(rng: np.random.Generator, count: int, length: int) -> np.ndarray:
    phase, speed = rng.uniform(0, 2 * np.pi, (count, 1)), rng.uniform(0.2, 0.4, (count, 1))
    return (np.sin(phase + speed * np.arange(length)) + rng.normal(0, 0.05, (count, length))).astype("float32")


def train(steps: int, length: int = 24, ahead: int = 12) -> tuple[Continues, list[float]]:
    """A trained network and its losses."""
    rng = np.random.default_rng(0)
    paddle.seed(0)
    model = Continues(length, ahead)
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())

    @paddle.jit.to_static
    def step(x, y):
        total, _ = soft_dtw(pairwise(model(x), y), gamma=0.1)
        loss = total.mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    losses = []
    for _ in range(steps):
        series = waves(rng, 32, length + ahead)
        losses.append(float(step(paddle.to_tensor(series[:, :length]), paddle.to_tensor(series[:, length:]))))
    return model, losses


def timed(size: int, repeat: int) -> dict[str, float]:
    """Milliseconds of a cost with its gradient for 8 tables of `size` x `size`: the op, and tensor operations in a static function."""
    values = np.random.default_rng(0).random((8, size, size)).astype("float32")

    def milliseconds(cost) -> float:
        def once() -> None:
            distances = paddle.to_tensor(values, stop_gradient=False)
            cost(distances).sum().backward()

        once()
        times = []
        for _ in range(repeat):
            start = time.perf_counter()
            once()
            times.append((time.perf_counter() - start) * 1e3)
        return statistics.median(times)

    static_op = paddle.jit.to_static(lambda d: soft_dtw(d, gamma=1.0)[0])
    return {"op, eager": milliseconds(lambda d: soft_dtw(d, gamma=1.0)[0]), "op, static": milliseconds(static_op),
            "composed, static": milliseconds(paddle.jit.to_static(composed)), "composed, eager": milliseconds(composed)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    _, losses = train(options.steps)
    print(f"loss {losses[0]:.3f} at the first step, {np.mean(losses[-10:]):.3f} at the last ten of {options.steps}")
    for size in (16, 32):
        found = timed(size, 5)
        print(f"{size} x {size}: " + ", ".join(f"{way} {ms:.3g} ms" for way, ms in found.items()))


if __name__ == "__main__":
    main()
