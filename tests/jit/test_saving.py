"""What `jit.save` writes of a model that is in use: numbers that have changed, names, some of the outputs, other methods."""

import numpy as np
import pytest
from dy2st_runtime import Predictor

from dy2st import jit, nn
from dy2st.jit import InputSpec, ProgramTranslator
from dy2st.tensor import Tensor

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
SPEC = [InputSpec([None, 3], name="x")]


class Annealed(nn.Layer):
    """A number that the training loop changes, and one that each call counts up."""

    def __init__(self):
        super().__init__()
        self.alpha, self.calls, self.settings = 0.5, 0, {"scale": 1.0}

    def forward(self, x):
        self.calls += 1
        return x * self.alpha * self.settings["scale"] + self.calls


@pytest.mark.parametrize("calls", [0, 1, 2, 4])
def test_numbers_that_have_changed_are_saved_as_they_are(tmp_path, calls):
    net = jit.to_static(Annealed())
    for i in range(calls):
        net(Tensor(X))
        net.alpha, net.settings["scale"] = 1.5 + i, 2.0 * (i + 1)
    jit.save(net, tmp_path / "net", SPEC)
    assert net.calls == calls
    loaded = jit.load(tmp_path / "net")
    expected = net(Tensor(X)).numpy()
    np.testing.assert_array_equal(loaded(Tensor(X)).numpy(), expected)
    np.testing.assert_array_equal(loaded(Tensor(X)).numpy(), expected)


def test_saving_after_each_epoch_leaves_no_traces_to_calls(tmp_path):
    net = jit.to_static(Annealed())
    for epoch in range(5):
        net.train()
        net(Tensor(X))
        net.alpha *= 0.5
        net.eval()
        jit.save(net, tmp_path / "net", SPEC)
        np.testing.assert_array_equal(jit.load(tmp_path / "net")(Tensor(X)).numpy(), X * net.alpha + epoch + 2)
    calls = len(net.forward.concrete_programs)
    assert calls <= 3
    net.train()
    net(Tensor(X))
    assert len(net.forward.concrete_programs) == calls


def test_the_last_called_model_is_saved_with_its_numbers(tmp_path):
    net = jit.to_static(Annealed())
    for _ in range(3):
        net(Tensor(X))
        net.alpha *= 0.5
    ProgramTranslator().save_inference_model(tmp_path / "folder")
    expected = net(Tensor(X)).numpy()
    np.testing.assert_array_equal(Predictor(tmp_path / "folder").run([X])[0], expected)


def test_inputs_have_the_names_that_are_given_when_saving(tmp_path):
    net = jit.to_static(nn.Linear(3, 2))
    net(Tensor(X))
    net(Tensor(X[:1]))
    for name in ("image", "x", "picture"):
        jit.save(net, tmp_path / "net", [InputSpec([None, 3], name=name)])
        assert [i.name for i in Predictor(tmp_path / "net").inputs] == [name]
    jit.save(net, tmp_path / "net", [InputSpec([None, 3])])
    assert [i.name for i in Predictor(tmp_path / "net").inputs] == ["input"]
