"""Iterators of the user's classes: their `__next__` says whether there is another item, which a tensor may decide."""

from collections.abc import Sequence


class Until:
    """The rows of x before the first one that is negative."""

    def __init__(self, x, end=2):
        self.x, self.at, self.end = x, 0, end

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.end or self.x[self.at] < 0:
            raise StopIteration
        self.at += 1
        return self.x[self.at - 1] * self.at


def looped(x):
    rows, total = Until(x), x.sum() * 0
    for v in rows:
        total = total + v
    return total, rows.at


def looped_in_the_header(x):
    total, last = x.sum() * 0, None
    for v in Until(x):
        total, last = total + v, v
    else:
        total = total * 2
    return total if last is None else total + last


def looped_twice(x):
    rows, seen = Until(x), []
    for v in rows:
        if v > 1:
            break
        seen.append(v)
    found = len(seen)
    for v in rows:
        seen.append(v * 10)
    return seen, found, rows.at


def returned_from(x):
    for i, v in enumerate(Until(x, 3), 1):
        if v > 1:
            return v * i
    return x.sum()


def continued(x):
    total = x.sum() * 0
    for v in Until(x):
        if v > 1:
            continue
        for w in Until(x):
            total = total + v * w
    return total


def numbered(x):
    total = x.sum() * 0
    for i, v in enumerate(Until(x)):
        total = total + v * i
    return total


def reduced(x):
    return sum(Until(x)), max(Until(x), default=x.min()), any(v > 1 for v in Until(x)), all(v > 1 for v in Until(x))


def listed(x):
    kept = list(Until(x))
    return kept, [v * 2 for v in Until(x)], [v for v in Until(x) if v > 1], len(kept), sorted(Until(x))


class Numbered:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, i):
        if self.x[i] < 0:
            raise IndexError(i)
        return self.x[i] * 2


def by_index(x):
    total = x.sum() * 0
    for v in Numbered(x):
        total = total + v
    return total, [v * 3 for v in Numbered(x)]


class Chosen(Sequence):
    def __init__(self, x, places):
        self.x, self.places = x, places

    def __len__(self):
        return self.places.shape[0]

    def __getitem__(self, i):
        return self.x[self.places[i]]


def ended_by_an_index_out_of_range(x):
    total = x.sum() * 0
    for v in Chosen(x, x.round().astype("int64")):
        total = total * 2 + v
    return total


class Counting:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 3:
            raise StopIteration
        return self.n


def left_by_a_tensor(x):
    numbers = Counting()
    for n in numbers:
        if x.sum() < n:
            break
    return x * numbers.n


def whose_name_ends_with_an_underscore(x):
    iter_ = Counting()
    for n in iter_:
        if x.sum() < n:
            return x * iter_.n
    return x


def end_handled_by_the_user(x):
    rows, total = Until(x), x.sum() * 0
    try:
        for v in rows:
            total = total + v
        total = total + next(rows)
    except StopIteration:
        total = total - 1
    return total


def step_that_raises(x):
    class Strict(Until):
        def __next__(self):
            v = super().__next__()
            if v > 1:
                raise ValueError("large")
            return v

    total = x.sum() * 0
    try:
        for v in Strict(x):
            total = total + v
    except ValueError:
        total = total * 10
    return total


A, B, C = [0.5, 0.25, 4.0], [2.0, -1.0, 1.0], [-1.0, 2.0, 3.0]
CASES = [
    *((function, [(A,), (B,), (C,)], 1) for function in (
        looped, looped_in_the_header, looped_twice, returned_from, continued, numbered, reduced, listed, by_index,
        ended_by_an_index_out_of_range, left_by_a_tensor, whose_name_ends_with_an_underscore, end_handled_by_the_user, step_that_raises)),
]
