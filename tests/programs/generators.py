# ruff: noqa: B905, C400, C402, C417, RUF015 (generators where lists would do)
"""Generator expressions, and the functions that take all their items."""

import functools
import itertools

import dy2st as paddle
from dy2st import nn


def sum_of_rows(x):
    return sum(v * 2 for v in x)


def sum_with_start(x, n):
    return sum((x * i for i in range(n)), x)


def sum_of_filtered(x):
    return sum(v for v in x if v > 1)


def sum_nested(x, n):
    return sum(v * i for i in range(n) for v in x if v > i)


def any_row(x):
    return x if any(v > 2 for v in x) else -x


def all_rows(x):
    return x if all(v > -2 for v in x) else -x


def any_short(x, n):
    return x if any(x[i] > 1.5 for i in range(n + 1)) else -x


def all_short(x, n):
    return all(x[i] > 0 for i in range(n))


def any_python(x):
    return x if any(v.sum() > 3 for v in [x, x * 2]) else -x


def any_infinite(x):
    return x * sum(1 for _ in range(3)) if any(k > 5 for k in itertools.count()) else x


def any_nested(x, n):
    return any(x[i] * x[j] > 5 for i in range(n) for j in range(i))


def list_filtered(x):
    return list(v * 2 for v in x if v > 1)


def tuple_of(x):
    return tuple(v * 2 for v in [x, x + 1])


def looped(x, n):
    s = 0
    for v in (x * i for i in range(n) if x[0] * i < 2):
        s = s + v
    return s


def looped_break(x, n):
    s = x * 0
    for v in (x * i for i in range(n) if x[0] * i < 2):
        if v.sum() > 5:
            break
        s = s + v
    return s


def looped_nested(x, n):
    s = x * 0
    for a, b in ((i, j) for i in range(n) for j in range(i) if x[0] > j):
        s = s + a * x - b
    return s


def used_twice(x):
    g = (v for v in x)
    return sum(g), sum(g)


def next_of(x):
    return next(v for v in [x, x * 2, x * 3] if v.sum() > 7)


def next_default(x):
    return next((v for v in [x, x * 2] if v.sum() > 7), x * 0)


def next_rows(x):
    return next((v for v in x if v > 1), paddle.to_tensor(-1.0))


def next_rows_or_stop(x):
    return next(v for v in x if v > 1)


def next_python(x):
    g = (k for k in range(5) if k % 2)
    return x * next(g) + next(g) * 10


def next_flat(x):
    return next(a * b for a in [x, x * 2] for b in (1, 2) if (a * b).sum() > 7)


def zipped(x, n):
    s = 0
    for a, b in zip((v * 2 for v in x), x):
        s = s + a * b
    for i, a in enumerate(v * 2 for v in x):
        s = s + i * a
    return s


def extremes(x, n):
    return max(v * v for v in x), min((v * i for i, v in enumerate(x) if v > -3), key=None)


def sorted_py(x):
    return sum(sorted(i * 2 for i in [3, 1, 2])) * x


def dict_gen(x):
    return dict((k, x * k) for k in (1, 2))[2]


def dict_comp(x):
    return {i: v * i for i, v in enumerate(x)}[1]


def set_comp(x):
    return len({v > 3 for v in range(5)}) * x


def in_a_list(x):
    return paddle.concat([*(v.reshape([1]) for v in x)])


def in_a_call(x):
    def f(a, b):
        return a * b
    return f(*(v for v in [x, x + 1]))


def filtered(x):
    return sum(filter(lambda v: v > 1, x), paddle.to_tensor(0.0))


def filtered_none(x, n):
    return list(filter(None, [i % 2 for i in range(n)])), x


def filtered_py(x):
    return list(filter(lambda k: k > 1, range(4))), x


def reduced(x):
    return functools.reduce(lambda a, b: a * b if a > 0 else b, x)


def reduced_start(x, n):
    return functools.reduce(lambda a, i: a * x + i, range(n), x)


def reduced_empty(x, n):
    return functools.reduce(lambda a, b: a + b, (x * i for i in range(n)))


def mapped(x):
    return sum(map(lambda v: v * 2 if v > 1 else v, x)) + list(map(lambda a, b: a * b, x, x))[0]


def mapped_filtered(x):
    rows = (x, -x, x * 0.5)
    kept = filter(lambda v: v.sum() > -4, map(lambda v: v + 1, filter(lambda v: v[0] > 0, rows)))
    total = x * 0
    for v in map(lambda v: v * 2, kept):
        total = total + v
        if total.sum() > 30:
            break
    doubled = (v * 2 for v in (v + 1 for v in rows if v[1] > 0) if v[2] > 0)
    return total, sum(doubled), list(map(lambda v: v.sum(), filter(lambda v: v[0] > 0, rows)))


def stacked(x):
    return paddle.stack(list(v * v for v in x))


def enclosing(x, n):
    k = 2
    g = (x * k * i for i in range(n))
    k = 3
    return sum(g)


def with_nonlocal(x, n):
    k = 0
    def f(v):
        nonlocal k
        k = k + 1
        return v > 1
    return any(f(v) for v in x), k


def walrus_witness(x, n):
    if any((hit := v) * n > 2 for v in x):
        return hit * 2
    all((last := v) < 2 for v in [x[0], x[1]])
    return last


def walrus_of_rest(x, n):
    found = any((hit := v) > n for v in x[n:])
    return found, hit


def walrus_running(x):
    total = x[0] * 0
    sums = [(total := total + v) for v in x]
    large = [w for v in sums if v > 1 and (w := v * 2) > 3]
    pairs = [[(most := u * v) for v in x[:2]] for u in x[:2]]
    return paddle.stack(sums), len(large), total, most, pairs


def walrus_nonlocal(x, n):
    best = x[0]

    def better():
        nonlocal best
        return [best := v for v in x if v > best]

    while n > 0 and any((low := v) < n for v in x):
        n -= 1
        best = best + low * 0.5
    return len(better()), best, n


class Bag:
    def __init__(self):
        self.kept = []

    def __iter__(self):
        return iter(self.kept)


def own_container(x):
    bag = Bag()
    for v in x:
        if v > -2:
            bag.kept.append(v)
    total = x[0] * 0
    for v in bag:
        total = total + v
        if v > 1.5:
            break
    return total, [v * 2 for v in bag], sum(bag), len(list(bag)), any(v > 2 for v in bag)


def best_by_key(x, n):
    near = min(x, key=lambda v: (v - 1).abs())
    far = max((v for v in x if v > -5), key=lambda v: v * v)
    large = max((v for v in x if v > 2), default=x[0] * 0)
    where, high = max(enumerate(x), key=lambda pair: pair[1])
    rows = [x[i] for i in range(n)]
    return near, far, large, where, high, min(rows, key=lambda v: -v), max([], key=lambda v: -v, default=3)


def python_iterators(x):
    numbers = iter([1, 2, 3, 4])
    for v in numbers:
        if v == 2:
            break
    doubled = (k * 2 for k in [1, 2, 3, 4])
    for w in doubled:
        if w == 4:
            break
    return x * sum(numbers), list(doubled)


def iterators_of_tensors(x):
    rows = iter(x)
    first = next(rows)
    total = first * 0
    for v in rows:
        total = total + v * first
    i, top = next(enumerate(x))
    for part, k in zip(iter(x), iter([x[0], x[1]])):
        total = total + part * k
    return total, i, top


def zipped_with_objects(x):
    scales = [lambda v: v * 2, lambda v: v + 1]
    return [f(v) for f, v in zip(scales, x, strict=False)], dict(zip(["a", "b"], x, strict=False))["b"]


def joined_texts(x):
    return x, ", ".join(str(k) for k in range(3))


def contained(x):
    return x if 6.0 in (v.sum() for v in [x, x * 2]) else -x


def of_a_generator(x):
    g = (v * 2 for v in x)
    h = (v + 1 for v in g if v > 2)
    return sum(h)


def starred_targets(x):
    rows = [(v, i, v * 2) for i, v in enumerate(x) if v > 0]
    rests = [rest for _, *rest in rows]
    count = sum(len(rest) for *rest, _ in rows)
    inner = [v for (v, *_), _ in [((v, 1, 2), 3) for v in x]]
    return [rest[1] for rest in rests], [p + q for p, *_, q in rows], count, inner


def two_that_take_from_one(x):
    g = (v * 2 for v in x)
    h = (v + 1 for v in g if v > 2)
    first = next(g)
    return first, sum(h)


def one_that_nobody_asks(x):
    g = (v * 2 for v in x)
    h = (v + 1 for v in g if v > 2)
    h = g
    return sum(h)


def counted(x):
    return sum(1 for v in x if v > 1)


def count_bool(x):
    return sum(v > 1 for v in x)

def zipped_strictly(x, n):
    s = 0
    for i, v in zip(range(n), x, strict=True):
        s = s + i * v
    return s


class Sum(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])
        for i, layer in enumerate(self.layers):
            layer.weight.set_value(paddle.eye(3) * (i + 1))

    def forward(self, x):
        return sum(layer(x) for layer in self.layers if x.sum() > 0), any(layer(x).sum() > 12 for layer in self.layers)


LAYER = Sum()


def of_layers(x):
    return LAYER(x.reshape([1, 3]))


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

def counted_until_it_is_large(x, n):
    total = x * 0
    for i in itertools.count():
        total = total + i * x
        if total.abs().sum() > 5 or i > n:
            break
    return total, i


def counted_down(x, n):
    for i in itertools.count(10, -3):
        if x.sum() + n > i:
            break
    return x * i


def counted_and_returned(x, n):
    for i in itertools.count():
        if i * i >= n:
            return x * i


class Steps:
    def __init__(self, count):
        self.count, self.done = count, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.done >= self.count:
            raise StopIteration
        self.done += 1
        return self.done


def next_of_an_own_iterator(x, n):
    steps, left = Steps(n), Steps(2)
    first, second = next(steps, 9), next(steps, 8)
    found = 0
    for _ in range(n):
        found = found * 10 + next(left, 7)
    return x * first, second, found


class Epochs:
    def __init__(self):
        self.opened, self.at = 0, 0

    def __iter__(self):
        self.opened, self.at = self.opened + 1, 0
        return self

    def __next__(self):
        self.at += 1
        if self.at > 3:
            raise StopIteration
        return self.at


def opened_once_for_each_loop(x):
    epochs = Epochs()
    for k in epochs:
        x = x + k
    listed, counts = list(epochs), [epochs.opened]
    total = sum(epochs) + max(epochs)
    counts.append(epochs.opened)
    again = iter(epochs)
    counts.append((again is epochs, next(again), again.opened))
    for i, k in enumerate(epochs):
        x = x + i * k
    return x * total, listed, dict(zip(epochs, "abc", strict=True)), sorted(epochs), counts, epochs.opened, epochs.at


def own_iterator_in_the_header_of_a_loop(x):
    for i, k in enumerate(Epochs()):
        x = x + k * i
        if x.sum() > 4:
            break
    return x


def iterators_left_in_wrappers(x):
    rest = iter([1.0, 2.0, 3.0, 4.0])
    x = x + next(rest)
    for i, (v, k) in enumerate(zip(rest, itertools.islice(itertools.count(), 5), strict=False)):
        x = x + v * i
        if x.sum() > 8:
            break
        x = x - k
    return x, next((v for v in iter((1.0, 5.0, 20.0)) if v > x.sum()), 0.0)


def ends_at_once(x):
    def found():
        return x * 2
        yield x

    try:
        return next(found())
    except StopIteration as end:
        if x.sum() > 0:
            next(found())
        return end.value


CASES = [
    (ends_at_once, [(P,), (N,)], 1),
    (opened_once_for_each_loop, [(P,), (N,)], 1),
    (own_iterator_in_the_header_of_a_loop, [(P,), (N,)], 1),
    (iterators_left_in_wrappers, [(P,), (N,)], 1),
    *((f, [([1.0, 2.0], 2), ([-1.0, 0.5], 0), ([0.25], 7)], 1) for f in (counted_until_it_is_large, counted_down, counted_and_returned)),
    (sum_of_rows, [(P,), (N,)], 1),
    (sum_with_start, RUNS, 1),
    (sum_of_filtered, [(P,), (N,)], 1),
    (sum_nested, RUNS, 1),
    (any_row, [(P,), (N,)], 1),
    (all_rows, [(P,), (N,)], 1),
    (any_short, RUNS, 1),
    (all_short, RUNS, 1),
    (any_python, [(P,), (N,)], 1),
    (any_infinite, [(P,), (N,)], 1),
    (any_nested, RUNS, 1),
    (list_filtered, [(P,), (N,)], 1),
    (tuple_of, [(P,), (N,)], 1),
    (looped, RUNS, 1),
    (looped_break, RUNS, 1),
    (looped_nested, RUNS, 1),
    (used_twice, [(P,), (N,)], 1),
    (next_of, [(P,), (N,)], 1),
    (next_default, [(P,), (N,)], 1),
    (next_rows, [(P,), (N,)], 1),
    (next_rows_or_stop, [(P,), (N,)], 1),
    (next_python, [(P,), (N,)], 1),
    (next_flat, [(P,), (N,)], 1),
    (zipped, RUNS, 1),
    (extremes, RUNS, 1),
    (sorted_py, [(P,), (N,)], 1),
    (dict_gen, [(P,), (N,)], 1),
    (dict_comp, [(P,), (N,)], 1),
    (set_comp, [(P,), (N,)], 1),
    (in_a_list, [(P,), (N,)], 1),
    (in_a_call, [(P,), (N,)], 1),
    (filtered, [(P,), (N,)], 1),
    (filtered_none, RUNS, 1),
    (filtered_py, [(P,), (N,)], 1),
    (reduced, [(P,), (N,)], 1),
    (reduced_start, RUNS, 1),
    (reduced_empty, RUNS, 1),
    (mapped, [(P,), (N,)], 1),
    (mapped_filtered, [(P,), (N,), ([1.0, -20.0, 3.0],)], 1),
    (stacked, [(P,), (N,)], 1),
    (enclosing, RUNS, 1),
    (with_nonlocal, RUNS, 1),
    (walrus_witness, RUNS, 1),
    (walrus_of_rest, [(P, 0), (N, 1)], 1),
    (walrus_running, [(P,), (N,)], 1),
    (walrus_nonlocal, RUNS, 1),
    (own_container, [(P,), (N,)], 1),
    (best_by_key, [(P, 3), (N, 2)], 1),
    (python_iterators, [(P,), (N,)], 1),
    (iterators_of_tensors, [(P,), (N,)], 1),
    (zipped_with_objects, [(P,), (N,)], 1),
    (joined_texts, [(P,), (N,)], 1),
    (contained, [(P,), (N,)], 1),
    (of_a_generator, [(P,), (N,)], 1),
    (starred_targets, [(P,), (N,)], 1),
    (two_that_take_from_one, [(P,), (N,)], 1),
    (one_that_nobody_asks, [(P,), (N,)], 1),
    (counted, [(P,), (N,)], 1),
    (count_bool, [(P,), (N,)], 1),
    (zipped_strictly, RUNS, 1),
    (of_layers, [(P,), (N,)], 1),
    (next_of_an_own_iterator, [([1.0, 2.0], 0), ([1.0, 2.0], 1), ([1.0, 2.0], 4)], 1),
]
