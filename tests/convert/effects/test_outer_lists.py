"""Lists outside of a function that it appends to, by whatever way it knows them: what it reads of them is what is there at each call."""

import functools

import pytest
from guarding import Box, tensor

from dy2st import jit
from dy2st.convert.pyfacts.code_names import names_of


def around():
    items = []

    def f(x):
        items.append(x.sum().detach())
        return x * items[0] + len(items)

    return f


def handed_to_a_helper():
    items = []

    def push(to, v):
        to.append(v)
        return len(to)

    return lambda x: x * push(items, x.sum().detach())


def by_default():
    def f(x, items=[]):  # noqa: B006
        items.append(x.sum().detach())
        return x * items[0] + len(items)

    return f


def by_keyword_default():
    def f(x, *, items=[], seen={}):  # noqa: B006
        items.append(x.sum().detach())
        seen["n"] = seen.get("n", 0) + 1
        return x * items[0] + len(items) * seen["n"]

    return f


def default_of_a_helper():
    def count(v, items=[]):  # noqa: B006
        items.append(v)
        return len(items)

    return lambda x: x * count(x.sum().detach())


def in_a_tuple():
    box = Box(pair=([], 1))

    def f(x):
        items = box.pair[0]
        items.append(x.sum().detach())
        return x * len(items)

    return f


def unpacked():
    outer = [[]]

    def f(x):
        [items] = outer
        items.append(1)
        return x * len(items)

    return f


def iterated():
    table = {"a": [], "b": []}

    def f(x):
        n = 0
        for items in table.values():
            items.append(2)
            n += len(items)
        return x * n

    return f


def under_a_computed_key():
    table = {"a": [], "b": []}

    def f(x):
        key = "b"
        table["b"].append(x.sum().detach())
        return x * len(table[key])

    return f


def asked_for_by_name():
    box = Box(items=[])

    def f(x):
        box.items.append(1)
        return x * len(getattr(box, "items"))  # noqa: B009

    return f


def in_a_partial():
    def push(to, x):
        to.append(x.sum().detach())
        return x * len(to)

    push = functools.partial(push, [])
    return lambda x: push(x)


def by_its_bound_method():
    items = []
    put = items.append

    def f(x):
        put(x.sum().detach())
        return x * items[0] + len(items)

    return f


READ = [around, handed_to_a_helper, by_default, by_keyword_default, default_of_a_helper, in_a_tuple, unpacked, iterated,
        under_a_computed_key, asked_for_by_name, in_a_partial, by_its_bound_method]  # fmt: skip


@pytest.mark.parametrize("make", READ)
def test_lists_that_are_read_while_they_grow(make):
    eager, static = make(), jit.to_static(make())
    for values in ([1.0, 2.0], [3.0, 4.0], [0.5, 7.0], [1.0, 1.0]):
        assert static(tensor(*values)).tolist() == eager(tensor(*values)).tolist()


def only_appended():
    items, table, box = [], {"loss": []}, Box(items=[])

    def f(x, which):
        items.append(x.sum().detach())
        table["loss"].append(x[0].detach())
        box.items.append(x[which])
        return x * 2

    return f, [items, table["loss"], box.items]


def test_appending_alone_needs_one_trace():
    (eager, expected), (f, found) = only_appended(), only_appended()
    static = jit.to_static(f)
    for values in ([1.0, 2.0], [3.0, 4.0], [0.5, 7.0]):
        eager(tensor(*values), 1)
        static(tensor(*values), 1)
    assert [[v.tolist() for v in items] for items in found] == [[v.tolist() for v in items] for items in expected]
    assert len(static.concrete_programs) == 1, static.explain()


def test_names_of_a_function_of_two_instructions():
    assert not names_of((lambda: None).__code__).looked
    assert names_of((lambda items: items.kept).__code__).looked == {"kept"}


NUMBERS = [2]


def adds_a_number(n):
    NUMBERS.append(n)


def sets_the_numbers():
    global NUMBERS
    NUMBERS = no_such_name  # noqa: F821


def fails_on_both_paths(x, n, a):
    if max:  # noqa: SIM102 - the fault needs the two
        if 1 + a.shape[0]:
            return NUMBERS[0], adds_a_number(n.max()), bool(n.sum() > 1), next((v for v in x if v > no_such_name), x[0])  # noqa: F821
    sets_the_numbers()


def test_a_global_that_is_met_when_it_has_become_a_list_of_dynamic_length():
    static = jit.to_static(fails_on_both_paths)
    for _ in range(2):
        with pytest.raises(NameError):
            static(tensor(1.0, 2.0), tensor(1.0, 2.0), tensor([1.0], [2.0]))
        assert type(NUMBERS) is list
        assert NUMBERS == [2]


def test_a_long_list_of_tensors_that_changes_in_a_loop():
    """It is a chain of as many operations, which nothing may follow by a call for each."""
    static, eager = ([tensor(float(i)) for i in range(400)] for _ in range(2))

    def grown(items, x, n):
        while n > 0:
            items.append(x * n)
            n = n - 1
        return items[3] + len(items)

    for f, items in ((jit.to_static(grown), static), (grown, eager)):
        assert f(items, tensor(2.0), tensor(3)).item() == 406
    assert [v.item() for v in static] == [v.item() for v in eager]
