"""Classes and objects that several of these functions use."""

import dataclasses


class Held:
    def __init__(self, x):
        self.x = x


class Other(Held):
    pass


@dataclasses.dataclass
class State:
    h: object


class Mode:
    h = None


STATES = [Mode(), Mode()]


COUNT = 0


def count_the_second(v):
    global COUNT
    if v == 2:
        COUNT += 1
    return v
