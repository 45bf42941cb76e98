"""A training step (forward and backward) of small models with a data-dependent branch: static against eager."""

from __future__ import annotations

import numpy as np

import dy2st as paddle
from dy2st import nn

from .common import Row, in_turn


class MlpBranch(nn.Layer):
    """Seed 001's model, with the branch on the data instead of on a random number."""

    def __init__(self) -> None:
        super().__init__()
        self.linear1, self.linear2, self.linear3 = nn.Linear(128, 256), nn.Linear(256, 256), nn.Linear(256, 1)

    def forward(self, x):
        x = nn.functional.relu(self.linear1(x))
        if x.mean() > 0.1:
            x = nn.functional.relu(self.linear2(x))
        return self.linear3(x)


def run() -> list[Row]:
    eager, static = MlpBranch(), MlpBranch()
    static.set_state_dict(eager.state_dict())
    paddle.jit.to_static(static)
    rng = np.random.default_rng(0)
    x, y = (paddle.to_tensor(rng.normal(size=s).astype("float32")) for s in ((64, 128), (64, 1)))
    loss_fn = nn.MSELoss()

    def step(model: nn.Layer) -> paddle.Tensor:
        loss = loss_fn(model(x), y)
        loss.backward()
        for p in model.parameters():
            p.clear_grad()
        return loss

    np.testing.assert_allclose(step(static).numpy(), step(eager).numpy(), rtol=1e-5)
    ours, plain = in_turn(lambda: step(static), lambda: step(eager), repeat=101)
    return [
        Row("mlp_branch: a step, static", ours * 1e3, "ms"),
        Row("mlp_branch: static / eager", ours / plain, "x", 1.0),
    ]
