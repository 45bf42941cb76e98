"""`cond`, `while_loop`, `case` and `switch_case`, called as one does where a program is built by hand."""

import dy2st as paddle
from dy2st import nn
from dy2st.fluid import layers
from dy2st.static.nn import case, cond, switch_case, while_loop


def branches_that_do_more(x):
    seen, count = [], 0

    def positive():
        nonlocal count
        count += 1
        seen.append(x.sum())
        return x * 2

    def negative():
        nonlocal count
        count += 10
        return -x

    y = cond(x.sum() > 0, positive, negative)
    return y, count, seen


def one_branch(x):
    y = cond(x.sum() > 0, lambda: x * 2)
    return x if y is None else y


def numbers_and_tensors(x):
    y, n = cond(x.sum() > 0, lambda: (x, 1), lambda: (x * 2, 2))
    return y * n, cond(True, lambda: x + 1, None), cond(x.sum() > 0, lambda: x.mean(), lambda: 0.5)


def nested(x):
    return cond(x.sum() > 0, lambda: {"a": x, "b": [x * 2]}, lambda: cond(x[0] < -2, lambda: {"a": x - 1, "b": [x]},
                lambda: {"a": x + 5, "b": [x * 0.5]}))  # fmt: skip


def raises_in_a_branch(x):
    def refuse():
        raise ValueError("negative")

    return cond(x.sum() < 0, true_fn=refuse, false_fn=lambda: x * 2)


def text_of_a_branch(x):
    texts = []

    def told():
        texts.append("positive")
        return x

    return cond(x.sum() > 0, told, lambda: x * 3), texts


def writes_to_a_tensor(x):
    y = layers.zeros([3], "float32")
    cond(x.sum() > 0, lambda: layers.assign(x * 2, y), lambda: layers.assign(x * 3, y))
    return y * x


def loop_that_does_more(x, n):
    totals, steps = [], 0

    def body(i, y):
        nonlocal steps
        steps += 2
        totals.append(y.sum())
        return [i + 1, y * 0.5 + 1]

    i, y = while_loop(lambda i, y: i < n, body, [paddle.to_tensor(0), x])
    return i, y, steps, totals


def loop_with_a_branch(x, n):
    def body(i, d):
        y = d["y"]
        if y.sum() < 0:
            y = -y * 2
        else:
            y = y * 2 + 1
        return i + 1, {"y": y, "sum": [d["sum"][0] + y.mean()]}

    i, d = while_loop(lambda i, d: paddle.logical_and(i < n, d["y"].sum() < 30), body, (paddle.to_tensor(0), {"y": x, "sum": [x.sum()]}))
    return i, d["y"], d["sum"][0]


def loop_over_numbers_of_python(x):
    i, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 1.5), [0, x])
    return y * i


def loop_that_counts_in_place(x, n):
    i = layers.fill_constant([1], "int64", 0)

    def body(i, s):
        s = s + x
        layers.increment(i)
        return i, s

    _, s = while_loop(lambda i, s: i < n, body, [i, x * 0])
    return s, i


def first_true(x):
    called = []

    def large():
        called.append(1)
        return x * 3

    def small():
        called.append(2)
        return x * 2

    y = case([(x.sum() > 4, large), (x.sum() > 0, small)], default=lambda: x - 1)
    return y, called, case([(x[0] > 1, lambda: x), (x[0] > 0, lambda: x * 2)])


def by_number(x, n):
    called = [0]

    def one():
        called[0] += 1
        return x * 2

    y = switch_case(n, {1: one, 4: lambda: x * 3}, default=lambda: x - 1)
    return y, called, switch_case(n, [lambda: x, lambda: -x]), switch_case(n, [(1, lambda: x + 1), (0, lambda: x + 2)])


class Gated(nn.Layer):
    def __init__(self):
        super().__init__()
        self.used, self.last = 0, None

    def forward(self, x):
        def one():
            self.used += 1
            self.last = x.sum()
            return x * 2

        return cond(x.mean() > 0, one, lambda: x * 3), self.used, self.last


def attributes_of_a_layer(x):
    gated = Gated()
    return gated(x), gated(-x)


P, N, L = [1.0, 2.0, 0.5], [-3.0, 1.0, -0.5], [3.0, 4.0, 1.0]

CASES = [
    (branches_that_do_more, [(P,), (N,)], 1),
    (one_branch, [(P,), (N,)], 1),
    (numbers_and_tensors, [(P,), (N,)], 1),
    (nested, [(P,), (N,), ([-1.0, 0.0, 0.0],)], 1),
    (raises_in_a_branch, [(P,), (N,), (L,)], 1),
    (text_of_a_branch, [(P,), (N,)], 1),
    (writes_to_a_tensor, [(P,), (N,)], 1),
    (loop_that_does_more, [(P, 2), (N, 0), (L, 4)], 1),
    (loop_with_a_branch, [(P, 2), (N, 5), (L, 0)], 1),
    (loop_over_numbers_of_python, [(P,), (N,)], 1),
    (loop_that_counts_in_place, [(P, 2), (N, 0), (L, 3)], 1),
    (first_true, [(P,), (N,), (L,)], 1),
    (by_number, [(P, 1), (N, 4), (L, 0), (P, 7)], 1),
    (attributes_of_a_layer, [(P,), (N,)], 1),
]
