"""What may be None, where a condition says whether it is."""

P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]


def best_so_far(x):
    best, found = None, []
    for v in x:
        if best is None or v > best:
            best = v
        found.append(best)
    return found


def pairs_of_neighbours(x):
    before, pairs = None, []
    for v in x:
        if before is not None:
            pairs.append((before, v))
        before = v
    return pairs


def differences(x):
    before, found = None, []
    for v in x:
        if before is None:
            before = v
            continue
        found.append(v - before)
        before = v
    return found


def run_lengths(x, limit):
    value, count, runs = None, 0, []
    for v in x > limit:
        if value is not None and v == value:
            count += 1
        else:
            if value is not None:
                runs.append((value, count))
            value, count = v, 1
    if value is not None:
        runs.append((value, count))
    return runs


def while_it_is_there(x, n):
    now, k, found = (x if x.sum() > n else None), 0, []
    while now is not None and k < 3:
        found.append(now)
        now = now * 2 if now.sum() < 10 else None
        k += 1
    return found, now is None


def on_the_other_side(x, n):
    first, found = None, []
    for v in x:
        if v > n:
            first = v
        if not (first is None or v < 0):
            found.append(first)
    return found


def tuple_on_one_path(x, n):
    state, total = None, x * 0
    for v in x:
        if state is None:
            state = (v, v * 2)
        a, b = state
        total = total + a * b
        state = (b, a) if v > n else None
    return total


def cached(x, cache=None):
    return x * 1.5 if cache is None else x + cache


def keyword_set_behind_a_break(x, n, **more):
    for _ in range(3):
        y = cached(x, **more)
        if y.sum() > n:
            break
        more["cache"] = y
    return y


CASES = [
    (keyword_set_behind_a_break, [(P, 1), (P, 10), (P, 20), (N, 0)], 1),
    (best_so_far, [(P,), (N,), ([2.0],)], 1),
    (pairs_of_neighbours, [(P,), (N,), ([2.0],)], 1),
    (differences, [(P,), (N,), ([2.0],)], 1),
    (run_lengths, [(P, 1), (N, 0), ([2.0], 1), ([1.0, 3.0, 4.0, 0.0, -1.0], 2)], 1),
    (while_it_is_there, [(P, 1), (P, 9), (N, 0), ([9.0], 1)], 1),
    (on_the_other_side, [(P, 1), (N, 0), ([2.0, -1.0, 3.0], 1)], 1),
    (tuple_on_one_path, [(P, 1), (N, 0), (P, 2)], 1),
]
