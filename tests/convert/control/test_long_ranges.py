"""Loops over ranges that a tensor ends are one loop of the Program, where they can be one."""

import importlib

import numpy as np
import pytest
from corpus import long_ranges
from dy2st_runtime.ir.visit import all_ops

from dy2st import jit
from dy2st.convert.control.for_stmt import UNROLLED_EXITS
from dy2st.errors import StagedValueError
from dy2st.tensor import Tensor


def power(limit):
    def function(x):
        for i in range(limit):  # noqa: B007
            x = x * 1.5
            if x.sum() > 100:
                break
        return x, i

    return function


def types(static):
    return [op.type for op in all_ops(static.main_program.global_block())]


def test_the_program_does_not_grow_with_the_range():
    found = {}
    for limit in (UNROLLED_EXITS, 100, 100_000):
        static = jit.to_static(power(limit))
        np.testing.assert_allclose(static(Tensor([1.0]))[0].numpy(), power(limit)(Tensor([1.0]))[0].numpy())
        found[limit] = types(static)
    assert "while_loop" not in found[UNROLLED_EXITS]
    assert found[100] == found[100_000]
    assert found[100].count("while_loop") == 1
    assert len(found[100]) < len(found[UNROLLED_EXITS])


@pytest.mark.parametrize("function", [long_ranges.names_of_python, long_ranges.grows], ids=lambda f: f.__name__)
def test_what_cannot_be_staged_is_unrolled(function):
    """Also by the next trace, which does not try it again."""
    static = jit.to_static(function)
    for x in ([1.0, 2.0], [[1.0, 2.0]]):
        assert [float(v.sum()) for v in static(Tensor(x))[:1]] == pytest.approx([float(v.sum()) for v in function(Tensor(x))[:1]])
    assert "while_loop" not in types(static)
    assert len(static._traces.unrolled) == 1


def test_an_error_in_the_body_is_the_user_s():
    @jit.to_static
    def wrong(x):
        for _ in range(50):
            x = x.reshape([3]) * 2
            if x.sum() > 100:
                break
        return x

    with pytest.raises(ValueError, match="cannot be reshaped") as error:
        wrong(Tensor([1.0, 2.0]))
    assert error.value.location.text.strip() == "x = x.reshape([3]) * 2"


class Endless:
    def __getitem__(self, i):
        return i


def test_what_may_have_no_end_is_not_unrolled_for_ever(monkeypatch):
    monkeypatch.setattr(importlib.import_module("dy2st.convert.control.for_stmt"), "_UNROLL_LIMIT_WITHOUT_END", 20)

    def left_by_a_tensor(x, items):
        for i in items:
            x = x + i
            if x.sum() > 5:
                break
        return x

    with pytest.raises(StagedValueError, match="a break that depends on a tensor has more than 20 iterations"):
        jit.to_static(left_by_a_tensor)(Tensor([1.0]), Endless())
    assert jit.to_static(left_by_a_tensor)(Tensor([1.0]), list(range(30))).item() == 7
