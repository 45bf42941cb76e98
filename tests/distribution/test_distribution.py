"""Normal and categorical distributions: values of PaddlePaddle 3.3.1, eager and static alike."""

import numpy as np
import pytest

import dy2st as paddle
from dy2st.distribution import Categorical, Normal, kl_divergence
from dy2st.errors import DTypeError

W = paddle.to_tensor([0.2, 0.3, 0.5])
ROWS = paddle.to_tensor([[0.2, 0.3], [1.0, 3.0]])


@pytest.mark.parametrize(("function", "expected"), [
    (lambda: Normal(0.5, [1.0, 2.0]).log_prob(paddle.to_tensor([0.0, 1.0])), [-1.0439385, -1.6433357]),
    (lambda: Normal(0.5, [1.0, 2.0]).probs(paddle.to_tensor(0.0)), [0.35206532, 0.19333406]),
    (lambda: Normal(0.5, [1.0, 2.0]).entropy(), [1.4189385, 2.1120858]),
    (lambda: kl_divergence(Normal(0.5, [1.0, 2.0]), Normal(1.0, 1.0)), [0.125, 0.9318528]),
    (lambda: Normal(0.5, [1.0, 2.0]).mean, [0.5, 0.5]),
    (lambda: Normal(0.5, [1.0, 2.0]).variance, [1, 4]),
    (lambda: Categorical(W).probs(paddle.to_tensor([0, 2])), [0.2, 0.5]),
    (lambda: Categorical(W).log_prob(paddle.to_tensor([0, 2])), [-1.609438, -0.6931472]),
    (lambda: Categorical(W).entropy(), 1.0906355),
    (lambda: kl_divergence(Categorical(W), Categorical(paddle.to_tensor([1.0, 2.0, 3.0]))), [0.21570963]),
    (lambda: Categorical(ROWS).probs(paddle.to_tensor([0, 1])), [[0.4, 0.6], [0.25, 0.75]]),
    (lambda: Categorical(ROWS).entropy(), [0.69189876, 0.36533388]),
])  # fmt: skip
def test_values(function, expected):
    for run in (function, paddle.jit.to_static(function)):
        found = run()
        assert found.shape == list(np.shape(expected))
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)


def test_draws():
    paddle.seed(0)
    drawn = Normal(1.0, [1.0, 2.0]).sample([4000])
    assert Normal(0.0, 1.0).sample().shape == []
    np.testing.assert_allclose(drawn.numpy().std(0), [1, 2], rtol=0.1)
    classes = Categorical(ROWS).sample([4000])
    assert classes.shape == [4000, 2]
    np.testing.assert_allclose(classes.numpy().mean(0), [0.6, 0.75], rtol=0.1)
    scale = paddle.to_tensor([1.0], stop_gradient=False)
    assert Normal(0.0, scale).sample([2]).stop_gradient
    Normal(0.0, scale).rsample([2]).sum().backward()
    assert scale.grad is not None
    with pytest.raises(DTypeError, match="one class"):
        kl_divergence(Normal(0.0, 1.0), Categorical(W))
