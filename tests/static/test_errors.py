"""Bad input to an Executor: one screen with the user's line, a caret, the cause and what to change."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import dy2st as paddle
from dy2st import static
from dy2st.errors import DTypeError, FeedError, FetchError, ShapeError

FEED = np.zeros((2, 3), "float32")


def runner():
    program = static.Program()
    with static.program_guard(program, static.Program()):
        x = static.data("x", [None, 3], "float32")
        y = paddle.nn.functional.relu(x)
    executor = static.Executor()
    return lambda feed, fetch=y: executor.run(program, feed=feed, fetch_list=[fetch])


CASES = {
    "wrong name": ({"xx": FEED}, None, FeedError, "takes no feed 'xx'", "did you mean 'x'"),
    "missing": ({}, None, FeedError, "not fed: 'x'", "pass an array"),
    "wrong shape": ({"x": np.zeros((2, 4), "float32")}, None, FeedError, "is float32[2, 4]", "reshape"),
    "wrong dtype": ({"x": np.zeros((2, 3))}, None, FeedError, "is float64[2, 3]", "astype('float32')"),
    "unknown fetch": ({"x": FEED}, "nope", FetchError, "no variable 'nope'", "pass the variable itself"),
}


@pytest.mark.parametrize("case", CASES)
def test_feeds_and_fetches(case: str) -> None:
    feed, fetch, kind, cause, cure = CASES[case]
    run = runner()
    with pytest.raises(kind) as caught:
        run(feed, fetch) if fetch else run(feed)
    text = "".join(traceback.format_exception(caught.value))
    assert cause in text
    assert cure in text
    assert f"{__file__}:" in str(caught.value)
    assert "^" in str(caught.value)
    assert text.count("\n") < 24
    assert "feeds.py" not in text  # the frames of dy2st itself are left out


def test_a_mismatch_while_building_names_the_line() -> None:
    with static.program_guard(static.Program(), static.Program()):
        x, y = static.data("x", [2, 3], "float32"), static.data("y", [4, 5], "float32")
        with pytest.raises(ShapeError, match="do not broadcast") as caught:
            x + y
    assert caught.value.location is not None
    assert caught.value.location.text.strip() == "x + y"
    with static.program_guard(static.Program(), static.Program()):
        b = static.data("b", [2], "bool")
        with pytest.raises(DTypeError):
            paddle.exp(b)
