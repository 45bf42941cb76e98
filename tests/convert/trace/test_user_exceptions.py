"""Exceptions of the user's classes whose methods change what is outside, or show tensors."""

import pytest

import dy2st
from dy2st import jit
from dy2st.errors import Dy2stError, StagedValueError

LAST, COUNT, SEEN = None, 0, []


class Counted(Exception):
    def __new__(cls, value):
        SEEN.append(value)
        return super().__new__(cls, value)

    def __init__(self, value):
        global LAST, COUNT
        LAST = value
        COUNT += 1
        SEEN.append(value)
        self.half = value / 2


class Shown(Exception):
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"the value is {self.value}"


@pytest.fixture(autouse=True)
def outside():
    global LAST, COUNT
    LAST, COUNT = None, 0
    SEEN.clear()


def runs(function, *signs):
    """What a static function gives, and what is outside then."""
    static, found = jit.to_static(function), []
    for sign in signs:
        try:
            result = static(dy2st.to_tensor([1.0, 2.0]) * sign).numpy().tolist()
        except Counted as error:
            result = type(error), error.half.numpy().tolist(), error.args[0].numpy().tolist()
        found.append((result, None if LAST is None else LAST.numpy().tolist(), COUNT, len(SEEN)))
    return found


def test_made_and_dropped():
    def function(x):
        return Counted(x).half

    assert runs(function, 1, -1) == [([0.5, 1.0], [1.0, 2.0], 1, 2), ([-0.5, -1.0], [-1.0, -2.0], 2, 4)]


def test_raised():
    def function(x):
        if x.sum() > 0:
            raise Counted(x)
        return x

    error = Counted, [0.5, 1.0], [1.0, 2.0]
    # a static call that fails changes nothing
    assert runs(function, 1, -1, 1) == [(error, None, 0, 0), ([-1.0, -2.0], None, 0, 0), (error, None, 0, 0)]


def test_caught():
    def function(x):
        for i in range(2):
            try:
                if x.sum() > i:
                    raise Counted(x + i)
            except Counted as error:
                x = x + error.half
        return x

    # [1, 2] and half of it, [1.5, 3] and half of one more
    assert runs(function, 1, -1) == [([2.75, 5.0], [2.5, 4.0], 2, 4), ([-1.0, -2.0], [2.5, 4.0], 2, 4)]


class Coded(Exception):
    code = 3

    def __init__(self, what, sign=None):
        super().__init__(what, 2)
        if sign is not None and sign.sum() > 0:
            self.code = 4


def test_returned():
    def function(x):
        error = Coded("what")
        error.value = x * 2
        other = ValueError("other", x)
        other.__cause__ = error
        return error, other

    error, other = jit.to_static(function)(dy2st.to_tensor([1.0]))
    assert (type(error), error.args, error.value.item()) == (Coded, ("what", 2), 2.0)
    assert (type(other), other.args[0], other.args[1].item(), other.__cause__) == (ValueError, "other", 1.0, error)


def test_kept():
    def function(x):
        kept = Coded("what")
        SEEN.append(kept)
        if x.sum() > 0:
            SEEN[-1].code = x * 2
        return kept.code * x

    static = jit.to_static(function)
    assert [static(dy2st.to_tensor([v])).item() for v in (1.0, -1.0)] == [2.0, -3.0]
    assert [e.args for e in SEEN] == [("what", 2)] * 2
    assert (SEEN[0].code.item(), SEEN[1].code) == (2.0, 3)


def test_branch_in_init():
    def function(x):
        try:
            raise Coded("what", x)
        except Coded as error:
            return x * error.code

    static = jit.to_static(function)
    assert [static(dy2st.to_tensor([v])).item() for v in (1.0, -1.0)] == [4.0, -3.0]


def raised_with_an_attribute_of_some_runs(x):
    error = Coded("what")
    if x.sum() > 0:
        error.code = 4
    raise error


def arguments_of_some_runs(x):
    error = Coded("what")
    if x.sum() > 0:
        error.args = ("other", 3, 4)
    return error.args


@pytest.mark.parametrize(("function", "text"), [
    (raised_with_an_attribute_of_some_runs, "cannot hold an attribute that it has in some runs only"),
    (arguments_of_some_runs, "is tuple of 3 on the path where the condition is true and tuple of 2"),
])  # fmt: skip
def test_refused(function, text):
    with pytest.raises(Dy2stError, match=text):
        jit.to_static(function)(dy2st.to_tensor([1.0]))


def test_text_of_one():
    def function(x):
        return str(Shown(x))

    with pytest.raises(StagedValueError, match="only known when the program runs"):
        jit.to_static(function)(dy2st.to_tensor([1.0]))


def test_text_of_one_in_another():
    def function(x):
        raise ValueError(str(Shown(x)))

    for make in (jit.to_static, lambda f: f):
        with pytest.raises(ValueError, match=r"the value is Tensor\(shape=\[1\]"):
            make(function)(dy2st.to_tensor([1.0]))
