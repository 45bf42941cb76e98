"""Entries of lists of dynamic length."""

import copy
import dataclasses
from typing import Any

from .things import STATES, Held


def entry_changed_in_place(x, n):
    rows = []
    for i in range(n):
        rows.append([x, x * i])
    rows[0].append(x)  # error: a list is changed in place which was put into a list of dynamic length, or taken out of one
    return rows


def entry_of_one_path_changed(x):
    row = {"a": x}
    rows = [row] if x.sum() > 0 else [{"a": x * 2}, {"a": x * 3}]  # error: what is put into a list of dynamic length here, or taken out
    row["a"] = x * 4
    return [r["a"] for r in rows]


def object_of_an_attribute_changed_behind_append(x, n):
    STATES[0].h, rows = Held(x.sum()), []
    for v in x[:n]:
        STATES[0].h.x = v
        rows.append(STATES[0].h)  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
    return [r.x for r in rows]


def list_changed_behind_append(x, n):
    rows, row = [], [x]
    for i in range(n):
        row.append(x * i)  # error: a list is changed in place which was put into a list of dynamic length, or taken out of one
        rows.append(row)
    return rows


def dict_changed_behind_append(x, n):
    rows, row = [], {"x": x}
    for _ in range(n):
        row["x"] = row["x"] * 2
        rows.append(row)  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
    return rows


def dict_of_an_entry_changed(x, n):
    rows = []
    for i in range(n):
        rows.append({"x": x * i})
    for row in rows:  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
        row["x"] = row["x"] * 2
    return rows


def dict_put_in_and_changed(x, n):
    rows = []
    row = {"x": x}
    for _ in range(n):
        rows.append(row)  # error: what is put into a list of dynamic length here, or taken out of it, is changed in place
        row["x"] = row["x"] + 1
    return rows


def entries_of_two_structures(x, n):
    rows = [(x, 1)]
    for _ in range(n):
        rows.append((x, 1, 2))  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order
    return rows


@dataclasses.dataclass
class Point:
    """A class whose text needs the value of a tensor: errors say of which class an object is."""

    x: Any


def entries_of_two_classes(x, n):
    rows = [Point(x)]
    for _ in range(n):
        rows.append(Held(x))  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order: one
    return x * len(rows)


def extended_by_another_structure(x, n):
    rows = []
    for i in range(n):
        rows.append((x, i))
        rows.extend([(x, 1, 2)])  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order
    return rows


def added_in_another_structure(x, n):
    rows = []
    for i in range(n):  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order
        rows.append((x, i))
        rows += [(x, 1, 2)]
    return rows


def range_or_list(x, n):
    for i in range(n) if x.sum() > 0 else []:  # error: 'the value of the expression' is what range() gives on the path where
        x = x + i
    return x


def entry_that_may_be_none(x, n):
    rows = [x]
    for _ in range(n):
        rows.append(None)  # error: no entry of 'rows' can be None where others are tensors or numbers, as only the run knows its
    return rows


def entries_with_nothing_in_them(x, n):
    rows = []
    for _ in range(n):
        rows.append(([], {}))  # error: only the run knows the length of 'rows', and there is nothing in its entries
    return x * len(rows)


def record_looked_for(x, n):
    rows = []
    for i in range(n):
        rows.append((i, x))
    return rows.index((1, x))  # error: index() of a list of dynamic length whose entries are put together of others is not supported


def optional_list_printed(x):
    best = [x] if x.sum() > 0 else None
    print(best)  # error: a list that is None on some paths has a text that only the run knows
    return x


def lists_that_may_be_one(x):
    a = b = [x]
    if x.sum() > 0:
        b = [x * 2]
    return a is b  # error: whether the two are one object depends on a condition on tensors


def copy_of_a_list_that_may_be_the_first(x):
    a = b = [x, x * 2]
    if x.sum() > 0:
        a = list(a)
        b.append(x)
    return a is b  # error: whether the two are one object depends on a condition on tensors


def copy_of_a_tensor_that_may_be_the_first(x):
    y = x * 2
    z = copy.copy(y)
    if x.sum() > 0:
        y = z
    y.add_(x)  # error: what is modified in place here is on one path the same object as a tensor or list that is used
    return y * z


def lists_of_two_lengths_that_may_be_one(x, n):
    a, b, rows = [1.0, 2.0], [3.0], [4.0, 5.0]
    if n > 0:
        a = rows
    if x.sum() > 2:
        b = rows
    return x if a is b else -x  # error: whether the two are one object depends on a condition on tensors


def objects_that_may_be_one(x):
    a = b = Held(x)
    if x.sum() > 0:
        b = Held(x * 2)
    return x if a is b else x * 2  # error: whether the two are one object depends on a condition on tensors


class Items(list):
    pass


def list_of_a_class_in_a_list(x, n):
    rows = []
    for v in x[:n]:
        items = Items([v])
        rows.append(items)  # error: all entries of 'rows' must be of one structure, as only the run knows its length or order: Items of 1
        items[0] = v * 2
    return rows[-1][0]


def list_of_a_class_beside_lists(x):
    rows = []
    for v in x:
        rows.append([v])
    rows.append(Items([x.sum()]))  # error: an entry of a list, whose length only the run knows, is Items of 1 (a tensor
    return type(rows[-1]) is Items


def entry_with_keys_in_another_order(x):
    rows = []
    for v in x:
        rows.append({"a": v, "b": v * 2})
    rows.append({"b": x.max(), "a": x.min()})  # error: an entry of a list, whose length only the run knows, is dict of 2 ('b': a tensor
    return list(rows[-1])
