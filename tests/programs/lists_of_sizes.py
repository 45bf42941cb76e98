"""Lists of dynamic length whose entries have several sizes: what replaces one has another, and the gradient of each has its own."""

import dy2st as paddle


def entries_that_grow(x, n):
    rows = [x, x * 2]
    for i in range(n):
        rows[i] = paddle.concat([x, rows[i]])
    return rows


def entries_replaced_by_shorter_ones(x, n):
    rows = []
    for i in range(n):
        rows.append(x[i:])
    for i in range(n):
        rows[i] = x[1:] * 3
    return rows


def first_entry_of_another_size(x, n):
    rows = [x[1:]]
    if n > 1:
        rows.append(x)
    for _ in range(n):
        rows[0] = x
    return rows


CALLS = [([1.0, 2.0, 3.0], 2), ([1.0], 0), ([1.0, -2.0], 1)]
CASES = [(function, CALLS, 1) for function in (entries_that_grow, entries_replaced_by_shorter_ones, first_entry_of_another_size)]
