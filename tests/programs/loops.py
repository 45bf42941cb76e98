"""Loops: `while` and `for` with conditions and bounds of both kinds, exits, state."""

import dy2st
from dy2st.tensor.manipulation import concat, stack


def count_up(x):
    i = 0
    while x.sum() < 10:
        x = x + 1
        i = i + 1
    return x, i


def power(x, n):
    y = x * 0 + 1
    for _ in range(n):
        y = y * x
    return y


def constant_start(x, n):
    h = dy2st.tensor.creation.zeros([2])
    for _ in range(n):
        h = (h * 0.5 + x).tanh()
    return h


def rows(x):
    s = x[0] * 0
    for row in x:
        s = s + row * row
    return s


def last_row(x):
    for row in x:  # noqa: B007
        pass
    return row * 2


def rows_changed_in_place(x):
    y = x * 1
    for row in y:
        y.add_(row)
    return y


def enumerated(x):
    s = x[0] * 0
    for i, row in enumerate(x, 1):
        s = s + row * i
    return s


def zipped(x, y):
    s = 0.0
    for a, b in zip(x, y):  # noqa: B905
        s = s + (a * b).sum()
    return s


def backwards(x):
    s = x[0] * 0
    for row in reversed(x):
        s = s * 0.5 + row
    return s


def negative_step(x, n):
    s = x.sum() * 0
    for i in range(n, 0, -1):
        s = s * 0.5 + i
    return s * x


def tensor_step(x, a, b, c):
    s = x * 0
    for i in range(a, b, c):
        s = s + x * i
    return s


def break_in_for(x, n):
    s = x.sum() * 0
    for i in range(n):  # noqa: B007
        s = s + x.sum()
        if s > 5:
            break
    return s, i


def break_in_while(x):
    i = 0
    while i < 10:
        x = x * 1.5
        if x.sum() > 20:
            break
        i += 1
    return x, i


def while_true(x):
    n = 0
    while True:
        x = x + 1
        n = n + 1
        if x.sum() > 20:
            break
    return x, n


def continue_in_for(x, n):
    s = x.sum() * 0
    for i in range(n):
        if i % 2 == 0:
            continue
        s = s + x.sum() * i
    return s


def loop_else(x, n):
    for i in range(n):
        if x[i] < 0:
            y = x * i
            break
    else:
        y = x * 100
    return y


def return_in_loop(x, n):
    for i in range(n):
        if x[i] < 0:
            return x * 2
    return x * 3


def nested_loops(x, n):
    s = x.sum() * 0
    for i in range(n):
        j = 0
        while j < i:
            s = s + x.sum() * j
            j = j + 1
    return s


def nested_break(x, n):
    s = x.sum() * 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            s = s + x.sum() * (i + j)
        if s > 50:
            break
    return s


def python_loop_tensor_break(x):
    for k in [1.0, 2.0, 3.0]:
        x = x * k
        if x.sum() > 10:
            break
    return x, k


def if_in_loop(x, n):
    for i in range(n):
        if i % 2 == 0:
            x = x * 1.5
        else:
            x = x - 1
    return x


def loop_in_if(x, n):
    if x.sum() > 0:
        for _ in range(n):
            x = x * 1.5
    else:
        x = -x
    return x


def grow(x, n):
    out = []
    for i in range(n):
        out.append(x * i)
    return stack(out).sum(0) if len(out) > 0 else x


def grow_concat(x, n):
    out = [x]
    for i in range(n):
        out.append(x * i)
    return concat(out)


def grow_and_return(x, n):
    out = [x]
    for _ in range(n):
        out.append(out[-1] * 2)
    return out


def loop_over_grown(x, n):
    out = [x]
    for i in range(n):
        out.append(x * i)
    s = x * 0
    for v in out:
        s = s * 0.5 + v
    return s


def growing_tensor(x, n):
    y = x
    for _ in range(n):
        y = concat([y, x])
    return y * y


def swap(x, y, n):
    for _ in range(n):
        x, y = y, x + y
    return x


def write_items(x, n):
    y = x * 1
    for i in range(n):
        y[i] = y[i] * 2
    return y


def dict_state(x, n):
    state = {"h": x, "c": x * 0}
    for _ in range(n):
        state["c"] = state["c"] + state["h"]
        state["h"] = state["h"].tanh()
    return state["c"]


def walrus(x):
    n = 0
    while (s := x.sum()) < 10:
        x = x + s * 0.1 + 1
        n += 1
    return x, s, n


def decay(x, n):
    lr = 1.0
    for _ in range(n):
        lr = lr * 0.9
    return x * lr


def first_only_in_loop(x, n):
    for i in range(n):
        last = x * i
    return last


def conditional_exit_and_state(x, n):
    best, where = x.sum() * 0 - 100, -1
    for i in range(n):
        v = x[i]
        if v > best:
            best, where = v, i
    return best, where


ROWS = [[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]]

def compared_with_a_value_of_the_branch(x, n):
    if n > 2:
        return x * 2
    limit = x.sum() * 2
    c = n
    while c > 0:
        while c > 0:
            c = c - 1
            if limit > 0:
                x = x * limit
        c = c - 1
    return x


CASES = [
    (count_up, [([1.0, 2.0],), ([20.0],), ([9.5, 0.0],)], 1),
    (power, [([1.5, 2.0], 3), ([1.5, 2.0], 0), ([1.5, 2.0], 1)], 1),
    (constant_start, [([0.5, 0.25], 3), ([0.5, 0.25], 0), ([0.5, 0.25], 1)], 1),
    (rows, [(ROWS,), (ROWS[:1],)], 1),
    (last_row, [(ROWS,)], 1),
    (rows_changed_in_place, [(ROWS,), ([1.0, 2.0, 3.0],)], 2),
    (enumerated, [(ROWS,)], 1),
    (zipped, [(ROWS, ROWS[::-1]), (ROWS, ROWS[:2])], 1),
    (backwards, [(ROWS,)], 1),
    (negative_step, [([1.0, 2.0], 4), ([1.0, 2.0], 0)], 1),
    (tensor_step, [([1.0, 2.0], 0, 7, 3), ([1.0, 2.0], 5, 0, -2), ([1.0, 2.0], 5, 0, 1)], 1),
    (break_in_for, [([1.0, 2.0], 4), ([1.0, 2.0], 1)], 1),
    (break_in_while, [([1.0, 2.0],), ([0.01, 0.01],)], 1),
    (while_true, [([1.0, 2.0],), ([30.0, 1.0],)], 1),
    (continue_in_for, [([1.0, 2.0], 4), ([1.0, 2.0], 0)], 1),
    (loop_else, [([1.0, -2.0, 3.0], 3), ([1.0, 2.0, 3.0], 3), ([1.0, 2.0], 0)], 1),
    (return_in_loop, [([1.0, -2.0, 3.0], 3), ([1.0, 2.0, 3.0], 3), ([1.0, 2.0], 0)], 1),
    (nested_loops, [([1.0, 2.0], 4), ([1.0, 2.0], 1), ([1.0, 2.0], 0)], 1),
    (nested_break, [([1.0, 2.0], 4), ([1.0, 2.0], 1)], 1),
    (python_loop_tensor_break, [([1.0, 2.0],), ([0.1, 0.2],), ([20.0, 0.0],)], 1),
    (if_in_loop, [([1.0, 2.0], 4), ([1.0, 2.0], 0)], 1),
    (loop_in_if, [([1.0, 2.0], 4), ([-1.0, -2.0], 2), ([1.0, 2.0], 0)], 1),
    (grow, [([1.0, 2.0], 4), ([1.0, 2.0], 1)], 1),
    (grow_concat, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (grow_and_return, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (loop_over_grown, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (growing_tensor, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (swap, [([1.0, 2.0], [3.0, 4.0], 3), ([1.0, 2.0], [3.0, 4.0], 0)], 1),
    (write_items, [([1.0, 2.0, 3.0], 2), ([1.0, 2.0, 3.0], 0)], 1),
    (dict_state, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (walrus, [([1.0, 2.0],), ([10.0, 2.0],)], 1),
    (decay, [([1.0, 2.0], 3), ([1.0, 2.0], 0)], 1),
    (first_only_in_loop, [([1.0, 2.0], 3)], 1),
    (conditional_exit_and_state, [([1.0, 3.0, 2.0], 3), ([1.0, 3.0, 2.0], 1)], 1),
    (compared_with_a_value_of_the_branch, [([0.5, 0.25], 3), ([0.5, 0.25], 2), ([-1.0, 0.25], 2), ([0.5, 0.25], 0)], 1),
]
