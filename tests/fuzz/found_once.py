"""Programs that the fuzzer has found, made small by it: each showed a disagreement once. `python -m tests.fuzz` prints more."""

# ruff: noqa: B007, F841, UP031  (what is left of them looks like this)

def value_or_none_printed(x, n, m, a):
    best = None
    if n > 0:
        best = int(n)
    print(best, f"{best}", "%s" % best)
    value = x if n > 1 else None
    print(value)
    return x


def assertion_whose_message_fails(x, n, m, a):
    assert n, 0 // 0
    return x


def assertion_whose_message_computes(x, n, m, a):
    for i in range(n):
        assert i < 2, f"bad: {i} {x[i].item():.2f}"
    return x


def body_that_raises(x, n, m, a):
    k = n
    while k > 0:
        k = k - 1
        [][-1]
    return x


def body_that_raises_in_the_end(x, n, m, a):
    items = [x, x * 2]
    for v in x:
        y = items.pop()
    return x, items


def body_that_raises_in_a_branch(x, n, m, a):
    for i in range(n):
        if i == 1:
            for v in x:
                x = x * 2
                raise KeyError(f"{i}")
    return x


def attribute_of_what_a_method_changes(self, x, n, m, a):
    if x.sum() > 0:
        return x
    self.update(x.sum())
    self.total = self.total * 0.5
    return x * 2


PROGRAMS = [
    value_or_none_printed, assertion_whose_message_fails, assertion_whose_message_computes, body_that_raises, body_that_raises_in_the_end,
    body_that_raises_in_a_branch, attribute_of_what_a_method_changes,
]  # fmt: skip
