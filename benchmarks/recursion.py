"""A TreeLSTM that calls itself over array-coded trees: a training step, static against eager."""

from __future__ import annotations

import numpy as np

from examples.tree_lstm import new_model, random_forest, train_step

from .common import Row, in_turn

TREES = 16


def run() -> list[Row]:
    rows = []
    for size, leaves in ((32, 10), (128, 10), (32, 40)):
        forest, values = random_forest(np.random.default_rng(0), TREES, leaves)
        steps = []
        for static in (True, False):
            model, optimizer = new_model(size, 0, static)
            steps.append(lambda m=model, o=optimizer: train_step(m, o, forest, values))  # noqa: B023
        first = [step()[0] for step in steps]
        np.testing.assert_allclose(first[0], first[1], rtol=1e-3)
        ours, eager = in_turn(*steps, repeat=3)
        name = f"TreeLSTM, size {size}, {TREES} trees of up to {leaves} leaves"
        rows.append(Row(f"{name}: one node, forward and backward", ours / len(forest[1].numpy()) * 1e6, "us"))
        rows.append(Row(f"{name}: static / eager", ours / eager, "x", 0.2))
    return rows
