"""Values that a dict makes where it has none: `defaultdict`, `setdefault`, and dicts in dicts, under keys that a path chooses."""

import collections
from collections import defaultdict


def grouped(x, n):
    groups = defaultdict(list)
    for v in x:
        groups["over" if v > n else "under"].append(v)
    return groups


def grouped_in_branches(x, n):
    groups = defaultdict(list)
    for v in x:
        if v > n:
            groups["over"].append(v)
        else:
            groups["under"].append(v * 2)
    return groups["over"], groups["under"], len(groups), "other" in groups


def counted(x, n):
    counts, sums = defaultdict(int), defaultdict(float)
    for i in range(3):
        key = "over" if x[0] * i > n else "under"
        counts[key] += 1
        if x[0] > i:
            sums["all"] += x[0]
    return counts, sums.get("all", 0.0), len(sums)


def asked(x, n):
    counts = defaultdict(int)
    if x[0] > 0:
        counts["a"] += 1
    before = counts.get("a"), counts.get("b", 5), "a" in counts, len(counts)
    return before, counts["a"], len(counts), type(counts) is defaultdict, isinstance(counts, dict)


def made(k):
    return [k]


def copied(x, n):
    groups = defaultdict(lambda: made(1))
    if x[0] > 0:
        groups["a"].append(2)
    other, plain = groups.copy(), dict(groups)
    other["b"].append(3)
    return groups, other, plain, plain.get("b")


def without_a_factory(x, n):
    groups = defaultdict(None)
    if x[0] > 0:
        groups["a"] = 1
    return groups["a"] + x


class Bins:
    def __init__(self):
        self.held = defaultdict(list)

    def add(self, key, v):
        self.held[key].append(v)


def in_an_object(x, n):
    bins = Bins()
    for v in x:
        bins.add("over" if v > n else "under", v)
    return bins.held


def in_each_other(x, n):
    counts = defaultdict(lambda: defaultdict(int))
    for i in range(4):
        counts[i % 2]["over" if x[0] * i > n else "under"] += 1
    return counts


def missing_key_of_a_path(x, n):
    groups = defaultdict(None, a=x)
    return groups["a" if x[0] > 0 else "b"] * 2


# ---- plain dicts ----
def set_by_default_under_a_key_of_a_path(x, n):
    groups, numbers = {}, {"over": 2}
    for v in x:
        key = "over" if v > n else "under"
        groups.setdefault(key, []).append(v)
        numbers.setdefault(key, 0)
        numbers[key] += 1
    return groups, numbers


def default_that_is_kept(x, n):
    groups, default = {}, []
    for i in range(2):
        groups.setdefault("over" if x[i] > n else "under", default).append(x[i])
    return groups, default


def default_beside_other_values(x, n):
    held = {"number": 1}
    found = held.setdefault("number" if x[0] > 0 else "text", 2)
    return held, found


def set_by_default_on_one_path(x, n):
    groups = {"a": [x[0]]}
    same = groups["a"]
    if x[0] > n:
        groups.setdefault("b", []).append(x[1])
    groups.setdefault("a", []).append(x[1] * 2)
    groups.setdefault("b", []).append(x[0])
    return groups, same


def dicts_in_a_dict(x, n):
    stats = {}
    for i in range(3):
        key = "over" if x[0] * i > n else "under"
        if key not in stats:
            stats[key] = {"sum": x[1] * 0, "count": 0}
        stats[key]["sum"] = stats[key]["sum"] + x[1]
        stats[key]["count"] += 1
    return stats


def asked_on_a_path(x, n):
    """To ask for a key is to give the dict that key, also where nothing else is done with it."""
    lists, counts, tables = collections.defaultdict(list), collections.defaultdict(collections.Counter), collections.defaultdict(dict)
    if n > 1:
        lists["a"]
        counts["a"].update(["k"])
        tables["a"].update(k=x)
    y = x + 1 if "a" in counts else x
    for v in x:
        if v > 1:
            sum(lists["b"])
    return "a" in lists, "b" in lists, "a" in tables, len(lists), len(counts), lists, y


def counter(x, n):
    counts = collections.Counter()
    for v in x:
        counts["over" if v > n else "under"] += 1
    counts["all"] += len(x)
    return counts, counts["over"], counts["none"], "none" in counts, len(counts), counts.get("under", -1)


def counter_in_branches(x, n):
    counts = collections.Counter(a=2)
    if n > 0:
        counts["b"] += 1
        counts.update(["a", "c"], b=2)
    if x[0] > 0:
        del counts["b"]
        del counts["none"]
    try:
        counts.pop("c")
    except KeyError:
        counts["missing"] = n
    return counts, isinstance(counts, dict), type(counts) is collections.Counter, {k: v for k, v in counts.items() if v > 1}


def taken_out(x, n):
    groups = collections.defaultdict(list)
    if n > 1:
        groups["a"].append(x)
    try:
        rows = groups.pop("a")
    except KeyError:
        rows = [x * 2]
    return rows[0], len(groups), "a" in groups


def counted_in_known_keys(x, n):
    counts, totals = collections.defaultdict(int, up=1, down=1), collections.Counter({"up": 0, "down": 0})
    for v in x:
        side = "up" if v > n else "down"
        counts[side] += 1
        totals[side] = totals[side] + v
    return counts, totals["up"], totals["down"]


P, N = [1.0, 2.0, 0.5], [-1.5, 3.0]

CASES = [
    (function, [(P, 1), (P, 0), (N, 1), (N, 4)], 1)
    for function in (
        grouped, grouped_in_branches, counted, asked, copied, without_a_factory, in_an_object, in_each_other, missing_key_of_a_path,
        set_by_default_under_a_key_of_a_path, default_that_is_kept, default_beside_other_values, set_by_default_on_one_path,
        dicts_in_a_dict, asked_on_a_path, counter, counter_in_branches, taken_out,
        counted_in_known_keys,
    )
]  # fmt: skip
