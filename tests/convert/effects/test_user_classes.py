"""What code of users' classes does to state: where the program calls it, and nowhere else."""

import collections
import copy
import dataclasses

import pytest
import stateful
from guarding import Box

from dy2st import jit, to_tensor
from dy2st.tensor import Tensor


class Counted:
    """Counts how often its code runs."""

    def __init__(self):
        self.kept, self.asked, self.named = Box(n=0), 0, []

    @property
    def box(self):
        self.asked += 1
        return self.kept

    def __getitem__(self, key):
        self.asked += 10
        return self.kept

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self.named.append(name)
        return self.kept


def through_a_property():
    counted = Counted()

    def f(x, n):
        if n > 1:
            counted.box.n += 1
        while n > 0:
            counted.box.n += 2
            n = n - 1
        return x * counted.kept.n

    return f, counted


def through_an_item():
    counted = Counted()

    def f(x, n):
        if n > 1:
            counted["a"].n += 1
        for i in range(n):
            counted[0].n += i
        return x

    return f, counted


def through_a_missing_attribute():
    counted = Counted()

    def f(x, n):
        if n > 1:
            counted.other.n += 1
        else:
            counted.another.n -= 1
        return x

    return f, counted


@pytest.mark.parametrize("make", [through_a_property, through_an_item, through_a_missing_attribute])
def test_code_runs_as_often_as_the_program_says(make):
    stateful.check(make)


def test_lists_in_a_tuple():
    def make():
        lists = ([1.0], [[2.0], [3.0]])

        def f(x, n):
            if n > 1:
                lists[1][0][-1] += 1.0
            for _ in range(n):
                lists[1][1][:] = [n * 1.0]
            return x

        return f, lists

    stateful.check(make)


def test_what_a_branch_only_calls_gets_no_key():
    def make():
        boxes = {}

        def f(x, n):
            if n > 5:
                boxes["a"].clear()
            return x + 1 if "a" in boxes else x

        return f, boxes

    stateful.check(make)


def test_a_default_that_one_path_makes_is_there_in_the_runs_that_get_there():
    def make():
        made = collections.defaultdict(collections.Counter)

        def f(x, n):
            if n > 5:
                made["a"].update(["k"])
            return x + 1 if "a" in made else x

        return f, made

    stateful.check(make)


# ---- code that is found late ----
@dataclasses.dataclass
class Noted:
    """Notes in a dict, which copies share, how many there are of it."""

    h: Tensor
    n: int = 0
    notes: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self.notes["made"] = self.n


class Logged:
    def __init__(self, log):
        self.log = log
        self.log.append(len(log))


def made_by_replace():
    box = Box(noted=Noted(to_tensor(0.0)))

    def f(x, n):
        noted = box.noted
        if n > 1:
            x = x + 1
        if n > 2:
            dataclasses.replace(noted, n=noted.n + 5)
        box.noted = dataclasses.replace(noted, h=x.sum(), n=noted.n + 1)
        return x

    return f, box


def made_by_its_class():
    box = Box(logged=Logged([]))

    def f(x, n):
        logged = box.logged
        if n > 1:
            x = x + 1
        type(logged)(logged.log)
        logged.__class__(logged.log)
        return x

    return f, box


@pytest.mark.parametrize("make", [made_by_replace, made_by_its_class])
def test_what_the_code_of_a_new_object_changes(make):
    stateful.check(make)


def test_what_was_there_is_left_as_it_was_by_a_trace():
    box = Box(noted=Noted(to_tensor(0.0)))
    before = copy.copy(box.noted.notes)

    @jit.to_static
    def f(x):
        noted = box.noted
        if x > 0:
            dataclasses.replace(noted, n=7)
        return x

    f(to_tensor(-1.0))
    assert box.noted.notes == before
    f(to_tensor(1.0))
    assert box.noted.notes == {"made": 7}
