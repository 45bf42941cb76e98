"""Objects of the outside that calls hand on, exchange, store again or copy; and what becomes of them between calls."""

import copy
import dataclasses

import pytest
import stateful
from guarding import Box

from dy2st import to_tensor
from dy2st.tensor import Tensor


@dataclasses.dataclass
class Noted:
    """Has an attribute that is no field."""

    v: Tensor

    def __post_init__(self):
        self.count = 1


@dataclasses.dataclass(slots=True)
class Slotted:
    v: Tensor


MADE = {
    "list": lambda v: [to_tensor(v)],
    "dict": lambda v: {"v": to_tensor(v)},
    "object": lambda v: Box(v=to_tensor(v)),
    "dataclass": lambda v: Noted(to_tensor(v)),
    "slots": lambda v: Slotted(to_tensor(v)),
}


def get(x):
    return x[0] if isinstance(x, list) else x["v"] if isinstance(x, dict) else x.v


def add(x):
    if isinstance(x, list):
        x[0] = x[0] + 1
    elif isinstance(x, dict):
        x["v"] = x["v"] + 1
    else:
        x.v = x.v + 1


@pytest.mark.parametrize("new", MADE.values(), ids=MADE)
def test_exchanged(new):
    def make():
        box = Box(a=new(1.0), b=new(2.0), c=new(3.0))

        def f(x, n):
            first = box.a
            box.a, box.b, box.c = box.b, box.c, box.a
            return first, x + get(box.a), get(box.b)

        return f, box

    stateful.check(make)


def becomes_another(name, value):
    def change(box):
        setattr(box, name, value(box))

    return change


@pytest.mark.parametrize("new", MADE.values(), ids=MADE)
def test_two_that_become_one_and_one_that_becomes_two(new):
    def make():
        box = Box(a=new(1.0), b=new(2.0))

        def f(x, n):
            box.a, box.b = box.b, box.a
            add(box.a)
            return x + get(box.a) + get(box.b)

        return f, box

    one, other = becomes_another("a", lambda box: box.b), becomes_another("b", lambda box: new(5.0))
    stateful.check(make, between=[one, other, one])


@pytest.mark.parametrize("new", [*MADE.values(), to_tensor, lambda v: v, lambda v: "text"], ids=[*MADE, "tensor", "number", "text"])
def test_stored_where_it_is_already(new):
    def make():
        value = new(1.0)
        box = Box(first=value, kept=value, last=value)

        def f(x, n):
            box.first = box.last = box.kept
            box.flag = 1
            return x

        box.flag = 1
        return f, box

    def forget(box):
        box.first, box.last, box.flag = None, new(7.0), 0

    def replace(box):
        box.kept = new(4.0)

    stateful.check(make, between=[forget, replace, forget])


def test_a_text_stored_on_one_path():
    def make():
        box = Box(mode="first", on=True)

        def f(x, n):
            if n > 1:
                box.mode, box.on = "second", True
            return x

        return f, box

    def set_(mode):
        def change(box):
            box.mode, box.on = mode, False

        return change

    stateful.check(make, between=[set_("".join(["sec", "ond"])), set_("first"), set_("third")], numbers=(2, 0, 2, 0))


@pytest.mark.parametrize("new", [to_tensor, MADE["list"], MADE["object"]])
def test_one_becomes_the_other_that_is_replaced(new):
    def make():
        box = Box(a=new(1.0), b=new(2.0), kept=None)

        def f(x, n):
            box.a = box.b
            box.kept = box.a
            return x

        return f, box

    def replace(box):
        box.b = new(3.0)

    stateful.check(make, between=[replace, replace, replace])


# ---- copies ----
def read_without_names():
    box = Box(a=Box(first=1.0, second=to_tensor(2.0)), b=None, c=Box(inner=Box(third=[1.0])), d=None, noted=Noted(to_tensor(1.0)))

    def f(x, n):
        box.b = copy.copy(box.a)
        box.d = copy.deepcopy(box.c)
        box.c = copy.deepcopy(box.c)
        box.noted = dataclasses.replace(box.noted)
        return x

    return f, box


def test_what_copies_read():
    def other_values(box):
        box.a.first, box.a.second, box.c.inner.third = 5.0, to_tensor(6.0), [7.0]

    def other_objects(box):
        box.a, box.c, box.noted = Box(first=8.0, second=to_tensor(9.0)), Box(inner=Box(third=[10.0])), Noted(to_tensor(4.0))

    def more_attributes(box):
        box.a.more, box.c.more = 11.0, 12.0

    stateful.check(read_without_names, between=[other_values, other_objects, more_attributes])


def copied_and_kept():
    box = Box(now=Box(v=to_tensor(1.0), n=[1.0]), before=None, all=[])

    def f(x, n):
        box.before = copy.copy(box.now)
        box.all.append(copy.deepcopy(box.now))
        box.now.v = box.now.v + x.sum()
        box.now.n[0] += 1
        return x

    return f, box


def made_without_init():
    box = Box(made=None, all=[])

    def f(x, n):
        box.made = Box.__new__(Box)
        box.made.v = x.sum()
        if n > 1:
            box.made.v = box.made.v * 2
        box.all.append(box.made)
        return x

    return f, box


def attributes_that_are_no_fields():
    box = Box(noted=None)

    def f(x, n):
        noted = Noted(x.sum())
        if n > 1:
            noted = Noted(x.mean())
        for _ in range(n):
            noted.count += 1
        box.noted = noted
        return noted.count

    return f, box


@pytest.mark.parametrize("make", [copied_and_kept, made_without_init, attributes_that_are_no_fields])
def test_objects_that_each_call_makes(make):
    stateful.check(make)


# ---- tensors that are modified before they are kept ----
def modified_on_one_path():
    t = to_tensor([1.0, 2.0])
    box = Box(t=t, rows=[t, to_tensor([3.0, 4.0])], pair=(to_tensor([5.0, 6.0]), 1))

    def f(x, n):
        if n > 1:
            box.rows[0].add_(to_tensor([1.0, 1.0]))
            box.pair = (box.t, 2)
        return box.t * 1

    return f, box


def modified_in_a_loop():
    t = to_tensor([1.0, 2.0])
    box = Box(t=t, rows=[t, to_tensor([3.0, 4.0])])

    def f(x, n):
        for i in range(n):
            box.rows[1] = box.rows[0]
            box.t.set_value(box.t * i + 1)
        return box.t * 1

    return f, box


@pytest.mark.parametrize("make", [modified_on_one_path, modified_in_a_loop])
def test_a_tensor_that_is_modified_is_the_one_that_is_kept(make):
    stateful.check(make)


# ---- what changes under several names in a loop ----
def exchanged_in_a_loop():
    def f(x, n):
        a, b = [1.0, 2.0], [3.0]
        d = {"x": [4.0], "y": b}
        for _ in range(n):
            d["y"], b = a, d["x"]
        return x * a[0], b[0], d["y"][-1], len(d["y"])

    return f, None


def replaced_in_a_tuple_in_a_loop():
    def f(x, n):
        a, b = [1.0, 2.0], [3.0]
        pair = (a, [b])
        for _ in range(n):
            if len(pair[0]) > 1:
                a = b
            pair = (b, [[5.0]])
        return x * len(pair[0]), a[-1]

    return f, None


def attribute_under_two_names_in_a_loop():
    one = Box(v=1.0)

    def f(x, n):
        other = one
        for i in range(n):
            one.v = 1.0 * i
            other.v = other.v + x[0]
        return x * one.v

    return f, one


@pytest.mark.parametrize("make", [exchanged_in_a_loop, replaced_in_a_tuple_in_a_loop, attribute_under_two_names_in_a_loop])
def test_under_several_names(make):
    stateful.check(make)
