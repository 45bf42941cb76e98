"""Without an `input_spec` the inputs of the last call are saved, and where files go."""

import numpy as np
import pytest

import dy2st
from dy2st import jit, nn
from dy2st.errors import FormatError
from dy2st.jit import InputSpec
from dy2st.tensor import Tensor

X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def test_the_inputs_of_the_last_call_count(tmp_path):
    @jit.to_static
    def scaled(x, double):
        return x * 2 if double else x.sum(-1) - 1

    for args in ((Tensor(X), True), (Tensor(X[0]), False), (Tensor(X), True)):
        scaled(*args)
    jit.save(scaled, tmp_path / "scaled")
    np.testing.assert_array_equal(jit.load(tmp_path / "scaled")(Tensor(X)).numpy(), X * 2)
    scaled(Tensor(X[0]), False)
    jit.save(scaled, tmp_path / "scaled")
    np.testing.assert_array_equal(jit.load(tmp_path / "scaled")(Tensor(X[0])).numpy(), 2)


def test_one_tensor_as_two_arguments_is_two_inputs(tmp_path):
    @jit.to_static
    def combined(a, pair, scale=2.0):
        return a * scale - pair[0] + pair[1] * 10

    x, y, z = (Tensor(X[0] * k) for k in (1, 2, 3))
    for args in ((x, (x, x)), (x, (y, x)), (x, (y, y))):
        combined(*args)
        jit.save(combined, tmp_path / "combined")
        loaded = jit.load(tmp_path / "combined")
        assert [v.name for v in loaded.program().global_block().vars.values() if v.is_data] == ["a", "pair_0", "pair_1"]
        np.testing.assert_array_equal(loaded(x, y, z).numpy(), X[0] * 30)


def test_a_model_that_was_evaluated_can_be_trained_when_it_is_loaded(tmp_path):
    net = jit.to_static(nn.Linear(2, 1))
    with dy2st.no_grad():
        net(Tensor(X))
    jit.save(net, tmp_path / "net")
    loaded = jit.load(tmp_path / "net")
    loaded(Tensor(X)).sum().backward()
    np.testing.assert_array_equal([p.grad.numpy() for p in loaded.parameters() if p.ndim == 2], [[[4.0], [6.0]]])


def test_a_folder_of_the_name_of_the_files(tmp_path):
    net = nn.Linear(2, 1)
    path = tmp_path / "net"
    path.mkdir()
    jit.save(net, path, [InputSpec([None, 2])])
    np.testing.assert_array_equal(jit.load(path)(Tensor(X)).numpy(), net(Tensor(X)).numpy())
    dy2st.jit.to_static(net)(Tensor(X))
    jit.ProgramTranslator().save_inference_model(path)
    with pytest.raises(FormatError, match=r"there are both .*net\.pdmodel and a model in the folder"):
        jit.load(path)
    np.testing.assert_array_equal(jit.load(f"{path}.pdmodel")(Tensor(X)).numpy(), net(Tensor(X)).numpy())


def test_a_path_that_names_no_file(tmp_path):
    with pytest.raises(FormatError, match="is a folder, not the path of files without suffix"):
        jit.save(nn.Linear(2, 1), f"{tmp_path}/new/", [InputSpec([None, 2])])
    assert not list(tmp_path.iterdir())
