"""`collections.deque` under conditions on tensors."""

import copy
from collections import deque


def breadth_first(x, n):
    queue = deque([(x.sum(), 0)])
    total = x.sum() * 0
    while queue:
        value, depth = queue.popleft()
        total = total + value
        if depth < n:
            queue.append((value * 0.5, depth + 1))
            if value > 0:
                queue.append((value * 0.25, depth + 1))
    return total


def window(x):
    last, means = deque(maxlen=2), []
    for v in x:
        last.append(v)
        means.append(sum(last) / len(last))
    return means, len(last)


def both_ends(x):
    q = deque([x.sum()], 3)
    for v in x:
        if v > 0:
            q.appendleft(v)
        else:
            q.extend([v, v * 2])
    total = 0
    for i, v in enumerate(q):
        total = total + v * i
    return total, list(q), q.maxlen


def popped_in_branches(x):
    q = deque([x, x * 2])
    y = q.popleft() if x.sum() > 0 else q.pop()
    return y, len(q), q[0]


def emptied(x, n):
    q = deque([x])
    for _ in range(n):
        q.popleft()
    return x * len(q)


def rotated(x, n):
    q = deque([x, x * 2, x * 3])
    q.rotate(n)
    q.rotate(-1)
    return q[0], q[1], list(q)


def methods(x, n):
    q = deque([1, 2, 3])
    q.insert(n, 7)
    q.remove(2)
    q.reverse()
    q.extendleft([4, 5])
    del q[0]
    q[0] = 8
    return x * q[0], list(q), q.index(7), q.count(1), 8 in q, q == deque([8, 3, 7, 1]), q == [8, 3, 7, 1]


def sums_and_copies(x):
    a, b = deque([x]), deque([x * 2])
    c = a + b
    c += [x * 3]
    d = copy.copy(c) * 2
    a.clear()
    return list(c), len(d), len(a), isinstance(c, deque), type(c) is deque, isinstance(c, list)


def index_out_of_range(x, n):
    q = deque([x])
    for _ in range(n):
        q.append(x)
    return q[2]


def unpacked(x):
    q = deque([x, x * 2, x * 3])
    first, *rest = q
    return first, rest, [*q], [v.sum() for v in reversed(q)]


def from_both_ends(x):
    q, total = deque([v for v in x]), 0  # noqa: C416
    while len(q) > 1:
        total = total + q.popleft() * q.pop()
        if total > 5:
            break
    return total, len(q)


def by_recursion(x, n):
    q = deque()

    def visit(k):
        if k > 0:
            q.appendleft(x * k)
            visit(k - 1)

    visit(n)
    return len(q), list(q)


def truth(x, n):
    q = deque()
    if n > 1:
        q.append(x)
    return x * 2 if q else x


def repeated_in_place(x):
    found = deque(range(int(x[0] > 0) + 1), 5)
    other = found
    found += [7]
    found *= 2
    return x, list(found), other is found, list(other)


def deques_compared(x, n):
    first, second, tensors = deque([int(n), 5]), deque([2, 5], 3), deque([x.sum()])
    return x, first == second, first != second, first < second, second <= first, first > second, first >= second, tensors == deque([6.0])


def not_in_it(x, n):
    queue, found = deque(range(n)), []
    try:
        queue.remove(2)
    except ValueError as error:
        print(error)
        found.append(1)
    try:
        queue.index(1)
    except ValueError as error:
        print(error)
        found.append(2)
    return x, list(queue), len(found)


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]
RUNS = [(P, 3), (N, 2), (P, 0), (P, 1)]


def changed_in_a_loop(x, n):
    queue = deque([x * i for i in range(n)])
    for _ in queue:
        queue.append(x)
    return x


def emptied_in_a_loop(x, n):
    queue, total = deque([x, x * 2]), x
    for v in queue:
        total = total + v
        queue.popleft()
    return total


def changed_and_left(x, n):
    queue = deque([x, x * 2, x * 3])
    for v in queue:
        if n > 1:
            break
        x = x + v
    for v in queue:
        queue.append(v)
        break
    for i, v in enumerate(queue):
        queue[i] = v + i
    return x, list(queue)


def changed_behind_enumerate(x, n):
    queue, total = deque([1, 2, 3], 3), 0
    for i, v in enumerate(queue):
        if x.sum() > 4 - n:
            queue.append(v)
        total = total + v * i
    return x * total


def changed_behind_zip(x, n):
    queue, total = deque([1, 2, 3], 3), 0
    for v, w in zip(queue, [x[0], x[1], x[2]], strict=True):
        if w > 3 - n:
            queue.append(v)
        total = total + v
    return x * total


def changed_behind_map(x, n):
    queue, total = deque([1, 2, 3], 3), 0
    for v in map(abs, reversed(queue)):
        if x[0] > 2 - n:
            queue.append(v)
        total = total + v
    return x * total


def changed_behind_a_generator(x, n):
    queue, total = deque([1, 2, 3], 3), 0
    for v in (v * 2 for v in queue):
        if x[0] > 2 - n:
            queue.appendleft(v)
        total = total + v
    return x * total


def changed_without_end(x, n):
    queue = deque(range(n))
    for _, v in enumerate(queue):
        queue.append(v)
    return x


def changed_and_left_behind_enumerate(x, n):
    queue, total = deque([1, 2, 3], 3), 0
    for i, v in enumerate(queue):
        total = total + v
        if x.sum() > i + n:
            queue.append(v * 2)
            break
    return x * total * queue[2]


def changed_behind_enumerate_of_a_dynamic_one(x, n):
    queue, total = deque([1, 2, 3], 4), 0
    if x.sum() > 0:
        queue.append(4)
    for _, v in enumerate(queue):
        if x.sum() > n:
            queue.append(v)
            queue.popleft()
        total = total + v
    return x * total


def changed_between_loops(x, n):
    queue, total = deque([1, 2, 3], 3), 0
    for i, v in enumerate(queue):
        total = total + v * i
    for i in range(n):
        if x.sum() > i:
            queue.append(i)
    for i, v in enumerate(queue):
        total = total + v * i
    return x * total


CASES = [
    *((function, [(P, 0), (P, 2), (N, 1), (N, 7), (P, 9)], 1) for function in (
        changed_behind_enumerate, changed_behind_zip, changed_behind_map, changed_behind_a_generator, changed_without_end,
        changed_and_left_behind_enumerate, changed_behind_enumerate_of_a_dynamic_one, changed_between_loops)),
    *((function, RUNS, 1) for function in (
        breadth_first, emptied, rotated, methods, index_out_of_range, by_recursion, truth, deques_compared, not_in_it)),
    *((function, [(P,), (N,)], 1) for function in (
        window, both_ends, popped_in_branches, sums_and_copies, unpacked, from_both_ends, repeated_in_place)),
    (changed_in_a_loop, [(P, 2), (P, 0), (N, 3)], 1),
    (emptied_in_a_loop, [(P, 2)], 0),
    (changed_and_left, [(P, 2), (P, 1), (N, 1)], 1),
]
