"""Texts with tensors in them, and the functions of `math` on numbers that depend on tensors."""

import math


def functions_of_math(x):
    v = float(x.sum()) / 10
    a = math.exp(v) + math.expm1(v) + math.sin(v) * math.cos(v) - math.tan(v) + math.tanh(v) + math.erf(v)
    b = math.sinh(v) + math.cosh(v) + math.atan(v) + math.asin(v) - math.acos(v) + math.fabs(v)
    return a, b, math.floor(v * 7), math.ceil(v * 7), math.trunc(v * 7), math.isnan(v), math.isinf(v), math.isfinite(v)


def logarithms(x):
    v = x.sum().item()
    return math.log(v), math.log(v, 2), math.log2(v), math.log10(v), math.log1p(v), math.sqrt(v), math.pow(v, 1.5)


def of_a_tensor(x):
    return x * math.sqrt(x.sum()), math.ceil(x.max())


def overflow(x):
    return math.exp(x.sum())


def whole_number_of_infinity(x):
    return math.floor(x.sum())


def size_of_half(x):
    return x[: math.ceil(len(x) / 2)]


def power_of_a_float(x):
    v = float(x.sum())
    return v**3, v**2.0


def key_in_dict(x):
    table = {3: 1.0, 6: 2.0}
    return x * 2 if int(x.sum()) in table else x


def lists_in_texts(x, n):
    assert n > 0, f"{x.shape} {[int(n), x.sum() > 0]}"
    assert n > 1, x.shape
    text = "%s and %s" % (str(int(n)), f"{float(x[0])}")  # noqa: UP031
    raise ValueError(text + " of %d" % n + f" {(x.shape, {'n': int(n)})}")  # noqa: UP031


def in_some_width(x, n):
    template, k = "%d of %3d|%6s|%-4d", int(n)
    text = template % (k, 3, k, k) + f"{k!r:>4}{x.sum() > 0!s:>6}|" + "{:>5}|{!s:<4}|".format(k, k)  # noqa: UP032
    row = "%3d|%s"
    row %= (k, [k])
    k %= 4
    text += row + str(k)
    raise ValueError(text + "%(a)5.1f %(b)4s" % {"a": x[0].item(), "b": [1]} + format(k, ">3"))  # noqa: UP031


def told(text, seen=()):
    print(text)
    return len(seen)


class Log:
    def __init__(self, title):
        self.rows = 0
        print(title)

    def add(self, text):
        self.rows += 1
        print(self.rows, text)


def handed_to_functions(x, n):
    log = Log(f"{x}")
    for i in range(n):
        log.add(f"row {i}: {x[i]}")
        if x[i] > 1:
            log.add(f"{x[i]} > 1")
    return told(f"{n} rows", [x]), log.rows


def handed_on(x, text):
    if x.sum() > 7:
        print(text)
        return x
    return handed_on(x + 1, text)


def handed_to_a_recursive_function(x):
    return handed_on(x, f"from {x}")


def in_quotes(x):
    """`repr` of a text with numbers in it: these have nothing to escape."""
    said = f"it's {float(x[0]):.1f} \\ \"q\" \n {int(x[1])} {x[0]:.2f}"
    print([said], repr(said), f"{said!r:}", (said, f"'{int(x[0])}"), ascii(f"\xfc {int(x[0])}"))
    try:
        if x[0] < 0:
            raise KeyError(f"row {int(x[0])}")
    except KeyError as error:
        print(error, repr(error), [error])
        raise ValueError(f"no {error}") from error
    return x


P, N, BIG, INF = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [1e4, 1.0], [float("inf"), 1.0]

def of_an_iterator(x):
    numbers, seen = iter([1, 2, 3]), 0
    for v in x:
        if v > 0:
            seen += len([str(numbers), repr(numbers)])
    return seen, next(numbers)


CASES = [
    (of_an_iterator, [(P,), (N,)], 1),
    (functions_of_math, [(P,), (N,), (INF,)], 1),
    (logarithms, [(P,), (N,)], 1),
    (of_a_tensor, [(P,), (N,)], 1),
    (overflow, [(P,), (BIG,), (INF,)], 1),
    (whole_number_of_infinity, [(P,), (N,), (INF,)], 1),
    (size_of_half, [(P,), (BIG,)], 1),
    (power_of_a_float, [(P,), (N,)], 1),
    (lists_in_texts, [(P, 0), (P, 1), (P, 2)], 1),
    (in_quotes, [(P,), (N,)], 1),
    (in_some_width, [(P, 3), (N, 12)], 1),
    (handed_to_functions, [(P, 3), (N, 1), (P, 0)], 1),
    (handed_to_a_recursive_function, [(P,), (N,)], 1),
    (key_in_dict, [(P,), (N,)], 1),
]
