"""A malformed model is an error of ours, or it runs: nothing of what Python raises inside comes out, at loading or at the first run."""

from __future__ import annotations

import math
import pathlib
import random
import shutil
import signal
import warnings

import numpy as np
import pytest
from dy2st_runtime import Predictor
from dy2st_runtime.errors import Dy2stError, FormatError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.formats import program_from_bytes
from dy2st_runtime.formats.framework_proto import ProgramDesc
from mutants import mutant

MODELS = pathlib.Path(__file__).parents[2] / "data" / "paddle-models"
NAMES = ("mlp", "control", "convnet")


class Endless(Exception):
    """A loop that was made endless, or an input of more elements than anybody feeds, which is no error of the model."""


@pytest.fixture
def short_loops(monkeypatch):
    """A native run ends after so much of the processor's time: some mutants have loops without an end, which look for signals."""
    plain = Executable.call_driver

    def endless(*_):
        raise Endless

    def call(self, frame):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.3)
        try:
            plain(self, frame)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    monkeypatch.setattr(Executable, "call_driver", call)
    before = signal.signal(signal.SIGVTALRM, endless)
    yield
    signal.signal(signal.SIGVTALRM, before)


def run(path: pathlib.Path, chance: random.Random) -> None:
    predictor = Predictor(path)
    draws = np.random.RandomState(chance.randrange(2**32))
    feeds = {}
    for info in predictor.inputs:
        shape = [2 if d < 0 else d for d in info.shape]
        if math.prod(max(d, 1) for d in shape) > 1 << 24:  # to NumPy a size of 0 beside a large one is too much as well
            raise Endless
        drawn = draws.randn(*shape) if info.dtype.startswith("float") else draws.randint(0, 2, shape)
        feeds[info.name] = np.asarray(drawn, info.dtype)
    predictor.run(feeds)


def raw_errors(name: str, seeds: range, folder: pathlib.Path) -> list[str]:
    original = (MODELS / f"{name}.pdmodel").read_bytes()
    shutil.copy(MODELS / f"{name}.pdiparams", folder / "m.pdiparams")
    found = []
    for seed in seeds:
        chance = random.Random(seed)
        (folder / "m.pdmodel").write_bytes(mutant(original, chance))
        try:
            run(folder / "m", chance)
        except (Dy2stError, MemoryError, Endless):
            continue
        except Exception as error:
            found.append(f"{name}, seed {seed}: {type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_mutants(name, tmp_path, short_loops):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not raw_errors(name, range(300), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_mutants(name, tmp_path, short_loops):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not raw_errors(name, range(1000, 4000), tmp_path)


# ---- what was found by other models than these ----


def malformed(ops, variables=()):
    """A program of these ops as bytes: (type, inputs, outputs, attributes)."""
    desc = ProgramDesc()
    block = desc.blocks.add(idx=0, parent_idx=-1)
    for name, kind, shape in (("x", 7, [3]), ("array", 13, [3]), ("y", 7, [3]), ("z", 7, [3]), *variables):
        v = block.vars.add(name=name, persistable=False, need_check_feed=name == "x")
        v.type.type = kind
        held = v.type.lod_tensor if kind == 7 else v.type.tensor_array
        held.tensor.data_type, held.tensor.dims[:] = 5, shape
    for kind, inputs, outputs, attrs in ops:
        op = block.ops.add(type=kind)
        for side, given in ((op.inputs, inputs), (op.outputs, outputs)):
            for slot, names in given.items():
                side.add(parameter=slot, arguments=names)
        for name, (code, field, value) in attrs.items():
            attr = op.attrs.add(name=name, type=code)
            if isinstance(value, list):
                getattr(attr, field).extend(value)
            else:
                setattr(attr, field, value)
    return desc.SerializeToString()


def text(value):
    return (2, "s", value)


INT64 = {"shape": (11, "longs", [2]), "dtype": (0, "i", 3)}


@pytest.mark.parametrize(("ops", "message"), [
    ([("fill_constant", {}, {"Out": ["y"]}, {**INT64, "str_value": text("sum")})], "'sum' is no number"),
    ([("fill_constant", {}, {"Out": ["y"]}, {**INT64, "str_value": text("9" * 30)})], "out of range for int64"),
    ([("fill_constant", {}, {"Out": ["y"]}, {**INT64, "value": (1, "f", float("inf"))})], "inf cannot be an int64"),
    ([("logical_not", {}, {"Out": ["y"]}, {})], "slot X takes one variable, got 0"),
    ([("relu", {"X": ["array"]}, {"Out": ["y"]}, {})], "relu takes no TensorArray, which 'array"),
    ([("slice", {"Input": ["array"]}, {"Out": ["y"]}, {})], "slice takes no TensorArray"),
    ([("split", {"X": ["x"]}, {"Out": ["y"]}, {"num": (0, "i", 3)})], "slot Out yields 3 values, 1 named"),
])  # fmt: skip
def test_malformed_ops(ops, message):
    with pytest.raises(FormatError, match=message):
        program_from_bytes(malformed(ops))
