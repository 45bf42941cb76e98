"""append_backward on a block that is being built, with those around it, and what values depend on by way of earlier iterations."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import reference
from dy2st_runtime.backward import append_backward
from dy2st_runtime.backward.iterations import Dependence
from dy2st_runtime.ir import Block, IRBuilder, Program, Variable, verify

X = np.array([0.5, -2.0], np.float32)


def program() -> tuple[Program, IRBuilder, Variable]:
    made = Program()
    block = made.global_block()
    return made, IRBuilder(block), block.create_var("x", "float32", [2], is_data=True)


@pytest.mark.parametrize("positive", [True, False])
def test_a_branch_that_is_being_built(positive: bool) -> None:
    """What is differentiated is computed around the branch in part, by another branch among others."""
    made, b, x = program()
    test = b.block.create_var("test", "bool", [], is_data=True)
    sides = [b.sub_block(), b.sub_block()]
    for side, op in zip(sides, ("tanh", "exp"), strict=True):
        side.results = [IRBuilder(side).op(op, X=x).name]
    (h,) = b.op("cond", Cond=test, true_block=sides[0], false_block=sides[1])
    h = b.mul(h, x)
    branch, other = b.sub_block(), b.sub_block()
    inner = IRBuilder(branch)
    (dx,) = append_backward(made, [inner.mul(h, h)], [x], block=branch)
    assert dx is not None
    assert dx.name == "x@GRAD"
    assert dx.block is branch
    branch.results = [dx.name]
    other.results = [IRBuilder(other).mul(x, x).name]
    (out,) = b.op("cond", Cond=test, true_block=branch, false_block=other)
    verify(made)
    found = reference.run_program(made, {"x": X, "test": np.array(positive)}, {})[out.name]
    t = np.tanh(X)
    wanted = 2 * X * t * (t + X * (1 - t * t)) if positive else X * X
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def body_of(b: IRBuilder, count: int) -> tuple[Block, list[Variable]]:
    body = b.sub_block()
    params = [body.create_var(None, "float32", [2], stem=name) for name in "pqrs"[:count]]
    body.params = [p.name for p in params]
    return body, params


def close(b: IRBuilder, body: Block, initial: list[Variable], results: list[Variable]) -> list[Variable]:
    """Ends a loop, whose condition does not matter here."""
    test = b.sub_block()
    test.params = [test.create_var(None, "float32", [2]).name for _ in initial]
    test.results = [IRBuilder(test).constant(False, "bool").name]
    body.results = [v.name for v in results]
    outs, _ = b.op("while_loop", X=initial, cond_block=test, body_block=body)
    return outs


def test_what_an_iteration_begins_with_depends_on_what_the_one_before_has_computed() -> None:
    made, b, x = program()
    body, (p, q, r, s) = body_of(b, 4)
    new = IRBuilder(body).tanh(r)
    initial = [b.tanh(x), b.exp(x), b.exp(x), b.exp(x)]
    close(b, body, initial, [r, new, s, IRBuilder(body).exp(x)])
    dependence = Dependence(made)
    assert dependence.may_depend(body, q.name, p.name)  # both come from r
    assert not dependence.may_depend(body, p.name, q.name)
    assert not dependence.may_depend(body, q.name, r.name)  # which is newer
    assert not dependence.may_depend(body, r.name, s.name)
    assert all(dependence.may_depend(body, v.name, "x") for v in (p, q, r, s))


def test_what_is_modified_stays_what_others_depend_on() -> None:
    made, b, x = program()
    body, (p, q) = body_of(b, 2)
    inner = IRBuilder(body)
    moved = inner.op("replaced_value", X=p, Value=inner.constant(1.0, "float32", [2]))
    close(b, body, [x, b.constant(1.0, "float32", [2])], [moved, inner.exp(p)])
    dependence = Dependence(made)
    assert dependence.may_depend(body, q.name, p.name)
    assert not dependence.may_depend(body, p.name, q.name)


def test_a_value_from_before_the_loop_and_one_through_a_loop_inside() -> None:
    made, b, x = program()
    h = b.tanh(x)
    body, (p,) = body_of(b, 1)
    inner = IRBuilder(body)
    own, (q,) = body_of(inner, 1)
    outs = close(inner, own, [inner.exp(p)], [IRBuilder(own).mul(q, h)])
    close(b, body, [b.constant(1.0, "float32", [2])], outs)
    dependence = Dependence(made)
    assert dependence.may_depend(own, q.name, h.name)
    assert dependence.may_depend(own, q.name, p.name)
    assert dependence.may_depend(body, p.name, "x")
    assert not dependence.may_depend(body, h.name, p.name)
    assert not dependence.may_depend(Block(made, body), q.name, h.name)  # which is no part of the Program
