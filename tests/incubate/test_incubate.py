"""`paddle.incubate`: compositions under the names of fused kernels."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import incubate
from dy2st.errors import AttributeValueError, ShapeError
from dy2st.incubate.nn import functional as fused

RNG = np.random.default_rng(0)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("wrap", [lambda f: f, paddle.jit.to_static], ids=["eager", "static"])
def test_masked_softmax(wrap):
    x = RNG.normal(size=(2, 3, 4, 4)).astype("float32")
    mask = np.where(RNG.random((2, 1, 4, 4)) < 0.3, -1e4, 0).astype("float32")
    found = wrap(incubate.softmax_mask_fuse)(paddle.to_tensor(x), paddle.to_tensor(mask))
    np.testing.assert_allclose(found.numpy(), softmax(x + mask), rtol=1e-5, atol=1e-7)
    causal = wrap(incubate.softmax_mask_fuse_upper_triangle)(paddle.to_tensor(x))
    np.testing.assert_allclose(causal.numpy(), softmax(np.where(np.tri(4, dtype=bool), x, -np.inf)), rtol=1e-5, atol=1e-7)
    with pytest.raises(ShapeError, match="got 1 dims"):
        incubate.softmax_mask_fuse_upper_triangle(paddle.ones([3]))


@pytest.mark.parametrize("transposed", [False, True])
def test_fused_linear(transposed):
    layer = incubate.nn.FusedLinear(3, 2, transpose_weight=transposed)
    x = RNG.normal(size=(5, 3)).astype("float32")
    weight = layer.weight.numpy().T if transposed else layer.weight.numpy()
    expected = x @ weight + layer.bias.numpy()
    np.testing.assert_allclose(layer(paddle.to_tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)
    static = paddle.jit.to_static(layer)
    np.testing.assert_allclose(static(paddle.to_tensor(x)).numpy(), expected, rtol=1e-5, atol=1e-6)
    static(paddle.to_tensor(x)).sum().backward()
    assert layer.weight.grad.shape == layer.weight.shape


def test_fused_functions():
    x, y, bias = (paddle.to_tensor(v) for v in ([[1.0, -2.0]], [[1.0, 0.5], [2.0, 1.0]], [0.5, 3.0]))
    plain = fused.fused_matmul_bias(x, y, bias)
    assert plain.tolist() == fused.fused_linear_activation(x, y, bias).tolist() == [[-2.5, 1.5]]
    assert fused.fused_linear_activation(x, y, bias, activation="relu").tolist() == [[0, 1.5]]
    gelu = fused.fused_linear_activation(x, y, bias, activation="gelu")
    assert gelu.tolist() == paddle.nn.functional.gelu(plain, approximate=True).tolist()
    with pytest.raises(AttributeValueError, match="activation"):
        fused.fused_linear_activation(x, y, bias, activation="tanh")
    layer = incubate.nn.FusedDropoutAdd(0.5, mode="downscale_in_infer")
    layer.eval()
    assert layer(x, x).tolist() == [[1.5, -3.0]]
