"""`backward()` outside of a static function: what its program knows of the gradients that will come."""

import numpy as np
import pytest

from dy2st import grad, jit
from dy2st.tensor import Tensor


def settled(a):
    x = a
    while (x * x - a).abs().max() > 1e-4:
        x = x - (x * x - a) / (2 * x)
    return x


def twice(a):
    x = settled(a)
    return x, (x * a).exp()


def leaf(size):
    return Tensor(np.linspace(1, 9, size, dtype="float32"), stop_gradient=False)


def plan_of(function, *results):
    """What runs for the gradient, after calls of several sizes."""
    static = jit.to_static(function)
    for size in (5, 7):
        a, b = leaf(size), leaf(size)
        found, expected = static(a), function(b)
        for picked in ((found, expected),) if not results else [(found[i], expected[i]) for i in results]:
            picked[0].backward(picked[0], retain_graph=True)
            picked[1].backward(picked[1], retain_graph=True)
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-4)
    (concrete,) = static.concrete_programs
    lines = concrete.training().executable.describe().splitlines()
    return lines[[" suspend" in line for line in lines].index(True) :]


def test_the_gradient_of_the_only_result_is_surely_there():
    plan = plan_of(settled)
    body = plan[[" array_get" in line for line in plan].index(True) :]
    calls = [line for line in body if " call " in line]
    # one kernel for the iteration, three for the steps of the loop, and sums with what no iteration has given yet
    assert len(calls) <= 6, "\n".join(plan)
    assert not any("sum_like" in line for line in plan)


@pytest.mark.parametrize("results", [(0,), (1,), (0, 1)])
def test_of_several_results_each_may_have_none(results):
    plan = plan_of(twice, *results)
    assert any("jump_if_absent" in line for line in plan)
    labels = [line.split(" call ")[1].split("(")[0] for line in plan if " call " in line]
    assert sum("elementwise_mul" in label.split("+") for label in labels) <= 3, "\n".join(plan)


def test_a_gradient_of_nothing_flows_nowhere():
    x, y = jit.to_static(twice)(a := leaf(3))
    assert y.stop_gradient is False
    (dx,) = grad([x], [a])
    np.testing.assert_allclose(dx.numpy(), 0.5 / np.sqrt(a.numpy()), rtol=1e-3)
