"""Variables of functions around a static one that functions inside it assign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dy2st import jit, to_tensor


def in_loops() -> tuple[Callable, Callable]:
    count = to_tensor(0.0)

    def function(x):
        def add():
            nonlocal count
            count = count + x.sum()

        for v in x:
            if v > 0:
                add()
        while x.sum() > 0:
            add()
            x = x - 1
        return x

    return function, lambda: count


def beside_the_function_itself() -> tuple[Callable, Callable]:
    total = to_tensor(1.0)

    def function(x):
        nonlocal total

        def double():
            nonlocal total
            total = total * 2

        while total < 20:
            if x.sum() > total:
                double()
            else:
                total = total + 3
        return x * total

    return function, lambda: total


def two_functions_further_in() -> tuple[Callable, Callable]:
    last = to_tensor(0.0)

    def function(x):
        def all_of(values):
            def note(v):
                nonlocal last
                last = v * 2

            for v in values:
                if v > last:
                    note(v)

        all_of(x)
        return last + 1

    return function, lambda: last


@pytest.mark.parametrize("make", [in_loops, beside_the_function_itself, two_functions_further_in], ids=lambda f: f.__name__)
@pytest.mark.parametrize("full_graph", [True, False])
def test_one_variable_under_both_names(make: Callable, full_graph: bool) -> None:
    """The loop has it once: as two it would give both a value, and find one of them changed, for ever."""

    def run(wrap: Callable[[Any], Any]) -> list[Any]:
        function, now = make()
        function = wrap(function)
        return [(function(to_tensor(x)).numpy(), now().numpy()) for x in ([1.0, 2.0, -1.0], [-1.0, 0.5, 3.5])]

    static = run(lambda f: jit.to_static(f, full_graph=full_graph))
    for (y, outside), (wanted, wanted_outside) in zip(static, run(lambda f: f), strict=True):
        np.testing.assert_allclose(y, wanted)
        np.testing.assert_allclose(outside, wanted_outside)


class Count:
    def __init__(self) -> None:
        self.count = 0


@pytest.mark.parametrize("where", ["in a branch", "before a raise"])
def test_another_object_whose_attribute_is_set(where: str) -> None:
    """The attribute is one of the statement's variables, the variable on the way to it is not: that it holds another object was lost."""
    objects = [Count(), Count()]
    kept = objects[0]

    def replace() -> None:
        nonlocal kept
        kept = objects[1]

    def in_a_branch(x):
        if x.sum() > 0:
            replace()
            kept.count = 5
        return x

    def before_a_raise(x):
        try:
            if x.sum() > 0:
                replace()
                raise ValueError
            kept.count = 6
        except ValueError:
            kept.count = 7
        return x

    function = {"in a branch": in_a_branch, "before a raise": before_a_raise}[where]
    found = []
    for call in (function, jit.to_static(function)):
        for value in (1.0, -1.0, 1.0):
            kept = objects[0]
            objects[0].count = objects[1].count = 0
            call(to_tensor([value]))
            found.append((objects[0].count, objects[1].count, kept is objects[1]))
    assert found[:3] == found[3:]


def test_another_list_whose_item_is_set() -> None:
    def make() -> tuple[Callable, Callable]:
        kept = [1, 2]

        def replace(x) -> None:
            nonlocal kept
            kept = [x, x * 2]

        def function(x):
            if x.sum() > 0:
                replace(x)
                kept[0] = 5
            return x * kept[0] + kept[1]

        return function, lambda: kept

    for x in ([1.0, 2.0], [-1.0, -2.0]):
        (function, now), (wanted, wanted_now) = make(), make()
        np.testing.assert_allclose(jit.to_static(function)(to_tensor(x)).numpy(), wanted(to_tensor(x)).numpy())
        assert [np.asarray(v).tolist() for v in now()] == [np.asarray(v).tolist() for v in wanted_now()]
