"""Tensors that a call leaves in an attribute, item or global are the objects that eager mode leaves there."""

import pytest
from dy2st_runtime import config
from keeping import held, kept

from dy2st import jit, to_tensor

NUMBERS = (3, 0, 1, 3, 2, 0, 4, 1, 1)


def either(k, x, n):
    k["a"] = k["a"] if n > 1 else k["b"]


def one_or_the_other(k, x, n):
    k["a"] = n * 1.0 and k["b"]


def exchanged(k, x, n):
    if n > 2:
        k["a"], k["b"] = k["b"], k["a"]
    elif n > 0:
        k["box"].value = k["a"]


def new_key(k, x, n):
    if n > 2:
        k["c"] = k["b"]
    elif n > 1:
        k["a"] = k.get("c", k["a"])


def none_or_a_tensor(k, x, n):
    k["box"].value = k["a"] if n > 1 else None


def number_or_a_tensor(k, x, n):
    k["c"] = k["a"] if n > 1 else 0.5


def made_by_the_call(k, x, n):
    t = x.sum()
    if n > 2:
        k["a"] = t
    if n > 0:
        k["b"] = t


def the_argument(k, x, n):
    if n > 2:
        k["a"] = x
    if n != 1:
        k["b"] = k["a"]


def in_a_loop(k, x, n):
    for i in range(n):
        if i == 2:
            k["a"] = k["b"]
        elif i == 1:
            k["b"] = k["items"][0]


def made_in_a_loop(k, x, n):
    for i in range(n):
        t = x.sum() * i
        k["a"] = t
        if i == 1:
            k["b"] = t


def made_in_a_loop_in_a_loop(k, x, n):
    for i in range(n):
        for j in range(n):
            t = x.sum() * i + j
            k["a"] = t
        k["b"] = t


def best_of_a_loop(k, x, n):
    best = k["a"]
    for t in (k["b"], k["items"][0]):
        if t > best:
            best = t
            break
    k["box"].value = best


def largest(k, x, n):
    k["box"].value = max(k["a"], k["b"], k["items"][-1])


def item_of_the_run(k, x, n):
    every = [k["a"], k["b"], k["box"].value]
    k["a"] = every[n % 3]


def raised(k, x, n):
    try:
        if n > 1:
            k["a"] = k["b"]
            if n > 2:
                raise ValueError
        k["b"] = k["items"][0]
    except ValueError:
        k["box"].value = k["a"]


def appended(k, x, n):
    k["items"] = k["items"][:1]
    if n > 1:
        k["items"].append(k["a"])
    if n > 2:
        k["b"] = k["items"].pop()


def appended_in_a_loop(k, x, n):
    del k["items"][1:]
    for i in range(n):
        t = x.sum() * i
        k["items"] += [t, k["a"], t]
    k["b"] = k["items"][-1]


def set_at_an_index(k, x, n):
    k["items"] = [k["a"], k["b"], k["items"][0]]
    k["items"][n % 3] = k["box"].value


def twice_the_entries(k, x, n):
    items = []
    for i in range(n):
        items.append(x.sum() * i)
    k["items"] = [k["a"]] + items * 2


def sorted_and_cut(k, x, n):
    k["items"] = sorted([k["a"], k["b"], k["box"].value])[: n + 1]


def in_tuples(k, x, n):
    k["rows"] = rows = []
    for i in range(n):
        rows.append((k["a"], x.sum() * i))
    if rows:
        k["b"] = rows[0][0]


def returned_too(k, x, n):
    t = x.sum()
    k["a"] = t if n > 1 else k["b"]
    return t


def stopped(k, x, n):
    t = x.sum() * 2
    k["a"] = t if n > 1 else k["b"]
    t.stop_gradient = True
    k["box"].value = t


def handed_on(t, u, k):
    return handed_on(u, t, k - 1) if k > 0 else t


def by_recursion(k, x, n):
    t = x.sum()
    k["a"] = handed_on(k["b"], t, n)
    k["box"].value = t if n > 2 else k["a"]


def both(t, u, k):
    if k <= 0:
        return t, u
    t, u = both(u, t, k - 1)
    return (t, u) if k == 2 else (u, t)


def exchanged_by_recursion(k, x, n):
    first = k["a"]
    k["a"], k["b"] = both(k["a"], k["b"], n)
    k["c"] = first


def with_what_is_outside(k, x, n):
    t = x.sum()

    def best(m):
        if m <= 0:
            return k["a"]
        found = best(m - 2)
        return t if m == 3 else found

    k["b"] = best(n)
    k["c"] = t


def halved(t, k):
    return halved(t / 2, k - 1) if k > 0 else t * 1


def made_by_recursion(k, x, n):
    t = halved(k["b"], n)
    k["box"].value = halved(t, n)
    k["a"] = t if n > 1 else k["b"]
    for v in range(n):
        k["items"].append(t)
        k["items"].append(halved(x, v))
        if v > 1:
            k["b"] = t


def list_by_recursion(k, x, n):
    def collected(m):
        if m > 0:
            return [*collected(m - 1), k["b"] if m > 2 else x]
        return [k["a"]]

    k["items"] = collected(n)
    k["box"].value = x


def state_of_recursion(k, x, n):
    def visit(m):
        if m <= 0:
            return k["b"]
        for _ in x:
            k["b"] = visit(m - 1)
        return k["a"]

    x = x.reshape([1])
    visit(n)


def appended_as_a_loop_keeps_it(k, x, n):
    t = x * 2
    for i in range(n):
        if i == 1:
            t = x * 3
        k["items"].append(t)


def appended_and_exchanged_by_a_loop(k, x, n):
    s, t = x * 2, x * 3
    for _ in range(n):
        s, t = t, s
        k["items"].append(s)


def appended_once_by_each_iteration(k, x, n):
    t = x * 2
    for _ in range(n):
        k["items"].append(t)
        t = t + 1


def appended_by_recursion(k, x, n):
    s = x * 2

    def visit(t, m):
        if m > 0:
            k["items"].append(t)
            k["items"].append(s)
            visit(t, m - 1)

    visit(x * 3, n)


def appended_that_another_loop_has_made(k, x, n):
    made = [x * i for i in range(n + 1)]
    for _ in range(n):
        k["items"].append(made[1])


def exchanged_for_an_entry(k, x, n):
    made = [x * i for i in range(n + 1)]
    for _ in range(n):
        k["a"], k["b"] = k["b"], made[0]


def one_entry_by_turns(k, x, n):
    made = [x * i for i in range(n + 1)]
    for i in range(n):
        if i == 0:
            k["a"] = made[0]
        else:
            k["b"] = made[0]


def entry_of_a_sorted_copy(k, x, n):
    made = [x * i for i in range(n + 1)]
    k["a"], k["b"] = made[-1], sorted(made, key=lambda t: -t)[0]


def entry_of_an_extended_list(k, x, n):
    made, other = [x * i for i in range(n + 1)], []
    other.extend(made)
    k["a"], k["b"] = made[n], other[-1]


def appended_before_a_raise(k, x, n):
    try:
        if n:
            k["items"].append(k["a"])
            raise KeyError
    except KeyError:
        k["box"].value = x * 1


def appended_by_turns(k, x, n):
    made = []
    for i in range(n):
        made.append(x + i)
    for _ in range(n):
        for t in made:
            k["items"].append(t)


def in_a_list_that_its_path_makes(k, x, n):
    if n > 1:
        k["a"] = x * 2
        items = [x * 3, k["a"]]
    else:
        items = [x * 4]
    k["items"] = items


def in_a_list_of_either_path(k, x, n):
    if n > 1:
        k["a"] = x * 2
        items = [x * 3, k["a"]]
    else:
        k["a"] = x + 1
        items = [k["a"]]
    k["items"] = items


def in_a_list_that_an_iteration_makes(k, x, n):
    items = [x * 4]
    for i in range(n):
        k["a"] = x * i
        items = [k["a"], x * 3]
    k["items"] = items


FUNCTIONS = [
    by_recursion, made_by_recursion, state_of_recursion, exchanged_by_recursion, with_what_is_outside, list_by_recursion,
    either, one_or_the_other, exchanged, new_key, none_or_a_tensor, number_or_a_tensor, made_by_the_call, the_argument, in_a_loop,
    made_in_a_loop, made_in_a_loop_in_a_loop, best_of_a_loop, largest, item_of_the_run, raised, appended, appended_in_a_loop,
    set_at_an_index, twice_the_entries, sorted_and_cut, in_tuples, returned_too, stopped,
    appended_as_a_loop_keeps_it, appended_and_exchanged_by_a_loop, appended_once_by_each_iteration, appended_by_recursion,
    appended_that_another_loop_has_made, appended_by_turns, exchanged_for_an_entry, one_entry_by_turns, entry_of_a_sorted_copy,
    entry_of_an_extended_list, appended_before_a_raise, in_a_list_that_its_path_makes, in_a_list_of_either_path,
    in_a_list_that_an_iteration_makes,
]  # fmt: skip


def stepping(function, keeps):
    """A function that modifies what is kept, then does this."""

    def step(x, n):
        for t in (keeps["a"], keeps["b"], keeps["items"][0]):
            t.add_(1.0)
        return function(keeps, x, n)

    return step


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("native", [False, True])
def test_what_is_kept_is_the_same_object(function, native):
    eager, static = kept(), kept()
    calls = stepping(function, eager), jit.to_static(stepping(function, static))
    with config.NO_JIT.override(not native):
        for i, n in enumerate(NUMBERS if not native else NUMBERS[:4]):
            states = []
            for call, keeps in zip(calls, (eager, static), strict=True):
                x = to_tensor(float(i))
                given = call(x, to_tensor(n))
                rows = [[(t.tolist(), t is keeps["a"]) for t in row] for row in keeps.get("rows", ())]
                mine = [keeps["a"] is x, keeps["b"] is x, given is not None and (given is keeps["a"], given.tolist())]
                states.append((held(keeps), rows, mine))
            assert states[0] == states[1]


def test_a_change_outside_of_the_function_is_seen():
    eager, static = kept(), kept()
    for keeps, make in ((eager, lambda f: f), (static, jit.to_static)):
        make(stepping(either, keeps))(to_tensor(1.0), to_tensor(0))
        keeps["b"].add_(5.0)
    assert held(eager) == held(static)
