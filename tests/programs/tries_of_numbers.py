"""What Python raises for numbers that depend on tensors, and what it says then, for a handler and where there is none."""

import math


def power_of_a_float(x, n):
    base = float(n)
    try:
        y = base**-2
        said = ""
    except ZeroDivisionError as error:
        y, said = -1.0, str(error)
    return x * y, said


def power_that_is_too_large(x, n):
    base = float(n) + 1.0
    try:
        y = base**1100.0
        number = 0
    except OverflowError as error:
        y, number = -1.0, error.args[0]
    return x * y, number


def power_that_nobody_uses(x, n):
    count = 0
    for exponent in (1.0, -1.0):
        try:
            float(n) ** exponent
            count += 1
        except ArithmeticError:
            count += 10
    return x * count


def power_of_whole_tensors(x, n):
    try:
        y = n**-1
        z = n ** (n - 2)
    except ZeroDivisionError:
        y = z = n + 5
    return x * y, z


def power_of_the_module(x, n):
    results = []
    for base, exponent in [(float(n), -1.0), (float(n) - 3.0, 0.5), (10.0, float(n) * 200), (float("inf"), float(n))]:
        try:
            results.append(math.pow(base, exponent))
        except ValueError:
            results.append(-1.0)
        except OverflowError:
            results.append(-2.0)
    return x, results


def power_of_the_module_that_is_none(x, n):
    return x * math.pow(float(n), -1)


def shifts(x, n):
    k = int(n)
    try:
        a = 1 << k
        b = 64 >> (k - 1)
        said = ""
    except ValueError as error:
        a = b = 0
        said = f"{type(error).__name__}: {error}"
    return x * a, b, said


def shift_by_less_than_none(x, n):
    return x * (8 >> int(n))


def _said(f):
    try:
        return f(), ""
    except TypeError as error:
        return None, str(error)


def what_none_is_not(x, n):
    y = x if n > 1 else None
    k = x[0] if n > 1 else None
    said = [
        _said(lambda: -y)[1],
        _said(lambda: +y)[1],
        _said(lambda: abs(y))[1],
        _said(lambda: y[0])[1],
        _said(lambda: float(k))[1],
        _said(lambda: int(k))[1],
        _said(lambda: round(3 if n > 1 else None))[1],
    ]
    return said, x


def negative_of_none(x, n):
    return -(x if n > 1 else None)


def item_of_none(x, n):
    return (x if n > 1 else None)[0]


def float_of_none(x, n):
    return float(x[0] if n > 1 else None) * x


P = [1.0, 2.0, 3.0]
_CALLS = [(P, 0), (P, 1), (P, 2), (P, 3), (P, -1)]

CASES = [
    (power_of_a_float, _CALLS, 1),
    (power_that_is_too_large, _CALLS, 1),
    (power_that_nobody_uses, _CALLS, 1),
    (power_of_whole_tensors, _CALLS, 1),
    (power_of_the_module, _CALLS, 1),
    (power_of_the_module_that_is_none, _CALLS, 1),
    (shifts, _CALLS, 1),
    (shift_by_less_than_none, _CALLS, 1),
    (what_none_is_not, _CALLS, 1),
    (negative_of_none, _CALLS, 1),
    (item_of_none, _CALLS, 1),
    (float_of_none, _CALLS, 1),
]
