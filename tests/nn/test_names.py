"""Names of parameters and buffers: those of PaddlePaddle 2.6.2, so that files of either have the same ones."""

import pytest

import dy2st as paddle
from dy2st import nn, unique_name


@pytest.fixture(autouse=True)
def counted_anew():
    with unique_name.guard():
        yield


def names(layer):
    return [p.name for p in layer.parameters()]


def test_of_create_parameter():
    assert paddle.create_parameter([1], "float32", name="exact").name == "exact"
    assert paddle.create_parameter([1], "float32", name="exact").name == "exact"
    assert paddle.create_parameter([1], "float32", attr=nn.ParamAttr(name="own")).name == "own"
    assert paddle.create_parameter([1], "float32", name="unused", attr=nn.ParamAttr(name="own")).name == "own"
    start = nn.ParamAttr(initializer=nn.initializer.Constant(1.0))
    assert paddle.create_parameter([1], "float32", name="stem", attr=start).name == "stem.w_0"
    assert paddle.create_parameter([1], "float32").name == "create_parameter_1.w_0"
    assert paddle.create_parameter([1], "float32", is_bias=True).name == "create_parameter_2.b_0"
    assert paddle.create_parameter([1], "float32", attr=False) is None
    assert paddle.static.create_parameter is paddle.create_parameter


@pytest.mark.parametrize(
    ("make", "stem"),
    [
        (lambda **k: nn.Linear(1, 1, **k), "linear"),
        (lambda **k: nn.Embedding(3, 2, **k), "embedding"),
        (lambda **k: nn.Bilinear(2, 2, 2, **k), "bilinear"),
        (lambda **k: nn.LayerNorm(2, **k), "layer_norm"),
        (lambda **k: nn.GroupNorm(1, 2, **k), "group_norm"),
        (lambda **k: nn.InstanceNorm2D(2, **k), "instance_norm2d"),
        (lambda **k: nn.BatchNorm2D(2, **k), "batch_norm2d"),
    ],
)
def test_the_name_of_a_layer_names_no_parameters(make, stem):
    assert names(make(name="mine")) == [n.replace("_1.", "_0.") for n in names(make())]
    assert make(name="mine").full_name() == f"{stem}_2"


def test_the_name_of_a_batch_normalization_names_its_statistics():
    assert [b.name for b in nn.BatchNorm1D(2, name="bn").buffers()] == ["bn_mean", "bn_variance"]
    assert [b.name for b in nn.BatchNorm1D(2).buffers()] == ["batch_norm1d_1.w_1", "batch_norm1d_1.w_2"]


def test_a_scope_is_kept_as_it_is():
    class Own(nn.Layer):
        def __init__(self, scope=None):
            super().__init__(scope)
            self.w = self.create_parameter([1])

    assert names(Own("My Scope")) == ["My Scope_0.w_0"]
    assert names(Own()) == ["own_0.w_0"]
