"""What stands where among the arguments, and what they are by default: numbers that PaddlePaddle 3.3.1 gave."""

import numpy as np
import pytest
from agreement import agree, normal

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor, nn

IMAGE = normal(2, 4, 6, 6)


def test_windows():
    by_name = {"strides": 2, "paddings": 1, "dilations": 3}
    expected = F.unfold(Tensor(IMAGE), 2, 2, 1, 3).numpy()
    np.testing.assert_array_equal(F.unfold(Tensor(IMAGE), 2, **by_name).numpy(), expected)
    np.testing.assert_array_equal(nn.Unfold(2, 3, 1, 2)(Tensor(IMAGE)).numpy(), expected)
    columns = normal(1, 8, 9)
    expected = F.fold(Tensor(columns), [6, 6], 2, 2, 1, 3).numpy()
    np.testing.assert_array_equal(nn.Fold([6, 6], 2, 3, 1, 2)(Tensor(columns)).numpy(), expected)


def test_transposed_convolution_of_images():
    weight = normal(4, 3, 3, 3, seed=1)
    found = F.conv2d_transpose(Tensor(IMAGE), Tensor(weight), None, 2, 1, 0, 1, 2, [12, 12], "NCHW")
    assert found.shape == [2, 6, 12, 12]
    by_name = F.conv2d_transpose(
        Tensor(IMAGE), Tensor(weight), stride=2, padding=1, output_padding=1, dilation=1, groups=2
    )
    np.testing.assert_allclose(found.numpy(), by_name.numpy(), rtol=1e-5, atol=1e-6)
    layer = nn.Conv2DTranspose(4, 6, 3, 1, 1, 0, 2, 2)  # of the layer, groups come first
    assert (layer.groups, layer.dilation, layer.weight.shape) == (2, 2, [4, 3, 3, 3])
    assert layer(Tensor(IMAGE)).shape == [2, 6, 8, 8]


def test_maxima_of_volumes():
    volume = Tensor(normal(1, 1, 5, 5, 5))
    assert F.max_pool3d(volume, 2, 2, 0, False, True).shape == [1, 1, 3, 3, 3]
    assert nn.MaxPool3D(2, 2, 0, False, True)(volume).shape == [1, 1, 3, 3, 3]


def test_images_resized_by_a_factor_that_does_not_fit():
    row = np.arange(6, dtype=np.float32)
    x = row.reshape(1, 1, 1, 6)
    found = {mode: F.interpolate(Tensor(x), scale_factor=[1, 0.7], mode=mode).numpy().ravel() for mode in ("nearest", "bilinear")}
    np.testing.assert_allclose(found["nearest"], [0, 1, 2, 4])
    np.testing.assert_allclose(found["bilinear"], [0.2142857, 1.6428571, 3.0714285, 4.5], rtol=1e-5)
    same = F.interpolate(Tensor(x), scale_factor=[1, 1.1], mode="bilinear").numpy().ravel()  # 6 pixels again, and others
    np.testing.assert_allclose(same, np.maximum((np.arange(6) + 0.5) / 1.1 - 0.5, 0), rtol=1e-4)
    corners = F.interpolate(Tensor(x), scale_factor=[1, 0.7], mode="bilinear", align_corners=True)
    np.testing.assert_allclose(corners.numpy().ravel(), [0, 5 / 3, 10 / 3, 5], rtol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_images_of_any_size_resized_by_such_a_factor(mode):
    agree(nn.Upsample(scale_factor=0.7, mode=mode), [(normal(1, 2, n, n + 3),) for n in (6, 10, 9, 6)])


def test_labels_that_are_ignored_count_in_the_mean_if_they_are_negative():
    logits, labels = normal(3, 4), np.array([1, -100, 3])
    for ignored in (-100, -1):
        losses = F.cross_entropy(Tensor(logits), Tensor(np.where(labels < 0, ignored, labels)), ignore_index=ignored, reduction="none")
        assert losses.numpy()[1] == 0
        mean = F.cross_entropy(Tensor(logits), Tensor(np.where(labels < 0, ignored, labels)), ignore_index=ignored)
        np.testing.assert_allclose(mean.item(), losses.numpy().sum() / 3, rtol=1e-6)
    mean = F.cross_entropy(Tensor(logits), Tensor(np.where(labels < 0, 0, labels)), ignore_index=0)
    np.testing.assert_allclose(mean.item(), losses.numpy().sum() / 2, rtol=1e-6)


def test_positions_of_32_bits():
    found = paddle.searchsorted(Tensor([1.0, 3.0, 5.0]), Tensor([3.0, 4.0]), out_int32=True, right=True)
    assert found.dtype == "int32"
    assert found.numpy().tolist() == [2, 2]


def test_the_largest_elements_share_the_gradient_of_amax():
    for call, expected in (
        (lambda x: paddle.amax(x), [[0.5, 0, 0], [0.5, 0, 0]]), (lambda x: x.amax(1), [[1, 0, 0], [1, 0, 0]]),
        (lambda x: paddle.amin(x, [0, 1], True), [[0, 1 / 3, 1 / 3], [0, 1 / 3, 0]]), (lambda x: x.amin(0), [[0.5, 0.5, 1], [0.5, 0.5, 0]]),
        (lambda x: paddle.max(x), [[1, 0, 0], [1, 0, 0]]),
    ):  # fmt: skip
        for stage in (lambda f: f, paddle.jit.to_static):
            x = paddle.to_tensor([[2.0, 1.0, 1.0], [2.0, 1.0, 1.5]], stop_gradient=False)
            stage(call)(x).sum().backward()
            np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)


def test_parameters_as_in_files_of_paddlepaddle():
    assert [list(p.shape) for p in nn.LayerNorm([3, 4]).parameters()] == [[12], [12]]
    agree(nn.LayerNorm([6, 6]), [(IMAGE,), (IMAGE[:1],)])
    assert list(nn.PReLU(4).state_dict()) == ["_weight"]


def test_seeds_of_old_initializers():
    init = nn.initializer
    for make in (
        lambda seed: init.MSRAInitializer(False, None, seed), lambda seed: init.NormalInitializer(0.0, 1.0, seed),
        lambda seed: init.UniformInitializer(-1.0, 1.0, seed), lambda seed: init.TruncatedNormalInitializer(0.0, 1.0, seed),
    ):  # fmt: skip
        values = [make(seed).make([50, 40], "float32").numpy() for seed in (7, 7, 8)]
        np.testing.assert_array_equal(values[0], values[1])
        assert (values[0] != values[2]).any()
    assert abs(init.MSRAInitializer(False, None, 7).make([50, 40], "float32").numpy().std() - 0.2) < 0.02
