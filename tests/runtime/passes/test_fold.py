"""fold: what depends on small constants or known shapes only is computed at compile time."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.ir import Variable
from dy2st_runtime.ops.fill import assign_value_attrs
from dy2st_runtime.passes.constants import LIMIT, constant_op
from dy2st_runtime.passes.fold import fold

from golden import assert_after  # isort: skip
from hand_built import Made  # isort: skip


def test_chains_in_blocks_and_values_that_differ() -> None:
    m = Made()
    k = m.data("k", [], "bool")
    two = m.b.constant(2, "int64")
    (y,) = m.cond(k, lambda: [m.b.mul(m.b.scaled(two, 3.0), two)], lambda: [two])
    z = m.b.op("stack", X=[two, m.b.scaled(two, 2.0)], axis=0)
    assert_after(
        fold,
        m,
        [y, z],
        """
        data k: bool[]
        fill_constant.Out_0: int64[] = fill_constant(dtype='int64', value=2)
        cond.Out_0: int64[] = cond(Cond=k)
          true_block:
            scale.Out_0: int64[] = fill_constant(dtype='int64', value=6)
            elementwise_mul.Out_0: int64[] = fill_constant(dtype='int64', value=12)
            yield elementwise_mul.Out_0
          false_block:
            yield fill_constant.Out_0
        scale.Out_1: int64[] = fill_constant(dtype='int64', value=4)
        stack.Y_0: int64[2] = assign_value(shape=[2], dtype='int64', int64_values=[2, 4])
        """,
    )


def test_known_shapes_are_constants() -> None:
    m = Made()
    x = m.data("x", [2, 5])
    y = m.b.op("shape", Input=x)
    assert fold(m.program, frozenset({y.name}))
    assert [op.type for op in m.program.global_block().ops] == ["assign_value"]
    assert not fold(open_batch().program)


def open_batch() -> Made:
    m = Made()
    m.b.op("shape", Input=m.data("x", [-1, 5]))
    return m


def test_what_raises_is_left_to_raise() -> None:
    m = Made()
    m.b.op("elementwise_floordiv", X=m.b.constant(1, "int64"), Y=m.b.constant(0, "int64"))
    assert not fold(m.program)
    with pytest.raises(ZeroDivisionError):
        reference.run_program(m.program, {}, {})


def test_large_constants_are_left_alone() -> None:
    m = Made()
    m.b.scaled(m.b.constant(1.0, "float32", [LIMIT + 1]), 2.0)
    assert not fold(m.program)


def test_a_draw_is_no_constant() -> None:
    m = Made()
    m.b.op("print", In=[m.b.constant(1.0, "float32")], parts=["", ""])
    assert not fold(m.program)


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1),
        np.array([np.nan, np.nan], "float64"),
        np.array([0.0, -0.0], "float32"),
        np.array(2**60 + 1),
        np.array([True, False]),
        np.array([[1, 2], [3, 4]], "int32"),
        np.array([np.inf], "float16"),
    ],
)
def test_constants_are_made_to_the_bit(value: np.ndarray) -> None:
    m = Made()
    out: Variable = m.program.global_block().create_var("out", np.asarray(value).dtype.name, np.shape(value))
    m.b.insert(constant_op(np.asarray(value), out.name, None))
    made = reference.run_program(m.program, {}, {})["out"]
    assert made.tobytes() == np.asarray(value).tobytes()
    assert assign_value_attrs(made)["shape"] == list(np.shape(value))
