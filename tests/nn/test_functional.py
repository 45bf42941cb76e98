import math
import sys
from pathlib import Path

import numpy as np
import pytest

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor
from dy2st.errors import AttributeValueError, DTypeError, OutOfRangeError, ShapeError

sys.path.insert(0, str(Path(__file__).parents[1] / "tensor"))
from gradcheck import check

R = np.random.default_rng(2)
X = R.normal(size=(2, 3)).astype("float32")


def numpy_softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "celu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hardtanh": lambda x: np.clip(x, -1, 1),
    "hardshrink": lambda x: np.where(abs(x) > 0.5, x, 0),
    "softshrink": lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    "tanhshrink": lambda x: x - np.tanh(x),
    "thresholded_relu": lambda x: np.where(x > 1, x, 0),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "log_sigmoid": lambda x: -np.log1p(np.exp(-x)),
    "softmax": numpy_softmax,
    "log_softmax": lambda x: np.log(numpy_softmax(x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    x = (np.linspace(-4, 4, 27) + 0.013).astype("float32")
    out = getattr(F, name)(Tensor(x))
    np.testing.assert_allclose(out.numpy(), ACTIVATIONS[name](x.astype("float64")), rtol=2e-5, atol=2e-6)
    check(getattr(F, name), x[::6], tolerance=1e-4)


def test_prelu_glu_maxout():
    x = Tensor(X.reshape(1, 2, 3, 1))
    w = Tensor([0.1, 0.2])
    np.testing.assert_allclose(
        F.prelu(x, w).numpy(),
        np.where(x.numpy() > 0, x.numpy(), x.numpy() * np.array([0.1, 0.2]).reshape(1, 2, 1, 1)),
        rtol=1e-6,
    )
    np.testing.assert_allclose(F.glu(Tensor(X.T), 1).numpy(), X.T[:, :1] / (1 + np.exp(-X.T[:, 1:])), rtol=1e-5)
    np.testing.assert_allclose(F.maxout(x, 2).numpy(), x.numpy().max(1, keepdims=True))


class TestDropout:
    def test_training(self):
        paddle.seed(3)
        x = paddle.ones([1000])
        out = F.dropout(x, 0.25).numpy()
        assert set(np.unique(out)) == {np.float32(0), np.float32(1 / 0.75)}
        assert 0.2 < (out == 0).mean() < 0.3
        paddle.seed(3)
        np.testing.assert_array_equal(F.dropout(x, 0.25).numpy(), out)
        assert (F.dropout(x, 0.25).numpy() != out).any()

    def test_inference(self):
        x = Tensor(X)
        np.testing.assert_array_equal(F.dropout(x, 0.5, training=False).numpy(), X)
        np.testing.assert_allclose(F.dropout(x, 0.25, training=False, mode="downscale_in_infer").numpy(), X * 0.75)

    def test_inference_draws_nothing(self):
        before = paddle.tensor.random.state.numpy()
        F.dropout(Tensor(X), 0.5, training=False)
        np.testing.assert_array_equal(paddle.tensor.random.state.numpy(), before)

    @pytest.mark.parametrize("options", [{}, {"axis": 0}, {"mode": "downscale_in_infer"}], ids=str)
    def test_probability_zero_is_nothing(self, options):
        x, before = Tensor(X), paddle.tensor.random.state.numpy()
        assert F.dropout(x, 0.0, **options) is x
        np.testing.assert_array_equal(paddle.tensor.random.state.numpy(), before)

    def test_whole_channels(self):
        out = F.dropout2d(paddle.ones([8, 16, 3, 3]), 0.5).numpy().reshape(128, 9)
        assert (out == out[:, :1]).all()
        assert 0 < (out[:, 0] == 0).sum() < 128

    def test_gradient_is_the_mask(self):
        x = Tensor(np.ones(50, "float32"), stop_gradient=False)
        y = F.dropout(x, 0.5)
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), y.numpy())

    def test_errors(self):
        with pytest.raises(AttributeValueError, match="probability"):
            F.dropout(Tensor(X), 1.5)
        with pytest.raises(AttributeValueError, match="upscale_in_train"):
            F.dropout(Tensor(X), 0.5, mode="other")


class TestConvolution:
    def naive(self, x, w, stride, padding, dilation, groups):
        n, _, h, wd = x.shape
        m, cg, kh, kw = w.shape
        x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        oh = (h + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
        ow = (wd + 2 * padding - dilation * (kw - 1) - 1) // stride + 1
        out = np.zeros((n, m, oh, ow))
        for b in range(n):
            for o in range(m):
                g = o // (m // groups)
                for i in range(oh):
                    for j in range(ow):
                        part = x[b, g * cg : (g + 1) * cg, i * stride : i * stride + dilation * (kh - 1) + 1 : dilation,
                                 j * stride : j * stride + dilation * (kw - 1) + 1 : dilation]  # fmt: skip
                        out[b, o, i, j] = (part * w[o]).sum()
        return out

    @pytest.mark.parametrize(
        ("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 2), (1, 1, 1, 4)]
    )
    def test_conv2d(self, stride, padding, dilation, groups):
        x, w = R.normal(size=(2, 4, 6, 5)), R.normal(size=(4, 4 // groups, 3, 3))
        b = R.normal(size=4)
        out = F.conv2d(Tensor(x), Tensor(w), Tensor(b), stride, padding, dilation, groups)
        expected = self.naive(x, w, stride, padding, dilation, groups) + b.reshape(1, 4, 1, 1)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-10)
        last = F.conv2d(
            Tensor(x.transpose(0, 2, 3, 1)), Tensor(w), Tensor(b), stride, padding, dilation, groups, "NHWC"
        )
        np.testing.assert_allclose(last.numpy(), expected.transpose(0, 2, 3, 1), rtol=1e-10)

    def test_gradients(self):
        check(lambda x, w, b: F.conv2d(x, w, b, 2, 1) ** 2, R.normal(size=(1, 2, 4, 4)), R.normal(size=(2, 2, 3, 3)),
              R.normal(size=2), double=True)  # fmt: skip

    def test_conv1d_and_transposed(self):
        x, w = R.normal(size=(2, 3, 7)), R.normal(size=(4, 3, 3))
        expected = self.naive(x[:, :, None], w[:, :, None], 1, 0, 1, 1)[:, :, 0]
        np.testing.assert_allclose(F.conv1d(Tensor(x), Tensor(w)).numpy(), expected, rtol=1e-10)
        y = F.conv2d_transpose(Tensor(R.normal(size=(1, 2, 3, 3))), Tensor(R.normal(size=(2, 4, 2, 2))), stride=2)
        assert y.shape == [1, 4, 6, 6]

    def test_paddings(self):
        x, w = paddle.zeros([1, 1, 5, 5]), paddle.zeros([1, 1, 3, 3])
        for padding, shape in (
            ("SAME", [5, 5]), ("valid", [3, 3]), ([1, 2], [5, 7]), ([1, 0, 2, 2], [4, 7]),
            ([[0, 0], [0, 0], [1, 1], [0, 0]], [5, 3]),
        ):  # fmt: skip
            assert F.conv2d(x, w, padding=padding).shape == [1, 1, *shape]
        with pytest.raises(AttributeValueError, match="SAME"):
            F.conv2d(x, w, padding="other")
        with pytest.raises(AttributeValueError, match="channels"):
            F.conv2d(x, w, padding=[[0, 0], [1, 0], [1, 1], [0, 0]])

    def test_errors(self):
        with pytest.raises(ShapeError):
            F.conv2d(paddle.zeros([1, 2, 5, 5]), paddle.zeros([1, 3, 3, 3]))
        with pytest.raises(ShapeError):
            F.conv2d(paddle.zeros([1, 1, 2, 2]), paddle.zeros([1, 1, 3, 3]))


class TestPooling:
    def test_against_numpy(self):
        x = R.normal(size=(2, 3, 4, 6)).astype("float32")
        blocks = x.reshape(2, 3, 2, 2, 3, 2)
        np.testing.assert_allclose(F.max_pool2d(Tensor(x), 2).numpy(), blocks.max((3, 5)))
        np.testing.assert_allclose(F.avg_pool2d(Tensor(x), 2, 2).numpy(), blocks.mean((3, 5)), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(
            F.adaptive_avg_pool2d(Tensor(x), [2, 3]).numpy(), blocks.mean((3, 5)), rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(F.adaptive_max_pool2d(Tensor(x), [2, None]).numpy().shape, (2, 3, 2, 6))
        np.testing.assert_allclose(F.max_pool1d(Tensor(x[0]), 2).numpy(), x[0].reshape(3, 4, 3, 2).max(3))
        np.testing.assert_allclose(
            F.adaptive_avg_pool1d(Tensor(x[0]), 2).numpy(), x[0].reshape(3, 4, 2, 3).mean(3), rtol=1e-5, atol=1e-6
        )

    def test_padding_and_divisors(self):
        x = paddle.ones([1, 1, 2, 2])
        assert F.avg_pool2d(x, 2, 2, 1).numpy().max() == 1
        assert F.avg_pool2d(x, 2, 2, 1, exclusive=False).numpy().max() == 0.25
        assert F.avg_pool2d(x, 2, divisor_override=2).item() == 2
        assert F.max_pool2d(paddle.ones([1, 1, 5, 5]), 2, 2, ceil_mode=True).shape == [1, 1, 3, 3]

    def test_gradients(self):
        x = R.permutation(36).reshape(1, 1, 6, 6) / 7.0
        check(lambda x: F.max_pool2d(x, 3, 2, 1) ** 2, x)
        check(lambda x: F.avg_pool2d(x, 3, 2, 1) ** 2, x, double=True)


class TestNorm:
    def test_batch_norm(self):
        x = R.normal(2, 3, size=(4, 3, 2, 2)).astype("float32")
        mean, var = paddle.zeros([3]), paddle.ones([3])
        w, b = Tensor([1.0, 2.0, 3.0]), Tensor([0.0, 1.0, 2.0])
        out = F.batch_norm(Tensor(x), mean, var, w, b, training=True, momentum=0.9)
        m, v = x.mean((0, 2, 3)), x.var((0, 2, 3))
        each = lambda a: np.asarray(a).reshape(1, 3, 1, 1)  # noqa: E731
        expected = (x - each(m)) / np.sqrt(each(v) + 1e-5) * each(w) + each(b)
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(mean.numpy(), 0.1 * m, rtol=1e-5)
        np.testing.assert_allclose(var.numpy(), 0.9 + 0.1 * v, rtol=1e-5)
        before = mean.numpy()
        out = F.batch_norm(Tensor(x), mean, var, w, b)
        np.testing.assert_allclose(
            out.numpy(), (x - each(mean)) / np.sqrt(each(var) + 1e-5) * each(w) + each(b), rtol=1e-4, atol=1e-5
        )
        np.testing.assert_array_equal(mean.numpy(), before)

    def test_batch_norm_gradients(self):
        def f(x, w, b):
            return F.batch_norm(x, paddle.zeros([2], "float64"), paddle.ones([2], "float64"), w, b, training=True) ** 2

        check(f, R.normal(size=(3, 2)), R.normal(size=2), R.normal(size=2), tolerance=1e-4)

    def test_layer_norm(self):
        x = R.normal(size=(2, 3, 4)).astype("float32")
        out = F.layer_norm(Tensor(x), [3, 4], Tensor(np.full((3, 4), 2.0, "float32")))
        expected = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5) * 2
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-5)
        with pytest.raises(ShapeError, match="last sizes"):
            F.layer_norm(Tensor(x), [4, 3])

    def test_group_and_instance_norm(self):
        x = R.normal(size=(2, 4, 3, 3)).astype("float32")
        g = x.reshape(2, 2, -1)
        expected = ((g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5)).reshape(x.shape)
        np.testing.assert_allclose(F.group_norm(Tensor(x), 2).numpy(), expected, rtol=1e-4, atol=1e-5)
        expected = (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)
        np.testing.assert_allclose(F.instance_norm(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)

    def test_local_response_norm(self):
        x = R.normal(size=(1, 5, 2, 2)).astype("float32")
        out = F.local_response_norm(Tensor(x), 3)
        squares = np.pad(x * x, ((0, 0), (1, 1), (0, 0), (0, 0)))
        means = (squares[:, :-2] + squares[:, 1:-1] + squares[:, 2:]) / 3
        np.testing.assert_allclose(out.numpy(), x / (1 + 1e-4 * means) ** 0.75, rtol=1e-5)


class TestLosses:
    LOGITS = R.normal(size=(4, 3)).astype("float32")
    LABELS = np.array([0, 2, 1, 2])

    def expected(self, weight=None, ignore=None):
        losses = -np.log(numpy_softmax(self.LOGITS))[np.arange(4), self.LABELS]
        factor = np.ones(4) if weight is None else weight[self.LABELS]
        if ignore is not None:
            factor = factor * (ignore != self.LABELS)
        return losses * factor, factor

    def test_cross_entropy(self):
        losses, _ = self.expected()
        x, y = Tensor(self.LOGITS), Tensor(self.LABELS)
        np.testing.assert_allclose(F.cross_entropy(x, y).item(), losses.mean(), rtol=1e-5)
        np.testing.assert_allclose(F.cross_entropy(x, y, reduction="sum").item(), losses.sum(), rtol=1e-5)
        np.testing.assert_allclose(F.cross_entropy(x, y, reduction="none").numpy(), losses, rtol=1e-5)
        assert F.cross_entropy(x, y.unsqueeze(1), reduction="none").shape == [4, 1]

    def test_weights_and_ignored_labels(self):
        w = np.array([0.5, 1.0, 2.0], "float32")
        for weight, ignore in ((w, None), (None, 2), (w, 2)):
            losses, factor = self.expected(weight, ignore)
            kwargs = {} if ignore is None else {"ignore_index": ignore}
            found = F.cross_entropy(
                Tensor(self.LOGITS), Tensor(self.LABELS), None if weight is None else Tensor(w), **kwargs
            )
            np.testing.assert_allclose(found.item(), losses.sum() / factor.sum(), rtol=1e-5)
        all_ignored = F.cross_entropy(Tensor(self.LOGITS), Tensor([-100] * 4))
        assert all_ignored.item() == 0

    def test_soft_labels_and_smoothing(self):
        soft = numpy_softmax(R.normal(size=(4, 3))).astype("float32")
        logs = np.log(numpy_softmax(self.LOGITS))
        found = F.cross_entropy(Tensor(self.LOGITS), Tensor(soft), soft_label=True)
        np.testing.assert_allclose(found.item(), -(soft * logs).sum(1).mean(), rtol=1e-5)
        smooth = np.eye(3)[self.LABELS] * 0.9 + 0.1 / 3
        found = F.cross_entropy(Tensor(self.LOGITS), Tensor(self.LABELS), label_smoothing=0.1)
        np.testing.assert_allclose(found.item(), -(smooth * logs).sum(1).mean(), rtol=1e-5)

    def test_images(self):
        x = R.normal(size=(2, 3, 2, 2)).astype("float32")
        y = R.integers(0, 3, (2, 2, 2))
        expected = -np.log(numpy_softmax(x, 1))[np.arange(2)[:, None, None], y, np.arange(2)[:, None], np.arange(2)]
        np.testing.assert_allclose(F.cross_entropy(Tensor(x), Tensor(y), axis=1).item(), expected.mean(), rtol=1e-5)

    def test_a_label_out_of_range_is_an_error(self):
        with pytest.raises(OutOfRangeError):
            F.cross_entropy(Tensor(self.LOGITS), Tensor([0, 1, 2, 3]))
        with pytest.raises(ShapeError):
            F.cross_entropy(Tensor(self.LOGITS), Tensor([[[0]]]))

    def test_nll(self):
        losses, _ = self.expected()
        x = F.log_softmax(Tensor(self.LOGITS))
        np.testing.assert_allclose(F.nll_loss(x, Tensor(self.LABELS)).item(), losses.mean(), rtol=1e-5)

    def test_binary(self):
        p, y = R.uniform(0.05, 0.95, 6).astype("float32"), np.array([0, 1, 1, 0, 1, 0], "float32")
        expected = -(y * np.log(p) + (1 - y) * np.log(1 - p))
        np.testing.assert_allclose(
            F.binary_cross_entropy(Tensor(p), Tensor(y), reduction="none").numpy(), expected, rtol=1e-5
        )
        logits = np.log(p / (1 - p))
        found = F.binary_cross_entropy_with_logits(Tensor(logits), Tensor(y), reduction="none")
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)
        found = F.binary_cross_entropy_with_logits(
            Tensor(logits), Tensor(y), pos_weight=Tensor([2.0]), reduction="none"
        )
        np.testing.assert_allclose(found.numpy(), np.where(y == 1, 2, 1) * expected, rtol=1e-4)
        assert np.isfinite(F.binary_cross_entropy_with_logits(Tensor([1000.0, -1000.0]), Tensor([0.0, 1.0])).item())
        assert np.isfinite(F.binary_cross_entropy(Tensor([0.0, 1.0]), Tensor([1.0, 0.0])).item())

    def test_regression(self):
        a, b = Tensor([0.0, 3.0]), Tensor([0.5, 0.0])
        np.testing.assert_allclose(F.mse_loss(a, b, "none").numpy(), [0.25, 9])
        np.testing.assert_allclose(F.l1_loss(a, b).item(), 1.75)
        np.testing.assert_allclose(F.smooth_l1_loss(a, b, "none").numpy(), [0.125, 2.5])
        np.testing.assert_allclose(
            F.kl_div(Tensor([math.log(0.5)]), Tensor([0.25])).item(), 0.25 * math.log(0.5), rtol=1e-6
        )
        np.testing.assert_allclose(F.margin_ranking_loss(a, b, Tensor([1.0, -1.0]), 0.5).item(), (1.0 + 3.5) / 2)
        with pytest.raises(AttributeValueError, match="'mean', 'sum' or 'none'"):
            F.mse_loss(a, b, "average")

    def test_gradients(self):
        y = Tensor(self.LABELS)
        check(lambda x: F.cross_entropy(x, y, ignore_index=1), self.LOGITS, double=True)
        check(
            lambda x: F.cross_entropy(x, Tensor(numpy_softmax(self.LOGITS.astype("float64"))), soft_label=True),
            self.LOGITS,
        )
        check(lambda x: F.binary_cross_entropy_with_logits(x, Tensor(np.eye(4, 3))), self.LOGITS, double=True)
        check(lambda x: F.smooth_l1_loss(x, Tensor(np.zeros((4, 3)))), self.LOGITS)
        check(lambda x: F.binary_cross_entropy(F.sigmoid(x), Tensor(np.eye(4, 3))), self.LOGITS)


class TestOther:
    def test_embedding(self):
        w = Tensor(np.arange(6.0, dtype="float32").reshape(3, 2), stop_gradient=False)
        out = F.embedding(Tensor([[0, 2], [2, 1]]), w, padding_idx=-1)
        assert out.numpy().tolist() == [[[0, 1], [0, 0]], [[0, 0], [2, 3]]]
        out.sum().backward()
        assert w.grad.tolist() == [[1, 1], [1, 1], [0, 0]]
        with pytest.raises(OutOfRangeError):
            F.embedding(Tensor([3]), w)
        with pytest.raises(AttributeValueError, match="padding_idx"):
            F.embedding(Tensor([0]), w, padding_idx=3)

    def test_weights_that_are_no_tensors(self):
        x = Tensor([[1.0, 2.0, 3.0]])
        assert F.embedding(Tensor([1]), [[1.0, 2.0], [3.0, 4.0]]).tolist() == [[3, 4]]
        normed = F.layer_norm(x, 3).numpy()
        np.testing.assert_allclose(F.layer_norm(x, 3, [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]).numpy(), 2 * normed + 1, rtol=1e-6)
        label = Tensor([1])
        for f in (lambda: F.embedding(label, 1), lambda: F.cross_entropy(x, label, 0.5), lambda: F.nll_loss(x, label, 0.5),
                  lambda: F.layer_norm(x, 3, 1)):  # fmt: skip
            with pytest.raises(ShapeError):
                f()

    def test_one_number_for_all_sides(self):
        x = Tensor(np.arange(6.0, dtype="float32").reshape(1, 1, 2, 3))
        static = paddle.jit.to_static(lambda x, n: F.pad(x, n))
        for n in (0, 1, 2):
            expected = np.pad(x.numpy(), ((0, 0), (0, 0), (n, n), (n, n)))
            for found in (F.pad(x, n), F.zeropad2d(x, Tensor(n)), static(x, Tensor(n))):
                np.testing.assert_array_equal(found.numpy(), expected)
        assert F.pad(x, 1, "reflect").shape == [1, 1, 4, 5]
        with pytest.raises(AttributeValueError, match="with 2 dims has none"):
            F.pad(x[0, 0], 1)
        with pytest.raises(DTypeError, match="must be numbers, got 'a'"):
            F.pad(x, "a")

    def test_padding(self):
        x = np.arange(6.0, dtype="float32").reshape(1, 1, 2, 3)
        for mode, numpy_mode in (
            ("constant", "constant"),
            ("replicate", "edge"),
            ("circular", "wrap"),
            ("reflect", "reflect"),
        ):
            expected = np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1)), mode=numpy_mode)
            np.testing.assert_array_equal(F.pad(Tensor(x), [2, 1, 1, 0], mode).numpy(), expected)
        last = F.pad(Tensor(x.transpose(0, 2, 3, 1)), [2, 1, 1, 0], data_format="NHWC")
        assert last.shape == [1, 3, 6, 1]
        assert F.pad(Tensor(x), [0, 0, 1, 1, 0, 0, 0, 0]).shape == [1, 3, 2, 3]
        with pytest.raises(AttributeValueError, match="does not fit"):
            F.pad(Tensor(x), [1, 2, 3])
        with pytest.raises(AttributeValueError, match="mode"):
            F.pad(Tensor(x), [1, 1, 1, 1], "other")
        with pytest.raises(AttributeValueError, match="reflect"):
            F.pad(Tensor(x), [3, 0, 0, 0], "reflect")

    def test_interpolate(self):
        x = Tensor(np.arange(4.0, dtype="float32").reshape(1, 1, 2, 2))
        assert F.interpolate(x, [4, 4]).numpy()[0, 0].tolist() == [[0, 0, 1, 1]] * 2 + [[2, 2, 3, 3]] * 2
        assert F.interpolate(x, scale_factor=2, mode="bilinear").numpy()[0, 0, 0].tolist() == [0, 0.25, 0.75, 1]
        aligned = F.interpolate(x, [3, 3], mode="bilinear", align_corners=True)
        assert aligned.numpy()[0, 0].tolist() == [[0, 0.5, 1], [1, 1.5, 2], [2, 2.5, 3]]
        assert F.interpolate(x, [1, 1], mode="area").item() == 1.5
        assert F.interpolate(x, scale_factor=[2, 1]).shape == [1, 1, 4, 2]
        with pytest.raises(AttributeValueError, match="either"):
            F.interpolate(x)
        with pytest.raises(AttributeValueError, match="cubic"):
            F.interpolate(x, [4, 4], mode="cubic")
        check(lambda x: F.interpolate(x, [3, 5], mode="bilinear") ** 2, R.normal(size=(1, 1, 2, 2)))

    def test_similarities(self):
        a, b = R.normal(size=(2, 3)).astype("float32"), R.normal(size=(2, 3)).astype("float32")
        cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        np.testing.assert_allclose(F.cosine_similarity(Tensor(a), Tensor(b)).numpy(), cosine, rtol=1e-5)
        np.testing.assert_allclose(
            F.normalize(Tensor(a)).numpy(), a / np.linalg.norm(a, axis=1, keepdims=True), rtol=1e-5
        )
        w = R.normal(size=(4, 3, 3)).astype("float32")
        np.testing.assert_allclose(
            F.bilinear(Tensor(a), Tensor(b), Tensor(w)).numpy(), np.einsum("ni,oij,nj->no", a, w, b), rtol=1e-4
        )

    def test_rearrangements(self):
        assert F.sequence_mask(Tensor([1, 3]), 3).tolist() == [[1, 0, 0], [1, 1, 1]]
        x = np.arange(8).reshape(1, 4, 1, 2)
        assert F.pixel_shuffle(Tensor(x), 2).numpy()[0, 0].tolist() == [[0, 2, 1, 3], [4, 6, 5, 7]]
        with pytest.raises(ShapeError, match="multiple"):
            F.pixel_shuffle(paddle.zeros([1, 3, 1, 1]), 2)
        assert F.one_hot(Tensor([1]), 3).tolist() == [[0, 1, 0]]
        with pytest.raises(OutOfRangeError):
            F.one_hot(Tensor([3]), 3)
