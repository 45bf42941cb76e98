"""Losses with margins, of distributions, and of sequences; activations that draw."""

import itertools
import math

import numpy as np
import pytest
from agreement import Of, agree, normal

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import Tensor, nn
from dy2st.autograd import grad
from dy2st.errors import AttributeValueError, OutOfRangeError, ShapeError

A, B, C = normal(4, 5), normal(4, 5, seed=1), normal(4, 5, seed=2)
SIGNS = np.sign(B)


def relu(x):
    return np.maximum(x, 0)


def distance(a, b):
    return np.sqrt(((a - b + 1e-6) ** 2).sum(-1))


def cosines():
    label = np.array([1, -1, 1, -1])
    cos = (A * B).sum(-1) / np.linalg.norm(A, axis=-1) / np.linalg.norm(B, axis=-1)
    return [A, B, label], np.where(label == 1, 1 - cos, relu(cos - 0.1))


def triplets():
    return [A, B, C], relu(distance(A, B) - np.minimum(distance(A, C), distance(B, C)) + 0.5)


def poisson(log_input):
    label = np.random.default_rng(3).poisson(2, (4, 5)).astype(np.float32)
    rate = np.exp(A) if log_input else np.abs(A) + 1e-8
    stirling = np.where(label > 1, label * np.log(np.maximum(label, 1)) - label + np.log(2 * math.pi * np.maximum(label, 1)) / 2, 0)
    return [A if log_input else np.abs(A), label], rate - label * np.log(rate) + stirling


def cross_entropies():
    p, y = 1 / (1 + np.exp(-A.astype(np.float64))), (B > 0).astype(np.float32)
    return [A, y], -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(-1)


CASES = [
    (lambda r: nn.CosineEmbeddingLoss(0.1, r), *cosines()),
    (lambda r: nn.TripletMarginLoss(0.5, swap=True, reduction=r), *triplets()),
    (lambda r: nn.HingeEmbeddingLoss(0.5, r), [A, SIGNS], np.where(SIGNS == 1, A, relu(0.5 - A))),
    (lambda r: nn.SoftMarginLoss(r), [A, SIGNS], np.log(1 + np.exp(-SIGNS * A))),
    (lambda r: nn.MultiLabelSoftMarginLoss(reduction=r), *cross_entropies()),
    (lambda r: nn.PoissonNLLLoss(full=True, reduction=r), *poisson(True)),
    (lambda r: nn.PoissonNLLLoss(False, True, reduction=r), *poisson(False)),
    (lambda r: nn.GaussianNLLLoss(True, reduction=r), [A, B, np.abs(C)],
     (np.log(np.abs(C)) + (A - B) ** 2 / np.abs(C) + np.log(2 * math.pi)) / 2),
]  # fmt: skip


@pytest.mark.parametrize(("make", "arrays", "expected"), CASES)
def test_losses(make, arrays, expected):
    for reduction, value in (("none", expected), ("sum", expected.sum()), ("mean", expected.mean())):
        np.testing.assert_allclose(make(reduction)(*map(Tensor, arrays)).numpy(), value, rtol=1e-4, atol=1e-5)
    agree(make("none"), [arrays, [a[:2] for a in arrays]])


def test_dice_loss():
    p, label = np.abs(A) / np.abs(A).sum(-1, keepdims=True), np.array([[0], [3], [4], [1]])
    chosen = p[np.arange(4), label[:, 0]]
    np.testing.assert_allclose(F.dice_loss(Tensor(p), Tensor(label)).numpy(), np.mean(1 - 2 * chosen / (2 + 1e-5)), rtol=1e-5)
    agree(Of(F.dice_loss), [(p, label)], spec=[[None, 5], [None, 1]])


def test_a_distance_of_the_user():
    def manhattan(a, b):
        return (a - b).abs().sum(-1)

    found = F.triplet_margin_with_distance_loss(*map(Tensor, (A, B, C)), manhattan, 0.3, reduction="none").numpy()
    np.testing.assert_allclose(found, relu(np.abs(A - B).sum(-1) - np.abs(A - C).sum(-1) + 0.3), rtol=1e-5, atol=1e-6)


def probability(p, label):
    """Of reading a label from outputs [time, classes]: the sum over all paths."""
    total = 0.0
    for path in itertools.product(range(p.shape[1]), repeat=len(p)):
        if [c for c, _ in itertools.groupby(path) if c != 0] == list(label):
            total += math.prod(p[t, c] for t, c in enumerate(path))
    return total


def test_ctc():
    logits = normal(5, 4, 3)
    labels, lengths, counts = np.array([[1, 2], [1, 1], [2, 0], [0, 0]]), np.array([5, 4, 3, 2]), np.array([2, 2, 1, 0])
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected = [-math.log(probability(p[:t, n], labels[n, :k])) for n, (t, k) in enumerate(zip(lengths, counts, strict=True))]
    found = F.ctc_loss(*map(Tensor, (logits, labels, lengths, counts)), reduction="none").numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    total = nn.CTCLoss(reduction="sum")(*map(Tensor, (logits, labels, lengths, counts))).item()
    np.testing.assert_allclose(total, sum(expected), rtol=1e-5)
    mean = F.ctc_loss(*map(Tensor, (logits[:, :3], labels[:3], lengths[:3], counts[:3]))).item()
    np.testing.assert_allclose(mean, np.mean(np.array(expected[:3]) / counts[:3]), rtol=1e-5)


def test_ctc_static():
    calls = [(normal(t, 2, 4), np.array([[1, 2, 2], [3, 0, 0]]), np.array([t, t - 1]), np.array([3, 1])) for t in (6, 9)]
    agree(nn.CTCLoss(), calls)


def test_ctc_of_the_impossible_has_gradients_that_are_numbers():
    x = Tensor(normal(1, 1, 3), stop_gradient=False)
    loss = F.ctc_loss(x, Tensor([[1, 2]]), Tensor([1]), Tensor([2]))
    assert loss.item() > 1e20
    loss.backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_ctc_of_what_is_behind_the_lengths_counts_nothing():
    logits, counts, lengths = normal(5, 2, 4), Tensor([2, 1]), Tensor([5, 3])
    first, second = (Tensor(logits, stop_gradient=False) for _ in range(2))
    a = F.ctc_loss(first, Tensor([[1, 2], [3, 0]]), lengths, counts)
    b = F.ctc_loss(second, Tensor([[1, 2], [3, -1]]), lengths, counts)
    assert a.item() == b.item()
    a.backward()
    assert not first.grad.numpy()[3:, 1].any()
    with pytest.raises(OutOfRangeError, match="label 4 is out of range for 4 classes"):
        F.ctc_loss(first, Tensor([[1, 4], [3, 0]]), lengths, counts)


def test_ctc_has_gradients_of_gradients_and_float16():
    given = Tensor([[1, 2], [3, 3]]), Tensor([3, 3]), Tensor([2, 1])
    x = Tensor(normal(3, 2, 4), stop_gradient=False)
    (dx,) = grad(F.ctc_loss(x, *given), x, create_graph=True)
    (ddx,) = grad((dx**2).sum(), x)
    moved = 1e-2 * normal(3, 2, 4)
    slopes = [(grad(F.ctc_loss(y, *given), y)[0] ** 2).sum().item()
              for y in (Tensor(x.numpy() + s * moved, stop_gradient=False) for s in (1, -1))]  # fmt: skip
    np.testing.assert_allclose((ddx.numpy() * moved).sum(), (slopes[0] - slopes[1]) / 2, rtol=1e-2, atol=1e-5)
    assert F.ctc_loss(x.astype("float16"), *given).dtype == "float16"


def test_rrelu():
    x = normal(50, 50)
    layer = nn.RReLU(0.1, 0.3)
    y = layer(Tensor(x)).numpy()
    np.testing.assert_array_equal(y[x > 0], x[x > 0])
    slopes = y[x < 0] / x[x < 0]
    assert 0.1 <= slopes.min() < 0.12
    assert 0.28 < slopes.max() <= 0.3001
    agree(layer, [(x[:2],), (x[:3],)])
    layer.eval()
    np.testing.assert_allclose(layer(Tensor(x)).numpy(), np.where(x > 0, x, x * 0.2), rtol=1e-6)


def test_gumbel_softmax():
    paddle.seed(0)
    logits = np.log(np.array([0.1, 0.2, 0.7], np.float32))
    hard = F.gumbel_softmax(Tensor(np.tile(logits, (4000, 1))), hard=True).numpy()
    np.testing.assert_array_equal(np.sort(hard, -1), np.tile([0.0, 0.0, 1.0], (4000, 1)))
    np.testing.assert_allclose(hard.mean(0), [0.1, 0.2, 0.7], atol=0.03)
    soft = F.gumbel_softmax(Tensor(np.tile(logits, (5, 1))), temperature=0.5).numpy()
    np.testing.assert_allclose(soft.sum(-1), 1, rtol=1e-5)
    for options in ({"hard": True, "axis": 0}, {"temperature": 2.0}):
        agree(Of(lambda x, o=options: F.gumbel_softmax(x, **o)), [(normal(3, 4),), (normal(2, 4),)])


def test_alpha_dropout():
    paddle.seed(0)
    layer = nn.AlphaDropout(0.3)
    x = normal(300, 300)
    y = layer(Tensor(x)).numpy()
    assert abs(y.mean()) < 0.02
    assert abs(y.std() - 1) < 0.02
    agree(layer, [(x[:2, :3],), (x[:4, :5],)])
    layer.eval()
    np.testing.assert_array_equal(layer(Tensor(x)).numpy(), x)
    assert not F.alpha_dropout(Tensor(x), 1.0).numpy().any()


def test_softmax_2d_and_in_place():
    x = normal(2, 3, 4, 5)
    np.testing.assert_allclose(nn.Softmax2D()(Tensor(x)).numpy().sum(1), 1, rtol=1e-5)

    def changed(x):
        y = x * 2
        F.tanh_(y)
        F.elu_(y, 0.5)
        return F.softmax_(y)

    y = np.tanh(A * 2)
    y = np.exp(np.where(y > 0, y, 0.5 * np.expm1(y)))
    np.testing.assert_allclose(changed(Tensor(A)).numpy(), y / y.sum(-1, keepdims=True), rtol=1e-5)
    agree(Of(changed), [(A,)])


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: F.cosine_embedding_loss(Tensor(A), Tensor(B), Tensor(A)), ShapeError, "labels"),
    (lambda: F.triplet_margin_loss(Tensor(A), Tensor(B), Tensor(C), margin=0.0), AttributeValueError, "positive"),
    (lambda: nn.SoftMarginLoss("max"), AttributeValueError, "unknown"),
    (lambda: F.ctc_loss(Tensor(A), Tensor([[1]]), Tensor([1]), Tensor([1])), ShapeError, "2 and 2 dims"),
    (lambda: F.ctc_loss(Tensor(normal(1, 1, 2)), Tensor([[1]]), Tensor([1]), Tensor([1]), norm_by_times=True),
     AttributeValueError, "norm_by_times"),
    (lambda: F.ctc_loss(Tensor(normal(1, 1, 2)), Tensor([[1]]), Tensor([1]), Tensor([1]), reduction="max"),
     AttributeValueError, "'max'"),
    (lambda: F.rrelu(Tensor(A), 0.5, 0.1), AttributeValueError, "slopes"),
    (lambda: F.alpha_dropout(Tensor(A), 1.5), AttributeValueError, "0 ... 1"),
    (lambda: nn.Softmax2D()(Tensor(A)), ShapeError, "3 or 4"),
])  # fmt: skip
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_distance_of_the_user_with_a_branch():
    class Loss(nn.Layer):
        def forward(self, x, near, far):
            def distance(a, b):
                d = (a - b).abs().sum(-1)
                if d.max() > 3:
                    d = d * 2
                return d

            return F.triplet_margin_with_distance_loss(x, near, far, distance, swap=True)

    x = normal(4, 3)
    agree(Loss(), [(x * s, x * 0.5, x[:1] * 0.1) for s in (0.1, -3.0)])
