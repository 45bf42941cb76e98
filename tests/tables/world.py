"""What the programs of the tables find around them: each is `forward` of a class derived from `Base`, in a module that begins so."""

import collections
import dataclasses
import functools  # noqa: F401 - for the programs
import heapq  # noqa: F401

import dy2st as paddle

G = {"a": [paddle.to_tensor(0.5)], "b": paddle.to_tensor(0.25)}
KEPT = [None, None]
one = paddle.to_tensor(1.0)


class Box:
    def __init__(self, value):
        self.value = value

    def put(self, value):
        self.value = value


class Carrier(Exception):
    def __init__(self, items):
        self.items = items


class Named(dict):
    pass


class Items(list):
    pass


class Rows:
    """The rows of x before the first one that is large, two at most."""

    def __init__(self, x):
        self.x, self.at = x, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= 2 or self.x[self.at] > 2:
            raise StopIteration
        self.at += 1
        return self.x[self.at - 1]


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Watched:
    def __init__(self, value):
        object.__setattr__(self, "count", 0)
        self.value = value

    def __setattr__(self, name, value):
        object.__setattr__(self, "count", self.count + 1)
        object.__setattr__(self, name, value)


class Table:
    def __init__(self, value):
        self.d = {"k": value}

    def __getitem__(self, key):
        return self.d[key]

    def __setitem__(self, key, value):
        self.d[key] = value

    def __contains__(self, key):
        return key in self.d

    def __iter__(self):
        return iter(self.d.values())

    def __len__(self):
        return len(self.d)


class Sum:
    def __init__(self, value):
        self.value, self.times = value, 0

    def __iadd__(self, other):
        self.value = self.value + other
        self.times += 1
        return self

    def __call__(self, other):
        self.times += 1
        return self.value * other


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Rec:
    a: object
    b: list
    n: int = 1


@dataclasses.dataclass(slots=True)
class SlotRec:
    a: object
    b: list


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: list

    def put(self, value):
        object.__setattr__(self, "a", value)


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots:
    a: object
    b: list
    put = Frozen.put


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    a: object
    b: object = 2.0

    def put(self, value):
        object.__setattr__(self, "a", value)


class Pairs(collections.namedtuple("Pairs", "a")):
    """Named tuples with an attribute."""

    def __init__(self, a):
        self.more = 0


class Counted:
    total = paddle.to_tensor(0.5)
    n = 1


class Scope:
    """A context manager that notes how often it was entered and left."""

    def __init__(self):
        self.entered = self.left = 0

    def __enter__(self):
        self.entered += 1
        return self

    def __exit__(self, *_):
        self.left += 1
        return False


class Sub(paddle.nn.Layer):
    def __init__(self, value):
        super().__init__()
        self.h = paddle.to_tensor(value)
        self.a = [paddle.to_tensor(value + 1)]
        self.register_buffer("buf", paddle.to_tensor(value + 2))

    def note(self, value):
        self.a.append(value)
        self.h = self.h + value


class Base(paddle.nn.Layer):
    lists = False  # whether what the second table puts in two places is a list
    entries = "tensor"  # of which kind those of the lists of the fourth one are

    def __init__(self):
        super().__init__()
        KEPT[:] = self.of(0.125), self.of(0.375)
        self.a = [paddle.to_tensor(0.5)]
        self.d = {"k": paddle.to_tensor(1.5)}
        self.h = paddle.to_tensor(2.5)
        self.box = Box(paddle.to_tensor(5.5))
        self.G, self.kept, self.counted = G, KEPT, Counted
        self.n = 1
        self.f = None
        self.s = [paddle.to_tensor(1.0)]
        self.scope = Scope()
        self.s0, self.s1 = self.of(0.625), self.of(0.875)
        self.items = {"k0": self.of(2.25), "k1": self.of(2.75)}
        self.rows0, self.rows1 = [self.of(3.5)], [self.of(4.5)]
        self.box0, self.box1 = Box(self.of(6.5)), Box(self.of(7.5))
        self.one, self.two = [self.entry(1), self.entry(2)], [self.entry(3)]
        self.sub = Sub(1.0)
        self.subs = paddle.nn.LayerList([Sub(2.0), Sub(3.0)])
        self.register_buffer("buf", paddle.to_tensor(4.0))
        self.w = self.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(1.5))

    def of(self, number):
        value = paddle.to_tensor(number)
        return [value] if self.lists else value

    def entry(self, number):
        value = paddle.to_tensor(number * 1.0)
        return {"tensor": value, "tuple": (value, number), "text": f"t{number}", "object": Box(value)}[self.entries]

    @property
    def scale(self):
        return self.s[0]

    @scale.setter
    def scale(self, value):
        self.s = [value]

    def note(self, value):
        self.a.append(value)
        self.h = self.h + value
