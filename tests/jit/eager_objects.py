"""As `eager_statements.py`: programs in which Python, where it goes on, tells which object a tensor is."""

import copy

import numpy as np

from dy2st import autograd, nn
from dy2st.tensor import Tensor


def louder(p, q):
    assert len(p.numpy()) == 2  # eager
    return p if p.sum() > q.sum() else q


def helper_returns_an_argument(x, n):
    p, q = x * 2, x + n
    best = louder(p, q)
    best.scale_(3.0)
    return p, q, best is p, best * 1


def longer(xs, ys):
    assert len(xs[0].numpy()) == 2  # eager
    return xs if xs[0].sum() > ys[0].sum() else ys  # eager: which list it is


def list_from_a_helper(x, n):
    xs, ys = [x * 2], [x + n]
    rows = longer(xs, ys)
    rows.append(x - 1)
    rows[0] = rows[0] * 3
    return xs, ys, len(xs) - len(ys)


class Row:
    def __init__(self, score):
        self.score, self.hits = score, 0


def better(p, q):
    if f"{float(p.score):.1f}" == f"{float(q.score):.1f}":  # eager
        return p
    return p if p.score > q.score else q


def object_from_a_helper(x, n):
    p, q = Row(x.sum()), Row((x * n).max())
    best = better(p, q)
    best.hits += 1
    best.score = best.score * 2
    return p.hits, q.hits, p.score + q.score


def place_of(items, v):
    return next((i for i, w in enumerate(items) if w is v), -1)


def place_told_by_a_helper(x, n):
    items = [x * 1, x * 2, x - n]
    best = items[0]
    for v in items[1:]:
        if v.sum() > best.sum():
            best = v
    print(np.round(best.numpy(), 2).tolist())  # eager
    return place_of(items, best), best * 2


def in_a_set(x, n):
    p, q = x * 2, x + n
    best = p if p.sum() > q.sum() else q
    top = float(np.max(best.numpy()))  # eager
    return best * top, len({p, q, best}), len(dict.fromkeys([best, q]))


def key_of_a_table(x, n):
    p, q = x * 2, x + n
    names = {p: "p", q: "q"}
    best = p if p.sum() > q.sum() else q
    top = float(np.max(best.numpy()))  # eager
    return x * top * 2, names[best], names.get(best * 1, "new")  # eager: no Program knows the table


def member_of_a_set(x, n):
    p, q = x * 2, x + n
    seen = {p}
    best = p if p.sum() > q.sum() else q
    top = float(np.max(best.numpy()))  # eager
    return x * top * 2, best in seen, best * 1 in seen  # eager: no Program knows the set


def hook(x, n):
    p, q = x * 2, x + n
    best = p if p.sum() > q.sum() else q
    top = float(np.max(best.numpy()))  # eager
    best.register_hook(lambda g: g * 10)  # eager
    return p * 3 + q * 5 + best * top


def stopped(x, n):
    p, q = x * 2, x + n
    best = p if p.sum() > q.sum() else q
    top = np.max(best.numpy())  # eager
    best.stop_gradient = True
    return p * 3 + q * 5 + best * float(top)  # eager


def gradient_by_it(x, n):
    rows = [x * 2, x + n, x * x]
    best = rows[0]
    for r in rows[1:]:
        if r.sum() > best.sum():
            best = r
    print(np.round(best.numpy(), 3).tolist())  # eager
    loss = sum((r * r).sum() for r in rows)
    (g,) = autograd.grad(loss, [best], retain_graph=True, allow_unused=True)  # eager
    return loss, g


def attribute(x, n):
    p, q = x * 2, x + n
    best = p if p.sum() > q.sum() else q
    top = float(np.max(best.numpy()))  # eager
    best.label = "best"
    return p * top, q * 1, getattr(p, "label", "-"), getattr(q, "label", "-")


def copied_together(x, n):
    x = x.detach()
    items = [x * 2, x + n]
    best = items[0] if items[0].sum() > items[1].sum() else items[1]
    text = str(items[0].numpy().tolist())  # eager
    copies = copy.deepcopy((items, best))
    copies[1].fill_(7.0)
    return copies[0], items, len(text)


def views_of_a_dict(x, n):
    table = {"a": x * 2, "b": x - n}
    keys, values = table.keys(), table.values()  # eager: views are no result
    top = float(np.max(table["a"].numpy()))  # eager
    table["c"] = x * top + 1
    if x.sum() > 4:
        table["a"] = table["a"] + 1
    total = sum(values)  # eager: no Program knows the view
    return total * 2 + 1, list(keys), len(values)  # eager: likewise


WEIGHT = Tensor([1.0, -2.0], stop_gradient=False)


def leaf_without_gradient(x, n):
    with autograd.no_grad():
        v = WEIGHT
        if x.sum() > n:
            v = WEIGHT * 2
        k = float(np.abs(v.numpy()).max())  # eager
    y = (v * x.detach()).sum() * k
    return v is WEIGHT, y.stop_gradient, y


def detached_on_one_path(x, n):
    p = x * 2
    q = p.detach() if p.sum() > n + 5 else p
    r = q * 3
    top = float(np.max(q.numpy()))  # eager
    return q * top + x, q.stop_gradient, q is p, r.sum() * 2


def loop_that_may_have_no_iterations(x, n):
    h = Tensor([0.0, 0.0])
    for _ in range(n - 1):
        h = (h + x).tanh()
    top = float(np.max(h.numpy()))  # eager
    return h * top * 2, h.stop_gradient


def sums_that_may_have_a_gradient(x, n):
    total = Tensor([0.0, 0.0])
    for i in range(n - 1):  # eager: what the sum is computed from may have one
        total = total + x.detach() * i
        if x.sum() > 4:
            total = total + x
    top = float(np.max(total.numpy()))  # eager
    return total * top * 2, total.stop_gradient


class Gate(nn.Layer):
    def forward(self, x):
        assert len(x.numpy()) == 2  # eager
        return x if x.sum() > 4 else x * 3


GATE = Gate()


def sublayer_returns_its_input(x, n):
    h = x * 1.5
    y = GATE(h)
    y.scale_(2.0)
    return h + y * n


LARGE, SMALL = ([3.0, 2.0], 1), ([1.0, 2.0], 5)
HELPERS = {helper_returns_an_argument: louder, list_from_a_helper: longer, object_from_a_helper: better,
           sublayer_returns_its_input: Gate.forward}  # fmt: skip
CASES = [
    (f, [LARGE, SMALL, LARGE])
    for f in (
        *HELPERS, place_told_by_a_helper, in_a_set, key_of_a_table, member_of_a_set, hook, stopped, gradient_by_it, attribute,
        copied_together, views_of_a_dict, detached_on_one_path,
        loop_that_may_have_no_iterations, sums_that_may_have_a_gradient, leaf_without_gradient,
    )
]  # fmt: skip
