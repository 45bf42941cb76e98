"""What is deployed, in pickles and copies: they hold the model itself, not its path."""

import copy
import multiprocessing
import pathlib
import pickle

import numpy as np
import pytest
from dy2st_runtime import Predictor, load_inference_model
from dy2st_runtime.errors import FormatError
from dy2st_runtime.formats.inference_model import model_from_bytes

import dy2st as paddle
from dy2st.jit import InputSpec, to_static

PADDLE_MODELS = sorted((pathlib.Path(__file__).parents[1] / "data" / "paddle-models").glob("*.pdmodel"))
X = np.arange(6, dtype="float32").reshape(2, 3)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = paddle.nn.Linear(3, 3), paddle.nn.BatchNorm1D(3)

    def forward(self, x):
        h = self.norm(self.fc(x))
        if h.sum() > 1000.0:
            h = h * 2
        return h

    @to_static(input_spec=[InputSpec([None, 3], "float32", "x")])
    def embed(self, x):
        return self.fc(x)


class Drawing(paddle.nn.Layer):
    def forward(self, x):
        return x + paddle.randint(0, 2**30, [1])


class Named(Predictor):
    """A subclass with an attribute of its own."""

    labels = ()


def pickled(x):
    return pickle.loads(pickle.dumps(x))


@pytest.fixture
def path(tmp_path):
    net = Net()
    net.eval()
    paddle.jit.save(net, tmp_path / "net", [InputSpec([None, 3], "float32", "x")])
    return tmp_path / "net"


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
def test_a_predictor(path, copied):
    predictor = Named(path)
    predictor.labels = ["a", "b"]
    (want,) = predictor.run([X])
    for file in path.parent.iterdir():
        file.unlink()
    other = copied(predictor)
    np.testing.assert_array_equal(other.run([X])[0], want)
    assert (other.inputs, other.outputs, other.place) == (predictor.inputs, predictor.outputs, predictor.place)
    assert type(other) is Named
    assert other.labels == ["a", "b"]
    assert (other.labels is predictor.labels) is (copied is copy.copy)


@pytest.mark.parametrize("model", PADDLE_MODELS, ids=lambda p: p.stem)
def test_models_of_paddlepaddle(model):
    loaded = load_inference_model(model)
    again = pickled(loaded)
    assert (again.feed_names, again.fetch_names) == (loaded.feed_names, loaded.fetch_names)
    assert again.params.keys() == loaded.params.keys()
    with np.load(model.with_suffix(".npz")) as data:
        feeds = [data[f"in0_{i}"] for i in range(len(loaded.feed_names))]
    for a, b in zip(Predictor(loaded).run(feeds), Predictor(again).run(feeds), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
def test_a_seed_goes_along(tmp_path, copied):
    paddle.jit.save(Drawing(), tmp_path / "drawing", [InputSpec([1], "int64", "x")])
    for seed in (5, None):
        predictor = Predictor(tmp_path / "drawing", seed=seed)
        predictor.run([[0]])
        other = copied(predictor)
        assert (int(predictor.run([[0]])[0][0]) == int(other.run([[0]])[0][0])) is (seed is not None)


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_a_loaded_layer(path, copied):
    layer = paddle.jit.load(path)
    layer.fc_scale = paddle.nn.Linear(2, 2)  # what was added to it
    x = paddle.to_tensor(X)
    want, embedded = layer(x).numpy(), layer.embed(x).numpy()
    other = copied(layer)
    np.testing.assert_array_equal(other(x).numpy(), want)
    np.testing.assert_array_equal(other.embed(x).numpy(), embedded)
    names = [name for name, _ in layer.named_parameters()]
    assert [name for name, _ in other.named_parameters()] == names
    # the parameters are those that its programs read, and are not those of the other one
    weight = next(p for p in other.parameters() if p.shape == [3, 3])
    weight.set_value(weight * 0)
    assert not np.array_equal(other.embed(x).numpy(), embedded)
    np.testing.assert_array_equal(layer.embed(x).numpy(), embedded)


def test_a_loaded_layer_is_trained_on_after_unpickling(path):
    layer = pickled(paddle.jit.load(path))
    layer(paddle.to_tensor(X)).sum().backward()
    assert all(p.grad is not None for p in layer.parameters() if not p.stop_gradient)


def test_what_is_in_a_pickle_is_checked(path):
    model = load_inference_model(path)
    function, (data, params) = model.__reduce__()
    assert function is model_from_bytes
    with pytest.raises(FormatError):
        model_from_bytes(data[:-7], params)
    with pytest.raises(FormatError, match="has no value"):
        model_from_bytes(data, {})
    with pytest.raises(FormatError, match="the program declares"):
        model_from_bytes(data, {name: value.astype("float64") for name, value in params.items()})


@pytest.mark.slow
def test_processes_that_are_spawned(path):
    predictor = Predictor(path)
    (want,) = predictor.run([X])
    for file in path.parent.iterdir():
        file.unlink()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for (got,) in pool.map(predictor.run, [[X]] * 4):
            np.testing.assert_array_equal(got, want)
