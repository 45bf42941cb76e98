"""ssa: updates of persistables get names of their own, in branches and loops too."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.errors import VerifyError
from dy2st_runtime.ir import Variable, clone_program, verify
from dy2st_runtime.ops import registry
from dy2st_runtime.passes.ssa import ssa

from golden import assert_after  # isort: skip
from hand_built import Made  # isort: skip


def update(m: Made, name: str, value: Variable) -> None:
    m.b.apply(registry.get("assign"), (value,), {}, {"Out": [name]})


def state(m: Made, name: str = "s") -> Variable:
    return m.program.global_block().create_var(name, "float32", [3], persistable=True)


def test_reads_see_the_value_of_their_time() -> None:
    m = Made()
    s = state(m)
    before = m.b.relu(s)
    update(m, "s", m.b.add(s, s))
    after = m.b.relu(s)
    assert_after(
        ssa,
        m,
        [before, after],
        """
        state s: float32[3]
        relu.Out_0: float32[3] = relu(X=s)
        elementwise_add.Out_0: float32[3] = elementwise_add(X=s, Y=s)
        s@NEXT_0: float32[3] = assign(X=elementwise_add.Out_0)
        relu.Out_1: float32[3] = relu(X=s@NEXT_0)
        """,
    )
    assert m.program.updates == {"s": "s@NEXT_0"}


def test_an_update_in_a_branch_is_a_result_of_the_cond() -> None:
    m = Made()
    s, k = state(m), m.data("k", [], "bool")

    def true() -> list[Variable]:
        update(m, "s", m.b.scaled(s, 2.0))
        return []

    m.cond(k, true, lambda: [])
    assert_after(
        ssa,
        m,
        [],
        """
        state s: float32[3]
        data k: bool[]
        s@NEXT_1: float32[3] = cond(Cond=k)
          true_block:
            scale.Out_0: float32[3] = scale(X=s, scale=2)
            s@NEXT_0: float32[3] = assign(X=scale.Out_0)
            yield s@NEXT_0
          false_block:
            yield s
        """,
    )
    assert m.program.updates == {"s": "s@NEXT_1"}


def test_an_update_in_a_loop_is_a_loop_variable() -> None:
    m = Made()
    s, x, n = state(m), m.data("x", [3]), m.data("n", [], "int64")

    def body(i: Variable) -> list[Variable]:
        def true() -> list[Variable]:
            update(m, "s", m.b.add(s, x))
            return []

        m.cond(m.b.less_than(i, m.b.constant(2, "int64")), true, lambda: [])
        return [m.b.scaled(i, 1.0, 1.0)]

    m.loop(lambda i: m.b.less_than(i, n), body, [m.b.constant(0, "int64")])
    after = clone_program(m.program)
    assert ssa(after)
    verify(after)
    for trips in (0, 1, 5):
        feeds = {"x": np.ones(3, "f"), "n": np.array(trips)}
        old = {"s": np.zeros(3, "f")}
        env = reference.run_program(after, feeds, dict(old))
        reference.run_program(m.program, feeds, old)
        np.testing.assert_array_equal(env[after.updates["s"]], old["s"])
        np.testing.assert_array_equal(old["s"], np.full(3, min(trips, 2)))


def test_the_random_state_is_exempt() -> None:
    m = Made()
    rng = m.program.global_block().create_var("@RNG@", "int64", [2], persistable=True)
    op = registry.get("uniform_random")
    m.b.apply(op, (rng, None, []), op.complete_attrs({"shape": [3]}), {"StateOut": ["@RNG@"]})
    assert not ssa(m.program)
    assert m.program.updates == {}


def test_a_condition_must_not_update() -> None:
    m = Made()
    s, k = state(m), m.data("k", [1], "bool")

    def test(c: Variable) -> Variable:
        update(m, "s", m.b.scaled(s, 2.0))
        return c

    m.loop(test, lambda c: [m.b.logical_not(c)], [k])
    with pytest.raises(VerifyError, match="condition of a loop updates"):
        ssa(m.program)
