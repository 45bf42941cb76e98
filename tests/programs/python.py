"""Python around tensors: closures, methods, containers, exceptions, generators over Python values."""

import copy
import functools

from dy2st.tensor.manipulation import stack


def nonlocal_state(x, n):
    total = x * 0

    def add(v):
        nonlocal total
        if v.sum() > 0:
            total = total + v
        else:
            total = total - v

    for i in range(n):
        add(x * (i - 1))
    return total


def partial_call(x):
    def scaled(k, v):
        if v.sum() > 0:
            return v * k
        return v

    return functools.partial(scaled, 3)(x)


def comprehension(x):
    parts = [x * k if k % 2 else x + k for k in range(4)]
    return stack([p if p.sum() > 0 else -p for p in parts])


def names_with_an_underscore(x, n):
    state_, item_, if_body, get_state = x, x * 2, x * 3, [x]
    while n > 0:
        n -= 1
        if x.sum() > n:
            state_ = state_ + item_
            get_state.append(if_body)
        else:
            if_body = if_body - state_
    return state_, item_, if_body, stack(get_state).sum()


def try_around(x):
    try:
        y = {"a": x}["b"]
    except KeyError:
        y = x * 2
    finally:
        y = y + 1
    return y


def pop_in_loop(x, n):
    todo = [x, x * 2]
    s = x * 0
    for i in range(n):
        todo.append(x * i)
        s = s + todo.pop()
    return s, len(todo)


def return_in_nested_python_loops(x):
    for i in range(3):
        for j in range(3):
            if x.sum() > i * j * 3:
                continue
            return x * i + j
    return x


def star_arguments(x, *rest):
    y = x
    for r in rest:
        if r.sum() > 0:
            y = y + r
    return y


def lambdas(x):
    pick = lambda v: v * 2 if v.sum() > 0 else v * 3  # noqa: E731
    return pick(x) + (lambda v: -v)(x)


def dict_in_branch(x):
    d = {}
    if x.sum() > 0:
        d["y"] = x * 2
    else:
        d["y"] = x * 3
    d["z"] = x
    return d


def tuple_swap_in_loop(x, n):
    pair = (x, x * 2)
    for _ in range(n):
        pair = (pair[1], pair[0] + pair[1])
    return pair[0]


def augmented(x, n):
    y = x * 1
    for i in range(n):
        y += i
        y *= 2
    y -= 1
    return y


def nested_while(x):
    a, b = x.sum() * 0, x.sum() * 0
    while a < 3:
        b = b * 0
        while b < a:
            b += 1
            if b > 1:
                break
        a += 1
    return a, b


def bool_flag(x, n):
    found = False
    for i in range(n):
        if x[i] > 1 and not found:
            found = True
    if found:
        return x * 2
    return x


def shape_arithmetic(x):
    n = x.shape[0]
    half = n // 2
    if n > 2:
        return x[:half]
    return x[half:]


def sum_of_scalar(x):
    return x.sum().sum(), x.mean().max()


def kinds_of_numbers(x, n):
    k, f = int(n), float(x[0])
    both = bool(x[0] > 0) and bool(x[1] > 0)
    return type(k) is int, type(f) is float, round(f * 1.26, 1), round(f), both, x.numel()


def nonlocal_in_a_ternary(x):
    k = x

    def bump(by):
        nonlocal k
        k = k + by
        return k

    y = (bump(2) if x[0] > 0 else bump(3)) if x.sum() > 1 else x
    return y * k


def nonlocal_in_operands(x):
    calls = 0

    def exceeds(v):
        nonlocal calls
        calls += 1
        return x.sum() > v

    y = x if (exceeds(1) and exceeds(2)) or exceeds(-3) else -x
    return y * calls


def nonlocal_in_a_comprehension(x, n):
    k = 0

    def bump(i):
        nonlocal k
        k = k + i
        return x * k

    return [bump(i) for i in range(n)], x * k


class Counter:
    def __init__(self):
        self.n = 0

    def __call__(self):
        self.n += 1
        return True


def object_in_operands(x):
    count = Counter()
    count()
    y = x * 2 if x.sum() > 0 and count() else x
    return y * count.n


def items_replaced_while_looping(x):
    d = {"a": x, "b": x * 2, "c": x + 1}
    s = x * 0
    for k, v in d.items():
        if v.sum() > 0:
            d[k] = v * 2
        s = s + d[k]
    for k in d:
        if x[0] > 0:
            d[k] = d[k] + s
    return s * d["c"]


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]

def deep_copy(x):
    y = copy.deepcopy(x)
    z = copy.deepcopy({"x": x, "n": 2})
    return (y * x + z["x"] * z["n"]).sum()


def deep_copy_on_one_path(x):
    y = x
    if x.sum() > 0:
        y = copy.deepcopy(x)
    return y * x


def deep_copy_of_a_result(x):
    return copy.deepcopy([x * 2, 1])[0]


def list_changed_in_an_operand(x, n):
    calls, noted = [0], {}

    def longer():
        calls[0] += 1
        calls.append(calls[0])
        noted["sum"] = noted.get("sum", 0) + 1
        return len(calls) + x.sum() > 3

    q = x.sum() > 0 and longer()
    r = n > 1 or longer()
    return calls[0], len(calls), noted.get("sum"), q, r


def list_changed_by_a_message(x):
    noted, tried = [], [0]

    def message():
        noted.append("failed")
        tried[0] += 1
        return "too small"

    try:
        assert x.sum() > 0, message()
    except AssertionError:
        tried[0] += 10
    return len(noted), tried[0]


def variables_deleted_in_parentheses(x):
    first, second, items = x, x * 2, [1, 2, 3]
    if x.sum() > 0:
        y = first + second
        del (first, [second])
    else:
        y = first - second
        del [first, second], (items[0],)
    try:
        return y, items, first
    except NameError:
        return y, items, None


def slice(*bounds):
    raise NotImplementedError("is not the one of Python")


def items_where_slice_is_another_function(x):
    y, items = x * 1, [1, 2, 3, 4]
    y[0:1] = y[1:]
    items[1:3] = [7]
    items[:1] += [8]
    del items[2:]
    return y, items


def values_in_the_body_of_a_class(x):
    gone = 1
    del gone
    found = []
    try:
        class Reads:
            value = gone
    except NameError:
        found.append("body")
    try:
        class Default:
            def method(self, value=gone):
                return value
    except NameError:
        found.append("default")

    class Own:
        gone = 2
        for other in range(gone):
            gone = gone + other

    return x, found, Own.gone, Own.other


class Swallowed:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return kind is KeyError


def swallowing_guard():
    return Swallowed()


def manager_that_is_called_like_a_mode(x):
    y = x
    with swallowing_guard():
        if x.sum() > 0:
            y = x * 2
        {}["k"]
        y = x * 3
    return y


def unpacked_where_there_is_nothing_to(x):
    found = []
    for value in (5, [1], [1, 2, 3]):
        try:
            a, b = value
        except (TypeError, ValueError) as e:
            found.append(str(e))
        try:
            a, b, *c = value
            found.append((a, b, c))
        except (TypeError, ValueError) as e:
            found.append(str(e))
        try:
            found.append([b for a, b in [value]])
        except (TypeError, ValueError) as e:
            found.append(str(e))
    return x, found


CASES = [
    (variables_deleted_in_parentheses, [(P,), (N,)], 1),
    (items_where_slice_is_another_function, [(P,)], 1),
    (values_in_the_body_of_a_class, [(P,)], 1),
    (manager_that_is_called_like_a_mode, [(P,), (N,)], 1),
    (unpacked_where_there_is_nothing_to, [(P,)], 1),
    (deep_copy, [([1.0, 2.0],), ([-1.0, 3.0],)], 1),
    (deep_copy_on_one_path, [([1.0, 2.0],), ([-1.0, -3.0],)], 1),
    (nonlocal_state, [(P, 3), (N, 2), (P, 0)], 1),
    (partial_call, [(P,), (N,)], 1),
    (comprehension, [(P,), (N,)], 1),
    (try_around, [(P,)], 1),
    (pop_in_loop, [(P, 3), (P, 0)], 1),
    (return_in_nested_python_loops, [(P,), (N,), ([5.0, 5.0],), ([50.0],)], 1),
    (star_arguments, [(P, N, P)], 1),
    (lambdas, [(P,), (N,)], 1),
    (dict_in_branch, [(P,), (N,)], 1),
    (tuple_swap_in_loop, [(P, 3), (P, 0)], 1),
    (augmented, [(P, 3), (P, 0)], 1),
    (nested_while, [(P,)], 1),
    (bool_flag, [(P, 3), (N, 3)], 1),
    (sum_of_scalar, [(P,), (N,)], 1),
    (kinds_of_numbers, [(P, 3), (N, 0)], 1),
    (shape_arithmetic, [(P,), ([1.0, 2.0],)], 1),
    (nonlocal_in_a_ternary, [(P,), (N,)], 1),
    (nonlocal_in_operands, [(P,), (N,)], 1),
    (nonlocal_in_a_comprehension, [(P, 3), (N, 2), (P, 0)], 1),
    (object_in_operands, [(P,), (N,), (P,)], 1),
    (items_replaced_while_looping, [(P,), (N,)], 1),
    (deep_copy_of_a_result, [([1.0, 2.0],)], 0),
    (list_changed_in_an_operand, [([1.0, 2.0], 1), ([1.0, 2.0], 3), ([-1.0, 0.5], 1), ([-1.0, 0.5], 3)], 1),
    (names_with_an_underscore, [(P, 3), (N, 3), (P, 0)], 1),
    (list_changed_by_a_message, [([1.0, 2.0],), ([-1.0, 0.5],)], 1),
]
