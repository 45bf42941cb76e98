import math

import numpy as np
import pytest
from agreement import agree
from dy2st_runtime import Predictor

import dy2st as paddle
from dy2st import Tensor, jit, nn
from dy2st.errors import AttributeValueError
from dy2st.jit import InputSpec
from dy2st.vision import models


def images(*shape):
    return np.random.default_rng(0).normal(size=shape)


@pytest.fixture
def quick():
    """Nothing random to compute for values that do not matter."""
    nn.initializer.set_global_initializer(nn.initializer.Constant(0.01))
    yield
    nn.initializer.set_global_initializer(None)


# as published with the models
@pytest.mark.parametrize(("make", "parameters"), [
    (models.LeNet, 61_610),
    (models.resnet18, 11_689_512),
    (models.resnet34, 21_797_672),
    (models.resnet50, 25_557_032),
    (models.resnext50_32x4d, 25_028_904),
    (models.mobilenet_v2, 3_504_872),
])  # fmt: skip
@pytest.mark.usefixtures("quick")
def test_number_of_parameters(make, parameters):
    assert sum(math.prod(p.shape) for p in make().parameters()) == parameters


@pytest.mark.usefixtures("quick")
def test_names():
    own = list(models.resnet18(num_classes=3).state_dict())
    assert own[:6] == ["conv1.weight", "bn1.weight", "bn1.bias", "bn1._mean", "bn1._variance", "layer1.0.conv1.weight"]
    for name in ("layer2.0.downsample.0.weight", "layer2.0.downsample.1._mean", "layer4.1.bn2.bias", "fc.weight", "fc.bias"):
        assert name in own
    assert "layer1.0.downsample.0.weight" not in own
    own = list(models.mobilenet_v2().state_dict())
    for name in ("features.0.0.weight", "features.0.1._mean", "features.1.conv.0.0.weight", "features.1.conv.1.weight",
                 "features.2.conv.1.0.weight", "features.18.0.weight", "classifier.1.weight"):  # fmt: skip
        assert name in own
    own = list(models.LeNet().state_dict())
    assert own[:2] == ["features.0.weight", "features.0.bias"]
    assert own[-1] == "fc.2.bias"


@pytest.mark.usefixtures("quick")
def test_shapes():
    x = paddle.zeros([1, 3, 32, 32])
    assert models.resnet18(num_classes=0)(x).shape == [1, 512, 1, 1]
    assert models.resnet18(num_classes=0, with_pool=False)(x).shape == [1, 512, 1, 1]
    assert models.MobileNetV2(0.5, 0, with_pool=False)(x).shape == [1, 1280, 1, 1]
    assert models.vgg11(batch_norm=True, num_classes=0)(x).shape == [1, 512, 7, 7]
    counts = [len(models.VGG(models.vgg._features(n, False), 0).features.parameters()) for n in (11, 13, 16, 19)]
    assert counts == [16, 20, 26, 32]
    assert models.resnet.BottleneckBlock(64, 64, base_width=128).conv2.weight.shape == [128, 128, 3, 3]
    assert models.resnet.BottleneckBlock(64, 64, groups=32, base_width=4).conv2.weight.shape == [128, 4, 3, 3]
    # no less than nine tenths of what the scale asks for
    assert models.MobileNetV2(scale=0.35).features[1].conv[1].weight.shape == [8, 16, 1, 1]


def fixed_dropout(model):
    """Without what is drawn anew at each call."""
    for layer in model.sublayers():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    return model


class Bottlenecks(nn.Layer):
    """The blocks of a ResNet of depth 50, with few channels."""

    def __init__(self):
        super().__init__()
        down = nn.Sequential(nn.Conv2D(3, 16, 1, 2, bias_attr=False), nn.BatchNorm2D(16))
        self.a = models.resnet.BottleneckBlock(3, 4, 2, down, groups=2, base_width=32)
        self.b = models.resnet.BottleneckBlock(16, 4)

    def forward(self, x):
        return self.b(self.a(x))


# in float64, as ReLU and the statistics of few values magnify differences of rounding
@pytest.mark.parametrize(("make", "shape", "training"), [
    (lambda: models.LeNet(), (2, 1, 28, 28), False),
    (Bottlenecks, (2, 3, 6, 6), True),
    (lambda: models.mobilenetv2.InvertedResidual(4, 4, 1, 6), (2, 4, 6, 6), False),
    pytest.param(lambda: models.mobilenetv2.InvertedResidual(4, 4, 1, 6), (2, 4, 6, 6), True, marks=pytest.mark.slow),
    pytest.param(lambda: models.resnet18(num_classes=5), (2, 3, 64, 64), True, marks=pytest.mark.slow),
    pytest.param(lambda: fixed_dropout(models.MobileNetV2(0.25, 5)), (2, 3, 64, 64), True, marks=pytest.mark.slow),
])  # fmt: skip
def test_static(make, shape, training):
    model = make().to(dtype="float64")
    model.train() if training else model.eval()
    more = (shape[0] + 1, *shape[1:])
    agree(model, [(images(*shape),), (images(*more),)], spec=[[None, *shape[1:]]], rtol=1e-6, atol=1e-8)


def test_running_statistics():
    one, other = models.parts.ConvNormActivation(3, 4), models.parts.ConvNormActivation(3, 4)
    other.set_state_dict(one.state_dict())
    static = jit.to_static(other.forward)
    for i in range(3):
        x = Tensor(images(2, 3, 6, 6).astype(np.float32) * (i + 1))
        one(x), static(x)
    for (name, a), (_, b) in zip(one.named_buffers(), other.named_buffers(), strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-4, atol=1e-5, err_msg=name)


def test_saved(tmp_path):
    model = models.LeNet()
    model.eval()
    x = images(2, 1, 28, 28).astype(np.float32)
    jit.save(model, tmp_path / "m", [InputSpec([None, 1, 28, 28], "float32", "x")])
    np.testing.assert_allclose(Predictor(tmp_path / "m").run({"x": x})[0], model(Tensor(x)).numpy(), rtol=1e-4, atol=1e-6)


def test_errors():
    with pytest.raises(AttributeValueError, match="no pretrained values"):
        models.resnet50(pretrained=True)
    with pytest.raises(AttributeValueError, match="depth 20"):
        models.ResNet(models.resnet.BasicBlock, 20)
    with pytest.raises(AttributeValueError, match="BottleneckBlock"):
        models.ResNet(models.resnet.BasicBlock, 18, width=128)


def test_models_are_names_of_vision():
    exported = [name for name in vars(models) if isinstance(getattr(models, name), type) or name[0].islower()]
    exported = [name for name in exported if callable(getattr(models, name))]
    assert len(exported) > 15
    assert [name for name in exported if getattr(paddle.vision, name, None) is not getattr(models, name)] == []


@pytest.mark.usefixtures("quick")
def test_a_resnet_of_ones_own():
    class Own(models.ResNet):
        def __init__(self, block):
            super().__init__(block, 18, num_classes=0, with_pool=False)
            self.inplanes = 256
            self.layer4 = self._make_layer(block, 512, 2, stride=2, dilate=True)
            self.layer5 = self._make_layer(block, 512, 1, stride=1, dilate=True)

    net = Own(models.resnet.BottleneckBlock)
    assert net.dilation == 2
    net.inplanes = 256
    block = net._make_layer(block=models.resnet.BottleneckBlock, planes=64, blocks=3)
    assert block[0].downsample is None
    assert [one.conv2.dilation for one in block] == [2, 1, 1]
    assert block(Tensor(images(1, 256, 4, 4).astype("float32"))).shape == [1, 256, 4, 4]
