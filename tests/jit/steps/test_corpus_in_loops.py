"""The corpus once more, each call as a step of a loop that is joined as soon as three are alike."""

import sys
from pathlib import Path

import pytest

from dy2st.jit.steps import learning

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_corpus import CASES
from three_ways import check


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is traced anew at each call")
@pytest.mark.parametrize(("function", "calls", "traces"), CASES, ids=[c[0].__name__ for c in CASES])
def test_program(function, calls, traces, monkeypatch):
    monkeypatch.setattr(learning, "SHARE", 0.0)
    check(function, [*calls, *calls[:1] * 4, *calls], traces)
