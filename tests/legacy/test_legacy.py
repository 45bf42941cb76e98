"""What the 1.x names do differently: shapes of reductions, arguments of layers, modes, files."""

import contextlib
import os
import warnings

import numpy as np
import pytest

import dy2st
from dy2st import fluid
from dy2st.errors import AttributeValueError, ScopeError
from dy2st.legacy import mode
from dy2st.static import program
from dy2st.tensor import dispatch, recorders

L = fluid.layers
X = np.array([[1.0, -2.0], [3.0, 4.0]], "float32")


@pytest.fixture(autouse=True)
def dynamic():
    with fluid.dygraph.guard(), fluid.unique_name.guard():
        yield


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (lambda: L.elementwise_add(X, X), X + X),
        (lambda: L.elementwise_sub(X, X[:, 0], axis=0), X - X[:, :1]),
        (lambda: L.elementwise_mul(X, 2.0, act="relu"), np.maximum(2 * X, 0)),
        (lambda: L.elementwise_max(X, np.zeros(2, "float32")), np.maximum(X, 0)),
        (lambda: L.reduce_sum(X), [6.0]),
        (lambda: L.reduce_sum(X, dim=1), [-1.0, 7.0]),
        (lambda: L.reduce_mean(X, dim=[0], keep_dim=True), [[2.0, 1.0]]),
        (lambda: L.reduce_max(X), [4.0]),
        (lambda: L.reduce_all(X > 0), [False]),
        (lambda: L.mean(X), [1.5]),
        (lambda: L.reshape(X, [-1], act="relu"), [1.0, 0.0, 3.0, 4.0]),
        (lambda: L.transpose(X, [1, 0]), X.T),
        (lambda: L.concat([X, X], axis=1), np.hstack([X, X])),
        (lambda: L.squeeze(X[None], [0]), X),
        (lambda: L.unsqueeze(X, [0]), X[None]),
        (lambda: L.matmul(X, X, transpose_y=True, alpha=0.5), X @ X.T / 2),
        (lambda: L.mul(X, X), X @ X),
        (lambda: L.softmax(X, axis=0), np.exp(X) / np.exp(X).sum(0)),
        (lambda: L.leaky_relu(X), np.where(X > 0, X, 0.02 * X)),
        (lambda: L.cross_entropy(np.float32([[0.2, 0.8]]), np.array([[1]])), [[-np.log(0.8)]]),
        (lambda: L.fill_constant([2], "int64", 3), [3, 3]),
        (lambda: L.ones([2], "float32") + L.zeros([2], "float32"), [1.0, 1.0]),
        (lambda: L.less_than(X, np.zeros((2, 2), "float32")), X < 0),
        (lambda: L.topk(X, 1)[0], [[1.0], [4.0]]),
        (lambda: L.one_hot(np.array([[1], [0]]), 2), [[0.0, 1.0], [1.0, 0.0]]),
        (lambda: L.slice(X, [1], [0], [1]), X[:, :1]),
        (lambda: L.dropout(X, 0.5, is_test=True), X / 2),
        (lambda: L.dropout(X, 0.5, is_test=True, dropout_implementation="upscale_in_train"), X),
        (lambda: L.accuracy(X, np.array([[0], [0]])), [0.5]),
        (lambda: L.square_error_cost(X, X * 0), X * X),
    ],
)
def test_functions(got, want):
    value = got().numpy()
    np.testing.assert_allclose(value, want, rtol=1e-6)
    assert value.shape == np.shape(want)


def test_results_written_to_a_tensor_that_is_given():
    x, i = fluid.dygraph.to_variable(X), fluid.dygraph.to_variable(np.array([1]))
    out, flag = L.create_tensor("float32"), fluid.dygraph.to_variable(np.array([True]))
    L.assign(x, out)
    np.testing.assert_array_equal(out.numpy(), X)
    assert L.increment(i, 2) is i
    assert i.numpy() == 3
    assert L.increment(i, in_place=False).numpy() == 4
    assert i.numpy() == 3
    L.less_than(i, i, cond=flag)
    assert not flag.numpy()
    L.fill_constant([1], "int64", 7, out=i)
    assert i.numpy() == 7


def test_layers():
    image = np.random.default_rng(0).normal(size=(2, 1, 8, 8)).astype("float32")
    conv = fluid.dygraph.Conv2D(1, 4, 3, act="relu")
    pool = fluid.dygraph.Pool2D(pool_size=2, pool_stride=2)
    hidden = pool(conv(image))
    assert hidden.shape == [2, 4, 3, 3]
    assert (hidden.numpy() >= 0).all()
    fc = fluid.dygraph.FC("fc", size=5, act="softmax")
    out = fc(hidden)
    assert out.shape == [2, 5]
    np.testing.assert_allclose(out.numpy().sum(1), 1, rtol=1e-6)
    assert [p.shape for p in fc.parameters()] == [[36, 5], [5]]
    assert fluid.dygraph.Linear(4, 2, bias_attr=False)(X.reshape(1, 4)).shape == [1, 2]
    assert fluid.dygraph.Embedding([10, 3])(fluid.dygraph.to_variable(np.array([1, 2]))).shape == [2, 3]
    drop = fluid.dygraph.Dropout(0.5)
    drop.eval()
    np.testing.assert_array_equal(drop(X).numpy(), X / 2)
    np.testing.assert_array_equal(
        fluid.dygraph.Pool2D(pool_type="avg", global_pooling=True)(image).numpy(), image.mean((2, 3), keepdims=True)
    )


def test_unknown_activation():
    with pytest.raises(AttributeValueError, match="activation 'magic' is not known"):
        L.elementwise_add(X, X, act="magic")


@pytest.mark.parametrize(
    "make",
    [
        lambda p: fluid.optimizer.SGD(0.01, parameter_list=p),
        lambda p: fluid.optimizer.MomentumOptimizer(0.01, 0.9, parameter_list=p, use_nesterov=True),
        lambda p: fluid.optimizer.Adam(0.1, parameter_list=p, regularization=fluid.regularizer.L2Decay(0.1)),
        lambda p: fluid.optimizer.AdagradOptimizer(0.1, parameter_list=p),
        lambda p: fluid.optimizer.RMSPropOptimizer(0.01, parameter_list=p, grad_clip=fluid.clip.GradientClipByNorm(1.0)),
    ],
)
def test_optimizers(make):
    layer = fluid.dygraph.Linear(2, 1)
    layer.weight.set_value(np.zeros((2, 1), "float32"))  # from some starts three steps of these sizes are too long
    optimizer = make(layer.parameters())
    losses = []
    for _ in range(3):
        loss = L.mean(L.square_error_cost(layer(X), np.ones((2, 1), "float32")))
        loss.backward()
        optimizer.minimize(loss)
        layer.clear_gradients()
        losses.append(loss.numpy()[0])
    assert losses[-1] < losses[0]


def test_save_and_load_dygraph(tmp_path):
    layer = fluid.dygraph.Linear(2, 1)
    adam = fluid.optimizer.Adam(0.1, parameter_list=layer.parameters())
    L.mean(layer(X)).backward()
    adam.minimize(L.mean(layer(X)))
    path = str(tmp_path / "model")
    fluid.save_dygraph(layer.state_dict(), path)
    assert fluid.load_dygraph(path)[1] is None
    fluid.save_dygraph(adam.state_dict(), path)
    params, state = fluid.load_dygraph(path)
    np.testing.assert_array_equal(params["weight"], layer.weight.numpy())
    assert any("moment" in key for key in state)
    other = fluid.dygraph.Linear(2, 1)
    other.set_dict(params)
    np.testing.assert_array_equal(other.weight.numpy(), layer.weight.numpy())
    with pytest.raises(FileNotFoundError, match="neither"):
        fluid.load_dygraph(str(tmp_path / "nothing"))


# ---- static ----
def static_model():
    x = fluid.data("x", [None, 2])
    return fluid.layers.fc(x, 3, act="relu", param_attr=fluid.initializer.Constant(0.5))


@pytest.fixture
def built():
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.scope_guard(fluid.Scope()):
        yield fluid.Executor(fluid.CPUPlace())


@pytest.mark.parametrize("names", [{}, {"model_filename": "m", "params_filename": "p"}])
def test_inference_model_in_a_folder(built, tmp_path, names):
    y = static_model()
    built.run(fluid.default_startup_program())
    (want,) = built.run(feed={"x": X}, fetch_list=[y])
    assert fluid.io.save_inference_model(str(tmp_path), ["x"], [y], built, **names) == [y.name]
    with fluid.scope_guard(fluid.Scope()):
        main, feeds, fetches = fluid.io.load_inference_model(str(tmp_path), built, **names)
        np.testing.assert_array_equal(built.run(main, feed={feeds[0]: X}, fetch_list=fetches)[0], want)


@pytest.mark.parametrize("filename", [None, "all"])
def test_persistables(built, tmp_path, filename):
    static_model()
    with pytest.raises(ScopeError, match="has no value"):
        fluid.io.save_persistables(built, str(tmp_path), filename=filename)
    built.run(fluid.default_startup_program())
    fluid.io.save_persistables(built, str(tmp_path), filename=filename)
    slot = fluid.global_scope().find_var("fc_0.w_0")
    slot.get_tensor().set(np.zeros((2, 3), "float32"))
    fluid.io.load_persistables(built, str(tmp_path), filename=filename)
    assert (slot.get_tensor().numpy() == 0.5).all()
    fluid.io.save_params(built, str(tmp_path / "params"))
    fluid.io.load_params(built, str(tmp_path / "params"))


@pytest.mark.parametrize("filename", [None, "all"])
def test_persistables_are_old_or_new_whenever_the_process_is_killed(built, tmp_path, monkeypatch, filename):
    class KilledError(BaseException):
        """Stands for the end of the process."""

    static_model()
    built.run(fluid.default_startup_program())
    slots = [fluid.global_scope().find_var(name) for name in ("fc_0.w_0", "fc_0.b_0")]

    def all_of(value):
        for slot in slots:
            slot.get_tensor().set(np.full(slot.get_tensor().shape(), value, "float32"))

    def killed_at(count):
        calls = iter(range(count))
        with monkeypatch.context() as patch:

            def replace(source, target, real=os.replace):
                if next(calls, None) is None:
                    raise KilledError
                real(source, target)

            patch.setattr(os, "replace", replace)
            with contextlib.suppress(KilledError):
                fluid.io.save_persistables(built, folder, filename=filename)

    seen = set()
    for count in range(4):
        folder = str(tmp_path / str(count))
        all_of(1.0)
        fluid.io.save_persistables(built, folder, filename=filename)
        all_of(2.0)
        killed_at(count)
        all_of(0.0)
        fluid.io.load_persistables(built, folder, filename=filename)
        values = {float(x) for slot in slots for x in slot.get_tensor().numpy().reshape(-1)}
        assert len(values) == 1
        seen |= values
    assert seen == {1.0, 2.0}


def test_layers_data_adds_the_batch_dim(built):
    assert fluid.layers.data("a", [3, 2]).shape == [-1, 3, 2]
    assert fluid.layers.data("b", [3], append_batch_size=False).shape == [3]
    assert fluid.layers.data("c", [-1, 3]).shape == [-1, 3]
    assert not fluid.layers.data("d", [1], stop_gradient=False).stop_gradient


def test_the_first_data_switches_static_mode_on(monkeypatch):
    monkeypatch.setattr(program, "_default", program._Current(program.Program(), program.Program()))
    monkeypatch.setattr(mode, "_chosen", False)
    monkeypatch.setattr(recorders.state, "recorders", [])
    before = dispatch.set_default_recorder(None)
    try:
        assert fluid.in_dygraph_mode()
        x = fluid.data("x", [1])
        assert not fluid.in_dygraph_mode()
        assert (x * 2.0).is_symbolic
        with fluid.enable_imperative():
            assert fluid.in_dygraph_mode()
            assert dy2st.ones([1]).numpy() == 1
        assert not fluid.in_dygraph_mode()
        fluid.enable_dygraph()
        assert fluid.in_dygraph_mode()
        fluid.disable_dygraph()
        assert not fluid.in_dygraph_mode()
    finally:
        dispatch.set_default_recorder(before)


def test_to_variable_gives_a_tensor_back():
    x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)

    def tripled(x):
        y = fluid.dygraph.to_variable(x)
        return y * fluid.dygraph.to_variable(3.0), y is x

    for f in (tripled, dy2st.jit.to_static(tripled)):
        x.clear_grad()
        y, same = f(x)
        assert same
        y.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])
    named = fluid.dygraph.to_variable(np.ones([2], "float32"), "ones", dtype="float64")
    assert (named.name, named.dtype, named.stop_gradient) == ("ones", "float64", True)


def test_a_last_axis_that_is_open_goes_where_its_size_is_1():
    def places(i):
        return fluid.layers.one_hot(i, 4) * 1.0

    static = dy2st.jit.to_static(places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is a trace for each size
        for given in ([[1, 2], [2, 3]], [[1, 2, 3], [2, 3, 0]], [[1], [3]], [[2], [1], [0]], [1, 2]):
            assert static(dy2st.to_tensor(given)).tolist() == places(dy2st.to_tensor(given)).tolist()
