"""Modifications in place of what a branch or a loop has given a value: other names of it that nobody reads do no harm."""

from dy2st import concat, no_grad, zeros


def own_value(x):
    h = x + 0
    if x.sum() > 0:
        h = h * 2
    h[0] = 7
    return h


def own_value_in_a_loop(x, n):
    h = x + 0
    for _ in range(n):
        h[0] = 9
        h = h * 2
    h[1] = 3
    return h


def swap(x):
    a, b = x + 0, x + 1
    if x.sum() > 0:
        a, b = b, a
    a[0] = 9
    return a, b


def swap_in_a_loop(x, n):
    a, b = x + 0, x + 1
    for i in range(n):
        a, b = b, a
        a[0] = i
    a[1] = 9
    return a, b


def two_names(x):
    if x.sum() > 0:
        y = z = x * 2
    else:
        y = z = x * 3
    y[0] = 1
    return y, z


def other_name_is_read_before(x):
    h = x + 0
    g = h
    if x.sum() > 0:
        h = h * 2
    s = g.sum()
    h[0] = 7
    return h * s


def new_value_in_place(x):
    y = x
    if x.sum() > 0:
        y = y + 1
    y += 1
    return y, x


def one_side_in_place(x):
    u = x * 0.5
    if x.sum() > 0:
        u[0] = x[1]
    else:
        u = x.tanh()
    return u * x


def last_iteration_is_read_first(x, n):
    h = x * 2
    last = x
    for _ in range(n):
        s = last.sum()
        h[0] = s
        last = h
    return h, last


def modified_and_replaced_in_a_loop(x, n):
    u = x * 0.5
    for i in range(n):
        u[0] = u[0] + 1
        if i == 1:
            u = u * 2
    return u * x


def modified_without_gradient_in_a_loop(x, n):
    w = x * 2
    with no_grad():
        for i in range(n):
            w[1:] = w[1:] * i
    return w * x


def modified_without_gradient_in_a_branch(x, n):
    w = x * 2
    with no_grad():
        if n > 1:
            for _ in range(n):
                w.scale_(0.5)
                w[0] = 1.0
    return w * x


def rebound_without_gradient(x, n):
    v = x * 2
    with no_grad():
        for _ in range(n):
            if x.sum() > 3:
                v = v * 2
    return v * x


def made_anew_without_gradient(x, n):
    s, t, u = x.sum(), x * 2, x * 3
    for _ in range(n):
        with no_grad():
            s = s + x[0]
    for _ in range(n):
        t = (t * x).detach()
    for _ in range(n):
        u = zeros([3])
    return s * x, t * x, u * x


def appended_without_gradient(x, n):
    items = [x * 2]
    with no_grad():
        for i in range(n):
            items.append(items[-1] if i < 1 else x * i)
    return concat(items)


def copy_of_what_was_modified(x, n):
    v = x + 1
    items = [x]
    for _ in range(n):
        items.append(v.clone())
        v[0] = 5
    return concat([*items, v])


def one_list_on_each_side(x):
    if x.sum() > 0:
        a = b = [x]
    else:
        a = b = [x * 2]
    a[0] = a[0] + 1
    return b[0]


def one_list_in_each_iteration(x, n):
    a = b = [x]
    for _ in range(n):
        a = b = [a[0] * 2]
    a[0] = a[0] + 1
    return b[0]


def list_that_is_replaced(x):
    s = [x]
    if x.sum() > 0:
        s = [x * 2]
    s[0] = s[0] + 1
    return s[0]


def dict_that_is_replaced(x, n):
    s = {"h": x, "c": [x, x]}
    for _ in range(n):
        s = {"h": s["h"] * 2, "c": [s["h"], s["c"][0]]}
        s["h"] = s["h"] + 1
    s["c"][0] = s["h"]
    return s


def two_lists_read(x):
    a = [x]
    b = a if x.sum() > 0 else [x * 2]
    return a[0] + b[0]


def list_kept_or_replaced(x, n):
    y = [x, x]
    if n == 1:
        z = [x * 2, x]
        y[0] = x * 9
    else:
        y[0] = x * 3
        z = y
    return y, z


def list_in_a_tuple_kept_or_replaced(x, n):
    y = [x, x]
    z = (y, x)
    if n == 1:
        z = ([x * 2, x], x * 4)
    else:
        y[0] = x * 3
    return z


def dict_of_lists_kept_or_replaced(x, n):
    d = {"a": x, "b": [x * 2]}
    e = d
    if n > 1:
        e = {"a": x * 3, "b": d["b"]}
    else:
        d["a"] = x * 5
        d["b"][0] = x * 7
    return e


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]

CASES = [
    (own_value, [(P,), (N,)], 1),
    (own_value_in_a_loop, [(P, 0), (P, 1), (P, 3)], 1),
    (swap, [(P,), (N,)], 1),
    (swap_in_a_loop, [(P, 0), (P, 1), (P, 4)], 1),
    (two_names, [(P,), (N,)], 1),
    (other_name_is_read_before, [(P,), (N,)], 1),
    (new_value_in_place, [(P,), (N,)], 1),
    (one_side_in_place, [(P,), (N,)], 1),
    (last_iteration_is_read_first, [(P, 0), (P, 1), (P, 3)], 1),
    (modified_and_replaced_in_a_loop, [(P, 0), (P, 1), (P, 2), (P, 4)], 1),
    (modified_without_gradient_in_a_loop, [(P, 0), (P, 1), (P, 3)], 1),
    (modified_without_gradient_in_a_branch, [(P, 0), (P, 1), (P, 3)], 1),
    (rebound_without_gradient, [(P, 0), (P, 1), (P, 3), (N, 2)], 1),
    (made_anew_without_gradient, [(P, 0), (P, 1), (P, 3), (P, 0)], 1),
    (appended_without_gradient, [(P, 0), (P, 1), (P, 3)], 1),
    (copy_of_what_was_modified, [(P, 0), (P, 1), (P, 3)], 1),
    (one_list_on_each_side, [(P,), (N,)], 1),
    (one_list_in_each_iteration, [(P, 3), (P, 0)], 1),
    (list_that_is_replaced, [(P,), (N,)], 1),
    (dict_that_is_replaced, [(P, 3), (P, 0)], 1),
    (two_lists_read, [(P,), (N,)], 1),
    (list_kept_or_replaced, [(P, 1), (P, 0)], 1),
    (list_in_a_tuple_kept_or_replaced, [(P, 1), (P, 0)], 1),
    (dict_of_lists_kept_or_replaced, [(P, 1), (P, 2)], 1),
]
