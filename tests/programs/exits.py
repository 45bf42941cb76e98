"""Exceptions and None under staged conditions."""


def raises(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x * 2


def raises_else(x):
    y = x
    if x.sum() > 0:
        y = x * 2
    elif x.sum() < -100:
        raise IndexError("far too small")
    else:
        y = x * 3
    return y + 1


def raises_in_loop(x, n):
    for i in range(n):
        if x[i] < 0:
            raise RuntimeError("found a negative")
        x = x * 2
    return x


def raises_with_values(x, n):
    for i in range(n):
        if x[i] < 0:
            raise ValueError(f"entry {i} is {x[i]:.2f}, of {n}")
    return x


def assert_with_values(x):
    assert x.sum() > 0, f"sum {x.sum():.1f} of " + str(len(x))
    return x


def division(x, n):
    k = 10 // n
    return x * k


def float_division(x, n):
    k = float(n) if x.sum() > 0 else 0.0
    return x * (1 / k)


def float_floor_division(x, n):
    k = 0.0
    for _ in range(n):
        k += 0.5
    return x * (5.0 // k)


def out_of_range(x, n):
    return x[n] * 2


def assert_fails(x):
    assert x.sum() > 0, "must be positive"
    return x * 2


def optional(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    if y is None:
        return x
    return y + 1


def optional_in_loop(x, n):
    best = None
    for i in range(n):
        if best is None or x[i] > best:
            best = x[i]
    return best


def none_or_value(x):
    y = x * 2 if x.sum() > 0 else None
    return y, x


def undefined(x):
    if x.sum() > 0:
        y = x * 2
    return y


def exit_in_the_last_iteration(x):
    for i in range(3):
        x = x * 2
        if x.sum() > 20 or i == 2:
            return x, i
    return []


def never_in_the_first_iteration(x):
    for i in range(3):
        if i > 0 and x.sum() > 20:
            break
        x = x * 2
    return x, i


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]

def break_beside_a_list_as_the_test(x, n):
    stack, out = [x], x * 0
    while stack:
        t = stack.pop()
        out = out + t
        if t.abs().sum() < n:
            stack.append(t * 2 + 1)
        if len(stack) > 5:
            break
    return out


def conditions_of_several_kinds(x, n):
    found = []
    if x.sum() > n:
        found.append(x)
    return [v for v in x if found if v > 0], sum(v for v in x if v > 0 if found)


def list_returned_in_the_loop_that_fills_it(x, n):
    found = []
    for v in x:
        if v > n:
            return found
        found.append(v)
    return found


def list_with_a_flag(x, n):
    found = []
    while True:
        found.append(x)
        if x.sum() < n or len(found) > 5:
            return found, x.sum() > 0
        x = x - 1


def dict_returned_in_the_loop_that_changes_it(x, n):
    counts = {"n": 0, "of": [x[0]]}
    for v in x:
        if v > n:
            return counts
        counts["n"] += 2
        counts["of"][0] = v
    return counts


class Counter:
    n = 0


def object_returned_in_the_loop_that_changes_it(x, n):
    counter = Counter()
    for v in x:
        if v > n:
            return counter
        counter.n += 1
    return counter


def what_the_object_counted(x, n):
    return object_returned_in_the_loop_that_changes_it(x, n).n * x


def tensor_returned_in_the_loop_that_writes_to_it(x, n):
    total = x * 0
    for v in x:
        if v > n:
            return total
        total[0] = total[0] + v
    return total


def returned_from_two_loops(x, n):
    found = []
    for v in x:
        for w in x:
            if v + w > n:
                return found, v
            found.append(v * w)
    return found, x[0]


def set_on_one_path_and_changed(x, n):
    d = {"a": x}
    if x.sum() > n:
        e = d
    if x.sum() > 2:
        e["a"] = x * 2
    return d["a"]


def grown_in_many_steps(x, n):
    # there are 2**40 ways through the branches
    found, h = [], x
    for _ in range(40):
        h = h * 0.9
        if h.sum() > n:
            found.append(h)
        elif h.sum() < -n:
            found.append(h * 2)
    return found


def halved(v):
    while True:
        v = v * 0.5
        if v < 1:
            return v


def root(v):
    try:
        if v < 0:
            raise ValueError(v)
        return v**0.5
    except ValueError:
        return -1.0 * v


def never_without_a_result(x, n):
    # none of the two comes to its end, so their results are never None
    found = []
    for v in x:
        if v > n:
            found.append(halved(v))
            found.append(root(v))
    return found


CASES = [
    (never_without_a_result, [(P, 0), (P, 2), ([-1.0, -2.0], -3), (P, 9)], 1),
    (list_returned_in_the_loop_that_fills_it, [(P, 0), (P, 1), (P, 2), (P, 3)], 1),
    (list_with_a_flag, [(P, 0), (P, 2), ([-1.0, -2.0], 3)], 1),
    (dict_returned_in_the_loop_that_changes_it, [(P, 0), (P, 1), (P, 2), (P, 3)], 1),
    (what_the_object_counted, [(P, 0), (P, 1), (P, 2), (P, 3)], 1),
    (tensor_returned_in_the_loop_that_writes_to_it, [(P, 0), (P, 1), (P, 2), (P, 3)], 1),
    (returned_from_two_loops, [(P, 0), (P, 3), (P, 4), (P, 9)], 1),
    (set_on_one_path_and_changed, [(P, 3), (P, 4), ([-1.0, 2.0], 3)], 1),
    (grown_in_many_steps, [([1.0, 2.0, 3.0], 1), ([-1.0, -2.0, -3.5], 1), ([1.0, 2.0, 3.0], 50)], 1),
    *((f, [([1.0, 2.0], 2), ([-1.0, -0.5], 6), ([0.5, 1.0], 9)], 1)
      for f in (break_beside_a_list_as_the_test, conditions_of_several_kinds)),
    (raises, [(P,), (N,)], 1),
    (raises_else, [(P,), (N,), ([-200.0],)], 1),
    (raises_in_loop, [(P, 3), (N, 2), ([1.0, -1.0], 1), (N, 0)], 1),
    (raises_with_values, [(P, 3), ([1.0, -2.5, 1.0], 3)], 1),
    (assert_with_values, [(P,), (N,)], 1),
    (division, [(P, 3), (P, 0)], 1),
    (float_division, [(P, 2), (P, 0), (N, 2)], 1),
    (float_floor_division, [(P, 2), (P, 0)], 1),
    (out_of_range, [(P, 1), (P, 3)], 1),
    (assert_fails, [(P,), (N,)], 1),
    (optional, [(P,), (N,)], 1),
    (optional_in_loop, [(P, 3), (P, 0), ([3.0, 1.0], 2)], 1),
    (none_or_value, [(P,), (N,)], 1),
    (exit_in_the_last_iteration, [([1.0, 2.0],), ([9.0, 2.0],), ([-1.0, 2.0],)], 1),
    (never_in_the_first_iteration, [([1.0, 2.0],), ([9.0, 2.0],), ([30.0, 2.0],)], 1),
]
