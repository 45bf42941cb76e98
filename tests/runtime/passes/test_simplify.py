"""simplify: each rule by a golden text; what only looks alike stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.ir import Variable, clone_program, verify
from dy2st_runtime.passes.dce import dce
from dy2st_runtime.passes.simplify import simplify

from golden import assert_after  # isort: skip
from hand_built import Made  # isort: skip

Expression = Callable[[Made, Variable], Variable]


def constant(m: Made, value: float) -> Variable:
    return m.b.constant(value, "float32", [3])


def twice(op: str, **attrs: object) -> Expression:
    return lambda m, x: m.b.op(op, X=m.b.op(op, X=x, **attrs), **attrs)


VANISH: dict[str, Expression] = {
    "assign": lambda m, x: m.b.op("assign", X=x),
    "cast": lambda m, x: m.b.op("cast", X=x, in_dtype="float32", out_dtype="float32"),
    "scale": lambda m, x: m.b.scaled(x, 1.0),
    "add zero": lambda m, x: m.b.add(x, constant(m, -0.0)),  # -0.0 + 0.0 is 0.0
    "zero add": lambda m, x: m.b.add(constant(m, -0.0), x),
    "subtract zero": lambda m, x: m.b.sub(x, constant(m, 0.0)),
    "times one": lambda m, x: m.b.mul(constant(m, 1.0), x),
    "to the power one": lambda m, x: m.b.elementwise_pow(x, m.b.constant(1.0, "float32")),
    "by one": lambda m, x: m.b.div(x, constant(m, 1.0)),
    "identity transpose": lambda m, x: m.b.op("transpose2", X=x, axis=[0, 1]),
    "transposes": twice("transpose2", axis=[1, 0]),
    "reshapes": lambda m, x: (
        m.b.op("reshape2", X=m.b.op("reshape2", X=x, shape=[3, -1]), shape=[-1, 3])
        if -1 not in x.shape
        else m.b.op("assign", X=x)
    ),
    "same shape": lambda m, x: m.b.op("expand_as_v2", X=x, Y=m.b.exp(x)),
    "sum to the same shape": lambda m, x: m.b.op("sum_like", X=x, Y=m.b.exp(x)),
    "reshape to the same shape": lambda m, x: m.b.op("reshape_as", X=x, Y=m.b.exp(x)),
    "sum of one": lambda m, x: m.b.op("sum", X=[x]),
    "sum with what is absent": lambda m, x: m.b.op("sum", X=[x, absent(m)]),
    "defined": lambda m, x: m.b.op("ensure_defined", X=x, name="x", why=""),
    "filled": lambda m, x: m.b.op("fill_absent", X=x, Like=m.b.exp(x)),
}


def absent(m: Made) -> Variable:
    return m.b.op("absent", dtype="float32", shape=[-1, 3])


@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize("name", VANISH)
def test_an_expression_that_is_its_operand(name: str, batch: int) -> None:
    m = Made()
    x = m.data("x", [batch, 3])
    y = m.b.relu(VANISH[name](m, x))
    keep = frozenset({y.name})
    assert simplify(m.program, keep)
    verify(m.program)
    dce(m.program, keep)
    assert [(op.type, op.input_names) for op in m.program.global_block().ops] == [("relu", ["x"])]


STAY: dict[str, Expression] = {
    "cast to another dtype": lambda m, x: m.b.op("cast", X=x, in_dtype="float32", out_dtype="float64"),
    "scale": lambda m, x: m.b.scaled(x, 2.0),
    "bias": lambda m, x: m.b.scaled(x, 1.0, 1.0),
    "zero that broadcasts x": lambda m, x: m.b.add(x, m.b.constant(0.0, "float32", [2, 1, 3])),
    "one of a wider dtype": lambda m, x: m.b.mul(x, m.b.constant(1.0, "float64", [3])),
    "add a zero that changes the sign of one": lambda m, x: m.b.add(x, constant(m, 0.0)),
    "subtract a zero that changes the sign of one": lambda m, x: m.b.sub(x, constant(m, -0.0)),
    "zero minus": lambda m, x: m.b.sub(constant(m, 0.0), x),
    "one transpose": lambda m, x: m.b.op("transpose2", X=x, axis=[1, 0]),
    "broadcast": lambda m, x: m.b.op("expand_as_v2", X=x, Y=m.b.op("stack", X=[x, x], axis=0)),
}


@pytest.mark.parametrize("name", STAY)
def test_what_only_looks_alike_stays(name: str) -> None:
    m = Made()
    y = STAY[name](m, m.data("x", [-1, 3]))
    assert not simplify(m.program, frozenset({y.name}))


@pytest.mark.parametrize(("exponent", "shape", "found"), [
    (2.0, [], "pow"), (-0.5, [], "pow"), (0.5, [], "pow"), (2.5, [], "elementwise_pow"), (0.0, [], "elementwise_pow"),
    (2.0, [3], "pow"), (-0.5, [3], "pow"), (0.5, [3], "elementwise_pow"),
])  # fmt: skip
def test_powers_that_are_cheap(exponent: float, shape: list[int], found: str) -> None:
    m = Made()
    x = m.data("x", [-1, 3])
    out = m.b.elementwise_pow(x, m.b.constant(exponent, "float32", shape))
    after = clone_program(m.program)
    simplify(after, frozenset({out.name}))
    verify(after)
    (op,) = (op for op in after.global_block().ops if op.output_names == [out.name])
    assert (op.type, op.attrs.get("factor", exponent)) == (found, exponent)
    values = {"x": np.array([[-np.inf, -2, -0.0], [0, 1e-30, 2], [np.inf, np.nan, 3e20]], "f")}
    want = reference.run_program(m.program, values, {})[out.name]
    np.testing.assert_array_equal(reference.run_program(after, values, {})[out.name], want)
    m.compare([out], values)


def test_powers_of_integers_checked_ones_and_those_that_stretch_stay() -> None:
    m = Made()
    two = m.b.constant(2.0, "float32")
    for x, y, attrs in (
        (m.data("i", [3], "int64"), m.b.constant(2, "int64"), {}),
        (m.data("x", []), two, {"checked": True}),
        (m.data("y", [1]), constant(m, 2.0), {}),
    ):
        out = m.b.elementwise_pow(x, y, **attrs)
        after = clone_program(m.program)
        simplify(after, frozenset({out.name}))
        assert any(op.type == "elementwise_pow" and op.output_names == [out.name] for op in after.global_block().ops)


def test_two_sizes_that_merely_are_both_open() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    z = m.b.op("sum_like", X=x, Y=y)
    assert not simplify(m.program, frozenset({z.name}))


def many(m: Made, value: float, n: Variable) -> Variable:
    return m.b.op("fill_constant", ShapeTensorList=[n], shape=[-1], value=value)


FAIL: dict[str, Callable[[Made, Variable, Variable], Variable]] = {
    "times one": lambda m, x, n: m.b.mul(x, many(m, 1.0, n)),
    "to the power one": lambda m, x, n: m.b.elementwise_pow(x, many(m, 1.0, n)),
    "cheap power": lambda m, x, n: m.b.elementwise_pow(x, many(m, 2.0, n)),
    "reshape to the same shape": lambda m, x, n: m.b.op("reshape2", X=m.b.op("reshape2", X=x, ShapeTensor=[n], shape=[-1]), shape=[3]),
}


@pytest.mark.parametrize("name", FAIL)
def test_what_sizes_of_the_run_may_not_fit_stays(name: str) -> None:
    m = Made()
    z = FAIL[name](m, m.data("x", [3]), m.data("n", [], "int64"))
    before = [op.type for op in m.program.global_block().ops]
    simplify(m.program, frozenset({z.name}))
    assert before[-1] in [op.type for op in m.program.global_block().ops]


def test_sizes_that_a_check_between_their_definitions_says_are_equal() -> None:
    m = Made()
    x, y, other = m.data("x", [-1, 3]), m.data("y", [2, 3]), m.data("other", [-1, 3])
    h = m.b.exp(x)
    d = m.b.op("sum", X=[h, y])  # raises unless x has two rows
    z = m.b.add(m.b.op("sum_like", X=d, Y=h), m.b.op("sum_like", X=d, Y=other))
    after = clone_program(m.program)
    simplify(after, frozenset({z.name}))
    assert [op.input("Y") for op in after.global_block().ops if op.type == "sum_like"] == [[other.name]]
    m.compare([z], {"x": np.ones((2, 3), "f"), "y": np.ones((2, 3), "f"), "other": np.ones((1, 3), "f")})


def test_fetches_keep_their_names() -> None:
    m = Made()
    y = m.b.op("assign", X=m.data("x", [3]))
    assert not simplify(m.program, frozenset({y.name}))


def test_persistables_that_swap_their_values() -> None:
    m = Made()
    block = m.program.global_block()
    a, b = (block.create_var(name, "float32", [3], persistable=True) for name in "ab")
    m.program.updates = {"a": m.b.op("assign", X=b).name, "b": m.b.op("assign", X=a).name}
    assert not simplify(m.program)  # else b would be written from an a that is overwritten already


def test_a_condition_that_is_known() -> None:
    m = Made()
    x = m.data("x", [3])
    yes = m.b.constant(1, "bool")
    (y,) = m.cond(yes, lambda: m.cond(m.b.less_than(m.b.op("reduce_sum", X=x), m.b.constant(0.0, "float32")),
                                      lambda: [m.b.relu(x)], lambda: [m.b.exp(x)]), lambda: [m.b.tanh(x)])  # fmt: skip
    z = m.b.relu(y)
    assert_after(
        simplify,
        m,
        [z],
        """
        data x: float32[3]
        fill_constant.Out_0: bool[] = fill_constant(dtype='bool', value=1)
        reduce_sum.Out_0: float32[] = reduce_sum(X=x)
        fill_constant.Out_1: float32[] = fill_constant()
        less_than.Out_0: bool[] = less_than(X=reduce_sum.Out_0, Y=fill_constant.Out_1)
        cond.Out_0: float32[3] = cond(Cond=less_than.Out_0)
          true_block:
            relu.Out_0: float32[3] = relu(X=x)
            yield relu.Out_0
          false_block:
            exp.Out_0: float32[3] = exp(X=x)
            yield exp.Out_0
        relu.Out_1: float32[3] = relu(X=cond.Out_0)
        """,
    )


def test_state_that_does_not_change_and_results_that_are_the_same() -> None:
    m = Made()
    x, w, n, k = m.data("x", [3]), m.data("w", [3]), m.data("n", [], "int64"), m.data("k", [], "bool")

    def body(i: Variable, h: Variable, same: Variable) -> list[Variable]:
        copy = m.b.op("assign", X=same)
        h, same = m.cond(k, lambda: [m.b.mul(h, copy), same], lambda: [h, same])
        return [m.b.scaled(i, 1.0, 1.0), h, same]

    (_, h, same), _ = m.loop(lambda i, *_: m.b.less_than(i, n), body, [m.b.constant(0, "int64"), x, w])
    y = m.b.add(h, same)
    before = clone_program(m.program)
    simplify(m.program, frozenset({y.name}))
    simplify(m.program, frozenset({y.name}))
    verify(m.program)
    (loop,) = (op for op in m.program.global_block().ops if op.type == "while_loop")
    assert len(loop.input("X")) == 2
    feeds = {"x": np.ones(3, "f"), "w": np.full(3, 2.0, "f"), "n": np.array(3), "k": np.array(True)}
    got, want = (reference.run_program(p, feeds, {})[y.name] for p in (m.program, before))
    np.testing.assert_array_equal(got, want)


def test_what_is_surely_absent_is_not_computed() -> None:
    m = Made()
    x = m.data("x", [3])
    lost = m.b.op("absent", dtype="float32", shape=[3])
    y = m.b.op("sum", X=[m.b.mul(m.b.exp(lost), x), m.b.tanh(lost)])
    assert_after(
        simplify,
        m,
        [y],
        """
        data x: float32[3]
        absent.Out_0: float32[3] = absent(shape=[3])
        exp.Out_0: float32[3] = absent(shape=[3])
        elementwise_mul.Out_0: float32[3] = absent(shape=[3])
        tanh.Out_0: float32[3] = absent(shape=[3])
        sum.Out_0: float32[3] = absent(shape=[3])
        """,
    )


def test_what_may_be_absent_is_still_tested() -> None:
    m = Made()
    x = m.data("x", [3])
    m.program.absent_feeds = {"x"}
    y = m.b.op("ensure_defined", X=x, name="x", why="")
    z = m.b.op("fill_absent", X=x, Like=m.b.constant(0.0, "float32", [3]))
    assert not simplify(m.program, frozenset({y.name, z.name}))


def test_a_copy_of_the_random_state_is_no_alias() -> None:
    m = Made()
    rng = m.program.global_block().create_var("@RNG@", "int64", [2], persistable=True)
    y = m.b.relu(m.b.op("assign", X=rng))
    assert not simplify(m.program, frozenset({y.name}))
