"""`PyLayer`: what its backward gets, and what of it can be static."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st import jit, nn
from dy2st.autograd import PyLayer
from dy2st.errors import EagerStatementWarning, GradientError, StagedValueError
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor


class TanhOfBoth(PyLayer):
    @staticmethod
    def forward(ctx, x, y, function):
        a, b = function(x), function(y)
        ctx.save_for_backward(a, b)
        return 1, None, a, b, ""

    @staticmethod
    def backward(ctx, da, db):
        a, b = ctx.saved_tensor()
        return da * (1 - a * a), db * (1 - b * b)


class HalvedUntilSmall(PyLayer):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.steps = 0
        while x.abs().sum() > limit:
            x = x / 2
            ctx.steps += 1
        return x

    @staticmethod
    def backward(ctx, dy):
        return dy * 2


def leaf(values):
    return Tensor(values, stop_gradient=False)


def test_backward_gets_the_gradients_of_the_tensors_among_the_results():
    for used, expected in (((2, 3), (True, True)), ((2,), (True, False))):
        x, y = leaf([0.5, -1.0]), leaf([2.0, 0.0])
        results = TanhOfBoth.apply(x, y, function=paddle.tanh)
        assert results[:2] + results[4:] == (1, None, "")
        sum(results[i].sum() for i in used).backward()
        for t, wanted in zip((x, y), expected, strict=True):
            np.testing.assert_allclose(t.grad.numpy(), (1 - np.tanh(t.numpy()) ** 2) * wanted, rtol=1e-6)


def test_results_without_a_gradient():
    seen = []

    class Split(PyLayer):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.mark_not_inplace(x)
            ctx.set_materialize_grads(materialize)
            found = x * 1, (x > 0).astype("int64"), x * 2, x * 3
            ctx.mark_non_differentiable(found[2])
            return found

        @staticmethod
        def backward(ctx, *grads):
            seen.append([None if g is None else (g.dtype, g.numpy().tolist()) for g in grads])
            return grads[0]

    for materialize in (True, False):
        results = Split.apply(leaf([1.0, -1.0]), materialize)
        assert [r.stop_gradient for r in results] == [False, True, True, False]
        results[0].sum().backward()
    ones, zeros = ("float32", [1.0, 1.0]), ("float32", [0.0, 0.0])
    assert seen == [[ones, ("int64", [0, 0]), zeros, zeros], [ones, None, None, None]]


def halved(x):
    with paddle.no_grad():
        return HalvedUntilSmall.apply(x, 1.0) * 3


def test_forward_is_traced_as_any_code_where_no_gradient_is_wanted():
    static = jit.to_static(halved)
    for values in ([8.0, 1.0], [0.25, 0.5]):
        np.testing.assert_array_equal(static(Tensor(values)).numpy(), halved(Tensor(values)).numpy())
    assert len(static.concrete_programs) == 1


def scaled_and_halved(x):
    y = x * 2
    z = HalvedUntilSmall.apply(y, 1.0)
    return z * 3


def test_the_statement_runs_eagerly_where_a_gradient_is_wanted():
    with pytest.raises(StagedValueError, match=r"HalvedUntilSmall\.backward is Python code") as caught:
        jit.to_static(scaled_and_halved)(leaf([8.0, 1.0]))
    assert caught.value.location.text.strip().startswith("z = ")
    mixed = jit.to_static(scaled_and_halved, full_graph=False)
    with pytest.warns(EagerStatementWarning, match="HalvedUntilSmall"):
        found = mixed(x := leaf([8.0, 1.0]))
    expected = scaled_and_halved(y := leaf([8.0, 1.0]))
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
    found.sum().backward()
    expected.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.grad.numpy())


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 2)

    def forward(self, x):
        return HalvedUntilSmall.apply(self.body(x), 1.0) + 1


def test_a_model_with_one_is_saved_without_gradients(tmp_path):
    net, x = Net(), Tensor(np.ones([2, 3], np.float32) * 5)
    with pytest.warns(UserWarning, match=r"Net\.forward is saved without gradients: HalvedUntilSmall\.backward is Python code"):
        jit.save(net, tmp_path / "net", [InputSpec([None, 3])])
    loaded = jit.load(tmp_path / "net")
    np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-6)
    with pytest.raises(GradientError, match="stop_gradient=True"):
        loaded(x).sum().backward()
