"""What is known of tensors and lists that may be one object: it grows with the trace, not with its square."""

from __future__ import annotations

from typing import Any

import pytest

import dy2st as paddle
from dy2st.convert.effects.may_alias import Marks


def kept_in_some_steps(x: Any, n: int) -> Any:
    kept = []
    for i in range(n):
        if x.sum() > i:
            kept.append(x)
            x = x * 0.5
        else:
            x = x + 1
    return paddle.stack(kept).sum() if kept else x.sum()


def test_a_list_that_grows_in_an_unrolled_loop_is_marked_once_for_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each branch makes another list of it, which all the lists before may be."""
    marked = []
    monkeypatch.setattr(Marks, "set", lambda self, x, block, at, real=Marks.set: (marked.append(x), real(self, x, block, at)))
    counts = []
    for steps in (20, 40):
        marked.clear()
        got = paddle.jit.to_static(kept_in_some_steps)(paddle.ones([3]), steps)
        assert got.item() == pytest.approx(kept_in_some_steps(paddle.ones([3]), steps).item())
        counts.append(len(marked))
    assert 0 < counts[1] <= 2.2 * counts[0]
