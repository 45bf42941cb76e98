"""The soft-DTW of the examples: the kernel against the same thing composed of tensor operations, its gradient, and that it trains."""

import pathlib
import runpy

import numpy as np
import pytest

import dy2st as paddle
from dy2st.testing import check_op

EXAMPLE = runpy.run_path(str(pathlib.Path(__file__).parents[2] / "examples" / "soft_dtw.py"))


def test_the_kernel_is_what_tensor_operations_give():
    values = np.random.default_rng(0).random((3, 4, 5)).astype("float32")
    found = []
    for cost in (EXAMPLE["composed"], lambda d, gamma: EXAMPLE["soft_dtw"](d, gamma=gamma)[0]):
        distances = paddle.to_tensor(values, stop_gradient=False)
        total = cost(distances, gamma=0.5)
        (total * paddle.to_tensor([1.0, 2.0, 3.0])).sum().backward()
        found.append((total.numpy(), distances.grad.numpy()))
    for mine, want in zip(*found, strict=True):
        np.testing.assert_allclose(mine, want, rtol=1e-4, atol=1e-6)


def test_its_gradient():
    check_op(lambda d: EXAMPLE["soft_dtw"](d, gamma=0.3)[0], np.random.default_rng(1).random((2, 5, 3)))


def test_it_trains():
    _, losses = EXAMPLE["train"](60)
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 1.0


@pytest.mark.slow
def test_the_op_is_faster():
    found = EXAMPLE["timed"](32, 5)
    assert found["op, static"] < found["composed, static"] / 3
