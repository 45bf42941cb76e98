"""Lists of dynamic length whose entries are tuples, dicts, objects, lists or texts."""

import collections
import dataclasses

import dy2st as paddle
from dy2st.nn import functional as F

Step = collections.namedtuple("Step", "k v")


@dataclasses.dataclass
class Hypothesis:
    score: object
    tokens: list


def tuples(x, n):
    found = []
    for i in range(n):
        found.append((i, x * i, x.sum()))
    total = x
    for k, v, s in found:
        total = total + v * k - s
    return total, found


def named_tuples(x, n):
    steps = [Step(0, x)]
    while len(steps) < n + 2:
        steps.append(Step(len(steps), steps[-1].v * 0.5 + x))
    return steps[-1].v, steps[0].k, [s.k for s in steps]


def beam_search(x, n):
    w = paddle.stack([x, x * 2, -x])
    beams = [(x.sum() * 0, x, [0])]
    step = 0
    while step < n:
        candidates = []
        for score, h, tokens in beams:
            h = paddle.tanh(h @ w)
            top, ids = paddle.topk(F.log_softmax(h), 2)
            for j in range(2):
                candidates.append((score + top[j], h, tokens + [int(ids[j])]))  # noqa: RUF005
        beams = sorted(candidates, key=lambda c: c[0], reverse=True)[:3]
        step += 1
    best = beams[0]
    return best[0], best[1], best[2], len(beams)


def appended_by_a_function(x, n):
    beams = [(x.sum() * 0, x, [0])]
    step = 0
    while step < n:
        candidates = []
        for score, h, tokens in beams:
            for j in range(2):

                def add():
                    candidates.append((score + h[j], h * 0.5, [*tokens, j]))  # noqa: B023

                add()
        beams = candidates[:3]
        step += 1
    return beams[0][0], beams[0][1], beams[-1][2], len(beams)


def beam_of_objects(x, n):
    beams = [Hypothesis(x.sum(), [1])]
    for i in range(n):
        grown = []
        for h in beams:
            grown.append(Hypothesis(h.score * 0.5, [*h.tokens, i]))
            grown.append(Hypothesis(h.score + x[0], [*h.tokens, i, i]))
        grown.sort(key=lambda h: h.score)
        beams = grown[-2:]
    return beams[-1].score, beams[-1].tokens


def beam_that_stops(x, n):
    """Of two beams Python knows that they are two; how long their lists are only the run knows, behind a `break`."""
    beams = [Hypothesis(x.sum() * 0, []), Hypothesis(x.sum() * 0 - 100, [])]
    for step in range(3):
        grown = []
        for h in beams:
            for token in range(2):
                grown.append(Hypothesis(h.score + x[token] * (step + 1), [*h.tokens, token]))
        grown.sort(key=lambda h: -h.score)
        beams = grown[:2]
        if beams[0].score > n:
            break
    best = sorted([(h.tokens[-1], h.tokens, h.score) for h in beams], key=lambda c: (c[0], c[2]))[0]
    return beams[0].score, beams[1].score, len(beams[0].tokens), beams[0].tokens, best


def beam_from_nothing(x, n):
    beams = [Hypothesis(x.sum() * 0, [])]
    for i in range(n):
        grown = []
        for h in beams:
            for v in x:
                grown.append(Hypothesis(h.score + v * (i + 1), h.tokens + [v]))  # noqa: RUF005
        grown.sort(key=lambda h: h.score, reverse=True)
        beams = grown[:2]
    return [h.score for h in beams], [len(h.tokens) for h in beams], beams[0]


def entries_with_empty_parts(x):
    found = []
    best = Hypothesis(x.min() - 1, [])
    for v in x:
        h = Hypothesis(v, [])
        found.append((h, {}))
        if v > best.score:
            best = h
    return best, [h for h, _ in found], found[0]


def dicts(x, n):
    rows = []
    i = 0
    while i < n:
        rows.append({"i": i, "x": x * i, "tag": "odd" if i % 2 else "even"})
        i += 1
    total = x
    for row in rows:
        if row["tag"] == "odd":
            total = total + row["x"]
    return total, [row["tag"] for row in rows if row["i"] != 1]


def best_by_a_part(x, n):
    rows = [{"s": x.sum(), "x": x}]
    for i in range(n):
        rows.append({"s": x[0] * i, "x": x * i})
    return max(rows, key=lambda row: row["s"])["x"]


def lists_of_lists(x, n):
    rows = []
    for i in range(n + 1):
        row = [x.sum()]
        for j in range(i):
            row.append(x[0] * j)
        rows.append(row)
    return [sum(row) for row in rows], rows, len(rows[-1])


def segments(x, n):
    found = []
    current = []
    for i in range(n * 2):
        current.append(x * i)
        if x.sum() > i or len(current) == 2:
            found.append(current)
            current = []
    return [paddle.stack(s).sum() for s in found], len(found), current


def lists_of_records(x, n):
    rows = []
    for i in range(n):
        row = []
        for j in range(i + 1):
            if x[0] * j >= 0:
                row.append((j, x * j))
        rows.append(row)
    total = x
    for row in rows:
        for j, v in row:
            total = total + v * j
    return total


def empty_lists_in_entries(x, n):
    rows = [([], x), ([1, 2], x * 2)]
    for i in range(n):
        rows.append(([], x * i))
        rows.append(([i], x))
    return [len(r) for r, _ in rows], sum([v.sum() for _, v in rows])


def texts(x, n):
    names = []
    for v in x:
        if v > 1:
            names.append("large")
        elif v > -3:
            names.append("small")
    return names, "large" if names and names[0] == "large" else "none", len(names) + n


def functions(x, n):
    chosen = []
    for i in range(n):
        chosen.append((F.relu if x[0] > i else paddle.tanh, x * i))
    y = x
    for f, v in chosen:
        y = y + f(v)
    return y


def stack_machine(x, n):
    todo = [(x, 0)]
    total = x.sum() * 0
    while todo:
        v, depth = todo.pop()
        total = total + v.sum() * depth
        if depth < n and v.abs().sum() > 0.1:
            todo.append((v * 0.5, depth + 1))
            todo.append((v * -0.25, depth + 1))
    return total


def queue(x, n):
    waiting = [(0, x.sum())]
    seen = []
    while waiting and len(seen) < n + 1:
        k, w = waiting.pop(0)
        seen.append((k, w))
        waiting.insert(len(waiting), (2 * k + 1, w * 0.5))
        waiting = [*waiting, (2 * k + 2, w * 0.25)]
    return [k for k, _ in seen], [w for _, w in seen]


def slices(x, n):
    a = [(0, x)]
    for i in range(n + 2):
        a.append((i, x * i))
    del a[0]
    a[0] = (7, x)
    a[1:2] = [(9, x), (8, x * 3)]
    total = x
    for j, (k, v) in enumerate(a):
        total = total + v * k * j
    for (k, v), (m, _) in zip(a, reversed(a), strict=True):
        total = total + v * (k - m)
    b = a[::-1] + a[:1] * 2
    a.clear()
    return total, b, len(a)


def on_one_path(x, n):
    rows = [(x, 1)]
    if x.sum() > 0:
        rows.append((x * 2, 2))
    else:
        rows = []
    k = 0
    for _, i in rows:
        k = k + i
    return rows, k


def of_two_lists(x, n):
    a = [(1, x)]
    b = [(2, x * 2), (3, x * 3)]
    rows = a if x.sum() > 0 else b
    for i in range(n):
        rows = [*rows, (i, x)]
    return rows


def kept(x, n):
    class Memory:
        pass

    memory = Memory()
    memory.rows = []
    for i in range(n):
        memory.rows.append((x * i, i))
        if len(memory.rows) > 2:
            memory.rows.pop(0)
    return memory.rows


def of_the_caller(x, n, rows):
    for i in range(n):
        rows.append((i, x * i))
    return len(rows)


def unpacked(x, n):
    rows = [(x, 1.5)]
    for i in range(n):
        rows.append((x * i, 0.5))
    (v, k), *rest = rows
    return v * k, len(rest), rest


def comprehensions(x, n):
    rows = [(i, x * i) for i in range(n)]
    large = [(v, k + 1) for k, v in rows if v.sum() > 2]
    return large, sum([k for _, k in large])


def modified_copy(x, n):
    rows = []
    state = {"h": x, "k": 0}
    for i in range(n):
        state = {"h": state["h"] * 0.5, "k": state["k"] + i}
        rows.append(state)
    last = dict(rows[-1]) if n > 0 else {"h": x, "k": 0}
    last["h"] = last["h"] + 1
    return rows, last


def read_at_an_index(x, n):
    rows = []
    for i in range(n):
        rows.append((i, x))
    if n > 2:
        return rows[2][1] * rows[2][0]
    return rows[-1][1] if n > 0 else x


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

CASES = [
    (tuples, RUNS, 1),
    (named_tuples, RUNS, 1),
    (beam_search, RUNS, 1),
    (appended_by_a_function, RUNS, 1),
    (beam_of_objects, RUNS, 1),
    (beam_from_nothing, RUNS, 1),
    (beam_that_stops, RUNS, 1),
    (entries_with_empty_parts, [(P,), (N,), ([0.5],)], 1),
    (dicts, RUNS, 1),
    (best_by_a_part, RUNS, 1),
    (lists_of_lists, RUNS, 1),
    (segments, RUNS, 1),
    (lists_of_records, RUNS, 1),
    (empty_lists_in_entries, RUNS, 1),
    (texts, RUNS, 1),
    (functions, RUNS, 1),
    (stack_machine, RUNS, 1),
    (queue, RUNS, 1),
    (slices, RUNS, 1),
    (on_one_path, RUNS, 1),
    (of_two_lists, RUNS, 1),
    (kept, RUNS, 1),
    (of_the_caller, [(P, 3, [(5, 2.5)])], 1),
    (unpacked, RUNS, 1),
    (comprehensions, RUNS, 1),
    (modified_copy, RUNS, 1),
    (read_at_an_index, RUNS, 1),
]
