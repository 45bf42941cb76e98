"""What the workloads share: the same numbers for all frameworks, and training steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


class Refused(Exception):
    """A framework cannot do a workload; the message says why."""


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def integers(seed: int, below: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, below, shape)


class Parameters:
    """The initial parameters of a model, in the order of its definition: the n-th depends on n and its shape only.

    Shapes are PaddlePaddle's: a linear layer has [in, out], a convolution [out, in, height, width].
    """

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *shape: int, around: float = 0.0) -> np.ndarray:
        self.count += 1
        if len(shape) == 1:
            return around + 0.1 * normal(self.count, *shape)
        fan_in = shape[0] if len(shape) == 2 else math.prod(shape[1:]) / 2
        return normal(self.count, *shape) / np.float32(math.sqrt(fan_in))

    def linear(self, size: int, out: int) -> tuple[np.ndarray, np.ndarray]:
        """Weight and bias."""
        return self(size, out), self(out)

    def norm(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Scale and shift."""
        return self(size, around=1.0), self(size)


def fill_paddle(paddle: Any, model: Any) -> Any:
    """Gives a layer of dy2st or PaddlePaddle its initial parameters."""
    draw = Parameters()
    norms = (paddle.nn.LayerNorm, paddle.nn.BatchNorm2D)
    for layer in model.sublayers(include_self=True):
        for name, p in layer.named_parameters(include_sublayers=False):
            if name.startswith("_"):
                continue  # PaddlePaddle lists the running mean and variance too
            p.set_value(draw(*p.shape, around=float(isinstance(layer, norms) and name == "weight")))
    return model


def fill_torch(torch: Any, model: Any) -> Any:
    """Gives a module of PyTorch the same; it holds linear weights transposed, and those of attention in one matrix."""
    draw, nn = Parameters(), torch.nn
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.MultiheadAttention):
                weights, biases = zip(*(draw.linear(module.embed_dim, module.embed_dim) for _ in range(3)), strict=True)
                module.in_proj_weight.copy_(torch.tensor(np.concatenate([w.T for w in weights])))
                module.in_proj_bias.copy_(torch.tensor(np.concatenate(biases)))
                continue
            for name, p in module.named_parameters(recurse=False):
                linear = isinstance(module, nn.Linear) and name == "weight"
                around = float(isinstance(module, (nn.LayerNorm, nn.BatchNorm2d)) and name == "weight")
                value = draw(*(p.shape[::-1] if linear else p.shape), around=around)
                p.copy_(torch.tensor(value.T if linear else value))
    return model


def paddle_step(stage: Any, model: Callable[[], Any], optimizer: Any) -> Callable[[], Any]:
    """A training step; `model` computes the loss. `stage` may have a way to stage the step as a whole."""

    def step() -> Any:
        loss = model()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return stage.step(step)


def torch_step(model: Callable[[], Any], optimizer: Any) -> Callable[[], Any]:
    """A training step; `model` computes the loss."""

    def step() -> Any:
        optimizer.zero_grad()
        loss = model()
        loss.backward()
        optimizer.step()
        return loss

    return step


def jax_step(jax: Any, loss: Callable[..., Any], parameters: Any, data: tuple, rate: float) -> Callable[[], Any]:
    """A training step with plain gradient descent; `loss(parameters, *data)`."""

    @jax.jit
    def update(parameters: Any, data: tuple) -> Any:
        value, grads = jax.value_and_grad(loss)(parameters, *data)
        return value, jax.tree.map(lambda p, g: p - rate * g, parameters, grads)

    def step() -> Any:
        nonlocal parameters
        value, parameters = update(parameters, data)
        return value

    parameters, data = jax.tree.map(jax.numpy.asarray, (parameters, data))
    return step


def jax_call(jax: Any, function: Callable[..., Any], *data: Any) -> Callable[[], Any]:
    """A call of a compiled function."""
    compiled = jax.jit(function)
    data = jax.tree.map(jax.numpy.asarray, data)
    return lambda: compiled(*data)


def jax_parameters(jax: Any, forward: Callable[..., Any], *data: Any) -> list[np.ndarray]:
    """The initial parameters that `forward(make, *data)` asks for with `make(*shape)`."""
    draw, made = Parameters(), []

    def make(*shape: int, around: float = 0.0, fixed: float | None = None) -> np.ndarray:
        made.append(draw(*shape, around=around) if fixed is None else np.full(shape, fixed, "float32"))
        return made[-1]

    jax.eval_shape(lambda: forward(make, *data))
    return made


def given(parameters: list) -> Callable[..., Any]:
    """A `make` that hands out parameters that were made before."""
    following = iter(parameters)
    return lambda *shape, **options: next(following)


def jax_conv(jax: Any, x: Any, f: Any, stride: int = 1, padding: int = 0, groups: int = 1) -> Any:
    """A convolution in the layout that JAX's users take, [batch, height, width, channels]; the filter is [out, in, height, width]."""
    return jax.lax.conv_general_dilated(x, f, (stride, stride), [(padding, padding)] * 2, feature_group_count=groups,
                                        dimension_numbers=("NHWC", "OIHW", "NHWC"))  # fmt: skip


def jax_max_pool(jax: Any, x: Any, size: int, stride: int, padding: int = 0) -> Any:
    return jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, (1, size, size, 1), (1, stride, stride, 1),
                                 [(0, 0), (padding, padding), (padding, padding), (0, 0)])  # fmt: skip


def jax_batch_norm(jax: Any, make: Callable[..., Any], x: Any, train: bool) -> Any:
    scale, shift = make(x.shape[-1], around=1.0), make(x.shape[-1])
    if train:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    else:
        mean, variance = make(x.shape[-1], fixed=0.0), make(x.shape[-1], fixed=1.0)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + shift


def jax_cross_entropy(jax: Any, logits: Any, labels: Any) -> Any:
    """The mean over all labels."""
    return -jax.numpy.mean(jax.numpy.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))
