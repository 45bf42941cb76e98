"""symbolic_shapes: what is equal by construction, and what only has the same -1."""

from __future__ import annotations

import pytest
from dy2st_runtime import config
from dy2st_runtime.errors import VerifyError
from dy2st_runtime.ir import Variable
from dy2st_runtime.passes.shapes import same_shape, shapes_kept, symbolic_shapes

from hand_built import Made  # isort: skip


def equal(m: Made, a: Variable, b: Variable) -> bool:
    return same_shape(symbolic_shapes(m.program), a.name, b.name)


def test_through_broadcasts_and_products() -> None:
    m = Made()
    x, other, w, bias = m.data("x", [-1, 4]), m.data("other", [-1, 3]), m.data("w", [4, 3]), m.data("bias", [3])
    h = m.b.relu(m.b.add(m.b.matmul_v2(x, w), bias))
    assert equal(m, h, m.b.matmul_v2(x, w))
    assert not equal(m, h, other)
    assert not equal(m, h, m.b.add(h, other))  # either could have one row


def test_a_check_is_known_to_hold_afterwards() -> None:
    m = Made()
    x, y = m.data("x", [-1, 3]), m.data("y", [-1, 3])
    before = m.b.relu(y)
    m.b.op("sum", X=[x, y])
    after = m.b.relu(y)
    assert equal(m, x, after)
    assert not equal(m, x, before)
    assert equal(m, before, after)  # where the later of them is defined


def test_a_check_in_a_branch_holds_only_there() -> None:
    m = Made()
    x, y, k = m.data("x", [-1]), m.data("y", [-1]), m.data("k", [], "bool")
    inner: list[Variable] = []

    def true() -> list[Variable]:
        m.b.op("sum", X=[x, y])
        inner.append(m.b.relu(y))
        return []

    m.cond(k, true, lambda: [])
    assert equal(m, x, inner[0])
    assert not equal(m, x, m.b.relu(y))


def test_branches() -> None:
    m = Made()
    x, y, k = m.data("x", [-1]), m.data("y", [-1]), m.data("k", [], "bool")
    same, mixed, half = m.cond(
        k,
        lambda: [m.b.relu(x), m.b.relu(x), m.b.relu(x)],
        lambda: [m.b.exp(x), m.b.relu(y), m.b.op("absent", dtype="float32", shape=[-1])],
    )
    assert equal(m, same, x)
    assert not equal(m, mixed, x)
    assert equal(m, half, x)  # where it has a value


def test_loops() -> None:
    m = Made()
    x, n = m.data("x", [-1, 3]), m.data("n", [], "int64")
    inside: dict[str, Variable] = {}

    def body(i: Variable, keeps: Variable, grows: Variable, later: Variable) -> list[Variable]:
        inside.update(keeps=m.b.relu(keeps), grows=m.b.relu(grows))
        return [m.b.scaled(i, 1.0, 1.0), inside["keeps"], m.b.op("concat", X=[grows, x], axis=0), inside["grows"]]

    start = [m.b.constant(0, "int64"), x, x, m.b.op("absent", dtype="float32", shape=[-1, 3])]
    shapes = [[], [-1, 3], [-1, 3], [-1, 3]]
    outs, saved = m.loop(lambda i, *_: m.b.less_than(i, n), body, start, shapes, saved=[1, 2])
    _, keeps, grows, later = outs
    assert equal(m, keeps, x)
    assert equal(m, inside["keeps"], x)
    assert not equal(m, grows, x)
    assert not equal(m, later, grows)  # one iteration behind
    first = m.b.op("read_from_array", X=saved[0], I=m.b.constant(0, "int64"))
    assert equal(m, first, x)
    rows = [m.b.op("read_from_array", X=saved[1], I=m.b.constant(k, "int64")) for k in range(2)]
    assert not equal(m, rows[0], rows[1])


def test_entries_of_a_list_may_differ() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    items = m.b.op("create_array", dtype="float32", shape=[-1])
    for v in (x, y):
        items = m.b.op("array_append", Array=items, X=v)
    rows = [m.b.op("read_from_array", X=items, I=m.b.constant(k, "int64")) for k in range(2)]
    assert not equal(m, rows[0], rows[1])


def test_in_the_pipeline_each_version_is_analyzed_once() -> None:
    m = Made()
    x, y = m.data("x", [-1, 3]), m.data("y", [-1, 3])
    one = m.b.relu(x)
    with shapes_kept(m.program):
        first = symbolic_shapes(m.program)
        assert symbolic_shapes(m.program) is first
        two = m.b.relu(y)  # the builder counts the version up
        second = symbolic_shapes(m.program)
        assert second is not first
        assert same_shape(second, x.name, one.name)
        assert same_shape(second, y.name, two.name)
        assert not same_shape(second, x.name, two.name)
    assert symbolic_shapes(m.program) is not second


def test_ops_alike_have_what_infer_says_of_one() -> None:
    m = Made()
    x, y = m.data("x", [-1, 3]), m.data("y", [-1, 3])
    joined = [m.b.op("concat", X=[x, y], axis=0) for _ in range(2)]  # its size is an expression
    other = m.b.op("concat", X=[x, y], axis=1)
    with shapes_kept(m.program):
        shapes = symbolic_shapes(m.program)
        assert same_shape(shapes, *[v.name for v in joined])
        assert not same_shape(shapes, joined[0].name, other.name)
        # what is equal is one object: `infer` broadcasts it without a choice, and the sum has the shape of its operands
        total = m.b.add(*joined)
        assert same_shape(symbolic_shapes(m.program), total.name, joined[0].name)


def test_an_op_whose_sizes_may_not_fit_is_so_in_each_place() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    m.b.add(x, y), m.b.add(x, y), m.b.add(y, x)
    with shapes_kept(m.program):
        assert [id(op) in symbolic_shapes(m.program).unproven for op in m.program.global_block().ops] == [True, False, False]


def test_checks_find_a_pass_that_gives_no_new_version() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    m.b.relu(x)
    with shapes_kept(m.program), config.CHECKS.override(True):
        assert symbolic_shapes(m.program) is symbolic_shapes(m.program)
        m.program.global_block().ops[0].inputs["X"] = [y.name]
        with pytest.raises(VerifyError, match="without a new version"):
            symbolic_shapes(m.program)
