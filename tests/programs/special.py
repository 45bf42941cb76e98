"""Special methods and properties of users' classes, which Python calls itself, with control flow on tensors in them."""

import dataclasses
import functools
import typing

from dy2st import nn


class Signed:
    """Does something else for a value with a positive sum."""

    def __init__(self, value):
        if value.max() > 10:
            value = value / 10
        self.value = value
        self.calls = 0

    @property
    def positive(self):
        if self.value.sum() > 0:
            return self.value
        return -self.value

    @positive.setter
    def positive(self, value):
        if value.sum() > 0:
            self.value = value
        else:
            self.value = -value

    @functools.cached_property
    def root(self):
        if self.value.sum() > 0:
            return self.value.sum().sqrt()
        return self.value.sum()

    def __add__(self, other):
        if self.value.sum() > 0:
            return self.value + other
        return self.value * other

    def __radd__(self, other):
        return other - self.value if self.value.sum() > 0 else other + self.value

    def __iadd__(self, other):
        if other.sum() > 0:
            self.calls += 1
        self.value = self.value + other
        return self

    def __neg__(self):
        if self.value.sum() > 0:
            return -self.value
        return self.value

    def __lt__(self, other):
        if self.value.sum() > 0:
            return self.value.sum() < other
        return other < 0

    def __eq__(self, other):
        return self.value.sum() == other if self.value.sum() > 0 else False

    def __hash__(self):
        return 1

    def __getitem__(self, i):
        if self.value[i] > 0:
            return self.value[i] * 2
        return self.value[i]

    def __setitem__(self, i, value):
        if value > 0:
            self.value[i] = value
        else:
            self.value[i] = -value

    def __len__(self):
        if self.value.sum() > 0:
            return 3
        return 2

    def __contains__(self, number):
        if self.value.sum() > 0:
            return True
        return (self.value == number).any()

    def __call__(self, x):
        if self.value.sum() > 0:
            return x + self.value
        return x

    def __enter__(self):
        if self.value.sum() > 0:
            self.calls += 1
        return self

    def __exit__(self, *error):
        if self.value.sum() < 100:
            self.calls += 2

    def __getattr__(self, name):
        if name != "doubled":
            raise AttributeError(name)
        if self.value.sum() > 0:
            return self.value * 2
        return self.value

    def __float__(self):
        if self.value.sum() > 0:
            return 0.5
        return 2.0


def operators(x):
    it = Signed(x)
    y = it + 1.0 + -it + it[0] + it.doubled
    it += x
    return y, 3.0 + it, it.value, it.calls


def comparisons(x):
    it = Signed(x)
    y = x * 2 if it < 4.0 else x
    return y + 1 if it == 3.0 or it != 5.0 else y


def properties(x):
    it = Signed(x)
    y = it.positive
    it.positive = x - 1
    return y, it.value, it.root, it.root + 1


def protocols(x):
    it = Signed(x * 1)
    it[0] = x[1]
    n = len(it)
    with it as same:
        y = same(x) * float(it)
    if it and 3.0 in it:
        y = y - 1
    return y, n, it.value, it.calls, any([it, it]), not it


class Half:
    """A descriptor."""

    def __get__(self, owner, cls):
        if owner.value.sum() > 0:
            return owner.value / 2
        return owner.value


class Halved:
    half = Half()

    def __init__(self, value):
        self.value = value


def descriptor(x):
    return Halved(x).half * 3


class Bank(nn.Layer):
    """Rows that are chosen by a tensor."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(0.3))

    @property
    def scale(self):
        if self.fc.weight.sum() > 0:
            return self.fc.weight.sum()
        return 1.0 - self.fc.weight.sum()

    def __getitem__(self, i):
        if i > 0:
            return self.fc.weight[0]
        return self.fc.weight[1]

    def forward(self, x):
        return self.fc(x) * self.scale + self[x.sum()]


bank = Bank()


def in_a_layer(x):
    return bank(x)


@dataclasses.dataclass(order=True)
class Scored:
    score: object
    place: int = 0
    note: object = dataclasses.field(default=None, compare=False)


def dataclasses_compared(x):
    a, b = Scored(float(x[0]), 1, x), Scored(float(x[1]), 2)
    best = max([a, b, Scored(float(x[0]), 3)])
    same = Scored(float(x[0]), 1) == a, a != b, b in [a, Scored(float(x[1]), 2)]
    return best.place, a < b, a >= b, same, x * 2 if a > b else x


class Evens(type):
    def __instancecheck__(cls, v):
        return type(v) is int and v % 2 == 0


class Even(metaclass=Evens):
    pass


@typing.runtime_checkable
class Floats(typing.Protocol):
    def __float__(self): ...


@typing.runtime_checkable
class Scaled(typing.Protocol):
    scale: float


def kinds_that_ask_an_object(x):
    k = int(x.sum())
    y = x * 2 if isinstance(k, Even) else x
    if isinstance(k + 1, (float, Even)):
        y = y + 1
    return y, isinstance(k, Floats), isinstance(k, Scaled), isinstance(4, Even)


class Turn:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return int(self.n) % 3


def places_that_objects_compute(x):
    i, items, rest, word = Turn(x.sum()), [10, 20, 30], [1, 2, 3], "abc"
    items[i] += 5
    del rest[i]
    return items, rest, items[i:], items[: Turn(x[0] + 5)], items[i], word[i] == "a"


def found_as_the_object_that_it_is(x):
    v = float(x[0])
    kept = [x * 0, x]
    if x.sum() > 100:
        kept = [x, x]
    numbers = [1.0, v, v]
    numbers.remove(v)
    return [v, 2.0].count(v), [v].index(v), (3.0, v).index(v), numbers, [x].count(x), [x, x].index(x), x in [x], len(kept)


@functools.total_ordering
class Ranked:
    """`total_ordering` writes the other comparisons."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value.sum() == other.value.sum()

    def __lt__(self, other):
        if self.value[0] > 2:
            return other.value[0] > 2
        return self.value.sum() < other.value.sum()


class Lighter(Ranked):
    __gt__ = object.__gt__  # Python asks the other one then, whether it is less


def totally_ordered(x):
    a, b = Ranked(x), Ranked(x * x)
    y = x * 2 if a > b else x
    z = y + 1 if a >= b else y
    lightest, largest = min([Lighter(x), Lighter(x * x)]), max(Lighter(x), Lighter(x * x))
    return z - 1 if a <= b else z * 3, max([a, b]).value, min(a, b).value, lightest.value, largest.value


P, N = [1.0, 2.0], [-1.0, 0.5]

CASES = [
    (operators, [(P,), (N,), ([20.0, 1.0],)], 1),
    (comparisons, [(P,), (N,), ([3.0, 4.0],)], 1),
    (totally_ordered, [(P,), (N,), ([3.0, 4.0],), ([1.0, 1.0],)], 1),
    (properties, [(P,), (N,)], 1),
    (protocols, [(P,), (N,), ([-3.0, 1.0],)], 1),
    (descriptor, [(P,), (N,)], 1),
    (in_a_layer, [(P,), (N,)], 1),
    (kinds_that_ask_an_object, [(P,), ([1.0, 1.0],), (N,)], 1),
    (places_that_objects_compute, [(P,), ([1.0, 0.5],), ([2.0, 2.0],)], 1),
    (found_as_the_object_that_it_is, [(P,), ([float("nan"), 1.0],), ([1.0, 0.0],)], 1),
    (dataclasses_compared, [(P,), (N,), ([1.0, 1.0],)], 1),
]
