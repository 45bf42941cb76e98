"""Loaded models that are called in loops and branches of the run."""

import warnings

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st as paddle
from dy2st import jit, nn
from dy2st.errors import GradientError
from dy2st.jit import InputSpec

X = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)


class WithLoop(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        k = 0
        while x.abs().sum() < 5.0 and k < 3:
            x = self.fc(x) + 1.0
            k += 1
        return x


class Draws(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x) + paddle.rand([2])


class InALoop(nn.Layer):
    def __init__(self, sub):
        super().__init__()
        self.sub = sub

    def forward(self, x, n):
        for _ in range(n):
            x = self.sub(x)
        return x


class InABranch(nn.Layer):
    def __init__(self, sub):
        super().__init__()
        self.sub = sub

    def forward(self, x, n):
        if n > 1:
            x = self.sub(x)
        return self.sub(x)


KINDS = {
    "linear": lambda: nn.Linear(2, 2),
    "relu": nn.ReLU,
    "loop": WithLoop,
    "draws": Draws,
    "dropout": lambda: nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)),
    "normalization": lambda: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2)),
}


@pytest.fixture
def loaded(tmp_path):
    def load(kind, stop_gradient=True, mode="train"):
        layer = KINDS[kind]()
        getattr(layer, mode)()
        jit.save(layer, tmp_path / "part", [InputSpec([None, 2], "float32", "x", stop_gradient=stop_gradient)])
        return jit.load(tmp_path / "part")

    return load


def values(net, n):
    """The result for a number of iterations, and the gradients."""
    paddle.seed(3)
    out = net(paddle.to_tensor(X), paddle.to_tensor(n))
    if not out.stop_gradient:
        out.sum().backward()
    found = [out.numpy(), *(p.grad.numpy() for p in net.parameters() if p.grad is not None)]
    for p in net.parameters():
        p.clear_grad()
    return found


@pytest.mark.parametrize("outer", [InALoop, InABranch])
@pytest.mark.parametrize("kind", KINDS)
def test_static_is_as_eager(loaded, kind, outer):
    sub = loaded(kind, stop_gradient=False)
    eager, static = outer(sub), jit.to_static(outer(sub))
    for n in (2, 1, 3):
        want, got = values(eager, n), values(static, n)
        assert len(want) == len(got)
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("outer", [InALoop, InABranch])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_saved_again(loaded, kind, outer, tmp_path):
    sub = loaded(kind, mode="eval")
    net = outer(sub)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*saved without gradients")
        jit.save(net, tmp_path / "net", [InputSpec([None, 2], "float32", "x"), InputSpec([], "int64", "n")])
    predictor = Predictor(tmp_path / "net", seed=3)
    paddle.seed(3)
    with paddle.no_grad():
        want = net(paddle.to_tensor(X), paddle.to_tensor(2)).numpy()
    np.testing.assert_allclose(predictor.run([X, np.int64(2)])[0], want, rtol=1e-5, atol=1e-6)


def test_gradients_that_the_file_does_not_have_are_an_error(loaded, tmp_path):
    sub = loaded("linear")
    net = InALoop(sub)
    x, n = paddle.to_tensor(X), paddle.to_tensor(2)
    for model in (net, jit.to_static(InALoop(sub))):
        with pytest.raises(GradientError, match="saved without gradients of its inputs"):
            model(x, n)
        with paddle.no_grad():
            assert model(x, n).shape == [2, 2]
    with pytest.warns(UserWarning, match=r"forward is saved without gradients: input 'x' of the loaded model"):
        jit.save(net, tmp_path / "net", [InputSpec([None, 2], "float32", "x"), InputSpec([], "int64", "n")])
