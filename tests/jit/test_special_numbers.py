"""NaN, zeros of both signs, and numbers that a dtype does not hold: the bits that eager mode has."""

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import to_tensor
from dy2st.errors import CompileError
from dy2st.jit import to_static

NAN, INF = float("nan"), float("inf")
ZEROS = to_tensor([0.0, -0.0, NAN, 3.0, -3.0] * 9)


def bits(values):
    return [(v.dtype, np.signbit(v.numpy()).tolist(), str(v.numpy().tolist())) for v in values]


def limited(x):
    return (
        F.relu(x),
        F.relu6(x),
        paddle.clip(x, max=0.0),
        paddle.clip(x, 0.0),
        paddle.clip(x, -0.0, 2.0),
        paddle.tanh(x),
    )


def test_a_limit_of_zero_gives_its_own_sign():
    """It shows where the result is printed, or divides."""
    for dtype in ("float32", "float64", "float16"):
        x = ZEROS.astype(dtype)
        assert bits(to_static(limited)(x)) == bits(limited(x))


def bounds_of_nothing(x):
    return paddle.clip(x, NAN, 1.0), paddle.clip(x, 0.0, NAN), paddle.clip(x, 2.0, 1.0), paddle.clip(x, -1e39, 1e39)


def test_bounds_that_are_no_numbers_and_bounds_in_the_wrong_order():
    for dtype in ("float32", "float64"):
        x = to_tensor([NAN, 0.5, INF, -INF, 7.0]).astype(dtype)
        assert bits(to_static(bounds_of_nothing)(x)) == bits(bounds_of_nothing(x))


def squared_and_back(x):
    return x * x / x


def rest_of_one(x):
    return 1 - (1 - x), (x + 2048 - 2048).sum(), F.softmax(x * 2049 - x * 2048, -1)


def test_what_is_fused_overflows_as_float16():
    x = to_tensor([300.0, -400.0, 2.0]).astype("float16")
    found = to_static(squared_and_back)(x).numpy()
    assert (
        found.tolist() == squared_and_back(x).numpy().tolist() == [INF, -INF, 2.0]
    )  # what a scaler of gradients looks for


def test_what_is_fused_is_rounded_to_float16():
    x = to_tensor([0.3, 0.7, 0.0001]).astype("float16")
    for wanted, found in zip(rest_of_one(x), to_static(rest_of_one)(x), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=2e-3)


def near(x):
    return x * 2 if paddle.isclose(x, x + 1e-6).all() else x


def test_a_condition_on_float16_goes_the_same_way():
    for given in (0.0, 0.03, 1.0, 300.0):
        x = to_tensor([given]).astype("float16")
        assert to_static(near)(x).item() == near(x).item()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gradients_are_rounded_too(dtype):
    for call in (F.silu, to_static(lambda x: F.silu(x))):
        x = to_tensor(np.array([60000.0, 0.0], dtype), stop_gradient=False)
        call(x).sum().backward()
        assert x.grad.numpy().tolist() == [0.0 if dtype == "float16" else 1.0, 0.5]


class Shifted(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("by", to_tensor(np.array([1.0, 2.0], ">f4")))

    def forward(self, x):
        return x.reshape([-1]), x + self.by, self.by


def test_arrays_in_the_other_order_of_bytes():
    """As they come from files (`np.frombuffer(data, ">f4")`)."""
    x = to_tensor(np.array([[3.0, 4.0]], ">f4"))
    for call in (Shifted(), to_static(Shifted())):
        found = [v.numpy() for v in call(x)]
        assert [v.dtype for v in found] == [np.dtype("float32")] * 3
        assert all(v.dtype.isnative for v in found)
        assert [v.tolist() for v in found] == [[3.0, 4.0], [[4.0, 6.0]], [1.0, 2.0]]


def test_too_many_dims_are_refused_where_they_are_made():
    def deep(x):
        y = x + 1
        return y.reshape([1] * 8 + [-1])

    with pytest.raises(CompileError, match="9 dims; at most 8") as caught:
        to_static(deep)(to_tensor([1.0]))
    assert "return y.reshape" in str(caught.value)


def roots(x):
    y = float(x)
    return y**0.5, y**-0.5, y**3


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("value", [INF, -INF, NAN, 4.0])
def test_powers_of_numbers_that_are_not_finite(value, interpreted):
    x = to_tensor([value])
    with config.NO_JIT.override(interpreted):
        assert str(to_static(roots)(x)) == str(roots(x))


OPERATIONS = {
    "maximum": lambda x: paddle.maximum(x, 3.0),
    "of two": lambda x: paddle.maximum(x, to_tensor([0.0, 5.0])),
    "quotient": lambda x: x / INF,
    "broadcast": lambda x: x.unsqueeze(0) * paddle.zeros([1, 1]) - x / INF,
    "stretched": lambda x: paddle.zeros([3, 1]) * x,
}


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_zeros_in_gradients_have_the_sign_that_eager_mode_gives_them(name, interpreted):
    found = []
    for call in (OPERATIONS[name], to_static(OPERATIONS[name])):
        x = to_tensor([1.0, 2.0], stop_gradient=False)
        with config.NO_JIT.override(interpreted):
            (call(x) * to_tensor([-1.0, -1.0])).sum().backward()
        found.append(str(x.grad))
    assert found[0] == found[1]
