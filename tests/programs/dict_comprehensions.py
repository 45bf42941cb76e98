"""Dict comprehensions, with conditions that only the run knows."""

import dy2st as paddle


def filtered(x):
    kept = {i: v for i, v in enumerate(x) if v > 0}
    return kept, len(kept), list(kept), 0 in kept


def filtered_by_a_number(x, n):
    limits = {"a": 1, "b": 2, "c": 3}
    kept = {k: x * limit for k, limit in limits.items() if limit > n}
    return kept, kept.get("b", x), sum(kept.values()) if kept else x


def of_a_dict(x):
    losses = {"l1": x.abs().sum(), "l2": (x * x).sum(), "none": x.sum() * 0}
    large = {name: loss for name, loss in losses.items() if loss > 3}
    total = x.sum()
    for name in losses:
        if name in large:
            total = total + large[name]
    return large, total, {k: v / 2 for k, v in losses.items()}


def one_key_twice(x):
    return {i % 2: v for i, v in enumerate(x) if v != 0}


def of_pairs(x):
    rows = [("a", x[0]), ("b", x[1]), ("a", x[2])]
    return {k: v * 2 for k, v in rows if v > 0}, {k: {"v": v, "n": len(k)} for k, v in rows}


def and_in_each_other(x):
    return {k: {i: v for i, v in enumerate(x) if v > k} for k in (0, 1)}


def changed_behind(x):
    kept = {f"row{i}": v for i, v in enumerate(x) if v > 0}
    kept["more"] = x.sum()
    if x[0] < 0:
        kept.pop("more")
    for i in range(3):
        if f"row{i}" in kept:
            kept[f"row{i}"] = kept[f"row{i}"] + 1
    return kept


def in_a_loop(x):
    best = {}
    for step in range(2):
        best = {k: best.get(k, 0) + v for k, v in enumerate(x) if v > step}
    return best


def with_other_conditions(x, n):
    return {i: v for i, v in enumerate(x) if i != 1 if v > 0 or n > 2}, {i for i in (1, 2) if i < 2}, {k: v for k in (1, 2) for v in (x,)}


def as_arguments(x):
    options = {k: v for k, v in {"min": 0.0, "max": 1.0, "other": None}.items() if v is not None}
    return paddle.clip(x, **options)


P, N, M = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [-0.5, 2.5, 0.5]

CASES = [
    (filtered, [(P,), (N,), (M,)], 1),
    (filtered_by_a_number, [(P, 0), (N, 1), (M, 3)], 1),
    (of_a_dict, [(P,), (N,), (M,)], 1),
    (one_key_twice, [(P,), (N,), (M,), ([0.0, 1.0, 0.0],)], 1),
    (of_pairs, [(P,), (N,), (M,)], 1),
    (and_in_each_other, [(P,), (N,), (M,)], 1),
    (changed_behind, [(P,), (N,), (M,)], 1),
    (in_a_loop, [(P,), (N,), (M,)], 1),
    (with_other_conditions, [(P, 0), (N, 3), (M, 1)], 1),
    (as_arguments, [(P,), (N,)], 1),
]
