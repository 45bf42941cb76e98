"""Saving and loading: pruning, round trips, the pair of files, fresh processes."""

import os
import subprocess
import sys

import numpy as np
import pytest
from dy2st_runtime import Predictor, config, load_inference_model, save_inference_model
from dy2st_runtime.errors import FetchError, FormatError
from dy2st_runtime.formats import program_from_bytes, program_to_bytes, program_to_text, save_inference_folder
from dy2st_runtime.ir import verify
from dy2st_runtime.ir.prune import prune
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.reference import run_program
from hand_built import Made
from hypothesis import given, settings
from hypothesis import strategies as st


def linear():
    """x [?, 3] @ w + b, with a loss on `label` and an update of w; and params."""
    m = Made()
    x, label = m.data("x", [-1, 3]), m.data("label", [-1, 2])
    block = m.program.global_block()
    w = block.create_var("w", "float32", [3, 2], persistable=True, is_parameter=True)
    b = block.create_var("b", "float32", [2], persistable=True, is_parameter=True)
    unused = block.create_var("unused", "float32", [5], persistable=True)
    y = m.b.elementwise_add(m.b.matmul_v2(x, w), b)
    loss = m.b.elementwise_sub(y, label)
    step = m.b.scale(w, scale=0.5)
    m.b.apply(registry.get("assign"), (step,), {}, {"Out": ["w"]})
    params = {
        "w": np.arange(6, dtype="float32").reshape(3, 2),
        "b": np.ones(2, "float32"),
        unused.name: np.zeros(5, "float32"),
    }
    return m, y, loss, params


def test_only_what_the_fetches_need_is_saved(tmp_path):
    m, y, _, params = linear()
    save_inference_model(tmp_path / "sub" / "m", m.program, ["x"], [y.name], params)
    model = load_inference_model(tmp_path / "sub" / "m")
    assert sorted(model.params) == ["b", "w"]
    assert [op.type for op in model.program.global_block().ops] == ["matmul_v2", "elementwise_add"]
    assert (model.feed_names, model.fetch_names) == (["x"], [y.name])
    assert sorted(os.listdir(tmp_path / "sub")) == ["m.pdiparams", "m.pdmodel"]
    assert len(m.program.global_block().ops) == 5, "the program itself is not changed"


def test_a_feed_that_is_needed_but_not_given(tmp_path):
    m, _, loss, params = linear()
    with pytest.raises(FetchError, match="need 'label', which is not among the feeds"):
        save_inference_model(tmp_path / "m", m.program, ["x"], [loss.name], params)
    with pytest.raises(FetchError, match="no variable 'nothing' to fetch"):
        save_inference_model(tmp_path / "m", m.program, ["x"], ["nothing"], params)
    with pytest.raises(FetchError, match="'w' cannot be fed"):
        save_inference_model(tmp_path / "m", m.program, ["w"], [loss.name], params)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.pop("w"), "parameter 'w' has no value to save"),
        (
            lambda p: p.update(w=np.zeros((3, 2))),
            r"parameter 'w' is float64\[3, 2\], the program declares float32\[3, 2\]",
        ),
        (lambda p: p.update(w=np.zeros((2, 3), "float32")), r"is float32\[2, 3\]"),
    ],
)
def test_parameters_that_do_not_fit_are_not_saved(tmp_path, change, message):
    m, y, _, params = linear()
    change(params)
    with pytest.raises(FormatError, match=message):
        save_inference_model(tmp_path / "m", m.program, ["x"], [y.name], params)
    assert os.listdir(tmp_path) == []


def test_two_models_are_never_mixed(tmp_path):
    m, y, _, params = linear()
    save_inference_model(tmp_path / "m", m.program, ["x"], [y.name], params)
    params["w"] = params["w"] + 1
    save_inference_model(tmp_path / "other", m.program, ["x"], [y.name], params)
    os.replace(tmp_path / "other.pdiparams", tmp_path / "m.pdiparams")
    with pytest.raises(FormatError, match="saved with other parameters"):
        load_inference_model(tmp_path / "m")


def test_a_model_without_parameters(tmp_path):
    m = Made()
    y = m.b.scale(m.data("x", [-1]), scale=3.0)
    save_inference_model(tmp_path / "m", m.program, ["x"], [y.name], {})
    (out,) = Predictor(tmp_path / "m").run([np.float32([1, 2])])
    assert out.tolist() == [3, 6]


def test_missing_model(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model at"):
        load_inference_model(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "net.pdmodel").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=r"holds no __model__, but net.pdmodel"):
        load_inference_model(tmp_path / "folder")


@pytest.mark.parametrize("name", ["../w", "/tmp/w", "a/../../w", ".", "w\0"])
def test_a_parameter_cannot_lead_out_of_its_folder(tmp_path, name):
    m = Made()
    w = m.program.global_block().create_var(name, "float32", [2], persistable=True)
    y = m.b.elementwise_add(m.data("x", [2]), w)
    (tmp_path / "model").mkdir()
    with pytest.raises(FormatError, match="no name of a file in"):
        save_inference_folder(tmp_path / "model", m.program, ["x"], [y.name], {name: np.zeros(2, "float32")})
    (tmp_path / "model" / "__model__").write_bytes(program_to_bytes(m.program, ["x"], [y.name]))
    (tmp_path / "w").write_bytes(b"")
    with pytest.raises(FormatError, match="no name of a file in"):
        load_inference_model(tmp_path / "model")


def test_a_link_cannot_lead_out_of_its_folder(tmp_path):
    m, y, _, params = linear()
    save_inference_folder(tmp_path / "model", m.program, ["x"], [y.name], params)
    os.replace(tmp_path / "model" / "w", tmp_path / "w")
    os.symlink(tmp_path / "w", tmp_path / "model" / "w")
    with pytest.raises(FormatError, match="no name of a file in"):
        load_inference_model(tmp_path / "model")


def test_checks_stay_where_the_feeds_reach():
    m = Made()
    x, label = m.data("x", [-1]), m.data("label", [-1])
    y = m.b.scale(x, scale=2.0)
    zero = m.b.fill_constant(shape=[], dtype="float32", value=0.0)
    for v in (x, label):
        m.b.op("assert", Cond=m.b.reduce_all(m.b.greater_than(v, zero)))
    pruned = prune(m.program, ["x"], [y.name])
    verify(pruned)
    assert [op.type for op in pruned.global_block().ops].count("assert") == 1


def test_unused_loop_variables_and_branch_results_are_pruned():
    m = Made()
    x = m.data("x", [])
    zero = m.b.fill_constant(shape=[], dtype="float32", value=0.0)
    outs, _ = m.loop(
        lambda i, a, b: m.b.less_than(i, x),
        lambda i, a, b: [m.b.scale(i, bias=1.0), m.b.elementwise_add(a, i), m.b.exp(b)],
        [zero, zero, zero],
    )
    pruned = prune(m.program, ["x"], [outs[1].name])
    verify(pruned)
    (loop,) = [op for op in pruned.global_block().ops if op.type == "while_loop"]
    assert loop.output("Out") == [outs[0].name, outs[1].name]
    assert [op.type for op in loop.attrs["body_block"].ops] == ["scale", "elementwise_add"]
    feed = {"x": np.float32(4)}
    assert run_program(pruned, feed, {})[outs[1].name] == run_program(m.program, feed, {})[outs[1].name] == 6


def test_exact_attributes():
    """A float attribute is a float32 in PaddlePaddle; a float64 computation here needs all digits."""
    m = Made()
    y = m.b.scale(m.data("x", [], "float64"), scale=0.1, bias=1e-300)
    back = program_from_bytes(program_to_bytes(m.program)).program
    assert back.global_block().ops[0].attrs["scale"] == 0.1
    assert run_program(back, {"x": np.float64(0)}, {})[y.name] == 1e-300


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e300])
def test_special_values(value):
    m = Made()
    y = m.b.fill_constant(shape=[2], dtype="float64", value=value)
    back = program_from_bytes(program_to_bytes(m.program)).program
    np.testing.assert_array_equal(run_program(back, {}, {})[y.name], np.full(2, value))


def test_saved_values_of_a_loop_become_an_array():
    m = Made()
    x = m.data("x", [])
    zero = m.b.fill_constant(shape=[], dtype="float32", value=0.0)
    _, (saved,) = m.loop(lambda i: m.b.less_than(i, x), lambda i: [m.b.scale(i, bias=1.0)], [zero], saved=[0])
    back = program_from_bytes(program_to_bytes(m.program, ["x"], [saved.name]))
    for count in range(3):
        values = run_program(back.program, {"x": np.float32(count)}, {})
        assert [float(v) for v in values[back.fetch_names[0]]] == [1.0, 2.0][:count]


def test_what_cannot_be_written_is_listed_at_once():
    m = Made()
    m.b.op("scale", X=m.data("x", []), scale=2.0)
    block = m.program.global_block()
    block.ops[0].attrs["scale"] = None
    block.ops.append(type(block.ops[0])("scale", {"X": ["x"]}, {}, {"bias": None}))
    with pytest.raises(FormatError, match="attribute 'scale' has no value to store"):
        program_to_bytes(m.program)


def test_a_name_that_is_no_unicode_text():
    m = Made()
    m.data("\ud800", [])
    with pytest.raises(FormatError, match="cannot be serialized"):
        program_to_bytes(m.program)


def test_text_form():
    m = Made()
    x = m.data("x", [-1, 1])
    m.b.reduce_mean(x, reduce_all=True)
    text = program_to_text(m.program)
    assert text.startswith("""blocks {
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
""")


# ---- random programs ----
@st.composite
def programs(draw):
    """A program of scale, add, multiply, branches and loops on two data variables, and a variable to fetch."""
    m = Made()
    x, n = m.data("x", []), m.data("n", [])

    def value(pool, depth):
        kind = draw(st.sampled_from(["scale", "add", "mul", "cond", "while"][: 5 if depth < 3 else 3]))
        a, b = draw(st.sampled_from(pool)), draw(st.sampled_from(pool))
        if kind == "scale":
            return m.b.scale(a, scale=draw(st.sampled_from([0.5, -1.0, 0.1])), bias=draw(st.sampled_from([0.0, 1.0])))
        if kind == "add":
            return m.b.elementwise_add(a, b)
        if kind == "mul":
            return m.b.tanh(m.b.elementwise_mul(a, b))
        if kind == "cond":
            return m.cond(m.b.less_than(a, b), lambda: [several(pool, depth + 1)], lambda: [several(pool, depth + 1)])[
                0
            ]
        zero = m.b.fill_constant(shape=[], dtype="float32", value=0.0)
        count = draw(st.sampled_from([n, a]))

        def test(i, p, q):
            return m.b.logical_and(m.b.less_than(i, count), m.b.less_than(i, m.b.fill_constant(shape=[], value=3.0)))

        def body(i, p, q):
            new = several([*pool, i, p, q], depth + 1)
            return [
                m.b.scale(i, bias=1.0),
                *draw(st.sampled_from([[q, p], [new, p], [q, new], [new, new], [p, new], [a, p]])),
            ]

        outs, _ = m.loop(test, body, [zero, a, b])
        return outs[draw(st.integers(0, 2))]

    def several(pool, depth):
        pool = list(pool)
        for _ in range(draw(st.integers(0 if depth else 1, 3))):
            pool.append(value(pool, depth))
        return pool[-1]

    return m, several([x, n], 0)


@settings(deadline=None, max_examples=60)
@given(programs(), st.sampled_from([-1.5, 0.0, 0.7]), st.sampled_from([0.0, 1.0, 2.0]))
def test_random_programs_survive_the_round_trip(made, x, n):
    m, y = made
    verify(m.program)
    feed = {"x": np.float32(x), "n": np.float32(n)}
    want = run_program(m.program, feed, {})[y.name]
    data = program_to_bytes(m.program, ["x", "n"], [y.name])
    back = program_from_bytes(data)
    got = run_program(back.program, feed, {})[back.fetch_names[0]]
    assert np.array_equal(got, want, equal_nan=True)
    assert data == program_to_bytes(m.program, ["x", "n"], [y.name]), "the same program gives the same bytes"
    pruned = prune(m.program, ["x", "n"], [y.name])
    verify(pruned)
    assert np.array_equal(run_program(pruned, feed, {})[y.name], want, equal_nan=True)


def test_absent_values_come_back_absent():
    m = Made()
    x = m.data("x", [-1])
    zero = m.b.fill_constant(shape=[], dtype="float32", value=0.0)
    (y,) = m.cond(m.b.less_than(m.b.reduce_sum(x), zero), lambda: [m.b.scale(x, scale=2.0)],
                  lambda: [m.b.absent(dtype="float32", shape=[-1])])  # fmt: skip
    z = m.b.ensure_defined(y, name="z", why="")
    back = program_from_bytes(program_to_bytes(m.program, ["x"], [y.name]))
    assert (
        run_program(prune(back.program, ["x"], back.fetch_names), {"x": np.float32([1])}, {})[back.fetch_names[0]]
        is ABSENT
    )
    assert [op.type for op in back.program.global_block().ops][-1] == "ensure_defined"
    with pytest.raises(UnboundLocalError, match="'z'"):
        run_program(back.program, {"x": np.float32([1])}, {})
    assert run_program(back.program, {"x": np.float32([-1])}, {})[z.name].tolist() == [-2]


# ---- deployment ----
SCRIPT = """
import sys
import numpy as np
import dy2st_runtime
predictor = dy2st_runtime.Predictor(sys.argv[1])
(y,) = predictor.run({"x": np.ones((4, 3), "float32")})
np.save(sys.argv[2], y)
extra = {"gast", "astor", "dy2st"} & set(sys.modules)
assert not extra, extra
"""


def test_a_fresh_process_needs_the_runtime_only(tmp_path):
    m, y, _, params = linear()
    save_inference_model(tmp_path / "m", m.program, ["x"], [y.name], params)
    subprocess.run([sys.executable, "-c", SCRIPT, tmp_path / "m", tmp_path / "y.npy"], check=True, cwd=tmp_path)
    with config.NO_JIT.override(True):
        (want,) = Predictor(tmp_path / "m").run({"x": np.ones((4, 3), "float32")})
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), want, rtol=1e-6)


HOSTILE = [
    '"""\nraise SystemExit("no")\n"""',
    "x\nimport os\n",
    "__import__('os').abort()",
    "{0!r}%s\\",
    "lambda: 0",
    "numba",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_a_file_never_become_code(tmp_path, name):
    """Through compilation and run, with names of data, parameters, intermediate values and loop variables."""
    m = Made()
    x = m.data(name, [-1])
    w = m.program.global_block().create_var(f"{name}w", "float32", [], persistable=True)
    n = m.program.global_block().create_var(f"{name}n", "float32", [])
    m.b.apply(registry.get("elementwise_mul"), (w, w), {"axis": -1}, {"Out": [n.name]})
    outs, _ = m.loop(lambda i, y: m.b.less_than(i, n), lambda i, y: [m.b.scale(i, bias=1.0), m.b.elementwise_add(y, w)],
                     [m.b.scale(n, scale=0.0), x])  # fmt: skip
    save_inference_model(tmp_path / "m", m.program, [name], [outs[1].name], {w.name: np.float32(1.5)})
    (y,) = Predictor(tmp_path / "m").run({name: np.float32([1, 2])})
    assert y.tolist() == [5.5, 6.5]


def lines_to_save_and_load(branches):
    """How many lines Python runs to write and read a program of so many branches."""
    m = Made()
    x = m.data("x", [])
    zero = m.b.fill_constant(shape=[], dtype="float32", value=0.0)
    y = x
    for _ in range(branches):
        (y,) = m.cond(m.b.less_than(y, zero), lambda y=y: [m.b.scale(y, scale=2.0)], lambda y=y: [m.b.scale(y, bias=1.0)])
    count = 0

    def trace(frame, event, _):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        back = program_from_bytes(program_to_bytes(m.program, ["x"], [y.name]))
    finally:
        sys.settrace(before)
    assert [op.type for op in back.program.global_block().ops].count("cond") == branches
    return count


def test_saving_and_loading_grow_with_the_program():
    lines_to_save_and_load(1)
    assert lines_to_save_and_load(400) < 5 * lines_to_save_and_load(100), "four times the branches"
