"""Functions with errors. The line of each is marked with the text that the error starts with."""

import atexit
import collections
import contextlib
import contextvars
import copy
import dataclasses
import datetime
import decimal
import fractions
import functools
import hashlib
import io
import itertools
import os
import pathlib
import pprint
import queue
import statistics
import subprocess
import sys
import time
import types
import uuid

import numpy as np

import dy2st as paddle
from dy2st.optimizer import SGD, Adamax
from dy2st.tensor.manipulation import concat
from dy2st.tensor.random import get_rng_state, rand, set_rng_state
from dy2st.tensor.search import one_hot
from dy2st.tensor.tensor import Parameter


def sliced_to_a_tensor(x, n):
    return sum(itertools.islice([x, x, x], int(n)))  # error: itertools.islice() needs numbers of Python, and is given what is only


def state_of_the_generator(x):
    state = get_rng_state()  # error: the state of the random generator is only known when the program runs
    y = rand([2])
    set_rng_state(state)
    return x + y


def narrow_float_of_numpy(x):
    return x * (float(x[0]) * np.float32(0.1))  # error: a Python number that only the run knows beside a float32 of NumPy


def int_or_float_rounded(x):
    k = 2
    if x.sum() > 0:
        k = 2.25
    return x * round(k, 1)  # error: 'k' is a Python float on one path and a Python int on the other


def mean_of_statistics(x):
    return x * statistics.mean([float(x[0]), float(x[1])])  # error: statistics.mean() needs numbers of Python, and is given what is


def numpy_of_staged(x):
    y = x * 2
    return y.numpy()  # error: .numpy() needs the value of a tensor


def function_of_numpy(x):
    return x + np.exp(x * 2)  # error: np.exp() needs the value of a tensor (float32[


def joined_by_numpy(x):
    return np.concatenate([x, x])  # error: np.concatenate() needs the value of a tensor (float32[


def dtypes_differ(x):
    y = x
    if x.sum() > 0:  # error: 'y' has dtype int64 on one path and float32 on the other
        y = x.astype("int64")
    return y


def ranks_differ(x):
    if x.sum() > 0:  # error: 'y' has 1 dims on one path and 2 on the other
        y = x
    else:
        y = x.reshape([1, -1])
    return y


def structures_differ(x):
    if x.sum() > 0:  # error: 'y' is tuple of 2 on the path where the condition is true and tuple of 3
        y = (x, x)
    else:
        y = (x, x, x)
    return y


class Held:
    def __init__(self, x):
        self.x = x


class Other(Held):
    pass


def objects_differ(x):
    if x.sum() > 0:  # error: 'held' is Held of 1 on the path where the condition is true and Other of 1 on the path where it is false
        held = Held(x)
    else:
        held = Other(x * 2)
    return held.x


def ordered_dict_in_an_order_of_the_run(x):
    d = collections.OrderedDict(a=x, b=x * 2)
    if x.sum() > 0:  # error: the order of the keys of a OrderedDict depends on a condition on tensors
        d.move_to_end("a")
    return next(iter(d.values()))


def attribute_of_a_function_on_one_path(x):
    def helper():
        return x

    if x.sum() > 0:
        helper.late = 1  # error: a function gets or loses the attribute 'late' under a condition on tensors
    return helper()


def attributes_listed(x):
    held = Held(x)
    if x.sum() > 0:
        held.y = x
    return len(vars(held))  # error: which attributes a Held has is only known when the program runs: it has 'y' on some paths


def one_of_two_objects_changed(x):
    held = other = Held(x)
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one, as only the run knows
        held = Held(x * 2)
    held.x = held.x + 1
    return other.x


def number_or_text(x):
    if x.sum() > 0:  # error: 'scale' is a Python int 2 on the path where the condition is true and str 'half'
        scale = 2
    else:
        scale = "half"
    return x if scale == "half" else x * scale


def text_in_a_set(x):
    mode = "a" if x.sum() > 0 else "b"
    return x * len({mode, "c"})  # error: a value is one of several objects ('a', 'b'), as a condition on tensors


def text_of_a_path_printed(x):
    print("a" if x.sum() > 0 else "b")  # error: a value is one of several objects ('a', 'b'), as a condition on tensors
    return x


def object_of_a_path_changed(x):
    held = STATES[0] if x.sum() > 0 else STATES[1]
    held.h = x  # error: a value is one of several objects
    return x


def loop_changes_dtype(x):
    while x.sum() < 10:  # error: 'x' has dtype float32 on one path and float64 on the other
        x = (x + 1).astype("float64")
    return x


def loop_changes_rank(x):
    s = x.sum()
    for v in x:  # error: 's' has 0 dims on one path and 1 on the other
        s = s + v.reshape([1])
    return s


def number_none_or_tensor(x, n):
    s = None
    for _ in range(n):  # error: 's' is None on one path, and a float32 tensor or a Python int on others
        if x.sum() > 0:
            s = x if s is None else s + x
        else:
            s = 0
    return s


def ambiguous(x):
    if x > 0:  # error: the truth value of a tensor with 2 elements is ambiguous
        return x
    return -x


def shapes(x):
    return concat([x, x.reshape([-1, 1])])  # error: concat: all tensors must have the same number of dims


def undefined_at_run_time(x):
    if x.sum() > 100:
        y = x * 2
    return y  # error: local variable 'y' is read where it has no value


def list_undefined_at_run_time(x):
    if x.sum() > 100:
        y = [x]
    return y  # error: local variable 'y' is read where it has no value


def set_only_where_it_is_read(x, n=4):
    for i in range(paddle.to_tensor(n)):
        if i > 0:
            x = x + a  # noqa: F821 # error: local variable 'a' is read where it has no value
            a = x  # noqa: F841
    return x


def never_defined(x):
    if x is None:
        y = x
    return y  # error: local variable 'y' is read where it has no value


def index(x):
    for i in range(len(x) + 1):
        x = x + x[i]  # error: index 2 is out of range
    return x


def frozen_random(x):
    import random

    return x * random.random()  # error: random.random() would be drawn once


def frozen_time(x):
    return x * (time.time() > 1e6)  # error: time.time() would be called once, while tracing, and give the same at each call


def frozen_date(x):
    return x * datetime.datetime.now().year  # error: datetime.now() would be called once, while tracing


def frozen_name(x):
    return x * len(uuid.uuid4().hex)  # error: uuid.uuid4() would be called once, while tracing


def mixed_kinds(x):
    if x.sum() > 0:  # error: 'y' is a tensor
        y = x
    else:
        y = "none"
    return y


def dynamic_list_elements(x, n):
    out = [x]
    for _ in range(n):  # error: all entries of 'out' must be of one structure, as only the run knows its length or order: one is a tensor
        out.append("text")
    return out


def key_of_an_ordered_dict_on_one_path(x):
    d = collections.OrderedDict()
    if x.sum() > 0:  # error: a dict gets or loses the key 'y' under a condition on tensors
        d["y"] = x
    return x if "y" in d else x * 2


def keys_in_an_order_of_the_run(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
    d["b"] = x * 2
    d["a"] = x * 3
    return list(d.values())  # error: in which order a dict has got its keys depends on a tensor


def key_deleted_while_looping(x):
    d = {"a": x, "b": x}
    if x.sum() > 0:
        d["c"] = x
    for key in d:  # error: a dict that has some of its keys only in some runs gets or loses keys while a loop runs over it
        if key == "a":
            del d["b"]
    return d


def dict_of_the_run_compared(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    return x if d == {"a": 1} else -x  # error: a comparison of a dict that has some of its keys only in some runs


def dict_of_the_run_unpacked(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    return {**d}  # error: which items a generator gives depends on a tensor, so that Python cannot iterate over it


def one_of_two_dicts_of_the_run(x):
    a, b = {}, {}
    if x.sum() > 0:
        a["k"] = x
        b["l"] = x
    c = a if x[0] > 2 else b  # error: 'the value of the expression' is a dict that has some of its keys only in some runs
    return c.get("k", x)


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return False


def caught_behind_a_manager(x):
    try:
        with Manager():
            if x.sum() > 0:
                raise ValueError("positive")  # error: a try statement cannot catch what only the run knows to be raised inside of a with
        return x
    except ValueError:
        return x * 2


def return_in_finally(x):
    try:
        if x.sum() > 0:
            raise ValueError("positive")
    finally:
        return x  # noqa: B012  # error: 'return' inside 'finally' cannot be converted


def caught_without_a_test(x, n):
    try:
        return one_hot(n, 2) * x  # error: a try statement cannot catch what only the run knows to be raised by an operation that fails
    except ValueError:
        return x


def caught_behind_a_growing_list(x, n):
    items = []
    try:
        if x.sum() < 0:  # error: a list that is there before something in a try statement may raise changes its length
            raise ValueError("negative")
        for i in range(n):
            items.append(x * i)
    except ValueError:
        items.append(x)
    return items[0]


def raised_list(x, n):
    items = [x * i for i in range(n)]
    if x.sum() < 0:
        raise ValueError("negative", items)  # error: an exception that is raised when the program runs cannot hold a list
    return x


def int_or_float_beside_ints(x):
    k = 2
    if x.sum() > 0:
        k = 0.5
    return x.astype("int32") * k  # error: 'k' is a Python float on one path and a Python int on the other


def int_or_float_shown(x):
    k = 2
    if x.sum() > 0:
        k = 0.5
    print(k)  # error: 'k' is a Python float on one path and a Python int on the other
    return x


def number_or_tensor_beside_ints(x, n):
    b = 2
    if n > 0:
        b = n
    return x.astype("int32") * b  # error: 'b' is int64[] on one path and a Python int on the other


def int_or_float_asked(x):
    k = 2
    if x.sum() > 0:
        k = 0.5
    return x if isinstance(k, int) else -x  # error: 'k' is a Python float on one path and a Python int on the other


def number_rounded(x):
    k = 0.1
    if x.sum() > 0:
        k = x.sum()
    return x.astype("float64") * k  # error: 'k' is float32[] on one path and a Python float on the other


def int_grows(x, n):
    k = 3
    while k < 4:
        k = (k + n * 0) * 10
    k = int(k)
    for _ in range(n * 30):
        k = k * 3  # error: a Python int that depends on tensors has left the range of 64 bits
    return x + k


def int_to_negative_power(x, n):
    return x * 2 ** int(-n)  # error: 2 ** -2 is a float


def list_that_its_own_loop_grows(x):
    todo = [x, x * 2]
    for v in todo:  # error: the list over which the loop runs changes under a condition on tensors
        if v.sum() > 100:
            todo.append(v / 2)
    return todo


def none_in_a_list_of_dynamic_length(x):
    items = [v for v in x if v > -100]
    items[0] = 1 if x.sum() > 0 else None  # error: a list that changes in a staged loop can hold tensors and numbers, not what is None
    return items


def sort_of_vectors(x, n):
    items = [x * i for i in range(n)]
    items.sort()  # error: a sort compares the entries of a list of dynamic length, which are tensors of shape
    return items


def sort_of_unlike_entries(x, n):
    return sorted([(x.sum(), x), (x[0], (x, x))], key=lambda t: t[0])  # error: all entries of a list that is sorted


def argument_perhaps_modified(x):
    h = x
    if x.sum() > 10:
        h = x * 2
    h[0] = 7  # error: what is modified in place here is on one path the same object as a tensor or list that is the caller's
    return h


def other_name_read_after(x):
    z = x + 0
    h = z if x.sum() > 0 else x * 2
    h[0] = 7  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return h * z.sum()


def modified_behind_a_loop_that_hands_on(x):
    p, q, r = x * 2, x * 3, x * 4
    for v in x:
        if v > 2:
            p = q
        elif v > 1:
            q = r
    p[0] = 7  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return r * 2


def compared_in_a_loop_that_hands_on(x):
    p, q = x * 2, x * 3
    for v in x:
        if p is q:  # error: whether the two are one object depends on a condition on tensors
            return x * v
        p = q
    return x


def one_object_on_one_side(x):
    y, z = x * 3, x * 4
    if x.sum() > 0:
        y = z = x * 2
    y[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return y, z


def first_iteration_modifies_the_argument(x, n):
    h = x
    for _ in range(n):
        h[0] = 9  # error: what is modified in place here is on one path the same object as a tensor or list that is
        h = h * 2
    return h


def source_modified_after(x):
    h = z = x + 0
    if x.sum() > 0:
        h = x * 2
    z[0] = 1  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return h


def last_iteration_is_read_in_the_next(x, n):
    h = x * 2
    last, s = x, x.sum()
    for _ in range(n):
        h[0] = 1  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
        s = s + last.sum()
        last = h
    return s


def text_compared(x):
    s = str(float(x.sum()))
    return x if s == "3.0" else -x  # error: a text with the values of tensors in it is only known when the program runs


def f_string_compared(x):
    s = f"sum: {x.sum()}"
    return x if len(s) > 3 else -x  # error: a text with the values of tensors in it is only known when the program runs


def joined_text_compared(x):
    s = ", ".join(["a", str(x.sum())]) + "!"
    return x if s.startswith("a") else -x  # error: a text with the values of tensors in it is only known when the program


def index_of_a_tensor_that_may_be_none(x, n):
    place = 0 if n > 1 else None
    return x[place]  # error: an index of a tensor is None in some runs, which adds an axis


def number_as_a_key(x):
    return x * {3: 1.0}.pop(int(x.sum()), 2.0)  # error: hash() (a lookup in a dict or set) needs the value of a tensor


def new_key_of_a_number(x, n):
    d = {0: x, 1: x}
    d[int(n) + 5] = x * 2  # error: a dict may get a key here that only the run knows
    return d[0]


def items_of_two_dtypes(x, n):
    return [x, x.astype("int64")][n]  # error: 'the item' has dtype float32 on one path and int64 on the other


def attribute_of_an_item_written(x, n):
    states = [State(x), State(x * 2)]
    states[n].h = x * 5  # error: a list, dict or object is changed in place after this, which is one or another one
    return states[0].h


def item_read_before_a_change(x, n):
    rows = [[x], [x * 2]]
    row = rows[n]  # error: a list, dict or object is changed in place after this, which is one or another one
    rows[0][0] = x * 3
    return row[0]


def item_modified_in_place(x, n):
    a = [x * 1, x * 2]
    a[n].add_(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return a[0]


def number_in_a_set(x):
    return x * len({int(x.sum()), 3})  # error: hash() (a lookup in a dict or set) needs the value of a tensor


def root_of_a_negative_number(x):
    v = float(-x.sum())
    return x * v**0.5  # error: -3.0 ** 0.5 is a complex number


def list_that_may_be_another(x, n):
    a = [x]
    b = a
    for i in range(n):
        a = a + [x * i]  # noqa: RUF005
    b.append(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return a


def appended_and_modified(x, n):
    v = x * 2
    items = [x]
    for _ in range(n):
        items.append(v)
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return concat(items)


def entry_of_a_list_on_either_side_modified(x):
    v = x * 1
    items = [v, v] if x.sum() > 0 else [v]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return items


def entry_of_a_list_of_a_loop_modified(x, n):
    v = x * 1
    items = [v]
    for _ in range(n):
        items = [v, v]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return items


def entry_of_two_lists_modified(x, n):
    v = x * 1
    if n > 1:
        a, b = [v], [v, x]
    else:
        a, b = [v, v], [v]
    a[0][0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return b


def list_of_one_path_under_two_names(x, n):
    if n > 1:
        a = b = [x]
    else:
        a, b = [x, x], [x, x, x]
    a.append(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is returned
    return b


def entry_modified(x, n):
    items = [x * i for i in range(n)]
    v = items[0]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return concat(items)


def entry_of_a_copy_modified(x, n):
    items = [x * i for i in range(n)]
    v = items[:1][0]
    v[0] = 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return concat(items)


def perhaps_one_object(x):
    y = x * 1
    h = y if x.sum() > 0 else y * 2
    return x if h is y else -x  # error: whether the two are one object depends on a condition on tensors


def truth_of_rows(x):
    return x if any(x.reshape([-1, 1])) else -x  # error: any() of a tensor with 2 dims asks for the truth of its rows


def text_cut_to_length(x, n):
    raise ValueError("{:>4}".format(f"{int(n)} {x[0]}"))  # error: a text with the values of tensors in it is only known


def text_of_a_dynamic_list(x, n):
    items = [x * i for i in range(n)]
    raise ValueError(f"{items}")  # error: the text of a list of dynamic length is only known when the program runs


POSITIONS = iter(range(100))


def sum_of_the_outside(x):
    return x * sum(POSITIONS)  # error: a range_iterator that is there before the call would be advanced once


def largest_of_the_outside(x):
    return x * max(POSITIONS)  # error: a range_iterator that is there before the call would be advanced once


def iterator_of_the_outside(x):
    return x * next(POSITIONS)  # error: a range_iterator that is there before the call would be advanced once


def loop_over_an_iterator_of_the_outside(x):
    for k in POSITIONS:  # error: a range_iterator that is there before the call would be advanced once
        x = x * k
    return x


def iterator_in_a_loop(x, n):
    rates = iter([1.0, 2.0, 3.0])
    for _ in range(n):
        x = x * next(rates)  # error: a list_iterator is advanced in a branch or a loop that depends on a tensor
    return x


def list_beside_a_tensor_grown(x):
    rates = [1.0, 2.0]
    for v, rate in zip(x, rates, strict=False):  # error: the list over which the loop runs changes under a condition on tensors
        rates.append(v * rate)
    return rates


def iterator_beside_a_tensor_whose_list_changes(x):
    rates, out = [1.0, 2.0], 0.0
    for v, rate in zip(x, iter(rates), strict=False):  # error: the list over which the loop runs changes under a condition
        out = out + v * rate
        rates[-1] = 5.0
    return out


def put_into_a_simple_queue(x):
    SIMPLE_QUEUE.put(1)  # error: put() of a SimpleQueue would be done once, while tracing, and not at each call
    return x * SIMPLE_QUEUE.qsize()


def variable_of_a_context(x):
    return x * CONTEXT.get()  # error: get() of a ContextVar would be done once, while tracing, and not at each call


def environment_changed(x):
    os.environ["CULPRIT_OF_TESTS"] = "1"  # error: a change of the entries of a Environ would be done once
    return x


def memory_changed(x):
    MEMORY[0] = 3  # error: a change of the entries of a memoryview would be done once, while tracing
    return x * MEMORY[0]


def file_written(x):
    with open(os.devnull, "w") as file:  # error: open('/dev/null', 'w') would be done once, while tracing, and not at each call
        file.write("a")
    return x


def file_printed_to(x):
    print("a", file=FILE)  # error: write() of a TextIOWrapper would be done once, while tracing, and not at each call
    return x


def file_that_is_open_read(x):
    return x + len(FILE.readline())  # error: a TextIOWrapper that is there before the call would be advanced once, while


def array_read_from_an_open_file(x):
    return x + len(np.fromfile(BINARY))  # error: fromfile() of a file that is open already would be done once, while tracing


def array_saved(x):
    np.savetxt(os.devnull, np.ones(2))  # error: numpy.savetxt() would be done once, while tracing, and not at each call
    return x


def file_touched(x):
    pathlib.Path(os.devnull).touch()  # error: pathlib.Path.touch() would be done once, while tracing, and not at each call
    return x


def process_started(x):
    subprocess.run(["true"])  # error: subprocess.run() would be done once, while tracing, and not at each call
    return x


def folder_changed(x):
    os.chdir(os.curdir)  # error: os.chdir() would be done once, while tracing, and not at each call
    return x


def tensor_printed_elsewhere(x):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        print(x)  # error: print() of a tensor to a file, or where the output is redirected, is not supported while tracing
    return x * len(shown.getvalue())


def hashed(x):
    HASH.update(b"a")  # error: update() of a HASH would be done once, while tracing, and not at each call
    return x * HASH.digest()[0]


def view_of_a_dict_that_grows(x):
    d = {"a": x}
    keys = d.keys()
    if x.sum() > 0:  # error: a dict gets or loses keys in some runs only, while something holds a view of it (keys())
        d["b"] = x * 2
    return x * len(keys)


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


def random_number_of_numpy(x):
    return x * np.random.rand()  # error: np.random.rand() would be drawn once, while tracing


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
    return {i: v for i, v in enumerate([x[0], x[1]]) if v > 0}  # error: which keys a dict comprehension gives depends on a tensor


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


def own_iterator_left_by_a_tensor(x):
    numbers = CountingUp()
    for n in numbers:  # error: how far a CountingUp has come would depend on a tensor
        if x.sum() > n:
            break
    return x * numbers.n


def own_iterator_numbered_and_left_by_a_tensor(x):
    numbers = CountingUp()
    for i, n in enumerate(numbers):  # error: how far a CountingUp has come would depend on a tensor
        if x.sum() > n * i:
            break
    return x * numbers.n


def zipped_with_texts(x, n):
    kept = []
    for i in range(n):
        if x[i] > 0:
            kept.append(x[i])
    return dict(zip(["a", "b"], kept, strict=False))["a"]  # error: what zip() runs over has a length that only the run knows


def tuple_of_dynamic_length(x, n):
    return tuple(x * i for i in range(n))  # error: tuple() of something whose length only the run knows is not supported


def list_that_may_be_the_other(x):
    a = [x]
    b = a
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        b = [x * 2]
    b[0] = b[0] + 1
    return a[0]


def row_that_may_be_another_filled_by_a_tensor(x):
    rows = [[], []]
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        rows[1] = rows[0]
    rows[1][:] = x
    return rows


def list_in_a_place_that_may_be_another(x):
    a = [x, x]
    rows = [a, a]
    if x.sum() > 0:
        rows[0] = [x * 2]
    a[1] = x * 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return rows[0][-1]


def list_in_an_object_that_may_be_another(x):
    a = [x, x]
    held = Held(a)
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        held = Held([x * 2])
    a[1] = x * 5
    return held.x[-1]


def list_of_an_object_made_on_a_path_that_may_be_another(x, n):
    entry, held, rows = [3.0], Held([[6.0], [7.0]]), [1.0, 2.0]
    if n != 2:
        rows = held.x[1]
    if n > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        held = Held([rows, entry])
    entry.clear()
    return held.x[1]


@dataclasses.dataclass
class State:
    h: object


def object_that_may_be_the_other(x, n):
    first = State(x)
    s = first
    for _ in range(n):  # error: a list, dict or object is changed in place after this, which is one or another one
        s = State(s.h * 2)
    s.h = s.h + 1
    return first.h


class Trained:
    def __init__(self):
        self.weight, self.other = Parameter([1.0, 2.0]), Parameter([1.0, 2.0])
        self.optimizer = SGD(0.1, [self.weight, self.other])
        self.adamax = Adamax(0.1, parameters=[self.weight, self.other])


TRAINED = Trained()
FILE, BINARY = open(os.devnull, "r+"), open(os.devnull, "rb")  # noqa: SIM115
atexit.register(FILE.close)
atexit.register(BINARY.close)
SIMPLE_QUEUE, CONTEXT, MEMORY, HASH = queue.SimpleQueue(), contextvars.ContextVar("c", default=1), memoryview(bytearray(2)), hashlib.md5()
KEPT = {"one": {"a": 1.0}, "other": {"a": 2.0}, "long": [1.0, 2.0], "short": [], "rows": [{"a": 3.0}], "lists": [[1.0], [2.0]],
        "pair": [{"a": 4.0}, {"a": 5.0}], "held": Held([3.0])}  # fmt: skip


def dict_kept_twice(x):
    if x.sum() > 0:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        KEPT["one"] = KEPT["other"]
    return x


def list_kept_twice_by_an_exit(x):
    def found():
        if x.sum() > 0:  # noqa: SIM102
            if x.sum() > 1:
                return KEPT["short"]
        return [v for v in x]  # noqa: C416

    KEPT["long"] = found()
    return x  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too


def list_kept_twice(x):
    if x.sum() > 0:
        KEPT["long"] = KEPT["short"]
    return x  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too


def list_kept_twice_and_returned(x):  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept
    if x.sum() > 0:
        KEPT["long"] = KEPT["short"]
    if x.sum() > 0:
        return [2.0]
    return KEPT["short"]


def list_kept_twice_perhaps_once_more(x):
    def change():
        KEPT["short"] = []
        if x.sum() > 0:
            KEPT["long"] = KEPT["short"]

    change()
    try:
        x = x * int(x.sum())
    except OverflowError:
        change()
    return x  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too


def entry_kept_twice_after_iterations(x, n):
    held, entry = Held([{"a": 1.0}, {"a": 2.0}]), {"a": 3.0}
    for _ in range(n):  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        KEPT["pair"] = held.x
        held = Held([held.x[1], entry])
    KEPT["one"] = entry
    return x


def entry_that_the_iteration_before_has_left(x, n):
    entry, last = {"a": 3.0}, {"a": 4.0}
    for _ in range(n):  # error: what is in a list of dynamic length is held there as a copy, where eager mode has one list, dict or object
        KEPT["rows"] = [last, {"a": 5.0}]
        last = entry
    KEPT["one"] = entry
    return x


def entry_kept_of_a_list_that_is_replaced(x, n):
    rows = Held(KEPT["lists"])
    held = Held(rows.x[0])
    if n == 2:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        rows.x = [[4.0], [1.0, 2.0]]
        rows.x.pop()
        KEPT["held"].x, held.x = held.x, KEPT["held"].x
    return x


def dict_kept_twice_where_another_path_raises(x):
    if x.sum() < -5:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        raise ValueError("negative")
    elif x.sum() > 0:
        KEPT["one"] = KEPT["other"]
    return x


def dict_kept_twice_where_it_is_raised(x, n):
    try:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        if x.sum() > 0:
            for _ in range(n):
                KEPT["one"] = KEPT["other"]
            raise KeyError("one")
    except KeyError:
        x = x * 2
    return x


def dict_of_the_caller_perhaps(x):
    def extended(d):
        e = d if x.sum() > 0 else {"a": x * 2}  # error: a list, dict or object is changed in place after this, which is one
        e["a"] = e["a"] + 1
        return d["a"] * e["a"]

    return extended({"a": x})


def swapped_and_changed(x, n):
    a, b = [x], [x * 2]
    first = a
    for _ in range(n):  # error: a list, dict or object is changed in place after this, which is one or another one
        a, b = b, a
    a[0] = a[0] + 1
    return first[0]


def sorted_and_changed(x):
    a, b = {"k": x[0]}, {"k": x[1]}
    first = sorted([a, b], key=lambda d: d["k"])[0]  # error: a list, dict or object is changed in place after this, which is one or
    first["k"] = x.sum()
    return a["k"], b["k"]


def argument_of_recursion_changed(x, n):
    def halved(d, k):
        if k <= 0:
            return d
        return halved({"a": d["a"] / 2}, k - 1)

    d = {"a": x}
    e = halved(d, n)  # error: a list, dict or object is changed in place after this, which is one or another one, as only the run knows
    e["a"] = x * 3
    return d["a"]


def read_by_recursion_and_modified(x, n):
    y = x * 2

    def best(k):
        if k <= 0:
            return y
        found = best(k - 2)
        return x if k == 3 else found

    found = best(n)
    y.add_(1.0)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    return found * 1


def entry_kept_too(x, n):
    for _ in range(n):
        KEPT["rows"].append(KEPT["one"])  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


def entry_taken_out_and_kept(x, n):
    for i in range(n):
        KEPT["rows"].append({"a": float(i)})
    KEPT["one"] = KEPT["rows"][0]  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


def entry_kept_twice(x, n):
    row = {"a": 0.5}
    for _ in range(n):
        KEPT["rows"].append(row)  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


def entries_kept_in_two_lists(x, n):
    for i in range(n):
        KEPT["rows"].append({"a": float(i)})
    KEPT["short"] = KEPT["rows"][1:]  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


class Mode:
    h = None


STATES = [Mode(), Mode()]


def object_replaced_in_recursion(x, n):
    holder = Held({"sum": x})

    def visit(k):
        if k > 0:
            holder.x = {"sum": holder.x["sum"] + k}
            visit(k - 1)  # error: 'visit' calls itself under a condition on tensors and changes what is outside of it: attribute 'x'

    visit(n)
    return holder.x["sum"]


def modified_in_recursion_perhaps(x, n):
    total = x * 0
    other = total if n > 1 else x * 2

    def visit(k):
        if k > 0:
            total.add_(x)
            visit(k - 1)  # error: 'visit' calls itself under a condition on tensors and changes what is outside of it: what may be one

    visit(n)
    return total, other * 1


def argument_changed_in_recursion(x):
    if x.sum() > 10:
        return x
    x.add_(x)
    return argument_changed_in_recursion(x * 2)  # error: 'argument_changed_in_recursion' calls itself under a condition on tensors


def list_grown_in_recursion(x, n, parts=None):
    parts = [x] if parts is None else parts
    if n <= 0:
        return x
    parts.insert(0, x * 2)
    return list_grown_in_recursion(x * 0.5, n - 1, [x, x * 2]) + parts[0]  # error: 'list_grown_in_recursion' calls itself under a


def list_in_an_argument_replaced_in_recursion(x, n, rows=None):
    rows = [[x], []] if rows is None else rows
    if n <= 0:
        return x
    if x.sum() > 1:
        rows[1] = [list_in_an_argument_replaced_in_recursion(x * 0.5, n - 1, rows)]
        return list_in_an_argument_replaced_in_recursion(x * 0.25, n - 1, rows)
    return list_in_an_argument_replaced_in_recursion(x + 1, n - 1, [[x], []])  # error: 'list_in_an_argument_replaced_in_recursion' calls


def recursion_without_end(x):
    y = recursion_without_end(x - 1) if x.sum() > 0 else recursion_without_end(x + 1)  # error: 'recursion_without_end' calls itself on
    return y * 2


def result_of_two_dtypes(x):
    if x.sum() > 10:  # error: the result has dtype int64 on one path and float32 on the other
        return x.astype("int64")
    return result_of_two_dtypes(x * 2) * 0.5


def caught_recursion(x):
    def deep(y):
        return y if y.sum() > 10 else deep(y * 2)  # error: a try statement cannot catch what only the run knows to be raised

    try:
        return deep(x)
    except RecursionError:
        return x


def entry_changed_in_place(x, n):
    rows = []
    for i in range(n):
        rows.append([x, x * i])
    rows[0].append(x)  # error: a list is changed in place which was put into a list of dynamic length, or taken out of one
    return rows


def entry_of_one_path_changed(x):
    row = {"a": x}
    rows = [row] if x.sum() > 0 else [{"a": x * 2}, {"a": x * 3}]  # error: what is put into a list of dynamic length here, or taken out
    row["a"] = x * 4
    return [r["a"] for r in rows]


def object_of_an_attribute_changed_behind_append(x):
    STATES[0].h, rows = Held(x.sum()), []
    for v in x:
        STATES[0].h.x = v
        rows.append(STATES[0].h)  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
    return [r.x for r in rows]


def list_changed_behind_append(x, n):
    rows, row = [], [x]
    for i in range(n):
        row.append(x * i)  # error: a list is changed in place which was put into a list of dynamic length, or taken out of one
        rows.append(row)
    return rows


def dict_changed_behind_append(x, n):
    rows, row = [], {"x": x}
    for _ in range(n):
        row["x"] = row["x"] * 2
        rows.append(row)  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
    return rows


def dict_of_an_entry_changed(x, n):
    rows = []
    for i in range(n):
        rows.append({"x": x * i})
    for row in rows:  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
        row["x"] = row["x"] * 2
    return rows


def dict_put_in_and_changed(x, n):
    rows = []
    row = {"x": x}
    for _ in range(n):
        rows.append(row)  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
        row["x"] = row["x"] + 1
    return rows


def entries_of_two_structures(x, n):
    rows = [(x, 1)]
    for _ in range(n):  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order: one is tuple
        rows.append((x, 1, 2))
    return rows


def entry_that_may_be_none(x, n):
    rows = [x]
    for _ in range(n):  # error: no entry of 'rows' can be None where others are tensors or numbers, as only the run knows its
        rows.append(None)
    return rows


def entries_with_nothing_in_them(x, n):
    rows = []
    for _ in range(n):  # error: only the run knows the length of 'rows', and there is nothing in its entries
        rows.append(([], {}))
    return x * len(rows)


def record_looked_for(x, n):
    rows = []
    for i in range(n):
        rows.append((i, x))
    return rows.index((1, x))  # error: index() of a list of dynamic length whose entries are put together of others is not supported


def optional_list_printed(x):
    best = [x] if x.sum() > 0 else None
    print(best)  # error: a list that is None on some paths has a text that only the run knows
    return x


def lists_that_may_be_one(x):
    a = b = [x]
    if x.sum() > 0:
        b = [x * 2]
    return a is b  # error: whether the two are one object depends on a condition on tensors


def copy_of_a_list_that_may_be_the_first(x):
    a = b = [x, x * 2]
    if x.sum() > 0:
        a = list(a)
        b.append(x)
    return a is b  # error: whether the two are one object depends on a condition on tensors


def copy_of_a_tensor_that_may_be_the_first(x):
    y = x * 2
    z = copy.copy(y)
    if x.sum() > 0:
        y = z
    y.add_(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    return y * z


def lists_of_two_lengths_that_may_be_one(x, n):
    a, b, rows = [1.0, 2.0], [3.0], [4.0, 5.0]
    if n > 0:
        a = rows
    if x.sum() > 2:
        b = rows
    return x if a is b else -x  # error: whether the two are one object depends on a condition on tensors


def objects_that_may_be_one(x):
    a = b = Held(x)
    if x.sum() > 0:
        b = Held(x * 2)
    return x if a is b else x * 2  # error: whether the two are one object depends on a condition on tensors


def gradient_read(x):
    return x if TRAINED.weight.grad is None else TRAINED.weight.grad  # error: the gradient of a tensor cannot be read in a static function


def gradient_cleared_in_a_branch(x):
    if x.sum() > 0:
        TRAINED.weight.clear_grad()  # error: the gradient of a tensor can only be cleared in a static function, and not under a condition
    return x * TRAINED.weight


def gradient_set(x):
    TRAINED.weight.grad = x  # error: the gradient of a tensor can only be cleared in a static function, and not under a condition
    return x * TRAINED.weight


def gradient_that_may_be_absent(x):
    y = (x * TRAINED.weight).sum() if x.sum() > 0 else (x * TRAINED.other).sum()
    y.backward()
    return x if TRAINED.weight.grad is None else TRAINED.weight.grad  # error: only the run knows whether there is a gradient


def backward_in_a_branch(x):
    y = (x * TRAINED.weight).sum()
    if y > 0:
        y.backward()  # error: backward() cannot be called in a branch or a loop that depends on a tensor
    return x * 2


def backward_once_more(x):
    y = (x * TRAINED.weight).sum()
    y.backward()
    y.backward()  # error: the graph was freed by an earlier backward()
    return x * 2


def backward_to_be_differentiated(x):
    paddle.autograd.backward([(x * TRAINED.weight).sum()], create_graph=True)  # error: backward(create_graph=True) in a static function
    return x * 2


def backward_behind_a_step(x):
    (x * TRAINED.weight).sum().backward()
    TRAINED.optimizer.step()
    (x * TRAINED.other).sum().backward()  # error: backward() behind the step of an optimizer, in one static function
    return x


def step_in_a_branch(x):
    (x * TRAINED.weight).sum().backward()
    if x.sum() > 0:
        TRAINED.optimizer.step()  # error: the step of an optimizer under a condition on tensors
    return x


def step_of_what_is_modified(x):
    with paddle.no_grad():
        TRAINED.weight.scale_(0.5)
    (x * TRAINED.weight).sum().backward()
    TRAINED.optimizer.step()  # error: an optimizer updates a parameter that the static function has modified before
    return x


def step_that_asks_for_all_gradients(x):
    y = (x * TRAINED.weight).sum() if x.sum() > 0 else (x * TRAINED.other).sum()
    y.backward()
    TRAINED.adamax.step()  # error: only the run knows whether there is a gradient, and this optimizer does more than nothing without one
    return x * 2


def lists_in_order(x, n):
    a = []
    for i in range(n):
        a.append(i)
    return x if a < [1] else -x  # error: '<' of lists of dynamic length is not supported


def list_in_a_dict_compared(x, n):
    a = []
    for i in range(n):
        a.append(i)
    return x if {"a": a} == {"a": [1]} else -x  # error: bool() needs the value of a tensor (bool[]) that is only known


def suppressed_by_a_manager(x):
    with contextlib.suppress(ValueError):
        if x.sum() > 0:
            raise ValueError("positive")  # error: that ValueError is raised here, which only the run knows, would be seen by the suppress()
        x = x * 2
    return x


class Swallows:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return kind is IndexError


def index_in_a_manager(x, n):
    with Swallows():
        x = x + x[n]  # error: that IndexError is raised here, which only the run knows, would be seen by the Swallows() of a with
    return x


def caught_by_a_generator(x):
    @contextlib.contextmanager
    def logged(log):
        try:
            yield
        except ValueError:
            log.append("failed")

    with logged([]):
        if x.sum() > 0:
            raise ValueError("positive")  # error: that ValueError is raised here, which only the run knows, would be seen by the logged()
    return x


def caught_in_a_stack_of_managers(x):
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(AssertionError))
        assert x.sum() < 0  # error: that AssertionError is raised here, which only the run knows, would be seen by the ExitStack()
    return x


def error_of_tracing_in_a_manager(x):
    with contextlib.suppress(TypeError):
        x = np.sin(x)  # error: np.sin() needs the value of a tensor
    return x


def gradients_switched_off_on_one_path(x):
    if x.sum() > 0:  # error: the recording of gradients is switched under a condition on tensors
        paddle.set_grad_enabled(False)
    y = x * 2
    paddle.set_grad_enabled(True)
    return y


def gradients_switched_off_in_a_loop(x):
    for _ in x:  # error: the recording of gradients is switched under a condition on tensors
        paddle.set_grad_enabled(False)
    y = x * 2
    paddle.set_grad_enabled(True)
    return y


def range_sliced(x, n):
    return x * sum(range(int(n))[1:])  # error: a range() with an end that only the run knows, cannot be used so


def bits_of_a_number(x, n):
    return x * int(n).bit_length()  # error: a number that only the run knows has no attribute 'bit_length' here


def manager_of_a_path(x):
    manager = contextlib.nullcontext() if x.sum() > 0 else paddle.no_grad()
    with manager:  # error: a value is one of several objects (
        return x * 2


@functools.cache
def _table(n):
    return n if isinstance(n, paddle.Tensor) else paddle.rand([n])


def tensor_in_a_cache(x):
    return x * _table(x * 2)  # error: _table(), which has a cache, is given a tensor that is another object at each call


def number_in_a_cache(x, n):
    return x * _table(int(n))  # error: hash() (a lookup in a dict or set) needs the value of a tensor


def cache_that_draws_on_one_path(x):
    return x * _table(2) if x.sum() > 0 else x  # error: _table(), which has a cache, draws random numbers under a condition on tensors


def id_of_one_of_two(x):
    y = x if x.sum() > 0 else x * 2
    return x if id(y) == id(x) else -x  # error: whether the two are one object depends on a condition on tensors


def id_of_one_of_two_looked_up(x):
    y = x if x.sum() > 0 else x * 2
    return x if id(y) in {id(x)} else -x  # error: the id() of what is one of several objects, as only the run knows, cannot be looked up


def id_beside_a_number(x):
    return x if id(x) == 5 else -x  # error: the id() of a tensor is another one while tracing


LAST = {}


def id_kept(x):
    LAST["x"] = id(x)
    return x * 2  # error: the id() of a tensor is another one while tracing: it cannot be a result, or be kept


def stop_gradient_on_one_path(x):
    y = x * paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    if x.sum() > 0:
        y.stop_gradient = True  # error: whether gradients stop at a tensor (stop_gradient) would depend on a condition on tensors
    return y


def frozen_on_one_path(x):
    weights = [paddle.to_tensor([2.0, 3.0], stop_gradient=False)]
    if x.sum() > 0:
        for p in weights:
            p.stop_gradient = True  # error: whether gradients stop at a tensor (stop_gradient) would depend on a condition
    return x * weights[0]


def sent_to_a_generator_on_one_path(x):
    def totals():
        total = 0
        while True:
            total += yield total

    running = totals()
    next(running)
    if x.sum() > 0:
        running.send(5)  # error: a generator is advanced in a branch or a loop that depends on a tensor
    return x * running.send(1)


def exit_on_one_path(x):
    if x.sum() > 100:
        sys.exit(3)  # error: SystemExit is raised under a condition on tensors, and is no Exception
    return x * 2


def exit_in_a_loop(x):
    for v in x[x > 100]:
        raise SystemExit(v)  # error: SystemExit is raised under a condition on tensors, and is no Exception
    return x * 2


def exit_as_an_operand(x):
    x.sum() > 0 or sys.exit("no")  # error: SystemExit is raised under a condition on tensors, and is no Exception
    return x * 2


def queue_filled_on_one_path(x):
    waiting = queue.Queue()
    waiting.put(x)
    if x.sum() > 0:  # error: 'the contents of a deque' is tuple of 2 on the path where the condition is true and tuple of 1
        waiting.put(x * 2)
    return x * waiting.qsize()


def callback_on_one_path(x):
    with contextlib.ExitStack() as stack:
        if x.sum() > 0:  # error: 'the contents of a deque' is tuple of 1 on the path where the condition is true and tuple of 0
            stack.callback(abs, 2)
        return x * 2


class Noted:
    @staticmethod
    def by_default(v, seen=[]):  # noqa: B006
        seen.append(v)
        return len(seen[-2:])


def default_argument_that_grows_on_one_path(x):
    Noted.by_default(1)
    if x.sum() > 0:  # error: a list, which is a default argument, changes its length or its keys in a loop or branch
        Noted.by_default(2)
    return x * Noted.by_default(3)


def ranks_that_differ_in_a_try(x):
    y = x[0]
    try:
        if x.sum() > 0:  # error: 'y' has 1 dims on one path and 0 on the other
            y = x
        z = y.sum()
    except Exception:
        z = x.sum() * 0
    return z


def number_of_two_kinds_in_a_try(x, n):
    try:
        k = 2.5 if x.sum() > 0 else 1
        y = n * k  # error: 'the value of the expression' is a Python float on one path and a Python int on the other
    except TypeError:
        y = n * 0
    return y


def entries_of_two_dtypes_in_a_try(x, n):
    rows = [x]
    try:
        for i in range(n):  # error: an element of 'rows' has dtype float32 on one path and int64 on the other
            rows.append(n + i)
    except (TypeError, ValueError):
        rows = [x * 0]
    return rows[0] * 1


HELD_PARTIAL = {}


def partial_with_a_tensor_kept(x):
    HELD_PARTIAL["f"] = functools.partial(max, x * 2)
    return x  # error: a partial with tensors in it cannot be the result of a static function, or be kept by it


def stop_gradient_of_an_argument(x):
    x.stop_gradient = not x.stop_gradient
    x.stop_gradient = not x.stop_gradient  # error: stop_gradient of an argument is set, which the caller's tensor would not know
    return x * 2


def pooled_to_a_size_of_the_run(x, n):
    return paddle.nn.functional.adaptive_avg_pool2d(x.reshape([1, 1, 1, 2]), [1, int(n)])  # error: output_size has a number that is only


def window_of_the_run(x, n):
    return paddle.nn.functional.max_pool2d(x.reshape([1, 1, 1, 2]), [1, int(n)])  # error: kernel_size has a number that is only known


def reflected_by_a_tensor(x, n):
    return paddle.nn.functional.pad(x.reshape([1, 1, 2]), [int(n), 0], mode="reflect")  # error: pad: only the run knows how much


class Doubled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, dy):
        return dy * 2


FACTOR = Parameter([1.0, 3.0])


def gradient_by_python_code(x):
    return Doubled.apply(x * FACTOR)  # error: Doubled.backward is Python code


def stop_gradient_of_some_iterations(x):
    y, w = paddle.zeros([2]), paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    for v in x:
        y = y + v * w
    return (1, y) if y.stop_gradient else (2, y)  # error: whether a gradient flows to the tensor (stop_gradient) depends on the path or the


def stop_gradient_of_one_path(x):
    y = x * 2 if x.sum() > 0 else x * paddle.to_tensor([2.0, 3.0], stop_gradient=False)
    return y * 1 if y.stop_gradient else y  # error: whether a gradient flows to the tensor (stop_gradient) depends on the path


def result_of_a_new_leaf(x):
    y = paddle.zeros([2])
    y.stop_gradient = False  # error: a result, or what the call changes, depends on a tensor that the function gives stop_gradient=False
    return (y * x).sum()


def new_leaf_returned(x):
    return x, paddle.to_tensor([1.0, 2.0], stop_gradient=False)  # error: a result, or what the call changes, depends on a tensor


class AttrDict(dict):
    def __getattr__(self, name):
        return self[name]


def attribute_dicts_of_two_paths(x):
    d = AttrDict(n=x)
    if x.sum() > 0:  # error: 'd' is AttrDict {'n': *} on the path where the condition is true
        d = AttrDict(n=x * 2)
    return d.n


def fraction_of_a_number(x):
    return x * float(fractions.Fraction(int(x[0]), 2))  # error: fractions.Fraction() needs numbers of Python, and is given what


def decimal_of_a_number(x):
    return x * float(decimal.Decimal(int(x[0])))  # error: decimal.Decimal() needs numbers of Python, and is given what is only known when


def zeros_of_numpy(x):
    return x + np.zeros(int(x[0]) + 1).shape[0]  # error: numpy.zeros() needs numbers of Python, and is given what is only known when


def attribute_of_a_number_with_a_default(x):
    return x * getattr(int(x[0]), "real", 3)  # error: a number that only the run knows has no attribute 'real' here


def function_of_the_last_iteration(x):
    for v in x:  # error: what the loop leaves in 'grow' does not settle: each iteration makes another function

        def grow(y, by=v):
            return y + by

        x = grow(x)
    return grow(x)


def functions_of_all_iterations(x):
    made = []
    for v in x:  # error: what the loop leaves in 'made' does not settle: each iteration makes another function
        made.append(lambda v=v: v * 2)
    return [f() for f in made]


def exception_of_an_iteration(x):
    last = None
    for v in x:  # error: what the loop leaves in 'last' does not settle: each iteration makes another exception
        try:
            if v < 0:
                raise ValueError("negative")
        except ValueError as error:
            last = error
    if last is not None:
        raise last
    return x


def exception_kept_on_one_path(x):
    last = None
    try:
        if x[0] > 0:
            raise ValueError("positive")
    except ValueError as error:
        last = error
    if last is not None:
        raise last  # error: which exception is raised here, or whether there is one, is only known when the program runs
    return x


def numbers_and_a_text_in_a_list(x):
    log = [1, 5]
    if x[0] > 0:  # error: all entries of 'log' must be of one structure, as only the run knows its length or order: one
        log.append("c")
    return len(log)


def appended_where_it_may_be_none(x):
    found = x[0] if x[0] > 0 else None
    rows = []
    if x[1] > 0:  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order: one may be
        rows.append(found)
    return len(rows)
