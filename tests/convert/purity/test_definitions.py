"""What runs where a function or a class is defined inside of a static function: decorators, bases, bodies, and what Python calls then."""

import enum
import typing

import numpy as np
import pytest
from guarding import Box

import dy2st as paddle
from dy2st import jit

COUNT = 0
LOG = []
BOX = Box(n=0)


def counted(thing):
    global COUNT
    COUNT += 1
    return thing


def counting(n):
    global COUNT
    COUNT += n
    return lambda thing: thing


class Base:
    seen = 0

    def __init_subclass__(cls, scale=1, **more):
        counted(cls)
        BOX.n += 1
        LOG.append(cls.__name__)
        Base.seen += 1
        cls.scale = scale


class Named:
    def __set_name__(self, owner, name):
        global COUNT
        COUNT += 1
        self.name = name


class Meta(type):
    def __new__(cls, name, bases, space, **more):
        counted(cls)
        return super().__new__(cls, name, bases, space)

    def __init__(cls, name, bases, space, **more):
        BOX.n += 1
        super().__init__(name, bases, space)


class WithMeta(metaclass=Meta):
    pass


class ByItem:
    def __class_getitem__(cls, key):
        return counted(COUNT)


def decorated(x):
    @counted
    def twice(x):
        return x * 2

    return twice(x) * COUNT


def decorated_by_a_call(x):
    @counting(3)
    def twice(x):
        return x * 2

    return twice(x) * COUNT


def decorated_with_a_branch(x):
    def by_sign(f):
        def inner(x):
            return f(x) * 2 if x.sum() > 0 else f(x)

        return inner

    @by_sign
    @counted
    def twice(x):
        return x * 2

    return twice(x) * COUNT


def default(x):
    def twice(x, k=counting(2)):  # noqa: B008
        return k(x) * 2

    return twice(x) * COUNT


def decorated_class(x):
    @counting(2)
    @counted
    class Made:
        k = 2

    return x * COUNT * Made.k


def class_changed_by_a_decorator(x):
    def adds(cls):
        cls.k = 2 if x.sum() > 0 else 3
        return cls

    @adds
    class Made:
        pass

    return x * Made.k


def base(x):
    class Made(counting(4)(object)):
        pass

    return x * COUNT * len(Made.__mro__)


def body(x):
    class Made:
        k = counting(4)
        if COUNT > 8:
            more = counted(3)

        class Inner(counted(Base)):
            m = counted(2)

        @counted
        def act(self, x, n=counted(2)):  # noqa: B008
            return x * n if x.sum() > 0 else x

        @property
        def twice(self):
            return 2

        @twice.setter
        def twice(self, value):
            pass

        @staticmethod
        @counted
        def same(x):
            return x

    return Made().act(x) * COUNT * Made.Inner.m * Made().twice, Made.same(x)


def subclass(x):
    class Made(Base):
        pass

    return x * COUNT * BOX.n * len(LOG) * Base.seen * Made.scale


def subclass_with_a_keyword(x):
    class Made(Base, scale=x.sum()):
        pass

    return x * COUNT * Made.scale


def subclass_on_a_path(x):
    if x.sum() > 0:

        class Made(Base):
            pass

    return x * COUNT


def subclass_by_type(x):
    made = type("Made", (Base,), {})
    return x * COUNT * made.scale


def descriptor(x):
    class Made:
        d = Named()

    return x * COUNT * len(Made.d.name)


def metaclass(x):
    class Made(WithMeta):
        k = 2

    return x * COUNT * BOX.n * Made.k


def item(x):
    return x * ByItem[int] * COUNT


def of_the_library(x):
    class Pair(typing.NamedTuple):
        a: int
        b: int = counted(2)

    class Kind(enum.Enum):
        ONE = 1
        TWO = counted(2)

    return x * Pair(3).a * Pair(3).b * Kind.TWO.value * COUNT


FUNCTIONS = [
    decorated, decorated_by_a_call, decorated_with_a_branch, default, decorated_class, class_changed_by_a_decorator, base, body, subclass,
    subclass_with_a_keyword, subclass_on_a_path, subclass_by_type, descriptor, metaclass, item, of_the_library,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_call_does_what_a_definition_does(function):
    global COUNT
    found = []
    for f in (function, jit.to_static(function)):
        COUNT, BOX.n, Base.seen = 0, 0, 0
        LOG.clear()
        results = [f(paddle.to_tensor([v, 2.0])) for v in (1.0, 2.0, -5.0, 3.0)]
        flat = [np.asarray(t.numpy()) for r in results for t in (r if isinstance(r, tuple) else (r,))]
        found.append(([t.tolist() for t in flat], COUNT, BOX.n, Base.seen, list(LOG)))
    assert found[0] == found[1]
