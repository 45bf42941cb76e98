"""Programs on CUDA, in numba-cuda's simulator, against the reference interpreter. Collected by test_cuda.py in a process of its
own, as the simulator must be chosen before Numba is imported."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime.backward import append_backward
from dy2st_runtime.executor.cuda import CudaExecutable

from hand_built import Made  # isort: skip


def check(m: Made, fetches: list, feeds: dict[str, np.ndarray]) -> list:
    return m.compare(fetches, feeds, CudaExecutable(m.program, m.feeds, [v.name for v in fetches]))


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("f")


def test_elementwise_with_broadcast() -> None:
    m = Made()
    x, y = m.data("x", [-1, 3]), m.data("y", [3])
    fns = ("exp", "tanh", "sigmoid", "relu", "abs", "floor", "square")
    outs = [m.b.op(fn, X=m.b.add(m.b.mul(x, y), x)) for fn in fns]
    check(m, outs, {"x": rows(5, 3), "y": rows(3)})


@pytest.mark.parametrize("dims", [[0], [1], [0, 1]])
def test_reductions(dims: list[int]) -> None:
    m = Made()
    x = m.data("x", [-1, 4])
    outs = [m.b.op(f"reduce_{kind}", X=x, dim=dims, keep_dim=False) for kind in ("sum", "mean", "max", "min", "prod")]
    check(m, [*outs, m.b.op("softmax", X=x, axis=-1)], {"x": rows(3, 4)})


def test_matrix_product() -> None:
    m = Made()
    x, w = m.data("x", [-1, 4]), m.data("w", [4, 2])
    outs = [m.b.op("matmul_v2", X=x, Y=w), m.b.op("matmul_v2", X=w, Y=x, trans_x=True, trans_y=True)]
    check(m, outs, {"x": rows(3, 4), "w": rows(4, 2)})


@pytest.mark.parametrize("taken", [True, False])
def test_branch_with_gradient(taken: bool) -> None:
    m = Made()
    p, x, u, v = m.data("p", [1], "bool"), m.data("x", [-1]), m.data("u", []), m.data("v", [])
    (y,) = m.cond(p, lambda: [m.b.op("tanh", X=m.b.mul(x, u))], lambda: [m.b.op("exp", X=m.b.mul(x, v))])
    grads = append_backward(m.program, [m.b.op("reduce_sum", X=y, dim=[], reduce_all=True)], [x, u, v])
    feeds = {"p": np.array([taken]), "x": rows(3), "u": rows(), "v": rows()}
    got = check(m, [y, *[g for g in grads if g is not None]], feeds)
    assert (got[2] is None) != taken
    assert (got[3] is None) == taken


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_loop_with_gradient(trips: int) -> None:
    m = Made()
    i, n, x, w = m.data("i", []), m.data("n", []), m.data("x", [-1, 2]), m.data("w", [2, 2])
    body = lambda i, n, h: [m.b.scaled(i, 1.0, 1.0), n, m.b.op("tanh", X=m.b.op("matmul_v2", X=h, Y=w))]  # noqa: E731
    outs, _ = m.loop(lambda i, n, h: m.b.less_than(i, n), body, [i, n, x])
    grads = append_backward(m.program, [m.b.op("reduce_sum", X=outs[2], dim=[], reduce_all=True)], [x, w])
    feeds = {"i": np.array(0, "f"), "n": np.array(trips, "f"), "x": rows(3, 2), "w": rows(2, 2)}
    check(m, [outs[2], *[g for g in grads if g is not None]], feeds)


@pytest.mark.parametrize("trips", [0, 7])
def test_a_loop_on_scalars_is_one_kernel(trips: int) -> None:
    m = Made()
    i, n = m.data("i", [1]), m.data("n", [1])
    outs, _ = m.loop(
        lambda i, n: m.b.less_than(i, n), lambda i, n: [m.b.scaled(i, 1.0, 2.0), m.b.scaled(n, 1.0, 1.0)], [i, n]
    )
    check(m, outs, {"i": np.zeros(1, "f"), "n": np.full(1, trips, "f")})


def test_errors_are_the_references() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    z = m.b.add(x, y)
    exe = CudaExecutable(m.program, m.feeds, [z.name])
    with pytest.raises(ValueError, match="do not broadcast"):
        exe.run([rows(2), rows(3)])
