"""Tensors that a call keeps in more than one place, or hands on, are one there, or may not be modified in place later."""

import pytest
from keeping import kept

from dy2st import jit, to_tensor
from dy2st.errors import StructureError


def halved_or_given(t, k):
    return halved_or_given(t / 2, k - 1) if k > 0 else t


def test_what_is_not_told_cannot_be_modified():
    keeps = kept()

    @jit.to_static
    def step(n):
        t = halved_or_given(keeps["b"], n)
        keeps["b"] = t if n > 1 else keeps["a"]
        keeps["a"] = t

    step(to_tensor(2))
    with pytest.raises(StructureError, match="may be the same object as another tensor, or not") as caught:
        keeps["b"].add_(1.0)
    assert caught.value.location.text.strip() == 'keeps["b"].add_(1.0)'
    del keeps["a"]
    keeps["b"].add_(1.0)
    assert keeps["b"].item() == 1.25


def test_what_is_not_told_cannot_be_modified_in_a_list_that_may_hold_it_twice():
    keeps = kept()

    @jit.to_static
    def step(n):
        t = halved_or_given(keeps["b"], n)
        for _ in range(n):
            keeps["items"].append(t)

    step(to_tensor(2))
    with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
        keeps["items"][1].add_(1.0)
    del keeps["items"][2]
    keeps["items"][1].add_(1.0)
    assert keeps["items"][1].item() == 1.25


def test_what_a_list_in_a_list_holds_cannot_be_modified_where_it_is_kept_twice():
    keeps = kept()

    @jit.to_static
    def step(n):
        made = [[n * 1.0, n * 2.0 + i] for i in range(n)]
        keeps["a"] = made[0][1]
        for _ in range(n):
            keeps["items"].append(made[0][1])

    step(to_tensor(2))
    for name in ("b", "a"):
        t = keeps[name]
        if name == "b":
            t.add_(1.0)  # nothing to do with it
        else:
            with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
                t.add_(1.0)
    del keeps["a"], t
    with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
        keeps["items"][1].add_(1.0)


def test_what_recursion_makes_and_puts_into_a_list_cannot_be_modified():
    keeps = kept()

    def visit(m):
        if m > 0:
            if m > 1:
                keeps["a"] = m * 1.5
            keeps["items"].append(keeps["a"])
            visit(m - 1)

    jit.to_static(lambda n: visit(n))(to_tensor(2))
    items = keeps["items"][1:]
    for only in (False, True):  # the entries may be one, also when nobody else holds that
        with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
            items[0].add_(1.0)
        if not only:
            del keeps["a"]


def test_what_recursion_keeps_and_returns_cannot_be_modified():
    keeps = kept()

    def visit(t, k):
        if k <= 0:
            return t * 2
        keeps["a"] = t = visit(t, k - 1)
        return t

    @jit.to_static
    def step(n):
        keeps["b"] = visit(keeps["items"][0], n)

    step(to_tensor(2))
    assert keeps["a"].item() == keeps["b"].item() == 0.5
    for key in "ab":
        with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
            keeps[key].add_(1.0)


def test_tensors_in_lists_in_a_growing_list_cannot_be_modified():
    keeps, rows = kept(), []

    @jit.to_static
    def step(n):
        for _ in range(n):
            rows.append([keeps["a"], keeps["b"]])

    step(to_tensor(2))
    with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
        rows[0][1].add_(1.0)
    with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
        keeps["a"].add_(1.0)
    rows.clear()
    keeps["a"].add_(1.0)


def twice_in_one(rows, v):
    rows.append([v, v])


def in_two_lists(rows, v):
    rows.append([v])
    rows.append([v])


def in_an_inner_list(rows, v):
    rows.append([v, [v, v + 1]])


def twice_in_a_list_that_grows(rows, v):
    inner = []
    for _ in range(to_tensor(2)):
        inner.append(v)
    rows.append(inner)


@pytest.mark.parametrize("put", [twice_in_one, in_two_lists, in_an_inner_list, twice_in_a_list_that_grows], ids=lambda f: f.__name__)
def test_a_tensor_that_the_call_puts_into_such_lists_twice(put):
    rows = []

    @jit.to_static
    def step(n):
        for i in range(n):
            put(rows, n + i)

    step(to_tensor(2))
    with pytest.raises(StructureError, match="may be the same object as another tensor, or not"):
        rows[0][0].add_(1)


def test_a_tensor_that_is_in_such_a_list_once_can_be_modified():
    rows = []

    @jit.to_static
    def step(n):
        for i in range(n):
            rows.append([n + i, n * i])

    step(to_tensor(2))
    rows[0][0].add_(to_tensor(5))
    assert [[v.item() for v in row] for row in rows] == [[7, 0], [3, 2]]


def test_a_tensor_under_two_names_of_an_entry_is_one():
    rows, pairs = [], []

    @jit.to_static
    def step(n):
        for i in range(n):
            v = n + i
            rows.append({"a": v, "b": v})
            pairs.append((v, n * i))

    step(to_tensor(2))
    assert rows[1]["a"] is rows[1]["b"] is pairs[1][0]
    assert rows[0]["a"] is not rows[1]["a"]
