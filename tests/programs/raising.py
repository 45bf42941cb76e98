"""Exceptions that the function raises itself, or that Python's functions raise while they are traced."""


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


P, N = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.5]

CASES = [
    (after_a_check, [(P,), (N,)], 1),
    (assertion_on_one_path, [(P,), (N,)], 1),
    (assertion_that_never_holds, [(P,), (N,)], 1),
    (empty_list_on_one_path, [(P,), (N,)], 1),
    (nothing_on_one_path, [(P,), (N,)], 1),
    (step_of_zero_on_one_path, [(P,), (N,)], 1),
    (missing_key_after_a_check, [(P,), (N,)], 1),
]
