"""Loops over long ranges of Python that a tensor may end: what is left of them where that begins is a loop of the Program."""


def newton(x):
    for i in range(100):  # noqa: B007
        step = (x * x - 2.0) / (2 * x)
        x = x - step
        if step.abs().max() < 1e-3:
            break
    return x, i


def never_left(x):
    for i in range(50):
        if x.sum() > 1e6:
            break
        x = x + i
    else:
        x = x * 2
    return x, i


def returned_from_inside(x):
    steps = []
    for i in range(40):
        x = x * 1.5
        steps.append(x.sum())
        if x.max() > 50:
            return x, i, len(steps), steps[-1]
    return x, -1, len(steps), steps[0]


def downwards(x, n):
    total = x * 0
    for i in range(90, 0, -3):
        if i % 2 == 0:
            continue
        total = total + x * i
        if total.max() > n:
            break
    return total, i


def decided_by_python_first(x):
    for i in range(60):
        x = x * 1.1
        if i > 5 and x.sum() > 10:
            break
    return x, i


def in_each_other(x):
    for i in range(30):
        for j in range(25):  # noqa: B007
            x = x * 1.2
            if x.sum() > 20:
                break
        x = x / 4
        if i > x.sum():
            break
    return x, i, j


def numbers_of_python(x):
    rates = [0.5 + i / 50 for i in range(50)]
    for i in range(50):
        x = x * rates[i] + i
        if x.max() > 30:
            break
    return x


def names_of_python(x):
    table = {f"step {i}": 1 + i / 20 for i in range(20)}
    for i in range(20):
        x = x * table[f"step {i}"]
        if x.max() > 30:
            break
    return x, i


def grows(x):
    for i in range(30):
        x = x.reshape([1, *x.shape]) if i < 1 else x * 1.5
        if x.max() > 30:
            break
    return x, i


def caught(x):
    for i in range(20):
        try:
            if x.sum() > 20:
                raise ValueError(f"at {i}")
            x = x * 2
        except ValueError:
            x = x - 1
            break
    return x, i


P, N = [1.0, 2.0], [-1.5, 0.25]

CASES = [
    *((function, [(P,), (N,)], 1) for function in (newton, never_left, returned_from_inside, decided_by_python_first, in_each_other,
                                                    numbers_of_python, names_of_python, grows, caught)),
    (downwards, [(P, 100), (P, 10000), (N, 5)], 1),
]  # fmt: skip
