"""What the pool of threads gives: time with all cores as a share of the time with one thread, on kernels and on training steps."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable

import numpy as np
from dy2st_runtime import Predictor

import dy2st as paddle
from dy2st import nn
from dy2st.jit import to_static

from .common import Row, fastest_in_turn
from .training import MlpBranch


def with_threads(count: int, fn: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        paddle.set_num_threads(count)
        return fn()

    return run


def tensor(*shape: int) -> paddle.Tensor:
    return paddle.to_tensor(np.random.default_rng(0).normal(size=shape).astype("float32"))


def elementwise(size: int) -> Callable[[], object]:
    """One fused kernel. The sum keeps the copy of the result out of the measurement."""
    fn, x = to_static(lambda x: paddle.tanh(paddle.exp(x * 0.1)).reshape([-1, 64]).sum(0)), tensor(size)
    return lambda: fn(x)


def products(size: int) -> Callable[[], object]:
    """A matrix product and an elementwise kernel in turn, five times: two pools of threads would fight here."""

    def chain(x, w):
        for _ in range(5):
            x = paddle.tanh(paddle.matmul(x, w))
        return x.sum(0)

    fn, x, w = to_static(chain), tensor(size, size), tensor(size, size) * 0.05
    return lambda: fn(x, w)


def training_step(model: nn.Layer, x: paddle.Tensor) -> Callable[[], object]:
    to_static(model)

    def step() -> None:
        out = model(x)
        (out * out).mean().backward()
        for p in model.parameters():
            p.clear_grad()

    return step


def predictors(count: int, folder: str) -> Callable[[], object]:
    """So many Predictors of one saved model, each in a thread of its own, ten runs each."""
    made = [Predictor(f"{folder}/model") for _ in range(count)]
    x = np.random.default_rng(0).normal(size=(8, 3, 32, 32)).astype("float32")

    def calls(predictor: Predictor) -> None:
        for _ in range(10):
            predictor.run([x])

    def run() -> None:
        threads = [threading.Thread(target=calls, args=(predictor,)) for predictor in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run


def served() -> Row:
    """What a second Predictor in a second thread costs the first, where each computes on its own thread."""
    model = nn.Sequential(nn.Conv2D(3, 32, 3), nn.ReLU(), nn.Conv2D(32, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64 * 28 * 28, 10))
    with tempfile.TemporaryDirectory() as folder:
        paddle.jit.save(model, f"{folder}/model", [paddle.static.InputSpec([None, 3, 32, 32])])
        calls = [with_threads(1, predictors(count, folder)) for count in (1, 2)]
    one, two = fastest_in_turn(*calls, repeat=30)
    return Row("two Predictors in two threads, ten runs each / one", two / one, "x", 1.3)


def run() -> list[Row]:
    everything = paddle.get_num_threads()
    work = {
        "elementwise, 4,000 elements (not shared)": elementwise(64 * 64),
        "elementwise, 32,000 elements": elementwise(64 * 512),
        "elementwise, 1,000,000 elements": elementwise(64 * 16384),
        "5 products of 128 x 128 and tanh": products(128),
        "5 products of 256 x 256 and tanh": products(256),
        "5 products of 512 x 512 and tanh": products(512),
        "mlp_branch (128-256-256-1, batch 64), training step": training_step(MlpBranch(), tensor(64, 128)),
        "transformer layer (4 x 64 x 256, gelu), training step": training_step(
            nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.1, activation="gelu"), tensor(4, 64, 256)
        ),
    }
    rows = []
    for name, fn in work.items():
        repeat = 15 if "layer" in name or "512" in name else 60
        alone, together = fastest_in_turn(with_threads(1, fn), with_threads(everything, fn), repeat=repeat)
        rows.append(Row(f"{name}: one thread", alone * 1e3, "ms"))
        rows.append(Row(f"{name}: {everything} / one", together / alone, "x"))
    rows.append(served())
    paddle.set_num_threads(0)
    return rows
