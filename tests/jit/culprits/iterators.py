"""Iterators and views that are left where only the run knows."""

import itertools
import pprint
import types
from collections import deque
from collections.abc import Mapping

import numpy as np

from .things import count_the_second


def view_of_a_dict_that_grows(x):
    d = {"a": x}
    keys = d.keys()
    if x.sum() > 0:  # error: a dict gets or loses keys in some runs only, while something holds a view of it (keys())
        d["b"] = x * 2
    return x * len(keys)


def _tens(n):
    found = []
    for i in range(n):
        found.append(i * 10)
    return found


def iterator_zipped_with_itself(x, n):
    items = iter(_tens(n))
    return x, list(zip(items, items, strict=False))  # error: how far a generator has come depends on a tensor


def iterator_asked_again_behind_any(x, n):
    items = iter(_tens(n))
    found = any(v == 10 for v in items)
    return x, found, list(items)  # error: how far a generator has come depends on a tensor


def iterator_of_a_list_that_grows(x):
    items = [1]
    pairs = zip(items, [x], strict=True)
    if x.sum() > 0:  # error: a list changes its length in a loop or branch that depends on a tensor, while a list_iterator holds it
        items.append(2)
    return x * len(list(pairs))


class Given:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        yield from self.items


def generator_over_a_list_that_grows(x):
    items = [1, 2]
    for v in Given(items):
        if x.sum() > v and len(items) < 4:  # error: a list changes its length in a loop or branch that depends on a tensor, while a
            items.append(v)
    return x * len(items)


def view_by_a_proxy_of_a_dict_that_grows(x):
    d = {"a": x}
    proxy = types.MappingProxyType(d)
    if x.sum() > 0:  # error: a dict gets or loses keys in a loop or branch that depends on a tensor, while a mappingproxy holds it
        d["b"] = x * 2
    return x * len(proxy)


def deque_changed_under_an_iterator(x):
    queue = deque([1, 2, 3], 3)
    items = iter(queue)
    if x.sum() > 0:
        queue.append(next(items))
    return x * next(items)  # error: a deque is changed, or may be, while something iterates over it, where Python raises a RuntimeError


def deque_changed_in_the_second_place(x):
    queue, total = deque([1, 2, 3], 3), x
    for _, v in zip([1, 2, 3], queue, strict=True):  # error: a deque is changed, or may be, while something iterates over it
        if x.sum() > 0:
            queue.append(v)
        total = total + v
    return total


def iterator_of_a_closure_on_one_path(x):
    def steps(it):
        def step():
            return next(it)  # error: a list_iterator is advanced in a branch or a loop that depends on a tensor

        return step

    y = [0]
    step = steps(iter([y]))
    if x.sum() > 0:
        step().append(1)
    return x * len(y)


def list_of_a_closure_that_is_one_of_two(x):
    a, b = [0], [1]
    get = (lambda held: lambda: held)(a if x.sum() > 0 else b)  # error: a list, dict or object is changed in place after this, which is one
    get()[0] = 5
    a[0] = 7
    return x * get()[0]


KEPT_FUNCTIONS = []


def closure_kept_with_a_list_that_grows(x):
    items = []
    KEPT_FUNCTIONS.append((lambda held: lambda: len(held))(items))
    if x.sum() > 0:
        items.append(1)
    return x * len(items)  # error: a function with tensors in it cannot be the result of a static function, or be kept by it


def variable_set_by_a_function_that_a_generator_calls(x, n):
    last = x.min()

    def put(value):
        nonlocal last
        last = value

    def items():
        yield 1
        put(x.max())
        yield 2

    for i in items():  # error: to take an item from what the loop runs over changes what is used elsewhere
        if i > n:
            break
    return last * 2


def global_set_by_what_is_mapped(x, n):
    for i in map(count_the_second, (1, 2, 3)):  # error: to take an item from what the loop runs over changes what is used elsewhere
        if i > n:
            break
    return x


def random_number_of_numpy(x):
    return x * np.random.rand(2)  # error: np.random.rand() would be drawn once, while tracing


def generator_advanced_by_a_tensor(x):
    g = (v for v in [x, x * 2, x * 3] if v.sum() > 4)
    return next(g) + next(g)  # error: how far a generator has come depends on a tensor


def iterator_after_a_break(x):
    parts = iter([x[0], x[1], x[0]])
    for part in parts:
        if part > 1:
            break
    return next(parts, x.sum())  # error: how far a list_iterator has come, over which a loop has run, depends on a tensor


def pairs_after_a_break(x):
    pairs = zip([x[0], x[1]], [1, 2], strict=True)
    for part, _ in pairs:
        if part > 1:
            break
    return x * sum(k for _, k in pairs)  # error: how far a zip has come, over which a loop has run, depends on a tensor


def rows_used_twice(x):
    rows = enumerate(x)
    for i, row in rows:
        x = x + row * i
    return x * len(list(rows))  # error: how far a enumerate() has come, over which a loop has run, depends on a tensor


def numbered_iterator_after_a_break(x):
    parts = iter([1, 2, 3, 4])
    for i, v in enumerate(parts):
        x = x + v * i
        if x.sum() > 3:
            break
    return x, list(parts)  # error: how far a list_iterator has come, over which a loop has run, depends on a tensor


def chained_iterator_after_a_break(x):
    first, more = iter([1, 2]), iter([3, 4])
    for v in itertools.chain(first, more):
        x = x + v
        if x.sum() > 3:
            break
    return x, sum(more)  # error: how far a list_iterator has come, over which a loop has run, depends on a tensor


def generator_in_a_zip_after_a_break(x):
    parts = (v * 2 for v in [1, 2, 3])
    for v, _ in zip(parts, range(3), strict=False):
        x = x + v
        if x.sum() > 3:
            break
    return x, next(parts, 0)  # error: how far a generator has come, over which a loop has run, depends on a tensor


def items_after_a_search(x):
    parts = iter({"a": 1, "b": 2}.items())
    found = next((v for _, v in parts if x.sum() + v > 3), 0)
    return found, dict(parts)  # error: how far a dict_itemiterator has come, over which a loop has run, depends on a tensor


def iterator_of_a_generator_function_after_a_break(x):
    parts = iter([1, 2, 3])

    def doubled():
        for v in parts:
            yield v * 2

    for v in doubled():
        x = x + v
        if x.sum() > 3:
            break
    return x, parts.__next__()  # error: how far a list_iterator has come, over which a loop has run, depends on a tensor


def iterator_in_a_function_after_a_break(x):
    parts = iter([1, 2, 3, 4, 5, 6])
    for v in map(lambda k, n: k * next(parts) * n, [1, 2, 3], [1, 1, 1]):
        x = x + v
        if x.sum() > 3:
            break
    return x, set(parts)  # error: how far a list_iterator has come, over which a loop has run, depends on a tensor


def iterator_beside_rows(x):
    parts = iter([1.0, 2.0, 3.0, 4.0])
    for row, v in zip(x, parts, strict=False):
        x = x + row * v
    return x, list(parts)  # error: how far a list_iterator has come, over which a loop has run, depends on a tensor


def file_after_a_break(x):
    with open(__file__) as file:
        for i, _ in enumerate(itertools.islice(file, 3)):
            if x.sum() > i:
                break
        return x * len(file.readline())  # error: how far a TextIOWrapper has come, over which a loop has run, depends on a tensor


def queue_emptied_by_a_generator_function(x):
    waiting = [1, 2, 3, 4]

    def items():
        while waiting:
            yield waiting.pop(0)

    for v in items():  # error: to take an item from what the loop runs over changes what is used elsewhere
        x = x + v
        if x.sum() > 3:
            break
    return x, waiting


def queue_emptied_by_an_iterator(x):
    waiting = [1, 2, 3, 4]
    for i, v in enumerate(iter(lambda: waiting.pop(0), 3)):  # error: to take an item from what the loop runs over changes what is used
        x = x + v * i
        if x.sum() > 3:
            break
    return x, waiting


def keys_that_a_tensor_filters(x):
    return {i: v for row in [x] for i, v in enumerate([row[0]]) if v > 0}  # error: which keys a dict comprehension gives depends on a


def members_that_a_tensor_filters(x):
    return {i for i, v in enumerate([x[0], x[1]]) if v > 0}  # error: which members a set comprehension gives depends on a tensor


def character_of_a_tensor(x):
    return chr(int(x.sum()))  # error: an index (or chr(), hex() and the like) needs the value of a tensor


def printed_in_lines(x):
    pprint.pprint({"x": [x]})  # error: pprint() of what holds a tensor is not supported while tracing
    return x


def printed_by_a_generator_function(x):
    def items():
        for k in range(3):
            print(k)
            yield k

    for k in items():  # error: to take an item from what the loop runs over prints, which only the runs should do that have not left
        x = x + k
        if x.sum() > 3:
            break
    return x


def printed_by_an_iterator(x):
    for v in map(lambda k, n: print(k) or k + n, [1, 2], [1, 3]):  # error: to take an item from what the loop runs over prints
        x = x + v
        if x.sum() > 3:
            break
    return x


class CountingUp:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.n


def own_iterator_in_zip(x):
    class Until(CountingUp):
        def __next__(self):
            if x[self.n] > 1:
                raise StopIteration  # error: that StopIteration is raised here, which only the run knows, would be seen by what takes
            return super().__next__()

    return sum(v * w for v, w in zip(Until(), [1, 2], strict=False))


def key_error_that_a_mapping_handles(x):
    class Defaults(Mapping):
        __iter__ = __len__ = None

        def __getitem__(self, key):
            if x.sum() > 0:
                raise KeyError(key)  # error: that KeyError is raised here, which only the run knows, would be seen by a handler of get()
            return x

    return Defaults().get("a", x * 2)


_OPENED = []


class CountingKept(CountingUp):
    def __init__(self):
        super().__init__()
        _OPENED.append(self)


def own_iterator_kept_outside(x):
    for n in CountingKept():  # error: to take an item from what the loop runs over changes what is used elsewhere
        if x.sum() > n:
            break
    return x


def zipped_with_texts(x, n):
    kept = []
    for i in range(n):
        if x[i] > 0:
            kept.append(x[i])
    return dict(zip(["a", "b"], kept, strict=False))["a"]  # error: what zip() runs over has a length that only the run knows


def tuple_of_dynamic_length(x, n):
    return tuple(x * i for i in range(n))  # error: tuple() of something whose length only the run knows is not supported


def iterator_that_any_leaves(x):
    tests = iter([x.sum() > 0, x.mean() > 0, x.max() > 0])
    found = any(tests)
    return found, next(tests, 7)  # error: how far a list_iterator has come, over which a loop has run, depends on a tensor
