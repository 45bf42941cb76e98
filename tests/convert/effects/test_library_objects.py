"""Objects of Python's own classes that keep state: what a call does to them is what eager mode does, at each call and on each path."""

import collections
import io
import itertools
import operator
import queue
import threading
import weakref
from array import array
from functools import partial

import numpy as np
import pytest

from dy2st import Tensor, jit


class Key:
    pass


KEY = Key()


class Kept:
    """One of each, as globals of a user's module are."""

    def __init__(self):
        self.mapping, self.items, self.queue = collections.UserDict(a=0), collections.UserList(), queue.Queue()
        self.maps, self.weak, self.numbers = collections.ChainMap({"a": 0}), weakref.WeakKeyDictionary(), array("d", [1.0])
        self.text, self.raw, self.local = io.StringIO(), io.BytesIO(), threading.local()
        self.local.count = 0


class Point:
    __slots__ = ("x",)


KEPT, POINT, ITEMS, TABLE, ARRAY = Kept(), Point(), [0], {}, np.arange(3.0)
SET, PUT, ENTER = partial(setattr, POINT, "x"), partial(operator.setitem, ITEMS, 0), partial(dict.__setitem__, TABLE, "a")


def counted_in_a_mapping(x):
    KEPT.mapping["a"] += 1
    return x * KEPT.mapping["a"]


def appended_to_a_user_list(x):
    KEPT.items.append(1)
    return x * len(KEPT.items)


def put_into_a_queue(x):
    KEPT.queue.put(1)
    return x * KEPT.queue.qsize()


def counted_in_a_chain_map(x):
    KEPT.maps["a"] += 1
    return x * KEPT.maps["a"]


def counted_for_a_weak_key(x):
    KEPT.weak[KEY] = KEPT.weak.get(KEY, 0) + 1
    return x * KEPT.weak[KEY]


def numbers_of_an_array(x):
    KEPT.numbers.append(2.0)
    KEPT.numbers[0] += 1.0
    return x * KEPT.numbers[0] * len(KEPT.numbers)


def written_to_a_text(x):
    KEPT.text.write("ab")
    return x * len(KEPT.text.getvalue()) + KEPT.text.tell()


def written_to_bytes(x):
    KEPT.raw.write(b"ab")
    return x * len(KEPT.raw.getvalue())


def counted_for_the_thread(x):
    KEPT.local.count += 1
    return x * KEPT.local.count


def made_and_changed_in_a_call(x):
    text, numbers = io.StringIO(), array("i", [1, 2])
    text.write("abc")
    numbers.append(len(text.getvalue()))
    return x * sum(numbers)


@pytest.mark.parametrize("function", [
    counted_in_a_mapping, appended_to_a_user_list, put_into_a_queue, counted_in_a_chain_map, counted_for_a_weak_key, numbers_of_an_array,
    written_to_a_text, written_to_bytes, counted_for_the_thread, made_and_changed_in_a_call,
])  # fmt: skip
def test_each_call_changes_them(function, monkeypatch):
    results = []
    for f in (function, jit.to_static(function)):
        monkeypatch.setitem(globals(), "KEPT", Kept())
        results.append([f(Tensor(np.float32([v]))).tolist() for v in (1.0, -1.0, 2.0, 3.0)])
    assert results[0] == results[1]
    assert len({abs(r[0]) for r in results[0]}) > 2


def attribute_set_by_a_partial(x):
    if x.sum() > 0:
        SET(x * 2)
    else:
        SET(x)
    return POINT.x + 1


def item_set_by_a_partial(x):
    if x.sum() > 0:
        PUT(x * 2)
    else:
        PUT(x)
    return ITEMS[0] + 1


def entry_set_by_a_partial(x):
    if x.sum() > 0:
        ENTER(x * 2)
    else:
        ENTER(x)
    return TABLE["a"] + 1


def entry_set_by_a_method(x):
    put = TABLE.__setitem__
    if x.sum() > 0:
        put("a", x * 2)
    else:
        put("a", x)
    return TABLE["a"] + 1


def slot_set_by_its_descriptor(x):
    if x.sum() > 0:
        Point.x.__set__(POINT, x * 2)
    else:
        Point.x.__set__(POINT, x)
    return POINT.x + 1


def methods_of_an_array(x):
    return x * float(ARRAY.copy().sum()) + len(ARRAY.tolist())


def counted_by_quarters(x):
    for v in itertools.count(0.5, 0.25):
        if x.sum() < v:
            break
        if v > 5:
            return x * 0
    return x * v


@pytest.mark.parametrize("function", [methods_of_an_array, counted_by_quarters])
def test_what_python_decides_stays_as_it_is(function):
    static = jit.to_static(function)
    for value in (0.1, 0.6, 1.3):
        x = Tensor(np.float32([value]))
        assert static(x).tolist() == function(x).tolist()


@pytest.mark.parametrize("function", [
    attribute_set_by_a_partial, item_set_by_a_partial, entry_set_by_a_partial, entry_set_by_a_method, slot_set_by_its_descriptor,
])  # fmt: skip
def test_each_path_changes_what_code_does_not_name(function):
    static = jit.to_static(function)
    for value in (1.0, -1.0, 2.0):
        x = Tensor(np.float32([value]))
        assert static(x).tolist() == function(x).tolist()
