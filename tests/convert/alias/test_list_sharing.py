"""Two lists of which paths make one, as lists of tensors and as lists of records: they are one after the call, or that is refused."""

import pytest

from dy2st import jit, to_tensor
from dy2st.errors import StructureError

ENTRIES = {"tensors": lambda x, k: x.sum() * k, "tuples": lambda x, k: (x.sum() * k, k), "texts": lambda x, k: f"t{k}"}


class Two:
    def __init__(self, entry, length=1):
        self.entry, start = entry, to_tensor([1.0])
        self.one, self.two = [entry(start, k) for k in range(length)], [entry(start, 3)]

    def each_changes_and_one_hands_over(self, x, n):
        if n > 1:
            self.one.append(self.entry(x, 4))
        else:
            self.one.append(self.entry(x, 5))
            self.two = self.one

    def before_the_change(self, x, n):
        if n > 1:
            self.one.append(self.entry(x, 4))
        else:
            self.two = self.one
            self.one.append(self.entry(x, 5))

    def a_loop_hands_over(self, x, n):
        k = n * 1
        while k > 0:
            self.one = self.two
            k = k - 1
        if n < 2:
            self.two = list(self.one)

    def both_hand_over(self, x, n):
        if n > 1:
            self.one = self.two
        else:
            self.two = self.one
            self.two.append(self.entry(x, 4))

    def both_hand_over_and_change(self, x, n):
        if n > 1:
            self.one = self.two
            self.one.append(self.entry(x, 4))
        else:
            self.one.append(self.entry(x, 5))
            self.one.append(self.entry(x, 6))
            self.two = self.one


def state(two):
    values = [[str(v) for v in items] for items in (two.one, two.two)]
    return *values, two.one is two.two


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize("method", [Two.each_changes_and_one_hands_over, Two.before_the_change, Two.a_loop_hands_over])
@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("length", [1, 2])
def test_what_is_one_list_in_some_runs_is_refused(method, entry, n, length):
    two = Two(entry, length)
    before = state(two)
    with pytest.raises(StructureError, match=r"one that is kept elsewhere too|changed in place after this"):
        jit.to_static(method)(two, to_tensor([1.0, 2.0]), to_tensor(n))
    assert state(two) == before


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize("method", [Two.both_hand_over, Two.both_hand_over_and_change])
def test_what_is_one_list_in_all_runs_is_one(method, entry):
    eager, static = Two(entry), Two(entry)
    for n in (0, 3, 0, 0, 3):
        x, k = to_tensor([1.0, 2.0]), to_tensor(n)
        method(eager, x, k)
        jit.to_static(method)(static, x, k)
        assert state(static) == state(eager)
