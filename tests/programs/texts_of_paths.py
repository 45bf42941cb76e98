"""Texts in which one stands that a path chooses: what exceptions say. See also `test_printing`."""

import enum


class Failed(Exception):
    def __init__(self, text, kind):
        super().__init__(text)
        self.kind = kind


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


def _kind(x):
    return "positive" if x[0] > 0 else "it's \"negative\""


def message(x):
    if x[1] > 2:
        raise ValueError(_kind(x))
    return x


def in_a_message(x):
    kind = _kind(x)
    if x[1] > 2:
        raise Failed(f"{kind!r} {kind:>12} {kind:.3}: {x.sum():.2f}", kind)
    return x


def joined(x):
    kind = _kind(x)
    text = "kind " + kind + ", " + kind
    text += kind
    if x[1] > 2:
        raise RuntimeError(text)
    return x


def by_methods(x):
    kind = _kind(x)
    if x[1] > 2:
        raise RuntimeError(", ".join(["a", kind, "%s" % kind, "{} {:>5}".format(kind, "b"), str(kind)]))  # noqa: UP031
    return x


def key(x):
    if x[1] > 2:
        raise KeyError(_kind(x))
    return x


def asserted(x):
    kind = _kind(x)
    assert x[1] < 2 or x[0] < -1, f"{kind} at {int(x.sum())}"
    assert x[0] > -3, kind
    return x


def none_or_not(x):
    name = None
    if x[0] > 0:
        name = "named"
    if x[1] > 2:
        raise ValueError(f"{name}: {name!r}")
    return x


def member(x):
    colour = Colour.RED if x[0] > 0 else Colour.BLUE
    if x[1] > 2:
        raise ValueError(f"{colour} {colour!r} {colour.name}")
    return x


def out_of_a_loop(x, n):
    state = "begun"
    for i in range(n):
        if x[0] * i > 2:
            raise ValueError(f"{state} at {i}")
        state = "odd" if i % 2 == 1 else "even"
    if x[1] > 2:
        raise ValueError("ended " + state)
    return x


def looked_for(x):
    part = "ab" if x[0] > 0 else "c"
    found = len("abc".strip(part)), "abc".find(part), "dabd".count(part), str.find("abc", part), "abc".startswith(part)
    return found, "d,ab,d".split("," if x[0] > 0 else "ab"), "abcd".replace(part, "z"), part in "bcd"


_CALLS = [([1.0, 0.0],), ([-1.0, 0.0],), ([1.0, 3.0],), ([-1.0, 3.0],), ([-4.0, 3.0],)]

CASES = [
    (message, _CALLS, 1),
    (looked_for, _CALLS, 1),
    (in_a_message, _CALLS, 1),
    (joined, _CALLS, 1),
    (by_methods, _CALLS, 1),
    (key, _CALLS, 1),
    (asserted, _CALLS, 1),
    (none_or_not, _CALLS, 1),
    (member, _CALLS, 1),
    (out_of_a_loop, [([1.0, 0.0], 3), ([1.0, 3.0], 2), ([2.0, 3.0], 4), ([-1.0, 3.0], 0), ([-1.0, 3.0], 3)], 1),
]
