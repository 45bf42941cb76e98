"""Functions of one text with other values around them, which call each other under conditions on tensors: that is no recursion."""

from __future__ import annotations


def gate(inner, limit):
    def run(v):
        if v.sum() > limit:
            return inner(v - limit) + limit
        return v

    return run


def one_in_another(x):
    return gate(gate(gate(lambda v: v * 100, 3), 2), 1)(x)


SCALED = gate(gate(lambda v: v * 3, 2), 1)


def made_outside(x):
    return SCALED(x) + x


def numbers_around(x):
    def made(k, after):
        def step(v):
            if v.sum() < 10 and after is not None:
                return after(v + k)
            return v * k

        return step

    return made(2, made(3, made(5, None)))(x)


def numbers_in_defaults(x):
    def made(g, k):
        def step(v, g=g, *, k=k):
            if v.sum() > k:
                return g(v - k) * 2
            return v

        return step

    return made(made(made(lambda v: v * 7, 3), 2), 1)(x)


def numbers_in_attributes(x):
    def made():
        def step(v):
            if v.sum() > step.limit:
                return step.after(v - step.limit) * step.limit
            return v

        return step

    a, b = made(), made()
    a.limit, b.limit = 1, 2
    a.after, b.after = b, lambda v: v * 100
    return a(x)


def in_a_list(x):
    steps = []
    for k in range(3):

        def step(v, k=k):
            if v.sum() > k and k + 1 < len(steps):
                return steps[k + 1](v - 0.25)
            return v * (k + 1)

        steps.append(step)
    return steps[0](x)


def twenty(x):
    f = lambda v: v * 2  # noqa: E731
    for k in range(20):
        f = gate(f, k / 8)
    return f(x)


def chosen_by_paths(x):
    def made(g, k):
        return lambda v: g(v) + k

    f = lambda v: v * 2  # noqa: E731
    for k in range(3):
        if x.sum() > k:
            f = made(f, k)
    return f(x)


def recursive_each(x):
    def made(k, after):
        def rec(v):
            if v.sum() > 20 * k:
                return after(v)
            return rec(v.abs() + k)

        return rec

    return made(1, made(2, made(3, lambda v: v * 2)))(x)


def recursive_together(x):
    steps = {}

    def made(k, other):
        def step(v):
            if v.sum() > 30:
                return v * k
            return steps[other](v.abs() + k)

        return step

    steps["a"], steps["b"] = made(1, "b"), made(10, "a")
    return steps["a"](x)


def one_variable_of_two(x):
    total = 0

    def made(k):
        def step(v):
            nonlocal total
            total = total + k
            if v.sum() > 30:
                return v
            return second(v.abs() + total)

        return step

    first, second = made(1), made(3)
    return first(x), total


def made_anew_by_each_call(x):
    def walk(v, scale):
        def visit(w):
            if w.sum() > 50:
                return w
            return walk(w * scale, scale)

        return visit(v + 1)

    return walk(x.abs(), 2)


def steps_made_anew(x):
    def made(k):
        def step(v):
            if v.sum() > 50:
                return v
            return made(k)(v.abs() * k + 1)

        return step

    return made(2)(x)


def continued(x):
    def count(v, n, then):
        if n == 0:
            return then(v)
        if v.sum() > n:
            return count(v, n - 1, lambda r: then(r + n))
        return then(v)

    return count(x, 4, lambda r: r * 2)


INPUTS = [([0.5],), ([-6.0],), ([4.5],), ([17.0],)]

CASES = [
    (function, INPUTS, 1)
    for function in (
        one_in_another, made_outside, numbers_around, numbers_in_defaults, numbers_in_attributes, in_a_list, twenty, chosen_by_paths,
        recursive_each, recursive_together, one_variable_of_two, made_anew_by_each_call, steps_made_anew,
        continued,
    )
]  # fmt: skip
