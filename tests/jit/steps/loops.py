"""Training loops in eager mode and static, for the tests of joined steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import dy2st as paddle
from dy2st import nn

F = nn.functional
STEPS = 12


class Plain(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.second(F.relu(self.first(x)))


class Branch(Plain):
    def forward(self, x: Any) -> Any:
        h = F.relu(self.first(x))
        if h.mean() > 0.3:
            h = h * 2.0
        n = 0
        while n < 3:
            h = F.tanh(h)
            n += 1
        return self.second(h)


class Normalized(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2D(1, 4, 3, bias_attr=False), nn.BatchNorm2D(4), nn.Linear(4 * 16, 3)

    def forward(self, x: Any) -> Any:
        h = F.relu(self.norm(self.conv(x.reshape([-1, 1, 6, 6]))))
        return self.out(h.flatten(1))


class Dropping(Plain):
    def forward(self, x: Any) -> Any:
        return self.second(F.dropout(F.relu(self.first(x)), 0.5, training=self.training))


class Words(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(20, 6), nn.Linear(6, 3)

    def forward(self, ids: Any) -> Any:
        return self.out(self.table(ids).mean(1))


class Two(Plain):
    def forward(self, x: Any) -> Any:
        h = F.relu(self.first(x))
        return {"logits": self.second(h), "hidden": [h]}


class Recurrent(nn.Layer):
    """Reads one row after the other, as long as the values say so."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.Linear(2, 4), nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        rows = x.reshape([-1, 3, 2])
        hidden, t, states = paddle.zeros([rows.shape[0], 4]), paddle.zeros([], "int64"), []
        while t < 3 and hidden.abs().mean() < 5.0:
            hidden = F.tanh(self.cell(rows[:, t]) + hidden)
            states.append(hidden)
            t = t + 1
        return self.out(paddle.stack(states).sum(0))


def batches(of: str) -> Iterator[tuple[Any, Any, Any]]:
    rng, n = np.random.default_rng(0), 8
    for _ in range(40):
        x = rng.integers(0, 20, (n, 5)) if of == "words" else rng.normal(size=(n, 36 if of == "images" else 6)).astype("float32")
        yield paddle.to_tensor(x), paddle.to_tensor(rng.normal(size=(n, 3)).astype("float32")), paddle.to_tensor(rng.integers(0, 3, n))


class Loop:
    """A model with its optimizer, in eager mode or static, and what was seen of them."""

    def __init__(self, model: type[nn.Layer], static: bool, optimizer: Callable[[Any], Any] | None = None) -> None:
        paddle.seed(3)
        self.layer = model()
        rng = np.random.default_rng(1)
        for p in self.layer.parameters():
            p.set_value((rng.normal(size=p.shape) * 0.3).astype("float32"))
        make = optimizer or (lambda params: paddle.optimizer.Adam(0.05, parameters=params))
        self.optimizer = make(self.layer.parameters())
        self.model = paddle.jit.to_static(self.layer) if static else self.layer
        self.seen: list[Any] = []

    def note(self, *values: Any) -> None:
        self.seen += [np.array(v.numpy()) if isinstance(v, paddle.Tensor) else v for v in values]

    def end(self) -> list[Any]:
        self.note(*self.layer.parameters(), *self.layer.buffers())
        return self.seen

    @property
    def steps(self) -> Any:
        (trace,) = self.layer.forward._traces.order
        return trace.steps

    @property
    def joined(self) -> bool:
        return self.steps is not None and self.steps.joined is not None


Body = Callable[[Loop, int, Any, Any, Any], None]


def run(body: Body, model: type[nn.Layer] = Plain, of: str = "", static: bool = True, steps: int = STEPS, **options: Any) -> Loop:
    loop = Loop(model, static, **options)
    for i, batch in zip(range(steps), batches(of), strict=False):
        body(loop, i, *batch)
    return loop


def same(body: Body, model: type[nn.Layer] = Plain, of: str = "", joined: bool = True, **options: Any) -> Loop:
    """Runs a loop in eager mode and static: both see the same."""
    eager, static = (run(body, model, of, static, **options) for static in (False, True))
    assert static.joined is joined
    for a, b in zip(eager.end(), static.end(), strict=True):
        np.testing.assert_allclose(b, a, 2e-4, 2e-5)
    return static


def squared(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    loss = F.mse_loss(loop.model(x), y)
    loss.backward()
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    loop.note(loss)


def classified(loop: Loop, i: int, x: Any, y: Any, labels: Any) -> None:
    loss = F.cross_entropy(loop.model(x), labels)
    loss.backward()
    loop.optimizer.step()
    loop.optimizer.clear_grad()
    loop.note(loss)
