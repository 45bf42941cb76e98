"""cse: equal expressions are computed once, effects each time."""

from __future__ import annotations

import numpy as np
from dy2st_runtime import reference
from dy2st_runtime.ir import Variable, verify
from dy2st_runtime.ops import registry
from dy2st_runtime.passes.cse import cse

from golden import assert_after  # isort: skip
from hand_built import Made  # isort: skip


def test_blocks_see_outer_expressions_but_not_those_of_other_branches() -> None:
    m = Made()
    x, k = m.data("x", [3]), m.data("k", [], "bool")
    outer = m.b.tanh(x)
    (y,) = m.cond(k, lambda: [m.b.add(m.b.tanh(x), m.b.exp(x))], lambda: [m.b.exp(x)])
    assert_after(
        cse,
        m,
        [outer, y],
        """
        data x: float32[3]
        data k: bool[]
        tanh.Out_0: float32[3] = tanh(X=x)
        cond.Out_0: float32[3] = cond(Cond=k)
          true_block:
            exp.Out_0: float32[3] = exp(X=x)
            elementwise_add.Out_0: float32[3] = elementwise_add(X=tanh.Out_0, Y=exp.Out_0)
            yield elementwise_add.Out_0
          false_block:
            exp.Out_1: float32[3] = exp(X=x)
            yield exp.Out_1
        """,
    )


def test_fetches_keep_their_names_and_attributes_count() -> None:
    m = Made()
    x = m.data("x", [3])
    ys = [m.b.scaled(x, 2.0), m.b.scaled(x, 2.0), m.b.scaled(x, 3.0)]
    assert not cse(m.program, frozenset(v.name for v in ys))


def test_random_draws_are_not_equal() -> None:
    m = Made()
    rng = m.program.global_block().create_var("@RNG@", "int64", [2], persistable=True)
    op = registry.get("uniform_random")
    attrs = op.complete_attrs({"shape": [3]})
    draws: list[Variable] = [m.b.apply(op, (rng, None, []), attrs, {"StateOut": ["@RNG@"]})[0] for _ in range(2)]
    y = m.b.sub(*draws)
    assert not cse(m.program, frozenset({y.name}))
    verify(m.program)
    env = reference.run_program(m.program, {}, {"@RNG@": np.array([1, 0], np.int64)})
    assert np.all(env[y.name] != 0)


def test_a_saved_value_may_come_from_outside() -> None:
    m = Made()
    x, n = m.data("x", [3]), m.data("n", [], "int64")
    outer = m.b.exp(x)

    def body(i: Variable) -> list[Variable]:
        m.b.exp(x)
        return [m.b.scaled(i, 1.0, 1.0)]

    m.loop(lambda i: m.b.less_than(i, n), body, [m.b.constant(0, "int64")])
    loop = m.program.global_block().ops[-1]
    loop.attrs["saved"] = ["exp.Out_1"]
    loop.outputs["Saved"] = [m.program.global_block().create_var("kept", "float32", [3], kind="array").name]
    assert cse(m.program, frozenset({"kept"}))
    verify(m.program)
    assert loop.attrs["saved"] == [outer.name]
    env = reference.run_program(m.program, {"x": np.ones(3, "f"), "n": np.array(2)}, {})
    np.testing.assert_allclose(env["kept"], [np.exp(np.ones(3))] * 2, rtol=1e-6)
