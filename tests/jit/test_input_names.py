"""Names of inputs are kept as they are given, and are those of saved models."""

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st as paddle
from dy2st.errors import FeedError
from dy2st.jit import InputSpec


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(2, 2)

    def forward(self, batch, limit=0.0):
        h = self.fc(batch["x"])
        while h.sum() < limit:
            h = h + 1.0
        return h


@pytest.mark.parametrize("name", ["in put/1:0", "a.b", "1", "-", "é", "feed", "fetch", "linear_0.w_0", "mean_0.tmp_0"])
def test_as_given(tmp_path, name):
    net = Net()
    spec = [{"x": InputSpec([None, 2], "float32", name)}, InputSpec([], "float32")]
    paddle.jit.save(net, tmp_path / "net", spec)
    predictor = Predictor(tmp_path / "net")
    assert [i.name for i in predictor.inputs] == [name, "limit"]
    x = np.ones((3, 2), "float32")
    (got,) = predictor.run({name: x, "limit": np.float32(50)})
    want = net({"x": paddle.to_tensor(x)}, paddle.to_tensor(50.0))
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-6)
    np.testing.assert_allclose(paddle.jit.load(tmp_path / "net")(x, paddle.to_tensor(50.0)).numpy(), got, rtol=1e-6)


def test_of_a_decorated_function():
    @paddle.jit.to_static(input_spec=[InputSpec([None], "float32", "in put/1:0")])
    def double(x):
        return x * 2.0

    double(paddle.ones([2]))
    assert double.concrete_program.inputs[0].name == "in put/1:0"


def test_without_a_name_it_is_that_of_the_argument(tmp_path):
    paddle.jit.save(Net(), tmp_path / "net", [{"x": InputSpec([None, 2])}, InputSpec([])])
    assert [i.name for i in Predictor(tmp_path / "net").inputs] == ["batch_x", "limit"]


def test_that_of_the_generator_is_refused():
    with pytest.raises(FeedError, match="cannot be named '@RNG@'"):
        InputSpec([2], "float32", "@RNG@")
