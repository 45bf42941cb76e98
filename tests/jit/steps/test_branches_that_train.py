"""Which parameters and inputs get a gradient depends on the branches that a step takes: the steps that were learned need not tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loops import Loop, Plain, run, same, squared

import dy2st as paddle
from dy2st import nn

F = nn.functional


class Heads(Plain):
    def forward(self, x: Any) -> Any:
        h = F.relu(self.first(x))
        return self.second(h) if x.mean() > 0 else h[:, :3] * 2.0


def body(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    loss = F.mse_loss(loop.model(x.abs() if i < 10 or i > 15 else -x.abs()), y)
    loss.backward()
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    loop.note(loss)


def reading(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    loss = F.mse_loss(loop.model(x.abs() if i < 10 or i > 15 else -x.abs()), y)
    loss.backward()
    loop.note(*(None if p.grad is None else p.grad.numpy() for p in loop.layer.parameters()))
    loop.layer.clear_gradients()


@pytest.mark.parametrize("first", [1, -1])
@pytest.mark.parametrize("loop_body", [body, reading])
def test_parameters_of_one_branch(loop_body: Any, first: int) -> None:
    def turned(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
        loop_body(loop, i if first > 0 else 12 if i < 10 or i > 15 else 0, x, y, labels)

    eager, static = (run(turned, Heads, static=static, steps=24) for static in (False, True))
    for a, b in zip(eager.end(), static.end(), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(b, a, 2e-4, 2e-5)


@pytest.mark.parametrize("first", [1.0, -1.0])
def test_inputs_of_one_branch(first: float) -> None:
    @paddle.jit.to_static
    def chosen(a: Any, b: Any) -> Any:
        return a * 2.0 if a.sum() > 0 else b * 3.0

    for i in range(24):
        sign = first if i < 10 or i > 15 else -first
        a = paddle.to_tensor([sign, sign], stop_gradient=False)
        b = paddle.to_tensor([2.0, 3.0], stop_gradient=False)
        chosen(a, b).sum().backward()
        used, other = (a, b) if sign > 0 else (b, a)
        assert used.grad is not None, i
        np.testing.assert_array_equal(used.grad.numpy(), [2.0, 2.0] if sign > 0 else [3.0, 3.0])
        assert other.grad is None


def test_a_parameter_that_no_step_can_train_keeps_no_loop_apart() -> None:
    class Spare(Plain):
        def forward(self, x: Any) -> Any:
            return super().forward(x) + self.spare.detach().mean()

        def __init__(self) -> None:
            super().__init__()
            self.spare = self.create_parameter([3])

    same(squared, Spare)
