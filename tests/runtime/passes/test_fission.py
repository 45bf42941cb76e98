"""fission: which products of rows are one product before a loop, which stay, and that values and errors stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import OutOfRangeError
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Program, Variable, clone_program, verify
from dy2st_runtime.ir.segments import computed_again
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.passes.dce import dce
from dy2st_runtime.passes.fission import MOST_GROWTH, MOST_ROWS, fission
from dy2st_runtime.passes.simplify import simplify
from hypothesis import given, settings
from hypothesis import strategies as st

from golden import assert_after  # isort: skip
from hand_built import Made  # isort: skip

Product = Callable[[Variable], Variable]


def row(m: Made, x: Variable, i: Variable) -> Variable:
    return m.b.op("slice", Input=x, StartsTensorList=[i], axes=[0], starts=[-1], ends=[2**31 - 1], decrease_axis=[0])


def length(m: Made, x: Variable, axis: int = 0) -> Variable:
    size = m.b.op("slice", Input=m.b.op("shape", Input=x), axes=[0], starts=[axis], ends=[axis + 1], decrease_axis=[0])
    return m.b.op("cast", X=size, in_dtype="int32", out_dtype="int64")


def other(m: Made, name: str, *shape: int) -> Variable:
    return m.data(name, shape)


def total(m: Made, x: Variable) -> Variable:
    return m.b.op("reduce_sum", X=x, reduce_all=True)


def scan(
    m: Made,
    step: Callable[[Variable, Variable], Variable],
    state: Variable,
    end: Variable,
    *,
    start: Variable | None = None,
    by: int = 1,
    test: Callable[[Variable, Variable], Variable] | None = None,
    saved: Sequence[int] = (),
) -> Variable:
    """`state = step(i, state)` for i = 0 ... end - 1."""
    one = m.b.constant(by, "int64")
    outs, _ = m.loop(
        lambda i, h: m.b.less_than(i, end) if test is None else test(i, h),
        lambda i, h: [m.b.add(i, one), step(i, h)],
        [start or m.b.constant(0, "int64"), state],
        saved=saved,
    )
    return outs[1]


def recurrent(m: Made, x: Variable, product: Product, end: Variable | None = None, **how: Any) -> Variable:
    """`h = tanh(product(x[i]) + h)` over x, from an h that is fed."""
    h = m.data("h", [*x.shape[1:-1], 4], x.dtype)
    return scan(m, lambda i, h: m.b.tanh(m.b.add(product(row(m, x, i)), h)), h, end or length(m, x), **how)


def sequence(m: Made, *shape: int, dtype: str = "float32") -> tuple[Variable, Variable]:
    """x, of open length if not said, and w."""
    x = m.data("x", shape or (-1, 2, 3), dtype)
    return x, m.data("w", [x.shape[-1], 4], dtype)


def products(program: Program) -> tuple[int, int]:
    """How many products there are outside of loops, and inside."""
    first, *others = ([op.type for op in block.ops].count("matmul_v2") for block in program.blocks)
    return first, sum(others)


def feeds(m: Made, size: int) -> dict[str, np.ndarray]:
    """Random values, where integers are not above the size; this size where it is open."""
    rng, block = np.random.default_rng(0), m.program.global_block()
    found: dict[str, np.ndarray] = {}
    for name in m.feeds:
        v = block.var(name)
        shape = [size if d == -1 else d for d in v.shape]
        found[name] = rng.integers(0, size + 1, shape) if v.dtype == "int64" else rng.standard_normal(shape).astype(v.dtype)
    return found


def check(m: Made, *outs: Variable, split: tuple[int, int], runs: Sequence[dict[str, np.ndarray]] | None = None) -> None:
    """That so many products are outside and inside of loops afterwards, and the values before and after, by NumPy and natively."""
    names = [v.name for v in outs]
    program = clone_program(m.program)
    verify(program)
    assert fission(program, frozenset(names)) is (split[0] > 0)
    verify(program)
    assert products(program) == split
    assert not fission(program, frozenset(names))
    exe = Executable(clone_program(m.program), m.feeds, names)
    for values in runs or [feeds(m, size) for size in (3, 0, 1)]:
        before = reference.run_program(clone_program(m.program), values, {})
        after = reference.run_program(program, values, {})
        for name, native in zip(names, exe.run([values[name] for name in m.feeds]), strict=True):
            np.testing.assert_allclose(after[name], before[name], rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(native, before[name], rtol=1e-4, atol=1e-6)


# ---- what is split off ----
def test_a_product_of_each_row_is_one_product() -> None:
    m = Made()
    x, w = sequence(m)
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w))
    assert_after(
        fission,
        m,
        [y],
        """
          data x: float32[?, 2, 3]
          data w: float32[3, 4]
          data h: float32[2, 4]
          shape.Out_0: int32[3] = shape(Input=x)
          slice.Out_0: int32[] = slice(Input=shape.Out_0, axes=[0], starts=[0], ends=[1], decrease_axis=[0])
          cast.Out_0: int64[] = cast(X=slice.Out_0, in_dtype='int32', out_dtype='int64')
          fill_constant.Out_0: int64[] = fill_constant(dtype='int64', value=1)
          fill_constant.Out_1: int64[] = fill_constant(dtype='int64')
          matmul_v2.Out_1: float32[?, 2, 4] = matmul_v2(X=x, Y=w)
          while_loop.Out_0: int64[], while_loop.Out_1: float32[2, 4] = while_loop(X=[fill_constant.Out_1, h])
            cond_block(p_0: int64[], p_1: float32[2, 4]):
              less_than.Out_0: bool[] = less_than(X=p_0, Y=cast.Out_0)
              yield less_than.Out_0
            body_block(p_2: int64[], p_3: float32[2, 4]):
              elementwise_add.Out_0: int64[] = elementwise_add(X=p_2, Y=fill_constant.Out_0)
              matmul_v2.Out_0: float32[2, 4] = slice(Input=matmul_v2.Out_1, StartsTensorList=[p_2], axes=[0], starts=[-1], ends=[2147483647], decrease_axis=[0])
              elementwise_add.Out_1: float32[2, 4] = elementwise_add(X=matmul_v2.Out_0, Y=p_3)
              tanh.Out_0: float32[2, 4] = tanh(X=elementwise_add.Out_1)
              yield elementwise_add.Out_0, tanh.Out_0
        """,  # noqa: E501
    )


@pytest.mark.parametrize("shape", [(-1, 2, 3), (-1, -1, 3), (3, 2, 3), (-1, 3), (-1, 2, 2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sizes_that_are_known_or_open(shape: tuple[int, ...], dtype: str) -> None:
    m = Made()
    x, w = sequence(m, *shape, dtype=dtype)
    check(m, recurrent(m, x, lambda x: m.b.matmul_v2(x, w)), split=(1, 0))


def test_a_length_that_is_a_constant() -> None:
    m = Made()
    x, w = sequence(m, 3, 2, 3)
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w), m.b.constant(3, "int64"))
    check(m, y, split=(1, 0))


def test_a_length_that_the_test_looks_up() -> None:
    m = Made()
    x, w = sequence(m)
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w), test=lambda i, _: m.b.less_than(i, length(m, x)))
    check(m, y, split=(1, 0))


def test_a_transposed_matrix() -> None:
    m = Made()
    x, w = m.data("x", [-1, 2, 3]), m.data("w", [4, 3])
    check(m, recurrent(m, x, lambda x: m.b.matmul_v2(x, w, trans_y=True)), split=(1, 0))


def test_several_products_of_one_row() -> None:
    m = Made()
    x, w = sequence(m)
    u = m.data("u", [3, 4])
    check(m, recurrent(m, x, lambda x: m.b.mul(m.b.matmul_v2(x, w), m.b.matmul_v2(x, u))), split=(2, 0))


def test_a_product_of_a_product() -> None:
    m = Made()
    x, w = sequence(m)
    u = m.data("u", [4, 4])
    check(m, recurrent(m, x, lambda x: m.b.matmul_v2(m.b.matmul_v2(x, w), u)), split=(2, 0))


def test_a_row_that_others_read_stays() -> None:
    m = Made()
    x, w = sequence(m, -1, 2, 4)
    y = recurrent(m, x, lambda x: m.b.mul(m.b.matmul_v2(x, w), x))
    check(m, y, split=(1, 0))


def test_from_the_last_row_down() -> None:
    m = Made()
    x, w = sequence(m)
    check(m, backwards(m, x, w, lambda n: m.b.sub(n, m.b.constant(1, "int64"))), split=(1, 0))


def test_a_loop_that_ends_before_the_rows_do() -> None:
    """As one over two tensors, of which the other is shorter: no work is done for the rows that it does not use."""
    m = Made()
    x, w = sequence(m)
    n = m.data("n", [], "int64")
    y = recurrent(m, x, lambda x: m.b.matmul_v2(m.b.matmul_v2(x, w), m.data("u", [4, 4])), n)
    given = [{**feeds(m, size), "n": np.array(end)} for size, end in ((3, 3), (3, 2), (3, 0), (3, -1), (0, 0))]
    check(m, y, split=(2, 0), runs=given)
    assert fission(m.program)
    (part,) = (op for op in m.program.global_block().ops if op.type == "slice")
    assert part.input("EndsTensorList") == ["n"]
    env = reference.run_program(m.program, given[1], {})
    assert [len(env[op.output_names[0]]) for op in m.program.global_block().ops if op.type == "matmul_v2"] == [2, 2]


def test_an_axis_that_is_not_there() -> None:
    m = Made()
    x, w = sequence(m)
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w), length(m, x, 3))
    assert fission(m.program, frozenset({y.name}))
    with pytest.raises(OutOfRangeError, match="index 3 is out of range for axis 0 with size 3"):
        reference.run_program(m.program, feeds(m, 3), {})


@pytest.mark.parametrize("end", ["of another", "of an axis that the run names"])
def test_a_length_that_may_be_another(end: str) -> None:
    m = Made()
    x, w = sequence(m, 3, 2, 3)
    if end == "of another":
        n = length(m, m.data("y", [-1]))
    else:
        n = m.b.op("slice", Input=m.b.op("shape", Input=x), StartsTensorList=[m.data("k", [], "int64")],
                   axes=[0], starts=[-1], ends=[2**31 - 1], decrease_axis=[0])  # fmt: skip
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w), n)
    check(m, y, split=(1, 0), runs=[{**feeds(m, 2), "k": np.array(1)}])
    assert fission(m.program)
    assert [op.input("EndsTensorList") for op in m.program.global_block().ops if op.type == "slice"][-1] == [n.name]


def test_a_loop_that_goes_beyond_the_rows_fails_as_before() -> None:
    m = Made()
    x, w = sequence(m)
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w), m.data("n", [], "int64"))
    exe = Executable(clone_program(m.program), m.feeds, [y.name])
    given = {**feeds(m, 3), "n": np.array(5)}
    assert fission(m.program)
    for run in (lambda: reference.run_program(m.program, given, {}), lambda: exe.run([given[name] for name in m.feeds])):
        with pytest.raises(OutOfRangeError, match=r"index 3 is out of range for axis 0 with size 3"):
            run()


def test_a_loop_in_a_loop() -> None:
    """The product leaves the inner loop; then it has many rows."""
    m = Made()
    xs, w = m.data("xs", [-1, -1, 2, 3]), m.data("w", [3, 4])

    def inner(i: Variable, h: Variable) -> Variable:
        x = row(m, xs, i)
        return scan(m, lambda j, h: m.b.tanh(m.b.add(m.b.matmul_v2(row(m, x, j), w), h)), h, length(m, x))

    y = scan(m, inner, m.data("h", [2, 4]), length(m, xs))
    before = clone_program(m.program)
    assert fission(m.program, frozenset({y.name}))
    verify(m.program)
    loop = next(op for op in m.program.global_block().ops if op.type == "while_loop")
    assert "matmul_v2" in (op.type for op in loop.attrs["body_block"].ops)
    for size in (3, 0, 1):
        (got,) = m.compare([y], feeds(m, size))
        np.testing.assert_allclose(got, reference.run_program(clone_program(before), feeds(m, size), {})[y.name], rtol=1e-4)


def test_a_loop_in_a_branch() -> None:
    m = Made()
    x, w = sequence(m)
    h, more = m.data("h", [2, 4]), m.data("more", [], "bool")

    def taken() -> list[Variable]:
        return [scan(m, lambda i, h: m.b.tanh(m.b.add(m.b.matmul_v2(row(m, x, i), w), h)), h, length(m, x))]

    (y,) = m.cond(more, taken, lambda: [h])
    assert fission(m.program, frozenset({y.name}))
    for value in (True, False):
        m.compare([y], {**feeds(m, 3), "more": np.array(value)})


# ---- gradients ----
@pytest.mark.parametrize("shape", [(-1, 2, 3), (-1, -1, 3), (3, 2, 3), (-1, 3)])
def test_the_gradient_of_a_loop(shape: tuple[int, ...]) -> None:
    m = Made()
    x, w = sequence(m, *shape)
    x.stop_gradient = w.stop_gradient = False
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w))
    found = append_backward(m.program, [y], [x, w], [m.data("dy", list(y.shape))])
    grads = [v for v in found if v is not None]
    assert len(grads) == 2
    before = products(m.program)
    check(m, y, *grads, split=(1, before[1] - 1), runs=[feeds(m, size) for size in (3, 1)])


def test_products_and_rows_that_are_saved() -> None:
    """Each is there under its name, in the same order."""
    m = Made()
    x, w = sequence(m)
    end, one = length(m, x), m.b.constant(1, "int64")

    def body(i: Variable, h: Variable, p: Variable, x0: Variable) -> list[Variable]:
        x_i = row(m, x, i)
        p = m.b.matmul_v2(x_i, w)
        return [m.b.add(i, one), m.b.add(h, p), p, x_i]

    state = [m.b.constant(0, "int64"), *(m.data(name, [2, size]) for name, size in (("h", 4), ("p", 4), ("x0", 3)))]
    outs, saved = m.loop(lambda i, *_: m.b.less_than(i, end), body, state, saved=[2, 3])
    names = [v.name for v in (*outs, *saved)]
    before = reference.run_program(clone_program(m.program), feeds(m, 3), {})
    assert fission(m.program, frozenset(names))
    verify(m.program)
    assert products(m.program) == (1, 0)
    after = reference.run_program(m.program, feeds(m, 3), {})
    for name in names:
        np.testing.assert_allclose(after[name], before[name], rtol=1e-5)


# ---- what stays ----
def stays_for_its_test(m: Made, x: Variable, w: Variable) -> Variable:
    more, end = m.data("more", [], "bool"), length(m, x)
    both = lambda i, _: m.b.op("logical_and", X=m.b.less_than(i, end), Y=more)  # noqa: E731
    return recurrent(m, x, lambda x: m.b.matmul_v2(x, w), test=both)


def stays_in_a_branch(m: Made, x: Variable, w: Variable) -> Variable:
    more = m.data("more", [], "bool")
    zeros = other(m, "zeros", 2, 4)
    return recurrent(m, x, lambda x: m.cond(more, lambda: [m.b.matmul_v2(x, w)], lambda: [zeros])[0])


def stays_as_its_index_is_another(m: Made, x: Variable, w: Variable) -> Variable:
    k = m.data("k", [], "int64")
    return scan(m, lambda i, h: m.b.add(m.b.matmul_v2(row(m, x, k), w), h), other(m, "h", 2, 4), length(m, x))


def backwards(m: Made, x: Variable, w: Variable, last: Callable[[Variable], Variable], less: Variable | None = None) -> Variable:
    """From the row of number `last(length)` down, by the count or by something else."""
    end = length(m, x)
    at = last(end)
    step = lambda i, h: m.b.add(m.b.matmul_v2(row(m, x, m.b.sub(at, less or i)), w), h)  # noqa: E731
    return scan(m, step, other(m, "h", *x.shape[1:-1], 4), end)


def stays_as_it_is_a_part_of_the_row(m: Made, x: Variable, w: Variable) -> Variable:
    end, zero, u = length(m, x), m.b.constant(0, "int64"), other(m, "u", 3, 4)

    def step(i: Variable, h: Variable) -> Variable:
        part = m.b.op("slice", Input=x, StartsTensorList=[i, zero], axes=[0, 1], starts=[0, 0], ends=[1, 1], decrease_axis=[0])
        return m.b.add(m.b.matmul_v2(part, u), h)

    return scan(m, step, other(m, "h", 1, 4), end)


def stays_as_it_goes_through_columns(m: Made, x: Variable, w: Variable) -> Variable:
    def step(i: Variable, h: Variable) -> Variable:
        column = m.b.op("slice", Input=x, StartsTensorList=[i], axes=[1], starts=[-1], ends=[2**31 - 1], decrease_axis=[1])
        return m.b.add(h, m.b.op("reduce_sum", X=m.b.matmul_v2(column, w), dim=[0]))

    return scan(m, step, other(m, "h", 4), length(m, x, 1))


def stays_as_it_keeps_its_axis(m: Made, x: Variable, w: Variable) -> Variable:
    def step(i: Variable, h: Variable) -> Variable:
        rest = m.b.op("slice", Input=x, StartsTensorList=[i], axes=[0], starts=[-1], ends=[2**31 - 1])
        return m.b.add(h, m.b.op("reduce_sum", X=m.b.matmul_v2(rest, w), dim=[0]))

    return scan(m, step, other(m, "h", 2, 4), length(m, x))


def stays_as_its_matrix_changes(m: Made, x: Variable, w: Variable) -> Variable:
    return scan(m, lambda i, w: m.b.tanh(m.b.add(w, total(m, m.b.matmul_v2(row(m, x, i), w)))), w, length(m, x))


def stays_as_its_rows_change(m: Made, x: Variable, w: Variable) -> Variable:
    return scan(m, lambda i, y: m.b.add(y, total(m, m.b.matmul_v2(row(m, y, i), w))), x, length(m, x))


STAYS: dict[str, Callable[[Made, Variable, Variable], Variable]] = {
    "the test is about more": stays_for_its_test,
    "the test compares otherwise": lambda m, x, w: recurrent(
        m, x, lambda x: m.b.matmul_v2(x, w), test=lambda i, _: m.b.op("less_equal", X=i, Y=m.b.constant(1, "int64"))
    ),
    "the end is none of a count": lambda m, x, w: recurrent(m, x, lambda x: m.b.matmul_v2(x, w), m.data("n", [])),
    "it does not begin at 0": lambda m, x, w: recurrent(m, x, lambda x: m.b.matmul_v2(x, w), start=m.b.constant(1, "int64")),
    "it begins where the run says": lambda m, x, w: recurrent(m, x, lambda x: m.b.matmul_v2(x, w), start=m.data("i", [], "int64")),
    "it takes other steps": lambda m, x, w: recurrent(m, x, lambda x: m.b.matmul_v2(x, w), by=2),
    "the product is in a branch": stays_in_a_branch,
    "another index": stays_as_its_index_is_another,
    "back from elsewhere": lambda m, x, w: backwards(m, x, w, lambda n: m.b.sub(m.data("k", [], "int64"), m.b.constant(1, "int64"))),
    "back from the last but one": lambda m, x, w: backwards(m, x, w, lambda n: m.b.sub(n, m.b.constant(2, "int64"))),
    "back by something else": lambda m, x, w: backwards(
        m, x, w, lambda n: m.b.sub(n, m.b.constant(1, "int64")), m.data("k", [], "int64")
    ),
    "a part of the row": stays_as_it_is_a_part_of_the_row,
    "the test computes its end": lambda m, x, w: recurrent(
        m, x, lambda x: m.b.matmul_v2(x, w), test=lambda i, _: m.b.less_than(i, m.b.scaled(m.b.constant(1, "int64"), 2.0))
    ),
    "columns": stays_as_it_goes_through_columns,
    "the rest of x": stays_as_it_keeps_its_axis,
    "w changes": stays_as_its_matrix_changes,
    "x changes": stays_as_its_rows_change,
    "the row is on the right": lambda m, x, w: recurrent(m, x, lambda x: total(m, m.b.matmul_v2(other(m, "v", 4, 2), x))),
    "many matrices": lambda m, x, w: recurrent(m, x, lambda x: total(m, m.b.matmul_v2(x, other(m, "v", 2, 3, 4)))),
    "a vector": lambda m, x, w: recurrent(m, x, lambda x: total(m, m.b.matmul_v2(x, other(m, "v", 3)))),
    "much longer than the row": lambda m, x, w: recurrent(
        m, x, lambda x: total(m, m.b.matmul_v2(x, other(m, "v", 3, 3 * MOST_GROWTH + 1)))
    ),
}


@pytest.mark.parametrize("why", STAYS)
def test_what_stays(why: str) -> None:
    m = Made()
    x, w = sequence(m)
    y = STAYS[why](m, x, w)
    verify(m.program)
    assert products(m.program) == (0, 1)
    assert not fission(m.program, frozenset({y.name}))


def test_a_transposed_row_stays() -> None:
    m = Made()
    x, w = sequence(m, -1, 3, 3)
    check(m, recurrent(m, x, lambda x: m.b.matmul_v2(x, w, trans_x=True)), split=(0, 1))


@pytest.mark.parametrize(("rows", "split"), [(MOST_ROWS, (1, 0)), (MOST_ROWS + 1, (0, 1))])
def test_an_iteration_of_many_rows(rows: int, split: tuple[int, int]) -> None:
    m = Made()
    x, w = sequence(m, -1, rows, 3)
    check(m, recurrent(m, x, lambda x: m.b.matmul_v2(x, w)), split=split)


@pytest.mark.parametrize("dtype", ["int64", "float16"])
def test_integers_and_half_precision(dtype: str) -> None:
    """Their products are no routine that packs w."""
    m = Made()
    x, w = sequence(m, dtype=dtype)
    y = scan(m, lambda i, h: m.b.add(m.b.matmul_v2(row(m, x, i), w), h), m.data("h", [2, 4], dtype), length(m, x))
    assert not fission(m.program, frozenset({y.name}))


def test_sizes_that_may_not_fit() -> None:
    """The loop may run no iteration: then nothing fails. An op of the body that fails before does not make the product safe."""
    m = Made()
    x, w = m.data("x", [-1, 2, -1]), m.data("w", [3, 4])

    def product(x: Variable) -> Variable:
        return m.b.add(total(m, m.b.add(x, other(m, "three", 3))), m.b.matmul_v2(x, w))

    y = recurrent(m, x, product)
    assert not fission(m.program, frozenset({y.name}))
    given = {**feeds(m, 2), "x": np.zeros((0, 2, 2), "f")}
    (got,) = m.compare([y], given)
    np.testing.assert_array_equal(got, given["h"])


def test_sizes_that_fit_once_they_are_looked_at() -> None:
    """What fails before the loop where they differ."""
    m = Made()
    x, w = m.data("x", [-1, 2, -1]), m.data("w", [3, 4])
    y = recurrent(m, m.b.add(x, other(m, "three", 3)), lambda x: m.b.matmul_v2(x, w))
    check(m, y, split=(1, 0), runs=[feeds(m, 3)])


@pytest.mark.parametrize("name", "xwn")
def test_what_may_be_absent(name: str) -> None:
    m = Made()
    x, w = sequence(m)
    m.program.absent_feeds.add(name)
    y = recurrent(m, x, lambda x: m.b.matmul_v2(x, w), m.data("n", [], "int64"))
    assert not fission(m.program, frozenset({y.name}))


def test_what_is_computed_again_stays() -> None:
    m = Made()
    x, w = sequence(m)

    def product(x: Variable) -> Variable:
        with computed_again(m.b.block):
            return m.b.matmul_v2(x, w)

    y = recurrent(m, x, product)
    assert not fission(m.program, frozenset({y.name}))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_random_loops(data: st.DataObject) -> None:
    """Loops over one tensor or several, up to lengths that are those of one or others, with gradients, give what they gave."""
    m = Made()
    draw = data.draw
    shape = draw(st.sampled_from([(-1, 2, 3), (-1, -1, 3), (3, 2, 3)]))
    xs = [m.data(name, shape) for name in "xy"]
    ws = [m.data(name, [3, 3]) for name in "uvw"]
    for v in (*xs, *ws):
        v.stop_gradient = False
    one = m.b.constant(1, "int64")
    lengths = [length(m, x) for x in xs]
    end = draw(st.sampled_from([*lengths, m.b.op("elementwise_min", X=lengths[0], Y=lengths[1]), m.data("n", [], "int64")]))
    last = m.b.sub(end, one)

    def step(i: Variable, h: Variable) -> Variable:
        down = m.b.sub(last, i)
        values = [row(m, x, draw(st.sampled_from([i, down]))) for x in xs]
        for _ in range(draw(st.integers(1, 6))):
            x = draw(st.sampled_from(values))
            if draw(st.booleans()):
                values.append(m.b.matmul_v2(x, draw(st.sampled_from(ws)), trans_y=draw(st.booleans())))
            else:
                values.append(m.b.tanh(m.b.add(x, draw(st.sampled_from([*values, h])))))
        return m.b.tanh(m.b.add(h, values[-1]))

    h = m.data("h", [*shape[1:-1], 3])
    y = scan(m, step, h, end)
    outs = [y]
    if draw(st.booleans()):
        wanted = [*xs, *ws, h]
        outs += [v for v in append_backward(m.program, [y], wanted, [m.data("dy", list(y.shape))]) if v is not None]
    names = frozenset(v.name for v in outs)
    program = clone_program(m.program)
    for one_pass in (simplify, dce, fission):
        one_pass(program, names)
        verify(program)
    values = feeds(m, 3)
    before = reference.run_program(clone_program(m.program), values, {})
    after = reference.run_program(program, values, {})
    for name in names:
        if before[name] is ABSENT:
            assert after[name] is ABSENT
        else:
            np.testing.assert_allclose(after[name], before[name], rtol=1e-4, atol=1e-5)
