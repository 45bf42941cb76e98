"""Branches: what `if`, ternaries and short circuits can be."""

import dy2st


def truths_of_different_kinds(x, n):
    k = int(n)
    if k or x.sum() > 0:
        x = x * 2
    if not (n or x.mean() > 0 or k > 5):
        x = x - 1
    y = 1 if n and x[0] > 0 and k else 2
    while x.sum() > 1 and (k or n):
        x = x / 2
    assert n or k == 0 or x.sum(), "nothing"
    return x, y


def truth_that_is_ambiguous(x, n):
    none = dy2st.zeros([0])
    try:
        if x.sum() > 0 and dy2st.ones([3]):
            x = x + 1
    except ValueError:
        x = x * 3
    if n > 0:
        if none:
            x = x + 1
        x = x * 2
    return x if not n or x.min() > 0 or not none else -x


def none_in_a_nested_branch_of_a_loop(x, n):
    found = None
    for i in range(n + 1):
        if x.sum() > 0:
            last = x * i
            if i > 1:
                found = last
    return found, found is None


def simple(x):
    if x.mean() > 0:
        y = x * 2
    else:
        y = -x
    return y


def no_else(x):
    if x.sum() > 0:
        x = x * 3
    return x


def elif_chain(x):
    s = x.sum()
    if s > 10:
        y = x + 1
    elif s > 0:
        y = x + 2
    elif s > -10:
        y = x * 3
    else:
        y = x * 4
    return y * y


def nested(x):
    if x.sum() > 0:
        if x[0] > 1:
            y = x * 2
        else:
            y = x * 3
        y = y + 1
    else:
        y = x
        if x[1] < -1:
            y = y * 5
    return y


def python_condition(x, flag):
    if flag:
        y = x * 2
    else:
        y = x * 3
    if x.sum() > 0 and flag:
        y = y + 1
    return y


def early_return(x):
    if x.sum() > 0:
        return x * 2
    x = x + 1
    if x[0] > 0:
        return x * 3
    return x * 4


def return_none(x):
    if x.sum() > 0:
        return x * 2


def ternary(x):
    y = x * 2 if x.sum() > 0 else x * 3
    return y + (1.0 if x[0] > 0 else 2.0)


def short_circuit(x, i):
    if i < x.shape[0] and x[i] > 0:
        return x * 2
    return x * 3


def value_of_or(x, y):
    return (x.sum() > 0 or y.sum() > 0), not x.sum() > 0


def chained(x):
    if -1 < x.sum() < 1:
        return x * 2
    return x * 3


def numbers(x):
    scale = 1
    if x.sum() > 0:
        scale = 2.5
    return x * scale


def number_or_tensor(x):
    bias = 0.0
    if x.sum() > 0:
        bias = x.mean()
    return x + bias


def containers_on_one_path(x):
    if x.sum() > 0:
        y, d, mode = [x], {"a": x * 3}, "up"
    if x.sum() > 0:
        y.append(d["a"] * 2)
        return y[1] if mode == "up" else x
    return x


def object_after_a_break(x):
    for v in x:
        if v > 1:
            mode = "high"
            break
    else:
        mode = "high"
    return x if mode == "high" else -x


def one_sided(x):
    if x.sum() > 0:
        extra = x * 2
    y = x + 1
    if x.sum() > 0:
        y = y + extra
    return y


def several_outputs(x):
    if x.sum() > 0:
        a, b = x, x * 2
    else:
        a, b = x * 3, x
    return {"a": a, "b": [b, a + b]}


def tuples(x):
    state = (x, 1)
    if x.sum() > 0:
        state = (state[0] * 2, 2)
    return state[0] * state[1]


def different_sizes(x):
    if x.sum() > 0:
        y = x[1:]
    else:
        y = x
    return y.sum() * y


def sizes_known_on_each_path(x):
    y = x * 2
    z = y[:, :1] if x.sum() > 2 else y
    return z * z + z


def in_place(x):
    y = x * 1
    if x.sum() > 0:
        y[0] = 10.0
    else:
        y.scale_(2.0)
    return y


def alias(x):
    y = x * 1
    z = y
    if x.sum() > 0:
        y.scale_(3.0)
    return y + z


def item_and_casts(x):
    n = int(x.sum())
    f = float(x[0]) * 2
    return x * n + f, bool(x[0] > 0), len(x)


def items_by_index(x, n):
    k = n.item(0)
    m = x.reshape([1, -1])
    return x * x.item(k), m.item(-1), m.item(0, k), m.item((0, k)), x.item(bool(n > 0)) + x.sum().item(0)


def members(x):
    v = x[0]
    if v in [1.0, 2.0]:
        return x * 2
    if v not in (3.0, 4.0):
        return x * 3
    return x


def extremes(x):
    return max(x[0], x[1]) * min(x[0], 2.0) + abs(x[1]), any([x[0] > 0, x[1] > 0]), all([x[0] > 0, x[1] > 0])


def helper(x, k):
    if x.sum() > 0:
        return x * k
    return x - k


def calls(x):
    return helper(helper(x, 2), 3)


def closure(x):
    k = x.mean()

    def inner(y):
        if y.sum() > 0:
            return y * k
        return y + k

    return inner(x) + inner(-x)


def asserted(x):
    assert x.sum() > -1e9, f"too small: {x}"
    return x * 2


def concat_of_branch(x):
    parts = [x]
    if x.sum() > 0:
        parts = [x * 2]
    return dy2st.tensor.manipulation.concat([*parts, x])


def truth_of_optional(x):
    y = None
    if x.sum() > 0:
        y = x.sum() - 6.0
    if y:
        x = x * 2
    return x if not y else x + 1, x * (y or 5.0)


def method_of_optional(x):
    y = None
    if x.sum() > 0:
        y = x
    return y.sum()


def shape_of_optional(x):
    y = None
    if x.sum() > 0:
        y = x
    return x * y.shape[0]


def operators_of_optional(x, which):
    y = None
    if x.sum() > 0:
        y = x
    if which == "add":
        return y + 1
    if which == "rsub":
        return 2 - y
    if which == "rmul":
        return x * y
    if which == "gt":
        return y > 1.5
    if which == "matmul":
        return y @ x
    return y**2


def equality_of_optional(x):
    y = None
    if x.sum() > 0:
        y = x.sum()
    return (x if y == 6.0 else -x), (x if y != 6.0 else -x)


def best_of_rows(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * x


P, N, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5], [0.25, 0.5]

CASES = [
    (truths_of_different_kinds, [([1.0, 2.0], 0), ([1.0, 2.0], 2), ([-1.0, 0.5], 2), ([-1.0, 0.5], 0)], 1),
    (none_in_a_nested_branch_of_a_loop, [([1.0, 2.0], 0), ([1.0, 2.0], 2), ([-1.0, 0.5], 2)], 1),
    (simple, [(P,), (N,), (Z,)], 1),
    (no_else, [(P,), (N,)], 1),
    (elif_chain, [(P,), ([9.0, 8.0],), (N,), ([-20.0],)], 1),
    (nested, [(P,), (N,), ([2.0, 1.0],), ([-1.0, -0.5],)], 1),
    (python_condition, [(P, True), (P, False), (N, True)], 2),
    (truth_that_is_ambiguous, [(N, 0), (P, 0), (P, 1), (N, -1), (P, -1)], 1),
    (early_return, [(P,), (N,), ([-0.5, -0.25],)], 1),
    (return_none, [(P,), (N,)], 1),
    (ternary, [(P,), (N,), ([-3.0, 4.0],)], 1),
    (value_of_or, [(P, P), (N, P), (N, N)], 1),
    (chained, [(P,), (Z,), (N,)], 1),
    (numbers, [(P,), (N,)], 1),
    (number_or_tensor, [(P,), (N,)], 1),
    (one_sided, [(P,), (N,)], 1),
    (containers_on_one_path, [(P,), (N,)], 1),
    (object_after_a_break, [(P,), (N,)], 1),
    (several_outputs, [(P,), (N,)], 1),
    (tuples, [(P,), (N,)], 1),
    (different_sizes, [(P,), (N,)], 1),
    (sizes_known_on_each_path, [([[1.0, 2.0], [3.0, 4.0]],), ([[1.0, -2.0], [-3.0, -4.0]],)], 1),
    (in_place, [(P,), (N,)], 1),
    (alias, [(P,), (N,)], 1),
    (item_and_casts, [(P,), (N,)], 1),
    (items_by_index, [(P, 0), (N, 1), (P, -2), (P, 5)], 1),
    (members, [(P,), (N,), ([3.0, 1.0],)], 1),
    (extremes, [(P,), (N,), ([3.0, -1.0],)], 1),
    (calls, [(P,), (N,)], 1),
    (closure, [(P,), (N,)], 1),
    (asserted, [(P,), (N,)], 1),
    (concat_of_branch, [(P,), (N,)], 1),
    (truth_of_optional, [(P,), (N,), (Z,)], 1),
    (method_of_optional, [(P,), (N,)], 1),
    (shape_of_optional, [(P,), (N,)], 1),
    (best_of_rows, [(P,), (N,)], 1),
    (operators_of_optional, [(v, which) for v in (P, N) for which in ("add", "rsub", "rmul", "gt", "matmul", "pow")], 6),
    (equality_of_optional, [(P,), (N,), (Z,)], 1),
]
