"""The gradient of a maximum goes to the elements that equal it, also where a loop's gradient has its values computed again."""

import numpy as np
import pytest

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
