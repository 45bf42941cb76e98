"""Loops over the rows of a tensor whose body cannot be one of the Program: unrolled, as the size is fixed."""

import collections
from dataclasses import dataclass

import dy2st as paddle


class Items(list):
    pass


class Held:
    def __init__(self, x):
        self.x = x


class Meter:
    def __init__(self, name):
        self.name, self.values = name, []

    def add(self, v):
        self.values.append(v)
        return self

    def mean(self):
        return sum(self.values) / len(self.values) if self.values else None

    def __repr__(self):
        return f"{self.name}({len(self.values)})"


@dataclass(slots=True)
class Slotted:
    h: object
    steps: int = 0


def groups_by_number(x):
    groups = collections.defaultdict(list)
    for i, v in enumerate(x):
        groups[i % 2].append(v * 2 if v > 0 else v)
    return {k: paddle.stack(v).sum() for k, v in groups.items()}


def sums_by_class(x):
    sums = {}
    for i, v in enumerate(x):
        kind = "abc"[i]
        sums[kind] = sums.get(kind, 0) + v
        if v > 1:
            sums[kind + "+"] = v * 2
    return sums


def list_of_a_class_in_a_list(x):
    rows = []
    for v in x:
        items = Items([v])
        rows.append(items)
        items[0] = v * 2
    return rows[-1][0], [len(r) for r in rows]


def object_with_slots(x):
    state = Slotted(x)
    for v in x:
        state = Slotted(state.h + v, state.steps + 1 if v > 0 else state.steps)
    return state.h, state.steps


def objects_of_each_row(x):
    held = Held(x.sum())
    for v in x:
        for w in x:
            if w > v:
                held.more = x.max()
                break
        held = Held(x.min())
    return held.x


def compared_and_handed_on(x):
    p, q = x * 2, x * 3
    for v in x:
        if p is q:
            return x * v
        p = q
    return x


def order_of_keys(x):
    d = {"a": x.sum(), "b": x.max()}
    for _ in x:
        d = {"b": d["a"], "a": d["b"]}
    return next(iter(d.values())), list(d)


def lists_or_none(x):
    found = []
    for v in x:
        found.append([v * 2] if v > 0 else None)
    return [f[0] if f is not None else x.sum() for f in found]


def rank_that_changes(x):
    s = x.sum()
    for v in x:
        s = s + v.reshape([1])
    return s


def texts(x):
    said = ""
    for i, v in enumerate(x):
        said += "+" if v > 0 else "-"
        print(i, said)
    return said


def functions(x):
    made = []
    for v in x:

        def grow(y, by=v):
            return y + by if y.sum() > 0 else y

        x = grow(x)
        made.append(lambda v=v: v * 2)
    return grow(x), [f() for f in made]


def meters(x):
    up, down = Meter("up"), Meter("down")
    for i, v in enumerate(x):
        meter = [up, down][i % 2]
        meter.add(v * i)
        if v > 0:
            up.add(v)
    return up.mean(), down.mean(), len(up.values)


def with_an_exit(x):
    seen = {}
    for i, v in enumerate(x):
        if v > 2:
            break
        seen[f"row{i}"] = v
    else:
        return x, seen.get("row2")
    return x * 2, i


def zipped(x):
    rates = {"slow": 0.5, "fast": 2.0, "off": 0.0}
    out = {}
    for v, name in zip(x, rates, strict=False):
        out[name] = v * rates[name] if v > 0 else -v
    return out


def rows_of_rows(x):
    table = {}
    for i, row in enumerate(paddle.stack([x, x * 2])):
        for j, v in enumerate(row):
            table[i, j] = v if v > 0 else 0.0
    return table


P, N, M = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [-0.5, 2.5, 0.5]

CASES = [
    (function, [(P,), (N,), (M,)], 1)
    for function in (
        groups_by_number, sums_by_class, list_of_a_class_in_a_list, object_with_slots, objects_of_each_row, compared_and_handed_on,
        order_of_keys, lists_or_none, rank_that_changes, texts, functions, meters, with_an_exit, zipped, rows_of_rows,
    )
]  # fmt: skip
