"""`set_default_dtype` reaches what PaddlePaddle 2.6.2 has it reach."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import fluid, nn
from dy2st.nn import functional as F


@pytest.fixture(autouse=True)
def wide():
    paddle.set_default_dtype("float64")
    yield
    paddle.set_default_dtype("float32")


class Own(nn.Layer):
    def __init__(self, dtype=None):
        super().__init__(dtype=dtype)
        self.w = self.create_parameter([2])
        self.b = self.create_parameter([2], is_bias=True)
        self.n = self.create_parameter([2], default_initializer=nn.initializer.Normal())


LAYERS = {
    "Linear": (lambda: nn.Linear(2, 2), [3, 2]),
    "Conv2D": (lambda: nn.Conv2D(2, 1, 1), [1, 2, 3, 3]),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(2, 1, 1), [1, 2, 3, 3]),
    "BatchNorm2D": (lambda: nn.BatchNorm2D(2), [1, 2, 3, 3]),
    "LSTM": (lambda: nn.LSTM(2, 2), [1, 3, 2]),
    "GRU": (lambda: nn.GRU(2, 2), [1, 3, 2]),
    "LayerNorm": (lambda: nn.LayerNorm(2), [3, 2]),
    "GroupNorm": (lambda: nn.GroupNorm(1, 2), [1, 2, 3, 3]),
    "InstanceNorm2D": (lambda: nn.InstanceNorm2D(2), [1, 2, 3, 3]),
    "PReLU": (lambda: nn.PReLU(), [3, 2]),
    "MultiHeadAttention": (lambda: nn.MultiHeadAttention(2, 1), [1, 3, 2]),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(2, 1, 4), [1, 3, 2]),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_and_what_they_compute(name):
    make, shape = LAYERS[name]
    layer = make()
    assert {t.dtype for t in [*layer.parameters(), *layer.buffers()]} == {"float64"}
    out = layer(paddle.rand(shape))
    out = out[0] if isinstance(out, tuple) else out
    assert out.dtype == "float64"
    assert paddle.jit.to_static(layer)(paddle.rand(shape)) is not None
    optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    out.sum().backward()
    optimizer.step()
    assert {p.dtype for p in layer.parameters()} == {"float64"}


def test_embeddings():
    layer = nn.Embedding(3, 2)
    assert layer(paddle.to_tensor([1])).dtype == "float64"


def test_parameters_of_a_layer_of_ones_own():
    assert [p.dtype for p in Own().parameters()] == ["float64"] * 3
    assert [p.dtype for p in Own("float32").parameters()] == ["float32"] * 3
    assert paddle.create_parameter([2], None).dtype == "float64"


@pytest.mark.parametrize(
    "name", ["Constant", "Normal", "TruncatedNormal", "Uniform", "XavierNormal", "XavierUniform", "KaimingNormal", "KaimingUniform"]
)
def test_initializers(name):
    layer = nn.Linear(2, 2, weight_attr=paddle.ParamAttr(initializer=getattr(nn.initializer, name)()))
    assert [p.dtype for p in layer.parameters()] == ["float64"] * 2


def test_functions_that_make_tensors():
    made = [
        paddle.zeros([2]), paddle.ones([2]), paddle.full([2], 1.5), paddle.full([2], 1), paddle.empty([2]), paddle.eye(2),
        paddle.to_tensor(1.5), paddle.to_tensor([1.5, 2]), paddle.linspace(0, 1, 3), paddle.arange(0.0, 1.0, 0.5), paddle.rand([2]),
        paddle.randn([2]), paddle.uniform([2]), paddle.normal(shape=[2]),
    ]  # fmt: skip
    assert {t.dtype for t in made} == {"float64"}
    as_they_are = [paddle.to_tensor([1]), paddle.to_tensor(np.ones(2, "float32")), paddle.to_tensor([True]), paddle.randint(0, 2, [2])]
    assert [t.dtype for t in as_they_are] == ["int64", "float32", "bool", "int64"]
    assert F.one_hot(paddle.to_tensor([1]), 2).dtype == "float32"


def test_layers_of_version_1_have_the_dtype_that_they_are_given():
    for given in ({}, {"dtype": "float32"}, {"dtype": "float64"}):
        made = [
            fluid.dygraph.Linear(2, 2, **given), fluid.dygraph.Conv2D(1, 1, 1, **given), fluid.dygraph.Embedding([3, 2], **given),
            fluid.dygraph.LayerNorm([2], **given), fluid.dygraph.BatchNorm(2, **given),
        ]  # fmt: skip
        assert {p.dtype for layer in made for p in layer.parameters()} == {given.get("dtype", "float32")}
    assert paddle.get_default_dtype() == "float64"


def test_statistics_of_float16_are_float32():
    paddle.set_default_dtype("float16")
    assert {t.dtype for layer in [nn.BatchNorm2D(2)] for t in [*layer.parameters(), *layer.buffers()]} == {"float32"}
    assert nn.Linear(2, 2).weight.dtype == "float16"
