"""What an op costs in eager mode beyond the NumPy call that it makes: untaped, taped, and the backward pass, in microseconds.

Tensors are small, so that what is measured is dispatch. Each figure is the least of many short batches in this process: on a busy machine
that is what an op costs when nobody interrupts. A case of several ops (a loss, a layer) counts each of them.
`python -m benchmarks eager` prints whole models beside PaddlePaddle's eager mode, too: see `beside`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dy2st as paddle
from dy2st import nn

from .common import Row

F = nn.functional
LIMIT = 3.0
"""What dispatch may cost for an op, in microseconds."""
BATCH, BATCHES = 50, 300


@dataclass
class OpRow(Row):
    """A line of the table: `value` is what an untaped op costs beyond NumPy. All figures are for one op.

    Attributes:
        numpy: the NumPy call.
        untaped, taped: the op, without and with a record for the gradient.
        backward: `backward()` through the record, without what it takes for a leaf; None where there is no gradient.
    """

    numpy: float = 0.0
    untaped: float = 0.0
    taped: float = 0.0
    backward: float | None = None

    def __str__(self) -> str:
        taped = self.taped - self.numpy
        backward = "" if self.backward is None else f"{self.backward:.2f}"
        missed = "   MISSED" if self.value > LIMIT else "   taped above" if taped > LIMIT else ""
        return (f"  {self.name:<22}{self.numpy:>8.2f}{self.untaped:>10.2f}{self.taped:>8.2f}{self.value:>11.2f}{taped:>8.2f}"
                f"{self.untaped / self.numpy:>9.1f}x{backward:>10}{missed}")  # fmt: skip


HEADER = (f"  {'one op, us':<22}{'NumPy':>8}{'untaped':>10}{'taped':>8}{'dispatch:':>11}{'taped':>8}{'of NumPy':>10}{'backward':>10}"
          f"   (limit of dispatch: {LIMIT:g})")  # fmt: skip


@dataclass
class Case:
    """An op on tensors and the same on arrays. `ops`: how many ops it is. `differentiable`: whether its result has a gradient."""

    name: str
    on_tensors: Callable[..., Any]
    on_arrays: Callable[..., Any]
    ops: int = 1
    differentiable: bool = True


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def cases() -> list[Case]:
    layer = nn.Linear(8, 8)
    weight, bias = layer.weight.numpy(), layer.bias.numpy()
    return [
        Case("x + y", lambda x, y: x + y, lambda x, y: x + y),
        Case("x * y", lambda x, y: x * y, lambda x, y: x * y),
        Case("x - 1.5", lambda x, y: x - 1.5, lambda x, y: x - 1.5),
        Case("x / y", lambda x, y: x / y, lambda x, y: x / y),
        Case("paddle.add(x, y)", lambda x, y: paddle.add(x, y), lambda x, y: np.add(x, y)),
        Case("F.relu(x)", lambda x, y: F.relu(x), lambda x, y: np.maximum(x, 0)),
        Case("paddle.tanh(x)", lambda x, y: paddle.tanh(x), lambda x, y: np.tanh(x)),
        Case("x.matmul(y)", lambda x, y: x.matmul(y), lambda x, y: np.matmul(x, y)),
        Case("x.reshape([4, 16])", lambda x, y: x.reshape([4, 16]), lambda x, y: x.reshape([4, 16])),
        Case("x.transpose([1, 0])", lambda x, y: x.transpose([1, 0]), lambda x, y: x.transpose([1, 0])),
        Case("x.sum()", lambda x, y: x.sum(), lambda x, y: x.sum()),
        Case("x.mean(axis=1)", lambda x, y: x.mean(axis=1), lambda x, y: x.mean(axis=1)),
        Case("x[2]", lambda x, y: x[2], lambda x, y: x[2]),
        Case("x[:, 1:3]", lambda x, y: x[:, 1:3], lambda x, y: x[:, 1:3]),
        Case("x > y", lambda x, y: x > y, lambda x, y: x > y, differentiable=False),
        Case("x.astype(float64)", lambda x, y: x.astype("float64"), lambda x, y: x.astype("float64")),
        Case("concat([x, y])", lambda x, y: paddle.concat([x, y]), lambda x, y: np.concatenate([x, y])),
        Case("F.softmax(x)", lambda x, y: F.softmax(x), lambda x, y: softmax(x)),
        Case("Linear(8, 8)(x)", lambda x, y: layer(x), lambda x, y: x @ weight + bias, ops=2),
        Case("F.mse_loss(x, y)", lambda x, y: F.mse_loss(x, y), lambda x, y: np.square(x - y).mean(), ops=3),
    ]


def least(call: Callable[[], object]) -> float:
    """Microseconds of a call: the least of many short batches."""
    best = float("inf")
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        best = min(best, time.perf_counter() - start)
    return best / BATCH * 1e6


def measured(case: Case) -> OpRow:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(8, 8)).astype("float32") for _ in range(2))
    x, y = paddle.to_tensor(a), paddle.to_tensor(b)
    taped = paddle.to_tensor(a, stop_gradient=False)
    np.testing.assert_allclose(case.on_tensors(x, y).numpy(), case.on_arrays(a, b), rtol=1e-5, atol=1e-6)
    with paddle.no_grad():
        untaped = least(lambda: case.on_tensors(x, y))
    backward = None
    if case.differentiable:
        out = case.on_tensors(taped, y)

        def back(t: paddle.Tensor) -> None:
            t.backward(retain_graph=True)
            taped._grad = None

        backward = (least(lambda: back(out)) - least(lambda: back(taped))) / case.ops
    numpy = least(lambda: case.on_arrays(a, b)) / case.ops
    untaped /= case.ops
    forward = least(lambda: case.on_tensors(taped, y)) / case.ops
    return OpRow(case.name, untaped - numpy, "us", LIMIT, numpy, untaped, forward, backward)


def run() -> list[Row]:
    print(HEADER)
    return [measured(case) for case in cases()]


if __name__ == "__main__":
    for row in run():
        print(row)
