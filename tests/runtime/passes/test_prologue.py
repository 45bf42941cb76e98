"""prologue: what becomes a part of a reduction, what does not, and that the native kernels agree with NumPy; reductions in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import dtype
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import DivisionError, ShapeError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, Variable, clone_program, verify
from dy2st_runtime.lowering.lower import lower
from dy2st_runtime.ops.folding import BLOCK, PART
from dy2st_runtime.passes.fuse import fuse
from dy2st_runtime.passes.pipeline import optimize
from dy2st_runtime.passes.prologue import prologue

from dividing import alike_for_threads  # isort: skip
from hand_built import Made  # isort: skip

rng = np.random.default_rng(3)
FIRST = rng.bit_generator.state


@pytest.fixture(autouse=True)
def _the_same_numbers_in_any_order_of_tests() -> None:
    rng.bit_generator.state = FIRST


def groups(m: Made, *keep: Variable) -> list[list[str]]:
    """The types of the ops of each fused reduction, after the passes that end in it."""
    verify(m.program)
    after, names = clone_program(m.program), frozenset(v.name for v in keep)
    for one in (fuse, prologue):
        one(after, names)
        verify(after)
    found: list[Operator] = [op for block in after.blocks for op in block.ops if op.type == "fused_reduction"]
    return [[inner.type for inner in op.attrs["sub_block"].ops] for op in found]


def run(m: Made, *outs: Variable, size: int = 5) -> list[Any]:
    """Natively and by NumPy, with every open size `size`."""
    block = m.program.global_block()
    feeds = {name: (rng.random([size if d == -1 else d for d in block.var(name).shape]) * 4 - 2).astype(block.var(name).dtype)
             for name in m.feeds}  # fmt: skip
    return m.compare(outs, feeds)


def launches(m: Made, *outs: Variable) -> list[str]:
    """The kernels that run."""
    program, _, shapes = optimize(clone_program(m.program), m.feeds, [v.name for v in outs])
    return [step.kernel.label for step in lower(program, shapes, routines=True).steps if hasattr(step, "kernel")]


AXES = [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("op", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"])
def test_chains_are_folded_as_they_are_made(op: str, axes: list[int]) -> None:
    m = Made()
    x = m.data("x", [3, 4, 7])
    out = m.b.op(op, X=m.b.scaled(m.b.sub(x, m.data("y", [3, 4, 7])), 0.5), dim=axes)
    assert groups(m, out) == [["elementwise_sub", "scale", op]]
    run(m, out)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("shape", [[], [1], [7], [4, 1], [3, 1, 1], [1, 4, 7], [3, 1, 7], [3, 4, 1], [1, 4, 1], [-1, 1, 7], [-1, -1, -1]])
def test_operands_that_broadcast(shape: list[int], axes: list[int]) -> None:
    m = Made()
    x, y = m.data("x", [3, 4, 7]), m.data("y", shape)
    out = m.b.op("reduce_sum", X=m.b.mul(x, y), dim=axes)
    assert groups(m, out) == [["elementwise_mul", "reduce_sum"]]
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for stretched in ([d if d != -1 else 1 for d in shape], [d if d != -1 else (3, 4, 7)[i] for i, d in enumerate(shape)]):
        m.compare([out], {"x": rng.random((3, 4, 7), "f"), "y": rng.random(stretched, "f")}, exe)


def test_pairwise_distances_store_no_differences() -> None:
    m = Made()
    x, c = m.data("x", [-1, 6]), m.data("c", [-1, 6])
    apart = m.b.sub(m.b.op("unsqueeze2", X=x, axes=[1]), c)
    out = m.b.op("reduce_sum", X=m.b.mul(apart, apart), dim=[-1])
    assert groups(m, out) == [["elementwise_sub", "elementwise_mul", "reduce_sum"]]
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for points, centers in ((5, 3), (1, 4), (4, 1), (0, 2), (70, 2)):
        m.compare([out], {"x": rng.random((points, 6), "f"), "c": rng.random((centers, 6), "f")}, exe)


@pytest.mark.parametrize("axes", AXES)
def test_values_that_others_need_are_stored_too(axes: list[int]) -> None:
    m = Made()
    x = m.data("x", [-1, 4, -1])
    half = m.b.scaled(x, 0.5)
    above = m.b.op("greater_than", X=half, Y=m.b.constant(0.0, "float32"))
    out = m.b.op("reduce_sum", X=m.b.mul(half, half), dim=axes)
    assert groups(m, out, half, above) == [["scale", "greater_than", "elementwise_mul", "reduce_sum"]]
    for size in (5, 1, 0, 90):
        run(m, out, half, above, size=size)


def test_what_is_folded_stays_where_others_need_it() -> None:
    m = Made()
    y = m.b.relu(m.data("x", [-1, 4]))
    out = m.b.op("reduce_sum", X=y, dim=[0])
    assert groups(m, out, y) == []
    assert groups(m, out, m.b.op("cumsum", X=y, axis=0)) == []


def test_of_two_reductions_the_first_takes_the_group() -> None:
    m = Made()
    x = m.data("x", [-1, 4])
    first, second = m.b.relu(x), m.b.scaled(x, 2.0)
    outs = [m.b.op("reduce_sum", X=first, dim=[0]), m.b.op("reduce_mean", X=second, dim=[1])]
    assert groups(m, *outs) == [["relu", "scale", "reduce_sum"]]
    run(m, *outs)


@pytest.mark.parametrize("op", ["mean", "p_norm", "reduce_all", "reduce_any", "sum_like"])
def test_other_ops_that_fold(op: str) -> None:
    m = Made()
    x = m.data("x", [-1, 4])
    made = m.b.op("greater_than", X=x, Y=m.b.constant(0.0, "float32")) if op.startswith("reduce") else m.b.scaled(x, 2.0)
    more = {"p_norm": {"axis": 1, "porder": 3.0}, "sum_like": {"Y": m.data("y", [1, 4])}}.get(op, {})
    out = m.b.op(op, X=made, **more)
    assert [ops[-1] for ops in groups(m, out)] == [op]
    run(m, out)


def test_a_bias_that_open_sizes_may_stretch() -> None:
    m = Made()
    x, y = m.data("x", [-1, -1]), m.data("y", [-1])
    out = m.b.op("sum_like", X=m.b.mul(x, m.b.scaled(x, 0.5)), Y=y)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for columns in (6, 1):
        m.compare([out], {"x": rng.random((5, 6), "f"), "y": rng.random(columns, "f")}, exe)
    with pytest.raises(ShapeError, match="does not broadcast"):
        exe.run([rng.random((5, 6), "f"), rng.random(4, "f")])


@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
@pytest.mark.parametrize("name", ["float64", "int32", "int64", "bool"])
def test_dtypes(name: str, axes: list[int]) -> None:
    m = Made()
    x = m.data("x", [-1, 20], name)
    y = m.b.op("logical_not", X=x) if name == "bool" else m.b.mul(x, x)
    out = m.b.op("reduce_sum", X=y, dim=axes)
    assert [ops[-1] for ops in groups(m, out)] == ["reduce_sum"]
    run(m, out, size=40)


@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_elements_of_16_bits_are_rounded_before_they_are_folded(axes: list[int]) -> None:
    m = Made()
    x = m.data("x", [-1, 20], "float16")
    out = m.b.op("reduce_sum", X=m.b.mul(x, x), dim=axes)
    assert len(groups(m, out)) == 1
    value = rng.random((40, 20)).astype("float16")
    (got,) = Executable(clone_program(m.program), m.feeds, [out.name]).run([value])
    np.testing.assert_array_equal(got, np.square(value).astype("f").sum(tuple(axes)).astype("float16"))


def test_no_tensor_of_the_elements_is_made() -> None:
    m = Made()
    x, c = m.data("x", [1000, 1, 64]), m.data("c", [100, 64])
    apart = m.b.sub(x, c)
    out = m.b.op("reduce_sum", X=m.b.mul(apart, apart), dim=[-1])
    assert launches(m, out) == ["elementwise_sub+elementwise_mul+reduce_sum"]


# ---- what must not move ----
def divided(m: Made) -> Variable:
    """What raises where it divides by zero."""
    return m.b.op("elementwise_floordiv", X=m.data("a", [-1], "int64"), Y=m.data("b", [-1], "int64"))


def test_the_first_of_two_errors_stays_the_first() -> None:
    m = Made()
    x = m.data("x", [-1])
    y = m.b.scaled(x, 2.0)
    broken = divided(m)
    out = m.b.op("reduce_max", X=y, reduce_all=True)
    assert groups(m, out, broken) == []
    exe = Executable(clone_program(m.program), m.feeds, [out.name, broken.name])
    nothing = [np.zeros(0, "f"), np.ones(1, "int64"), np.zeros(1, "int64")]
    with pytest.raises(DivisionError):
        exe.run(nothing)
    nothing[2][:] = 1
    with pytest.raises(ShapeError, match="no elements"):
        exe.run(nothing)


def test_a_shape_that_is_made_later_is_waited_for() -> None:
    m = Made()
    x = m.data("x", [-1, 4])
    y = m.b.scaled(x, 2.0)
    like = m.b.op("reduce_max", X=m.data("z", [5, 1, 4]), dim=[0])
    out = m.b.op("sum_like", X=y, Y=like)
    assert groups(m, out, like) == []
    run(m, out, like)


def test_operands_that_do_not_fit_are_named() -> None:
    m = Made()
    out = m.b.op("reduce_sum", X=m.b.mul(m.data("x", [-1]), m.data("y", [-1])), dim=[0])
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    with pytest.raises(ShapeError, match=r"\[3\].*\[4\]"):
        exe.run([np.zeros(3, "f"), np.zeros(4, "f")])


# ---- with control flow and gradients ----
def test_in_a_loop_with_its_gradient() -> None:
    m = Made()
    w, h = m.data("w", [6]), m.data("h", [2, 6])

    def body(i: Variable, h: Variable) -> list[Variable]:
        mean = m.b.op("reduce_mean", X=m.b.mul(h, m.b.mul(h, w)), dim=[1], keep_dim=True)
        return [m.b.scaled(i, 1.0, 1.0), m.b.tanh(m.b.add(h, mean))]

    (_, out), _ = m.loop(lambda i, h: m.b.op("less_than", X=i, Y=m.b.constant(3.0, "float32")), body, [m.b.constant(0.0, "float32"), h])
    loss = m.b.op("reduce_sum", X=m.b.mul(out, out))
    (dw,) = append_backward(m.program, [loss], [w])
    after, _, _ = optimize(clone_program(m.program), m.feeds, [loss.name, dw.name])
    found = [op.attrs["sub_block"].ops[-1].type for block in after.blocks for op in block.ops if op.type == "fused_reduction"]
    assert found == ["reduce_sum", "reduce_mean", "sum_like"]
    run(m, loss, dw)


def test_results_of_branches() -> None:
    m = Made()
    x = m.data("x", [-1, 4])

    def total(factor: float) -> Callable[[], list[Variable]]:
        return lambda: [m.b.op("reduce_sum", X=m.b.scaled(x, factor), dim=[0])]

    pred = m.b.op("greater_than", X=m.b.op("reduce_sum", X=m.b.mul(x, x), reduce_all=True), Y=m.b.constant(1.0, "float32"))
    (out,) = m.cond(pred, total(1.5), total(-2.0))
    assert len(groups(m, out)) == 3
    for size in (5, 0):
        run(m, out, size=size)


# ---- in parts ----
LARGE = [([3 * PART + 5], [0]), ([PART - 1, 3], [0, 1]), ([PART, 3], [0]), ([70, 3, 90], [0, 2]), ([5, 3 * PART], [0, 1]),
         ([2, PART, 7], [0, 1])]  # fmt: skip


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("op", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_prod"])
@pytest.mark.parametrize(("shape", "axes"), LARGE)
def test_few_outputs_of_many_elements(shape: list[int], axes: list[int], op: str, static: bool) -> None:
    """All at once, first made, and with another operand along the last axis; of sizes that are known and that are not."""
    values = {"x": (1 + rng.standard_normal(shape) / 1e4).astype("f"), "y": np.ones(shape[-1], "f")}
    for name in ("plain", "made", "weighted"):
        m = Made()
        x, y = m.data("x", [d if static or a not in axes else -1 for a, d in enumerate(shape)]), m.data("y", [shape[-1]])
        out = m.b.op(op, X=m.b.scaled(x, 1.0, 1e-5) if name == "made" else m.b.mul(x, y) if name == "weighted" else x, dim=axes)
        assert len(launches(m, out)) == 2
        exe = Executable(clone_program(m.program), m.feeds, [out.name])
        alike_for_threads(lambda exe=exe, m=m: exe.run([values[name] for name in m.feeds])[0], (1, 2, 3, 7))  # type: ignore[misc]
        (got,) = exe.run([values[name] for name in m.feeds])
        want = getattr(np, op.removeprefix("reduce_"))(values["x"].astype("float64") + (1e-5 if name == "made" else 0), axis=tuple(axes))
        np.testing.assert_allclose(got, want, rtol=3e-6 if op != "reduce_prod" else 3e-3)


def test_sizes_of_parts() -> None:
    """None, one that is not full, full ones, and a last one of one element."""
    m = Made()
    out = m.b.op("reduce_sum", X=m.data("x", [-1]), reduce_all=True)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for size in (0, 1, 17, PART, PART + 1, 2 * PART, 5 * PART + 1):
        (got,) = exe.run([np.ones(size, "f")])
        assert got == size


def test_no_parts_for_what_is_small_or_has_outputs_enough() -> None:
    for shape, axes in (([40, 40], [0, 1]), ([PART, BLOCK + 1], [0]), ([3, 4 * PART], [1]), ([-1, 4], [1])):
        m = Made()
        out = m.b.op("reduce_sum", X=m.data("x", shape), dim=axes)
        assert len(launches(m, out)) == 1


def test_no_elements_have_no_largest() -> None:
    m = Made()
    out = m.b.op("reduce_max", X=m.data("x", [-1]), reduce_all=True)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    assert exe.run([np.array([3, 5, 4], "f")])[0] == 5
    with pytest.raises(ShapeError, match="no elements"):
        exe.run([np.zeros(0, "f")])


def test_nan_in_any_part_is_found() -> None:
    m = Made()
    out = m.b.op("reduce_max", X=m.data("x", [-1]), reduce_all=True)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for place in (0, PART, 3 * PART - 1):
        x = np.zeros(3 * PART, "f")
        x[place] = np.nan
        assert np.isnan(exe.run([x])[0])


@pytest.mark.parametrize("name", dtype.ALL)
def test_parts_of_all_dtypes(name: str) -> None:
    m = Made()
    op = "reduce_any" if name == "bool" else "reduce_sum"
    outs = [m.b.op(op, X=m.data(f"x{axis}", [-1, 3], name), dim=axes) for axis, axes in enumerate(([0], [0, 1]))]
    # of one sign, since in another order float32 gives sums near zero other digits
    m.compare(outs, {x: (rng.random((PART, 3)) * 2).astype(name) for x in m.feeds})
