"""Models and solvers as people write them, with what they keep in lists of pairs, objects and deques."""

import math
from collections import deque

import dy2st as paddle
from dy2st.nn import functional as F


def attention_over_edges(h, a, b, c):
    edges = paddle.stack([paddle.stack([a, b]), paddle.stack([b, c]), paddle.stack([c, b])])
    n = h.shape[0]
    for _ in range(2):
        messages = [[] for _ in range(3)]
        for source, target in edges:
            both = h[source] * h[target]
            messages[target].append((both.sum(), F.relu(both + h[source])))
        new = []
        for i in range(3):
            if len(messages[i]) == 0:
                new.append(h[i])
            else:
                weights = F.softmax(paddle.stack([score for score, _ in messages[i]]), axis=0)
                new.append(paddle.tanh(h[i] + sum(w * m for w, (_, m) in zip(weights, messages[i], strict=True))))
        h = paddle.stack(new)
    return h, n


class Node:
    def __init__(self, prior):
        self.prior, self.visits, self.value_sum = prior, 0, prior * 0.0

    def value(self):
        return self.value_sum / self.visits if self.visits > 0 else self.value_sum

    def backed_up(self, value):
        self.visits += 1
        self.value_sum = self.value_sum + value


def tree_search(state, n):
    priors = F.softmax(state, axis=-1)
    root = [Node(priors[i]) for i in range(3)]
    for _ in range(n):
        total = sum(child.visits for child in root)
        scores = [child.value() + 1.25 * child.prior * math.sqrt(total + 1) / (1 + child.visits) for child in root]
        best = scores.index(max(scores))
        root[best].backed_up(paddle.tanh(state * (best + 1)).sum())
    visits = [child.visits for child in root]
    return visits, [child.value() * 1.0 for child in root], visits.index(max(visits))


class LBFGS:
    def __init__(self, history):
        self.steps, self.changes, self.evaluations = deque(maxlen=history), deque(maxlen=history), 0

    def direction(self, g):
        alphas = []
        for s, y in zip(reversed(self.steps), reversed(self.changes), strict=True):
            alphas.append((s * g).sum() / (y * s).sum())
            g = g - alphas[-1] * y
        for s, y, a in zip(self.steps, self.changes, reversed(alphas), strict=True):
            g = g + s * (a - (y * g).sum() / (y * s).sum())
        return -g

    def minimize(self, f, slope, x):
        g, count = slope(x), 0
        while g.norm() > 0.001 and count < 6:
            d, t, before = self.direction(g), 1.0, f(x)
            while f(x + t * d) > before + 0.0001 * t * (d * g).sum() and t > 0.001:
                self.evaluations += 1
                t *= 0.5
            new = slope(x + t * d)
            if ((new - g) * t * d).sum() > 1e-10:
                self.steps.append(t * d)
                self.changes.append(new - g)
            x, g, count = x + t * d, new, count + 1
        return x, count


def banana(x):
    solver = LBFGS(2)
    found, count = solver.minimize(
        lambda v: (1 - v[0]) ** 2 + 2 * (v[1] - v[0] ** 2) ** 2,
        lambda v: paddle.stack([-2 * (1 - v[0]) - 8 * v[0] * (v[1] - v[0] ** 2), 4 * (v[1] - v[0] ** 2)]), x,
    )  # fmt: skip
    return found, count, solver.evaluations, len(solver.steps)


def adaptive_steps(y):
    def f(t, v):
        return paddle.tanh(v**3) - v * t

    stats, kept, t, h, k = {"accepted": 0, "rejected": 0}, [y], 0.0, 0.25, f(0.0, y)
    while t < 1.0:
        if stats["accepted"] + stats["rejected"] >= 30:
            raise RuntimeError(f"{stats['rejected']} of 30 steps rejected")
        h = min(h, 1.0 - t)
        middle = f(t + h / 2, y + h / 2 * k)
        new = y + h * middle
        last = f(t + h, new)
        ratio = float(((h * (k - 2 * middle + last) / 6).abs() / (0.001 + 0.01 * new.abs())).max())
        if ratio <= 1:
            t, y, k = t + h, new, last
            stats["accepted"] += 1
            kept.append(y)
        else:
            stats["rejected"] += 1
        h = h * min(3.0, max(0.2, 0.9 / math.sqrt(max(ratio, 1e-6))))
    return y, stats, len(kept), kept[-2]


NODES = [[1.0, 2.0], [0.5, 1.0], [-1.0, 0.3]]

CASES = [
    (attention_over_edges, [(NODES, 0, 1, 2), (NODES, 0, 0, 0), (NODES, 2, 0, 1)], 1),
    (tree_search, [([1.0, 2.0, 0.5], 4), ([-3.0, 1.0, -2.0], 5), ([0.0, -1.0, 2.0], 0)], 1),
    (banana, [([0.0, 0.0],), ([1.0, 1.0],), ([-1.0, 2.0],)], 1),
    (adaptive_steps, [([0.1, 0.2],), ([-2.0, 2.0],), ([3.0, -1.0],)], 1),
]
