"""Sums that start from a Python number and become tensors: the number where nothing is added, of any shape where something is."""

import dy2st as paddle
from dy2st import nn


def loss_from_zero(x, n):
    loss = 0
    for i in range(n):
        loss += x * i
    return loss


def loss_then_mean(x, n):
    loss = 0.0
    for _ in range(n):
        loss = loss + x * x
    return loss.mean()


def added_on_one_path(x):
    extra = 0
    if x.sum() > 0:
        extra = x * 2
    return x + extra


def added_in_a_nested_loop(x, n):
    total = 0
    for i in range(n):
        row = 0
        for j in range(i + 1):
            if x[0] * j > -3:
                row = row + x * j
        total = total - row * 2 + abs(row)
    return total


def is_it_a_tensor(x, n):
    acc = 0
    for _ in range(n):
        acc = acc + x
    if isinstance(acc, paddle.Tensor):
        return acc * 2
    return x


def is_it_a_number(x, n):
    acc = 0.0
    for _ in range(n):
        acc = acc + x.sum()
    return acc * 2 if isinstance(acc, (int, float)) else acc + 1


def truth_of_it(x, n):
    acc = 0
    for _ in range(n):
        acc = acc + x[:1]
    return x if acc else -x


def comparison_returned(x, n):
    acc = 0
    for _ in range(n):
        acc = acc + x
    return acc > 1, acc * 2, -acc, acc - 1


def in_a_dict(x, n):
    losses = {"a": 0, "b": 0.0}
    for _ in range(n):
        losses["a"] += x
        losses["b"] += (x * x).mean()
    return losses


def two_of_them(x, n):
    a, b = 0, 0.0
    for i in range(n):
        if x[i] > 0:
            a = a + x
        else:
            b = b + x * 2
    return a + b


def two_of_them_scaled(x, n):
    a = b = 0
    for i in range(n):
        a = a + x[:1]
        if i > 0:
            b = b + a
    return a * b / (1 + abs(a)), b


def divided(x, n):
    a = 0
    for _ in range(n):
        a = a + x
    k = 0
    if x.sum() > 0:
        k = x
    return a / k


def mean_of(x, n):
    s = 0
    for _ in range(n):
        s += x
    return s / max(int(n), 1)


def in_a_list(x, n):
    out = []
    acc = 0
    for _ in range(n):
        acc = acc + x
        out.append(acc)
    return out


def unpacked(x, n):
    state = (0, x)
    for _ in range(n):
        a, b = state
        state = (a + b, b * 2)
    return state


def after_a_break(x, n):
    s = 0
    for _ in range(n):
        s = s + x
        if s.sum() > 7:
            break
    return s, s * s


def returned_from_the_loop(x, n):
    s = 0
    for _ in range(n):
        s = s + x
        if s.sum() > 7:
            return s
    return s + 1


def shape_of(x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return x * s.shape[0]


def cast_afterwards(x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return s.astype("float64")


def indexed(x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return s[0]


def in_expressions(x):
    return x * (x if x.sum() > 0 else 1) + (0.5 if x[0] > 0 else x)


def in_a_where(x, n):
    s = 0
    for _ in range(n):
        s = s + x
    return paddle.where(x > 0, s, x)


def as_a_float(x, n):
    s = 0.5
    for _ in range(n):
        s = s * x[:1]
    return x * float(s)


def in_a_maximum(x, n):
    s = 0.5
    for _ in range(n):
        s = paddle.maximum(x, s)
    return s


def of_integers(x, n):
    s = 0
    for _ in range(n):
        s = s + x.astype("int64")
    return s, s // 2, s % 3, s ** 2


class Experts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.fc.weight.set_value(paddle.to_tensor([[1.0, 2.0, 0.5], [0.5, 1.0, -1.0], [2.0, 0.0, 1.0]]))
        self.total = 0

    def forward(self, x, n):
        out = 0
        for i in range(n):
            if x[i] > -2:
                out = out + self.fc(x.reshape([1, 3])) * (i + 1)
        self.total = out
        return self.fc(out)


LAYER = Experts()


def in_a_sublayer(x, n):
    return LAYER(x, n).sum(), LAYER.total.mean()


def root_of_a_sum(x):
    norm = 0
    if x.sum() > -100:
        norm = (x * x).sum()
    return paddle.sqrt(norm), paddle.exp(abs(norm) / 10)


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

CASES = [
    (loss_from_zero, RUNS, 1),
    (loss_then_mean, RUNS, 1),
    (added_on_one_path, [(P,), (N,)], 1),
    (added_in_a_nested_loop, RUNS, 1),
    (is_it_a_tensor, RUNS, 1),
    (is_it_a_number, RUNS, 1),
    (truth_of_it, RUNS, 1),
    (comparison_returned, RUNS, 1),
    (in_a_dict, RUNS, 1),
    (two_of_them, RUNS, 1),
    (two_of_them_scaled, RUNS, 1),
    (divided, RUNS, 1),
    (mean_of, RUNS, 1),
    (in_a_list, RUNS, 1),
    (unpacked, RUNS, 1),
    (after_a_break, RUNS, 1),
    (returned_from_the_loop, RUNS, 1),
    (shape_of, RUNS, 1),
    (cast_afterwards, RUNS, 1),
    (indexed, RUNS, 1),
    (in_expressions, [(P,), (N,)], 1),
    (in_a_where, RUNS, 1),
    (as_a_float, RUNS, 1),
    (in_a_maximum, RUNS, 1),
    (of_integers, RUNS, 1),
    (in_a_sublayer, [(P, 3), (N, 2), (P, 1)], 1),
    (root_of_a_sum, [(P,), (N,)], 1),
]
