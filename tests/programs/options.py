"""Texts, functions, layers and other objects of Python between which a condition on tensors chooses."""

import enum

import numpy as np

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import nn


def function_named_on_a_path(x):
    name = "relu" if x.sum() > 0 else "tanh"
    return getattr(F, name)(x) + hasattr(F, name) + getattr(x, "ndim" if x.sum() > 0 else "size")


def text_on_a_path(x):
    mode = "a"
    if x.sum() > 0:
        mode = "b"
    if mode == "b":
        return x * 2
    return x * 3


def text_in(x):
    mode = "a" if x.sum() > 0 else "b" if x[0] < -0.5 else "c"
    return x if mode in ("a", "c") else -x, mode != "a", mode


def function_chosen(x):
    f = (lambda v: v * 2) if x.sum() > 0 else (lambda v: v * 3)
    return f(x)


def activation_chosen(x):
    act = F.relu if x.sum() > 0 else paddle.tanh
    return act(x)


class Pick(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
        self.a.weight.set_value(paddle.eye(3) * 2)
        self.b.weight.set_value(paddle.eye(3) * 3)
    def pick(self, x):
        if x.sum() > 0:
            return self.a
        return self.b
    def forward(self, x):
        return self.pick(x)(x.reshape([1, 3]))


LP = Pick()


def layer_picked(x): return LP(x)


def weight_of_layer(x):
    layer = LP.a if x[0] > 0 else LP.b
    return layer.weight.sum() * x


def in_a_loop(x, n):
    mode = "start"
    s = x
    for i in range(n):
        if mode == "start":
            s = s + 1
        else:
            s = s * 2
        mode = "double" if i > 0 else "more"
    return s, mode


def state_machine(x, n):
    state = "idle"
    k = 0
    while k < n:
        if state == "idle":
            state = "run" if x[0] > 0 else "stop"
        elif state == "run":
            x = x * 2
            state = "stop"
        k += 1
    return x if state == "stop" else -x


class Level(enum.IntEnum):
    """Members are ints, and more."""

    OFF = 0
    ON = 1
    MAX = 5

    def named(self):
        return self.name.lower()


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


def numbered_members(x):
    level = Level.OFF
    for v in x:
        if v > 2:
            level = Level.MAX
        elif v > 0 and level == Level.OFF:
            level = Level.ON
    y = x * 2 if level is Level.MAX else x
    return y, level.name, level.named(), level == 5, level.value, isinstance(level, Level), not level


def numbered_members_as_numbers(x):
    level = Level.OFF
    if x.sum() > 0:
        level = Level.MAX
    table, by_level = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], {Level.OFF: 7.0, Level.MAX: 8.0}
    n = level * 2 + 1
    y = x * level + level if level > 2 else x - int(level)
    return y * table[level] + by_level[level], n, level < Level.MAX, 3 - level


def numbered_members_in_a_list(x):
    levels = [Level.ON if v > 0 else Level.OFF for v in x]
    grown = []
    for v in x:
        if v > 1:
            grown.append(Level.MAX)
        grown.append(Level.ON if v > 0 else Level.OFF)
    return [level.name for level in levels], sum(levels), sum(grown), len(grown)


def numbered_members_matched(x):
    level = Level.ON if x.sum() > 0 else Level.MAX
    match level:
        case Level.ON:
            return x * 2
        case Level.MAX:
            return x * 5
    return x


def flags_of_members(x):
    access = Access.READ
    if x.sum() > 0:
        access |= Access.WRITE
    return x, bool(access & Access.WRITE), Access.WRITE in access


def ranges_of_equal_numbers(x):
    steps = range(0, 3, 2)
    if x.sum() > 0:
        steps = range(0, 4, 2)
    return x, steps.stop, len(steps)


def enum_state(x):
    c = Color.RED if x.sum() > 0 else Color.BLUE
    return x * c.value if c is Color.RED else x * 3 + c.value


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Cfg:
    def __init__(self, rate, name):
        self.rate, self.name = rate, name
    def apply(self, x):
        return x * self.rate if x[0] > 0 else x - self.rate


A, B = Cfg(0.5, "a"), Cfg(2, "b")


def config_chosen(x):
    c = A if x.sum() > 0 else B
    return c.apply(x) + c.rate, c.name


def said_of_a_function(x):
    f = F.relu if x.sum() > 0 else F.tanh
    return f(x) + len(f.__doc__) % 7, f.__doc__.split()[0]


def text_or_none(x):
    mode = None
    if x.sum() > 0:
        mode = "b"
    if mode is None:
        return x
    return x * 2 if mode == "b" else x


def text_in_a_tuple(x):
    if x.sum() > 0:
        r = ("up", x)
    else:
        r = ("down", x * 2)
    return r[1] if r[0] == "up" else -r[1], r


def type_chosen(x):
    t = int if x.sum() > 0 else float
    return x * t(2.5)


def matched_text(x):
    mode = "a" if x.sum() > 0 else "b"
    match mode:
        case "a":
            return x
        case "b":
            return x * 5


def kept_in_a_loop(x):
    fs = [F.relu, F.tanh]
    f = fs[0]
    for g in fs:
        if g(x).sum() > 1:
            f = g
    return f(x)


def attribute_of_text(x):
    o = Cfg(1.0, "x")
    if x.sum() > 0:
        o.name = "y"
    return x * 2 if o.name == "y" else x


def truth_of_text(x):
    name = "" if x.sum() > 0 else "abc"
    return x if name else -x


def class_asked(x):
    c = "abc" if x.sum() > 0 else F.relu
    return x if isinstance(c, str) else c(x)


def read_under_the_same_condition(x):
    if x.sum() > 0:
        mode = "a"
    if x.sum() > 0:
        return x * 2 if mode == "a" else x
    return x


def object_or_none(x):
    c = A if x.sum() > 0 else None
    return x * c.rate if c is not None else x


def two_compared(x):
    a = "p" if x.sum() > 0 else "q"
    b = "p" if x[0] > 0 else "r"
    return x if a == b else -x


def measured(x):
    word = "abc"
    if x.sum() > 0:
        word = "3"
    return x * len(word) + int(word)


class Parts(enum.Flag):
    HEAD = 1
    TAIL = 2


def flags(x):
    parts = Parts.HEAD
    if x.sum() > 0:
        parts |= Parts.TAIL
    y = x * 2 if Parts.TAIL in parts else x
    return y + 1 if parts & Parts.TAIL else y


def slice_chosen(x):
    part = slice(0, 2)
    if x.sum() > 0:
        part = slice(1, 3)
    return x[part]


SCALES = np.array([0.1, 0.7, 1.3], np.float32)


def narrow_floats_of_numpy(x):
    k = np.float32(2) if x.sum() > 0 else np.float32(0.1)
    scale = SCALES[0]
    optional = None
    if x[0] > 0:
        scale, optional = SCALES[1], np.float16(0.3)
    y = x * scale + k * x - k / x + x / k
    return (y if optional is None else y * optional), k, scale, optional


def narrow_ints_of_numpy(x):
    i = np.int32(2) if x.sum() > 0 else np.int32(0)
    return x[i], x + i, i


def texts_joined(x):
    signs = ""
    for i in range(3):
        if x[i] > -2:
            signs += "+"
        else:
            signs += "-"
    first = "a" if x[0] > 0 else "b"
    joined = ",".join([first, "c", "d" if x[1] > -2 else "e"]), "".join("p" if x[i] > 0 else "" for i in range(2))
    return signs, signs == "++-", signs.count("+"), "<" + first + ">", first + signs, joined, {"pp": 1, "": 2}["".join(joined[1:])]


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]

CASES = [
    (text_on_a_path, [(P,), (N,)], 1),
    (text_in, [(P,), (N,)], 1),
    (texts_joined, [(P,), (N,)], 1),
    (function_named_on_a_path, [(P,), (N,)], 1),
    (function_chosen, [(P,), (N,)], 1),
    (activation_chosen, [(P,), (N,)], 1),
    (layer_picked, [(P,), (N,)], 1),
    (weight_of_layer, [(P,), (N,)], 1),
    (in_a_loop, [(P, 3), (N, 2), (P, 0), (P, 1)], 1),
    (state_machine, [(P, 3), (N, 2), (P, 0), (P, 1)], 1),
    (numbered_members, [(P,), (N,), ([0.5, 1.0, -1.0],)], 1),
    (numbered_members_as_numbers, [(P,), (N,)], 1),
    (numbered_members_in_a_list, [(P,), (N,)], 1),
    (numbered_members_matched, [(P,), (N,)], 1),
    (flags_of_members, [(P,), (N,)], 1),
    (ranges_of_equal_numbers, [(P,), (N,)], 1),
    (enum_state, [(P,), (N,)], 1),
    (config_chosen, [(P,), (N,)], 1),
    (said_of_a_function, [(P,), (N,)], 1),
    (text_or_none, [(P,), (N,)], 1),
    (text_in_a_tuple, [(P,), (N,)], 1),
    (type_chosen, [(P,), (N,)], 1),
    (matched_text, [(P,), (N,)], 1),
    (kept_in_a_loop, [(P,), (N,)], 1),
    (attribute_of_text, [(P,), (N,)], 1),
    (truth_of_text, [(P,), (N,)], 1),
    (class_asked, [(P,), (N,)], 1),
    (read_under_the_same_condition, [(P,), (N,)], 1),
    (object_or_none, [(P,), (N,)], 1),
    (two_compared, [(P,), (N,)], 1),
    (measured, [([1.0, 2.0],), ([-1.0, -2.0],)], 1),
    (flags, [(P,), (N,)], 1),
    (slice_chosen, [(P,), (N,)], 1),
    (narrow_floats_of_numpy, [(P,), (N,)], 1),
    (narrow_ints_of_numpy, [(P,), (N,)], 1),
]
