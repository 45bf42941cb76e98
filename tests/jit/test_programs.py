"""The corpus: eager, native static and interpreted static agree, in results and gradients, with as few traces as expected."""

import pytest
from corpus import (
    accumulators,
    aliases,
    branches,
    builtins,
    exits,
    layers,
    lists,
    loops,
    matching,
    numbers,
    python,
    raising,
    texts,
)
from three_ways import check

CASES = [
    *accumulators.CASES,
    *aliases.CASES,
    *branches.CASES,
    *builtins.CASES,
    *exits.CASES,
    *layers.CASES,
    *lists.CASES,
    *loops.CASES,
    *matching.CASES,
    *numbers.CASES,
    *python.CASES,
    *raising.CASES,
    *texts.CASES,
]


@pytest.mark.parametrize(("function", "calls", "traces"), CASES, ids=[c[0].__name__ for c in CASES])
def test_program(function, calls, traces):
    check(function, calls, traces)
