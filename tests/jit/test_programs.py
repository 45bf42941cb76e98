"""The corpus: eager, native static and interpreted static agree, in results and gradients, with as few traces as expected."""

import pytest
from corpus import branches, exits, lists, loops, numbers, python
from three_ways import check

CASES = [*branches.CASES, *loops.CASES, *exits.CASES, *lists.CASES, *numbers.CASES, *python.CASES]


@pytest.mark.parametrize(("function", "calls", "traces"), CASES, ids=[c[0].__name__ for c in CASES])
def test_program(function, calls, traces):
    check(function, calls, traces)
