"""Images with channels last: a residual network in that layout beside the same with channels first."""

from __future__ import annotations

from unittest import mock

from dy2st_runtime.passes import pipeline

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import jit, nn

from .common import Row, in_turn

CLASSES, CHANNELS, SIZE, BLOCKS = 10, 64, 56, 4


class Residual(nn.Layer):
    def __init__(self, layout: str):
        super().__init__()
        self.conv = nn.Conv2D(CHANNELS, CHANNELS, 3, padding=1, data_format=layout)
        self.norm = nn.BatchNorm2D(CHANNELS, data_format=layout)
        self.mix = nn.Conv2D(CHANNELS, CHANNELS, 1, data_format=layout)

    def forward(self, x):
        return F.relu(x + self.mix(F.relu(self.norm(self.conv(x)))))


class Model(nn.Layer):
    def __init__(self, layout: str):
        super().__init__()
        self.first = nn.Conv2D(3, CHANNELS, 3, padding=1, data_format=layout)
        self.blocks = nn.Sequential(*(Residual(layout) for _ in range(BLOCKS)))
        self.pool = nn.MaxPool2D(2, 2, data_format=layout)
        self.head = nn.Linear(CHANNELS, CLASSES)
        self.axes = [1, 2] if layout == "NHWC" else [2, 3]

    def forward(self, x):
        return self.head(self.pool(self.blocks(self.first(x))).mean(axis=self.axes))


def made(layout: str, batch: int, training: bool):
    """A call of the model, or a step of its training."""
    paddle.seed(0)
    model = Model(layout)
    x = paddle.rand([batch, SIZE, SIZE, 3] if layout == "NHWC" else [batch, 3, SIZE, SIZE])
    if not training:
        model.eval()
        static = jit.to_static(model)

        def call():
            with paddle.no_grad():
                return static(x)

    else:
        optimizer = paddle.optimizer.SGD(1e-4, parameters=model.parameters())

        @jit.to_static
        def step(x):
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        def call():
            return step(x)

    for _ in range(3):
        call()
    return call


def run() -> list[Row]:
    rows = []
    for name, batch, training, limit in (("inference, batch 1", 1, False, 1.3), ("training, batch 4", 4, True, 1.2)):
        first, last = (made(layout, batch, training) for layout in ("NCHW", "NHWC"))
        with mock.patch.object(pipeline, "PASSES", [p for p in pipeline.PASSES if p[0] != "layout"]):
            as_written = made("NHWC", batch, training)
        times = in_turn(first, last, as_written, repeat=20)
        rows += [
            Row(f"{name}: channels first", times[0] * 1e3, "ms"),
            Row(f"{name}: channels last / first", times[1] / times[0], "x", limit),
            Row(f"{name}: the same without the pass", times[2] / times[0], "x"),
        ]
    return rows
