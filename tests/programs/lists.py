"""Lists that grow and shrink in staged loops and branches: how they are reached, and what is done with them."""

# ruff: noqa: B905, C408, RUF005, RUF007  (what users write)

from dy2st.tensor.manipulation import concat, stack


class Box:
    pass


# ---- taken out and put back ----


def stack_machine(x, n):
    todo = [x]
    s = x * 0
    while len(todo) > 0:
        t = todo.pop()
        if t.sum() > 1:
            todo.append(t / 2)
        s = s + t
    return s


def worklist(x, n):
    todo = [x]
    s = x * 0
    while len(todo) > 0:
        t = todo.pop()
        if t.sum() > 1:
            todo.append(t / 2)
            todo.append(t * t / 40)
        s = s + t * t
    return s


def queue(x, n):
    todo = [x]
    s = x * 0
    while len(todo) > 0:
        t = todo.pop(0)
        if t.sum() > 1:
            todo.append(t / 2)
        s = s * 0.5 + t * t
    return s


def reduced_in_branches(x, n):
    values = [x, x * 2, x + 1, x * 0.5]
    while len(values) > 1:
        b = values.pop()
        a = values.pop()
        if a.sum() > b.sum():
            values.append(a * b)
        else:
            values.append(a - b * b)
    return values[0]


def popped_in_branches(x, n):
    values = [x] * 6
    s = x * 0
    for i in range(n):
        if i % 2 == 0:
            b = values.pop()
            a = values.pop()
            values.append(a * b + i)
        else:
            s = s + values[-1] * values[-1]
    return values, s


def popped_in_inner_loop(x, n):
    values = [x * i for i in range(1, 5)]
    s = x * 0
    for _ in range(n):
        values.append(s + x)
        values.append(s - x)
        while len(values) > 2:
            s = s * 0.5 + values.pop() * values[0]
    return s, values


def popped_inside_an_expression(x, n):
    values = [x]
    for _ in range(n):
        values.append(values.pop() * x)
    return values


def popped_with_growing_entries(x, n):
    parts = [x]
    s = x.sum() * 0
    for i in range(n):
        parts.append(concat([parts[-1], x * i]))
    while len(parts) > 0:
        s = s * 0.5 + (parts.pop() ** 2).sum()
    return s


def change_places(x, n):
    a, b = [x], [x * 2]
    for _ in range(n):
        a.append(b[-1] * x)
        a, b = b, a
    return a, b


def entries_of_a_fixed_list(x, n):
    pair = [x, x * 2]
    for _ in range(n):
        pair[0] = pair[0] * pair[1]
        pair[1] = pair[1] + 1
    return pair


# ---- how they grow ----


def add_assign(x, n):
    out = []
    for i in range(n):
        out += [x * i, x]
    return out


def add_lists(x, n):
    out, back = [x], []
    for i in range(n):
        out = out + [x * i]
        back = [x * i] + back
    return out, back


def add_in_branch(x, n):
    a, b = [x], [x]
    if x.sum() > 0:
        a += [x * 2]
        b = b + [x * 3]
    return a, b


def append_in_either_branch(x, n):
    out = [x]
    if x.sum() > 0:
        out.append(x * 2)
    else:
        out.append(x * 3)
        out.append(x * 4)
    return out


def started_again(x, n):
    out = [x]
    for i in range(n):
        if i == 1:
            out = []
        out.append(x * i)
    return out


def exit_while_growing(x, n):
    out = []
    for i in range(10):
        out.append(x * i)
        if i >= n:
            break
    return out


def window(x, n):
    out = [x]
    s = x * 0
    for i in range(n + 3):
        out.append(x * i)
        if len(out) > 2:
            del out[0]
        s = s + out[0] * out[-1]
    return s, out


# ---- how they are reached ----


def in_dict(x, n):
    d = {"a": [x], "n": x}
    for i in range(n):
        d["a"].append(x * i)
        d["n"] = d["n"] + 1
    for i in range(n):
        if (x * i).sum() > 1:
            d["a"].append(x * i)
    d["a"] += [x]
    return d, stack(d["a"])


def in_list(x, n):
    rows = [[x] for _ in range(3)]
    for i in range(n):
        for j in range(3):
            rows[j].append(x * i + j)
        rows[1].pop(0)
    return rows


def in_tuple(x, n):
    pair = ([x], [x * 2])
    for i in range(n):
        pair[0].append(x * i)
        if (x * i).sum() > 1:
            pair[1].append(x)
    return pair


def in_object(x, n):
    box = Box()
    box.inner = Box()
    box.items, box.inner.items = [x], []
    for i in range(n):
        box.items.append(x * i)
        append_to(box.inner.items, x)
    return box.items, box.inner.items


def append_to(items, x):
    items.append(x)


def append_many(items, x, n):
    for i in range(n):
        items.append(x * i)
    return items


def with_two_names(x, n):
    a = [x]
    b = a
    d = {"a": a}
    for i in range(n):
        a.append(x * i)
        b.append(x)
        d["a"].append(x * 2)
    b.append(x)
    return len(a), a, b, d


def by_helpers(x, n):
    out = [x]

    def push(v):
        out.append(v)

    for i in range(n):
        push(x * i)
        append_to(out, x)
    return out


def of_the_caller(x, n):
    kept = [x]
    same = append_many(kept, x, n)
    same.append(x * 9)
    for _ in range(n):
        append_many(kept, x, n)
    if x.sum() > 0:
        append_many(kept, x, n)
    return kept


def names_and_new_lists(x, n):
    grown = append_many([], x, n)
    a = [x]
    b = a
    a += grown
    c = a
    a = a + grown
    d = [x]
    e = d
    d.extend(grown)
    return a, b, c, e


# ---- what is done with them ----


def insert(x, n):
    out = append_many([x], x, n)
    for at in (0, 2, -1, 100, -100):
        out.insert(at, x + at)
    out.insert(n, x * 7)
    return out


def insert_in_loop(x, n):
    out = [x]
    for i in range(n):
        out.insert(i, x * out[0])
        out.insert(0, x * i)
    return out


def pop_and_delete(x, n):
    out = append_many([x, x * 5, x * 6], x, n)
    a = out.pop(n)
    b = out.pop(-2)
    out.append(x)
    del out[0]
    out += [x, x * 2, x * 3]
    del out[n]
    del out[1:3]
    return a, b, out


def slices(x, n):
    out = append_many([x], x, n)
    return out[1:], out[:-1], out[:2], out[-1:], out[1:n], out[:], out[::-1], out[::2], out[n : -4 : -1], out[5:1]


def slice_assigned(x, n):
    out = append_many([x], x, n)
    out[0:1] = [x * 9, x * 8]
    out[n:] = out[:2]
    return out


def slices_of_iterables(x, n):
    out, pairs = [x[0], x[0]], [0]
    out[1:] = x
    out[:1] = map(abs, x)
    out[n:n] = (v * 2 for v in x)
    pairs[:] = zip(x, x)
    return out, pairs


def reverse(x, n):
    out = append_many([x], x, n)
    out.reverse()
    s = x * 0
    for v in reversed(out):
        s = s * 0.5 + v
    return out, s


def neighbours(x, n):
    out = append_many([x], x, n)
    s = x * 0
    for a, b in zip(out, out[1:]):
        s = s * 0.5 + a * b
    return s


def added_and_repeated(x, n):
    a = append_many([x], x, n)
    b = append_many([], x * 2, n)
    return a + b, b + [x], [x] + b, a * 2, b * int(n), a * -1, 2 * b


def copies(x, n):
    a = append_many([x], x, n)
    b = a.copy()
    b.append(x)
    c = list(a)
    c.append(x * 2)
    d = a[:]
    d.append(x * 3)
    a.append(x * 4)
    return a, b, c, d


# ---- lists made of lists ----


def comprehensions(x, n):
    xs = append_many([x], x, n)
    return [v * v for v in xs], [x * i for i in range(n)], [v for v in xs if v.sum() > 1], [row * 2 for row in x]


def comprehensions_with_targets(x, n):
    xs = append_many([x], x, n)
    pairs = [u * v + i for i, (u, v) in enumerate(zip(xs, xs[::-1]))]
    return pairs, [u * v for u in xs for v in range(2)], {k: [v + 1 for v in ys] for k, ys in {"a": xs}.items()}


def comprehensions_over_python(x, n):
    parts = [x * k if k % 2 else x + k for k in range(4)]
    return [-p if p.sum() > 3 else p for p in [*parts, x] if p.sum() > 1], sum(p * p for p in parts)


def comprehension_in_a_loop(x, n):
    out = [x]
    for i in range(n):
        out = [v * 0.5 + i for v in out]
        out = [*out, x]
    return out, sum(v * v for v in out), len([i for i in range(n) if i % 2 == 0])


def joined(x, n):
    xs = append_many([], x, n)
    return [*xs, x], [x, *xs, *xs], [*x, x[0]], list(reversed(xs)), list(x), list()


def scalars(x, n):
    xs = append_many([x.sum()], x.sum(), n)
    none = append_many([], x.sum(), n * 0)
    return x.sum() * 2 in xs, x.sum() in none, max(xs), min(xs), sum(xs), max(xs[:1] * 2)


def numbers_in_a_list(x, n):
    out = []
    for k in range(n):
        out.append(k * 2)
    return out, len(out), x


def floats_in_a_list(x, n):
    out = [1.5]
    for k in range(n):
        out.append(float(x.sum()) * k)
    return out, out[0], x * out[-1], x * sum(out), max(out)


def ints_and_floats_in_a_list(x, n):
    out = [1]
    for _ in range(n):
        out.append(0.5)
    return x * out[0]


def popped_number(x, n):
    stack = [1, 2, 3]
    for k in range(n):
        stack.append(k)
    a, b = stack.pop(), stack[0]
    return isinstance(a, int), a + b, x * a


def sum_over_numbers(x, n):
    out = []
    for k in range(n):
        out.append(k + 1)
    s = 0
    for v in out:
        s += v
    return s, x * s


def number_in_a_branch(x, n):
    out = [1]
    if n > 0:
        out.append(2)
    return out, x


def appended_and_replaced(x, n):
    out = []
    y = x + 0
    for k in range(n):
        y = y * 2
        y[0] = k
        out.append(y)
    return out


def appended_copies(x, n):
    out = []
    y = x + 0
    for k in range(n):
        out.append(y.clone())
        y[0] = k
    return out


CALLS = [([1.5, 2.0], 3), ([1.5, 2.0], 0), ([1.5, 2.0], 1), ([-1.5, -2.0], 2)]

def compared(x, n):
    a = []
    for i in range(n):
        a.append(i)
    b = [*a]
    c = [v * 2 for v in a]
    return a == [0, 1, 2], a != b, b == a, [0] == a, a == c, a == (0, 1, 2), a == a, x  # noqa: SIM300


def extended_by_rows(x, n):
    out, numbers = [x[0]], [0]
    out.extend(x[int((x > 0).sum()) :])
    out.extend(v * 2 for v in x if v > 1)
    numbers.extend(range(n))
    numbers.extend(iter([7, 8]))
    return out, numbers


CASES = [
    (function, CALLS, 1)
    for function in (
        stack_machine, worklist, queue, reduced_in_branches, popped_in_branches, popped_in_inner_loop,
        popped_inside_an_expression, popped_with_growing_entries, change_places, entries_of_a_fixed_list,
        add_assign, add_lists, add_in_branch, append_in_either_branch, started_again, exit_while_growing, window,
        in_dict, in_list, in_tuple, in_object, with_two_names, by_helpers, of_the_caller, names_and_new_lists,
        insert, insert_in_loop, pop_and_delete, slices, slice_assigned, slices_of_iterables, reverse, neighbours, added_and_repeated,
        copies, comprehensions, comprehensions_with_targets, comprehensions_over_python, comprehension_in_a_loop, joined, scalars,
        numbers_in_a_list, floats_in_a_list, ints_and_floats_in_a_list, popped_number, sum_over_numbers, number_in_a_branch,
        appended_and_replaced, appended_copies, compared,
    )
] + [(extended_by_rows, [([1.0, -2.0, 3.0], 2), ([1.0, 2.0], 0), ([1.0], 1)], 1)]  # fmt: skip
