"""Python numbers that depend on tensors: another kind of value on another path, and integers that stay exact."""

import math


def int_or_float(x):
    k = 1
    if x.sum() > 0:
        k = 0.5
    return x * k, x + k, x - k, x / k, x**k


def int_or_float_in_a_loop(x, n):
    k = 1
    for _ in range(n):
        k = k * 0.5
    return x * k


def int_or_float_alone(x):
    k = 2
    if x.sum() > 0:
        k = 2.5
    return int(k * 3), float(k + 1), bool(k - 2), round(k), k > 2, k / 4


def signs_and_remainders(x):
    k = 3
    if x.sum() > 0:
        k = -2.5
    return x * -k, x * abs(k), x * (k // 2), x * (k % 2), x * (k**2)


def larger_number(x):
    return x * max(int(x.sum()), 2.5)


def bool_or_int(x):
    flag = False
    if x.sum() > 0:
        flag = 2
    return x * flag, x if isinstance(flag, int) else -x, flag == 2


def number_or_tensor_of_ints(x, n):
    b = 2
    if n > 0:
        b = n
    return x * b


def sum_from_zero(x, n):
    s = 0
    for i in range(n):
        s = s + x[i]
    return s + x.mean(), (s + 1) * 2 + x


def mean_of_some(x, n):
    s = 0
    for i in range(n):
        s = s + x[i]
    return x + s / int(n)


def best(x):
    found = 0
    for v in x:
        if v > found:
            found = v
    return found * x


def nested(x):
    k = 1
    if x.sum() > 0:
        k = 3 if x.sum() > 3 else 2.0
    return x * k


def product_of_ints(n):
    p = 1
    for i in range(1, n + 1):
        p = p * i
    return p


def arguments_that_a_number_does_not_take(x):
    k, v, found = int(x[0]), float(x[1]), 0
    try:
        found = pow(v, 2, 3)
    except TypeError:
        found = found + 1
    try:
        found = int(k, 2)
    except TypeError:
        found = found + 10
    try:
        found = len(range(k, 0.5))
    except TypeError:
        found = found + 100
    return x * found, pow(k, 2, 3)


def powers(n):
    return 3 ** int(n), int(n) ** 3, 1 << int(n), int(n) - 5


def integer_of(x):
    return int(x.sum()), int(x.max() * 1e6)


def cancelled(x, y):
    a, b = float(x[0]), float(y[0])
    return x + y - y, x - y + y, x * 2 - x, (x + 12582912.0) - 12582912.0, a + b - b, a + 1e16 - 1e16


def determinant(x):
    d = x[0] * x[3] - x[1] * x[2]
    a, b, c, e = [float(v) for v in x]
    if d == 0:
        return x, a * e - b * c
    return x / d, a * e - b * c


def smallest_step(x):
    e, n = float(x[0]), 0
    while 1.0 + e > 1.0:
        e, n = e / 2, n + 1
    return e, n


def compensated_sum(x):
    total, rest = 0.0, 0.0
    for v in x:
        y = float(v) - rest
        t = total + y
        rest = (t - total) - y
        total = t
    return total, rest


def beside_small_ints(x, n):
    bytes_, words = x.astype("uint8"), x.astype("int32")
    k = int(n)
    if k < 1000:
        bytes_[0] = k
    words[:1] = k
    return bytes_, words + k, k < words, words.clip(0, k)


def whole_float(x):
    v = float(x[0])
    return v.is_integer(), (v * 2).is_integer(), 1 if not (v / 2).is_integer() else 2


def bits(x, n):
    k, m = int(n), (x > 0) & (x < 2)
    if n & 1:
        m = m ^ (x > 1)
    m |= ~m & (x > k)
    return m | ~m, m, n & 3, n | 4, n ^ k, ~n, n << 1, n >> 1, k & 3 | 8 ^ k, k << 2 >> 1, ~k


def bools_are_counted(x, n):
    a, b = n > 0, bool(n > 1)
    a = bool(a)
    found = 0
    for v in x:
        found += v.item() > 0
    sums = a + b, a - b, a * b, a**b, a << b, a >> b, a + True, sum([a, b]), sum(bool(v > 0) for v in x)
    quotients = (a // True, a % True, divmod(b, True), a / True)
    return sums, quotients, a & b, a | b, a ^ b, -a, x * (a + b), found


def rounded(x, n):
    ints = [round(int(n) + k, d) for k in (0, 5, -15, 25, 149) for d in (2, -1, -2)]
    # a half as it is written, which as a float64 lies below it or above
    halves = [round(float(x[0]) * 0.001 + k, d) for k in (1.115, 2.675, 0.285, 0.125, 0.375, 25.0, 35.0) for d in (0, 1, 2, -1)]
    return ints, halves, round(float(x[1]), 2), round(float(x[2]), -1), round(float(x[1]), int(n) % 3), round(int(n), int(n) % 3 - 2)


def tenths(x):
    return [float(v) * 0.1 for v in x]


def sums_of_floats(x, n):
    """Python 3.12 makes up for what rounding loses."""
    mixed = [float(x[0]) * 0.1, 0.1, int(n), 2, 0.7, float(x[1]) * 0.1]
    listed = sum(tenths(x), 0.0), sum([v.item() * 0.1 for v in x if v > -1e30], 0.0)
    return listed, sum((float(v) * 0.1 for v in x), 0.5), sum(mixed), sum(mixed, 3), sum([0.1, mixed[-1], 0.3])


def signs_of_zeros(x):
    return 1 / x.sign(), 1 / (0.0 - x), 1 / (x + 0.0)



def class_of_a_number(x):
    n, v = int(x[0]), float(x[1])
    names = n.__class__.__name__, v.__class__.__name__, (n > 1).__class__.__name__, x.__class__.__name__
    return n.__class__ is int, issubclass(v.__class__, float), n.__class__(3.7), v.__class__(n), names


def ranges_compared(x, n):
    a, b = range(n), range(int(x[0]))
    return a == range(3), a != range(0, 3, 2), range(1, n) == range(1, 5), range(1) == range(0, n, 7), a == b, a == 3


def attributes_of_numbers(x):
    n, v = int(x[0]), float(x[1])
    return hasattr(n, "real"), hasattr(n, "none"), hasattr(v, "is_integer"), hasattr(v, "bit_length"), getattr(n, "shape", 7)


def zeros_of_both_signs(x):
    k, pair, z = 0.0, (0.0, 1), 1j
    if x.sum() > 0:
        k, pair, z = -0.0, (-0.0, 1), complex(-0.0, 1)
    return x / k, math.copysign(1, k), x * math.copysign(2, pair[0]), math.copysign(1, z.real)


P, N, NAN, INF = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [float("nan"), 1.0], [float("inf"), 1.0]

def attributes_by_name(x):
    n, f = int(x.sum()), float(x.sum())
    k = n.item() if hasattr(n, "item") else n
    return x * k, hasattr(f, "shape"), getattr(n, "shape", None), hasattr(x, "item"), getattr(f, "numpy", 3)


def no_such_attribute(x):
    return getattr(int(x.sum()), "numpy")()  # noqa: B009


def ints_beside_floats_beyond_53_bits(x):
    k, f = int(x[0]) + 2**53, float(x[0] * 0) + 2.0**53
    known = k == 2.0**53, k > 2.0**53, f == 2**53 + 1, k > 2.0**63, k < float("inf"), k >= 0.5
    return known, k == f, k != f, k < f, f < k, k <= f, f >= k, k > x[0].item()


CASES = [
    (cancelled, [([1.5, 0.1], [1e8, 3.0]), ([1.5, 2.5], [float("inf"), -1.0]), ([float("inf"), 1.0], [2.0, float("nan")])], 1),
    (determinant, [([1.1, 1.1, 1.1, 1.1],), ([3.3, 1.7, 3.3, 1.7],), ([*P, 4.0],)], 1),
    (smallest_step, [(P,), ([1e10],)], 1),
    (compensated_sum, [([1e16, 1.0, -1e16],), ([1.0, 1e-8] * 20,)], 1),
    (beside_small_ints, [(P, 3), (P, 300), (P, -1), (P, 2**20), (P, 2**31)], 1),
    (whole_float, [(P,), ([2.5],), (NAN,), (INF,), ([-4.0],)], 1),
    (arguments_that_a_number_does_not_take, [([2.0, 1.5],), ([3.0, -1.0],)], 1),
    (bits, [(P, 0), (P, 1), (N, 2), (N, 7)], 1),
    (bools_are_counted, [(P, 0), (P, 1), (N, 2)], 1),
    (rounded, [([0.0, 1e30, 45.0], 0), ([0.0, float("inf"), -45.0], 2**60), ([1.0, float("nan"), 1e30], -(2**61) - 5)], 1),
    (sums_of_floats, [([1e17, 10.0, -1e17], 3), ([1.0] * 10, 0), ([1.0, 2.0, 3.0, float("inf")], 1), ([1.0, float("nan")], 1)], 1),
    (signs_of_zeros, [([0.0, -0.0, 1.0],)], 1),
    (attributes_by_name, [(P,), (N,)], 1),
    (no_such_attribute, [(P,)], 1),
    (int_or_float, [(P,), ([-1.0, -2.0],)], 1),
    (int_or_float_in_a_loop, [(P, 0), (P, 1), (P, 3)], 1),
    (int_or_float_alone, [(P,), (N,)], 1),
    (signs_and_remainders, [(P,), (N,)], 1),
    (larger_number, [(P,), (N,)], 1),
    (bool_or_int, [(P,), (N,)], 1),
    (number_or_tensor_of_ints, [(P, 3), (P, -3)], 1),
    (sum_from_zero, [(P, 0), (P, 1), (P, 3)], 1),
    (mean_of_some, [(P, 1), (P, 3), (P, 0)], 1),
    (best, [(P,), (N,)], 1),
    (nested, [(P,), (N,), ([1.0, 0.5],)], 1),
    (product_of_ints, [(0,), (5,), (20,)], 1),
    (powers, [(0,), (5,), (39,)], 1),
    (integer_of, [(P,), (N,), (NAN,), (INF,)], 1),
    (ints_beside_floats_beyond_53_bits, [([1.0],), ([0.0],), ([-1.0],), ([3.0],)], 1),
    (class_of_a_number, [(P,), (N,)], 1),
    (ranges_compared, [(P, 3), (P, 1), (N, 0), (P, 5), (N, -4)], 1),
    (attributes_of_numbers, [(P,), (N,)], 1),
    (zeros_of_both_signs, [(P,), (N,)], 1),
]
