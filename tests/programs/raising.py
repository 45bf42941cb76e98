"""Exceptions that the function raises itself, or that Python's functions raise while they are traced."""

import dy2st as paddle


def after_a_check(x):
    if x.sum() < 0:
        raise KeyError("negative")
    raise ValueError(f"always {x.sum()}, {float(x.sum()):.1f}")


def assertion_on_one_path(x):
    if x.sum() < 0:
        assert len(x.shape) > 1, f"no matrix, but {x[0]}"
    return x * 2


def assertion_that_never_holds(x):
    assert x is None, f"there is {x.sum().item():.2f}"
    return x


def assertion_with_a_tuple(x, n):
    """What an `assert` says is the argument of its exception, whatever it is."""
    try:
        assert x.sum() > 0, ("negative", int(n), x.min())
        assert n < 2, int(n)
        assert n > 0, [x, {"n": 2}]
    except AssertionError as error:
        (said,) = error.args
        if isinstance(said, tuple):
            return x * said[1] + said[2], len(said[0])
        return (x - said, 0) if isinstance(said, int) else (said[0] * said[1]["n"], len(said))
    return x, -1


def assertion_that_nobody_catches(x, n):
    for v in x:
        assert v < 2.5, (int(n), v)
    assert x.sum() > 0, x
    return x * 2


def handlers_named_in_the_body(x):
    """Python asks for what a handler names where something is raised."""
    try:
        kinds = (KeyError, ZeroDivisionError)
        if x.sum() < 0:
            raise KeyError("k")
        y = x * 2
    except kinds:
        y = x * 3
    try:
        y = y + 1
    except paddle.NoSuchError:
        y = x
    return y


def empty_list_on_one_path(x):
    items = []
    if x.sum() < 0:
        items.pop()
    return x * 2


def nothing_on_one_path(x):
    return x * max([]) if x.sum() < 0 else x


def step_of_zero_on_one_path(x):
    if x.sum() < 0:
        for _ in range(0, 3, 0):
            x = x + 1
    return x * 2


def missing_key_after_a_check(x):
    known = {"a": 1.0}
    assert x.sum() > 0, "negative"
    return x * known["b"]


class Negative(Exception):
    pass


class Coded(ValueError):
    def __init__(self, what, code):
        super().__init__(f"{what}: {code}")
        self.what, self.code = what, code


class Shown(Exception):
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"the value is {self.value}"


def own_class(x):
    if x.sum() < 0:
        raise Negative("negative")
    return x * 2


def own_class_without_arguments(x):
    if x.sum() < 0:
        raise Negative
    return x * 2


def own_class_with_attributes(x, n):
    for i in range(n):
        if x[i] < 0:
            raise Coded(f"entry {i}", {"index": i, "value": x[i]})
        x = x * 1.5
    return x


def own_class_from_another(x):
    if x.sum() < 0:
        raise Negative("negative") from Coded("sum", float(x.sum()))
    return x * 2


def own_class_shown_by_itself(x):
    if x.sum() < 0:
        raise Shown(x.mean())
    return x * 2


def several_arguments(x):
    if x.sum() < 0:
        raise ValueError("negative", 3, x.mean())
    return x * 2


def missing_file(x):
    if x.sum() < 0:
        raise FileNotFoundError(2, "no such file", "weights.npz")
    return x * 2


def require_positive(v):
    if not (v > 0).all():
        raise Negative(f"the least is {v.min():.1f}")


def raised_by_a_helper(x):
    require_positive(x)
    raise Coded("always", len(x))


def handler_of_another_class(x):
    try:
        if x.sum() < 0:
            raise Negative("negative")
        y = x * 2
    except Shown:
        y = x * 3
    return y


def another_on_each_path(x):
    y = [].pop() if x.sum() > 0 else {}["key"]
    return x * y


def no_iterable_on_one_path(x):
    if x.sum() < 0:
        return sum(raised_by_a_helper)
    return x * 2


def no_length_on_one_path(x):
    if x.sum() < 0:
        x = x * len(3)
    return x * 2


def loop_over_none_on_one_path(x):
    found = None
    if x.sum() < 0:
        for i in found:
            x = x + i
    return x * 2


def sizes_of_what_nobody_uses(x, y):
    if x.sum() > 0:
        _ = x + y
    rest = x[1:]
    for _ in range(2):
        rest[y > 0] = 0.0
    return x * 2


def range_of_a_vector(x, limits):
    for _ in range(limits.astype("int64")):
        x = x + 1
    return x


def range_of_a_bool_and_a_caught_vector(x, n):
    for _ in range(x.sum() > 0):
        x = x * 2
    try:
        for _ in range(x[x > n].astype("int32")):
            x = x + 1
    except TypeError:
        x = -x
    return x


def nothing_to_concatenate(x, n):
    rows = []
    for i in range(n):
        rows.append(x * i)
    return paddle.concat(rows)


def nothing_to_stack(x, n):
    rows = []
    for i in range(n):
        rows.append(x * i)
    return paddle.stack(rows)


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]


def compared_no_further(x, n):
    """What is not compared any more raises nothing."""
    if 0 < n <= None:
        x = x * 2
    return x


def tuples_compared_no_further(x, n):
    best = x
    if n > 0 and (n, None) < (3, 4):
        best = x * 2
    return best if 0 < n < "a" else x * 3


def caught_where_it_goes_on(x, n):
    found = 0
    try:
        if 0 < n < None:
            found = 1
    except TypeError as error:
        return x * 2, str(error).startswith("'<' not supported")
    return x, found == 1


CASES = [
    (range_of_a_vector, [(P, [3.0]), (P, [1.0, 2.0]), (P, [])], 2),
    (range_of_a_bool_and_a_caught_vector, [(P, 5), (N, 5), (P, 3)], 1),
    (nothing_to_concatenate, [(P, 2), (P, 0)], 1),
    (nothing_to_stack, [(P, 2), (P, 0)], 1),
    (sizes_of_what_nobody_uses, [(P, [1.0, 2.0]), (P, P), (N, [-1.0]), (N, [1.0, -2.0]), ([-1.0, 2.0], [3.0])], 1),
    (after_a_check, [(P,), (N,)], 1),
    (assertion_on_one_path, [(P,), (N,)], 1),
    (assertion_that_never_holds, [(P,), (N,)], 1),
    (assertion_with_a_tuple, [(P, 1), (P, 3), (N, 5), (P, 0)], 1),
    (assertion_that_nobody_catches, [(P, 1), (N, 3), ([1.0, 2.0], 2)], 1),
    (handlers_named_in_the_body, [(P,), (N,)], 1),
    (empty_list_on_one_path, [(P,), (N,)], 1),
    (nothing_on_one_path, [(P,), (N,)], 1),
    (step_of_zero_on_one_path, [(P,), (N,)], 1),
    (missing_key_after_a_check, [(P,), (N,)], 1),
    (own_class, [(P,), (N,)], 1),
    (own_class_without_arguments, [(P,), (N,)], 1),
    (own_class_with_attributes, [(P, 3), (N, 2), ([1.0, -1.0], 2), (N, 0)], 1),
    (own_class_from_another, [(P,), (N,)], 1),
    (own_class_shown_by_itself, [(P,), (N,)], 1),
    (several_arguments, [(P,), (N,)], 1),
    (missing_file, [(P,), (N,)], 1),
    (raised_by_a_helper, [(P,), (N,)], 1),
    (handler_of_another_class, [(P,), (N,)], 1),
    (another_on_each_path, [(P,), (N,)], 1),
    (no_iterable_on_one_path, [(P,), (N,)], 1),
    (no_length_on_one_path, [(P,), (N,)], 1),
    (loop_over_none_on_one_path, [(P,), (N,)], 1),
    (compared_no_further, [(P, 0), (P, 3), (P, -1)], 1),
    (tuples_compared_no_further, [(P, 0), (P, 4), (P, 3), (P, 1)], 1),
    (caught_where_it_goes_on, [(P, 0), (P, 3)], 1),
]
