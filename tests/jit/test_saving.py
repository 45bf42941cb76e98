"""What `jit.save` writes of a model that is in use: numbers that have changed, names, some of the outputs, other methods."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st
from dy2st import jit, nn
from dy2st.errors import AttributeValueError, DTypeError, FeedError, FetchError
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


class WithLoss(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(3, 2), nn.Linear(2, 1)

    def forward(self, inputs, label):
        hidden = self.body(inputs)
        loss = (self.head(hidden) - label).square().mean()
        return loss, hidden, {"double": hidden * 2}


LABEL = np.array([[1.0], [0.0]], np.float32)
BOTH = [InputSpec([None, 3], name="x"), InputSpec([None, 1], name="y")]


def shown(path):
    """The names of the inputs and the values of the outputs of a saved model."""
    predictor = Predictor(path)
    names = [i.name for i in predictor.inputs]
    return names, predictor.run({n: X if n in ("x", "inputs") else LABEL for n in names})


@pytest.mark.parametrize("spec", [BOTH, None, "of to_static"])
def test_only_the_outputs_of_output_spec_are_saved(tmp_path, spec):
    net = jit.to_static(WithLoss(), input_spec=BOTH if spec == "of to_static" else None)
    spec, names = (None, ["x", "y"]) if spec == "of to_static" else (spec, ["x", "y"] if spec else ["inputs", "label"])
    older = net(Tensor(X), Tensor(LABEL))
    with dy2st.no_grad():
        loss, hidden, rest = net(Tensor(X), Tensor(LABEL))
    double = rest["double"]
    for given, expected in [
        ([hidden], [hidden]),
        ([older[1]], [hidden]),
        ([double, loss], [double, loss]),
        ([1], [hidden]),
        ([-1, hidden], [double, hidden]),
        ([double, loss, hidden], [loss, hidden, double]),
    ]:
        jit.save(net, tmp_path / "net", spec, output_spec=given)
        found, values = shown(tmp_path / "net")
        assert found == names
        for a, b in zip(values, expected, strict=True):
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-6)
    outputs = net.forward.concrete_program.outputs
    jit.save(net, tmp_path / "net", spec, output_spec=outputs[1:2])
    np.testing.assert_allclose(shown(tmp_path / "net")[1][0], hidden.numpy(), rtol=1e-6)


def test_only_the_inputs_of_input_names_after_prune_are_saved(tmp_path):
    net = jit.to_static(WithLoss())
    x, label = Tensor(X), Tensor(LABEL)
    _, hidden, _ = net(x, label)
    for spec, names, expected in [(BOTH, ["x"], ["x"]), ([x, label], [x.name], ["inputs"]), (None, ["inputs"], ["inputs"])]:
        jit.save(net, tmp_path / "net", spec, output_spec=[hidden], input_names_after_prune=names)
        found, values = shown(tmp_path / "net")
        assert found == expected
        np.testing.assert_allclose(values[0], hidden.numpy(), rtol=1e-6)


def test_what_does_not_fit_the_model_is_an_error(tmp_path):
    net = jit.to_static(WithLoss())
    results = net(Tensor(X), Tensor(LABEL))
    other = jit.to_static(WithLoss())(Tensor(X), Tensor(LABEL))
    for given, error, message in [
        ({"output_spec": results[1]}, DTypeError, "output_spec must be a list"),
        ({"output_spec": []}, FetchError, "output_spec is empty"),
        ({"output_spec": [results[2]]}, DTypeError, r"output_spec\[0\] is a dict"),
        ({"output_spec": [results[0], Tensor(X)]}, FetchError, r"output_spec\[1\] is no result of a static call of 'WithLoss.forward'"),
        ({"output_spec": [other[1]]}, FetchError, "is no result of a static call"),
        ({"output_spec": [3]}, FetchError, r"output_spec\[0\] = 3: 'WithLoss.forward' has 3 outputs"),
        ({"input_names_after_prune": "x"}, DTypeError, "must be a list of names"),
        ({"input_names_after_prune": ["z"]}, FeedError, "has 'z'; the inputs of 'WithLoss.forward' are 'x', 'y'"),
        ({"input_names_after_prune": ["x"]}, FetchError, "the fetches need 'y'"),
        ({"combine_params": True}, AttributeValueError, "'combine_params' is not supported"),
    ]:
        with pytest.raises(error, match=message):
            jit.save(net, tmp_path / "net", BOTH, **given)
        assert not list(tmp_path.iterdir())


def test_results_that_the_saved_mode_does_not_give(tmp_path):
    def forward(x, both):
        return {"a": x, "b": x * 2, "c": x * 3} if both else {"a": x, "c": x * 3}

    static = jit.to_static(forward)
    found = static(Tensor(X), True)
    jit.save(static, tmp_path / "net", [SPEC[0], False], output_spec=[found["c"]])
    np.testing.assert_array_equal(Predictor(tmp_path / "net").run([X])[0], X * 3)
    with pytest.raises(FetchError, match="does not give as it is saved now"):
        jit.save(static, tmp_path / "net", [SPEC[0], False], output_spec=[found["b"]])


def test_results_can_be_copied_and_pickled():
    result = jit.to_static(lambda x: x * 2)(Tensor(X))
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
        np.testing.assert_array_equal(other.numpy(), result.numpy())


class WithMethods(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 2)

    @jit.to_static(input_spec=SPEC)
    def forward(self, x):
        return self.body(x)

    @jit.to_static(input_spec=[InputSpec([None, 3], name="image")])
    def infer(self, image):
        return self.body(image).argmax(-1)

    @jit.to_static
    def distance(self, x, y):
        return (self.body(x) - self.body(y)).norm()


def test_other_static_methods_are_saved_beside_forward(tmp_path):
    net = WithMethods()
    distance = net.distance(Tensor(X), Tensor(X * 2))
    jit.save(net, tmp_path / "net")
    assert {p.name for p in tmp_path.iterdir()} == {
        "net.pdiparams.info",
        *(f"net{method}.{kind}" for method in ("", ".distance", ".infer") for kind in ("pdiparams", "pdmodel")),
    }
    loaded = jit.load(tmp_path / "net")
    np.testing.assert_allclose(loaded(Tensor(X)).numpy(), net(Tensor(X)).numpy(), rtol=1e-6)
    np.testing.assert_array_equal(loaded.infer(Tensor(X)).numpy(), net.infer(Tensor(X)).numpy())
    np.testing.assert_allclose(loaded.distance(Tensor(X), Tensor(X * 2)).numpy(), distance.numpy(), rtol=1e-6)
    np.testing.assert_array_equal(Predictor(tmp_path / "net.infer").run({"image": X})[0], net.infer(Tensor(X)).numpy())
    # the parameters are one for all methods
    assert len(loaded.parameters()) == len(net.parameters())
    loaded.distance(Tensor(X), Tensor(X * 2)).backward()
    step = dy2st.optimizer.SGD(0.1, parameters=loaded.parameters())
    step.step()
    assert not np.allclose(loaded(Tensor(X)).numpy(), net(Tensor(X)).numpy())
    outer = jit.to_static(lambda x: loaded.infer(x) * 2)
    np.testing.assert_array_equal(outer(Tensor(X)).numpy(), loaded.infer(Tensor(X)).numpy() * 2)


def test_static_methods_that_cannot_be_saved_are_left_out_with_a_warning(tmp_path):
    net = WithMethods()
    with pytest.warns(UserWarning, match=r"WithMethods\.distance is not saved, as it was not called yet"):
        jit.save(net, tmp_path / "net")
    assert not (tmp_path / "net.distance.pdmodel").exists()

    class Trained(WithMethods):
        @jit.to_static(input_spec=SPEC)
        def train_step(self, x):
            loss = self.body(x).sum()
            loss.backward()
            return loss

        @jit.to_static(input_spec=SPEC)
        def reset(self, x):
            self.state = x * 0

    net = Trained()
    net.distance(Tensor(X), Tensor(X))
    with pytest.warns(UserWarning, match="is not saved") as found:
        jit.save(net, tmp_path / "net", SPEC)
    assert [str(w.message) for w in found] == [
        f"jit.save: the static method {Trained.__qualname__}.{method}" for method in (
            "reset is not saved, as it returns no tensors", "train_step is not saved, as it is a training step")
    ]
    assert jit.load(tmp_path / "net").infer(Tensor(X)).shape == [2]


def test_models_beside_that_are_no_methods(tmp_path):
    net = nn.Linear(3, 2)
    jit.save(net, tmp_path / "net", SPEC)
    for name in ("net.v-2", "net2", "net.eval"):
        jit.save(nn.Linear(3, 2), tmp_path / name, SPEC)
    with pytest.warns(UserWarning, match=r"net\.eval has a name that layers have, so it is no method") as found:
        loaded = jit.load(tmp_path / "net")
    assert len(found) == 1
    np.testing.assert_allclose(loaded(Tensor(X)).numpy(), net(Tensor(X)).numpy(), rtol=1e-6)
    assert len(loaded.parameters()) == 2


def test_a_method_that_was_saved_with_other_values_is_left_out(tmp_path):
    net = WithMethods()
    net.distance(Tensor(X), Tensor(X))
    jit.save(net, tmp_path / "net")
    for p in net.parameters():
        p.set_value(p.numpy() + 1)
    jit.save(net.forward, tmp_path / "net")
    with pytest.warns(UserWarning, match="so it is no method of the model") as found:
        loaded = jit.load(tmp_path / "net")
    assert len(found) == 2
    assert not hasattr(loaded, "infer")
    np.testing.assert_allclose(loaded(Tensor(X)).numpy(), net(Tensor(X)).numpy(), rtol=1e-6)


def test_hooks_of_the_layer_are_saved(tmp_path):
    net = nn.Linear(3, 2)
    net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 2,))
    net.register_forward_post_hook(lambda layer, inputs, output: output + inputs[0].sum())
    with pytest.raises(FetchError, match="the inputs of a Linear with hooks are not known"):
        jit.save(net, tmp_path / "net")
    jit.save(net, tmp_path / "net", [InputSpec([None, 3])])
    predictor = Predictor(tmp_path / "net")
    assert [i.name for i in predictor.inputs] == ["input"]
    np.testing.assert_allclose(predictor.run([X])[0], net(Tensor(X)).numpy(), rtol=1e-6)


class Filter(nn.Layer):
    """With state that counts for the next call, in a buffer and in an attribute, and a counter that does not."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", dy2st.zeros([2]))
        self.last, self.calls, self.norm = dy2st.zeros([2]), 0, nn.BatchNorm1D(2)

    def forward(self, x):
        self.calls += 1
        self.mean.set_value(0.5 * self.mean + x)
        self.last = 0.5 * self.last + x
        return self.mean + self.last

    def plain(self, x):
        self.calls += 1
        return self.norm(x.unsqueeze(0))


def test_state_that_a_model_file_does_not_keep_is_warned_of(tmp_path):
    layer, spec = Filter(), [InputSpec([2], "float32")]
    with pytest.warns(UserWarning, match="next one reads: item 'mean' of attribute '_buffers' of Filter, attribute 'last' of"):
        jit.save(layer, tmp_path / "filter", spec)
    x = dy2st.ones([2])
    loaded = jit.load(str(tmp_path / "filter"))
    np.testing.assert_array_equal(loaded(x).numpy(), loaded(x).numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.save(jit.to_static(layer.plain), tmp_path / "plain", spec)
