"""Lists of dynamic length that hold tensors and Python numbers of several classes: each entry stays what it is."""

import dy2st as paddle


def number_at_the_begin(x, n):
    out = [0.0]
    for k in range(n):
        out.append(x.sum() * k)
    return out, out[0], out[-1], len(out)


def number_at_the_end(x, n):
    out = []
    for v in x:
        out.append(v)
    if n > 1:
        out.append(1)
    return out


def on_one_path(x, n):
    out = [x.sum()]
    if n > 0:
        out.append(sum(row[-1] for row in [[] for _ in range(2)] if row))
    return out


def either_in_each_iteration(x, n):
    out = []
    for v in x:
        if v > n:
            out.append(v)
        else:
            out.append(2)
    return out, [v * 2 if v > n else 0 for v in x]


def of_three_classes(x, n):
    out = []
    for k in range(n):
        if k == 2:
            out.append(x.sum())
        elif k == 1:
            out.append(0.5)
        else:
            out.append(k > 5)
    return out, out[::-1], out + out[:1]


def numbers_of_two_classes(x, n):
    out = [1]
    for _ in range(n):
        out.append(0.5)
    return out, x


def value_that_is_either(x, n):
    t = x.sum() if n > 1 else 0
    out = [t]
    for v in x:
        out.append(v if v > 1 else t)
    return out, t


def asked_what_they_are(x, n):
    out = [3]
    for v in x:
        out.append(v)
    first, last = out[0], out[n - 3]
    return isinstance(first, int), isinstance(last, int), first + 1, last * 2


def taken_out(x, n):
    out = [0, x.sum()]
    for v in x:
        out.append(v)
        out.append(1)
    a, b = out.pop(), out.pop(0)
    del out[0]
    return a, b, out, out.pop(n - 2)


def set_at_an_index(x, n):
    memo = [0, 0.0, True, 0]
    memo[n] = x.sum()
    for k in range(n):
        memo[k] = memo[k + 1]
    return memo


def inserted_and_cut(x, n):
    out = [x.sum()]
    for v in x:
        out.insert(0, v)
    if n > 1:
        out.insert(1, 0)
    out[1:2] = [5, x.mean()]
    return out[:-1], out[1:], out * 2, [7, *out]


def sorted_and_compared(x, n):
    out = [0]
    for v in x:
        out.append(v)
    return sorted(out), max(out), min(out, key=lambda v: -v), out.index(0), 0 in out, list(reversed(out))


def lists_of_two_paths(x, n):
    if n > 1:
        out = [0]
    elif n > 0:
        out = [x.sum(), 1]
    else:
        out = []
    same = out
    out.append(2)
    return out, same


def none_before_it(x, n):
    out = None
    if n > 0:
        out = [0]
        for v in x:
            out.append(v)
    return out


def left_by_a_raise(x, n):
    out = [0]
    try:
        for k in range(n):
            out.append(x[k])
        out.append(1)
    except IndexError:
        out.append(2)
    return out


def summed(x, n):
    out = [0.0]
    for k in range(n):
        out.append(x.sum() * k)
    numbers = out[:1]
    return sum(out), sum(numbers), sum(out, 1), sum(out[1:])


def looped_over(x, n):
    out = [0.0]
    for k in range(n):
        out.append(x.sum() * k)
    total, last = 1, None
    for v in out:
        total = total + v
        last = v
    return total * x, last


def entries_of_records(x, n):
    out = [(0, x)]
    for v in x:
        out.append((v, x * 2))
        if v > n:
            out.append((1, x))
    return out, out[-1][0], [a for a, _ in out]


def inner_lists(x, n):
    out = [[0]]
    for v in x:
        out.append([v, 1])
    if n > 1:
        out.append([True, x.sum(), 0.5])
    return out, out[0], out[-1][0]


def inner_lists_with_either(x, n):
    out, pairs = [[1, 2]], [(0, [0.5])]
    for k in range(n):
        v = x[k % len(x)]
        out.append([v if v > 0 else 0, 2])
        pairs.append((k, [max(0, v)]))
    return out, pairs


def zipped(x, n):
    return [k for k, _ in zip([1, 2.5, True], x)], [a for a, _ in zip([1, x.sum(), 2.0], range(n))]  # noqa: B905


def grown_by_a_function(x, n):
    def grow(items, v):
        items.append(v)
        if v > n:
            items.append(1)
        return items

    out = []
    for v in x:
        out = grow(out, v)
    return out


def kept_in_a_dict(x, n):
    held = {"out": [1]}
    for k in range(n):
        held["out"].append(x.sum() * k)
    return held


# ---- single values ----
def none_number_or_tensor(x, n):
    best = None
    for v in x:
        if v > n:
            best = v if n > 0 else 1
    return best, best is None


def number_of_two_classes_or_tensor(x, n):
    t = x.sum()
    if n > 2:
        t = 0.5
    elif n > 1:
        t = 3
    return t, [t]


def made_a_tensor(x, n):
    t = x.sum() if n > 1 else 0.5
    return paddle.to_tensor(t), paddle.stack([paddle.to_tensor(t), x.sum()]), t if isinstance(t, paddle.Tensor) else -1


def bools_are_counted(x, n):
    t = x.sum() if n > 1 else True
    out = [True]
    for v in x:
        out.append(v)
    return t + t, t * 2, t + 1, -t, out[0] + out[0], sum(out), sum(out[:1])


P, N = [1.0, 2.0, 0.5], [-1.5, 3.0]
CALLS = [(P, 3), (P, 0), (N, 1), (P, 2)]

CASES = [
    (function, CALLS, 1)
    for function in (
        number_at_the_begin, number_at_the_end, on_one_path, either_in_each_iteration, of_three_classes, numbers_of_two_classes,
        value_that_is_either, asked_what_they_are, taken_out, set_at_an_index, inserted_and_cut, sorted_and_compared, lists_of_two_paths,
        none_before_it, left_by_a_raise, summed, looped_over, entries_of_records, inner_lists, inner_lists_with_either, zipped,
        grown_by_a_function, kept_in_a_dict, none_number_or_tensor, number_of_two_classes_or_tensor, made_a_tensor, bools_are_counted,
    )
]  # fmt: skip
