"""Executor and Scope: results, state, error messages."""

import sys

import numpy as np
import pytest
from dy2st_runtime import config

import dy2st
from dy2st import nn, optimizer, static
from dy2st.errors import DeviceError, FeedError, FetchError, GradientError, ModeError, ScopeError, ShapeError


def regression():
    """y = x w + b trained on y = 2 x; the fetches of its training."""
    x, y = static.data("x", [None, 1]), static.data("y", [None, 1])
    p = static.nn.fc(x, 1, weight_attr=nn.initializer.Constant(0.5))
    loss = nn.functional.square_error_cost(p, y).mean()
    return p, loss


XS = np.array([[1.0], [2.0], [3.0], [4.0]], "float32")


@pytest.mark.parametrize("native", [False, True])
def test_training(exe, native):
    _, loss = regression()
    optimizer.SGD(0.05).minimize(loss)
    with config.NO_JIT.override(not native):
        exe.run(static.default_startup_program())
        losses = [float(exe.run(feed={"x": XS, "y": 2 * XS}, fetch_list=[loss])[0]) for _ in range(20)]
    w, b, expected = 0.5, 0.0, []
    for _ in range(20):
        error = w * XS + b - 2 * XS
        expected.append(float((error**2).mean()))
        w, b = w - 0.05 * float((2 * error * XS).mean()), b - 0.05 * float((2 * error).mean())
    np.testing.assert_allclose(losses, expected, rtol=1e-3, atol=1e-6)


def test_clone_for_test_does_not_train(exe):
    p, loss = regression()
    optimizer.Adam(0.1).minimize(loss)
    test = static.default_main_program().clone(for_test=True)
    exe.run(static.default_startup_program())
    feed = {"x": XS, "y": 2 * XS}
    first, second = (float(exe.run(test, feed=feed, fetch_list=[loss])[0]) for _ in range(2))
    assert first == second
    exe.run(feed=feed)
    assert float(exe.run(test, feed=feed, fetch_list=[loss])[0]) < first
    assert not any("GRAD" in v.name or op.type == "adam" for v in test.list_vars() for op in test.global_block().ops)
    assert p.name in test.global_block().vars


@pytest.mark.parametrize("native", [False, True])
def test_a_pruned_run_does_not_train(exe, native):
    p, loss = regression()
    optimizer.SGD(0.05).minimize(loss)
    with config.NO_JIT.override(not native):
        exe.run(static.default_startup_program())
        feed = {"x": XS, "y": 2 * XS}
        # the prediction does not need y
        (first,) = exe.run(feed=feed, fetch_list=[p], use_prune=True)
        (second,) = exe.run(feed={"x": XS}, fetch_list=[p], use_prune=True)
        np.testing.assert_array_equal(first, second)
        with pytest.warns(UserWarning, match="takes no feed 'Y'"):
            exe.run(feed={"x": XS, "Y": XS}, fetch_list=[p], use_prune=True)
        exe.run(feed=feed, fetch_list=[loss])
        (third,) = exe.run(feed=feed, fetch_list=[p], use_prune=True)
        assert not np.array_equal(first, third)


def test_a_schedule_moves_the_learning_rate(exe):
    _, loss = regression()
    schedule = optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.1)
    optimizer.SGD(schedule).minimize(loss)
    exe.run(static.default_startup_program())
    rates = []
    for _ in range(3):
        exe.run(feed={"x": XS, "y": XS})
        rates.append(float(static.global_scope().find_var("learning_rate_0").get_tensor().numpy()[0]))
        schedule.step()
    np.testing.assert_allclose(rates, [0.5, 0.05, 0.005], rtol=1e-6)


def test_layers_keep_their_parameters(exe):
    """An eager layer used in a program: its parameters stay its own, and training updates them."""
    with dy2st.tensor.dispatch.eager():
        layer = nn.Linear(1, 1)
        before = layer.weight.numpy()
    loss = nn.functional.square_error_cost(layer(static.data("x", [None, 1])), static.data("y", [None, 1])).mean()
    optimizer.SGD(0.01, parameters=layer.parameters()).minimize(loss)
    exe.run(static.default_startup_program())
    exe.run(feed={"x": XS, "y": 2 * XS})
    assert layer.weight.numpy() != before


def test_scopes_are_separate_and_nested(exe):
    regression()
    exe.run(static.default_startup_program())
    name = "fc_0.w_0"
    inner = static.global_scope().new_scope()
    assert np.array(inner.find_var(name).get_tensor()) == 0.5
    inner.var(name).get_tensor().set(np.full((1, 1), 3.0, "float32"))
    fetch = [static.default_main_program().global_block().var(name)]
    feed = {"x": XS, "y": XS}
    assert exe.run(feed=feed, fetch_list=fetch, scope=inner)[0] == 3.0
    assert exe.run(feed=feed, fetch_list=fetch)[0] == 0.5
    other = static.Scope()
    with static.scope_guard(other), pytest.raises(ScopeError, match=f"'{name}'"):
        exe.run(feed=feed, fetch_list=fetch)
    assert other.find_var(name) is None


def test_what_get_tensor_gives_does_not_change_with_the_next_run(exe):
    _, loss = regression()
    optimizer.SGD(0.05).minimize(loss)
    exe.run(static.default_startup_program())
    tensor = static.global_scope().find_var("fc_0.w_0").get_tensor()
    copy, numbers = np.array(tensor), np.asarray(tensor)
    exe.run(feed={"x": XS, "y": 2 * XS})
    assert copy == numbers == 0.5
    assert np.array(tensor) != 0.5
    assert tensor.shape() == [1, 1]


def test_a_failed_run_changes_nothing(exe):
    x = static.data("x", [None], "int64")
    w = static.create_parameter([3], "float32", attr=nn.ParamAttr(name="w", initializer=nn.initializer.Constant(1.0)))
    loss = (w * 2.0).sum()
    optimizer.SGD(0.1).minimize(loss)
    bad = nn.functional.dropout(dy2st.gather(w, x), 0.5)
    static.default_main_program().random_seed = 3  # a generator of its own, which starts with the first run
    exe.run(static.default_startup_program())
    names = list(static.global_scope()._variables)
    with pytest.raises(IndexError):
        exe.run(feed={"x": np.array([5])}, fetch_list=[bad])
    assert static.global_scope().find_var("w").get_tensor().numpy().tolist() == [1, 1, 1]
    assert list(static.global_scope()._variables) == names
    exe.run(feed={"x": np.array([0])}, fetch_list=[bad])
    np.testing.assert_allclose(static.global_scope().find_var("w").get_tensor().numpy(), [0.8] * 3, rtol=1e-6)


def test_seeds(exe):
    """The stream of eager mode, or one that the program's own seed starts."""
    value = dy2st.rand([4])
    with dy2st.tensor.dispatch.eager():
        dy2st.seed(5)
        want = dy2st.rand([4]).numpy()
        dy2st.seed(5)
    np.testing.assert_array_equal(exe.run(fetch_list=[value])[0], want)
    assert not np.array_equal(exe.run(fetch_list=[value])[0], want)
    static.default_main_program().random_seed = 5
    np.testing.assert_array_equal(exe.run(fetch_list=[value])[0], want)
    with static.scope_guard(static.Scope()):
        np.testing.assert_array_equal(exe.run(fetch_list=[value])[0], want)


def test_compiled_once_for_all_sizes_and_anew_after_a_change(exe):
    x = static.data("x", [None])
    y = x * 2.0
    for size in (1, 5):
        exe.run(feed={"x": np.ones(size, "float32")}, fetch_list=[y])
    assert len(exe._executables) == 1
    z = y + 1.0
    assert exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=[y, z])[1] == 3.0
    assert len(exe._executables) == 2
    exe.close()
    assert not exe._executables


def test_values_that_no_op_reads(exe):
    """A parameter and data that branches pass on, or that are only fetched."""
    x = static.data("x", [1])
    w, unread = (static.create_parameter([1], "float32", attr=nn.initializer.Constant(v)) for v in (3.0, 4.0))
    exe.run(static.default_startup_program())
    out = static.nn.cond(x > 0.0, lambda: w, lambda: x)
    for value, want in ((1.0, 3.0), (-1.0, -1.0)):
        results = exe.run(feed={"x": np.float32([value])}, fetch_list=[out, unread, x])
        assert [float(r[0]) for r in results] == [want, 4.0, value]


def test_a_program_without_feeds_is_compiled_when_it_runs_again(exe):
    count = static.create_global_var([1], 0.0, "float32", name="count")
    dy2st.tensor.inplace.rebind(count, count + 1.0)
    exe.run(static.default_startup_program())
    for _ in range(3):
        exe.run()
    assert static.global_scope().find_var("count").get_tensor().numpy() == 3.0
    assert len(exe._executables) == 1


@pytest.mark.parametrize("native", [False, True])
def test_the_startup_program_runs_in_one_scope_after_another(exe, native):
    """Compiled from the second run on, it gives values to variables that have none."""
    regression()
    startup = static.default_startup_program()
    with config.NO_JIT.override(not native):
        for _ in range(3):
            scope = static.Scope()
            exe.run(startup, scope=scope)
            assert scope.find_var("fc_0.w_0").get_tensor().numpy() == 0.5
            (weight,) = exe.run(startup, scope=static.Scope(), fetch_list=["fc_0.w_0"])
            assert weight == 0.5


def test_return_numpy(exe):
    y = static.data("x", [1]) * 2.0
    (t,) = exe.run(feed={"x": np.ones(1, "float32")}, fetch_list=y, return_numpy=False)
    assert isinstance(t, dy2st.Tensor)
    assert t.numpy().tolist() == [2.0]


# ---- errors ----
def here():
    return sys._getframe(1).f_lineno


def test_feed_errors_name_the_line_of_the_variable(exe):
    line, y = here(), static.data("x", [None, 2]) * 2.0
    feeds = [
        ({}, r"not fed: 'x' \(float32\[\?, 2\]\)"),
        ({"x": np.ones((1, 2))}, r"feed 'x' is float64\[1, 2\], the program expects float32\[\?, 2\]"),
        ({"x": np.ones((1, 3), "float32")}, r"feed 'x' is float32\[1, 3\], the program expects float32\[\?, 2\]"),
    ]
    for feed, message in feeds:
        with pytest.raises(FeedError, match=message) as raised:
            exe.run(feed=feed, fetch_list=[y])
        assert raised.value.location.file == __file__
        assert raised.value.location.line == line
    with pytest.raises(FeedError, match=r"takes no feed 'y', it takes: 'x' \(float32\[\?, 2\]\)"):
        exe.run(feed={"y": np.ones((1, 2), "float32")}, fetch_list=[y])
    with pytest.raises(FeedError, match="must be a dict"):
        exe.run(feed=[1])


def test_fetch_errors(exe):
    x = static.data("x", [1])
    inner = []
    y = static.nn.cond(x > 0.0, lambda: inner.append(x * 2.0) or inner[0], lambda: x)
    feed = {"x": np.ones(1, "float32")}
    with pytest.raises(FetchError, match=f"(?s)no variable '{y.name}x' to fetch.*hint: similar names: {y.name}"):
        exe.run(feed=feed, fetch_list=[y.name + "x"])
    with pytest.raises(FetchError, match="not in the global block"):
        exe.run(feed=feed, fetch_list=inner)
    with pytest.raises(FetchError, match="takes variables and names, got int"):
        exe.run(feed=feed, fetch_list=[3])
    with pytest.raises(FetchError, match="takes variables and names, got int"):
        exe.run(feed=feed, fetch_list=3)
    with pytest.raises(ScopeError, match="scope must be a Scope, got dict"):
        exe.run(feed=feed, fetch_list=[y], scope={})
    with pytest.raises(FetchError, match="eager tensor cannot be fetched"), dy2st.tensor.dispatch.eager():
        exe.run(feed=feed, fetch_list=[dy2st.ones([1])])
    with pytest.raises(ModeError, match="takes a Program, got str"):
        exe.run("main")


def test_scope_error_names_the_parameter_and_its_line(exe):
    line, p = here(), static.nn.fc(static.data("x", [None, 1]), 1)
    with pytest.raises(ScopeError, match=r"'fc_0.w_0' has no value in the scope") as raised:
        exe.run(feed={"x": XS}, fetch_list=[p])
    assert raised.value.location.line == line
    assert "run the startup program first" in str(raised.value)


def test_run_time_errors_name_the_line(exe):
    x = static.data("x", [2, None])
    line, y = here(), x.reshape([3, 2])
    with pytest.raises(ShapeError) as raised:
        exe.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[y])
    assert raised.value.location.line == line


def test_data_is_declared_once():
    x = static.data("x", [None, 2])
    assert static.data("x", [-1, 2]).name == x.name
    with pytest.raises(ModeError, match=r"already has a variable 'x': float32\[\?, 2\]"):
        static.data("x", [3])
    with pytest.raises(ShapeError, match="cannot have the shape"):
        static.data("z", [-2])
    with pytest.raises(ModeError, match="lod_level 1 is not supported"):
        static.data("z", [1], lod_level=1)


def test_variables_of_two_programs_do_not_mix():
    x = static.data("x", [1])
    with static.program_guard(static.Program()), pytest.raises(ModeError, match="'x' belongs to another program"):
        x + static.data("y", [1])


def test_a_program_that_no_program_is():
    with pytest.raises(ModeError, match="takes Programs, got int"), static.program_guard(3):
        pass


def test_no_cuda_without_a_device(monkeypatch):
    from dy2st_runtime.executor import cuda

    monkeypatch.setattr(cuda, "simulated", lambda: False)
    monkeypatch.setattr(cuda._numba_cuda(), "is_available", lambda: False)
    with pytest.raises(DeviceError, match="no usable NVIDIA GPU"):
        static.Executor(dy2st.CUDAPlace(0))
    with pytest.raises(DeviceError, match="no place that programs can run on"):
        static.Executor(dy2st.CUDAPinnedPlace())


def test_gradient_errors():
    x = static.data("x", [3])
    with pytest.raises(GradientError, match="must have one element"):
        static.append_backward(x * 2.0)
    with pytest.raises(GradientError, match="'nothing', which the program does not have"):
        static.append_backward(x.sum(), parameter_list=["nothing"])
    with dy2st.tensor.dispatch.eager(), pytest.raises(GradientError, match="must be a variable of a program"):
        static.append_backward(dy2st.ones([1]))


def test_gradients_of_data(exe):
    x, z = static.data("x", [3]), static.data("z", [3])
    assert static.gradients((x * x).sum(), x) == [None]
    x.stop_gradient = False
    dx, dz = static.gradients((x * x).sum(), [x, z])
    assert dz is None
    out = exe.run(feed={"x": np.float32([1, 2, 3])}, fetch_list=[dx])
    np.testing.assert_allclose(out[0], [2, 4, 6])
    (weighted,) = static.gradients([x * x], [x], target_gradients=[z])
    out = exe.run(feed={"x": np.float32([1, 2, 3]), "z": np.float32([1, 0, 2])}, fetch_list=[weighted])
    np.testing.assert_allclose(out[0], [2, 0, 12])


def test_state_dict(exe):
    static.create_global_var([2], 1.5, "float32", name="g")
    static.create_parameter([1], "float32", attr=nn.ParamAttr(name="w", initializer=nn.initializer.Constant(2.0)))
    main = static.default_main_program()
    with pytest.raises(ScopeError, match="has no value"):
        main.state_dict()
    exe.run(static.default_startup_program())
    assert {k: v.tolist() for k, v in main.state_dict().items()} == {"g": [1.5, 1.5], "w": [2.0]}
    assert list(main.state_dict("param")) == ["w"]
    assert list(main.state_dict("opt")) == ["g"]
    main.set_state_dict({"w": np.float32([7]), "unknown": 1})
    assert main.state_dict("param")["w"].tolist() == [7]
    with pytest.raises(ScopeError, match="its new value is"):
        main.set_state_dict({"w": np.zeros(3)})
    with pytest.raises(ValueError, match="mode must be"):
        main.state_dict("x")


def test_modes():
    stack = dy2st.tensor.recorders.state.recorders
    saved, stack[:] = list(stack), []
    try:
        assert dy2st.in_dynamic_mode()
        static.enable_static()
        assert not dy2st.in_dynamic_mode()
        assert (static.data("mode_x", [1]) * 2.0).is_symbolic
    finally:
        static.disable_static()
        stack[:] = saved


def test_fetches_are_the_third_argument(exe):
    y = static.data("x", [2]) + 1.0
    (found,) = exe.run(static.default_main_program(), {"x": np.array([1.0, 2.0], "float32")}, [y])
    np.testing.assert_array_equal(found, [2.0, 3.0])


def test_nested_lists_of_fetches(exe):
    x = static.data("x", [2])
    y, z = x + 1.0, x * 2.0
    found = exe.run(feed={"x": np.float32([1, 2])}, fetch_list=[[y, (z,)], z.name, []])
    assert [value.tolist() for value in found] == [[2, 3], [2, 4], [2, 4]]
    for wrong in ([None], [[y, None]]):
        with pytest.raises(FetchError, match="NoneType"):
            exe.run(feed={"x": np.float32([1, 2])}, fetch_list=wrong)


def test_surplus_feeds_are_left_out(exe):
    y = static.data("image", [2]) + 1.0
    feed = {"image": np.float32([1, 2]), "label": "no array", y.name: np.float32([7, 7])}
    with pytest.warns(UserWarning, match=rf"takes no feed 'label', '{y.name}', which is left out"):
        (found,) = exe.run(feed=feed, fetch_list=[y])
    assert found.tolist() == [2, 3]
    with pytest.raises(FeedError, match="takes no feed 'imag'") as raised:  # a slip
        exe.run(feed={"imag": np.float32([1, 2])}, fetch_list=[y])
    assert "did you mean 'image'" in str(raised.value)
