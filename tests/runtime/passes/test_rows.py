"""rows: what becomes a part of a softmax or a normalization, what does not, and that the native kernels agree with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, Variable, clone_program, verify
from dy2st_runtime.lowering.lower import lower
from dy2st_runtime.passes.fuse import fuse
from dy2st_runtime.passes.pipeline import optimize
from dy2st_runtime.passes.rows import rows

from dividing import alike_for_threads  # isort: skip
from hand_built import Made  # isort: skip

rng = np.random.default_rng(3)
FIRST = rng.bit_generator.state
OPS = ["softmax", "log_softmax", "layer_norm", "layer_norm of two axes", "group_norm", "instance_norm"]


@pytest.fixture(autouse=True)
def _the_same_numbers_in_any_order_of_tests() -> None:
    rng.bit_generator.state = FIRST


def groups(m: Made, *keep: Variable) -> list[list[str]]:
    """The types of the ops of each group of rows, after the passes that end in it."""
    verify(m.program)
    after, names = clone_program(m.program), frozenset(v.name for v in keep)
    for one in (fuse, rows):
        one(after, names)
        verify(after)
    found: list[Operator] = [op for block in after.blocks for op in block.ops if op.type == "fused_rows"]
    return [[inner.type for inner in op.attrs["sub_block"].ops] for op in found]


def run(m: Made, *outs: Variable, size: int = 5) -> list[Any]:
    """Natively and by NumPy, with every open size `size`."""
    block = m.program.global_block()
    feeds = {name: (rng.random([size if d == -1 else d for d in block.var(name).shape]) * 4 - 2).astype(block.var(name).dtype)
             for name in m.feeds}  # fmt: skip
    return m.compare(outs, feeds)


def applied(m: Made, name: str, x: Variable) -> Variable:
    if name.endswith("softmax"):
        return m.b.op(name, X=x, axis=-1)
    if name.startswith("layer_norm"):
        begin = 2 if name.endswith("axes") else len(x.shape) - 1
        sizes = [int(np.prod(x.shape[begin:]))]
        return m.b.layer_norm(x, m.data("scale", sizes), m.data("bias", sizes), begin_norm_axis=begin)[0]
    parameters = [m.data("scale", [4]), m.data("bias", [4])]
    return m.b.group_norm(x, *parameters, groups=2)[0] if name == "group_norm" else m.b.instance_norm(x, *parameters)[0]


@pytest.mark.parametrize("op", OPS)
def test_before_and_behind(op: str) -> None:
    m = Made()
    x = m.data("x", [-1, 4, 3, 6])
    made = applied(m, op, m.b.scaled(m.b.mul(x, m.b.abs(x)), 0.5))
    out = m.b.tanh(m.b.scaled(made, 2.0))
    name = op.split()[0]
    assert groups(m, out) == [["abs", "elementwise_mul", "scale", name, "scale", "tanh"]]
    for size in (5, 1, 0):
        run(m, out, size=size)
    m = Made()
    out = applied(m, op, m.b.relu(m.data("x", [2, 4, 3, 6])))
    assert groups(m, out) == [["relu", name]]
    run(m, out)
    m = Made()
    x = m.data("x", [2, 4, 3, 6])
    out = m.b.add(applied(m, op, x), x)
    assert groups(m, out) == [[name, "elementwise_add"]]
    run(m, out)


SHAPES = [[], [1], [6], [3, 1], [4, 1, 1], [-1, 1, 1, 6], [-1, 1, 3, 6], [1, 4, 3, 1], [-1, -1, -1, -1]]


@pytest.mark.parametrize("shape", [[1, 4, 3, 6], [1, 4, 1, 1], [3, 4, 1, 1], [1, 4, 1, 6], [-1, 4, 1, 6], [-1, 4, 3, 1]], ids=str)
@pytest.mark.parametrize("op", OPS)
def test_sizes_that_are_known_to_be_one(op: str, shape: list[int]) -> None:
    m = Made()
    x, other, one = m.data("x", shape), m.data("other", shape), m.data("one", [1])
    made = applied(m, op, m.b.add(x, other))
    out = m.b.mul(m.b.add(m.b.relu(made), x), one)
    assert [op.split()[0] in group for group in groups(m, out)] == [True]
    run(m, out)


@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op", [op for op in OPS if op != "group_norm"])
def test_operands_that_broadcast(op: str, shape: list[int], behind: bool) -> None:
    m = Made()
    x, y = m.data("x", [2, 4, 3, 6]), m.data("y", shape)
    out = m.b.add(applied(m, op, x), y) if behind else applied(m, op, m.b.add(x, y))
    assert len(groups(m, out)) == 1
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for size in (2, 1) if -1 in shape else (2,):
        sizes = [d if d != -1 else 1 if size == 1 else (2, 4, 3, 6)[i] for i, d in enumerate(shape)]
        feeds = {name: rng.random(m.program.global_block().var(name).shape).astype("f") for name in m.feeds if name != "y"}
        m.compare([out], {**feeds, "y": rng.random(sizes).astype("f")}, exe)


@pytest.mark.parametrize("shape", [[4, 1, 1], [6], [2, 1, 1, 1]])
def test_groups_of_channels_are_runs_of_elements(shape: list[int]) -> None:
    """Their operands have all elements, or one."""
    m = Made()
    out = applied(m, "group_norm", m.b.add(m.data("x", [2, 4, 3, 6]), m.data("y", shape)))
    assert groups(m, out) == []
    run(m, out)


def test_several_results_and_other_dtypes() -> None:
    m = Made()
    y = m.b.op("softmax", X=m.b.scaled(m.data("x", [-1, 6]), 2.0), axis=-1)
    half = m.b.scaled(y, 0.5)
    outs = [m.b.op("greater_than", X=half, Y=m.b.constant(0.1, "float32")), half, m.b.log(half)]
    assert groups(m, *outs) == [["scale", "softmax", "scale", "greater_than", "log"]]
    run(m, *outs)


def test_no_result_of_the_dtype_of_the_rows() -> None:
    m = Made()
    y = m.b.op("softmax", X=m.data("x", [-1, 6]), axis=-1)
    out = m.b.op("greater_than", X=y, Y=m.b.constant(0.1, "float32"))
    assert groups(m, out) == []
    run(m, out)


def test_what_others_read_stays() -> None:
    m = Made()
    x = m.b.scaled(m.data("x", [-1, 6]), 2.0)
    y = m.b.op("softmax", X=x, axis=-1)
    out = m.b.tanh(y)
    assert groups(m, out) == [["scale", "softmax", "tanh"]]
    assert groups(m, out, x) == [["softmax", "tanh"]]
    assert groups(m, out, y) == [["scale", "softmax"]]
    run(m, out, x, y)


def test_statistics_that_are_read_stay() -> None:
    m = Made()
    y, mean, _ = m.b.layer_norm(m.b.scaled(m.data("x", [-1, 6]), 2.0), None, None, begin_norm_axis=1)
    out = m.b.tanh(y)
    assert groups(m, out, mean) == []
    assert groups(m, out) == [["scale", "layer_norm", "tanh"]]
    run(m, out, mean)


@pytest.mark.parametrize(("op", "attrs"), [("softmax", {"axis": 0}), ("group_norm", {"groups": 1, "data_layout": "NHWC"})])
def test_lanes_that_are_no_rows_stay(op: str, attrs: dict[str, Any]) -> None:
    m = Made()
    x = m.b.scaled(m.data("x", [2, 3, 4]), 2.0)
    y = m.b.op(op, X=x, **attrs)
    out = m.b.tanh(y[0] if isinstance(y, tuple) else y)
    assert groups(m, out) == []
    run(m, out)


def test_float16_stays() -> None:
    m = Made()
    out = m.b.op("softmax", X=m.b.scaled(m.data("x", [2, 3], "float16"), 2.0), axis=-1)
    assert groups(m, out) == []


def test_nothing_moves_across_what_can_raise() -> None:
    m = Made()
    x = m.b.scaled(m.data("x", [-1, 6]), 2.0)
    broken = m.b.op("elementwise_floordiv", X=m.data("a", [-1], "int64"), Y=m.data("b", [-1], "int64"))
    out = m.b.op("softmax", X=x, axis=-1)
    assert groups(m, out, broken) == []


def test_one_kernel() -> None:
    m = Made()
    x, mask = m.data("x", [2, 8, 16, 16]), m.data("mask", [2, 1, 1, 16])
    out = m.b.scaled(m.b.op("softmax", X=m.b.add(m.b.scaled(x, 0.25), mask), axis=-1), 3.0)
    program, _, shapes = optimize(clone_program(m.program), m.feeds, [out.name])
    steps = lower(program, shapes, routines=True).steps
    assert [step.kernel.label for step in steps] == ["scale+elementwise_add+softmax+scale"]  # type: ignore[union-attr]


def test_attention_with_its_gradient() -> None:
    m = Made()
    q, mask = m.data("q", [-1, 5, 6]), m.data("mask", [5, 5])
    scores = m.b.add(m.b.matmul_v2(m.b.scaled(q, 0.5), q, trans_y=True), mask)
    loss = m.b.op("reduce_sum", X=m.b.matmul_v2(m.b.op("softmax", X=scores, axis=-1), q), reduce_all=True)
    (dq,) = append_backward(m.program, [loss], [q])
    program, _, _ = optimize(clone_program(m.program), m.feeds, [loss.name, dq.name])
    assert any(op.type == "fused_rows" for op in program.global_block().ops)
    run(m, loss, dq, size=3)


@pytest.mark.parametrize("op", OPS)
def test_threads_share_the_rows(op: str) -> None:
    m = Made()
    x = m.data("x", [6, 4, 3, 10])
    out = m.b.tanh(applied(m, op, m.b.scaled(x, 0.5)))
    values = [rng.random(m.program.global_block().var(name).shape).astype("f") for name in m.feeds]
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    alike_for_threads(lambda: exe.run(values)[0], (1, 2, 3, 7))
