"""Three models that PaddlePaddle 2.6.2 saved, with the outputs that it computed."""

import pathlib
import shutil

import numpy as np
import pytest
from dy2st_runtime import config
from dy2st_runtime.errors import FormatError
from dy2st_runtime.formats import load_inference_model, save_inference_folder, save_inference_model
from dy2st_runtime.ir.visit import all_ops
from dy2st_runtime.predictor import Predictor

MODELS = pathlib.Path(__file__).parents[2] / "data" / "paddle-models"


def cases(name):
    """(feeds in order, expected results in order) of each recorded case."""
    with np.load(MODELS / f"{name}.npz") as file:
        data = dict(file)
    count = 1 + max(int(key.split("_")[0].lstrip("inout")) for key in data)
    for case in range(count):
        picked = [[data[key] for key in sorted(data) if key.startswith(f"{kind}{case}_")] for kind in ("in", "out")]
        assert all(picked)
        yield picked


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("name", ["mlp", "convnet", "control"])
def test_recorded_outputs(name, native):
    with config.NO_JIT.override(not native):
        predictor = Predictor(MODELS / name)
        for feeds, expected in cases(name):
            results = predictor.run(feeds)
            assert len(results) == len(expected)
            for got, want in zip(results, expected, strict=True):
                assert got.dtype == want.dtype
                assert got.shape == want.shape
                np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)


def test_cases_differ_in_what_matters():
    """The recorded cases have several batch sizes and, in `control`, trip counts and branches."""
    for name in ("mlp", "convnet", "control"):
        assert len({feeds[0].shape[0] for feeds, _ in cases(name)}) > 1
    assert len({float(out[1][0]) for _, out in cases("control")}) > 1


def test_control_flow_is_structured():
    model = load_inference_model(MODELS / "control")
    assert model.feed_names == ["x", "ids"]
    assert model.fetch_names == ["save_infer_model/scale_0.tmp_2", "save_infer_model/scale_1.tmp_0"]
    kinds = [op.type for op in model.program.global_block().ops]
    assert kinds.count("cond") == 1, "the two conditional_blocks and the select_input are one cond"
    assert kinds.count("while_loop") == 1
    loop = next(op for op in model.program.global_block().ops if op.type == "while_loop")
    assert len(loop.output("Out")) == 3


@pytest.mark.parametrize("name", ["mlp", "convnet", "control"])
def test_saved_again(name, tmp_path):
    model = load_inference_model(MODELS / name)
    save_inference_model(tmp_path / "m", model.program, model.feed_names, model.fetch_names, model.params)
    save_inference_folder(tmp_path / "folder", model.program, model.feed_names, model.fetch_names, model.params)
    save_inference_folder(tmp_path / "one", model.program, model.feed_names, model.fetch_names, model.params,
                          model_filename="net", params_filename="weights")  # fmt: skip
    with config.NO_JIT.override(True):
        again = [
            Predictor(tmp_path / "m"),
            Predictor(tmp_path / "m.pdmodel"),
            Predictor(tmp_path / "folder"),
            Predictor(tmp_path / "one", model_filename="net", params_filename="weights"),
        ]
        first = Predictor(model)
        for predictor in again:
            assert predictor.outputs == first.outputs
            assert predictor.inputs == first.inputs
            for feeds, _ in cases(name):
                for a, b in zip(first.run(feeds), predictor.run(feeds), strict=True):
                    np.testing.assert_array_equal(a, b)


def test_hints_for_devices_and_call_stacks_are_dropped(tmp_path):
    model = load_inference_model(MODELS / "convnet")
    save_inference_model(tmp_path / "m", model.program, model.feed_names, model.fetch_names, model.params)
    data = (tmp_path / "m.pdmodel").read_bytes()
    for word in (b"op_callstack", b"op_role", b"op_device", b"/root", b".py"):
        assert word not in data
    assert all(op.location is None for op in all_ops(model.program.global_block()))


def test_parameters_of_another_model_are_refused(tmp_path):
    shutil.copy(MODELS / "mlp.pdmodel", tmp_path / "m.pdmodel")
    shutil.copy(MODELS / "control.pdiparams", tmp_path / "m.pdiparams")
    with pytest.raises(FormatError):
        load_inference_model(tmp_path / "m")
