"""Functions that move pixels: windows as columns, sampling on grids, blocks and channels."""

import numpy as np
import pytest
from agreement import Of, agree, normal
from dy2st_runtime import Predictor

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor, jit, nn
from dy2st.errors import AttributeValueError, ShapeError
from dy2st.jit import InputSpec

WINDOWS = {"kernel_sizes": [2, 3], "strides": [2, 1], "paddings": [1, 0], "dilations": [1, 2]}


def columns(x):
    """The windows of WINDOWS, one after the other."""
    x = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    found = []
    for i in range((x.shape[2] - 2) // 2 + 1):
        for j in range(x.shape[3] - 5 + 1):
            found.append(x[:, :, i * 2 : i * 2 + 2, j : j + 5 : 2].reshape(len(x), -1))
    return np.stack(found, 2)


def test_unfold_and_fold():
    x = normal(2, 3, 6, 7)
    np.testing.assert_array_equal(F.unfold(Tensor(x), **WINDOWS).numpy(), columns(x))
    # fold is the adjoint
    c = normal(*columns(x).shape, seed=1)
    image = Tensor(x, stop_gradient=False)
    (F.unfold(image, **WINDOWS) * Tensor(c)).sum().backward()
    np.testing.assert_allclose(F.fold(Tensor(c), [6, 7], **WINDOWS).numpy(), image.grad.numpy(), rtol=1e-5, atol=1e-6)
    assert F.unfold(Tensor(x), 2, paddings=[1, 2, 0, 0]).shape == [2, 12, 6 * 8]


def test_unfold_and_fold_static(tmp_path):
    agree(nn.Unfold(**WINDOWS), [(normal(2, 3, 6, 7),), (normal(1, 2, 5, 8),)])
    layer = nn.Fold([6, 7], **WINDOWS)
    c = normal(2, 18, 12)
    agree(layer, [(c,), (c[:1, :12],)])
    jit.save(layer, tmp_path / "fold", [InputSpec([None, 18, 12], "float32", "c")])
    np.testing.assert_allclose(Predictor(tmp_path / "fold").run({"c": c})[0], layer(Tensor(c)).numpy(), rtol=1e-5, atol=1e-6)


def sampled(x, grid, mode, padding, corners):
    """One place after the other."""

    def pixel(n, i, j):
        return x[n, :, i, j] if 0 <= i < x.shape[2] and 0 <= j < x.shape[3] else np.zeros(x.shape[1])

    def mirrored(at, size):
        low, high = (0, size - 1) if corners else (-0.5, size - 0.5)
        while at < low or at > high:
            at = 2 * low - at if at < low else 2 * high - at
        return at

    out = np.zeros((len(x), x.shape[1], *grid.shape[1:3]))
    for n, i, j in np.ndindex(*grid.shape[:3]):
        place = []
        for at, size in zip(grid[n, i, j, ::-1].astype(np.float64), x.shape[2:], strict=True):
            at = (at + 1) * (size - 1) / 2 if corners else ((at + 1) * size - 1) / 2
            at = mirrored(at, size) if padding == "reflection" else at
            place.append(at if padding == "zeros" else np.clip(at, 0, size - 1))
        if mode == "nearest":
            out[n, :, i, j] = pixel(n, *(round(at) for at in place))
            continue
        top, left = (int(np.floor(at)) for at in place)
        down, right = place[0] - top, place[1] - left
        out[n, :, i, j] = ((1 - down) * ((1 - right) * pixel(n, top, left) + right * pixel(n, top, left + 1))
                           + down * ((1 - right) * pixel(n, top + 1, left) + right * pixel(n, top + 1, left + 1)))  # fmt: skip
    return out


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [True, False])
def test_grid_sample(mode, padding, corners):
    x, grid = normal(2, 3, 4, 5), np.random.default_rng(1).uniform(-2.5, 2.5, (2, 3, 6, 2)).astype(np.float32)
    found = F.grid_sample(Tensor(x), Tensor(grid), mode, padding, corners)
    np.testing.assert_allclose(found.numpy(), sampled(x, grid, mode, padding, corners), rtol=1e-4, atol=1e-5)


def test_an_affine_map():
    for corners in (True, False):
        same = F.affine_grid(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), [1, 1, 3, 4], corners)
        x = normal(1, 1, 3, 4)
        np.testing.assert_allclose(F.grid_sample(Tensor(x), same, align_corners=corners).numpy(), x, rtol=1e-4, atol=1e-5)
        theta = normal(2, 2, 3)
        rows, cols = (np.linspace(-1, 1, n) if corners else (np.arange(n) * 2 + 1) / n - 1 for n in (3, 4))
        points = np.stack([*np.meshgrid(cols, rows), np.ones((3, 4))], -1)
        expected = np.einsum("nij,hwj->nhwi", theta, points)
        np.testing.assert_allclose(F.affine_grid(Tensor(theta), [2, 1, 3, 4], corners).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert F.affine_grid(Tensor(normal(1, 2, 3)), [1, 1, 1, 1]).shape == [1, 1, 1, 2]


def test_a_spatial_transformer():
    class Net(nn.Layer):
        def forward(self, x, theta):
            if theta.sum() > 0:
                return F.grid_sample(x, F.affine_grid(theta, [theta.shape[0], 1, 3, 4]))
            return F.grid_sample(x, F.affine_grid(theta, [1, 1, 3, 4]), padding_mode="border", align_corners=False)

    theta = np.array([[[0.7, 0.1, 0.2], [-0.1, 0.8, 0.1]]], np.float32)
    agree(Net(), [(normal(1, 2, 5, 4), theta), (normal(1, 2, 3, 3), -theta)], spec=[[None, 2, None, None], [None, 2, 3]])


def test_blocks_and_channels():
    x = normal(2, 12, 4, 6)
    np.testing.assert_array_equal(F.pixel_unshuffle(F.pixel_shuffle(Tensor(x), 2), 2).numpy(), x)
    expected = x.reshape(2, 3, 4, 4, 6).swapaxes(1, 2).reshape(x.shape)
    np.testing.assert_array_equal(F.channel_shuffle(Tensor(x), 3).numpy(), expected)
    last = nn.ChannelShuffle(3, "NHWC")(Tensor(x.transpose(0, 2, 3, 1)))
    np.testing.assert_array_equal(last.numpy(), expected.transpose(0, 2, 3, 1))
    agree(nn.Sequential(nn.PixelUnshuffle(2), nn.ChannelShuffle(4)), [(x,), (x[:1, :, :2],)], spec=[[None, 12, None, None]])
    video = normal(6, 8, 1, 2)
    shifted = F.temporal_shift(Tensor(video), 3, 0.25).numpy().reshape(2, 3, 8, 1, 2)
    frames = video.reshape(2, 3, 8, 1, 2)
    np.testing.assert_array_equal(shifted[:, 1:, :2], frames[:, :-1, :2])
    np.testing.assert_array_equal(shifted[:, :-1, 2:4], frames[:, 1:, 2:4])
    np.testing.assert_array_equal(shifted[:, :, 4:], frames[:, :, 4:])
    assert not shifted[:, 0, :2].any()
    assert not shifted[:, 2, 2:4].any()
    agree(Of(lambda v: F.temporal_shift(v, 3)), [(video,), (video[:3],)], spec=[[None, 8, None, None]])


def test_unflatten():
    x = normal(2, 12, 3)
    assert nn.Unflatten(1, [2, -1, 3])(Tensor(x)).shape == [2, 2, 2, 3, 3]
    agree(nn.Unflatten(-2, [3, -1]), [(x,), (x[:1, :6],)])


def test_what_is_refused():
    x = paddle.zeros([1, 2, 3, 3])
    for error, call in (
        (ShapeError, lambda: F.unfold(x, 4)),
        (ShapeError, lambda: F.unfold(x[0], 2)),
        (ShapeError, lambda: F.fold(paddle.zeros([1, 8, 5]), 3, 2)),
        (ShapeError, lambda: F.fold(paddle.zeros([1, 7, 4]), 3, 2)),
        (ShapeError, lambda: F.pixel_unshuffle(x, 2)),
        (ShapeError, lambda: F.channel_shuffle(x, 3)),
        (ShapeError, lambda: F.grid_sample(x, paddle.zeros([1, 2, 2]))),
        (AttributeValueError, lambda: F.grid_sample(x, paddle.zeros([1, 2, 2, 2]), "cubic")),
        (AttributeValueError, lambda: F.pixel_unshuffle(x, 1, "NHWC")),
        (AttributeValueError, lambda: F.temporal_shift(x, 1, data_format="NHWC")),
    ):
        with pytest.raises(error):
            call()
