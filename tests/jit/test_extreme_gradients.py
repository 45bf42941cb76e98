"""The gradient of a maximum goes to the elements that equal it, also where a loop's gradient has its values computed again."""

import numpy as np
import pytest
from dy2st_runtime.ir.visit import all_ops

import dy2st
from dy2st import jit
from dy2st.tensor import Tensor


def error_estimates(y, w, end):
    t, total, h = 0.0, 0.0, end * 0.3
    while t < end:
        slope = dy2st.tanh(dy2st.matmul(y, w))
        step = y + h * slope
        total = total + (step - (y + h * 0.99 * slope)).abs().max()
        y = step
        t = t + h
    return total


@pytest.mark.parametrize("seed", range(6))
def test_of_differences_that_are_mostly_rounding(seed):
    random = np.random.RandomState(seed)
    y, w = random.randn(4, 4).astype(np.float32), random.randn(4, 4).astype(np.float32)
    gradients = []
    for function in (error_estimates, jit.to_static(error_estimates)):
        weight = Tensor(w, stop_gradient=False)
        function(Tensor(y), weight, Tensor(np.float32(1.0))).backward()
        gradients.append(weight.grad.numpy())
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-3, atol=1e-5)


def masks_and_roundings(y, w, n):
    total = y.sum() * 0.0
    for _ in range(n):
        step = y + 0.3 * (y * w)
        total = total + dy2st.where(step > 0.2, step, step * 2.0).sum() + (step * dy2st.floor(step * 5.0)).sum()
        y = step
    return total


def test_what_depends_on_the_last_digit_is_computed_once():
    static = jit.to_static(masks_and_roundings)
    y, w = (Tensor(np.full((2, 2), v, np.float32), stop_gradient=False) for v in (0.7, -0.4))
    static(y, w, Tensor(4)).backward()
    (concrete,) = static.concrete_programs
    found = [op.type for op in all_ops(concrete.training().program.global_block())]
    assert found.count("while_loop") == 2  # forward and backward
    assert found.count("greater_than") == 1
    assert found.count("floor") == 1
