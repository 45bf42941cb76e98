"""State that calls leave in lists, dicts, attributes and variables: no file keeps it, a warning says so where the next call reads it."""

import warnings
from collections import deque

import pytest

import dy2st
from dy2st import jit, nn
from dy2st.jit import InputSpec

LAST = None


class Stateful(nn.Layer):
    def __init__(self):
        super().__init__()
        self.seen, self.recent, self.cache, self.last, self.lists = [], deque(maxlen=3), {}, None, [[]]
        self.shift = dy2st.zeros([2])
        self.body, self.log, self.maps, self.steps = nn.Linear(2, 2), deque(maxlen=3), {}, 0

    def appended(self, x):
        total = x
        for old in self.seen:
            total = total + old
        self.seen.append(x)
        return total

    def queued(self, x):
        self.recent.append(x)
        return sum(self.recent)

    def cached(self, x):
        if "first" not in self.cache:
            self.cache["first"] = x * 2
        return x + self.cache["first"]

    def hidden(self, x):
        if self.last is None:
            self.last = dy2st.zeros_like(x)
        self.last = self.last * 0.5 + x
        return self.last

    def filled_on_a_path(self, x):
        if x.sum() > 0:
            self.seen.append(x)
        return x + len(self.seen)

    def in_a_list(self, x):
        self.lists[0].append(x)
        return sum(self.lists[0])

    def in_a_global(self, x):
        global LAST
        y = x if LAST is None else LAST + x
        LAST = y
        return y

    def handed_on(self, x):
        old, self.shift = self.shift, x * 2
        return old

    def only_written(self, x):
        self.last = x * 2
        self.steps += 1
        self.seen.append(x)
        self.log.appendleft(x)
        self.maps["x"] = x
        if x.sum() > 0:
            self.cache["y"] = x
        return self.body(x)

    def made_anew(self, x):
        self.recent.clear()
        self.recent.append(x)
        self.seen = [x]
        self.last = self.body(x)
        self.maps["y"] = x * 2
        return self.last + self.recent[0] + self.seen[0] + self.maps["y"]


@pytest.mark.parametrize(("method", "place"), [
    ("appended", "attribute 'seen' of Stateful"),
    ("queued", "attribute 'recent' of Stateful"),
    ("cached", "an item of attribute 'cache' of Stateful"),
    ("hidden", "attribute 'last' of Stateful"),
    ("filled_on_a_path", "attribute 'seen' of Stateful"),
    ("handed_on", "attribute 'shift' of Stateful"),
    ("in_a_list", "item 0 of attribute 'lists' of Stateful"),
    ("in_a_global", "global 'LAST'"),
])  # fmt: skip
def test_state_that_the_next_call_reads_is_warned_of(tmp_path, method, place):
    function = jit.to_static(getattr(Stateful(), method))
    with pytest.warns(UserWarning, match=f"changes what the next one reads: {place}; the saved model computes with the values of now"):
        jit.save(function, tmp_path / "net", [InputSpec([2], "float32")])


@pytest.mark.parametrize("method", ["only_written", "made_anew"])
def test_what_no_call_reads_is_not(tmp_path, method):
    function = jit.to_static(getattr(Stateful(), method))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit.save(function, tmp_path / "net", [InputSpec([2], "float32")])
