"""Programs whose sizes do not fit: a fixed number of them, and that the search would find what it is for."""

from collections import Counter

import pytest
from dy2st_runtime.passes import simplify

from . import misfits


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_programs_whose_sizes_often_do_not_fit(first):
    total = Counter()
    for seed in range(first, first + 25):
        shown, found = misfits.disagreement(seed, native=seed % 25 == 0)
        assert not shown, shown
        total += found
    assert total["same"] > 25
    assert total["raised"] > 25
    assert total["refused"] < 15  # a rank that differs between paths, a branch that could not be run


def test_a_check_that_is_dropped_is_found(monkeypatch):
    monkeypatch.setattr(simplify._Walk, "may_fail", lambda self, op: False)
    assert any(misfits.disagreement(seed, native=False)[0] for seed in range(200))
