"""Saved static functions: read back by jit.load, by the runtime alone, and by the older interface."""

import subprocess
import sys

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st
from dy2st import jit, nn
from dy2st.errors import FeedError, FetchError, GradientError, StagedValueError
from dy2st.jit import InputSpec, ProgramTranslator
from dy2st.tensor import Tensor


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        # fixed: with some random weights the loop runs until its values are near overflow
        self.fc = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(0.5))

    def forward(self, x):
        y = self.fc(x)
        while y.sum() < 10:
            y = y * 1.5 + 1
        if y.max() > 8:
            return y, x
        return y * 2, x


X = np.array([[1.0, 2.0], [3.0, -4.0]], np.float32)


def test_save_and_load(tmp_path):
    net = Net()
    jit.save(net, tmp_path / "net", [InputSpec([None, 2], name="x")])
    expected = [t.numpy() for t in net(Tensor(X))]
    loaded = jit.load(tmp_path / "net")
    for a, b in zip(expected, loaded(Tensor(X)), strict=True):
        np.testing.assert_allclose(b.numpy(), a, rtol=1e-6)
    for a, b in zip(expected, Predictor(tmp_path / "net").run({"x": X}), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)


def test_a_loaded_model_can_be_trained_and_traced(tmp_path):
    net = Net()
    jit.save(net, tmp_path / "net", [InputSpec([None, 2])])
    loaded = jit.load(tmp_path / "net")
    (net(Tensor(X))[0] ** 2).sum().backward()
    (loaded(Tensor(X))[0] ** 2).sum().backward()
    found = {p.name: p.grad.numpy() for p in loaded.parameters()}
    for p in net.parameters():
        np.testing.assert_allclose(found[p.name], p.grad.numpy(), rtol=1e-5)
    outer = jit.to_static(lambda x: loaded(x)[0] + 1)
    np.testing.assert_allclose(outer(Tensor(X)).numpy(), net(Tensor(X))[0].numpy() + 1, rtol=1e-6)


def test_saving_needs_inputs(tmp_path):
    with pytest.raises(FetchError, match="was not called yet"):
        jit.save(Net(), tmp_path / "net")


def test_the_saved_model_needs_the_runtime_only(tmp_path):
    jit.save(Net(), tmp_path / "net", [InputSpec([None, 2], name="x")])
    code = (
        "import sys, numpy as np, dy2st_runtime as r\n"
        f"p = r.Predictor({str(tmp_path / 'net')!r})\n"
        "p.run({'x': np.ones([3, 2], 'float32')})\n"
        "assert 'dy2st' not in sys.modules and 'gast' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def relu_or_double(x):
    if x.sum() > 0:
        return x * 2
    return x * 0


def test_program_translator(tmp_path):
    translator = ProgramTranslator()
    assert translator is ProgramTranslator.get_instance()
    x = Tensor([1.0, 2.0])
    np.testing.assert_array_equal(translator.get_output(relu_or_double, x).numpy(), [2.0, 4.0])
    assert "_dy.if_stmt" in translator.get_code(relu_or_double)
    main, startup, inputs, outputs = translator.get_program(relu_or_double, x)
    assert [v.name for v in inputs] == ["x"]
    assert len(outputs) == 1
    assert "cond" in str(main)
    assert startup.global_block().ops == []
    assert translator.get_func(relu_or_double)(Tensor([-1.0])).numpy() == [0.0]
    translator.enable(False)
    try:
        assert not translator.enable_to_static
        np.testing.assert_array_equal(translator.get_output(relu_or_double, x).numpy(), [2.0, 4.0])
    finally:
        translator.enable(True)


def test_the_last_called_model_is_saved(tmp_path):
    net = jit.to_static(Net())
    expected = net(Tensor(X))[0].numpy()
    (name,) = ProgramTranslator().save_inference_model(tmp_path / "folder", fetch=[0])
    assert (tmp_path / "folder" / "__model__").is_file()
    (found,) = Predictor(tmp_path / "folder").run([X])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert name
    with pytest.raises(FetchError, match="the function has 2 outputs"):
        ProgramTranslator().save_inference_model(tmp_path / "folder", fetch=[2])


def test_startup_program_sets_the_parameters():
    net = Net()
    _, startup, _, _ = ProgramTranslator().get_program(net.forward, Tensor(X))
    values = {}
    from dy2st_runtime.reference import run_program

    run_program(startup, {}, values)
    names = {p.name for p in net.parameters()}
    assert names <= set(values)


def test_gradients_through_a_loaded_model_with_batch_norm(tmp_path):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3), nn.Linear(3, 1))
    net.eval()
    jit.save(net, tmp_path / "net", [InputSpec([None, 2], name="x", stop_gradient=False)])
    loaded = jit.load(tmp_path / "net")
    found = []
    for model in (net, loaded):
        x = Tensor(X, stop_gradient=False)
        y = model(x)
        y.sum().backward()
        found.append((y.numpy(), x.grad.numpy()))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)


class Noisy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 8)

    def forward(self, x):
        return nn.functional.dropout(self.fc(x), 0.5, training=True)


def test_a_loaded_model_draws_as_the_layer_did(tmp_path):
    net = Noisy()
    jit.save(net, tmp_path / "net", [InputSpec([None, 2], name="x")])
    loaded, again = jit.load(tmp_path / "net"), jit.to_static(lambda x: loaded(x) * 1)
    found = []
    for model in (net, loaded, again):
        dy2st.seed(3)
        first, second = model(Tensor(X)), model(Tensor(X))
        second.sum().backward()
        found.append((first.numpy(), second.numpy(), dy2st.rand([2]).numpy()))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-6)


def test_an_input_that_wants_a_gradient_which_the_file_does_not_know_of(tmp_path):
    net = nn.Linear(2, 1)
    jit.save(net, tmp_path / "net", [InputSpec([None, 2], name="x")])
    loaded = jit.load(tmp_path / "net")
    x = Tensor(X, stop_gradient=False)
    for model in (loaded, jit.to_static(lambda x: loaded(x * 2))):
        with pytest.raises(GradientError, match="saved without gradients of its inputs"):
            model(x)
    with dy2st.no_grad():
        loaded(x)
    loaded(x.detach()).sum().backward()
    assert all(p.grad is not None for p in loaded.parameters())


def test_results_of_which_only_the_run_knows_what_is_in_them(tmp_path):
    def found(x, n):
        rows, where = [], {"all": x.sum()}
        for i in range(n):
            rows.append((x * i, i))
        if n > 1:
            where["last"] = rows[-1][0]
        return where, rows

    specs = [InputSpec([None], name="x"), InputSpec([], "int64", name="n")]
    jit.save(found, tmp_path / "found", specs)
    predictor, x = Predictor(tmp_path / "found"), np.array([1.0, 2.0], np.float32)
    total, last, is_there, rows, numbers = predictor.run({"x": x, "n": np.array(2)})
    np.testing.assert_array_equal(total, 3.0)
    np.testing.assert_array_equal(last, x)
    np.testing.assert_array_equal(rows, [x * 0, x])
    assert is_there.item()
    assert [k.item() for k in numbers] == [0, 1]
    _, last, is_there, rows, _ = predictor.run({"x": x, "n": np.array(0)})
    assert last is None
    assert not is_there.item()
    assert rows == []


@pytest.fixture
def loaded(tmp_path):
    def of(function, *specs):
        jit.save(function, tmp_path / "model", [InputSpec(list(shape), dtype) for shape, dtype in specs])
        return jit.load(tmp_path / "model")

    return of


@pytest.mark.parametrize("stage", [lambda f: f, jit.to_static], ids=["eager", "static"])
def test_what_a_loaded_model_is_given_is_looked_at(loaded, stage):
    model = loaded(lambda x, y: x.sum() / x.shape[0] + y, ([2, None], "float64"), ([], "float32"))
    call = stage(lambda *args: model(*args))
    x, y = Tensor(np.ones((2, 3))), Tensor(np.float32(1))
    assert float(call(x, y)) == 4
    assert float(call(np.ones((2, 5)), y)) == 6
    for args, message in [
        ((Tensor(np.ones((2, 3), np.float32)), y), "is float32.*, the program expects float64"),
        ((Tensor(np.ones((3, 2))), y), r"the program expects float64\[2, \?\]"),
        ((Tensor(np.ones(2)), y), r"the program expects float64\[2, \?\]"),
        ((x,), "got 1 arguments"),
        ((x, y, y), "got 3 arguments"),
        ((x, 1.0), "is no tensor, but of float"),
        ((None, y), "is no tensor, but None"),
    ]:
        with pytest.raises(FeedError, match=message):
            call(*args)


def test_sizes_that_only_the_run_knows_are_looked_at_by_it(loaded):
    model = loaded(lambda x: x * 2, ([2], "float32"))

    @jit.to_static
    def f(x):
        return model(x[x > 0])

    np.testing.assert_array_equal(f(Tensor([1.0, -1.0, 3.0])).numpy(), [2.0, 6.0])
    with pytest.raises(FeedError, match=r"the program expects float32\[2\]"):
        f(Tensor([1.0, 2.0, 3.0]))


def test_what_a_loaded_model_raises_is_not_caught_by_a_static_function(loaded):
    def checked(x):
        if x.sum() < 0:
            raise ValueError("negative")
        return x * 2

    model = loaded(checked, ([None], "float32"))

    def f(x):
        try:
            return model(x)
        except ValueError:
            return x

    assert float(f(Tensor([-1.0]))) == -1
    with pytest.raises(StagedValueError, match="may raise an exception of its own, and is called inside of `try`"):
        jit.to_static(f)(Tensor([-1.0]))


def test_a_loaded_model_says_that_it_does_not_change_its_mode(tmp_path):
    net = nn.Sequential(nn.BatchNorm1D(2), nn.Dropout(0.5))
    jit.save(net, tmp_path / "train", [InputSpec([None, 2])])
    jit.save(net.eval(), tmp_path / "eval", [InputSpec([None, 2])])
    with pytest.warns(UserWarning, match=r"saved for training, and computes so after eval\(\) too"):
        jit.load(tmp_path / "train").eval()
    with pytest.warns(UserWarning, match=r"saved for evaluation, and computes so after train\(\) too"):
        jit.load(tmp_path / "eval").train()
    jit.load(tmp_path / "train").train()
    jit.load(tmp_path / "eval").eval()
