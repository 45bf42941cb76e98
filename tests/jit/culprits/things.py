"""Classes and objects that several of these functions use."""

import collections
import contextlib
import dataclasses

import numpy as np


class Held:
    def __init__(self, x):
        self.x = x


class Other(Held):
    pass


@dataclasses.dataclass
class State:
    h: object


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


@dataclasses.dataclass(slots=True)
class SlottedState:
    h: object


@dataclasses.dataclass(frozen=True)
class Frozen:
    h: object

    def put(self, h):
        object.__setattr__(self, "h", h)


class Tagged(collections.namedtuple("Tagged", "h")):
    """Has an attribute besides."""

    def __init__(self, h):
        self.tag = h


class Vector(tuple):
    pass


class Count(int):
    def __add__(self, other):
        return 100


ONES, TWINS = np.ones(2), np.ones(2)


class Mode:
    h = None


STATES = [Mode(), Mode()]


COUNT = 0


def count_the_second(v):
    global COUNT
    if v == 2:
        COUNT += 1
    return v


def _counting():
    counts = [1]
    return lambda: counts


COUNTS = _counting()


@contextlib.contextmanager
def section(name, says=(print,)):
    try:
        yield
    finally:
        says[0]("end", name)


@contextlib.contextmanager
def reported():
    try:
        yield
    except ValueError:
        print("failed")
        raise
