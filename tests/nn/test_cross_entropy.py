"""Cross entropy against its formula in NumPy, for all mixtures of its arguments."""

import itertools

import numpy as np
import pytest

import dy2st.nn.functional as F
from dy2st import Tensor, nn
from dy2st.errors import AttributeValueError, OutOfRangeError, ShapeError

R = np.random.default_rng(0)


def log_softmax(z, axis):
    z = z - z.max(axis, keepdims=True)
    return z - np.log(np.exp(z).sum(axis, keepdims=True))


def expected(z, label, weight, ignore, smoothing, axis, reduction):
    classes = z.shape[axis]
    valid = label != ignore
    hot = np.moveaxis(np.eye(classes)[np.where(valid, label, 0)], -1, axis) * (1 - smoothing) + smoothing / classes
    shape = [classes if i == axis else 1 for i in range(z.ndim)]
    factor = (hot * np.reshape(np.ones(classes) if weight is None else weight, shape)).sum(axis) * valid
    loss = -(hot * log_softmax(z, axis)).sum(axis) * factor
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / factor.sum()}[reduction]


@pytest.mark.parametrize(("shape", "axis"), [((5, 4), 1), ((3, 4, 2), 1), ((2, 3, 4), -1)])
def test_hard_labels(shape, axis):
    axis_number = axis % len(shape)
    sizes = [d for i, d in enumerate(shape) if i != axis_number]
    for weighted, smoothing, reduction in itertools.product([False, True], [0.0, 0.2], ["mean", "sum", "none"]):
        z, label = R.normal(size=shape), R.integers(0, 4, sizes)
        label[0] = 9
        weight = R.uniform(0.5, 2, 4) if weighted else None
        want = expected(z, label, weight, 9, smoothing, axis_number, reduction)
        loss = nn.CrossEntropyLoss(
            None if weight is None else Tensor(weight), 9, reduction, axis=axis, label_smoothing=smoothing
        )
        np.testing.assert_allclose(loss(Tensor(z), Tensor(label)).numpy(), want, rtol=1e-9)


def test_ignored_samples_get_no_gradient_with_smoothing():
    z = Tensor(R.normal(size=(2, 3)), stop_gradient=False)
    F.cross_entropy(z, Tensor([1, -100]), label_smoothing=0.1).backward()
    assert (z.grad.numpy()[1] == 0).all()
    assert (z.grad.numpy()[0] != 0).all()


def test_a_label_out_of_range_with_smoothing():
    with pytest.raises(OutOfRangeError, match="label 7"):
        F.cross_entropy(Tensor([[1.0, 2.0]]), Tensor([7]), label_smoothing=0.1)


@pytest.mark.parametrize("size", [1, 3])
def test_the_weight_has_one_entry_for_each_class(size):
    with pytest.raises(ShapeError, match=rf"must have shape \[2\], one for each class, got \[{size}\]"):
        F.cross_entropy(Tensor([[1.0, 2.0]]), Tensor([0]), weight=Tensor([1.0] * size))


def test_reductions():
    with pytest.raises(AttributeValueError, match="batchmean"):
        nn.CrossEntropyLoss(reduction="batchmean")
    nn.KLDivLoss("batchmean")
