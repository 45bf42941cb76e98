"""Programs on CUDA against the reference interpreter: on a GPU (`make test-gpu`), or in numba-cuda's simulator. For that test_cuda.py
collects them in a process of its own, as the simulator must be chosen before Numba is imported."""

from __future__ import annotations

import numpy as np
import pytest
from dy2st_runtime import custom_op
from dy2st_runtime.backward import append_backward
from dy2st_runtime.errors import DeviceError
from dy2st_runtime.executor.cuda import CudaExecutable
from numba import cuda

import dy2st
from dy2st import static

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


def test_elementwise_ops_around_reductions_and_rows() -> None:
    m = Made()
    x, y = m.data("x", [-1, 4]), m.data("y", [4])
    summed = m.b.op("reduce_max", X=m.b.mul(m.b.sub(x, y), x), dim=[1])
    normal = m.b.op("layer_norm", X=m.b.add(x, y), begin_norm_axis=1)[0]
    outs = [summed, m.b.exp(m.b.op("softmax", X=m.b.mul(x, y), axis=-1)), m.b.tanh(normal), m.b.op("log_softmax", X=m.b.sub(x, y), axis=1)]
    check(m, outs, {"x": rows(3, 4), "y": rows(4)})


def test_matrix_product() -> None:
    m = Made()
    x, w = m.data("x", [-1, 4]), m.data("w", [4, 2])
    outs = [m.b.op("matmul_v2", X=x, Y=w), m.b.op("matmul_v2", X=w, Y=x, trans_x=True, trans_y=True)]
    check(m, outs, {"x": rows(3, 4), "w": rows(4, 2)})


def doubled_rows(x, out, factor):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * (x[i, 0] + x[i, 1])


def test_a_custom_op() -> None:
    @custom_op(infer=lambda x, factor: (x.shape[:1], x.dtype), name="doubled_rows_of_a_test")
    def op(x, factor=2.0):
        return (factor * (x[:, 0] + x[:, 1])).astype(x.dtype)

    m = Made()
    x = m.data("x", [-1, 2])
    out = m.b.exp(m.b.of(op.name, x, factor=3.0))
    with pytest.raises(DeviceError, match="has no kernel for CUDA"):
        check(m, [out], {"x": rows(5, 2)})
    op.cuda(doubled_rows)
    check(m, [out], {"x": rows(5, 2)})


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


def test_a_fed_array() -> None:
    m = Made()
    m.feeds.append("x")
    x = m.program.global_block().create_var("x", "float32", [-1, 2], kind="array", is_data=True)
    outs = [m.b.op("array_append", Array=x, X=m.data("y", [-1, 2])), m.b.op("lod_array_length", X=x)]
    check(m, outs, {"x": [rows(1, 2), rows(3, 2)], "y": rows(2, 2)})


def test_functions_outside_their_domain() -> None:
    m = Made()
    x = m.data("x", [-1])
    x_values = np.array([-np.inf, np.nan, -2.5, -1.0, -0.0, 0.5, 1e30, np.inf], "f")
    check(m, [m.b.op(fn, X=x) for fn in ("round", "floor", "log", "sqrt", "exp", "sin")], {"x": x_values})


def test_a_kernel_whose_steps_read_each_other() -> None:
    m = Made()
    x, w = m.data("x", [-1, 2, 5, 5]), m.data("w", [3, 2, 3, 3])
    y = m.b.op("conv2d", Input=x, Filter=w, strides=[1, 1], paddings=[1, 1], dilations=[1, 1], groups=1)
    check(m, [y], {"x": rows(2, 2, 5, 5), "w": rows(3, 2, 3, 3)})


def test_an_error_inside_a_loop_of_a_kernel() -> None:
    m = Made()
    x, i = m.data("x", [-1, 2]), m.data("i", [-1], "int64")
    exe = CudaExecutable(m.program, m.feeds, [m.b.op("gather", X=x, Index=i, axis=0).name])
    assert exe.run([rows(3, 2), np.array([2, 0])])[0].shape == (2, 2)
    with pytest.raises(IndexError, match="7"):
        exe.run([rows(3, 2), np.array([0, 7])])


def test_training_by_the_static_executor() -> None:
    losses = {}
    for place in (dy2st.CPUPlace(), dy2st.CUDAPlace(0)):
        main, startup = static.Program(), static.Program()
        main.random_seed = startup.random_seed = 3
        with static.program_guard(main, startup), dy2st.unique_name.guard():
            x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
            h = static.nn.fc(x, 4, activation="tanh")
            h = static.nn.cond(h.mean() > 0.0, lambda h=h: h * 2.0, lambda h=h: h - 1.0)
            loss = ((static.nn.fc(h, 1) - y) ** 2.0).mean()
            dy2st.optimizer.Adam(0.1).minimize(loss)
        exe, scope = static.Executor(place), static.Scope()
        with static.scope_guard(scope):
            exe.run(startup)
            feed = {"x": rows(4, 3), "y": rows(4, 1)}
            losses[repr(place)] = [exe.run(main, feed=feed, fetch_list=[loss])[0].item() for _ in range(4)]
    cpu, cuda = losses.values()
    assert cuda == pytest.approx(cpu, rel=1e-5)
    assert cuda[-1] < cuda[0]


def test_a_startup_program_serves_several_scopes() -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), dy2st.unique_name.guard():
        y = static.nn.fc(static.data("x", [None, 3]), 2)
    exe = static.Executor(dy2st.CUDAPlace(0))
    for _ in range(3):
        scope = static.Scope()
        exe.run(startup, scope=scope)
        assert exe.run(main, feed={"x": rows(4, 3)}, fetch_list=[y], scope=scope)[0].shape == (4, 2)
