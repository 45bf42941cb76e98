"""fuse: which ops belong together, which do not, and that the native kernels agree."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import GradientError, ShapeError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, Variable, clone_program, verify
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.passes.fuse import MAX_OPS, fuse

from golden import assert_after  # isort: skip
from hand_built import Made  # isort: skip


def groups(m: Made, *keep: Variable) -> list[list[str]]:
    """The types of the ops of each group, after fusion of a copy."""
    verify(m.program)
    after = clone_program(m.program)
    fuse(after, frozenset(v.name for v in keep))
    verify(after)
    fused: list[Operator] = [op for block in after.blocks for op in block.ops if op.type == "fused_elementwise"]
    return [[inner.type for inner in op.attrs["sub_block"].ops] for op in fused]


def test_operands_may_broadcast_and_several_results_leave_the_group() -> None:
    m = Made()
    x, w = m.data("x", [-1, 3]), m.data("w", [3])
    h = m.b.add(m.b.mul(x, w), m.b.constant(1.0, "float32"))
    y, z = m.b.relu(h), m.b.exp(h)
    assert_after(
        fuse,
        m,
        [y, z, h],
        """
        data x: float32[?, 3]
        data w: float32[3]
        fill_constant.Out_0: float32[] = fill_constant(value=1)
        elementwise_add.Out_0: float32[?, 3], relu.Out_0: float32[?, 3], exp.Out_0: float32[?, 3] = fused_elementwise(X=[x, w, fill_constant.Out_0])
          sub_block(x@IN_0: float32[?, 3], w@IN_0: float32[3], fill_constant.Out_0@IN_0: float32[]):
            elementwise_mul.Out_0: float32[?, 3] = elementwise_mul(X=x@IN_0, Y=w@IN_0)
            elementwise_add.Out_0@IN_0: float32[?, 3] = elementwise_add(X=elementwise_mul.Out_0, Y=fill_constant.Out_0@IN_0)
            relu.Out_0@IN_0: float32[?, 3] = relu(X=elementwise_add.Out_0@IN_0)
            exp.Out_0@IN_0: float32[?, 3] = exp(X=elementwise_add.Out_0@IN_0)
            yield elementwise_add.Out_0@IN_0, relu.Out_0@IN_0, exp.Out_0@IN_0
        """,  # noqa: E501
    )
    m.compare([y, z, h], {"x": np.ones((4, 3), "f"), "w": np.arange(3, dtype="f")})


def test_two_branches_of_a_computation_become_one_group() -> None:
    m = Made()
    x, y = m.data("x", [4]), m.data("y", [4])
    assert groups(m, m.b.add(m.b.tanh(x), m.b.exp(y))) == [["tanh", "exp", "elementwise_add"]]


def test_a_smaller_operand_is_not_computed_for_every_element() -> None:
    m = Made()
    x, w = m.data("x", [4, 3]), m.data("w", [3])
    small = m.b.tanh(m.b.exp(w))
    assert groups(m, m.b.relu(m.b.mul(x, small))) == [["exp", "tanh"], ["elementwise_mul", "relu"]]


def test_open_dims_must_be_equal_by_construction() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    assert groups(m, m.b.exp(m.b.add(m.b.relu(x), y))) == [["elementwise_add", "exp"]]


def test_what_needs_the_group_and_is_needed_by_it_stays_between() -> None:
    m = Made()
    x = m.data("x", [4, 4])
    h = m.b.relu(m.b.exp(x))
    product = m.b.matmul_v2(h, h)
    y = m.b.tanh(m.b.add(h, product))
    assert groups(m, y) == [["exp", "relu"], ["elementwise_add", "tanh"]]
    m.compare([y], {"x": np.linspace(-1, 1, 16, dtype="f").reshape(4, 4)})


def test_a_group_passes_an_unrelated_op() -> None:
    m = Made()
    x = m.data("x", [4, 4])
    h = m.b.relu(x)
    product = m.b.matmul_v2(x, x)
    y = m.b.exp(h)
    assert groups(m, y, product) == [["relu", "exp"]]


def test_nothing_moves_across_effects_and_ops_that_can_raise() -> None:
    m = Made()
    x, i = m.data("x", [4]), m.data("i", [1], "int64")
    h = m.b.relu(x)
    m.b.op("print", In=[x], parts=["", ""])
    h = m.b.exp(h)
    row = m.b.op("gather", X=x, Index=i)
    assert groups(m, m.b.tanh(h), row) == []


def test_integer_division_stays_alone_for_it_can_raise() -> None:
    m = Made()
    x = m.data("x", [4], "int64")
    assert groups(m, m.b.add(m.b.op("elementwise_floordiv", X=m.b.add(x, x), Y=x), x)) == []


def test_ops_skipped_together_are_one_group_others_not() -> None:
    m = Made()
    x, maybe = m.data("x", [4]), m.data("maybe", [4])
    m.program.absent_feeds = {"maybe"}
    skipped = m.b.exp(m.b.relu(maybe))
    never = m.b.exp(m.b.relu(x))
    assert groups(m, skipped, never, m.b.op("sum", X=[skipped, never])) == [["relu", "exp"], ["relu", "exp"]]


def test_a_group_that_may_be_skipped_is_one_kernel() -> None:
    m = Made()
    maybe, w = m.data("maybe", [-1]), m.data("w", [])
    out = m.b.exp(m.b.mul(m.b.relu(maybe), w))
    exe = Executable(m.program, m.feeds, [out.name], absent_feeds=["maybe"])
    assert len(exe.plan.kernels) == 1
    one, two = np.ones(3, "f"), np.array(2, "f")
    np.testing.assert_allclose(exe.run([one, two])[0], np.exp(2 * one), rtol=1e-6)
    assert exe.run([ABSENT, two]) == [None]


def test_groups_are_of_bounded_size() -> None:
    m = Made()
    x = m.data("x", [4])
    for _ in range(MAX_OPS + 10):
        x = m.b.scaled(x, 1.01)
    assert [len(g) for g in groups(m, x)] == [MAX_OPS, 10]


def test_groups_in_branches_and_bodies() -> None:
    m = Made()
    x, n, k = m.data("x", [4]), m.data("n", [], "int64"), m.data("k", [], "bool")

    def body(i: Variable, h: Variable) -> list[Variable]:
        (g,) = m.cond(k, lambda: [m.b.relu(m.b.exp(h))], lambda: [h])
        return [m.b.scaled(i, 1.0, 1.0), m.b.tanh(m.b.add(g, x))]

    (_, h), _ = m.loop(lambda i, _: m.b.less_than(i, n), body, [m.b.constant(0, "int64"), x], saved=[1])
    assert groups(m, h) == [["elementwise_add", "tanh"], ["exp", "relu"]]
    m.compare([h], {"x": np.ones(4, "f"), "n": np.array(3), "k": np.array(True)})


def test_a_group_has_no_gradient() -> None:
    m = Made()
    x = m.data("x", [4])
    y = m.b.relu(m.b.exp(x))
    fuse(m.program, frozenset({y.name}))
    with pytest.raises(GradientError, match="fused ops have no gradient"):
        append_backward(m.program, [y], [x])


def test_one_of_two_groups_that_need_each_other_is_taken_apart() -> None:
    m = Made()
    x = m.data("x", [3])
    a = m.b.relu(x)
    b = m.b.op("cumsum", X=a, axis=0)
    c = m.b.tanh(m.b.op("cumsum", X=x, axis=0))
    d = m.b.op("cumsum", X=c, axis=0)
    assert len(groups(m, m.b.add(a, d), m.b.add(c, b))) == 1


def test_a_group_that_nobody_reads_is_there_for_its_error() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    m.b.relu(m.b.add(x, y))
    out = m.b.scaled(x, 2.0)
    assert ["elementwise_add", "relu"] in groups(m, out)
    m.compare([out], {"x": np.ones(4, "f"), "y": np.ones(4, "f")})
    with pytest.raises(ShapeError, match="4 against 3"):
        m.compare([out], {"x": np.ones(4, "f"), "y": np.ones(3, "f")})
