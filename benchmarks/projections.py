"""Loops over time: two LSTM cells, with what they make of their inputs as one product before the loop and as one for each step."""

from __future__ import annotations

from unittest import mock

from dy2st_runtime.passes import pipeline

import dy2st as paddle
from dy2st import jit, nn

from .common import Row, in_turn

STEPS = 20


class Model(nn.Layer):
    def __init__(self, size: int):
        super().__init__()
        self.first, self.second = nn.LSTMCell(size, size), nn.LSTMCell(size, size)

    def forward(self, xs):
        first = second = None
        outs = []
        for x in xs:
            h, first = self.first(x, first)
            h, second = self.second(h, second)
            outs.append(h)
        return paddle.stack(outs)


def made(size: int, batch: int, training: bool):
    """A call of the model, or a step of its training."""
    paddle.seed(0)
    model = Model(size)
    xs = paddle.rand([STEPS, batch, size])
    static = jit.to_static(model)
    optimizer = paddle.optimizer.SGD(1e-4, parameters=model.parameters())

    def infer():
        with paddle.no_grad():
            return static(xs)

    def train():
        loss = (static(xs) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    call = train if training else infer
    for _ in range(3):
        call()
    return call


def run() -> list[Row]:
    rows = []
    for size, batch, training in ((64, 1, False), (200, 1, False), (512, 1, False), (200, 20, False), (200, 1, True), (200, 20, True)):
        split = made(size, batch, training)
        with mock.patch.object(pipeline, "PASSES", [p for p in pipeline.PASSES if p[0] != "fission"]):
            as_written = made(size, batch, training)
        name = f"{'training' if training else 'inference'}, batch {batch}, size {size}"
        times = in_turn(as_written, split, repeat=100)
        rows += [
            Row(f"{name}: a product for each step", times[0] * 1e3, "ms"),
            Row(f"{name}: one before / for each", times[1] / times[0], "x", 1.1),  # it slows nothing down, but for noise
        ]
    return rows
