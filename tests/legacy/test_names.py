"""Names of 1.x whose arguments are not those of 2.x."""

import numpy as np
import pytest

from dy2st import Tensor, fluid, jit
from dy2st.errors import AttributeValueError
from dy2st.fluid import dygraph, layers

RNG = np.random.default_rng(0)
A, B = (RNG.normal(size=(2, 6)).astype(np.float32) for _ in range(2))
IMAGE = RNG.normal(size=(1, 2, 3, 4)).astype(np.float32)
D = A - B


@pytest.fixture(autouse=True)
def dynamic():
    with fluid.dygraph.guard():
        yield


@pytest.mark.parametrize(("call", "expected"), [
    (lambda: layers.expand(A, [2, 1]), np.tile(A, (2, 1))),
    (lambda: layers.reverse(A, [0, 1]), A[::-1, ::-1]),
    (lambda: layers.sums([Tensor(A), Tensor(B), Tensor(B)]), A + 2 * B),
    (lambda: layers.pad(A, [1, 0, 0, 2], 3.0), np.pad(A, [(1, 0), (0, 2)], constant_values=3.0)),
    (lambda: layers.pad2d(IMAGE, [1, 0, 2, 0], "edge"), np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (2, 0)], "edge")),
    (lambda: layers.pad2d(IMAGE, [0, 1, 0, 2], "reflect"), np.pad(IMAGE, [(0, 0), (0, 0), (0, 1), (0, 2)], "reflect")),
    (lambda: layers.resize_nearest(IMAGE, scale=2, align_corners=False), IMAGE.repeat(2, 2).repeat(2, 3)),
    (lambda: layers.resize_bilinear(IMAGE, [5, 7])[:, :, ::2, ::2], IMAGE),
    (lambda: layers.l2_normalize(A, 1), A / np.linalg.norm(A, axis=1, keepdims=True)),
    (lambda: layers.cos_sim(A, B), ((A * B).sum(1) / np.linalg.norm(A, axis=1) / np.linalg.norm(B, axis=1))[:, None]),
    (lambda: layers.brelu(A, -0.5, 0.5), np.clip(A, -0.5, 0.5)),
    (lambda: layers.mse_loss(A, B), [(D**2).mean()]),
    (lambda: layers.smooth_l1(A, B, sigma=2.0),
     np.where(np.abs(D) < 0.25, 2 * D**2, np.abs(D) - 0.125).sum(1, keepdims=True)),
    (lambda: layers.smooth_l1(A, B, Tensor(B), Tensor(A)),
     (np.where(np.abs(D * B) < 1, 0.5 * (D * B) ** 2, np.abs(D * B) - 0.5) * A).sum(1, keepdims=True)),
    (lambda: layers.huber_loss(A, B, 0.5), np.where(np.abs(D) < 0.5, 0.5 * D**2, 0.5 * (np.abs(D) - 0.25))),
    (lambda: layers.sigmoid_cross_entropy_with_logits(A[:1, :2], Tensor([[1.0, -100.0]]), normalize=True),
     [[np.log(1 + np.exp(-A[0, 0])), 0]]),
    (lambda: layers.fill_constant_batch_size_like(A, [1, 3], "int64", 7), np.full((2, 3), 7)),
    (lambda: layers.linspace(0.0, 1.0, 5), np.linspace(0, 1, 5)),
    (lambda: layers.range(1, 7, 2, "int32"), [1, 3, 5]),
    (lambda: layers.shuffle_channel(IMAGE, 2), IMAGE),
    (lambda: layers.grid_sampler(IMAGE, layers.affine_grid(Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), [1, 2, 3, 4])), IMAGE),
])  # fmt: skip
def test_functions(call, expected):
    np.testing.assert_allclose(call().numpy(), expected, rtol=1e-4, atol=1e-5)


def test_random_numbers():
    drawn = layers.uniform_random([1000], min=2.0, max=3.0).numpy()
    assert 2 <= drawn.min() < 2.1 < 2.9 < drawn.max() < 3
    assert abs(layers.gaussian_random([4000], mean=5.0, std=0.1).numpy().mean() - 5) < 0.02


def test_gru_unit():
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    x, h = A, B[:, :2]
    for origin in (False, True):
        unit = dygraph.GRUUnit(6, origin_mode=origin, bias_attr=fluid.initializer.Constant(0.1))
        w, z = unit.weight.numpy(), x + 0.1
        u, r = sigmoid(z[:, :2] + h @ w[:, :2]), sigmoid(z[:, 2:4] + h @ w[:, 2:4])
        c = np.tanh(z[:, 4:] + (r * h) @ w[:, 4:])
        new = u * h + (1 - u) * c if origin else (1 - u) * h + u * c
        for call in (unit, jit.to_static(unit.forward)):
            found = call(Tensor(x), Tensor(h))
            for a, b in zip(found, (new, r * h, np.concatenate([u, r, c], 1)), strict=True):
                np.testing.assert_allclose(a.numpy(), b, rtol=1e-4, atol=1e-6)
    with pytest.raises(AttributeValueError, match="multiple of 3"):
        dygraph.GRUUnit(4)


def test_layers():
    x = Tensor(IMAGE)
    up = dygraph.Conv2DTranspose(2, 4, 3, output_size=[6, 8], stride=2, padding=1, act="relu")
    y = up(x)
    assert y.shape == [1, 4, 6, 8]
    assert y.numpy().min() >= 0
    volume = Tensor(RNG.normal(size=(1, 2, 3, 4, 5)).astype(np.float32))
    assert dygraph.Conv3D(2, 4, 3, padding=1, act="relu")(volume).shape == [1, 4, 3, 4, 5]
    assert dygraph.Conv3DTranspose(2, 4, 2, stride=2)(volume).shape == [1, 4, 6, 8, 10]
    normalized = dygraph.InstanceNorm(2)(volume).numpy()
    np.testing.assert_allclose(normalized.mean((2, 3, 4)), 0, atol=1e-5)


def test_rnn():
    from dy2st import nn

    cell, x = nn.GRUCell(3, 2), Tensor(A.reshape(2, 2, 3))
    y, h = layers.rnn(cell, x)
    np.testing.assert_allclose(y.numpy()[:, -1], h.numpy(), rtol=1e-6)
    both, _ = layers.birnn(cell, nn.GRUCell(3, 2), x)
    np.testing.assert_allclose(both.numpy()[..., :2], y.numpy(), rtol=1e-6)


def test_arguments_of_layers_for_normalization():
    x = Tensor(IMAGE)
    plain = dygraph.LayerNorm([2, 3, 4], False, True, 1e-3, act="relu")
    assert plain.weight is None
    expected = (IMAGE - IMAGE.mean()) / np.sqrt(IMAGE.var() + 1e-3)
    np.testing.assert_allclose(plain(x).numpy(), np.maximum(expected, 0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(jit.to_static(plain)(x).numpy(), np.maximum(expected, 0), rtol=1e-4, atol=1e-5)
    groups = dygraph.GroupNorm(2, 1)
    assert groups.weight.shape == [2]
    np.testing.assert_allclose(groups(x).numpy(), (IMAGE - IMAGE.mean()) / np.sqrt(IMAGE.var() + 1e-5), rtol=1e-4, atol=1e-5)


def test_prelu():
    x = Tensor(IMAGE)
    for layer, shape in ((dygraph.PReLU("all"), [1]), (dygraph.PReLU("channel", 2), [1, 2, 1, 1]),
                         (dygraph.PReLU("element", input_shape=[5, 2, 3, 4]), [1, 2, 3, 4])):  # fmt: skip
        assert layer.weight.shape == shape
        np.testing.assert_array_equal(layer(x).numpy(), IMAGE)  # the weight is 1 at first
        slopes = np.full(shape, 0.25, np.float32) * np.arange(1, 1 + np.prod(shape)).reshape(shape)
        layer.weight.set_value(slopes.astype(np.float32))
        np.testing.assert_allclose(layer(x).numpy(), np.where(IMAGE > 0, IMAGE, IMAGE * slopes), rtol=1e-5)
    with pytest.raises(AttributeValueError, match="cannot be of mode 'channel'"):
        dygraph.PReLU("channel")


def test_activations_by_name_have_the_defaults_of_their_ops():
    x = Tensor(IMAGE)
    for act, expected in (("leaky_relu", np.where(IMAGE > 0, IMAGE, 0.02 * IMAGE)), ("hard_sigmoid", np.clip(0.2 * IMAGE + 0.5, 0, 1))):
        layer = dygraph.BatchNorm(2, act=act, is_test=True, epsilon=0.0)
        np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(AttributeValueError, match="activation 'rellu' is not known"):
        dygraph.BatchNorm(2, act="rellu")(x)


def test_rows_of_a_table_without_the_last_axis():
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        words = fluid.data("words", [None, 1], "int64")
        sentences = fluid.data("sentences", [None, 7, 1], "int64")
        assert layers.embedding(words, [10, 3]).shape == [-1, 3]
        assert layers.embedding(sentences, [10, 3]).shape == [-1, 7, 3]
        assert fluid.embedding(words, [10, 3]).shape == [-1, 1, 3]
    ids = Tensor([[1], [2]])
    assert layers.one_hot(ids, 4).shape == [2, 4]
    assert fluid.one_hot(ids, 4).shape == [2, 1, 4]


def test_where_a_comparison_is_written():
    i, n = layers.fill_constant([1], "int64", 1), layers.fill_constant([1], "int64", 2)
    for call in (lambda c: layers.less_than(i, n, None, c), lambda c: layers.less_equal(i, n, c), lambda c: layers.less_than(i, n, cond=c)):
        target = layers.fill_constant([1], "bool", False)
        assert call(target) is target
        assert target.numpy().tolist() == [True]
