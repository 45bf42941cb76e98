"""Tensors outside that become one between calls, and arguments that a call keeps."""

import itertools

import pytest
from dy2st_runtime import config
from guarding import tensor

from dy2st import jit, to_tensor
from dy2st.errors import StructureError

PAIR = [tensor(0.5), tensor(1.0)]


def first_modified(x):
    PAIR[0].add_(x)
    return PAIR[1] * 1


def one_object(x):
    return x if PAIR[0] is PAIR[1] else -x


def one_number(x):
    return x if id(PAIR[0]) == id(PAIR[1]) else -x


def one_in_a_list(x):
    return x if PAIR[0] in [PAIR[1]] else -x


@pytest.mark.parametrize("function", [first_modified, one_object, one_number, one_in_a_list], ids=lambda f: f.__name__)
def test_two_tensors_outside_may_become_one(function):
    static = jit.to_static(function)
    shared = tensor(3.0)
    with config.NO_JIT.override(True):
        for made in itertools.permutations((lambda: [tensor(0.5), tensor(1.0)], lambda: [shared] * 2, lambda: [shared, tensor(2.0)])):
            for make in made:
                found = []
                for f in (function, static):
                    shared.set_value([3.0])
                    PAIR[:] = make()
                    found.append(f(tensor(2.0)).tolist())
                assert found[0] == found[1]
    assert len(static.concrete_programs) == 2


def test_an_argument_is_told_from_a_tensor_outside():
    static = jit.to_static(lambda x: x if x is PAIR[0] else -x)
    PAIR[:] = tensor(1.0), tensor(3.0)
    for _ in range(2):
        assert static(tensor(2.0)).tolist() == [-2.0]
        assert static(PAIR[0]) is PAIR[0]
        PAIR.reverse()
    assert len(static.concrete_programs) == 2


def test_an_argument_that_is_a_tensor_outside_is_not_changed():
    def changes(x):
        same = x is PAIR[0]
        x[0] = 5.0
        return PAIR[0] + x, same

    static = jit.to_static(changes)
    PAIR[:] = tensor(1.0), tensor(3.0)
    assert static(tensor(2.0))[1] is False
    with pytest.raises(StructureError, match="from outside, and it changes it"):
        static(PAIR[0])
    assert PAIR[0].tolist() == [1.0]


class Last:
    """Computes only for another tensor than the last one."""

    def __init__(self):
        self.x, self.y, self.hits = None, None, 0

    def __call__(self, x):
        if self.x is x:
            self.hits += 1
            return self.y
        self.x, self.y = x, x * 2
        return self.y


def test_the_last_argument_is_known_again():
    eager, last = Last(), Last()
    static, a, b = jit.to_static(last), tensor(1.0), tensor(1.0)
    for x in (a, a, b, b, b, tensor(4.0), a):
        assert static(x).tolist() == eager(x).tolist()
        assert (last.hits, last.x is x) == (eager.hits, True)


class Kept:
    value = seen = None


def number_in_its_place(box, x, n):
    box.value = x
    if n > 0:
        box.value = 0


def changed_before_another_takes_its_place(box, x, n):
    box.value = x
    if n > 0:
        x.clip_(0.5)
        box.value = x * 3


def changed_before_a_number_takes_its_place(box, x, n):
    box.value, box.seen = x, [x]
    if n > 0:
        box.seen[0].clip_(0.5)
        box.value = 0


@pytest.mark.parametrize("function", [
    number_in_its_place, changed_before_another_takes_its_place, changed_before_a_number_takes_its_place,
])  # fmt: skip
def test_an_argument_that_is_kept_unless_another_value_takes_its_place(function):
    for make in (lambda f: f, jit.to_static):
        call, box = make(function), Kept()
        for n in (0, 1, 0):
            x = to_tensor([0.25, 2.0])
            call(box, x, to_tensor(n))
            assert (box.value is x) is (n == 0)
            assert isinstance(box.value, int) is (n == 1 and function is not changed_before_another_takes_its_place)
