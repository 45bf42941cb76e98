"""Program: text, wire format, cloning, inference models."""

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st
from dy2st import nn, optimizer, static
from dy2st.errors import FetchError, FormatError

TEXT = """blocks {
  idx: 0
  parent_idx: -1
  vars {
    name: "x"
    type {
      type: LOD_TENSOR
      lod_tensor {
        tensor {
          data_type: FP32
          dims: -1
          dims: 1
        }
        lod_level: 0
      }
    }
    persistable: false
"""


def model():
    x = static.data("x", [None, 1])
    y = static.nn.fc(x, 2, weight_attr=nn.initializer.Constant(0.5), activation="relu")
    loss = y.mean()
    optimizer.SGD(0.1).minimize(loss)
    return x, y, loss


def test_text_form():
    model()
    text = static.default_main_program().to_string(True)
    assert text.startswith(TEXT)
    assert 'type: "sgd"' in text


def test_parse_from_string(exe):
    _, y, loss = model()
    exe.run(static.default_startup_program())
    main = static.default_main_program()
    back = static.Program.parse_from_string(main.desc.serialize_to_string())
    assert isinstance(back, static.Program)
    assert back.desc.serialize_to_string() == main.desc.serialize_to_string()
    feed = {"x": np.float32([[3]])}
    copy = static.Scope()
    for v in main.list_vars():
        if v.persistable:
            copy.var(v.name).get_tensor().set(main.value_of(v))
    for _ in range(2):  # the second run sees the updates of the first
        want = exe.run(main, feed=feed, fetch_list=[y, loss])
        got = exe.run(back, feed=feed, fetch_list=[y.name, loss.name], scope=copy)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(FormatError):
        static.Program.parse_from_string(b"nonsense")


def test_parse_a_startup_program(exe):
    model()
    startup = static.Program.parse_from_string(static.default_startup_program().desc.serialize_to_string())
    exe.run(startup)
    assert static.global_scope().find_var("fc_0.w_0").get_tensor().numpy().tolist() == [[0.5, 0.5]]


def test_parse_random_ops(exe):
    """PaddlePaddle's random ops do not name the generator's state; they get it back when they are read."""
    value = dy2st.rand([3])
    main = static.default_main_program()
    data = main.desc.serialize_to_string()
    assert b"@RNG@" not in data
    back = static.Program.parse_from_string(data)
    with dy2st.tensor.dispatch.eager():
        dy2st.seed(1)
        want = dy2st.rand([3]).numpy()
        dy2st.seed(1)
    np.testing.assert_array_equal(exe.run(back, fetch_list=[value.name])[0], want)


def test_a_trained_loop_survives_the_wire(exe):
    """Gradients of a loop: its saved values become TensorArrays, which come back as loop variables."""
    x, n = static.data("x", [1]), static.data("n", [], "int64")
    w = static.create_parameter([1], "float32", attr=nn.ParamAttr(name="w", initializer=nn.initializer.Constant(2.0)))
    _, y = static.nn.while_loop(
        lambda i, y: i < n, lambda i, y: [i + 1, dy2st.tanh(y * w)], [dy2st.zeros([], "int64"), x]
    )
    [(_, g)] = static.append_backward(y.sum())
    exe.run(static.default_startup_program())
    main = static.default_main_program()
    back = static.Program.parse_from_string(main.desc.serialize_to_string())
    for count in (0, 1, 4):
        feed = {"x": np.float32([0.3]), "n": np.int64(count)}
        want = exe.run(main, feed=feed, fetch_list=[y, g])
        got = exe.run(back, feed=feed, fetch_list=[y.name, g.name])
        assert got == want


def test_inference_model(exe, tmp_path):
    x, y, _ = model()
    exe.run(static.default_startup_program())
    static.save_inference_model(str(tmp_path / "m"), [x], [y], exe)
    feed = np.float32([[1], [-1]])
    want = exe.run(static.default_main_program().clone(for_test=True), feed={"x": feed}, fetch_list=[y])[0]
    np.testing.assert_array_equal(Predictor(tmp_path / "m").run([feed])[0], want)
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(str(tmp_path / "m"), exe)
        assert feeds == ["x"]
        np.testing.assert_array_equal(exe.run(program, feed={"x": feed}, fetch_list=fetches)[0], want)


def test_inference_model_of_names(exe, tmp_path):
    _, y, loss = model()
    exe.run(static.default_startup_program())
    static.save_inference_model(str(tmp_path / "m"), "x", [y.name, loss], exe, program=static.default_main_program())
    assert Predictor(tmp_path / "m").model.fetch_names == [y.name, loss.name]
    with pytest.raises(FetchError, match="int is nothing to feed"):
        static.save_inference_model(str(tmp_path / "m"), [3], [y], exe)


def test_saving_without_values(exe, tmp_path):
    x, y, _ = model()
    with pytest.raises(FormatError, match=r"parameter 'fc_0.[wb]_0' has no value to save"):
        static.save_inference_model(str(tmp_path / "m"), [x], [y], exe)


def test_clone_for_test_switches_dropout_and_batch_norm(exe):
    x = static.data("x", [None, 3, 2, 2])
    y = nn.functional.dropout(static.nn.batch_norm(x), 0.5)
    optimizer.SGD(0.1).minimize(y.mean())
    exe.run(static.default_startup_program())
    test = static.default_main_program().clone(for_test=True)
    feed = {"x": np.random.default_rng(0).normal(size=(4, 3, 2, 2)).astype("float32")}
    first, second = (exe.run(test, feed=feed, fetch_list=[y])[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, feed["x"] / np.sqrt(1 + 1e-5), rtol=1e-5)


def test_all_parameters_are_the_trainable_ones():
    model()
    assert sorted(p.name for p in static.default_main_program().all_parameters()) == ["fc_0.b_0", "fc_0.w_0"]
