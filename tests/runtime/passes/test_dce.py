"""dce: what nobody needs goes, effects and what can raise stay."""

from __future__ import annotations

import pytest
from dy2st_runtime.ir import Variable
from dy2st_runtime.passes.dce import dce

from golden import assert_after  # isort: skip
from hand_built import Made  # isort: skip


def test_results_of_a_branch() -> None:
    m = Made()
    x, k = m.data("x", [3]), m.data("k", [], "bool")
    y, _ = m.cond(k, lambda: [m.b.relu(x), m.b.exp(x)], lambda: [x, m.b.tanh(x)])
    assert_after(
        dce,
        m,
        [y],
        """
        data x: float32[3]
        data k: bool[]
        cond.Out_0: float32[3] = cond(Cond=k)
          true_block:
            relu.Out_0: float32[3] = relu(X=x)
            yield relu.Out_0
          false_block:
            yield x
        """,
    )


def test_loop_variables_and_saved_values() -> None:
    m = Made()
    x, n = m.data("x", [3]), m.data("n", [], "int64")

    def body(i: Variable, h: Variable, unused: Variable, feeds_unused: Variable) -> list[Variable]:
        return [m.b.scaled(i, 1.0, 1.0), m.b.relu(h), m.b.add(unused, feeds_unused), m.b.exp(feeds_unused)]

    (_, h, *_), _ = m.loop(lambda i, *_: m.b.less_than(i, n), body, [m.b.constant(0, "int64"), x, x, x], saved=[1, 2])
    assert_after(
        dce,
        m,
        [h],
        """
        data x: float32[3]
        data n: int64[]
        fill_constant.Out_0: int64[] = fill_constant(dtype='int64')
        while_loop.Out_0: int64[], while_loop.Out_1: float32[3] = while_loop(X=[fill_constant.Out_0, x])
          cond_block(p_0: int64[], p_1: float32[3]):
            less_than.Out_0: bool[] = less_than(X=p_0, Y=n)
            yield less_than.Out_0
          body_block(p_4: int64[], p_5: float32[3]):
            scale.Out_0: int64[] = scale(X=p_4, bias=1)
            relu.Out_0: float32[3] = relu(X=p_5)
            yield scale.Out_0, relu.Out_0
        """,
    )


def test_state_that_only_passes_through_a_branch() -> None:
    m = Made()
    x, n, k = m.data("x", [3]), m.data("n", [], "int64"), m.data("k", [], "bool")

    def body(i: Variable, h: Variable, other: Variable) -> list[Variable]:
        h, other = m.cond(k, lambda: [m.b.relu(h), m.b.exp(other)], lambda: [h, other])
        return [m.b.scaled(i, 1.0, 1.0), h, other]

    (_, h, _), _ = m.loop(lambda i, *_: m.b.less_than(i, n), body, [m.b.constant(0, "int64"), x, x])
    dce(m.program, frozenset({h.name}))
    (loop,) = (op for op in m.program.global_block().ops if op.type == "while_loop")
    assert len(loop.input("X")) == 2


def test_effects_and_what_can_raise_stay() -> None:
    m = Made()
    x, k = m.data("x", [3]), m.data("k", [], "bool")

    def true() -> list[Variable]:
        m.b.op("print", In=[m.b.relu(x)], parts=["", ""])
        return [m.b.exp(x)]

    m.cond(k, true, lambda: [x])
    m.b.op("gather", X=x, Index=m.b.constant(7, "int64", [1]))
    assert_after(
        dce,
        m,
        [],
        """
        data x: float32[3]
        data k: bool[]
        cond(Cond=k)
          true_block:
            relu.Out_0: float32[3] = relu(X=x)
            print(In=[relu.Out_0], parts=['', ''])
          false_block:
        fill_constant.Out_0: int64[1] = fill_constant(shape=[1], dtype='int64', value=7)
        gather.Out_0: float32[1] = gather(X=x, Index=fill_constant.Out_0)
        """,
    )


def test_what_can_fail_because_of_sizes_stays() -> None:
    m = Made()
    x, y, k = m.data("x", [-1]), m.data("y", [-1]), m.data("k", [], "bool")
    m.cond(k, lambda: [m.b.add(x, y)], lambda: [x])
    m.b.add(x, m.b.exp(x))
    m.b.add(x, y)
    m.b.mul(y, m.b.exp(x))
    assert_after(
        dce,
        m,
        [],
        """
        data x: float32[?]
        data y: float32[?]
        data k: bool[]
        cond(Cond=k)
          true_block:
            elementwise_add.Out_0: float32[?] = elementwise_add(X=x, Y=y)
          false_block:
        elementwise_add.Out_2: float32[?] = elementwise_add(X=x, Y=y)
        """,
    )


def test_what_tensors_give_sizes_stays_unless_all_fit() -> None:
    m = Made()
    x, k = m.data("x", [-1]), m.data("n", [], "int64")
    size = m.b.op("slice", Input=m.b.shape(x), axes=[0], starts=[0], ends=[1], decrease_axis=[0])
    for given in (size, k):
        m.b.op("fill_constant", ShapeTensorList=[given], shape=[-1])
        m.b.op("tile", X=x, repeat_times_tensor=[given], repeat_times=[-1])
        m.b.op("reshape2", X=x, ShapeTensor=[given], shape=[-1])
    dce(m.program, frozenset())
    ops = [(op.type, op.input_names[-1]) for op in m.program.global_block().ops]
    assert ops[-4:] == [("reshape2", size.name), ("fill_constant", "n"), ("tile", "n"), ("reshape2", "n")]
    assert [kind for kind, _ in ops[:-4]] == ["shape", "slice"]


def test_the_next_values_of_persistables_are_needed() -> None:
    m = Made()
    s = m.program.global_block().create_var("s", "float32", [3], persistable=True)
    m.program.updates = {"s": m.b.relu(s).name}
    assert not dce(m.program)


@pytest.mark.parametrize(
    ("size", "axis", "index", "stays"),
    [(3, 0, 0, False), (3, 0, -3, False), (3, -1, 2, False), (3, 0, 3, True), (3, 0, -4, True), (-1, 0, 0, True)],
)
def test_an_index_that_fits_is_no_reason_to_read(size: int, axis: int, index: int, stays: bool) -> None:
    """As of `x.shape[0]`, which nobody asks for."""
    m = Made()
    x = m.b.relu(m.data("x", [size]))
    m.b.op("slice", Input=x, axes=[axis], starts=[index], ends=[index + 1 or 9], decrease_axis=[axis])
    y = m.data("y", [2])
    dce(m.program, frozenset({y.name}))
    assert bool(m.program.global_block().ops) == stays


def test_an_index_that_only_the_run_knows_is_read() -> None:
    m = Made()
    x, i = m.data("x", [3]), m.data("i", [1], "int64")
    m.b.op("slice", Input=x, StartsTensor=i, EndsTensor=i, axes=[0], starts=[0], ends=[1], decrease_axis=[0])
    dce(m.program, frozenset())
    assert m.program.global_block().ops
