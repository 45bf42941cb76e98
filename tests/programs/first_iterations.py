"""What an iteration of a staged loop leaves to the next one, where only a condition keeps the first from reading it."""

# ruff: noqa: F821, F841, B023, B007 (that is what it is about)

import dy2st
from dy2st import nn

P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]


def previous_value(x, n):
    for i in range(n):
        if i > 0:
            x = x + a
        a = x * 2
    return x


def made_by_the_first(x):
    for k, v in enumerate(x):
        if k == 0:
            y = v * 2
        else:
            y = y * 0.5 + v
    return y


def where_a_tensor_decides(x, n):
    for i in range(n):
        if x.sum() > 5:
            x = x + a
        a = x * 2
        x = x + 1
    return x


def behind_an_and(x, n):
    for i in range(n):
        if i > 0 and (x - prev).abs().sum() < 1.0:
            break
        prev = x
        x = x * 0.5
    return x, i


def in_an_expression(x, n):
    for i in range(n):
        y = x if i == 0 else y + x
        z = y.sum() if i == 0 or y.sum() > z else z
    return y, z


def in_an_inner_loop(x, n):
    for i in range(n):
        for _ in range(i):
            x = x + a
        a = x * 2
    return x


def two_that_depend_on_each_other(x, n):
    for i in range(n):
        if i > 1:
            x = x + b
        if i > 0:
            b = a * 2
        a = x * 0.5
    return x


def list_made_by_the_first(x, n):
    for i in range(n):
        if i == 0:
            parts = [x]
        else:
            parts.append(parts[-1] * 2)
    return dy2st.stack(parts).sum(0)


def in_a_function_inside(x, n):
    for i in range(n):

        def step(y):
            return y + a if i > 0 else y

        x = step(x)
        a = x * 2
    return x


def entry_of_a_dict(x, n):
    kept = {}
    for i in range(n):
        if i > 0:
            x = x + kept["last"]
        kept["last"] = x * 2
    return x


class Remembering(nn.Layer):
    def forward(self, x, n):
        for i in range(n):
            if i > 0:
                x = x + self.last
            self.last = x * 2
        return x


def attribute_of_a_layer(x, n):
    return Remembering()(x, n)


def entry_that_a_while_loop_leaves(x, n):
    kept, i = {}, 0
    while i < n:
        if x.sum() > 5:
            x = x + kept["last"]
        kept["last"] = x * 2
        x, i = x + 1, i + 1
    return x


_CALLS = [(P, 4), (P, 1), (P, 2), (N, 3)]
CASES = [
    (previous_value, [*_CALLS, (P, 0)], 1),
    (made_by_the_first, [(P,), ([2.0],), ([1.0, -2.0, 3.0, 4.0, 5.0],)], 1),
    (where_a_tensor_decides, [([-1.0, 0.5], 5), (N, 2), ([1.0, -7.0], 6)], 1),
    (behind_an_and, _CALLS, 1),
    (in_an_expression, _CALLS, 1),
    (in_an_inner_loop, [*_CALLS, (P, 0)], 1),
    (two_that_depend_on_each_other, [*_CALLS, (P, 5)], 1),
    (list_made_by_the_first, _CALLS, 1),
    (in_a_function_inside, _CALLS, 1),
    (entry_of_a_dict, [*_CALLS, (P, 0)], 1),
    (attribute_of_a_layer, [*_CALLS, (P, 0)], 1),
    (entry_that_a_while_loop_leaves, [([-1.0, 0.5], 5), (N, 2), (P, 3), (P, 0)], 1),
]
