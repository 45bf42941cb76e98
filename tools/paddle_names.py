"""Writes tests/data/paddle_names.txt: the public names of PaddlePaddle 2.6.2, one dotted name a line.

    python3.11 -m venv paddle && paddle/bin/pip install paddlepaddle==2.6.2 setuptools
    paddle/bin/python tools/paddle_names.py

It runs in an environment that has PaddlePaddle, and needs no dy2st. Public is what a namespace lists in `__all__`, and the namespace
itself. Of `Tensor` it is each attribute without a leading underscore.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import paddle

TARGET = Path(__file__).resolve().parent.parent / "tests" / "data" / "paddle_names.txt"
VERSION = "2.6.2"
# The namespaces that PaddlePaddle documents. Left out are the inner modules that happen to have an `__all__`, as
# `nn.quant.quant_layers`, and those that serve its parameter servers, as `distributed.ps`.
NAMESPACES = (
    "", "amp", "amp.debugging", "audio", "audio.backends", "audio.datasets", "audio.features", "audio.functional", "autograd",
    "callbacks", "device", "device.cuda", "device.xpu", "distributed", "distributed.communication.stream", "distributed.fleet",
    "distributed.fleet.utils", "distributed.rpc", "distributed.sharding", "distribution", "fft", "geometric", "hub", "incubate",
    "incubate.asp", "incubate.autograd", "incubate.autotune", "incubate.nn", "incubate.nn.functional", "incubate.optimizer",
    "incubate.optimizer.functional", "inference", "io", "jit", "linalg", "metric", "nn", "nn.functional", "nn.initializer",
    "nn.quant", "nn.utils", "onnx", "optimizer", "optimizer.lr", "profiler", "quantization", "quantization.observers",
    "quantization.quanters", "regularizer", "signal", "sparse", "sparse.nn", "sparse.nn.functional", "static", "static.nn",
    "sysconfig", "text", "utils", "utils.cpp_extension", "utils.dlpack", "utils.unique_name", "version", "vision",
    "vision.datasets", "vision.models", "vision.ops", "vision.transforms",
)  # fmt: skip


def names() -> Iterator[str]:
    """All public names, each with the namespace that it is in."""
    for namespace in NAMESPACES:
        full = f"paddle.{namespace}".rstrip(".")
        if namespace:
            yield full
        yield from (f"{full}.{name}" for name in importlib.import_module(full).__all__ if not name.startswith("_"))
    yield from (f"paddle.Tensor.{name}" for name in dir(paddle.Tensor) if not name.startswith("_"))


if __name__ == "__main__":
    if paddle.__version__ != VERSION:
        raise SystemExit(f"this is PaddlePaddle {paddle.__version__}, and the names are those of {VERSION}")
    TARGET.write_text("".join(f"{name}\n" for name in sorted(set(names()))), encoding="utf-8")
