"""hoist: small invariant work leaves loops, as far as it can go; large, raising and effectful work stays."""

from __future__ import annotations

from dy2st_runtime.ir import Program, Variable, verify
from dy2st_runtime.passes.hoist import hoist

from hand_built import Made  # isort: skip


def left_in_loops(program: Program) -> list[str]:
    return [op.type for block in program.blocks[1:] for op in block.ops]


def test_constants_of_a_nested_loop_move_all_the_way() -> None:
    m = Made()
    n = m.data("n", [], "int64")

    def count(inner: object = None) -> list[Variable]:
        def body(i: Variable) -> list[Variable]:
            if inner is None:
                return [m.b.add(i, m.b.scaled(m.b.constant(2, "int64"), 3.0))]
            return [m.b.add(i, count()[0])]

        return m.loop(lambda i: m.b.less_than(i, n), body, [m.b.constant(0, "int64")])[0]

    (y,) = count(inner=True)
    assert hoist(m.program, frozenset({y.name}))
    verify(m.program)
    assert sorted(left_in_loops(m.program)) == ["elementwise_add"] * 2 + ["less_than"] * 2 + ["while_loop"]
    assert not hoist(m.program, frozenset({y.name}))


def test_what_stays() -> None:
    m = Made()
    n, w, many = m.data("n", [], "int64"), m.data("w", [64, 64]), m.data("many", [-1])

    def body(i: Variable) -> list[Variable]:
        m.b.matmul_v2(w, w)  # large
        m.b.exp(many)  # of unknown size
        m.b.op("elementwise_floordiv", X=n, Y=n)  # can raise
        m.b.op("print", In=[n], parts=["", ""])  # an effect
        return [m.b.add(i, n)]

    m.loop(lambda i: m.b.less_than(i, n), body, [m.b.constant(0, "int64")])
    assert not hoist(m.program)
