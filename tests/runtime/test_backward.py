"""append_backward on straight lines and branches: values, names, absence, errors."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import GradientError, Location
from dy2st_runtime.ir import Variable, verify
from dy2st_runtime.ops import registry
from dy2st_runtime.ops.control import ABSENT

from gradient_checks import Float64, ops_of  # isort: skip


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

    m = Float64()
    x = m.data("x", [2, 3], "float64")
    m.b.location = Location("model.py", 7, 4)
    y = m.b.tanh(x)
    monkeypatch.setattr(
        registry.get("tanh"), "grad", staticmethod(lambda b, ins, outs, douts: (b.constant(1.0, "float64", [3]),))
    )
    with pytest.raises(GradientError, match=r"(?s)tanh: the gradient of 'x'.*model.py:7"):
        append_backward(m.program, [y], [x])
