"""Deques of the outside over which something iterates while a condition on tensors may change them."""

from collections import deque

import numpy as np
import pytest
from dy2st_runtime import config

from dy2st import jit
from dy2st.errors import StructureError
from dy2st.tensor import Tensor

RING = deque([1.0, 2.0], maxlen=2)


def appended_to(x):
    for i, v in enumerate(RING):
        x = x + v * i
        if x.sum() > 3:
            RING.append(v)
    return x


def rotated(x):
    for v in RING:
        x = x + v
        if x.sum() > 3:
            RING.rotate()
    return x


def appended_to_and_left(x):
    for v in RING:
        x = x + v
        if x.sum() > 3:
            RING.append(x.sum())
            break
    return x


def appended_to_backwards_and_left(x):
    for v in map(abs, reversed(RING)):
        x = x * 2 + v
        if x.sum() > 3:
            RING.append(3.0)
            break
    return x


def appended_to_behind_zip(x):
    for v, w in zip(RING, [2.0, 3.0], strict=True):
        x = x + v * w
        if x.sum() > 3:
            RING.append(w)
    return x


def walked_by_a_walk_of_it(x):
    for v in RING:
        if x.sum() > 0:
            for w in RING:
                x = x * w + v
            RING.rotate(1)
            break
    for v in RING:
        x = x * 3 + v
    return x


def in_a_loop(x):
    i = 0
    while i < x.sum() + 3:
        for v in RING:
            x = x * 0.5 + v
            if x.sum() > 5:
                RING.append(1.5)
                break
        i += 1
    return x


def changed_in_every_run(x):
    for v in RING:
        RING.append(v)
    return x


def changed_between_items(x):
    items = iter(RING)
    x = x + next(items)
    RING.append(3.0)
    return x * next(items)


def taken_apart(x):
    a, b = RING
    total = sum(RING) + max(RING) + len(list(RING)) + sum(v * 2 for v in RING)
    RING.extend(RING)
    RING.extend(x)
    return x * a + b * total


def outcome(f, values):
    RING.clear()
    RING.extend([1.0, 2.0])
    try:
        result = f(Tensor(np.float32(values))).numpy().tolist()
    except RuntimeError as error:
        return str(error)
    return result, [float(v) for v in RING]


@pytest.mark.parametrize("native", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", [
    appended_to, rotated, appended_to_and_left, appended_to_backwards_and_left, appended_to_behind_zip, walked_by_a_walk_of_it, in_a_loop,
    changed_in_every_run, changed_between_items, taken_apart,
])  # fmt: skip
def test_as_in_eager_mode(function, native):
    static = jit.to_static(function)
    with config.NO_JIT.override(not native):
        for values in [-1.0, -3.0], [1.0, 0.5], [4.0, 4.0]:
            assert outcome(static, values) == outcome(function, values)


def asked_behind_another(x):
    for w, v in zip([5.0, 6.0], RING, strict=True):
        x = x * 2 + v * w
        if x.sum() > 0:
            RING.append(3.0)
    return x


def asked_for_its_next_item(x):
    items = iter(RING)
    x = x + next(items)
    if x.sum() > 0:
        RING.append(3.0)
    return x * next(items)


@pytest.mark.parametrize("function", [asked_behind_another, asked_for_its_next_item])
def test_refused_where_only_the_run_knows_whether_it_looks(function):
    with pytest.raises(StructureError, match="a deque is changed, or may be, while something iterates over it"):
        jit.to_static(function)(Tensor([1.0, 2.0]))


def entry_set_beside_rows(x):
    y = x * 0
    for v, row in zip(RING, x, strict=False):
        RING[1] = row * 2
        y = y + v
    return y


def test_what_a_loop_of_the_program_does_not_see_is_refused():
    with pytest.raises(StructureError, match="over which the loop runs changes"):
        jit.to_static(entry_set_beside_rows, input_spec=[jit.InputSpec([None])])(Tensor([1.0, 2.0]))
