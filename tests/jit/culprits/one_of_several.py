"""Containers and objects that are one of several, or are kept twice."""

import contextlib

from .things import ONES, TWINS, Count, Frozen, Held, Slotted, SlottedState, State, Tagged, Vector


def list_of_two_names_that_a_raise_leaves(x, n):
    one, other = [x.max()], [x.max()]
    try:  # error: a list, dict or object is changed in place after this, which is one or another one
        if n > 0:
            one = other = [x.sum()]
            raise ValueError
    except ValueError:
        x = x * 2
    one[0] = x.min()
    return other[0]


def list_that_may_be_the_other(x):
    a = [x]
    b = a
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        b = [x * 2]
    b[0] = b[0] + 1
    return a[0]


def list_made_beside_one_of_another_length(x, n):
    if n > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        one = [x.sum() * 2]
        other = one
    else:
        one = [x.sum() * 2]
        other = one + one
    one[0] = x.max()
    return sum(other)


def row_that_may_be_another_filled_by_a_tensor(x):
    rows = [[], []]
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        rows[1] = rows[0]
    rows[1][:] = x
    return rows


def list_in_a_place_that_may_be_another(x):
    a = [x, x]
    rows = [a, a]
    if x.sum() > 0:
        rows[0] = [x * 2]
    a[1] = x * 5  # error: what is modified in place here is on one path the same object as a tensor or list that is used at
    return rows[0][-1]


def list_in_an_object_that_may_be_another(x):
    a = [x, x]
    held = Held(a)
    if x.sum() > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        held = Held([x * 2])
    a[1] = x * 5
    return held.x[-1]


def list_of_an_object_made_on_a_path_that_may_be_another(x, n):
    entry, held, rows = [3.0], Held([[6.0], [7.0]]), [1.0, 2.0]
    if n != 2:
        rows = held.x[1]
    if n > 0:  # error: a list, dict or object is changed in place after this, which is one or another one
        held = Held([rows, entry])
    entry.clear()
    return held.x[1]


def object_that_may_be_the_other(x, n):
    first = State(x)
    s = first
    for _ in range(n):  # error: a list, dict or object is changed in place after this, which is one or another one
        s = State(s.h * 2)
    s.h = s.h + 1
    return first.h


KEPT = {"one": {"a": 1.0}, "other": {"a": 2.0}, "long": [1.0, 2.0], "short": [], "rows": [{"a": 3.0}], "lists": [[1.0], [2.0]],
        "pair": [{"a": 4.0}, {"a": 5.0}], "held": Held([3.0]), "none": None}  # fmt: skip


def dict_kept_twice(x):
    if x.sum() > 0:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        KEPT["one"] = KEPT["other"]
    return x


GLOBAL = [1]


def list_of_a_global_kept_twice(x):
    if x.sum() > 0:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        KEPT["none"] = GLOBAL
    return x


def list_of_a_lambda_kept_twice(x):
    if x.sum() > 0:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        KEPT["none"] = (lambda: GLOBAL)()
    return x


def list_kept_twice_by_an_exit(x):
    def found():
        if x.sum() > 0:  # noqa: SIM102
            if x.sum() > 1:
                return KEPT["short"]
        return [v for v in x]  # noqa: C416

    KEPT["long"] = found()
    return x  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too


IN_AN_ATTRIBUTE = Held({"one": [1.0], "other": [2.0]})


def list_of_an_attribute_kept_twice(x):
    if x.sum() > 0:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        IN_AN_ATTRIBUTE.x["other"] = IN_AN_ATTRIBUTE.x["one"]
        if x.sum() > 1:
            IN_AN_ATTRIBUTE.x["one"] = [x.sum()]
    return x


def list_of_an_argument_kept_twice(x):
    def exchange(items):
        if x.sum() > 0:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
            items["one"] = [x.sum()]
        else:
            items["other"] = items["one"]

    exchange(IN_AN_ATTRIBUTE.x)
    return x


def list_kept_twice(x):
    if x.sum() > 0:
        KEPT["long"] = KEPT["short"]
    return x  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too


def list_kept_twice_and_returned(x):  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept
    if x.sum() > 0:
        KEPT["long"] = KEPT["short"]
    if x.sum() > 0:
        return [2.0]
    return KEPT["short"]


def list_kept_twice_perhaps_once_more(x):
    def change():
        KEPT["short"] = []
        if x.sum() > 0:
            KEPT["long"] = KEPT["short"]

    change()
    try:
        x = x * int(x.sum())
    except OverflowError:
        change()
    return x  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too


def entry_kept_twice_after_iterations(x, n):
    held, entry = Held([{"a": 1.0}, {"a": 2.0}]), {"a": 3.0}
    for _ in range(n):  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        KEPT["pair"] = held.x
        held = Held([held.x[1], entry])
    KEPT["one"] = entry
    return x


def entry_that_the_iteration_before_has_left(x, n):
    entry, last = {"a": 3.0}, {"a": 4.0}
    for _ in range(n):  # error: what is in a list of dynamic length is held there as a copy, where eager mode has one list, dict or object
        KEPT["rows"] = [last, {"a": 5.0}]
        last = entry
    KEPT["one"] = entry
    return x


def entry_kept_of_a_list_that_is_replaced(x, n):
    rows = Held(KEPT["lists"])
    held = Held(rows.x[0])
    if n == 2:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        rows.x = [[4.0], [1.0, 2.0]]
        rows.x.pop()
        KEPT["held"].x, held.x = held.x, KEPT["held"].x
    return x


def dict_kept_twice_where_another_path_raises(x):
    if x.sum() < -5:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        raise ValueError("negative")
    elif x.sum() > 0:
        KEPT["one"] = KEPT["other"]
    return x


TABLE = [5.0]


def table_of_the_module_kept_perhaps(x):
    if x.sum() > 0:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        KEPT["held"].x = TABLE
    return x


def dict_kept_twice_where_it_is_raised(x, n):
    try:  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too
        if x.sum() > 0:
            for _ in range(n):
                KEPT["one"] = KEPT["other"]
            raise KeyError("one")
    except KeyError:
        x = x * 2
    return x


def dict_of_the_caller_perhaps(x):
    def extended(d):
        e = d if x.sum() > 0 else {"a": x * 2}  # error: a list, dict or object is changed in place after this, which is one
        e["a"] = e["a"] + 1
        return d["a"] * e["a"]

    return extended({"a": x})


def swapped_and_changed(x, n):
    a, b = [x], [x * 2]
    first = a
    for _ in range(n):  # error: a list, dict or object is changed in place after this, which is one or another one
        a, b = b, a
    a[0] = a[0] + 1
    return first[0]


def sorted_and_changed(x):
    a, b = {"k": x[0]}, {"k": x[1]}
    first = sorted([a, b], key=lambda d: d["k"])[0]  # error: a list, dict or object is changed in place after this, which is one or
    first["k"] = x.sum()
    return a["k"], b["k"]


def argument_of_recursion_changed(x, n):
    def halved(d, k):
        if k <= 0:
            return d
        return halved({"a": d["a"] / 2}, k - 1)

    d = {"a": x}
    e = halved(d, n)  # error: a list, dict or object is changed in place after this, which is one or another one, as only the run knows
    e["a"] = x * 3
    return d["a"]


def read_by_recursion_and_modified(x, n):
    y = x * 2

    def best(k):
        if k <= 0:
            return y
        found = best(k - 2)
        return x if k == 3 else found

    found = best(n)
    y.add_(1.0)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    return found * 1


def entry_kept_too(x, n):
    for _ in range(n):
        KEPT["rows"].append(KEPT["one"])  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


def entry_taken_out_and_kept(x, n):
    for i in range(n):
        KEPT["rows"].append({"a": float(i)})
    KEPT["one"] = KEPT["rows"][0]  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


def entry_kept_twice(x, n):
    row = {"a": 0.5}
    for _ in range(n):
        KEPT["rows"].append(row)  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


def entries_kept_in_two_lists(x, n):
    for i in range(n):
        KEPT["rows"].append({"a": float(i)})
    KEPT["short"] = KEPT["rows"][1:]  # error: what is in a list of dynamic length is held there as a copy, where eager
    return x


def entry_kept_elsewhere_before_a_raise(x, n):
    try:  # error: what is in a list of dynamic length is held there as a copy, where eager mode has one list, dict or object
        if n > 0:
            row = {"a": float(n)}
            KEPT["one"] = row
            KEPT["rows"].append(row)
            raise ValueError
    except ValueError:
        x = x * 2
    return x


def list_of_an_exception_kept_twice(x, n):
    try:
        if n > 0:
            row = [x.sum()]
            KEPT["long"] = row
            raise ValueError(row)
    except ValueError as e:
        KEPT["short"] = e.args[0]
    return x  # error: a list, dict or object that is kept after the call is, in some runs, one that is kept elsewhere too


def list_of_an_iteration_in_a_handler(x):
    first = [x]
    try:
        for v in x:  # error: a list, dict or object is changed in place after this, which is one or another one, as only the run knows
            if v > 100:
                same = first
            if v > 0:
                raise ValueError
            first = [x * 2]
    except ValueError:
        same[0] = x * 5
    return first


def tensor_with_an_attribute_on_one_path(x):
    y = x * 2
    y.flag = 7
    if x.sum() > 0:  # error: a tensor with the attribute 'flag' is one of several, as only the run knows
        y = x * 3
    return hasattr(y, "flag")


def tensor_with_an_attribute_in_a_list_of_dynamic_length(x):
    y = x * 2
    y.flag = 7
    rows, i = [], 0
    while x.sum() > i:
        rows.append(y)  # error: a tensor with the attribute 'flag' is one of several, as only the run knows
        i += 1
    return [hasattr(row, "flag") for row in rows]


def object_with_slots_made_on_a_path(x):
    held = Slotted(x)
    if x.sum() > 0:  # error: 'held' is an object of class Slotted on the path where the condition is true and an object of class Slotted
        held = Slotted(x * 2)
    return held.x


def dataclass_with_slots_in_a_loop(x, n):
    state = SlottedState(x)
    for v in x[:n]:  # error: 'state' is an object of class SlottedState on entering the loop and an object of class SlottedState on the
        state = SlottedState(state.h + v)
    return state.h


def dataclass_with_slots_chosen(x):
    a, b = SlottedState(x), SlottedState(x * 2)
    c = a if x.sum() > 0 else b  # error: 'the value of the expression' is an object of class SlottedState on the path
    c.h = c.h + 1
    return a.h, b.h


def objects_with_slots_in_a_list(x):
    rows = []
    for v in x:
        if v > 0:
            rows.append(Slotted(v))  # error: all entries of 'rows' must be of one structure
    return len(rows)


def frozen_dataclass_changed(x):
    a, b = Frozen(x), Frozen(x * 2)
    c = a if x.sum() > 0 else b  # error: an object of class Frozen, which is not to change, gets another attribute after this
    c.put(x * 3)
    return a.h, b.h


def frozen_dataclass_changed_in_a_loop(x, n):
    a = c = Frozen(x)
    for v in x[:n]:  # error: an object of class Frozen, which is not to change, gets another attribute after this
        c.put(c.h + v)
        c = Frozen(c.h * 2)
    return a.h, c.h


def named_tuple_with_an_attribute(x):
    tagged = Tagged(x)
    if x.sum() > 0:  # error: 'tagged' is Tagged of 1 (a tensor float32[2]) on the path where the condition is true and Tagged of 1
        tagged = Tagged(x * 2)
    return tagged.tag


def tuple_of_a_class(x):
    pair = Vector([x, x])
    if x.sum() > 0:  # error: 'pair' is Vector of 2 (a tensor float32[2], a tensor float32[2]) on the path where the condition is true
        pair = Vector([x * 2, x])
    return pair[0]


def arrays_with_the_same_in_them(x):
    kept = ONES
    if x.sum() > 0:  # error: 'kept' is ndarray array([
        kept = TWINS
    kept[0] = 5.0
    return x * ONES[0]


def number_or_one_of_a_class(x):
    k = 1
    if x.sum() > 0:  # error: 'k' is an object of class Count on the path where the condition is true and a Python int 1 on the path
        k = Count(1)
    return x * (k + 1)


def sets_of_two_classes_of_numbers(x):
    found = frozenset([1, 2])
    if x.sum() > 0:  # error: 'found' is frozenset frozenset({1.0, 2.0}) on the path where the condition is true and frozenset
        found = frozenset([1.0, 2.0])
    return x * sum(found)


def tuples_that_may_be_one(x):
    best, new = (0.0, None), (x.sum(), 1)
    if new[0] > best[0]:
        best = new
    return x if best is new else -x  # error: whether the two are one object depends on a condition on tensors


def special_method_of_a_class_on_one_path(x):
    class Sized:
        def __len__(self):
            return 2

    if x.sum() > 0:
        Sized.__len__ = lambda self: 3  # error: which __len__() class Sized has is only known when the program runs
    return x * len(Sized())


def texts_joined_of_a_dynamic_list(x):
    return ",".join(map(str, [v for v in x if v > 0]))  # error: map() has a length that is only known at run time


def list_of_texts_joined(x):
    found = []
    if x[0] < 0:
        found.append("negative")
    if x[0] > 0:
        raise ValueError(", ".join(found))  # error: a list of dynamic length cannot be iterated over here
    return x


def dicts_with_keys_of_two_classes(x):
    if x.sum() > 0:  # error: 'd' is dict of 1
        d = {1: x}
    else:
        d = {True: x}
    return x * next(iter(d))


def exceptions_of_a_path_named(x):
    kind = KeyError if x.sum() > 0 else ValueError
    try:
        return x * {}["k"]
    except kind:  # error: a value is one of several objects (<class 'KeyError'>, <class 'ValueError'>), as a condition on tensors decides
        return x


def exceptions_of_a_path_suppressed(x):
    kind = KeyError if x.sum() > 0 else ValueError
    with contextlib.suppress(kind):  # error: a value is one of several objects (<class 'KeyError'>, <class 'ValueError'>), as a
        return x * {}["k"]
    return x


def filtered_by_a_function_or_none(x):
    f = None if x.sum() > 0 else (lambda v: v > 0)
    return list(filter(f, [2, 0, -1]))  # error: a value is one of several objects (None, <function


def names_of_one_of_two(x):
    f = max if x.sum() > 0 else min
    return x * len(dir(f))  # error: a value is one of several objects


def entry_of_a_list_that_grows_behind_a_raise(x, n):
    t = [x.max()]
    rows = [[v + 0] for v in x]
    try:  # error: a list, dict or object is changed in place after this, which is one or another one
        if n > 0:
            t = [x.sum() * 2]
            rows = []
            for _ in x:
                rows.append(t)
            raise ValueError
    except ValueError:
        x = x * 2
    t.append(x.min())
    return len(t), len(rows[0])


def list_of_a_sorted_entry_changed(x, n):
    first, second = [], []
    for _ in range(n):
        first.append(1)
        second.append(2)
    rows = sorted([(x[0], first), (x[1], second)], key=lambda row: row[0])
    rows[0][1].append(3)  # error: a list is changed in place which was put into a list of dynamic length, or taken out of one
    return len(first), len(second)
