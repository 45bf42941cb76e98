"""Python's own functions and comparisons of tensors and of numbers that depend on them."""

import itertools
import math
import operator

import dy2st as paddle


def first_extreme(x):
    return max(x), min(x), max(x) * min(x)


def extreme_of_ints(n):
    return max(n, n * 2), min(n, n * 0 + 3)


def extreme_of_rows(x):
    best = max(x.reshape([3, 1]), key=None) if x.ndim > 1 else max(x)
    return best * x


def sums(x, n):
    small = (x * 2).astype("int32")
    return sum(x), sum(small), sum(x > 0), sum(small, n)


def truths(x):
    return any(x), all(x), any(x > 1), all(x > 1)


def identity(x, n):
    flag = bool(n)
    return flag is True, flag is not False, (n > 0) is True, int(n) is True, x is x, x * 1 is x, flag is None


def sizes_compared(x):
    if x.shape == [3]:
        return x * 2, x.shape != [3]
    return x, (x.shape[0], 1) == (2, 1)


def parts(x):
    a, b, c = x
    return a * b - c


def parts_of_rows(x):
    (a, b), c = x.reshape([-1, 2])[:2]
    return a - b * c


def signs_of_bools(x):
    c = bool(x.sum() > 0)
    return -c, +c, abs(c), ~int(c)


def divisions_by_zero(x):
    k = int(x.sum())
    return 7 % k, 7 // k


def quotient_by_zero(x):
    return 1.5 / float(x.sum()), 2 / int(x.sum())


def division_of_a_tensor(x):
    return divmod(x, 2.0)


def division_of_numbers(x):
    return divmod(int(x.sum()), 4), divmod(7.5, float(x.sum()))


def tensors_of_numbers(x, n):
    k, f = int(n), float(x.sum())
    return [
        paddle.to_tensor(f), paddle.to_tensor([n, 2.5]), paddle.to_tensor([x.sum(), n]), paddle.to_tensor([k, True]),
        paddle.to_tensor([x.shape[0], 2.5]), paddle.to_tensor([[k, 1], [n, 2]]), paddle.full_like(x, k), paddle.is_empty(x),
    ]  # fmt: skip


def functions_of_numbers(x, n):
    k, f = int(n), float(x.mean())
    made = [paddle.exp(f), paddle.abs(k), paddle.add(k, 2), paddle.maximum(f, 0.5), paddle.sqrt(4), paddle.isnan(f), paddle.logical_not(k)]
    made += [paddle.nn.functional.relu(k), paddle.nn.functional.gelu(f)]
    return made, x * paddle.exp(f), paddle.subtract(k, 1) / 0, isinstance(paddle.square(k), paddle.Tensor), abs(k) + max(k, 1)


def rounding_of_a_tensor(x):
    return round(x.sum())


def math_of_two_numbers(x):
    a, b = float(x[0]), float(x[1])
    found = [math.atan2(a, b), math.hypot(a, b, 3.0), math.copysign(a, b), math.degrees(a), math.radians(b)]
    return found, math.isclose(a, b), math.isclose(a, b, rel_tol=1.0), x * math.atan2(b, a)


def remainder_of_division(x):
    return math.fmod(float(x[0]), float(x[1]))


def functions_of_operator(x, n):
    y = x if operator.not_(x.sum() > 0) else -x
    z = x if operator.truth(n) else x * 2
    return y, z, operator.index(n) + 1, operator.contains([1, 2, 3], n), operator.lt(n, 2)


def extremes_of_iterators(x):
    numbers = iter([3, 1, 2])
    return x * max(numbers), list(numbers), min(iter([x[0], x[1]])), sum(iter([x, x * 2]))


def filtered_out(x):
    return sum(itertools.filterfalse(lambda v: v.sum() > 4, [x, x * 2, x * 3]))


def sum_of_none(x):
    return sum(paddle.zeros([0, 2]) * x[0]), sum(paddle.zeros([0]) * x[0], 1.5)


def identity_by_functions(x):
    y = None if x.sum() > 0 else x
    return operator.is_(y, None), operator.is_not(y, None)


def tuples_compared(x):
    pairs = [(float(x[0]), 1), (float(x[1]), 2), (float(x[0]), 3)]
    return max(pairs)[1], min(pairs)[1], (x[0], 2) in [(x[1], 2), (x[0], 3)]


def items_that_any_asks_for(x):
    seen = []

    def noted(v):
        seen.append(1)
        return v

    found = any(noted(v) > 0 for v in [x.sum(), x.mean(), x[0]])
    first = any(map(noted, [0, 3, 5]))
    return found, first, all(noted(v) for v in [2, 0, 5]), len(seen)


def identities_by_number(x):
    y, seen = x, {}
    for t in (x, y, x * 2):
        seen[id(t)] = seen.get(id(t), 0) + 1
    z = [1]
    w = z
    return list(seen.values()), id(y) == id(x), id(z) == id(w), id(z) != id([1]), id(x) in [id(x * 1)]


P, N, ONE, FOUR = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [2.0], [1.0, -2.0, 0.5, 0.5]
NAN, INF = float("nan"), float("inf")

CASES = [
    (first_extreme, [(P,), (N,), ([NAN, 1.0],), ([1.0, NAN, 0.5],), ([2.0, 2.0, 1.0],), ([-0.0, 0.0],), ([],)], 1),
    (extreme_of_ints, [(0,), (5,), (-5,)], 1),
    (extreme_of_rows, [(P,), (N,)], 1),
    (sums, [(P, 1), (N, 2)], 1),
    (truths, [(P,), (N,), ([0.0, 0.0],), ([],)], 1),
    (identity, [(P, 1), (P, 0)], 1),
    (sizes_compared, [(P,), (ONE,), ([1.0, 2.0],)], 1),
    (parts, [(P,), (N,), (ONE,), (FOUR,)], 1),
    (parts_of_rows, [(FOUR,), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0],)], 1),
    (signs_of_bools, [(P,), (N,)], 1),
    (divisions_by_zero, [(P,), (N,), ([0.0],)], 1),
    (quotient_by_zero, [(P,), (N,), ([0.0],)], 1),
    (division_of_a_tensor, [(P,)], 0),
    (division_of_numbers, [(P,), (N,), ([0.0],)], 1),
    (tensors_of_numbers, [(P, 1), (N, 2), ([], 3)], 1),
    (functions_of_numbers, [(P, 1), (N, 2)], 1),
    (rounding_of_a_tensor, [(P,)], 0),
    (math_of_two_numbers, [(P,), (N,), ([0.0, -0.0],), ([INF, -INF],), ([-0.5, 0.25],), ([NAN, 1.0],)], 1),
    (remainder_of_division, [(P,), (N,), ([-7.5, 2.0],), ([1.0, 0.0],), ([INF, 1.0],), ([1.0, INF],), ([NAN, 0.0],)], 1),
    (functions_of_operator, [(P, 1), (N, 0), (P, 7)], 1),
    (extremes_of_iterators, [(P,), (N,)], 1),
    (filtered_out, [(P,), (N,)], 1),
    (sum_of_none, [(P,), (N,)], 1),
    (identity_by_functions, [(P,), (N,)], 1),
    (tuples_compared, [(P,), (N,), (FOUR,)], 1),
    (identities_by_number, [(P,), (N,)], 1),
    (items_that_any_asks_for, [(P,), (N,)], 1),
]
