"""append_backward on hand-built Programs: values against finite differences, names, absence, what is saved, errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import GradientError, Location
from dy2st_runtime.ir import Operator, Variable, verify
from dy2st_runtime.ops.control import ABSENT

from programs import Made  # isort: skip


class Float64(Made):
    """A Program on float64 vectors of three elements, with checks of its gradients."""

    def vector(self, name: str) -> Variable:
        return self.data(name, [3], "float64")

    def count(self, name: str = "n") -> Variable:
        return self.data(name, [], "int64")

    def total(self, *xs: Variable) -> Variable:
        parts = [self.b.op("reduce_sum", X=self.b.mul(x, x), dim=[], reduce_all=True) for x in xs]
        return self.b.op("sum", X=parts)

    def repeat(self, n: Variable, body: Any, xs: Sequence[Variable]) -> list[Variable]:
        """`for i in range(n): xs = body(i, *xs)`."""
        zero = self.b.constant(0, "int64")

        def step(i: Variable, *state: Variable) -> list[Variable]:
            return [self.b.scaled(i, 1.0, 1.0), *body(i, *state)]

        outs, _ = self.loop(lambda i, *state: self.b.less_than(i, n), step, [zero, *xs])
        return outs[1:]

    def check(
        self, target: Variable, wrt: Sequence[Variable], *cases: dict[str, Any], absent: Sequence[str] = ()
    ) -> list[Any]:
        """Compares each gradient with finite differences; those of `absent` must be absent. Returns the last ones."""
        gradients = append_backward(self.program, [target], wrt)
        verify(self.program)
        values: list[Any] = []
        for number, case in enumerate(cases):
            rng = np.random.default_rng(number)
            feeds = {v.name: rng.normal(size=[2 if d == -1 else d for d in v.shape]) for v in wrt if v.is_data} | {
                name: np.asarray(value) for name, value in case.items()
            }
            env = reference.run_program(self.program, feeds, {})
            values = [None if g is None else env[g.name] for g in gradients]
            for v, value in zip(wrt, values, strict=True):
                if v.name in absent:
                    assert value is ABSENT
                else:
                    np.testing.assert_allclose(
                        value, self.slope(target, v, feeds), rtol=1e-6, atol=1e-8, err_msg=f"{v.name} {case}"
                    )
        return values

    def slope(self, target: Variable, v: Variable, feeds: dict[str, Any]) -> np.ndarray:
        result = np.zeros(feeds[v.name].shape)
        for index in np.ndindex(result.shape):
            sides = []
            for sign in (1, -1):
                moved = feeds[v.name].copy()
                moved[index] += sign * 1e-6
                sides.append(reference.run_program(self.program, {**feeds, v.name: moved}, {})[target.name])
            result[index] = (sides[0] - sides[1]) / 2e-6
        return result


COUNTS = [{"n": k} for k in (0, 1, 2, 5)]


def ops_of(m: Made, op_type: str) -> list[Operator]:
    return [op for block in m.program.blocks for op in block.ops if op.type == op_type]


# ---- straight lines ----


def test_a_broadcast_and_a_value_used_twice() -> None:
    m = Float64()
    x, w = m.data("x", [-1, 3], "float64"), m.vector("w")
    y = m.b.tanh(m.b.add(m.b.mul(x, w), w))
    m.check(m.total(y), [x, w], {})


def test_an_op_with_several_outputs_of_which_one_is_used() -> None:
    m = Float64()
    x = m.data("x", [2, 3], "float64")
    parts = m.b.op("split", X=x, num=3, sections=[], axis=1)
    m.check(m.total(parts[1]), [x], {})


def test_names_are_paddles_and_stay_unique() -> None:
    m = Float64()
    x = m.vector("x")
    y = m.b.tanh(x)
    (first,) = append_backward(m.program, [y], [x])
    (second,) = append_backward(m.program, [y], [x])
    assert first is not None
    assert second is not None
    assert (first.name, second.name) == ("x@GRAD", "x@GRAD_0")
    verify(m.program)


def test_two_variables_with_one_gradient_have_a_name_each() -> None:
    m = Float64()
    x, y = m.vector("x"), m.vector("y")
    z = m.b.add(x, y)
    gradients = append_backward(m.program, [z], [x, y, z])
    assert [g.name for g in gradients if g is not None] == ["x@GRAD", "y@GRAD", f"{z.name}@GRAD"]


def test_gradients_of_targets_are_given() -> None:
    m = Float64()
    x, seed = m.vector("x"), m.vector("seed")
    y, z = m.b.mul(x, x), m.b.scaled(x, 3.0)
    (dx,) = append_backward(m.program, [y, z], [x], [seed, None])
    env = reference.run_program(m.program, {"x": np.arange(3.0), "seed": np.array([1.0, 10.0, 100.0])}, {})
    np.testing.assert_allclose(env[dx.name], [3.0, 23.0, 403.0])  # type: ignore[union-attr]


def test_an_absent_gradient_of_a_target_counts_as_none() -> None:
    m = Float64()
    x, w, a, b = (m.vector(name) for name in ("x", "w", "a", "b"))
    m.program.absent_feeds = {"a", "b"}
    left, right = m.b.mul(x, w), m.b.tanh(x)
    dx, dw = append_backward(m.program, [left, right], [x, w], [a, b])
    given = {"x": np.ones(3), "w": np.full(3, 2.0)}
    env = reference.run_program(m.program, {**given, "a": ABSENT, "b": np.ones(3)}, {})
    np.testing.assert_allclose(env[dx.name], 1 - np.tanh(1.0) ** 2)  # type: ignore[union-attr]
    assert env[dw.name] is ABSENT  # type: ignore[union-attr]
    env = reference.run_program(m.program, {**given, "a": ABSENT, "b": ABSENT}, {})
    assert env[dx.name] is ABSENT  # type: ignore[union-attr]


@pytest.mark.parametrize("present", [(True, True), (True, False), (False, True), (False, False)])
def test_several_outputs_whose_gradients_may_be_absent(present: tuple[bool, bool]) -> None:
    m = Float64()
    x, a, b = m.data("x", [3], "float64"), m.data("a", [1], "float64"), m.data("b", [2], "float64")
    m.program.absent_feeds = {"a", "b"}
    left, right = m.b.op("split", X=m.b.mul(x, x), num=0, sections=[1, 2], axis=0)
    (dx,) = append_backward(m.program, [left, right], [x], [a, b])
    verify(m.program)
    feeds = {
        "x": np.ones(3),
        "a": np.full(1, 5.0) if present[0] else ABSENT,
        "b": np.full(2, 7.0) if present[1] else ABSENT,
    }
    value = reference.run_program(m.program, feeds, {})[dx.name]  # type: ignore[union-attr]
    if not any(present):
        assert value is ABSENT
    else:
        np.testing.assert_allclose(value, np.array([10.0 * present[0], 14.0 * present[1], 14.0 * present[1]]))


def test_what_has_no_gradient() -> None:
    m = Float64()
    x, w, k = m.vector("x"), m.vector("w"), m.count("k")
    stopped = m.b.tanh(x)
    stopped.stop_gradient = True
    cut = m.b.exp(w)
    y = m.b.add(m.b.add(stopped, cut), m.b.op("cast", X=k, in_dtype="int64", out_dtype="float64"))
    assert append_backward(m.program, [y], [x, w, k], no_grad=[cut.name]) == [None, None, None]


def test_a_gradient_by_an_intermediate_value() -> None:
    m = Float64()
    x = m.vector("x")
    h = m.b.mul(x, x)
    dh, dx = append_backward(m.program, [m.b.mul(h, h)], [h, x])
    env = reference.run_program(m.program, {"x": np.array([1.0, 2.0, 3.0])}, {})
    np.testing.assert_allclose(env[dh.name], [2.0, 8.0, 18.0])  # type: ignore[union-attr]
    np.testing.assert_allclose(env[dx.name], [4.0, 32.0, 108.0])  # type: ignore[union-attr]


def test_second_order() -> None:
    m = Float64()
    x = m.vector("x")
    (dx,) = append_backward(m.program, [m.b.mul(m.b.mul(x, x), x)], [x])
    (ddx,) = append_backward(m.program, [dx], [x])  # type: ignore[list-item]
    env = reference.run_program(m.program, {"x": np.array([1.0, 2.0, 3.0])}, {})
    np.testing.assert_allclose(env[ddx.name], [6.0, 12.0, 18.0])  # type: ignore[union-attr]


def test_mixed_dtypes_are_cast_back() -> None:
    m = Float64()
    x, w = m.data("x", [3], "float32"), m.vector("w")
    dx, dw = append_backward(m.program, [m.b.mul(x, w)], [x, w])
    assert (dx.dtype, dw.dtype) == ("float32", "float64")  # type: ignore[union-attr]


# ---- branches ----


@pytest.mark.parametrize(("positive", "unused"), [(True, "v"), (False, "w")])
def test_a_parameter_that_the_path_does_not_use_has_an_absent_gradient(positive: bool, unused: str) -> None:
    m = Float64()
    x, w, v, k = m.vector("x"), m.vector("w"), m.vector("v"), m.data("k", [], "bool")
    (y,) = m.cond(k, lambda: [m.b.tanh(m.b.mul(x, w))], lambda: [m.b.exp(m.b.mul(m.b.mul(x, v), v))])
    m.check(m.total(y), [x, w, v], {"k": positive}, absent=[unused])


def test_only_what_the_gradient_needs_leaves_a_branch() -> None:
    m = Float64()
    x, k = m.vector("x"), m.data("k", [], "bool")
    (y,) = m.cond(k, lambda: [m.b.tanh(m.b.scaled(x, 2.0))], lambda: [m.b.mul(m.b.tanh(x), m.b.exp(x))])
    append_backward(m.program, [y], [x])
    forward = ops_of(m, "cond")[0]
    # tanh(2x) is the result; tanh(x) and exp(x) are extra
    assert len(forward.output("Out")) == 3


def test_results_that_are_outer_values_or_yielded_twice() -> None:
    m = Float64()
    x, w, k = m.vector("x"), m.vector("w"), m.data("k", [], "bool")

    def true() -> list[Variable]:
        h = m.b.mul(x, w)
        return [h, h, w]

    outs = m.cond(k, true, lambda: [x, w, x])
    m.check(m.total(*outs), [x, w], {"k": True}, {"k": False})


def test_branches_in_branches() -> None:
    m = Float64()
    x, w, k, j = m.vector("x"), m.vector("w"), m.data("k", [], "bool"), m.data("j", [], "bool")

    def inner() -> list[Variable]:
        h = m.b.exp(m.b.mul(x, w))
        return m.cond(j, lambda: [m.b.mul(h, h)], lambda: [m.b.tanh(h)])

    (y,) = m.cond(k, inner, lambda: [m.b.mul(x, w)])
    m.check(m.total(y), [x, w], *({"k": a, "j": b} for a in (True, False) for b in (True, False)))


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


def test_a_list_whose_past_is_lost() -> None:
    m = Float64()
    x = m.vector("x")

    def body(i: Variable, items: Variable) -> list[Variable]:
        rest, value = m.b.op("array_pop", X=items)
        read = m.b.op("read_from_array", X=items, I=m.b.constant(0, "int64"))
        return [m.b.op("array_append", Array=rest, X=m.b.mul(value, read))]

    start = m.b.op("array_append", Array=m.b.op("create_array", dtype="float64", shape=[3]), X=x)
    (items,) = m.repeat(m.count(), body, [start])
    with pytest.raises(GradientError, match="removes entries of a list"):
        append_backward(m.program, [m.b.op("read_from_array", X=items, I=m.b.constant(0, "int64"))], [x])


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
    from dy2st_runtime.ops import registry

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


# ---- errors ----


def test_a_target_must_be_floating_point() -> None:
    m = Float64()
    n = m.count()
    with pytest.raises(GradientError, match="only floating point has gradients"):
        append_backward(m.program, [n], [n])


def test_gradients_of_targets_must_be_as_many() -> None:
    m = Float64()
    x = m.vector("x")
    with pytest.raises(GradientError, match="1 targets but 2 gradients"):
        append_backward(m.program, [m.b.tanh(x)], [x], [None, None])


def test_a_wrong_rule_is_named_with_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from dy2st_runtime.ops import registry

    m = Float64()
    x = m.data("x", [2, 3], "float64")
    m.b.location = Location("model.py", 7, 4)
    y = m.b.tanh(x)
    monkeypatch.setattr(
        registry.get("tanh"), "grad", staticmethod(lambda b, ins, outs, douts: (b.constant(1.0, "float64", [3]),))
    )
    with pytest.raises(GradientError, match=r"(?s)tanh: the gradient of 'x'.*model.py:7"):
        append_backward(m.program, [y], [x])
