"""Gradient programs, through branches and loops, run natively as in the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.ir import Variable

from hand_built import Made  # isort: skip


def total(m: Made, x: Variable) -> Variable:
    return m.b.op("reduce_sum", X=x, dim=[], reduce_all=True)


def gradients(m: Made, target: Variable, wrt: list[Variable]) -> list[Variable]:
    grads = append_backward(m.program, [target], wrt)
    found = [grads[w.name] if isinstance(grads, dict) else grads[i] for i, w in enumerate(wrt)]
    assert all(g is not None for g in found)
    return [g for g in found if g is not None]


@pytest.mark.parametrize("taken", [True, False])
def test_a_branch(taken: bool) -> None:
    m = Made()
    p, x, u, v = m.data("p", [1], "bool"), m.data("x", [-1, 3]), m.data("u", [3]), m.data("v", [3])
    (y,) = m.cond(p, lambda: [m.b.op("tanh", X=m.b.mul(x, u))], lambda: [m.b.op("exp", X=m.b.mul(x, v))])
    gs = gradients(m, total(m, y), [x, u, v])
    rng = np.random.default_rng(0)
    feeds = {"p": np.array([taken]), "x": rng.normal(size=(2, 3)).astype("f"), "u": rng.normal(size=3).astype("f"),
             "v": rng.normal(size=3).astype("f")}  # fmt: skip
    got = m.compare(gs, feeds)
    # the parameter of the branch not taken has no gradient, as in eager
    assert (got[1] is None) == (not taken)
    assert (got[2] is None) == taken


@pytest.mark.parametrize("trips", [0, 1, 2, 7])
def test_a_loop(trips: int) -> None:
    m = Made()
    i, n, x, w = m.data("i", []), m.data("n", []), m.data("x", [-1, 3]), m.data("w", [3, 3])
    outs, _ = m.loop(lambda i, n, h: m.b.less_than(i, n),
                     lambda i, n, h: [m.b.scaled(i, 1.0, 1.0), n, m.b.op("tanh", X=m.b.op("matmul_v2", X=h, Y=w))], [i, n, x])  # fmt: skip
    gs = gradients(m, total(m, m.b.mul(outs[2], outs[2])), [x, w])
    rng = np.random.default_rng(1)
    feeds = {"i": np.array(0, "f"), "n": np.array(trips, "f"), "x": rng.normal(size=(2, 3)).astype("f"),
             "w": rng.normal(size=(3, 3)).astype("f")}  # fmt: skip
    got = m.compare([outs[2], *gs], feeds)
    assert (got[2] is None) == (trips == 0)


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_a_branch_in_a_loop_in_a_loop(trips: int) -> None:
    m = Made()
    zero, n, x, w = m.data("zero", []), m.data("n", []), m.data("x", [-1]), m.data("w", [])

    def inner(j, y):  # type: ignore[no-untyped-def]
        (z,) = m.cond(m.b.less_than(total(m, y), n), lambda: [m.b.mul(y, w)], lambda: [m.b.op("tanh", X=y)])
        return [m.b.scaled(j, 1.0, 1.0), m.b.add(z, y)]

    def outer(i, x):  # type: ignore[no-untyped-def]
        (_, y), _ = m.loop(lambda j, y: m.b.less_than(j, i), inner, [zero, x])
        return [m.b.scaled(i, 1.0, 1.0), m.b.scaled(y, 0.5)]

    outs, _ = m.loop(lambda i, x: m.b.less_than(i, n), outer, [zero, x])
    gs = gradients(m, total(m, outs[1]), [x, w])
    exe = Executable(m.program, m.feeds, [g.name for g in gs])
    m.compare(gs, {"zero": np.array(0, "f"), "n": np.array(trips, "f"), "x": np.array([0.3, -0.2, 0.9], "f"),
                   "w": np.array(0.7, "f")}, exe)  # fmt: skip
