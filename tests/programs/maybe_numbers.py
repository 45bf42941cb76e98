"""Values that are a Python number on one path and a tensor on the other: what functions make of them, and what changes them in place."""

import copy

import dy2st
import dy2st.nn.functional as F

P, N = [1.0, 2.0, 4.0], [-1.0, -2.0, -4.5]


def functions_of_one(x, n):
    k = int(n)
    if x.sum() > 0:
        k = dy2st.cast(x.sum(), "int64")
    return dy2st.log(k**2 + 1), dy2st.exp(k * 0.1), dy2st.abs(k), F.relu(k), dy2st.isnan(k), dy2st.clip(k, 0, 5), F.hardswish(k)


def functions_of_two(x, n):
    k = int(n)
    if x.sum() > 0:
        k = dy2st.cast(x.sum(), "int64")
    sums = dy2st.add(k, 1), dy2st.divide(dy2st.add(k, 1), 2) / 2
    return sums, dy2st.maximum(k, 4), dy2st.less_than(k, 4), dy2st.fmax(k, 2), dy2st.bitwise_not(k)


def floats(x):
    k = 0.5
    if x.sum() > 0:
        k = x.mean()
    return dy2st.tanh(k), dy2st.add(k, 0.25), dy2st.multiply(k, x), F.sigmoid(k) + k


def of_what_has_dims(x, n):
    k = 3.0
    if x.sum() > 0:
        k = x * 2
    return dy2st.tanh(k) if n else k


def results_are_tensors(x, n):
    k = int(n)
    if x.sum() > 0:
        k = dy2st.cast(x.sum(), "int64")
    kinds = dy2st.is_tensor(k), isinstance(k, dy2st.Tensor), isinstance(dy2st.add(k, 1), dy2st.Tensor)
    return kinds, dy2st.add(k, 1).shape, (~k, -k, abs(k)), dy2st.is_tensor(int(x[0])), dy2st.is_tensor(x)


def in_place_method(x, y):
    k = 0.5
    if x.sum() > 0:
        k = x * 2
    if isinstance(k, dy2st.Tensor):
        k.add_(y)
    other = k
    return other, k * y


def in_place_method_of_any(x, y):
    k = 0.5
    if x.sum() > -5:
        k = x * 2
    k.scale_(3.0)
    return k


def in_place_twice(x, y):
    k = None
    if x.sum() > -5:
        k = x * 2
    z = k.add_(y)
    k.add_(y)
    z.scale_(0.5)
    return z, k


def in_place_by_function(x, y):
    k = 0.5
    if x.sum() > -5:
        k = x.sum()
    z = F.relu_(k)
    k.add_(y)
    return z, k


def counted_in_place(x, n):
    k = int(n)
    if x.sum() > -5:
        k = dy2st.cast(x.sum(), "int64")
    try:
        dy2st.increment(k)
    except TypeError:
        k = k * 100
    return k


def in_place_in_a_loop(x, n):
    k = None if n < 0 else 3.0
    if x.sum() > 0:
        k = x.sum()
    i = 0
    while i < x[2]:
        k.add_(x[0])
        i += 1
    return k, i


def attribute_of_a_number(x):
    k = 3.0
    if x.sum() > 0:
        k = x * 1
    k.stop_gradient = True
    return k


def truth_or_tensor(x, n):
    k = x * 2
    if n > 1:
        k = bool(x[0] > 0)
    y = x[0] >= 1.0 or not x.sum() <= 1
    z = x[0] > 0 and n > 1
    return k is True, k is False, y is True, y is False, isinstance(y, bool), isinstance(z, bool), type(not y) is bool


def method_of_a_number(x):
    n = int(x.sum())
    try:
        return n.sum()
    except AttributeError:
        return n + 1


def found_by_value(x, n):
    k = int(n)
    if x.sum() > 0:
        k = dy2st.cast(x.max(), "int64")
    return {3: 4, 5: 6}.get(k, 7), k in {3: 4, 5: 6}


def copied(x, n):
    k = int(n)
    if x.sum() > 0:
        k = x.detach() * 2
    return copy.deepcopy(k), copy.copy(k)


def in_a_number(x, n):
    try:
        return n in int(x.sum())
    except TypeError:
        return x + 1


def asked_for_parts(x, n):
    k = 3.0
    if x.sum() > 0:
        k = x * 2
    found = []
    try:
        found.append(len(k))
    except TypeError:
        found.append(-1)
    try:
        for v in k:
            n = n + v
    except TypeError:
        n = n - 1
    try:
        a, b, c = k
        return found, n, a + b - c
    except TypeError:
        return found, n, x.max()


def filled(x):
    k = 2.0
    if x.sum() > 0:
        k = x.sum()
    return dy2st.full([2], k), dy2st.full([2], k, "int64")


CASES = [
    (functions_of_one, [(P, 3), (N, 3), (N, -2), (N, 0)], 1),
    (functions_of_two, [(P, 3), (N, 3), (N, -2)], 1),
    (floats, [(P,), (N,)], 1),
    (of_what_has_dims, [(P, 1), (P, 0), (N, 0)], 1),
    (results_are_tensors, [(P, 3), (N, 3)], 1),
    (in_place_method, [(P, P), (N, P)], 1),
    (in_place_method_of_any, [(P, P), (N, P)], 1),
    (in_place_twice, [(P, P), (N, P)], 1),
    (in_place_by_function, [(P, P), (N, P)], 1),
    (counted_in_place, [(P, 3), (N, 3)], 1),
    (in_place_in_a_loop, [(P, 3.0), (N, 3.0)], 1),
    (in_place_in_a_loop, [(P, -1.0), (N, -1.0)], 1),
    (truth_or_tensor, [([1.0, -2.0], 0), ([0.5, 2.0], 2), ([-1.0, 3.0], 2), ([0.0, 0.0], 0), ([0.5, 0.0], 1)], 1),
    (attribute_of_a_number, [(P,), (N,)], 1),
    (method_of_a_number, [(P,)], 1),
    (found_by_value, [([3.0, 1.0], 3), (N, 3), (N, 4)], 1),
    (copied, [(P, 3), (N, 3)], 1),
    (in_a_number, [(P, 3)], 1),
    (asked_for_parts, [(P, 3.0), (N, 3.0)], 1),
    (filled, [(P,), (N,)], 1),
]
