"""Items of lists, tuples and dicts of Python at an index, or under a key, that only the run knows."""

import dataclasses
from collections import namedtuple

import dy2st as paddle
import dy2st.nn.functional as F
from dy2st import nn


def sizes_differ(x, n):
    return [x, x[:1], paddle.concat([x, x])][n]


def numbers(x, n):
    return x * [1.0, 0.5, 0.25][n], (3, 4, 5)[n], x * [1, 0.5, 2][n]


def weights(x, n):
    return (W[n] * x).sum()


W = [paddle.to_tensor([float(i), 1.0, 2.0 * i], stop_gradient=False) for i in range(3)]


def none_in_a_list(x, n):
    v = [None, x, None][n]
    return x * 3 if v is None else v


def unpacked_item(x, n):
    u, k = [(x, 1), (x * 2, 2), (x, 3)][n]
    return u * k


def text_item(x, n):
    mode = ["a", "b", "c"][n]
    return x if mode == "a" else x * 2 if "abc"[n] == "b" else -x


def function_item(x, n):
    fs = [F.relu, paddle.tanh, lambda v: v * 2]
    for i in range(n):
        x = fs[i](x) + 1
    return x


class Experts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.experts = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])
        for i, layer in enumerate(self.experts):
            layer.weight.set_value(paddle.eye(3) * (i + 1))
    def forward(self, x, n):
        return self.experts[n](x.reshape([1, 3])), self.experts[n].weight.sum()


EXPERTS = Experts()


def layer_item(x, n): return EXPERTS(x, n)


def layers_in_a_loop(x, n):
    x = x.reshape([1, 3])
    for i in range(n):
        x = EXPERTS.experts[i](x)
    return x


Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class State:
    h: object
    count: int


def object_items(x, n):
    p = [Pair(x, x * 2), Pair(x * 3, x), Pair(x, x)][n]
    s = [State(x, 1), State(x * 3, 2), State(x, 3)][n]
    return p.a * s.h * s.count + Pair(x, x * 2)[n % 2]


def states_replaced(x, n):
    states = [State(x, 0), State(x * 2, 1), State(x, 7)]
    for i in range(n):
        states[i] = State(states[i].h * 3, states[i].count + 1)
    return states[0].h + states[1].h, [s.count for s in states]


def linked_list(x, n):
    following, values = [1, 2, -1], [1.0, 2.0, 3.0]
    i, s = int(n), x * 0
    while i != -1:
        s = s + x * values[i]
        i = following[i]
    return s


def first_that_fits(x):
    limits = [1.0, 2.0, 4.0, 8.0]
    i = 0
    while limits[i] < x.sum():
        i += 1
    return i, x * limits[i]


def many(x, n):
    return [x * i for i in range(64)][n]


def slices(x, n):
    a = [x, x * 2, x * 3]
    return a[:n], a[n:]


def written(x, n):
    a = [x, x * 2, x * 3]
    a[n] = x * 10
    a[n - 1] += x
    return a


def written_beside_none(x, n):
    cache = [None, None, None]
    s = x * 0
    for i in range(n):
        if cache[i] is None:
            cache[i] = x * i
        s = s + cache[i]
    return s, [x if c is None else c for c in cache]


def neighbours_by_number(x, n):
    graph = {0: [1, 2], 1: [2], 2: []}
    found, seen = x * 0, 0
    for k in graph[int(n)]:
        found = found + x * k
        seen = seen + len(graph[k])
    graph[int(n)].append(5)
    return found, seen, len(graph[int(n)]), graph[0], len(graph.get(int(n) + 1, [7, 8, 9]))


def sums_by_class(x, labels):
    sums, counts = [0, 0, 0], [0] * 3
    for i in range(labels.shape[0]):
        sums[int(labels[i])] += x * i
        counts[int(labels[i])] += 1
    return sums, counts, sums[0] / max(counts[0], 1), [s * 2 for s in sums]


def sums_by_class_of_rows(x, labels):
    sums = [0.0] * 2
    for row, k in zip(paddle.stack([x, x * 2, x + 1]), labels.astype("int64"), strict=False):
        sums[k] = sums[k] + row
    sums[0] = sums[0] * 2
    return sums, sums[1] + x


def number_replaced_by_a_vector(x, n):
    parts = [0, 0]
    parts[n] = x
    parts[1 - n] = parts[1 - n] * 2
    parts[n] = parts[n] * 3
    return parts, parts[0] + x


def swapped(x, n):
    a = [x, x * 2, x * 3, x * 4]
    for i in range(n):
        a[i], a[-i - 1] = a[-i - 1], a[i]
    return a


def texts_written(x, n):
    modes = ["idle", "idle", "idle"]
    modes[n] = "run"
    return x if modes[0] == "run" else -x


def rows_that_grow(x, n):
    rows = [[x], [x * 2], [x]]
    rows[n].append(x * 3)
    return [len(r) for r in rows], rows[0][-1], rows[n][-1]


def rows_written(x, n):
    rows = [[x, x], [x * 2, x], [x, x * 5]]
    for i in range(n):
        rows[i][0] = rows[i][0] * 7
        rows[i][1] += rows[i - 1][0]
    return rows


def row_under_a_name(x, n):
    rows = [[x, x * 2], [x * 3, x * 4], [x, x]]
    row = same = rows[n]
    row.append(x)
    row[0] = x * 8
    return len(same), same[0], rows[0][0], rows[1][0]


def row_in_a_function(x, n):
    def add(row, v):
        row.append(v)
        row[0] = v

    first, second = [x], [x * 2]
    rows = [first, second, first]
    add(rows[n], x * 4)
    return first[0], second[0], len(rows[n])


def popped_of_a_row(x, n):
    rows = [[x, x * 2], [x * 3, x * 4], [x]]
    v = rows[n].pop()
    return v, [len(r) for r in rows]


def rows_of_several_lengths(x, n):
    return [[x], [x, x * 2], [x, x, x]][n][1]


def kept_by_key(x, n):
    d = {0: x, 2: x * 2, 0.5: x}
    return d[int(n)]


def counted_by_key(x):
    counts = {0: 0, 1: 0, -1: 0}
    for v in x:
        counts[int(v) if 0 <= v < 2 else -1] += 1
    return counts


def default_for_a_key(x, n):
    d = {0: x, 2: x * 2}
    v = d.get(int(n))
    return (-x if v is None else v) * {0: 1.0}.get(int(n), 7.0)


def text_as_a_key(x, n):
    key = ["a", "b", "zz"][n]
    d = {"a": x, "b": x * 3}
    d["a" if key == "a" else "b"] *= 2
    return d[key], F.relu(x) if key in d else x


def lists_in_a_dict(x):
    d = {True: [], False: []}
    for v in x:
        d[bool(v > 0)].append(v)
    return len(d[True]), len(d[False])


class Buffers(nn.Layer):
    def __init__(self):
        super().__init__()
        self.buffers_of = [paddle.ones([3]), paddle.ones([3]) * 2, paddle.zeros([3])]
        self.counts = [0, 0, 0]
    def forward(self, x, n):
        y = x * self.buffers_of[n]
        self.buffers_of[n] = self.buffers_of[n] + 1
        self.counts[n] += 1
        return y, self.counts[n]


def attributes(x, n):
    layer = Buffers()
    layer(x, n)
    return layer(x, n), layer.counts


class Column:
    def __init__(self, x):
        self.values = [x, x * 2, x * 3]
    def __getitem__(self, i):
        return self.values[i]
    def __setitem__(self, i, v):
        self.values[i] = v


def items_of_a_class(x, n):
    column = Column(x)
    column[0] = column[n] * 5
    return column[0] + column[1]


X = [1.0, -2.0, 3.0]
READ = [(X, 0), (X, 1), (X, 2), (X, -1), (X, -3), (X, 3), (X, -4)]
WRITTEN = READ[:5]

def item_of_what_a_call_gives(x, n):
    rows = [[x, x * 2], [x * 3]]

    def first():
        return rows[0]

    first()[n] = x * 9
    return rows


def items_of_the_last_one(x, n):
    rows = [[x, x * 2], [x * 3]]
    for i in range(2):
        rows[i - 1][n * 0] = x * i
    rows[-1][:] = [x, x + 1]
    del rows[-1][n]
    return rows


def places_that_the_value_moves(x, n):
    out, counts, pos, k = [0.0] * 4, [1, 2, 3, 4], 0, 0

    def take():
        nonlocal pos
        pos += 1
        return float(x.sum()) * pos

    def step():
        nonlocal k
        k = (k + 1) % 4
        return k

    for _ in range(2):
        out[pos] = take()  # of Python the value comes first
        counts[k] += step()  # and here the key
        counts[n] += (n := n + 1)
    out[take() > 0] = pos
    return out, counts, pos, k, n


class Rows:
    def __init__(self, replace):
        self.rows, self.replace = {}, replace

    def append(self, row):
        self[len(self.rows)] = row

    def pop(self):
        self.replace()
        return self.rows.popitem()[1]

    def __setitem__(self, key, row):
        self.rows[key] = row
        if len(self.rows) > 2:
            self.replace()


def replaced_by_its_own_methods(x):
    made = []

    def replace():
        nonlocal rows
        made.append(Rows(replace))
        rows = made[-1]

    rows = None
    replace()
    for i in range(4):
        rows.append(x * i)
    for i in range(7, 10):
        rows[i] = x
    rows.append(x)
    taken = rows.pop()
    return taken, len(made), [sorted(m.rows) for m in made]


def looked_at_and_changed(x, n):
    """Of an item that is only looked at nobody has anything when the next line changes what it may be."""
    groups = [[x], [x * 2]]
    k = int(n) % 2
    size, total = len(groups[k]), sum(groups[k])
    groups[k].append(x * 3)
    largest = max(groups[k], key=lambda v: v.sum())
    groups[k][0] = groups[k][0] - 1
    copied = list(groups[k])
    groups[k].pop()
    return size, total, largest, copied[-1], [len(g) for g in groups], sum(groups[0]), sum(groups[1])


def buckets_of_a_size(x, n):
    buckets, left = {0: [], 1: []}, []
    for i, v in enumerate(x):
        k = int(v * n) % 2
        if len(buckets[k]) < 1:
            buckets[k].append(v)
        elif not buckets[1 - k]:
            buckets[1 - k].append(v * 10)
        elif buckets[k] and buckets[k][0] > 0:
            buckets[k][0] += v
        else:
            left.append(i)
    return [len(b) for b in buckets.values()], sum(buckets[0], start=x[0]), sum(buckets[1], start=x[0]), len(left)


def replaced_in_its_own_arguments(x):
    first = rows = [x]
    for _ in range(2):
        rows.append((rows := [x * 2])[0])
    kept = rows
    for _ in range(2):
        rows.insert(0, (rows := [x * 3])[0])
    return first, rows, kept


CASES = [
    (replaced_by_its_own_methods, [(X,), ([-1.0],)], 1),
    (replaced_in_its_own_arguments, [(X,)], 1),
    (looked_at_and_changed, [(X, 0), (X, 1)], 1),
    (buckets_of_a_size, [([1.0, 2.0, 3.0], 1), ([2.0, 4.0, 6.0], 3), ([0.5, -3.0, 1.0], 2), ([-1.0, -3.0, -5.0], 1)], 1),
    (places_that_the_value_moves, [(X, 0), ([-1.0], 1)], 1),
    *((f, [([1.0, 2.0], [1.0, 0.0, 1.0]), ([-1.0, 0.5], [0.0, 0.0, 0.0])], 1) for f in (sums_by_class, sums_by_class_of_rows)),
    (neighbours_by_number, [([1.0, 2.0], 0), ([1.0, 2.0], 1), ([1.0, 2.0], 2)], 1),
    (number_replaced_by_a_vector, [([1.0, 2.0], 0), ([1.0, 2.0], 1)], 1),
    *((f, [([1.0, 2.0], 1), ([-1.0, 0.5], 0)], 1) for f in (item_of_what_a_call_gives, items_of_the_last_one)),
    *((f, READ, 1) for f in (
        sizes_differ, numbers, weights, none_in_a_list, unpacked_item, text_item, function_item, layer_item, layers_in_a_loop,
        object_items, slices, texts_written, rows_that_grow, rows_written, popped_of_a_row, rows_of_several_lengths, row_under_a_name,
        row_in_a_function, default_for_a_key, states_replaced, written_beside_none, text_as_a_key,
    )),
    *((f, WRITTEN, 1) for f in (swapped, attributes, items_of_a_class)),
    (written, WRITTEN[:4], 1),
    (many, [(X, 0), (X, 63), (X, -64), (X, 64)], 1),
    (linked_list, [(X, 0), (X, 2), (X, -1), (X, 3)], 1),
    (first_that_fits, [(X,), ([0.0],), ([3.0, 4.0],), ([9.0],)], 1),
    (kept_by_key, [(X, 0), (X, 2), (X, 1)], 1),
    (counted_by_key, [([0.0, 1.0, 5.0, 1.0],), ([-1.0],)], 1),
    (lists_in_a_dict, [(X,), ([-1.0],)], 1),
]  # fmt: skip
