"""Static functions whose convolutions take what follows them: they follow training, and are saved as what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dy2st as paddle
from dy2st import nn, profiler


class Block(nn.Layer):
    """Two convolutions with normalization, a residual, and pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.norm = nn.Conv2D(3, 12, 1, bias_attr=False), nn.BatchNorm2D(12)
        self.deep, self.norm_deep = nn.Conv2D(12, 12, 3, padding=1, groups=12), nn.BatchNorm2D(12)
        self.narrow = nn.Conv2D(12, 3, 1)

    def forward(self, x: Any) -> Any:
        h = nn.functional.relu6(self.norm(self.wide(x)))
        h = nn.functional.hardswish(self.norm_deep(self.deep(h)))
        return nn.functional.relu(self.narrow(h) + x)


def image(batch: int = 2) -> Any:
    return paddle.to_tensor(np.random.default_rng(batch).standard_normal((batch, 3, 9, 8)).astype("f"))


def test_evaluation_follows_training() -> None:
    paddle.seed(0)
    model = Block()
    static = paddle.jit.to_static(model.forward)
    optimizer = paddle.optimizer.SGD(1e-4, parameters=model.parameters())
    before = None
    for _ in range(3):
        model.eval()
        got = static(image())
        np.testing.assert_allclose(got.numpy(), Block.forward(model, image()).numpy(), rtol=1e-4, atol=1e-5)
        assert before is None or not np.array_equal(before, got.numpy())
        before = got.numpy()
        model.train()
        statistics = model.norm._mean.numpy().copy()
        static(image(3)).sum().backward()
        assert not np.array_equal(statistics, model.norm._mean.numpy())
        optimizer.step()
        optimizer.clear_grad()


def test_evaluation_has_gradients_and_leaves_the_statistics() -> None:
    paddle.seed(1)
    model = Block()
    model.eval()
    grads = []
    for function in (paddle.jit.to_static(model.forward), lambda x: Block.forward(model, x)):
        x = image()
        x.stop_gradient = False
        statistics = model.norm._mean.numpy().copy()
        function(x).sum().backward()
        grads.append([x.grad.numpy(), model.wide.weight.grad.numpy().copy(), model.norm.weight.grad.numpy().copy()])
        model.clear_gradients()
        np.testing.assert_array_equal(statistics, model.norm._mean.numpy())
    for a, b in zip(*grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def test_saved_and_loaded(tmp_path: Path) -> None:
    paddle.seed(2)
    model = Block()
    model.norm._mean.set_value(np.full(12, 0.3, "f"))
    model.eval()
    paddle.jit.save(model, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([None, 3, 9, 8], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "m"))
    for batch in (1, 4):
        np.testing.assert_allclose(loaded(image(batch)).numpy(), model(image(batch)).numpy(), rtol=1e-4, atol=1e-5)


def test_a_profile_counts_it_to_all_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    model = Block()
    model.eval()
    static = paddle.no_grad()(paddle.jit.to_static(model.forward))
    static(image())
    with profiler.Profiler() as prof:
        static(image())
    prof.summary()
    text = capsys.readouterr().out
    assert "fused_conv2d (conv2d+elementwise_sub+elementwise_mul+elementwise_add+relu6)" in text
    assert "fused_conv2d (depthwise_conv2d+elementwise_add+elementwise_sub+elementwise_mul+elementwise_add+hard_swish)" in text
    assert "fused_conv2d (conv2d+elementwise_add+elementwise_add+relu)" in text
    assert "\nbatch_norm" not in text


@pytest.mark.parametrize("size", [(20, 64), (21, 95), (14, 224), (20, 33)])
def test_a_first_layer_whatever_its_rows_are(size: tuple[int, int]) -> None:
    """Rows of whole vectors and others; what follows is done to each part of the output once."""
    paddle.seed(3)
    conv, norm = nn.Conv2D(3, 20, 3, stride=2, padding=1, bias_attr=False), nn.BatchNorm2D(20)
    norm.eval()
    x = paddle.to_tensor(np.random.default_rng(1).standard_normal((2, 3, *size)).astype("f"))

    def layer(x: Any) -> Any:
        return nn.functional.relu6(norm(conv(x)) + 1.0)

    with paddle.no_grad():
        np.testing.assert_allclose(paddle.jit.to_static(layer)(x).numpy(), layer(x).numpy(), rtol=1e-4, atol=1e-5)
