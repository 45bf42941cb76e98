"""A loaded model as a layer: its parameters and buffers, copies of it, what it raises."""

import copy
from pathlib import Path

import numpy as np
import pytest
from dy2st_runtime.ops.check import RaisedError

import dy2st
from dy2st import jit, nn
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
SPEC = [InputSpec([None, 2], "float32")]
MODELS = Path(__file__).parent.parent / "data" / "paddle-models"


def saved(path, layer, spec=SPEC):
    jit.save(layer, path / "net", spec)
    return jit.load(path / "net")


class Named(nn.Layer):
    """Two layers with given names of their weights."""

    def __init__(self, names):
        super().__init__()
        one, two = (dy2st.ParamAttr(name=n, initializer=nn.initializer.Constant(i + 1.0)) for i, n in enumerate(names))
        self.a, self.b = nn.Linear(2, 2, weight_attr=one, bias_attr=False), nn.Linear(2, 2, weight_attr=two, bias_attr=False)

    def forward(self, x):
        return self.b(self.a(x))


@pytest.mark.parametrize("names", [("fc.w", "fc_w"), ("fc_w", "fc.w"), ("forward", "training"), ("_functions", "a.b")], ids="/".join)
def test_each_parameter_has_an_attribute_of_its_own(tmp_path, names):
    net = Named(names)
    loaded = saved(tmp_path, net)
    assert {p.name for p in loaded.parameters()} == set(names)
    assert len(loaded.state_dict()) == 2
    for model in (net, loaded):
        model(Tensor(X)).sum().backward()
        dy2st.optimizer.SGD(0.1, parameters=model.parameters()).step()
    np.testing.assert_allclose(loaded(Tensor(X)).numpy(), net(Tensor(X)).numpy(), rtol=1e-6)
    other = jit.load(tmp_path / "net")
    assert other.set_state_dict(loaded.state_dict()) == ([], [])
    np.testing.assert_allclose(other(Tensor(X)).numpy(), net(Tensor(X)).numpy(), rtol=1e-6)


class Partly(nn.Layer):
    """With a frozen parameter, buffers, and a parameter that is trained."""

    def __init__(self, trained=True):
        super().__init__()
        self.register_buffer("mean", dy2st.to_tensor([0.5, 1.0]))
        self.shift = dy2st.to_tensor([1.0, 1.0])
        if trained:
            self.body = nn.Linear(2, 2, weight_attr=dy2st.ParamAttr(trainable=False))
            self.body.bias.stop_gradient = True
            self.head = nn.Linear(2, 1)
        self.trained = trained

    def forward(self, x):
        x = x - self.mean + self.shift
        return self.head(self.body(x)) if self.trained else x


@pytest.mark.parametrize("trained", [True, False])
def test_what_gets_no_gradient_gets_none_when_it_is_loaded(tmp_path, trained):
    net = Partly(trained)
    loaded = saved(tmp_path, net)
    assert {p.name: p.stop_gradient for p in loaded.parameters()} == {p.name: p.stop_gradient for p in net.parameters()}
    assert {b.name for b in loaded.buffers()} == {net.mean.name, net.shift.name}
    assert all(b.stop_gradient for b in loaded.buffers())
    out = loaded(Tensor(X))
    assert out.stop_gradient is not trained
    if trained:
        out.sum().backward()
        assert {p.name for p in loaded.parameters() if p.grad is not None} == {net.head.weight.name, net.head.bias.name}
    again = saved(tmp_path, loaded)
    assert {p.name: p.stop_gradient for p in again.parameters()} == {p.name: p.stop_gradient for p in net.parameters()}
    np.testing.assert_allclose(again(Tensor(X)).numpy(), out.numpy(), rtol=1e-6)


def test_statistics_in_a_file_of_paddlepaddle_are_buffers():
    loaded = jit.load(MODELS / "convnet")
    loaded(Tensor(np.load(MODELS / "convnet.npz")["in0_0"])).sum().backward()
    assert {b.name for b in loaded.buffers()} == {"batch_norm2d_0.w_1", "batch_norm2d_0.w_2"}
    assert all(b.stop_gradient and b.grad is None for b in loaded.buffers())
    assert all(p.grad is not None for p in loaded.parameters())


def test_one_tensor_for_several_inputs(tmp_path):
    def attend(q, k, v):
        return nn.functional.softmax(q @ k.T) @ (v * 2)

    loaded = saved(tmp_path, attend, [InputSpec([None, 2], "float32", n, stop_gradient=False) for n in "qkv"])
    found = []
    for call in (lambda x: attend(x, x, x), lambda x: loaded(x, x, x), jit.to_static(lambda x: loaded(x, x, x))):
        x = Tensor(X / 10, stop_gradient=False)
        y = call(x)
        y[0].sum().backward()
        with dy2st.no_grad():
            found.append((y.numpy(), x.grad.numpy(), call(x).numpy()))
    for arrays in found:
        for array, expected in zip(arrays, found[0], strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-5)


class Refused(ValueError):
    pass


class Other(Exception):
    def __init__(self, value):
        super().__init__(value)
        self.value = value


class Strict(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        if x.sum() > 50:
            raise ValueError("two", 3)
        if x.sum() > 20:
            raise Refused(f"sum {x.sum().item():.1f}")
        return self.fc(x)


@pytest.mark.parametrize("grad", [True, False])
def test_an_exception_that_a_file_does_not_know_is_a_runtime_error(tmp_path, grad):
    net = Strict()
    loaded = saved(tmp_path, net)

    @jit.to_static
    def outer(x):
        if x.min() < 0:
            raise Other(x.min())
        return loaded(x)

    again = saved(tmp_path / "again", outer)
    with dy2st.set_grad_enabled(grad):
        for model in (loaded, outer, again):
            np.testing.assert_allclose(model(Tensor(X)).numpy(), net(Tensor(X)).numpy(), rtol=1e-6)
            with pytest.raises(RaisedError, match=r"^Refused: sum 40\.0"):
                model(Tensor(X * 4))
            with pytest.raises(RaisedError, match=r"^ValueError: \('two', 3\)"):
                model(Tensor(X * 9))
        with pytest.raises(Other):
            outer(Tensor(-X))
        with pytest.raises(RaisedError, match=r"^Other: "):
            again(Tensor(-X))


def test_a_copy_has_parameters_of_its_own(tmp_path):
    loaded = saved(tmp_path, nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1D(2)))
    expected = loaded(Tensor(X)).numpy()
    other = copy.deepcopy(loaded)
    for p in loaded.parameters():
        p.set_value(p.numpy() * 0)
    assert not loaded(Tensor(X)).numpy().any()
    np.testing.assert_array_equal(other(Tensor(X)).numpy(), expected)
    other(Tensor(X)).sum().backward()
    assert any(p.grad is not None for p in other.parameters())
    assert all(p.grad is None for p in loaded.parameters())
