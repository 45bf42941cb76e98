"""sums: which sums become additions, which stay, and that values stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Variable, clone_program
from dy2st_runtime.ops.control import ABSENT
from dy2st_runtime.passes.sums import MAX_TERMS, sums

from golden import assert_after  # isort: skip
from hand_built import Made, same  # isort: skip


def stays(m: Made, *keep: Variable) -> bool:
    return not sums(clone_program(m.program), frozenset(v.name for v in keep))


def test_terms_are_added_in_their_order() -> None:
    m = Made()
    x, y, z = (m.data(name, [-1]) for name in "xyz")
    x, y, z = (m.b.scaled(v, 1.0, 1.0) for v in (x, x, x))
    total = m.b.op("sum", X=[x, y, z])
    assert_after(
        sums,
        m,
        [total],
        """
        data x: float32[?]
        data y: float32[?]
        data z: float32[?]
        scale.Out_0: float32[?] = scale(X=x, bias=1)
        scale.Out_1: float32[?] = scale(X=x, bias=1)
        scale.Out_2: float32[?] = scale(X=x, bias=1)
        sum.terms_0: float32[?] = elementwise_add(X=scale.Out_0, Y=scale.Out_1)
        sum.Out_0: float32[?] = elementwise_add(X=sum.terms_0, Y=scale.Out_2)
        """,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
def test_the_digits_are_those_of_the_sum(dtype: str) -> None:
    m = Made()
    terms = [m.data(f"x{i}", [100], dtype) for i in range(5)]
    total = m.b.op("sum", X=terms)
    rng = np.random.default_rng(0)
    feeds = {name: (1000 * rng.normal(size=100)).astype(dtype) for name in m.feeds}
    (got,) = Executable(m.program, m.feeds, [total.name]).run([feeds[name] for name in m.feeds])
    np.testing.assert_array_equal(got, reference.run_program(m.program, feeds, {})[total.name])


def test_sizes_that_may_differ_stay_an_error() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    assert stays(m, m.b.op("sum", X=[x, y]))


def test_bools_lists_and_many_terms_stay() -> None:
    m = Made()
    k, x = m.data("k", [4], "bool"), m.data("x", [4])
    lists = [m.program.global_block().create_var(None, "float32", [4], stem="list", kind="array", is_data=True) for _ in range(2)]
    assert stays(m, *(m.b.op("sum", X=terms) for terms in ([k, k], lists, [x] * (MAX_TERMS + 1))))


def test_terms_that_are_absent_together_are_added_others_left_out() -> None:
    m = Made()
    x, maybe, other = m.data("x", [4]), m.data("maybe", [4]), m.data("other", [4])
    m.program.absent_feeds = {"maybe", "other"}
    h = m.b.exp(maybe)
    together = m.b.op("sum", X=[h, m.b.relu(h), maybe])
    apart = [m.b.op("sum", X=[h, term]) for term in (x, other, together)]
    names = [v.name for v in (together, *apart)]
    after = clone_program(m.program)
    assert sums(after, frozenset(names))
    made_by = {op.output_names[0]: op.type for op in after.global_block().ops}
    assert [made_by[name] for name in names] == ["elementwise_add", "sum", "sum", "elementwise_add"]

    exe = Executable(m.program, m.feeds, names, absent_feeds=["maybe", "other"])
    one = np.ones(4, "f")
    for feeds in ([one, one, one], [one, ABSENT, one], [one, one, ABSENT], [one, ABSENT, ABSENT]):
        env = reference.run_program(m.program, dict(zip(m.feeds, feeds, strict=True)), {})
        for name, value in zip(names, exe.run(feeds), strict=True):
            same(value, env[name])


def test_an_absent_condition_or_step_of_a_loop_is_a_place_of_its_own() -> None:
    """What a branch or a loop leaves absent is absent by itself, whatever else is."""
    m = Made()
    x, k, maybe = m.data("x", [4]), m.data("k", [], "bool"), m.data("maybe", [4])
    m.program.absent_feeds = {"maybe"}
    (g,) = m.cond(k, lambda: [m.b.exp(maybe)], lambda: [m.b.relu(x)])
    total = m.b.op("sum", X=[g, maybe])
    assert stays(m, total)
    exe = Executable(m.program, m.feeds, [total.name], absent_feeds=["maybe"])
    one = np.ones(4, "f")
    for feeds in ([one, np.array(k), there] for k in (True, False) for there in (one, ABSENT)):
        env = reference.run_program(m.program, dict(zip(m.feeds, feeds, strict=True)), {})
        same(exe.run(feeds)[0], env[total.name])
