"""Convolution, forward and both gradients: rates of layers on one thread as shares of the rate of matrix products in the same run, and what
several threads give."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from dy2st_runtime import threads
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir.builder import IRBuilder
from dy2st_runtime.ir.program import Program
from threadpoolctl import threadpool_limits

from .common import Row, fastest_in_turn, on_bound

# batch, channels, height and width, filters, kernel, stride, padding, groups
LAYERS = {
    "ResNet-50 7x7, stride 2": (1, 3, 224, 64, 7, 2, 3, 1),
    "ResNet-50 3x3, 64 channels": (1, 64, 56, 64, 3, 1, 1, 1),
    "ResNet-50 3x3, 128, stride 2": (1, 128, 56, 128, 3, 2, 1, 1),
    "ResNet-50 3x3, 256": (1, 256, 14, 256, 3, 1, 1, 1),
    "ResNet-50 3x3, 512": (1, 512, 7, 512, 3, 1, 1, 1),
    "ResNet-50 1x1, 64 to 256": (1, 64, 56, 256, 1, 1, 0, 1),
    "ResNet-50 1x1, 1024 to 256": (1, 1024, 14, 256, 1, 1, 0, 1),
    "ResNet-50 1x1, 256 to 512, stride 2": (1, 256, 56, 512, 1, 2, 0, 1),
    "MNIST 5x5, 1 to 20": (64, 1, 28, 20, 5, 1, 0, 1),
    "MNIST 5x5, 20 to 50": (64, 20, 12, 50, 5, 1, 0, 1),
    "MobileNetV2 1x1, 16 to 96": (1, 16, 112, 96, 1, 1, 0, 1),
    "MobileNetV2 1x1, 144 to 24": (1, 144, 56, 24, 1, 1, 0, 1),
    "MobileNetV2 depthwise, 144": (1, 144, 56, 144, 3, 1, 1, 144),
    "MobileNetV2 depthwise, 96, stride 2": (1, 96, 112, 96, 3, 2, 1, 96),
    "MobileNetV2 depthwise, 960": (1, 960, 7, 960, 3, 1, 1, 960),
}
PASSES = {"conv2d": "forward", "conv2d_grad_input": "image", "conv2d_grad_filter": "filter"}


def seconds(run: Callable[[], object], budget: float = 0.1) -> float:
    """The least processor time of a call."""
    run()
    best, end = float("inf"), time.process_time() + budget
    while True:
        start = time.process_time()
        run()
        now = time.process_time()
        best = min(best, now - start)
        if now > end:
            return best


def kernel(op: str, inputs: dict[str, np.ndarray], stride: int, padding: int, groups: int) -> Callable[[], object]:
    """A function that runs an op natively on inputs that are bound already."""
    program = Program()
    block = program.global_block()
    made = {name: block.create_var(name, v.dtype.name, v.shape, is_data=True) for name, v in inputs.items()}
    slots = {name.replace("_GRAD", "@GRAD"): v for name, v in made.items()}
    out = IRBuilder(block).op(op, **slots, strides=[stride] * 2, paddings=[padding] * 2, groups=groups)
    return on_bound(Executable(program, list(inputs), [out.name]), list(inputs.values()))


def with_threads(count: int, fn: Callable[[], object]) -> Callable[[], object]:
    def run() -> object:
        threads.set_num_threads(count)
        return fn()

    return run


def run() -> list[Row]:
    rng = np.random.default_rng(0)
    rows = []
    everything = threads.get_num_threads()
    with threadpool_limits(1):
        a, b, c = (rng.random((768, 768), np.float32) for _ in range(3))
        product = 2 * 768**3 / seconds(lambda: np.matmul(a, b, out=c), 0.5)
        rows.append(Row("matrix products of 768 x 768", product / 1e9, "GFLOP/s"))
        for name, (batch, channels, size, filters, k, stride, padding, groups) in LAYERS.items():
            out = (size + 2 * padding - k) // stride + 1
            x = rng.random((batch, channels, size, size), np.float32)
            f = rng.random((filters, channels // groups, k, k), np.float32)
            dy = rng.random((batch, filters, out, out), np.float32)
            work = 2 * dy.size * channels // groups * k * k
            for op, what in PASSES.items():
                inputs = {"conv2d": {"Input": x, "Filter": f}, "conv2d_grad_input": {"Filter": f, "Output_GRAD": dy, "Input": x},
                          "conv2d_grad_filter": {"Input": x, "Output_GRAD": dy, "Filter": f}}[op]  # fmt: skip
                convolve = kernel(op, inputs, stride, padding, groups)
                threads.set_num_threads(1)
                rows.append(Row(f"{name}: {what}", work / seconds(convolve) / product, "of the products"))
                alone, together = fastest_in_turn(with_threads(1, convolve), with_threads(everything, convolve), repeat=15)
                rows.append(Row(f"{name}: {what}, {everything} threads / one", together / alone, "x"))
    threads.set_num_threads(0)
    return rows
