"""Python's own functions on lists and ranges of which only the run knows how long they are."""

import functools


def _tens(n):
    found = []
    for i in range(n):
        found.append(i * 10)
    return found


def sizes_of_ranges(x, n):
    r = range(int(n))
    return len(r), len(range(3, int(n))), len(range(3, int(n), -1)), bool(r), not r, x if r else -x


def ranges_zipped(x, n):
    total = 0
    for a, b in zip(range(n), range(n * 3 - 2), strict=True):
        total += a + b
    return x * total


def shorter_beside_a_range_that_is_empty(x, n):
    for _ in zip(range(min(int(n), 0)), range(-1), strict=True):
        x = x + 1
    return x


def classes_of_iterables(x, n):
    r, z = range(n), zip(_tens(n), range(n), strict=False)
    kinds = isinstance(r, range), isinstance(r, (list, tuple)), type(r) is range, isinstance(z, zip), bool(z)
    return x, kinds, isinstance(enumerate(_tens(n)), enumerate), isinstance(map(abs, _tens(n)), map)


def no_length_of_iterators(n):
    try:
        return len(zip(_tens(n), range(n), strict=False))
    except TypeError as error:
        return str(error)


def extremes_by_tuples(x, n):
    pairs = [(i % 2, i) for i in range(n)]
    best = max([*pairs, (1, 0)], key=lambda q: (q[0], -q[1]))
    return best, min([*_tens(n), 3], key=lambda v: (v % 3, -v)), max(pairs, key=lambda q: -q[1], default=(7, 7)), x


def extremes_of_bools(x, n):
    found = [i > 1 for i in range(n)]
    return max([*found, False]), min([*found, True]), max(x > 1)


def extreme_of_none(n):
    return max(_tens(n))


def default_beside_arguments(n):
    try:
        return max(int(n), 1, default=3)
    except TypeError as error:
        return str(error)


def truths_of_lists(x, n):
    return any(_tens(n)), all(_tens(n)), any(v > 10 for v in _tens(n)), all(x.sum() > i for i in range(n))


def pairs_reduced(n):
    return functools.reduce(lambda a, b: (a[0] + b[0], a[1] * b[1]), [(i % 2, i) for i in range(n)])


def numbered_from_the_run(x, n):
    total = 0
    for i, v in enumerate([1, 2, 3], int(n)):
        total = total + i * v
    for i, v in enumerate([1, 2, 3], n):
        if i > 3:
            break
        total = total + v
    return x * total, list(enumerate(_tens(n), n > 1)), [i for i, _ in enumerate("abc", start=int(n))]


def found_by_what_is_no_number(x, n):
    numbers, tensors = [*_tens(n), 1], [x.sum() for _ in range(n)]
    return (
        numbers.count(True), numbers.count((0,)), [0] in numbers, (1,) in numbers, {} in numbers, numbers.count(None), None in tensors,
        "a" in tensors, tensors.count(x.sum()), numbers.count(x[:1]), x[0] in numbers, numbers.index(n * 0 + 1),
    )  # fmt: skip


def no_index_of_a_list(n):
    return [*_tens(n), 1].index([1])


def searched_one_by_one(x, n):
    names, pairs = ["n", "p", "z"], [(0, x[0]), (1, x[1]), (1, x[0])]
    name = "p" if x[0] > n else "n"
    mixed = [None, x[0], "s", x[1], None if x[0] > n else x[1]]
    texts = ["p" if v > n else "n" for v in [x[0], x[1]]]
    found = names.index(name), names.count(name), texts.index(texts[1]), texts.count("n"), "p" in texts, name in texts
    found += mixed.index(x[1]), mixed.count(x[0]), mixed.count(None), pairs.index((1, x[0])), pairs.count((0, x[1]))
    found += ({"k": int(n)} in [{"k": 1}, {"k": 2}], ("a", "b").index("a" if x[1] > n else "b"), (1, x[1]) in pairs)
    names.remove(name)
    pairs.remove((1, x[0]))
    return found, names, pairs


def not_found_one_by_one(x, n):
    names = ["n", x[1]]
    try:
        at = names.index("n" if x[0] > n else "p")
    except ValueError:
        at = -1
    return at, [(1, x[0]), (2, x[0])].index((n, x[0])), [None, x[0]].index(x[1])


def taken_from_nothing(n):
    nothing, said = [], []
    try:
        nothing.pop(n)
    except IndexError as error:
        said.append(str(error))
    try:
        del nothing[int(n)]
    except IndexError as error:
        said.append(str(error))
    del nothing[n:]
    return said, nothing


P = [1.0, 2.0]

CASES = [
    *((f, [(P, 2), (P, 0), (P, -2), (P, 5)], 1) for f in (
        sizes_of_ranges, classes_of_iterables, extremes_by_tuples, extremes_of_bools, truths_of_lists, numbered_from_the_run,
        found_by_what_is_no_number, shorter_beside_a_range_that_is_empty, searched_one_by_one)),
    (not_found_one_by_one, [(P, 1), (P, 0), ([2.0, 2.0], 2), ([0.5, 0.5], 2)], 1),
    (ranges_zipped, [(P, 1), (P, 0), (P, -2), (P, 3)], 1),
    *((f, [(2,), (0,), (-2,), (5,)], 1) for f in (extreme_of_none, pairs_reduced, taken_from_nothing)),
    *((f, [(2,)], 1) for f in (no_length_of_iterators, default_beside_arguments)),
    (no_index_of_a_list, [(2,), (0,)], 1),
]  # fmt: skip
