"""What PaddlePaddle wants of the files that it runs, beyond what is needed here."""

import numpy as np
import pytest
from dy2st_runtime import Predictor
from dy2st_runtime.formats.framework_proto import ProgramDesc

import dy2st as paddle
from dy2st.jit import InputSpec

X = np.linspace(-1, 1, 12).reshape(3, 4).astype("float32")


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm = paddle.nn.BatchNorm1D(4)

    def forward(self, x):
        y = self.norm(x)
        return self.norm(y), self.norm._mean * 1.0


def ops_of(path):
    with open(f"{path}.pdmodel", "rb") as file:
        return list(ProgramDesc.FromString(file.read()).blocks[0].ops)


def slots(op):
    return {v.parameter: list(v.arguments) for v in (*op.inputs, *op.outputs)}


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_the_statistics_of_batch_norm_are_updated_in_place(tmp_path, mode):
    net = Net()
    getattr(net, mode)()
    paddle.jit.save(net, tmp_path / "net", [InputSpec([None, 4], "float32", "x")])
    found = [slots(op) for op in ops_of(tmp_path / "net") if op.type == "batch_norm"]
    assert len(found) == 2
    for named in found:
        assert named["MeanOut"] == named["Mean"]
        assert named["VarianceOut"] == named["Variance"]
        assert len(named["SavedMean"]) == len(named["SavedVariance"]) == 1 or mode == "eval"
        assert "ReserveSpace" in named or mode == "eval"
        # the saved model updates nothing: where it is saved for training, it computes with copies
        assert named["Mean"][0].startswith("batch_norm1d") is (mode == "eval")
    predictor = Predictor(tmp_path / "net")
    want = [t.numpy() for t in net(paddle.to_tensor(X))]
    for _ in range(2):
        for a, b in zip(predictor.run([X]), want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_names_of_a_state_dict(tmp_path):
    """`paddle.load(path)` gives them, as `path.pdiparams.info` has them."""

    class Outer(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc, self.norm = paddle.nn.Linear(4, 4), paddle.nn.BatchNorm1D(4)
            self.constant = [paddle.to_tensor([1.0])]  # no part of the state dict

        def forward(self, x):
            return self.norm(self.fc(x)) + self.constant[0]

    net, other = Outer(), Outer()
    net.eval()
    for path in (tmp_path / "net", tmp_path / "net.pdmodel"):
        paddle.jit.save(net, path, [InputSpec([None, 4], "float32", "x")])
    (tmp_path / "net.pdmodel").rename(tmp_path / "moved.pdmodel")
    (tmp_path / "net.pdiparams").rename(tmp_path / "moved.pdiparams")
    state = paddle.load(tmp_path / "net.pdmodel")
    assert set(state) == {*net.state_dict(), net.constant[0].name}
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(state[name].numpy(), value.numpy())
        assert state[name].name == value.name
    del state[net.constant[0].name]
    other.set_state_dict(state)
    np.testing.assert_array_equal(other.fc.weight.numpy(), net.fc.weight.numpy())
    assert isinstance(paddle.load(tmp_path / "net.pdmodel", return_numpy=True)["fc.weight"], np.ndarray)
    # without the names, as of a hand-built program: those of the parameters
    assert set(paddle.load(tmp_path / "moved")) >= {net.fc.weight.name, net.norm._mean.name}
    with pytest.raises(FileNotFoundError):
        paddle.load(tmp_path / "nothing")


def test_the_names_are_data(tmp_path):
    """A pickle that would do something is refused."""
    from dy2st.errors import FormatError

    paddle.jit.save(paddle.nn.Linear(2, 2), tmp_path / "net", [InputSpec([None, 2])])
    (tmp_path / "net.pdiparams.info").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(FormatError, match=r"os\.system"):
        paddle.load(tmp_path / "net")
    (tmp_path / "net.pdiparams.info").write_bytes(b"\x80\x02}q\x00U\x01aK\x01s.")
    with pytest.raises(FormatError, match="has no names of parameters"):
        paddle.load(tmp_path / "net")
