"""`jit.recompute`: a training step of a deep model, with its blocks' values kept for the gradient and computed again."""

from __future__ import annotations

import gc

from dy2st_runtime.executor.frame import Frame

import dy2st as paddle
from dy2st import jit, nn

from .common import Row, in_turn

DEPTH, WIDTH, ROWS = 12, 64, 4096


class Model(nn.Layer):
    def __init__(self, again: bool):
        super().__init__()
        self.again = again
        blocks = [[nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)] for _ in range(DEPTH)]
        self.blocks = nn.LayerList([nn.Sequential(*layers) for layers in blocks])

    def forward(self, x):
        for block in self.blocks:
            x = x + (jit.recompute(block, x) if self.again else block(x))
        return x


def run() -> list[Row]:
    steps, taken = [], []
    for again in (False, True):
        model = Model(again)
        optimizer = paddle.optimizer.SGD(1e-4, parameters=model.parameters())

        @jit.to_static
        def step(x, model=model, optimizer=optimizer):
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        before = {id(x) for x in gc.get_objects() if isinstance(x, Frame)}
        x = paddle.rand([ROWS, WIDTH])
        step(x)
        taken.append(sum(f.allocated for f in gc.get_objects() if isinstance(f, Frame) and id(f) not in before))
        steps.append(lambda step=step, x=x: step(x))
    kept, again_ = in_turn(*steps)
    name = f"{DEPTH} blocks of {WIDTH}-{4 * WIDTH}-{WIDTH}, {ROWS} rows"
    return [Row(f"{name}: buffers, kept", taken[0] / 1e6, "MB"),
            Row("buffers, computed again / kept", taken[1] / taken[0], "x", 0.5),
            Row("step, computed again / kept", again_ / kept, "x", 1.4)]  # fmt: skip
