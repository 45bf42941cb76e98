"""append_backward through while_loop: any trip count, nested, lowered breaks, lists, random draws."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import GradientError
from dy2st_runtime.ir import Variable, verify
from dy2st_runtime.ops import registry
from dy2st_runtime.passes.pipeline import optimize

from gradient_checks import COUNTS, Float64, ops_of  # isort: skip


# ---- loops ----


def test_a_recurrence() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    (h,) = m.repeat(m.count(), lambda i, h: [m.b.tanh(m.b.add(m.b.mul(h, w), x))], [x])
    m.check(m.total(h), [x, w], *COUNTS[1:])


def test_no_iteration_leaves_the_initial_value_and_no_gradient_for_the_weights() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    (h,) = m.repeat(m.count(), lambda i, h: [m.b.mul(h, w)], [x])
    m.check(m.total(h), [x, w], {"n": 0}, absent=["w"])


def test_swaps_shared_values_and_state_that_stays() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")

    def body(i: Variable, a: Variable, b: Variable, same: Variable, twice: Variable, outer: Variable) -> list[Variable]:
        h = m.b.mul(b, m.b.tanh(same))
        return [b, h, same, h, w]

    outs = m.repeat(m.count(), body, [x, x, w, x, x])
    m.check(m.total(*outs), [x, w], *COUNTS)


def test_state_that_starts_from_a_constant_is_differentiable() -> None:
    m = Float64()
    x = m.vector("x")
    (h,) = m.repeat(m.count(), lambda i, h: [m.b.add(m.b.mul(h, h), x)], [m.b.constant(0.5, "float64", [3])])
    m.check(m.total(h), [x], *COUNTS[1:])


def test_integer_state_is_carried_without_gradient() -> None:
    m = Float64()
    x, k = m.vector("x"), m.count("k")

    def body(i: Variable, h: Variable, j: Variable) -> list[Variable]:
        factor = m.b.op("cast", X=j, in_dtype="int64", out_dtype="float64")
        return [m.b.mul(h, factor), m.b.add(j, i)]

    h, _ = m.repeat(m.count(), body, [m.b.mul(x, x), k])
    assert append_backward(m.program, [m.total(h)], [k]) == [None]
    m.check(m.total(h), [x], *({"n": n, "k": 2} for n in (0, 1, 3)))


def test_a_loop_without_saved_values_counts_its_iterations() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    (h,) = m.repeat(m.count(), lambda i, h: [m.b.add(m.b.scaled(h, 2.0), w)], [x])
    y = m.total(h)
    before = ops_of(m, "while_loop")[0]
    state = len(before.input("X"))
    m.check(y, [x, w], *COUNTS[1:])
    assert before.attrs["saved"] == []
    assert len(before.input("X")) == state + 1


def test_nested_loops_with_a_branch() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    n, k = m.count(), m.count("k")

    def inner(j: Variable, h: Variable) -> list[Variable]:
        odd = m.b.op("equal", X=m.b.op("elementwise_mod", X=j, Y=m.b.constant(2, "int64")), Y=m.b.constant(1, "int64"))
        return m.cond(odd, lambda: [m.b.mul(h, w)], lambda: [m.b.tanh(m.b.add(h, x))])

    def outer(i: Variable, h: Variable) -> list[Variable]:
        (g,) = m.repeat(m.b.add(i, k), inner, [m.b.exp(m.b.scaled(h, 0.1))])
        return [m.b.mul(g, h)]

    (h,) = m.repeat(n, outer, [x])
    m.check(m.total(h), [x, w], *({"n": a, "k": b} for a in (1, 2) for b in (2, 3)))


def test_a_lowered_break() -> None:
    m = Float64()
    x, w, limit = m.vector("x"), m.vector("w"), m.data("limit", [], "float64")

    def test(i: Variable, go: Variable, h: Variable) -> Variable:
        return m.b.logical_and(m.b.less_than(i, m.b.constant(6, "int64")), go)

    def body(i: Variable, go: Variable, h: Variable) -> list[Variable]:
        g = m.b.mul(h, w)
        norm = m.b.op("reduce_sum", X=m.b.mul(g, g), dim=[], reduce_all=True)
        stop = m.b.greater_than(norm, limit)
        (after,) = m.cond(stop, lambda: [g], lambda: [m.b.add(m.b.exp(m.b.scaled(g, 0.3)), x)])
        return [m.b.scaled(i, 1.0, 1.0), m.b.logical_not(stop), after]

    outs, _ = m.loop(test, body, [m.b.constant(0, "int64"), m.b.constant(1, "bool"), x])
    m.check(m.total(outs[2]), [x, w], *({"limit": v} for v in (0.0, 3.0, 5.0, 1e9)))


def test_state_that_is_undefined_before_the_loop() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    undefined = m.b.op("absent", dtype="float64", shape=[3])

    def body(i: Variable, h: Variable, last: Variable) -> list[Variable]:
        first = m.b.op("equal", X=i, Y=m.b.constant(0, "int64"))
        (g,) = m.cond(first, lambda: [m.b.mul(h, w)], lambda: [m.b.mul(last, m.b.tanh(h))])
        return [g, m.b.exp(h)]

    h, last = m.repeat(m.count(), body, [x, undefined])
    m.check(m.total(h, m.b.op("ensure_defined", X=last, name="last", why="no iteration")), [x, w], *COUNTS[1:])


@pytest.mark.parametrize("trips", [1, 3])
def test_only_one_of_two_states_reaches_the_target(trips: int) -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    a, _ = m.repeat(m.count(), lambda i, a, b: [m.b.mul(a, w), m.b.mul(b, m.b.mul(a, x))], [x, w])
    m.check(m.total(a), [x, w], {"n": trips})
    assert len(ops_of(m, "while_loop")[0].attrs["saved"]) == 1  # a; nothing of b


def test_expensive_results_are_saved_and_cheap_ones_computed_again() -> None:
    m = Float64()
    x, w = m.data("x", [3, 3], "float64"), m.data("w", [3, 3], "float64")

    def body(i: Variable, h: Variable) -> list[Variable]:
        gate = m.b.op("reduce_mean", X=m.b.matmul_v2(h, w), dim=[1], keep_dim=True)
        return [m.b.mul(m.b.tanh(h), m.b.exp(gate))]

    (h,) = m.repeat(m.count(), body, [x])
    m.check(m.total(h), [x, w], *COUNTS[1:3])
    forward, backward = (op for op in m.program.global_block().ops if op.type == "while_loop")
    body = forward.attrs["body_block"]
    makers = {name: op.type for op in body.ops for name in op.output_names}
    # the mean and, for its shape, the product come from expensive ops, tanh(h) can be had from h
    assert sorted(makers.get(name, "param") for name in forward.attrs["saved"]) == ["exp", "matmul_v2", "param"]
    again = [op.type for op in backward.attrs["body_block"].ops]
    assert again.count("tanh") == 1
    assert again.count("matmul_v2") == 2  # the two products of the gradient, none of the forward


def test_no_gradient_of_a_gradient_through_a_loop() -> None:
    m = Float64()
    x = m.vector("x")
    (h,) = m.repeat(m.count(), lambda i, h: [m.b.mul(h, h)], [x])
    (dx,) = append_backward(m.program, [m.total(h)], [x])
    with pytest.raises(GradientError, match="gradient of a gradient through while_loop"):
        append_backward(m.program, [dx], [x])  # type: ignore[list-item]


def test_after_the_passes_only_what_the_gradient_reads_is_saved() -> None:
    m = Float64()
    xs = m.data("xs", [-1, -1, 4], "float64")
    w, u, bias = m.data("w", [4, 3], "float64"), m.data("u", [3, 3], "float64"), m.vector("bias")

    def body(i: Variable, h: Variable) -> list[Variable]:
        x = m.b.op("squeeze2", X=m.b.op("gather", X=xs, Index=m.b.op("reshape2", X=i, shape=[1])), axes=[0])
        return [m.b.tanh(m.b.add(m.b.add(m.b.matmul_v2(x, w), m.b.matmul_v2(h, u)), bias))]

    first = m.b.op("squeeze2", X=m.b.op("gather", X=xs, Index=m.b.constant(0, "int64", [1])), axes=[0])
    (h,) = m.repeat(m.count(), body, [m.b.matmul_v2(first, w)])
    y = m.total(h)
    batch = np.random.default_rng(0).normal(size=(3, 2, 4))
    m.check(y, [w, u, bias], {"n": 1, "xs": batch}, {"n": 3, "xs": batch})
    optimize(m.program, ["xs", "w", "u", "bias", "n"], ["w@GRAD", "u@GRAD", "bias@GRAD"])
    forward = ops_of(m, "while_loop")[0]
    makers = {name: op.type for op in forward.attrs["body_block"].ops for name in op.output_names}
    # the sums for the broadcast bias are gone: the batch is the same by construction, so no product is kept for its shape
    kept = sorted(makers.get(name, "param") for name in forward.attrs["saved"])
    assert kept == ["fused_matmul", "param", "squeeze2"]


# ---- lists ----


@pytest.mark.parametrize("write", ["array_append", "write_to_array"])
@pytest.mark.parametrize("guarded", [False, True])
def test_a_list_that_grows(write: str, guarded: bool) -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")

    def put(items: Variable, h: Variable) -> Variable:
        if write == "array_append":
            return m.b.op("array_append", Array=items, X=h)
        return m.b.op("write_to_array", X=h, I=m.b.op("lod_array_length", X=items), Array=items)

    def body(i: Variable, h: Variable, items: Variable) -> list[Variable]:
        g = m.b.tanh(m.b.mul(h, w))
        if not guarded:
            return [g, put(items, g)]
        early = m.b.less_than(i, m.b.constant(2, "int64"))
        (kept,) = m.cond(early, lambda: [put(items, g)], lambda: [items])
        return [g, kept]

    empty = m.b.op("create_array", dtype="float64", shape=[3])
    _, items = m.repeat(m.count(), body, [x, empty])
    stacked = m.b.op("tensor_array_to_tensor", X=items, axis=0, use_stack=True)
    m.check(m.total(stacked), [x, w], *COUNTS[1:])


@pytest.mark.parametrize("replace", [False, True])
def test_a_list_that_is_read_while_it_grows(replace: bool) -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    last = m.b.constant(-1, "int64")

    def body(i: Variable, items: Variable) -> list[Variable]:
        read = m.b.op("read_from_array", X=items, I=last)
        items = m.b.op("array_append", Array=items, X=m.b.mul(m.b.tanh(read), w))
        if replace:
            items = m.b.op("array_set", Array=items, X=m.b.mul(read, x), I=m.b.constant(0, "int64"))
        return [items]

    start = m.b.op("array_append", Array=m.b.op("create_array", dtype="float64", shape=[3]), X=m.b.mul(x, x))
    (items,) = m.repeat(m.count(), body, [start])
    stacked = m.b.op("tensor_array_to_tensor", X=items, axis=0, use_stack=True)
    m.check(m.total(stacked), [x, w], *COUNTS[1:])


@pytest.mark.parametrize("guarded", [False, True])
def test_a_list_that_loses_and_replaces_entries(guarded: bool) -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    first = m.b.constant(0, "int64")

    def change(items: Variable) -> Variable:
        rest, value = m.b.array_pop(items)
        read = m.b.op("read_from_array", X=items, I=first)
        rest = m.b.op("array_set", Array=rest, X=m.b.mul(read, w), I=first)
        rest = m.b.op("array_insert", Array=rest, X=m.b.mul(m.b.tanh(value), read), I=m.b.constant(1, "int64"))
        return m.b.op("array_append", Array=rest, X=m.b.mul(value, read))

    def body(i: Variable, items: Variable) -> list[Variable]:
        if not guarded:
            return [change(items)]
        early = m.b.less_than(i, m.b.constant(2, "int64"))
        # what the list loses, it loses before the branch, which only reads it
        rest, value = m.b.array_pop(items)
        return m.cond(early, lambda: [change(m.b.op("array_append", Array=rest, X=m.b.tanh(value)))], lambda: [rest])

    start = m.b.op("create_array", dtype="float64", shape=[3])
    for factor in (1.0, 0.5, 2.0, 3.0, 0.25):
        start = m.b.op("array_append", Array=start, X=m.b.scaled(x, factor))
    (items,) = m.repeat(m.count(), body, [start])
    stacked = m.b.op("tensor_array_to_tensor", X=items, axis=0, use_stack=True)
    m.check(m.total(m.b.tanh(stacked)), [x, w], *COUNTS[1:])


def test_lists_that_change_places() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    last = m.b.constant(-1, "int64")

    def body(i: Variable, a: Variable, b: Variable) -> list[Variable]:
        value = m.b.tanh(m.b.mul(m.b.op("read_from_array", X=a, I=last), m.b.op("read_from_array", X=b, I=last)))
        early = m.b.less_than(i, m.b.constant(2, "int64"))
        (more,) = m.cond(early, lambda: [m.b.mul(m.b.op("read_from_array", X=a, I=last), value)], lambda: [value])
        return [m.b.op("array_append", Array=b, X=more), a]

    starts = [m.b.op("array_append", Array=m.b.op("create_array", dtype="float64", shape=[3]), X=v) for v in (x, w)]
    a, b = m.repeat(m.count(), body, starts)
    both = m.b.op("array_extend", Array=a, Other=b)
    m.check(m.total(m.b.op("tensor_array_to_tensor", X=both, axis=0, use_stack=True)), [x, w], *COUNTS)


def test_reading_a_list_from_outside_the_loop() -> None:
    m = Float64()
    x, w = m.vector("x"), m.vector("w")
    items = m.b.op("create_array", dtype="float64", shape=[3])
    for factor in (1.0, 2.0, 3.0, 4.0, 5.0):
        items = m.b.op("array_append", Array=items, X=m.b.scaled(x, factor))
    (h,) = m.repeat(m.count(), lambda i, h: [m.b.mul(m.b.tanh(h), m.b.op("read_from_array", X=items, I=i))], [w])
    m.check(m.total(h), [x, w], *COUNTS[1:])


# ---- randomness and effects ----


@pytest.mark.parametrize("nested", [False, True])
def test_draws_in_a_loop_are_those_of_the_forward_run(nested: bool) -> None:
    m = Float64()
    x = m.vector("x")
    rng = m.program.global_block().create_var("@RNG@", "int64", [2], persistable=True)

    def noisy(h: Variable) -> Variable:
        noise, _ = m.b.apply(*draw(rng), {"StateOut": ["@RNG@"]})
        return m.b.mul(m.b.mul(h, noise), h)

    def body(i: Variable, h: Variable) -> list[Variable]:
        if not nested:
            return [noisy(h)]
        early = m.b.less_than(i, m.b.constant(2, "int64"))
        return m.cond(early, lambda: [noisy(h)], lambda: [m.b.tanh(h)])

    (h,) = m.repeat(m.count(), body, [x])
    y = m.total(h)
    (dx,) = append_backward(m.program, [y], [x])
    verify(m.program)
    feeds = {"x": np.array([0.3, -0.4, 0.5]), "n": np.array(3)}
    state = {"@RNG@": np.array([7, 0], np.int64)}
    env = reference.run_program(m.program, feeds, state)
    assert state["@RNG@"].tolist() == [7, 3 * (2 if nested else 3)]  # the gradient takes no draws from the stream
    for i in range(3):
        sides = []
        for sign in (1, -1):
            moved = feeds["x"].copy()
            moved[i] += sign * 1e-6
            state = {"@RNG@": np.array([7, 0], np.int64)}
            sides.append(reference.run_program(m.program, {**feeds, "x": moved}, state)[y.name])
        np.testing.assert_allclose(env[dx.name][i], (sides[0] - sides[1]) / 2e-6, rtol=1e-6)  # type: ignore[union-attr]


def draw(state: Variable) -> tuple[Any, Any, Any]:

    op = registry.get("uniform_random")
    return op, (state, None, []), op.complete_attrs({"shape": [3], "dtype": "float64", "min": 0.5, "max": 1.5})


def test_prints_and_checks_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    m = Float64()
    x = m.vector("x")

    def shown(i: Variable, h: Variable) -> list[Variable]:
        def true() -> list[Variable]:
            m.b.op("print", In=[i], parts=["i = ", ""])
            return [m.b.mul(h, h)]

        return m.cond(m.b.less_than(i, m.b.constant(9, "int64")), true, lambda: [h])

    (h,) = m.repeat(m.count(), shown, [x])
    append_backward(m.program, [h], [x])
    reference.run_program(m.program, {"x": np.ones(3), "n": np.array(3)}, {})
    assert len(re.findall("i = ", capsys.readouterr().out)) == 3
