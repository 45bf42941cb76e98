"""State that a function knows by a closure: buffers of layers, and lists and dicts that the body of a `try` changes."""

import pytest
import stateful
from guarding import Box

from dy2st import nn, ones, to_tensor


class Counting(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", ones([1]))
        self.inner = nn.Linear(1, 1)
        self.inner.register_buffer("total", ones([1]))


def buffer_of_a_layer_around():
    net = Counting()

    def f(x, n):
        net.count = net.count + 1
        if n > 1:
            net.inner.total = net.inner.total * 2 + x.sum()
        return x * net.count, net.inner.total * 1

    return f, net._buffers


def appended_behind_a_raise():
    box = Box(rows=[])

    def f(x, n):
        try:
            if x.sum() > 0:
                raise ValueError
            box.rows.append(x.sum())
        except ValueError:
            pass
        return x

    return f, box


def appended_before_and_behind_a_raise():
    box = Box(rows=[to_tensor(1.0)])

    def f(x, n):
        try:
            box.rows.append(x.mean())
            if x.sum() > 0:
                raise ValueError
            box.rows.append(x.sum())
        except ValueError:
            box.rows.append(x.max())
        return x * len(box.rows)

    return f, box


def items_set_behind_a_raise():
    box = Box(rows={"a": to_tensor(1.0)})

    def f(x, n):
        try:
            if x.sum() > 0:
                raise ValueError
            box.rows["a"] = x.sum()
            box.rows["b"] = box.rows.get("b", 0) + x.sum()
        except ValueError:
            box.rows["c"] = box.rows["a"] + x.max()
        return x

    return f, box


@pytest.mark.parametrize("make", [
    buffer_of_a_layer_around, appended_behind_a_raise, appended_before_and_behind_a_raise, items_set_behind_a_raise,
])  # fmt: skip
def test_what_each_call_leaves(make):
    stateful.check(make)
