"""Sorting, and looking for entries, where only the run knows how they compare."""

import bisect
import collections
import typing

import dy2st as paddle


def sort_of_numbers(x, n):
    items = [i % 3 for i in range(n + 3)]
    items.sort()
    items.sort(reverse=True)
    return items, x


def sort_of_tensors(x, n):
    items = [x.sum() * 0 + v for v in x]
    for i in range(n):
        items.append(x[0] - i)
    items.sort()
    return paddle.stack(items)


def sort_by_key(x, n):
    items = []
    for i in range(n + 1):
        items.append(x * (i % 2) + i * 0.001)
    items.sort(key=lambda v: int(v.sum() > 1))
    return items


def sort_by_key_in_reverse(x, n):
    items = []
    for i in range(n + 4):
        items.append(x * (i % 2) + i * 0.001)
    items.sort(key=lambda v: int(v.sum() > 1), reverse=True)
    return items


def sorted_pair(x):
    a, b = sorted([x.sum(), x[0]])
    return x * (b - a)


def sorted_by(x):
    vs = sorted([x, x * 2, -x], key=lambda v: v.sum())
    return vs[0] - vs[2]


def beam_search(x, n):
    b = [(x.sum(), x, 0), (x[0], x * 2, 1), (x[1] * 3, -x, 2)]
    for _ in range(n):
        b = sorted([(s * 0.5, v + 1, k + 1) for s, v, k in b], key=lambda t: t[0], reverse=True)
    return b[0][1], b[2][2]


def sorted_rows(x):
    return paddle.stack(sorted(x))


def sorted_gen(x, n):
    return sorted(x[0] * i for i in range(n))


def sort_of_fixed_length(x):
    items = [x.sum(), x[0], x[1]]
    items.sort()
    return items[0] * x


def index_of(x, n):
    items = [i * 2 for i in range(n)]
    return x * items.index(2)


def index_of_value(x, n):
    items = [i * 2 for i in range(4)]
    return x * items.index(int(n))


def index_missing(x, n):
    items = [x[0] * i for i in range(n)]
    return x * items.index(x[0])


def count_of(x, n):
    items = [i % 2 for i in range(n)]
    return x * items.count(1), items.count(int(n)), [1, 2, 3].count(int(n))


def remove_of(x, n):
    items = list(range(n))
    items.remove(1)
    return x * sum(items), items


def remove_static(x, n):
    items = [3, 2, 0]
    items.remove(int(n))
    return x, items


def sort_on_one_path(x, n):
    items = [x.sum(), x[0]]
    if n > 2:
        items.sort(reverse=True)
    return items


def sorted_by_names(x):
    """Tuples that begin with what Python knows: the tensors in them are not compared."""
    table = {"b": x.sum(), "a": x.mean(), "c": x[0]}
    pairs = sorted([(2, "z", x), (1, "y", x * 2), (2, "a", x * 3)], reverse=True)
    return [v for _, v in sorted(table.items())], [k for k, _ in sorted(table.items())], [v for _, _, v in pairs]


def largest_pair(x):
    best = (x[0], 0)
    for i, v in enumerate(x):
        if (v * 2, i) > best:
            best = (v * 2, i)
    return best, (x[0], x[1]) <= (x[1], x[0]), best >= (x[0], 1)


def pairs_in_variables(x):
    best, optional, heap = (x[0], 0), None, [(v, i) for i, v in enumerate([x[0], x[1], x[0] + x[1]])]
    for i, v in enumerate(x):
        pair = (v * 2, i)
        if pair > best:
            best = pair
        if optional is None or pair < optional:
            optional = pair
    for i in range(2):
        if heap[i] < heap[i + 1]:
            heap[i], heap[i + 1] = heap[i + 1], heap[i]
    d, e = {"a": heap}, {"a": [best, best, best]}
    return best, optional, heap, d == e, d == {"a": list(heap)}


def pairs_that_may_be_none(x, n):
    a = b = None
    if n > 0:
        a = [x[0], 1]
    if n > 1:
        b = [x[1], 2]
    return x if a >= b else -x


def found_in_a_tuple(x, n):
    names = ("a", "b", "c")
    return (1, 2, 3).index(n), (n, 2, n, 4).count(n), (x[0], x[1]).index(x[1]), names.index("b")


def sort_of_pairs(x, n):
    pairs, threes = [], []
    for i, v in enumerate(x):
        if v > -3:
            pairs.append((v, i))
            threes.append((i < n, (v * 0, v), i))
    pairs.sort()
    low = sorted(threes, reverse=True)
    return [v for v, _ in pairs], [i for _, i in pairs], [t[1][1] for t in low], [i for *_, i in low]


def sort_of_some_pairs(x):
    """In a list of Python."""
    pairs = [(x[2], 0), (x[1], 1), (x[0] * 2, 2)]
    pairs.sort()
    return pairs, sorted([0, 1, 2], key=lambda i: (x[i] > 1.5, -i)), sorted([((x[0], 1), 2), ((x[0], 0), 3)])


def beams_with_states(x):
    """A counter tells entries apart; the lists and vectors behind it are not compared."""
    beams, count = [(0.0, 0, [0], x)], 0
    for _ in range(2):
        longer = []
        for score, _, ids, state in beams:
            for i in range(3):
                count += 1
                longer.append((score - x[i].item() * state.sum().item(), count, [*ids, i], state * 0.5 + i))
        longer.sort()
        beams = longer[:2]
    return [(score, ids, state) for score, _, ids, state in beams]


def states_in_tables(x):
    """The same where only the run knows how many there are."""
    rows = []
    for i, v in enumerate(x):
        if v > -3:
            rows.append((v * v, i, [v, x.sum()], x * v))
    rows.sort(reverse=True)
    return rows, max(rows), min(rows)[3]


def compared_up_to_vectors(x, y):
    x = x.sum()
    return (x, y * 1) < (x * 1 + y[0], y + 1), (x, y) == (y[0], y * 2), ((x, 0, y),) >= ((y[0], 1, x),)


def extremes_of_pairs(x):
    pairs = []
    for i, v in enumerate(x):
        if v > 0:
            pairs += [(v, -i), (v, i)]
    return max(pairs), min(pairs)


def bisected(x):
    edges, kept = [-1.0, 0.5, 0.5, 2.0], []
    for v in x:
        bisect.insort(kept, v)
    first = float(x[0])
    places = bisect.bisect_left(edges, first), bisect.bisect_right(edges, 0.5 + 0 * first), bisect.bisect(edges, x[1], 1, 3)
    return kept, places, bisect.bisect([3, 1, 2], first, key=lambda k: -k), bisect.bisect_left([(1, "a"), (2, "b")], (first, "a"))


class Point(typing.NamedTuple):
    a: int
    b: int


def named_tuples_compared(x, n):
    p = Point(int(n), 1)
    return x, p != (2, 1), p == (2, 1), p < (3, 0), p in [(2, 1)], p == [2, 1], max(p, Point(1, 4))


def dicts_compared(x, n):
    d, found = {"a": int(n), "b": [1, {"c": x.sum() > 3}]}, []
    for i in range(n):
        found.append(i)
    return (
        x, d == {"b": [1, {"c": False}], "a": 2}, d != {"a": 1}, {"a": x.sum()} == {"a": 6.0}, {"a": int(n)} in [{"a": 2}],
        collections.defaultdict(int, a=int(n)) == {"a": 2}, {"a": n} == {}, {"a": found} == {"a": [0, 1]}, [found] == [[0, 1]],
    )  # fmt: skip


def vectors_in_dicts_compared(x, n):
    d = {"a": x}
    return x, {"a": x} == d, {"b": x} == d, {"a": x + n} == d


def texts_by_scores(x, n):
    scores, total = {"a": int(n), "b": 2, "c": 1}, 0
    names = sorted(scores, key=scores.get)
    for name in names:
        total = total * 3 + scores[name]
    pairs = [("a", int(n)), ("b", 2), ("c", 1)]
    pairs.sort(key=lambda q: q[1], reverse=True)
    return x, names, total, sorted(["b", "a", "c"], key=lambda s: s == "a" and n > 1), pairs


def texts_behind_scores(x, n):
    pairs = [(int(n), "c"), (2, "a"), (1, "b"), (2, "B")]
    grown = []
    for v in x:
        grown.append(("over" if v > n else "at most", v * 0 + 1))
    grown.sort(key=lambda q: (q[1], q[0]))
    names = sorted("over" if x[i] > n else "below" for i in range(3))
    return sorted(pairs), sorted(pairs, key=lambda q: (-q[0], q[1])), grown, names, max(pairs)


def functions_by_scores(x, n):
    functions = [lambda v: v + 1, lambda v: v * 2, abs]
    for _, f in sorted(zip([int(n), 2, 1], functions, strict=True), key=lambda q: q[0]):
        x = f(x)
    return x


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

CASES = [
    (sort_of_numbers, RUNS, 1),
    (sort_of_tensors, RUNS, 1),
    (sort_by_key, RUNS, 1),
    (sort_by_key_in_reverse, RUNS, 1),
    (sorted_pair, [(P,), (N,)], 1),
    (sorted_by, [(P,), (N,)], 1),
    (beam_search, RUNS, 1),
    (sorted_rows, [(P,), (N,)], 1),
    (sorted_gen, RUNS, 1),
    (sort_of_fixed_length, [(P,), (N,)], 1),
    (index_of, RUNS, 1),
    (index_of_value, RUNS, 1),
    (index_missing, RUNS, 1),
    (count_of, RUNS, 1),
    (remove_of, RUNS, 1),
    (remove_static, RUNS, 1),
    (sort_on_one_path, RUNS, 1),
    (sorted_by_names, [(P,), (N,)], 1),
    (largest_pair, [([1.0, 3.0, 2.0],), ([2.0, 2.0, 1.0],), ([-1.0, -1.0],)], 1),
    (pairs_in_variables, [([1.0, 3.0, 2.0],), ([2.0, 2.0, 1.0],), ([-1.0, -1.0],)], 1),
    (pairs_that_may_be_none, [([1.0, 3.0], 0), ([1.0, 3.0], 1), ([1.0, 3.0], 2), ([3.0, 1.0], 2)], 1),
    (found_in_a_tuple, [([1.0, 3.0], 2), ([2.0, 2.0], 3), ([1.0, 3.0], 5)], 1),
    (sort_of_pairs, RUNS, 1),
    (extremes_of_pairs, [(P,), ([2.0, 2.0, 1.0],), (N,)], 1),
    (sort_of_some_pairs, [(P,), (N,), ([1.0, 1.0, 0.5],)], 1),
    (beams_with_states, [(P,), (N,)], 1),
    (states_in_tables, [(P,), (N,)], 1),
    (compared_up_to_vectors, [([1.0], P), ([-1.0], N), ([2.0], [0.0, 1.0]), ([1.0], [2.0, 0.0])], 1),
    (bisected, [(P,), (N,), ([0.5, 0.5, 1.0],), ([2.0, 1.5, 0.25],)], 1),
    *((f, [(P, 0), (P, 1), (P, 2), (P, 3)], 1) for f in (named_tuples_compared, dicts_compared, texts_by_scores, texts_behind_scores,
                                                         functions_by_scores)),
    (vectors_in_dicts_compared, [(P, 1), ([2.0], 1)], 1),
]
