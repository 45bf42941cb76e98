"""The TreeLSTM learns, one trace serves all trees, and static is what eager is."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "examples" / "tree_lstm.py"


@pytest.fixture(scope="module")
def tree_lstm():
    spec = importlib.util.spec_from_file_location("tree_lstm", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_learns_to_evaluate(tree_lstm, capsys):
    accuracy = tree_lstm.main(["--steps", "60", "--trees", "16", "--leaves", "6", "--size", "16", "--repeat", "1"])
    assert accuracy > 0.75  # the more frequent value alone is right in about 0.55 of the trees
    out = capsys.readouterr().out
    assert "step   60: loss" in out
    assert "ratio" in out


def test_a_training_step_is_that_of_eager_mode(tree_lstm):
    found = []
    for static in (False, True):
        rng = np.random.default_rng(3)
        model, optimizer = tree_lstm.new_model(8, 0, static)
        losses = [tree_lstm.train_step(model, optimizer, *tree_lstm.random_forest(rng, 4, 7))[0] for _ in range(3)]
        found.append([losses, *(p.numpy() for p in model.parameters())])
    for eager, static in zip(*found, strict=True):
        np.testing.assert_allclose(static, eager, rtol=1e-4, atol=1e-5)
