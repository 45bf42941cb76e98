"""Loops over few rows that cannot be loops of the Program are unrolled, for each size anew."""

import warnings

import numpy as np
import pytest
from corpus.unrolled_rows import texts
from dy2st_runtime.ir.visit import all_ops

from dy2st import jit
from dy2st.convert.control.for_stmt import UNROLLED_ROWS
from dy2st.errors import Dy2stError, StagedValueError
from dy2st.static import InputSpec
from dy2st.tensor import Tensor


def by_number(x):
    rows = {}
    for i, v in enumerate(x):
        rows[f"row{i}"] = v if v > 0 else -v
    return rows


def test_each_size_has_its_own_trace():
    static = jit.to_static(by_number)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for size in (2, 3, 1, 4, 3):
            x = np.arange(size) - 1.5
            found, expected = static(Tensor(x)), by_number(Tensor(x))
            assert list(found) == list(expected)
            np.testing.assert_allclose([float(v) for v in found.values()], [float(v) for v in expected.values()])
    assert len(static.concrete_programs) == 4
    assert [str(w.message).partition(" (")[0] for w in said] == ["by_number is traced and compiled anew for each size of its tensors"]
    assert "unrolled while tracing, for this size only" in static.explain()


@pytest.mark.parametrize("function", [by_number, texts], ids=lambda f: f.__name__)
def test_sizes_that_only_the_run_knows_are_refused(function):
    with pytest.raises(Dy2stError) as caught:
        jit.to_static(function, input_spec=[InputSpec([None], "float32")])(Tensor([1.0, -2.0]))
    assert caught.value.location.line > function.__code__.co_firstlineno


def test_many_rows_are_refused():
    static = jit.to_static(by_number)
    assert len(static(Tensor(np.ones(UNROLLED_ROWS)))) == UNROLLED_ROWS
    with pytest.raises(StagedValueError):
        jit.to_static(by_number)(Tensor(np.ones(UNROLLED_ROWS + 1)))


def test_what_can_be_a_loop_is_one():
    @jit.to_static
    def total(x):
        s = x.sum()
        for v in x:
            s = s + v if v > 0 else s
        return s

    total(Tensor([1.0, -2.0]))
    assert "while_loop" in [op.type for op in all_ops(total.main_program.global_block())]
