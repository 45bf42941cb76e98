"""Recursion that changes what is outside of it and puts that back behind the call inside: only that call sees the change."""

import dy2st as paddle


class Level:
    def __init__(self, value):
        self.value, self.depth = value, 0


def attribute(x, n):
    level = Level(x)

    def visit(k):
        if k <= 0:
            return level.value * 1.0
        before = level.value
        level.value = before * 2
        found = visit(k - 1)
        level.value = before
        return found

    return visit(n), level.value


def own_result(x, n):
    """What the call inside gives is put where the change was, and is that."""
    level = Level(x)

    def visit(k):
        if k <= 0:
            return level.value
        level.value = level.value * 2
        level.value = visit(k - 1)
        return level.value

    def several(k, m):
        if m <= 0:
            return 2
        several(k, m - 1)
        visit(k)
        return 1

    return several(n, n), several(n % 2, n), level.value


def depth(x, n):
    level = Level(x)

    def visit(k):
        if k <= 0:
            return x * level.depth
        level.depth += 1
        found = visit(k - 1) + visit(k - 2)
        level.depth -= 1
        return found + level.depth

    return visit(n), level.depth


def path(x, n):
    way, total, longest = [], x * 0, 0

    def visit(k):
        nonlocal total, longest
        if k <= 0:
            longest = max(longest, len(way))
            for t in way:
                total = total + t
            return
        way.append(x * k)
        visit(k - 1)
        way.pop()
        if k > 1:
            visit(k - 2)

    visit(n)
    return total, longest, len(way)


def best_choice(x, n):
    """The largest sum of entries that stays below a limit, by trying all."""
    taken, best, chosen = 0.0, 0.0, 0

    def choose(i, count):
        nonlocal taken, best, chosen
        if i >= 3:
            if taken > best:
                best, chosen = taken, count
            return
        choose(i + 1, count)
        if taken + x[i] <= n:
            taken = taken + x[i]
            choose(i + 1, count + 1)
            taken = taken - x[i]

    choose(n * 0, n * 0)
    return best, chosen, taken


def in_place(x, n):
    y = x * 1

    def visit(k):
        if k <= 0:
            return y.sum()
        y.add_(paddle.to_tensor(1.0))
        found = visit(k - 1)
        y.subtract_(paddle.to_tensor(1.0))
        return found

    return visit(n), y


def by_two_functions(x, n):
    level = Level(x)

    def even(k):
        if k <= 0:
            return level.value * 1.0
        before, level.value = level.value, level.value + 1
        found = odd(k - 1)
        level.value = before
        return found

    def odd(k):
        if k <= 0:
            return level.value * 2.0
        before, level.value = level.value, level.value * 3
        found = even(k - 1)
        level.value = before
        return found

    return even(n), level.value


def key(x, n):
    known = {}

    def visit(k):
        if k <= 0:
            return known["last"] * 2 if "last" in known else x
        known["last"] = x * k
        found = visit(k - 1)
        known.pop("last", None)
        return found

    return visit(n), len(known)


def by_a_manager(x, n):
    level = Level(x)

    class Doubled:
        def __enter__(self):
            level.value = level.value * 2

        def __exit__(self, *error):
            level.value = level.value / 2

    def visit(k):
        if k <= 0:
            return level.value + 1
        with Doubled():
            return visit(k - 1)

    return visit(n), level.value


def in_a_branch(x, n):
    level = Level(x)

    def visit(k):
        if k <= 0:
            return level.value * 1.0
        before = level.value
        if before.sum() > 0:
            level.value = before * 2
        found = visit(k - 1)
        level.value = before
        return found

    return visit(n), level.value


def in_a_loop(x, n):
    level = Level(x)

    def visit(k):
        found = level.value * 0.5
        before = level.value
        for _ in range(k):
            level.value = level.value + 1
            found = found + visit(k - 1)
        level.value = before
        return found

    return visit(n), level.value


def permutations(x, n):
    """All orders of three entries, by exchanging two and putting them back."""
    entries, total, best = [x[0], x[1], x[2]], x.sum() * 0, x.sum() * 0 - 100

    def visit(k):
        nonlocal total, best
        if k >= n:
            value = entries[0] * 100 + entries[1] * 10 + entries[2]
            total = total + value
            if value > best and value < 300:
                best = value
            return
        for j in range(3):
            if j >= k:
                entries[j], entries[0] = entries[0], entries[j]
                visit(k + 1)
                entries[j], entries[0] = entries[0], entries[j]

    visit(n * 0)
    return total, best, entries


def last_two(x, n):
    known = [x - 1, x - 1]

    def fibonacci(k):
        if k <= 1:
            return x * k
        found = fibonacci(k - 1) + fibonacci(k - 2)
        known[0], known[1] = known[1], found
        return found

    return fibonacci(n), known


def counts(x, n):
    seen = [0, 0, 0]

    def visit(k):
        seen[0] += 1
        if k <= 0:
            seen[2] += 1
            return
        seen[1] = max(seen[1], seen[0])
        visit(k - 1)
        visit(k - 2)
        seen[0] -= 1

    visit(n)
    return x * seen[1], seen


def entry_that_is_modified(x, n):
    t = x * 1
    entries, same = [t, t * 2], None

    def visit(k):
        nonlocal same
        if k <= 0:
            return entries[0] + entries[1] + t
        entries[0] = entries[1]
        entries[0].add_(paddle.to_tensor(1.0))
        same = entries[0] is entries[1]
        return visit(k - 1)

    return visit(n), same


def entry_that_may_be_none(x, n):
    entries = [None, x]

    def visit(k):
        if k <= 0:
            return entries[1] * 1.0 if entries[0] is None else entries[0] + entries[1]
        entries[0] = entries[1] * k
        return visit(k - 1)

    return visit(n)


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]

CASES = [
    (function, RUNS, 1)
    for function in (
        attribute, own_result, depth, path, best_choice, in_place, by_two_functions, key, by_a_manager, in_a_branch, in_a_loop,
        permutations, last_two, counts, entry_that_is_modified, entry_that_may_be_none,
    )
]  # fmt: skip
