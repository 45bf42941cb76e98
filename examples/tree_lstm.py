"""A TreeLSTM that calls itself: it reads boolean expressions as trees and learns to evaluate them.

The trees are arrays: what stands at each node, and its two children, -1 at a leaf. How deep `encode` goes only the data know, so it
becomes a function of the Program that calls itself, differentiable; nothing is unrolled, and one trace serves all trees.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import nn

FALSE, TRUE, AND, OR, XOR = range(5)


class TreeLSTM(nn.Layer):
    """The logit that each tree of a forest is true, shape [trees], for `roots` (int64 [trees]) and, for all nodes of all trees,
    `kinds`, `left` and `right` (int64 [nodes])."""

    def __init__(self, size: int):
        super().__init__()
        self.symbols = nn.Embedding(5, size)
        self.cell = nn.Linear(3 * size, 5 * size)
        self.head = nn.Linear(size, 1)

    def forward(self, roots, kinds, left, right):
        logits = []
        for root in roots:
            h, _ = self.encode(root, kinds, left, right)
            logits.append(self.head(h))
        return paddle.concat(logits)[:, 0]

    def encode(self, node, kinds, left, right):
        """The state (h, c), both of shape [1, size], of the tree below a node."""
        x = self.symbols(kinds[node]).reshape([1, -1])
        if left[node] < 0:
            return paddle.tanh(x), x
        h1, c1 = self.encode(left[node], kinds, left, right)
        h2, c2 = self.encode(right[node], kinds, left, right)
        i, f1, f2, o, u = paddle.split(self.cell(paddle.concat([x, h1, h2], axis=1)), 5, axis=1)
        c = F.sigmoid(i) * paddle.tanh(u) + F.sigmoid(f1) * c1 + F.sigmoid(f2) * c2
        return F.sigmoid(o) * paddle.tanh(c), c


def random_tree(rng: np.random.Generator, leaves: int, nodes: list[list[int]]) -> tuple[int, bool]:
    """Appends the nodes [kind, left, right] of a random expression; returns its root and its value."""
    node = len(nodes)
    nodes.append([0, -1, -1])
    if leaves == 1:
        value = bool(rng.integers(2))
        nodes[node][0] = TRUE if value else FALSE
        return node, value
    split = int(rng.integers(1, leaves))
    left, a = random_tree(rng, split, nodes)
    right, b = random_tree(rng, leaves - split, nodes)
    kind = int(rng.integers(AND, XOR + 1))
    nodes[node] = [kind, left, right]
    return node, (a and b, a or b, a != b)[kind - AND]


def random_forest(rng: np.random.Generator, trees: int, leaves: int) -> tuple[list[paddle.Tensor], np.ndarray]:
    """The arguments of `TreeLSTM` for trees with up to so many leaves, and their values as float32 [trees]."""
    nodes: list[list[int]] = []
    found = [random_tree(rng, int(rng.integers(1, leaves + 1)), nodes) for _ in range(trees)]
    columns = np.array(nodes, "int64").T
    arrays = [np.array([root for root, _ in found], "int64"), *columns]
    return [paddle.to_tensor(np.ascontiguousarray(a)) for a in arrays], np.array([value for _, value in found], "float32")


def train_step(model: nn.Layer, optimizer, forest: list[paddle.Tensor], values: np.ndarray) -> tuple[float, float]:
    """The loss and the accuracy before the step."""
    logits = model(*forest)
    loss = F.binary_cross_entropy_with_logits(logits, paddle.to_tensor(values))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return float(loss), float(((logits.numpy() > 0) == (values > 0)).mean())


def new_model(size: int, seed: int, static: bool):
    """A model, decorated or not, and its optimizer; the same parameters for the same seed."""
    paddle.seed(seed)
    model = TreeLSTM(size)
    optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.parameters())
    return (paddle.jit.to_static(model) if static else model), optimizer


def seconds_of_a_step(size: int, trees: int, leaves: int, static: bool, repeat: int) -> float:
    """The median time of a training step, after one that traces and compiles."""
    rng = np.random.default_rng(1)
    model, optimizer = new_model(size, 0, static)
    forest, values = random_forest(rng, trees, leaves)
    train_step(model, optimizer, forest, values)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        train_step(model, optimizer, forest, values)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(arguments: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--trees", type=int, default=32, help="trees in a batch")
    parser.add_argument("--leaves", type=int, default=12, help="leaves of the largest tree")
    parser.add_argument("--size", type=int, default=32, help="elements of the state")
    parser.add_argument("--repeat", type=int, default=5, help="steps that are timed")
    args = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    model, optimizer = new_model(args.size, 0, static=True)
    recent: list[tuple[float, float]] = []
    for step in range(1, args.steps + 1):
        recent.append(train_step(model, optimizer, *random_forest(rng, args.trees, args.leaves)))
        if step % max(args.steps // 10, 1) == 0:
            loss, accuracy = np.mean(recent[-max(args.steps // 10, 1) :], axis=0)
            print(f"step {step:4}: loss {loss:.4f}, accuracy {accuracy:.1%} on new trees")
    assert len(model.forward.concrete_programs) <= 2, "one trace serves all trees"
    accuracy = float(np.mean([a for _, a in recent[-max(args.steps // 10, 1) :]]))
    eager, static = (seconds_of_a_step(args.size, args.trees, args.leaves, s, args.repeat) for s in (False, True))
    print(f"a training step: eager {1e3 * eager:.1f} ms, static {1e3 * static:.1f} ms, ratio {eager / static:.1f}x")
    return accuracy


if __name__ == "__main__":
    main()
