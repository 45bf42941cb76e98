"""The Predictor: checks of feeds, threads, state; and the command line over it."""

import copy
import os
import pathlib
import pickle
import random
import re
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from dy2st_runtime import InferenceModel, Predictor, TensorInfo, config
from dy2st_runtime.cli import main
from dy2st_runtime.errors import FeedError, Location
from dy2st_runtime.feeds import check_feeds
from dy2st_runtime.ir import Program
from dy2st_runtime.ops import registry
from hand_built import Made

MLP = pathlib.Path(__file__).parents[1] / "data" / "paddle-models" / "mlp"


@pytest.fixture
def predictor():
    return Predictor(MLP)


def test_inputs_and_outputs(predictor):
    assert predictor.inputs == [TensorInfo("x", "float32", (-1, 6))]
    assert predictor.outputs == [TensorInfo("save_infer_model/scale_0.tmp_0", "float32", (-1, 3))]


def test_by_name_and_by_position(predictor):
    x = np.ones((2, 6), "float32")
    np.testing.assert_array_equal(predictor.run({"x": x})[0], predictor.run([x])[0])
    np.testing.assert_array_equal(predictor.run([x.tolist()])[0], predictor.run([x])[0])


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({}, r"not fed: 'x' \(float32\[\?, 6\]\)"),
        ([], r"0 arrays were fed, the program takes 1: 'x' \(float32\[\?, 6\]\)"),
        ({"x": np.ones((2, 6), "float32"), "X": 1}, r"takes no feed 'X', it takes: 'x' \(float32\[\?, 6\]\)"),
        ({"x": np.ones((2, 6))}, r"feed 'x' is float64\[2, 6\], the program expects float32\[\?, 6\]"),
        ({"x": np.ones((2, 5), "float32")}, r"feed 'x' is float32\[2, 5\], the program expects float32\[\?, 6\]"),
        ({"x": np.ones(6, "float32")}, r"feed 'x' is float32\[6\], the program expects"),
        ({"x": [[1, 2], [3]]}, r"feed 'x' cannot be read as float32\[\?, 6\]"),
        ({"x": ["a"]}, r"feed 'x' cannot be read as"),
        ({"x": None}, r"feed 'x' cannot be read as float32\[\?, 6\]: None is no float32"),
        ({"x": [[1.0, None, 3.0, 4.0, 5.0, 6.0]]}, "None is no float32"),
        ({"x": [["1", "2", "3", "4", "5", "6"]]}, "'1' is no float32"),
    ],
)
def test_wrong_feeds(predictor, feeds, message):
    with pytest.raises(FeedError, match=message):
        predictor.run(feeds)


def test_a_wrong_feed_names_the_line_of_the_variable():
    v = Program().global_block().create_var("x", "float32", [2])
    v.info["location"] = Location("model.py", 7, 0, 4, "", "x = static.data('x', [2])")
    for given in ({}, {"x": np.zeros(2)}, {"x": np.zeros(3, "float32")}):
        with pytest.raises(FeedError, match=r"model.py:7:1\n    x = static.data"):
            check_feeds([v], given)


def test_lists_take_the_dtype_of_the_variable_if_nothing_is_lost():
    v = Program().global_block().create_var("ids", "int64", [-1])
    assert check_feeds([v], {"ids": [True, 2]})[0].tolist() == [1, 2]
    assert check_feeds([v], {"ids": []})[0].dtype == np.int64
    with pytest.raises(FeedError, match=r"cannot be read as int64\[\?\]: 1\.5 is no int64"):
        check_feeds([v], {"ids": [1.5, 2]})


def test_a_similar_name_is_suggested():
    v = Program().global_block().create_var("image", "float32", [])
    with pytest.raises(FeedError, match="did you mean 'image'"):
        check_feeds([v], {"imgae": 1.0})


def test_threads(predictor):
    rng = np.random.default_rng(0)
    feeds = [rng.normal(size=(i + 1, 6)).astype("float32") for i in range(8)]
    want = [predictor.run([x])[0] for x in feeds]
    wrong = []

    def work():
        for _ in range(20):
            for x, y in zip(feeds, want, strict=True):
                if not np.array_equal(predictor.run([x])[0], y):
                    wrong.append(x.shape)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def counting():
    """A model that adds to its input how often it ran."""
    m = Made()
    count = m.program.global_block().create_var("count", "float32", [1], persistable=True)
    y = m.b.elementwise_add(m.data("x", [1]), count)
    m.b.apply(registry.get("assign"), (m.b.scale(count, bias=1.0),), {}, {"Out": ["count"]})
    return InferenceModel(m.program, ["x"], [y.name], {"count": np.zeros(1, "float32")})


def runs_of(predictor, times):
    return [float(predictor.run([np.float32([10])])[0][0]) for _ in range(times)]


@pytest.mark.parametrize("native", [False, True])
def test_state_that_a_model_updates_is_kept_between_runs(native):
    model = counting()
    with config.NO_JIT.override(not native):
        assert runs_of(Predictor(model), 3) == [10, 11, 12]
    assert model.params["count"][0] == 0, "the model itself is not changed"


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_go_on_from_the_state_on_their_own(copied, native):
    model = counting()
    with config.NO_JIT.override(not native):
        predictor = Predictor(model)
        runs_of(predictor, 2)
        other = copied(predictor)
        assert runs_of(predictor, 3) == [12, 13, 14]
        assert runs_of(other, 2) == [12, 13]
        assert other.model.params["count"][0] == 2


# ---- command line ----
def test_run(capsys, tmp_path):
    np.savez(tmp_path / "feed.npz", x=np.ones((2, 6), "float32"))
    assert main(["run", str(MLP), "--feed", str(tmp_path / "feed.npz"), "--out", str(tmp_path / "y.npz")]) == 0
    assert "save_infer_model/scale_0.tmp_0: float32[2, 3]" in capsys.readouterr().out
    with np.load(tmp_path / "y.npz") as file:
        (y,) = (file[name] for name in file.files)
    np.testing.assert_array_equal(y, Predictor(MLP).run([np.ones((2, 6), "float32")])[0])


def test_run_with_zeros_and_time(capsys):
    assert main(["run", str(MLP), "--repeat", "3"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\d+\.\d{3} ms a run$", out, re.M)
    assert "float32[1, 3]" in out


def test_show(capsys):
    assert main(["show", str(MLP)]) == 0
    assert "  relu_0.tmp_0: float32[?, 16] = relu(X=linear_0.tmp_1)" in capsys.readouterr().out
    assert main(["show", str(MLP), "--proto"]) == 0
    assert capsys.readouterr().out.startswith("blocks {\n  idx: 0\n  parent_idx: -1\n")


def test_info(capsys):
    assert main(["info", str(MLP)]) == 0
    out = capsys.readouterr().out
    assert "parameters: 4 tensors, 163 numbers, 652 bytes" in out
    assert "  x: float32[?, 6]" in out
    assert "  matmul_v2: 2" in out


def test_a_reader_that_ends_first_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "dy2st_runtime", "info", str(MLP)], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_errors_are_one_line_and_status_1(capsys, tmp_path):
    (tmp_path / "bad.npz").write_text("no archive")
    for argv in (["run", str(tmp_path / "nothing")], ["run", str(MLP), "--feed", str(tmp_path / "bad.npz")]):
        assert main(argv) == 1
        captured = capsys.readouterr()
        assert captured.err.startswith("error: ")
        assert "Traceback" not in captured.err


def test_damaged_feeds_are_errors_of_one_line(capsys, tmp_path):
    """Whatever NumPy and zipfile stumble over; a byte that nothing looks at may be another."""
    np.savez(tmp_path / "good.npz", x=np.ones((2, 6), "float32"))
    np.save(tmp_path / "array.npy", np.ones((2, 6), "float32"))
    good, chance = (tmp_path / "good.npz").read_bytes(), random.Random(0)
    damaged = [good[: len(good) // 2], (tmp_path / "array.npy").read_bytes()]
    for at in (*range(0, 64, 3), *range(len(good) - 64, len(good), 3), *range(64, len(good) - 64, 29)):
        damaged.append(good[:at] + bytes([good[at] ^ chance.randrange(1, 256)]) + good[at + 1 :])
    failed = 0
    for data in damaged:
        (tmp_path / "bad.npz").write_bytes(data)
        failed += main(["run", str(MLP), "--feed", str(tmp_path / "bad.npz")])
        errors = capsys.readouterr().err
        assert "Traceback" not in errors
    assert failed > len(damaged) // 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("kind", ["pdmodel", "pdiparams", "npz"])
def test_a_pipe_is_no_file(capsys, tmp_path, kind):
    """Opening one would wait for somebody to write to it."""
    for suffix in ("pdmodel", "pdiparams"):
        shutil.copy(f"{MLP}.{suffix}", tmp_path / f"m.{suffix}")
    np.savez(tmp_path / "m.npz", x=np.ones((2, 6), "float32"))
    (tmp_path / f"m.{kind}").unlink()
    os.mkfifo(tmp_path / f"m.{kind}")
    assert main(["run", str(tmp_path / "m"), "--feed", str(tmp_path / "m.npz")]) == 1
    assert "is no regular file" in capsys.readouterr().err
