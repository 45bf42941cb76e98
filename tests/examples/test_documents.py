"""The programs of the documents run, and print what the documents say as far as that is determined."""

import contextlib
import io
import pathlib
import re
import runpy

import numpy as np
import pytest
from dy2st_runtime import Predictor

import dy2st
from dy2st.legacy import mode
from dy2st.static import program, scope
from dy2st.tensor import dispatch

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "documents"
NUMBER = r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs a document as a fresh process would: default programs, scope, names and mode are new."""
    monkeypatch.setattr(program, "_default", program._Current(program.Program(), program.Program()))
    monkeypatch.setattr(scope, "_stack", [program.Scope()])
    monkeypatch.setattr(mode, "_chosen", False)
    monkeypatch.chdir(tmp_path)
    before = dispatch.set_default_recorder(None)
    np.random.seed(0)
    dy2st.seed(0)

    def run_document(name):
        out = io.StringIO()
        with dy2st.unique_name.guard(), contextlib.redirect_stdout(out):
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        return out.getvalue()

    yield run_document
    dispatch.set_default_recorder(before)


def numbers(text):
    return [float(n) for n in re.findall(NUMBER, text)]


def test_branch_in_dynamic_mode(run):
    np.random.seed(3)
    a, b = (np.random.randint(low=1, high=5, size=(2,)) for _ in range(2))
    np.random.seed(3)
    want = a + b if a.sum() < b.sum() else a - b - b
    assert numbers(run("branch_in_dynamic_mode")) == want.tolist()


def test_policy_network(run):
    out = run("policy_network").splitlines()
    probabilities = numbers(out[0])
    assert len(probabilities) == 2
    assert sum(probabilities) == pytest.approx(1.0)
    assert out[1:] == ["[1.]", "(128, 2)"]


def test_dynamic_basics(run):
    out = run("dynamic_basics")
    version, *tensors = re.split(r"^(?=Tensor)", out, flags=re.M)
    assert version == f"{dy2st.__version__}\n"
    heads = [t.splitlines()[0] for t in tensors]
    shape = "Tensor(shape={}, dtype=float32, place=CPUPlace, stop_gradient=True,"
    assert heads == [shape.format(s) for s in ("[4, 2]", "[2]", "[4, 2]", "[4]")]
    assert tensors[1].endswith("\n       [1., 2.])\n")
    a, b, c, d = (np.array(numbers(t.split("\n", 1)[1])) for t in tensors)
    np.testing.assert_allclose(c, (a.reshape(4, 2) + b).reshape(-1), atol=2e-7)
    np.testing.assert_allclose(d, a.reshape(4, 2) @ b, atol=1e-6)


def test_python_control_flow(run):
    lines = run("python_control_flow").splitlines()
    assert len(lines) == 10
    for i, line in enumerate(lines):
        step, sign = re.match(r"(\d+) ([+-])> \[", line).groups()
        assert int(step) == i
        want = [k**i + (1 if sign == "+" else -1) * (k + 3) for k in (1, 2, 3)]
        assert numbers(line.split(">")[1]) == want


def test_branching_network(run, monkeypatch):
    monkeypatch.setenv("DOCUMENT_STEPS", "201")
    lines = run("branching_network").splitlines()
    losses = [float(line.split()[1].strip("[]")) for line in lines]
    assert [line.split()[0] for line in lines] == ["0", "200"]
    assert losses[-1] < losses[0]


def test_shared_weights(run):
    lines = run("shared_weights").splitlines()
    losses = [float(re.search(rf"loss: \[?({NUMBER})", line)[1]) for line in lines]
    assert [line.split(",")[0] for line in lines] == [f"step: {i}" for i in range(10)]
    # the document's losses fall from 0.331 to 0.109, with other random numbers
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(0.33, abs=0.05)
    assert losses[-1] == pytest.approx(0.109, abs=0.03)


def test_mnist_declarative(run, tmp_path):
    """The output's shape; the exported model gives what the eager layers give."""
    assert run("mnist_declarative") == "[720, 10]\n"
    predictor = Predictor(tmp_path / "dy2stat_infer_model")
    (info,) = predictor.inputs
    assert info.shape == (-1, 1, 28, 28)
    x = np.random.random((2, 1, 28, 28)).astype("float32")
    (y,) = predictor.run([x])
    weights = {v.name: predictor.model.params[v.name] for v in predictor.model.program.all_parameters()}
    conv_w, conv_b, w, b = (weights[name] for name in ("conv2d_0.w_0", "conv2d_0.b_0", "linear_0.w_0", "linear_0.b_0"))
    conv = dy2st.nn.functional.conv2d(dy2st.to_tensor(x), dy2st.to_tensor(conv_w), dy2st.to_tensor(conv_b))
    rows = dy2st.nn.functional.max_pool2d(conv, 2, 2).numpy().reshape(-1, 80)
    want = dy2st.nn.functional.softmax(dy2st.to_tensor(rows @ w + b)).numpy()
    np.testing.assert_allclose(y, want, rtol=2e-5, atol=1e-6)


def test_double_grad(run):
    assert run("double_grad") == "[4.]\n"


def test_forward_pre_hook(run):
    assert run("forward_pre_hook") == "True\n"


@pytest.mark.parametrize("name", ["static_branch", "dynamic_branch"])
def test_branches(run, name):
    for seed in range(4):
        np.random.seed(seed)
        x, y = np.random.rand(1).astype("float32"), np.random.rand(1).astype("float32")
        np.random.seed(seed)
        program._default = program._Current(program.Program(), program.Program())
        want = x + y if x > y else x - y
        out = run(name)
        assert numbers(out.replace("float32", "")) == pytest.approx(want.tolist(), rel=1e-6)
        assert out.startswith("[array([" if name == "static_branch" else "[")


def test_static_convolution(run):
    out = run("static_convolution")
    assert out.startswith("[array([[[[")
    assert "dtype=float32" in out


def test_dynamic_convolution(run):
    assert run("dynamic_convolution").startswith("[[[[")


def test_counters(run):
    assert run("counters") == "[20]\n[20]\n[20.]\n[20.]\n"


def test_blocks_of_a_program(run):
    assert run("blocks_of_a_program") == "3\n[array([1])]\n[array([0])]\n"


VARIABLE = """name: "mean_0.tmp_0"
type {
  type: LOD_TENSOR
  lod_tensor {
    tensor {
      data_type: FP32
      dims: 1
    }
  }
}
persistable: false
"""
DATA = """  vars {
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


def test_linear_regression(run):
    out = run("linear_regression")
    assert out.startswith("blocks {\n  idx: 0\n  parent_idx: -1\n  vars {\n")
    assert DATA in out
    assert VARIABLE in out
    first, weight, second = re.split(r"\n(?=\[)", out.split(VARIABLE)[1].replace("float32", "").strip())
    *predicted, cost = numbers(first.replace("float32", ""))
    xs = np.array([1.0, 2.0, 3.0, 4.0])
    start = predicted[0]
    np.testing.assert_allclose(predicted, start * xs, rtol=1e-5)
    np.testing.assert_allclose(cost, ((start - 2) ** 2 * xs**2).mean(), rtol=1e-4)
    slope = start - 0.01 * (2 * (start - 2) * xs * xs).mean()
    bias = -0.01 * (2 * (start - 2) * xs).mean()
    np.testing.assert_allclose(numbers(weight), [slope], rtol=1e-5, atol=1e-7)  # next to nothing is left of the start
    np.testing.assert_allclose(numbers(second.replace("float32", ""))[:4], slope * xs + bias, rtol=1e-5)


def test_feed_and_fetch(run):
    np.random.seed(0)
    want = np.random.random(size=(10, 1)).astype("float32").mean()
    np.random.seed(0)
    out = run("feed_and_fetch")
    assert out.startswith("[array([")
    assert numbers(out.replace("float32", "")) == [pytest.approx(want, rel=1e-5)]


def test_guards(run):
    *kinds, text = run("guards").split("\n", 3)
    assert kinds == [f"type({name}): <class 'dy2st.tensor.tensor.Tensor'>" for name in ("loss", "acc", "pred")]
    assert text == VARIABLE + "\n"


def test_every_document_has_a_test_and_says_where_it_is_from():
    text = pathlib.Path(__file__).read_text()
    for path in sorted(FOLDER.glob("*.py")):
        assert f'"{path.stem}"' in text, path.name
        head = path.read_text().splitlines()
        assert head[0].startswith("# From "), path.name
        assert any(line.startswith("# Mended: ") for line in head[:4]), path.name
