"""`match` on tensors, numbers that depend on them, and structures that hold them."""

from dataclasses import dataclass

import dy2st


@dataclass
class Point:
    x: object
    y: object


def of_a_number(x):
    match int(x.sum()):
        case 6:
            return x
        case n if n < 0:
            return x * n
        case 1 | 2:
            return x + 1
        case _:
            return -x


def of_a_tensor(x, n):
    match n:
        case 0:
            y = x
        case 1:
            y = x * 2
        case k if k > 3:
            y = x * k
        case k:
            y = x - k
    return y


def of_a_pair(x, n):
    match (n, x.sum() > 0):
        case (0, _):
            return x
        case (k, True):
            return x * k
        case (k, False):
            return x - k
    return x + 100


def of_a_list(x, n):
    match [x, n, 3]:
        case [first, *rest] if first.sum() > 0:
            return first * rest[0] + rest[1]
        case [first, _, last]:
            return first - last


def of_the_ends(x, n):
    match [x, n, 3]:
        case [first, *_, last] if first.sum() > 0:
            return first * last
        case [*_, k, 3]:
            return x * k
    return x


def of_a_dict(x, n):
    match {"x": x, "n": n}:
        case {"x": v, "n": 0, **others}:
            return v * (len(others) + 1)
        case {"n": k}:
            return x * k


def of_an_object(x, n):
    match Point(x, n):
        case Point(y=0) as p:
            return p.x
        case Point(v, k):
            return v * k


def in_a_loop(x, n):
    s = x * 0
    for i in range(n):
        match i % 3:
            case 0:
                s = s + x
            case 1:
                continue
            case _:
                break
    return s


def name_of_a_guard_that_failed(x, n):
    k = 7
    match n:
        case k if k > 2:
            return x * k
    return x + k


def of_a_list_or_none(x):
    k = None
    if x.sum() > 0:
        k = [x, x * 2, x * 3]
    match k:
        case [a, *rest]:
            return a + rest[0]
        case _:
            return x


def of_a_dict_or_none(x):
    k = None
    if x.sum() > 0:
        k = {"a": x * 2, "b": x}
    match k:
        case {"a": v, **rest}:
            return v * 3 + rest["b"]
        case _:
            return x * 100


def of_a_tensor_none_or_number(x):
    k, m = None, 3
    if x.sum() > 0:
        k, m = x * 2, x * 2
    match k:
        case None:
            y = x
        case dy2st.Tensor():
            y = k * 3
    match m:
        case int():
            return y + m
        case dy2st.Tensor():
            return y * m


def of_an_object_or_none(x):
    k = None
    if x.sum() > 0:
        k = Point(x, 2)
    match k:
        case Point(v, y=2):
            return v * 5
        case Point() | None:
            return x


P, N, Q = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [0.5, 0.5]

CASES = [
    (of_a_number, [(P,), (N,), (Q,), ([9.0],)], 1),
    (of_a_tensor, [(P, 0), (P, 1), (P, 2), (P, 5)], 1),
    (of_a_pair, [(P, 0), (P, 2), (N, 2)], 1),
    (of_a_list, [(P, 2), (N, 2)], 1),
    (of_the_ends, [(P, 2), (N, 2)], 1),
    (of_a_dict, [(P, 0), (P, 2)], 1),
    (of_an_object, [(P, 0), (P, 2)], 1),
    (of_a_list_or_none, [(P,), (N,)], 1),
    (of_a_dict_or_none, [(P,), (N,)], 1),
    (of_a_tensor_none_or_number, [(P,), (N,)], 1),
    (of_an_object_or_none, [(P,), (N,)], 1),
    (in_a_loop, [(P, 0), (P, 1), (P, 2), (P, 5)], 1),
    (name_of_a_guard_that_failed, [(P, 1), (P, 3)], 1),
]
