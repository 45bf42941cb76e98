"""epilogue: what becomes a part of a matrix product, what does not, and that the native kernels agree with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Operator, Variable, clone_program, verify
from dy2st_runtime.passes.epilogue import epilogue
from dy2st_runtime.passes.fuse import fuse

from dividing import alike_for_threads  # isort: skip
from hand_built import Made  # isort: skip

rng = np.random.default_rng(3)


def groups(m: Made, *keep: Variable) -> list[list[str]]:
    """The types of the ops of each fused product, after the passes that end in it."""
    verify(m.program)
    after, names = clone_program(m.program), frozenset(v.name for v in keep)
    for one in (fuse, epilogue):
        one(after, names)
        verify(after)
    found: list[Operator] = [op for block in after.blocks for op in block.ops if op.type == "fused_matmul"]
    return [[inner.type for inner in op.attrs["sub_block"].ops] for op in found]


def run(m: Made, *outs: Variable, rows: int = 5) -> list[Any]:
    """Natively and by NumPy, with every open size `rows`."""
    block = m.program.global_block()
    feeds = {name: (rng.random([rows if d == -1 else d for d in block.var(name).shape]) - 0.5).astype(block.var(name).dtype)
             for name in m.feeds}  # fmt: skip
    return m.compare(outs, feeds)


def multiplied(m: Made, *, x: tuple[int, ...] = (-1, 7), y: tuple[int, ...] = (7, 4), dtype: str = "float32", **attrs: Any) -> Variable:
    return m.b.matmul_v2(m.data("x", list(x), dtype), m.data("y", list(y), dtype), **attrs)


def test_bias_residual_and_activation_become_a_part() -> None:
    m = Made()
    y = multiplied(m, y=(7, 7))
    out = m.b.relu(m.b.add(m.b.add(y, m.data("b", [7])), m.program.global_block().var("x")))
    assert groups(m, out) == [["matmul_v2", "elementwise_add", "elementwise_add", "relu"]]
    run(m, out)
    run(m, out, rows=0)


def test_the_product_of_paddle_1() -> None:
    m = Made()
    y = m.b.op("mul", X=m.data("x", [-1, 3, 7]), Y=m.data("y", [7, 4]), x_num_col_dims=2)
    out = m.b.tanh(m.b.op("elementwise_add", X=y, Y=m.data("b", [4]), axis=2))
    assert groups(m, out) == [["mul", "elementwise_add", "tanh"]]
    run(m, out)


def test_one_whose_columns_are_two_axes_stays() -> None:
    m = Made()
    y = m.b.op("mul", X=m.data("x", [-1, 7]), Y=m.data("y", [7, 4, 2]), x_num_col_dims=1)
    out = m.b.add(y, m.data("b", [2]))
    assert groups(m, out) == []
    run(m, out)


@pytest.mark.parametrize("shape", [[], [1], [4], [1, 4], [1, 1]])
def test_operands_with_one_element_or_one_for_each_column(shape: list[int]) -> None:
    m = Made()
    out = m.b.add(multiplied(m), m.data("other", shape))
    assert groups(m, out) == [["matmul_v2", "elementwise_add"]]
    run(m, out)


@pytest.mark.parametrize("shape", [[-1, 1], [-1, 4], [3, 1, 4]])
def test_operands_of_other_shapes_stay_outside(shape: list[int]) -> None:
    """One for each row; of a number of rows that might be another; of more axes."""
    m = Made()
    out = m.b.add(multiplied(m), m.data("other", shape))
    assert groups(m, out) == []
    run(m, out)


def test_a_vector_on_the_right_has_no_columns() -> None:
    m = Made()
    out = m.b.relu(multiplied(m, y=(7,)))
    assert groups(m, out) == []
    run(m, out)


def test_a_vector_on_the_left() -> None:
    m = Made()
    out = m.b.add(m.b.relu(multiplied(m, x=(7,))), m.data("b", [4]))
    assert groups(m, out) == [["matmul_v2", "relu", "elementwise_add"]]
    run(m, out)


def test_integers_stay() -> None:
    m = Made()
    out = m.b.add(multiplied(m, dtype="int64"), m.b.constant(1, "int64"))
    assert groups(m, out) == []
    run(m, out)


def test_several_results_and_other_dtypes() -> None:
    m = Made()
    half = m.b.scaled(multiplied(m), 0.5)
    outs = [m.b.relu(half), m.b.op("greater_than", X=half, Y=m.b.constant(0.0, "float32")), half]
    assert [len(ops) for ops in groups(m, *outs)] == [4]
    run(m, *outs)


def test_no_result_of_the_dtype_of_the_product() -> None:
    m = Made()
    out = m.b.op("greater_than", X=multiplied(m), Y=m.b.constant(0.0, "float32"))
    assert groups(m, out) == [["matmul_v2", "greater_than"]]
    run(m, out)


def test_a_value_that_is_read_twice_or_kept_stays() -> None:
    m = Made()
    y = multiplied(m)
    out = m.b.relu(y)
    assert groups(m, out, y) == []
    total = m.b.op("reduce_sum", X=y)
    assert groups(m, out, total) == []
    run(m, out, total)


def test_an_operand_that_is_the_matrix_itself() -> None:
    m = Made()
    y = multiplied(m, x=(6, 6), y=(6, 6))
    out = m.b.add(y, m.program.global_block().var("y"))
    assert groups(m, out) == [["matmul_v2", "elementwise_add"]]
    run(m, out)


def test_in_a_loop_with_its_gradient() -> None:
    m = Made()
    w, h = m.data("w", [6, 6]), m.data("h", [2, 6])

    def body(i: Variable, h: Variable) -> list[Variable]:
        return [m.b.scaled(i, 1.0, 1.0), m.b.tanh(m.b.add(m.b.matmul_v2(h, w), h))]

    (_, out), _ = m.loop(lambda i, h: m.b.op("less_than", X=i, Y=m.b.constant(3.0, "float32")), body, [m.b.constant(0.0, "float32"), h])
    loss = m.b.op("reduce_sum", X=out)
    (dw,) = append_backward(m.program, [loss], [w])
    assert ["matmul_v2", "elementwise_add", "tanh"] in groups(m, out, dw)
    run(m, out, dw)


# the sizes around what is computed as dot products, as sums of rows, by tiles; with several blocks of rows and of the reduction
SIZES = [(1, 40, 33), (3, 19, 70), (40, 9, 1), (5, 1, 8), (300, 20, 70), (70, 300, 600), (1030, 40, 520), (33, 7, 1100)]


def chain(rows: int, inner: int, columns: int, trans_x: bool, trans_y: bool, dtype: str, batch: tuple[int, ...] = (),
          open_dims: bool = False) -> tuple[Made, Variable, dict[str, np.ndarray]]:  # fmt: skip
    """A product, a bias, a residual that has its shape by construction, and gelu."""
    m = Made()
    x = (*batch, inner, rows) if trans_x else (*batch, rows, inner)
    y = (*batch, columns, inner) if trans_y else (*batch, inner, columns)
    operands = [m.data(name, [-1 if open_dims and d == rows else d for d in shape], dtype) for name, shape in (("x", x), ("y", y))]
    other = m.b.matmul_v2(*operands, trans_x=trans_x, trans_y=trans_y)
    made = m.b.matmul_v2(m.b.scaled(operands[0], 0.5), operands[1], trans_x=trans_x, trans_y=trans_y)
    out = m.b.op("gelu", X=m.b.add(m.b.add(made, m.data("b", [columns], dtype)), m.b.op("abs", X=other)))
    shapes = {"x": x, "y": y, "b": (columns,)}
    return m, out, {name: (rng.standard_normal(shape) / np.sqrt(inner)).astype(dtype) for name, shape in shapes.items()}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("trans_x", "trans_y"), [(False, False), (True, False), (False, True), (True, True)])
def test_sizes_and_orders(sizes: tuple[int, int, int], trans_x: bool, trans_y: bool) -> None:
    for dtype in ("float32", "float64"):
        m, out, values = chain(*sizes, trans_x, trans_y, dtype)
        assert any(len(ops) > 3 for ops in groups(m, out))
        m.compare([out], values)


def test_batches() -> None:
    for batch in ((3,), (2, 3)):
        m, out, values = chain(5, 6, 7, False, True, "float32", batch)
        assert any(len(ops) > 3 for ops in groups(m, out))
        m.compare([out], values)


def test_open_dims() -> None:
    m, out, values = chain(30, 6, 7, False, False, "float32", open_dims=True)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    for rows in (30, 3, 1, 0, 1000):
        values["x"] = rng.standard_normal((rows, 6)).astype("f")
        m.compare([out], values, exe)


@pytest.mark.parametrize(("sizes", "batch"), [*((s, ()) for s in SIZES), ((33, 7, 40), (5,)), ((200, 70, 600), (3,))])
def test_threads_share_the_work(sizes: tuple[int, int, int], batch: tuple[int, ...]) -> None:
    """However it is divided, each element is the same to the last bit."""
    m, out, values = chain(*sizes, False, False, "float32", batch)
    exe = Executable(clone_program(m.program), m.feeds, [out.name])
    alike_for_threads(lambda: exe.run([values[name] for name in m.feeds])[0], (1, 2, 3, 7))
    m.compare([out], values, exe)
