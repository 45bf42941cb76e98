"""Ints at the end of 64 bits: those that depend on tensors are an error beyond, those of the outside are constants."""

import types

import numpy as np
import pytest

from dy2st import jit, to_tensor
from dy2st.errors import IntegerRangeError
from dy2st.tensor import Tensor

LEAST = -(2**63)
SPACE = types.SimpleNamespace(k=1)


def negative(n):
    return -int(n)


def absolute(n):
    return abs(int(n))


def quotient(n):
    return int(n) // -1


def quotient_by_a_number(n):
    return int(n) // int(n * 0 - 1)


def in_bytes(n):
    return Tensor(np.ones(2, np.uint8)) + int(n)


@pytest.mark.parametrize("function", [negative, absolute, quotient, quotient_by_a_number])
def test_the_least_int_has_no_negative(function):
    static = jit.to_static(function)
    for n in (5, -7, 0, LEAST + 1):
        assert static(Tensor(n)) == function(Tensor(n))
    with pytest.raises(IntegerRangeError, match="64 bits") as caught:
        static(Tensor(LEAST))
    assert caught.value.location.line == function.__code__.co_firstlineno + 1


def test_an_int_beside_a_tensor_that_has_no_room_for_it():
    static = jit.to_static(in_bytes)
    assert static(Tensor(254)).numpy().tolist() == [255, 255]
    for function in (in_bytes, static):
        with pytest.raises(IntegerRangeError, match="300 is out of range for uint8") as caught:
            function(Tensor(300))
    assert caught.value.location.line == in_bytes.__code__.co_firstlineno + 1


def test_a_number_outside_that_changes_to_one_of_more_bits():
    static = jit.to_static(lambda x: x * SPACE.k)
    for k in (1, 2, 3, 2**70, 5, 2**63, LEAST):
        SPACE.k = k
        assert static(Tensor([1.0])).numpy() == np.float32(k)


class Annealed:
    """Numbers that each call changes: they are inputs, as long as a Program can do with them what Python can."""

    def __init__(self):
        self.step, self.state, self.product = 0, 1, 1

    def power(self, x):
        self.step += 1
        print("step", self.step)
        return x * 10**-self.step, 2 ** (2 - self.step)

    def generator(self, x):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return x + self.state % 10

    def grows(self, x):
        self.product *= 1000003
        return x, self.product, self.product % 7


@pytest.mark.parametrize("name", ["power", "generator", "grows"])
def test_numbers_outside_that_no_program_holds_are_pythons(name, capsys):
    eager, static, found = Annealed(), Annealed(), []
    for way, o in ((lambda f: f, eager), (jit.to_static, static)):
        f = way(getattr(o, name))
        found.append([[v if isinstance(v, (int, float)) else v.numpy().tolist() for v in (r if isinstance(r, tuple) else (r,))]
                      for r in (f(to_tensor([1.0, 2.5])) for _ in range(6))])  # fmt: skip
        found[-1].append(capsys.readouterr().out)
    assert found[0] == found[1]
    assert vars(eager) == vars(static)
