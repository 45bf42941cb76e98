"""Calls between which the outside is changed by hand: each reads what is there then, and leaves what eager mode leaves."""

import math

import numpy as np
import pytest
from dy2st_runtime import config

from dy2st import jit, to_tensor
from dy2st.convert.structure import flatten
from dy2st.tensor import Tensor

from .guarding import Box


def plain(value):
    leaves, tree = flatten(value)
    return [x.numpy().tolist() if isinstance(x, Tensor) else x for x in leaves], tree


def check(make, changes, x=(1.0, 2.0)):
    """Calls what `make` gives eagerly and statically, after each change of the Box that it gets, and compares results and the Box."""
    with config.NO_JIT.override(True):
        found = []
        for static in (False, True):
            box = Box()
            changes[0](box)
            f = make(box)
            f = jit.to_static(f) if static else f
            found.append([])
            for change in changes:
                change(box)
                found[-1].append((plain(f(Tensor(np.array(x, np.float32)))), plain(vars(box))))
    assert found[1] == found[0]


# ---- tensors of the outside where numbers are asked for ----
def as_bound(box):
    def f(x):
        for i in range(box.k):
            x = x + i
        for _ in range(1, box.k + 3, 2):
            x = x * 2
        return x

    return f


def as_index(box):
    items, tensors = [1.0, 2.0, 3.0, 4.0], [to_tensor(float(i)) for i in range(4)]

    def f(x):
        return x * items[box.k] + tensors[box.k], items[: box.k], {0: 1.0, 1: 2.0, 2: 3.0, 3: 5.0}[int(box.k)]

    return f


def as_truth(box):
    def f(x):
        return bool(box.truth), not box.truth, x if box.truth else -x

    return f


def as_number(box):
    def f(x):
        return math.hypot(box.v, 2.0), math.pow(box.v, 3), math.atan2(box.v, box.v), int(box.k), float(box.v)

    return f


def as_reason(box):
    def f(x):
        try:
            if box.truth:
                raise ValueError
            x = x + 1
        except ValueError:
            x = x * 3
        return x

    return f


def replaced(k, truth, v):
    def change(box):
        box.k, box.truth, box.v = to_tensor(k), to_tensor(truth), to_tensor(np.float64(v))

    return change


def filled(k, truth, v):
    def change(box):
        for t, value in ((box.k, k), (box.truth, truth), (box.v, v)):
            t.set_value(np.asarray(value, t.dtype))

    return change


@pytest.mark.parametrize("make", [as_bound, as_index, as_truth, as_number, as_reason], ids=lambda f: f.__name__)
@pytest.mark.parametrize("change", [replaced, filled], ids=lambda f: f.__name__)
def test_a_tensor_where_a_number_is_asked_for(make, change):
    check(make, [replaced(2, True, 0.5), change(3, False, 2.5), change(1, True, 0.25)])
