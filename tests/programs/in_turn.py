# ruff: noqa: B905
"""Generators, `map` and `filter` under `enumerate` and `zip`: each item is made when the loop wants it, and sees what that has changed."""


class Turns:
    """Which function was called when is seen by what is added to its product."""

    def __init__(self, x):
        self.factor, self.seen = 1, x.sum() * 0

    def made(self, v):
        self.seen = self.seen * 2 + 1
        return v * self.factor

    def used(self, v):
        self.seen = self.seen * 3 + 1
        self.factor = self.factor + 1
        return v


def enumerated_with_a_condition(x):
    turns, total = Turns(x), x.sum()
    for i, v in enumerate(turns.made(v) for v in x if v > 0):
        total = total + turns.used(v) * (i + 1)
    return total, turns.seen


def enumerated_with_a_condition_that_changes(x):
    turns, total = Turns(x), x.sum()
    for i, v in enumerate((v for v in x if v > turns.factor), 5):
        total = total + turns.used(v) * i
    return total, turns.factor


def enumerated_behind_a_filter(x):
    turns, total = Turns(x), x.sum()
    for i, v in enumerate(map(turns.made, filter(lambda v: v > turns.factor - 1, x))):
        total = total + turns.used(v) * i
    return total, turns.seen


def enumerated_of_both_loops(x, n):
    turns, total = Turns(x), x.sum()
    for i, v in enumerate(turns.made(v) + k for v in x for k in range(n)):
        total = total + turns.used(v) * i
    return total, turns.seen


def enumerated_and_left(x):
    turns, total, last = Turns(x), x.sum(), -1
    for i, v in enumerate(turns.made(v) for v in x if v != 0):
        if v > 2:
            break
        total = total + turns.used(v) * i
        last = i
    return total, turns.seen, last


def enumerated_by_a_variable(x):
    factor, total = 1.0, x.sum()
    for i, v in enumerate(v * factor for v in x if v > -1):
        factor = factor + 0.5
        total = total + v * i
    return total, factor


def a_generator_of_a_generator_that_chooses(x):
    turns, total = Turns(x), x.sum()
    for v in (turns.made(v) for v in (v for v in x if v > turns.factor - 1)):
        total = total + turns.used(v)
    return total, turns.seen


def the_first_of_an_enumerated_one(x):
    turns = Turns(x)
    i, v = next(enumerate(turns.made(v) for v in x if v > 1))
    return v, i, turns.seen


def numbered_lists(x):
    found = [v * i for i, v in enumerate(v for v in x if v > 0)]
    pairs = list(enumerate((v for v in x if v < 2), 1))
    return sum(found, x.sum()), len(pairs), sum(v * i for i, v in pairs)


def numbers_of_what_python_knows(x):
    names, total = ["a", "b", "c"], x
    for i, v in enumerate(v for v in [1, 2, 3, 4] if v % 2 == 0):
        total = total * v + len(names[i])
        if total.sum() > 10:
            break
    return total, i


def mapped_beside_rows(x):
    turns, total = Turns(x), x.sum()
    for w, v in zip(map(turns.made, [1.0, 2.0, 3.0]), x):
        total = total + turns.used(v) * w
    return total, turns.seen


def mapped_from_two_beside_rows(x):
    turns, total = Turns(x), x.sum()
    for v, w in zip(x, map(lambda a, b: turns.made(a) - b, (1, 2, 3), range(3))):
        total = total + turns.used(v) * w
    return total, turns.seen


def a_generator_beside_rows(x):
    turns, total = Turns(x), x.sum()
    for w, v in zip((turns.made(k) for k in [1.0, 2.0, 3.0]), x):
        total = total + turns.used(v) * w
    return total, turns.seen


def chosen_beside_rows(x):
    total = x.sum()
    for w, v in zip((v * 2 for v in x if v > 0), x):
        total = total * v + w
    return total


def numbered_beside_rows(x):
    total = x.sum()
    for (i, w), v in zip(enumerate(v * 2 for v in x if v > 0), x):
        total = total * v + w * i
    return total


def asked_behind_the_last_row(x):
    """`zip` asks the first iterator for one more item than the second one has."""
    turns, total = Turns(x), x.sum()
    for w, v in zip(map(turns.made, [1.0, 2.0, 3.0]), x):
        total = total + turns.used(v) * w
    return total, turns.seen


def asked_behind_the_last_row_in_turn(x, n):
    turns, total = Turns(x), x.sum()
    triples = zip((turns.made(v) for v in x), zip((turns.made(k) for k in [1.0, 2.0, 3.0]), range(n)), map(turns.made, range(2)))
    for i, (w, (v, k), r) in enumerate(triples):
        total = total + turns.used(v) * w * (k + i) + r
    return total, turns.seen


def asked_behind_the_last_row_unless_left(x):
    turns, total = Turns(x), x.sum()
    for w, v in zip(map(turns.made, [1.0, 2.0, 3.0]), x):
        total = total + turns.used(v) * w
        if total > 5:
            break
    else:
        total = -total
    return total, turns.seen


def by_functions(x):
    pairs = list(zip(enumerate(v for v in x if v > 0), x))
    best = max((v * w for v, w in zip((v for v in x if v > 0), x)), default=x.sum())
    first = next(iter(enumerate(v for v in x if v > 1)), (7, x.sum()))
    return sum((v * i + w for (i, v), w in pairs), x.sum()), best, first[0], first[1], next(iter(v for v in x if v < 0), x.sum())


P, N, E = [1.0, 2.0, 3.0], [-1.0, -2.5, 3.5], [2.0, 0.0, -1.0, 4.0]
ALL = [(P,), (N,), (E,)]

CASES = [
    (enumerated_with_a_condition, ALL, 1),
    (enumerated_with_a_condition_that_changes, ALL, 1),
    (enumerated_behind_a_filter, ALL, 1),
    (enumerated_of_both_loops, [(P, 2), (N, 0), (E, 1)], 1),
    (enumerated_and_left, ALL, 1),
    (enumerated_by_a_variable, ALL, 1),
    (a_generator_of_a_generator_that_chooses, ALL, 1),
    (the_first_of_an_enumerated_one, [(P,), (N,), ([-1.0],)], 1),
    (numbered_lists, ALL, 1),
    (numbers_of_what_python_knows, ALL, 1),
    (mapped_beside_rows, ALL, 1),
    (mapped_from_two_beside_rows, ALL, 1),
    (a_generator_beside_rows, ALL, 1),
    (chosen_beside_rows, ALL, 1),
    (numbered_beside_rows, ALL, 1),
    (asked_behind_the_last_row, [([],), ([1.0],), (P,), (E,)], 1),
    (asked_behind_the_last_row_in_turn, [(P, 2), (P, 4), (E, 0), ([1.0], 3)], 1),
    (asked_behind_the_last_row_unless_left, [(P,), ([1.0],), ([0.25, 0.5],), ([0.0, 0.0, 0.25, 1.0],)], 1),
    (by_functions, ALL, 1),
]
