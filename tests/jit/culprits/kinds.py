"""Values of which only the run knows what they are, where it matters."""

import dy2st
import dy2st.nn.functional as F


def index_that_may_be_a_bool(x, n):
    k = 1
    if n > 0:
        k = True
    return x[k]  # error: 'k' is a Python bool on one path and a Python int on the other


def method_that_numbers_have(x, n):
    k = 0.5
    if n > 0:
        k = x * 2
    return k.is_integer()  # error: 'k' is float32[2] on one path and a Python float on the other


def another_dtype_in_place(x, n):
    k = 3
    if n > 0:
        k = dy2st.cast(x.max(), "int64")
    F.tanh_(k)  # error: 'k' is int64[] on one path and a Python int on the other
    return k


def fill_value_of_either_dtype(x, n):
    k = 3
    if n > 0:
        k = dy2st.cast(x.max(), "int64")
    return dy2st.full([2], k)  # error: 'k' is int64[] on one path and a Python int on the other


def key_that_may_be_none(x, n):
    k, counts = None, {3: x.sum()}
    if n > 0:
        k = 3
    counts[k] = x.max()  # error: a key of a dict is None in some runs
    return counts[3]


def member_that_may_be_none(x, n):
    k = None
    if n > 0:
        k = x.max()
    return len({k, 1})  # error: what is None in some runs is looked up in a dict or set


def text_of_a_list(x, n):
    found = [v for v in x if v > n]
    return repr(found)  # error: the text of a list of dynamic length


def objects_sorted_by_a_method_of_theirs(x):
    class Heavier:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return self.value > other.value

    return sorted([Heavier(v) for v in x])[0].value  # error: the order of objects of class Heavier is that of their `__lt__`, whose results
