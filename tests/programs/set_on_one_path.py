"""Variables that a branch or a loop sets, and that are changed in place behind it: they stay one object under all names."""

# ruff: noqa: C416, F821 (that is what it is about)

import heapq
from collections import deque
from dataclasses import dataclass
from typing import Any

import dy2st

P, N = [1.0, 2.0, 0.5], [-1.0, -2.0, -3.5]


@dataclass
class Record:
    value: Any
    count: int = 0


def taken_twice(x):
    if x.sum() > -10:
        items = [v for v in x]
    return items.pop(), items.pop(), len(items)


def taken_and_given(x):
    if x.sum() > -10:
        items = [v for v in x]
    items.pop()
    items.append(x[0] * 3)
    other = items
    other.append(x[0])
    return len(items), items


def heap(x):
    if x.sum() > -10:
        found = [v for v in x]
    heapq.heapify(found)
    return [heapq.heappop(found) for _ in x]


def all_methods(x):
    if x.sum() > -10:
        items = [v for v in x]
    items.sort()
    items.reverse()
    items.extend([x[0]])
    del items[0]
    items.insert(0, x[0] * 9)
    items[0] = x[0] * 8
    items += [x[0] * 2]
    return items


def tensor_written_in_a_loop(x):
    if x.sum() > -10:
        y = x * 2
    z = y
    for v in x:
        z[0] = z[0] + v
    return y, z


def records(x):
    if x.sum() > -10:
        items = [Record(v) for v in x]
    last = items.pop()
    items.append(Record(x[0] * 3))
    other = items
    other.append(last)
    items[0].value = x[0] * 5
    return [r.value for r in items]


def set_by_a_loop(x, n):
    for i in range(n):
        items = [v * i for v in x]
    items.pop()
    items.append(x[0])
    return items


def perhaps_another_list(x):
    items = [v for v in x]
    if x.sum() > -10:
        same = items
    same.pop()
    same.append(x[0] * 2)
    return same, items


def by_functions_inside(x):
    if x.sum() > -10:
        items = [v for v in x]

    def take():
        return items.pop()

    def give():
        items.append(x[0] * 3)

    first = take()
    give()
    return first, items


def in_branches_and_loops(x, n):
    if x.sum() > -10:
        items = [v for v in x]
    if n > 1:
        items.append(x[0])
    while n > 0:
        items.append(x[1])
        n = n - 1
    return items


def set_before_an_exception(x):
    try:
        if x.sum() < -10:
            raise ValueError
        items = [v for v in x]
    except ValueError:
        pass
    items.pop()
    items.append(x[0] * 2)
    return items


class Log:
    def __init__(self):
        self.entries = []

    def add(self, what):
        self.entries.append(what)


def object_made_in_a_branch(x):
    if x.sum() > 0:
        log = Log()
        log.add("set")
        if x.sum() > 1:
            x = x + len(log.entries)
    return x


def logged(x):
    log = Log()
    log.add("set")
    if x.sum() > 1:
        log.add("more")
        x = x + 1
    return x, len(log.entries)


def object_made_in_a_call(x):
    found = [logged(x)]
    if x.sum() > 0:
        if x.mean() < -1:
            raise ValueError("never")
        found[0] = logged(x * 2)
    return found


def deque_made_in_a_branch(x):
    if x.sum() > 0:
        queue = deque([x, x * 2, x * 3])
        if x.max() > 1:
            x = x + queue[0]
        queue.append(x)
        x = queue.popleft() + queue.pop()
    return x


def changed_in_a_loop_that_an_iteration_leaves(x, n):
    for v in x:
        try:
            break
        except ValueError:
            pass
        nobody.knows = v
        nobody[nothing] = v
    return x * n


def numbers_in_a_list_of_one_path(x, n):
    if x.sum() > -10:
        items = []
    for k in range(n):
        items.append(k)
    return items, sum(items)


class Held:
    def __init__(self, value, count):
        self.value, self.count = value, count


def attribute_deleted_where_it_is_there(x):
    best = None
    if x.sum() > 0:
        best = Held(x, 2)
    if best:
        del best.count
    return hasattr(best, "count"), getattr(best, "value", x * 3), hasattr(best, "nothing")


def attributes_of_an_optional_tensor(x):
    best = x * 2 if x.sum() > 0 else None
    return hasattr(best, "shape"), getattr(best, "ndim", 7), hasattr(best, "nothing")


def none_under_a_new_key_in_a_loop(x):
    found = {"f": 1}
    while x.mean() < 1:
        if x.sum() > 0:
            found["g"] = None
        x = x + 1
    return found


def function_under_a_new_key_in_a_loop(x):
    found = {"f": dy2st.tanh}
    while x.mean() < 1:
        x = found.get("g", found["f"])(x) + 1
        if x.sum() > 0:
            found["g"] = dy2st.exp
    return x


_CALLS = [(P,), (N,)]
_WITH_NUMBERS = [(P, 3), (P, 1), (N, 2)]
def records_of_a_list(x, n):
    if x.sum() > -1:
        rows = []
    for i in range(n):
        rows.append({"k": i, "x": x * i})
    return rows, isinstance(rows[-1]["k"], int)


CASES = [
    *((f, _CALLS, 1) for f in (
        taken_twice, taken_and_given, heap, all_methods, tensor_written_in_a_loop, records, perhaps_another_list, by_functions_inside,
        set_before_an_exception, object_made_in_a_branch, object_made_in_a_call, deque_made_in_a_branch,
        attribute_deleted_where_it_is_there, attributes_of_an_optional_tensor, none_under_a_new_key_in_a_loop,
        function_under_a_new_key_in_a_loop,
    )),
    *((f, _WITH_NUMBERS, 1) for f in (
        set_by_a_loop, numbers_in_a_list_of_one_path, in_branches_and_loops, changed_in_a_loop_that_an_iteration_leaves,
    )),
    (records_of_a_list, [([1.0, 2.0], 2), ([1.0, 2.0], 1), ([-0.5, 0.0], 1), ([1.0, 2.0], 3)], 1),
]  # fmt: skip
