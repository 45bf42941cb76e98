"""Lists that are repeated as often as only the run knows (`[0] * n`), and lists of numbers that get others, or tensors."""


def counted(x, n):
    counts = [0] * (int(n) + 1)
    for v in x:
        counts[int(v > 1) * int(n)] += 1
    return counts, sum(counts), max(counts)


def as_many_as_rows(x, n):
    lower = len(x) * [0]
    for i in range(len(x)):
        for v in x:
            if v < x[i]:
                lower[i] += 1
    return lower


def flags(x, n):
    seen = [False] * (n.item() + 1)
    for v in x:
        if v > 0:
            seen[int(v) % (n.item() + 1)] = True
    return seen, all(seen)


def of_tensors(x, n):
    out = [x.sum(), x[0] * 2] * int(n)
    return out, [1] * bool(n > 1), (n > 0).item() * ["a"], [(0, x[1])] * int(n)


def in_place(x, n):
    out = [x[0], x[1]]
    same = out
    out *= int(n)
    nothing = []
    nothing *= int(n)
    nothing.append(1)
    return out, same, out is same, nothing


def on_one_path(x, n):
    out, other = [1, 2], [3]
    same = other
    if x[0] > 0:
        out = out * int(n)
        other *= int(n)
    return out, other, same


def added(x, n):
    ids = [1, 2]
    ids = ids + [0] * (4 - int(n))
    more = [5]
    more += [0] * int(n)
    return ids, more


def of_no_whole_number(x, n):
    return [0] * float(n)


# ---- lists of numbers that get others ----
def table_of_tensors(x, n):
    best = [0.0] * (int(n) + 1)
    for i in range(n):
        best[i + 1] = best[i] + x[i % len(x)]
    return best, best[-1]


def table_of_floats(x, n):
    total = [0 for _ in range(n)]
    for i in range(n):
        total[i] += x[0].item() * i
    return total


def numbers_or_tensors(x, n):
    best = [0] * (int(n) + 1)
    for i in range(n):
        best[i + 1] = max(best[i], x[i % len(x)])
    return best


def number_or_tensor_appended(x, n):
    out = [1 for _ in range(n)]
    v = 2 if x[0] > 0 else x[1]
    out.append(v)
    return out, v


def bools_or_tensors(x, n):
    out = [False for _ in range(n)]
    for i in range(n):
        out[i] = out[i] or x[i % len(x)]
    return out


def wider_on_one_path(x, n):
    out = [0] * int(n)
    if x[0] > 0:
        out.append(x[1])
    else:
        out.append(2)
    joined = [0] * int(n) + [x[0]]
    joined.extend([1, 0.5])
    return out, joined, joined[-1]


def left_by_a_break(x, n):
    out = [0] * int(n)
    same, i = out, 0
    while i < n:
        if x[i % len(x)] < 0:
            out[i] = x[i % len(x)]
            break
        i += 1
    return out, same, i


def in_an_object_in_inner_loops(x, n):
    held = {"out": [0] * int(n)}
    for i in range(n):
        for _ in range(i):
            if x[0] > 0:
                held["out"][i] = held["out"][i] + x[1]
    return held


P, N = [1.0, 2.0, 0.5], [-1.5, 3.0]
CALLS = [(P, 3), (P, 0), (N, 1), (N, 4)]

CASES = [(of_no_whole_number, CALLS, 0)] + [
    (function, CALLS, 1)
    for function in (
        counted, as_many_as_rows, flags, of_tensors, in_place, on_one_path, added, table_of_tensors, table_of_floats, numbers_or_tensors,
        number_or_tensor_appended, bools_or_tensors, wider_on_one_path, left_by_a_break, in_an_object_in_inner_loops,
    )
]  # fmt: skip
