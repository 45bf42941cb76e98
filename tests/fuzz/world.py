"""What random programs work with: functions and objects of the users' side, which are converted as the programs are."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from dy2st import Parameter, Tensor, concat, nn

Pair = namedtuple("Pair", "left right")


@dataclass
class Record:
    value: object
    count: object = 0


class Box:
    """An object with attributes, and an operator."""

    def __init__(self, value, count=0):
        self.value, self.count = value, count

    def add(self, more):
        self.value = self.value + more
        self.count += 1
        return self

    def __add__(self, other):
        return Box(self.value + other, self.count)

    def __call__(self, a):
        return a * self.value


def halved(a, limit):
    rounds = 0
    while a.abs().sum() > limit:
        a = a / 2
        rounds += 1
        if rounds > 3:
            break
    return a, rounds


def first_above(a, limit, default=None):
    for place, value in enumerate(a):
        if value > limit:
            return value, place
    return default, -1


def scaled(a, *factors, shift=0, **named):
    for factor in factors:
        a = a * factor
    for name in named:
        if named[name] > 0:
            shift = shift + named[name]
    return a.tanh() + shift


def found(a, limit):
    """An index, or None."""
    for place in range(len(a)):
        if a[place] > limit:
            return place
    return None


def checked(a, limit):
    if a > limit:
        raise ValueError(f"{float(a):.3f} is more than {limit}")
    return a


def collected(a, limit):
    """A list whose length only the run knows."""
    out = []
    for value in a:
        if value > limit:
            out.append(value * 2)
    return out


class Stop(Exception):
    """An exception of the users' side."""

    def __init__(self, place, why="none"):
        super().__init__(place, why)
        self.place = place


class Counted:
    """A context manager that counts how often it was entered, on an object."""

    def __init__(self, box):
        self.box = box

    def __enter__(self):
        self.box.count = (self.box.count + 1) % 5
        return self.box

    def __exit__(self, *error):
        self.box.count = (self.box.count + 2) % 5
        return False


def guarded(a, limit, default):
    """What `checked` gives, or the default."""
    try:
        return checked(a, limit)
    except ValueError:
        return default


def halves(a, depth):
    """Calls itself under a condition on tensors, which comes to an end."""
    if depth <= 0 or a.abs().sum() < 0.5:
        return a.tanh()
    return halves(a / 2, depth - 1) + a


def grown(items, value, limit=3):
    """Changes the list of its caller and returns early."""
    for old in items:
        if old > value:
            return items
        if len(items) >= limit:
            break
    else:
        items.append(value)
        return items
    items[-1] = items[-1] + value
    return items


def combined(first, *rest, by=1, **named):
    for other in rest:
        first = first + other * by
    return first + sum(named.values())


def running(values, start):
    """A generator with a state."""
    for v in values:
        start = start + v
        yield start


def evens(n):
    """A generator over Python numbers."""
    for i in range(n):
        if i % 2 == 0:
            yield i


def scalar(v):
    return Tensor(np.array(v, np.float32))


def with_values(layer, rng):
    """The layer, with parameters that depend on the seed only."""
    for p in layer.parameters():
        p.set_value(rng.uniform(-1, 1, p.shape).astype("float32"))
    return layer


class Net(nn.Layer):
    """Layers, parameters, buffers and plain attributes (`PLAIN`) as the state of a program."""

    PLAIN = (
        "h", "k", "rate", "last", "best", "items", "cache", "table", "groups", "rows", "holder", "holders", "seen", "params", "counters",
    )  # fmt: skip

    def __init__(self):
        super().__init__()
        rng = np.random.RandomState(7)
        self.fc = nn.Linear(3, 3)
        self.gates = nn.Linear(6, 12)
        self.norm = nn.BatchNorm1D(3)
        self.words = nn.Embedding(6, 3)
        self.drop = nn.Dropout(0.5)
        self.conv = nn.Conv1D(1, 1, 3, padding=1)
        self.blocks = nn.LayerList([nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3), nn.ReLU())])
        with_values(self, rng)
        self.scale = Parameter(np.array(0.75, np.float32))
        self.register_buffer("total", Tensor(np.array(0.5, np.float32)))
        self.h = Tensor(np.array(0.25, np.float32))
        self.k, self.rate, self.last = 1, 0.5, None
        self.best = None
        self.items, self.cache = [], {"a": Tensor(np.array(-0.5, np.float32)), "n": 2}
        self.table, self.holder = {"a": scalar(0.5), "b": scalar(-1.5)}, Record(scalar(1.0))
        self.groups, self.rows = {"a": [], "b": [scalar(0.75)]}, [[scalar(0.5)], [scalar(-1.0), scalar(0.25)]]
        self.holders, self.seen = [Record(scalar(-0.75), 1), self.holder], []
        # parameters, buffers and layers in containers
        self.gains = nn.ParameterList([Parameter(np.array(v, np.float32)) for v in (0.5, -1.25)])
        self.params = {"p": self.scale, "q": self.gains[0], "free": Parameter(np.array(-0.5, np.float32))}
        self.register_buffer("steps", Tensor(np.array(1)))
        self.counters = [self.steps]
        self.heads = nn.LayerDict({"p": nn.Linear(3, 3), "q": nn.Sequential(nn.Linear(3, 3), nn.Tanh())})
        with_values(self.heads, rng)

    @property
    def half(self):
        return self.h * 0.5

    @staticmethod
    def twice(a):
        return a + a if a.sum() > 0 else a * 3

    def push(self, value):
        self.items.append(value.tanh())
        return len(self.items)

    def count(self, by=1):
        self.k = (self.k + by) % 5
        return self.k

    def turn(self, value):
        """Shows when it was called, and how often."""
        self.h = (self.h * 0.5 + value).tanh()
        return self.h * value

    def update(self, value):
        if value > self.h:
            self.h = value.tanh()
            self.last = value * 0.5
        else:
            self.total.add_(value.detach().tanh())
            self.k += 1

    def step(self, a, h, c):
        """An LSTM cell over rows of 3."""
        i, f, g, o = self.gates(concat([a, h], 1)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    def run(self, a, depth):
        for block in self.blocks:
            if depth > 0:
                a = block(a).tanh()
        return a
