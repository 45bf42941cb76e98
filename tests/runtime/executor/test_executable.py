"""Programs run natively equal the reference interpreter; state, threads, memory, errors."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from dy2st_runtime.errors import FeedError, FetchError, ScopeError
from dy2st_runtime.executor.executable import Executable, Session

from hand_built import Made  # isort: skip


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("other", [(3,), (1, 3), (1, 1), (-1, 3), (-1, 1), ()])
def test_broadcasting_with_open_dims(rows: int, other: tuple[int, ...]) -> None:
    m = Made()
    x, y = m.data("x", [-1, 3]), m.data("y", other)
    z = m.b.mul(m.b.add(x, y), x)
    exe = Executable(m.program, m.feeds, [z.name])
    rng = np.random.default_rng(0)
    for size in {1, rows}:
        shape = [size if d == -1 else d for d in other]
        feeds = {"x": rng.normal(size=(rows, 3)).astype("f"), "y": rng.normal(size=shape).astype("f")}
        m.compare([z], feeds, exe)


def test_one_executable_serves_all_sizes_without_compiling() -> None:
    from dy2st_runtime.executor.executable import compiler

    m = Made()
    x = m.data("x", [-1, -1])
    y = m.b.relu(m.b.sub(x, m.b.op("reduce_mean", X=x, dim=[1], keep_dim=True)))
    exe = Executable(m.program, m.feeds, [y.name])
    before = compiler().compiled
    for shape in [(1, 1), (2, 3), (64, 10), (5, 0), (0, 4)]:
        m.compare([y], {"x": np.random.default_rng(1).normal(size=shape).astype("f")}, exe) if shape[1] else None
    assert compiler().compiled == before


def test_cond_takes_one_branch_and_allocates_nothing_for_the_other() -> None:
    m = Made()
    p, x = m.data("p", [1], "bool"), m.data("x", [-1])

    def big():  # type: ignore[no-untyped-def]
        rows = m.b.op("expand_v2", X=m.b.op("unsqueeze2", X=x, axes=[0]), shape=[100_000, -1])
        return [m.b.op("reduce_sum", X=rows, dim=[0])]

    (out,) = m.cond(p, big, lambda: [m.b.scaled(x, 2.0)])
    exe = Executable(m.program, m.feeds, [out.name])
    m.compare([out], {"p": np.array([False]), "x": f32(1, 2)}, exe)
    assert exe._frames[0].allocated < 10_000
    m.compare([out], {"p": np.array([True]), "x": f32(1, 2)}, exe)
    assert exe._frames[0].allocated > 400_000


@pytest.mark.parametrize("trips", [0, 1, 2, 9])
@pytest.mark.parametrize("shape", [(1,), (-1,), ()])
def test_while_loop(trips: int, shape: tuple[int, ...]) -> None:
    m = Made()
    i, n, x = m.data("i", shape), m.data("n", shape), m.data("x", [-1, 2])
    test = lambda i, n, x, y: m.b.less_than(i, n)  # noqa: E731
    # a swap, an unchanged value, and a value used twice
    body = lambda i, n, x, y: [m.b.scaled(i, 1.0, 1.0), n, y, m.b.add(m.b.scaled(x, 0.5), y)]  # noqa: E731
    outs, _ = m.loop(test, body, [i, n, x, x])
    full = tuple(1 for _ in shape)
    m.compare(
        outs, {"i": np.zeros(full, "f"), "n": np.full(full, trips, "f"), "x": np.arange(6, dtype="f").reshape(3, 2)}
    )


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_loop_results_that_are_captured_shared_or_views(trips: int) -> None:
    m = Made()
    i, n, x, c = m.data("i", []), m.data("n", []), m.data("x", [2, 3]), m.data("c", [2, 3])

    def body(i, n, a, b, d, e):  # type: ignore[no-untyped-def]
        new = m.b.add(a, c)
        view = m.b.op("reshape2", X=m.b.op("reshape2", X=new, shape=[3, 2]), shape=[2, 3])
        return [m.b.scaled(i, 1.0, 1.0), n, new, new, c, view]

    outs, _ = m.loop(lambda i, n, *r: m.b.less_than(i, n), body, [i, n, x, x, x, x])
    total = m.b.add(m.b.add(outs[2], outs[3]), m.b.add(outs[4], outs[5]))
    rng = np.random.default_rng(2)
    m.compare([*outs, total, m.b.add(x, c)], {"i": np.array(0, "f"), "n": np.array(trips, "f"),
              "x": rng.normal(size=(2, 3)).astype("f"), "c": rng.normal(size=(2, 3)).astype("f")})  # fmt: skip


@pytest.mark.parametrize("trips", [0, 1, 6])
def test_cond_inside_loop_and_saved_values(trips: int) -> None:
    m = Made()
    i, n, x = m.data("i", []), m.data("n", []), m.data("x", [-1])

    def body(i, n, x):  # type: ignore[no-untyped-def]
        (y,) = m.cond(m.b.less_than(m.b.op("reduce_sum", X=x, dim=[], reduce_all=True), n),
                      lambda: [m.b.scaled(x, 1.5)], lambda: [x])  # fmt: skip
        return [m.b.scaled(i, 1.0, 1.0), n, y]

    outs, saved = m.loop(lambda i, n, x: m.b.less_than(i, n), body, [i, n, x], saved=[2])
    m.compare([*outs, *saved], {"i": np.array(0, "f"), "n": np.array(trips, "f"), "x": f32(0.5, 0.25)})


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_a_shape_that_grows_in_a_loop(trips: int) -> None:
    m = Made()
    i, n, x = m.data("i", []), m.data("n", []), m.data("x", [-1, 2])
    body = lambda i, n, a: [m.b.scaled(i, 1.0, 1.0), n, m.b.op("concat", X=[a, x], axis=0)]  # noqa: E731
    outs, _ = m.loop(lambda i, n, a: m.b.less_than(i, n), body, [i, n, x])
    m.compare(outs, {"i": np.array(0, "f"), "n": np.array(trips, "f"), "x": np.arange(4, dtype="f").reshape(2, 2)})


def test_nested_loops() -> None:
    m = Made()
    zero, n, x = m.data("zero", []), m.data("n", []), m.data("x", [-1])

    def outer(i, x):  # type: ignore[no-untyped-def]
        (_, y), _ = m.loop(
            lambda j, y: m.b.less_than(j, i), lambda j, y: [m.b.scaled(j, 1.0, 1.0), m.b.add(y, x)], [zero, x]
        )
        return [m.b.scaled(i, 1.0, 1.0), m.b.scaled(y, 0.5)]

    outs, _ = m.loop(lambda i, x: m.b.less_than(i, n), outer, [zero, x])
    for trips in (0, 1, 4):
        m.compare(outs, {"zero": np.array(0, "f"), "n": np.array(trips, "f"), "x": f32(1, 2, 3)})


def test_a_steady_run_allocates_nothing() -> None:
    m = Made()
    x, w = m.data("x", [-1, 8]), m.data("w", [8, 8])
    y = m.b.op("reduce_sum", X=m.b.op("tanh", X=m.b.op("matmul_v2", X=x, Y=w)), dim=[1])
    exe = Executable(m.program, m.feeds, [y.name])
    feeds = [np.ones((16, 8), "f"), np.ones((8, 8), "f")]
    exe.run(feeds)
    before = [tuple(row) for row in exe._frames[0].buffers]
    for _ in range(5):
        exe.run(feeds)
    assert [tuple(row) for row in exe._frames[0].buffers] == before


def test_buffers_are_shared_by_liveness() -> None:
    m = Made()
    y = m.data("x", [-1, 8])
    w = m.data("w", [8, 8])
    for _ in range(20):
        y = m.b.op("matmul_v2", X=y, Y=w)
    exe = Executable(m.program, m.feeds, [y.name])
    assert exe.plan.buffers <= 3


def test_threads() -> None:
    m = Made()
    x = m.data("x", [-1])
    y = x
    for _ in range(10):
        y = m.b.op("tanh", X=m.b.add(y, x))
    exe = Executable(m.program, m.feeds, [y.name])
    want = {n: exe.run([np.full(n, 0.1 * n, "f")])[0] for n in range(1, 9)}
    wrong: list[int] = []

    def work(n: int) -> None:
        for _ in range(200):
            if not np.array_equal(exe.run([np.full(n, 0.1 * n, "f")])[0], want[n]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in want]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_two_phases_share_one_frame() -> None:
    m = Made()
    x, g = m.data("x", [-1]), m.data("g", [-1])
    y = m.b.op("tanh", X=x)
    z = m.b.op("exp", X=y)
    m.b.op("suspend")
    out = m.b.mul(y, g)
    exe = Executable(m.program, m.feeds, [z.name, out.name])
    session = exe.start({"x": f32(1, 2)}, {})
    assert isinstance(session, Session)
    np.testing.assert_allclose(session.fetch([z.name])[0], np.exp(np.tanh(f32(1, 2))), rtol=1e-6)
    other = exe.start({"x": f32(5, 6)}, {})  # a second run in between has a frame of its own
    session.resume({"g": f32(10, 20)})
    np.testing.assert_allclose(session.fetch([out.name])[0], np.tanh(f32(1, 2)) * f32(10, 20), rtol=1e-6)
    session.close()
    other.close()


# ---- errors -------------------------------------------------------------------------------------------------------


def test_bad_feeds() -> None:
    m = Made()
    x = m.data("x", [-1, 3])
    y = m.b.relu(x)
    exe = Executable(m.program, m.feeds, [y.name])
    with pytest.raises(FeedError, match=r"feed 'x' is float64\[2, 3\], the program expects float32"):
        exe.run([np.zeros((2, 3))])
    with pytest.raises(FeedError, match=r"feed 'x' is float32\[2, 4\], the program expects float32\[\?, 3\]"):
        exe.run([np.zeros((2, 4), "f")])
    with pytest.raises(FetchError, match="no variable 'nothing'"):
        Executable(m.program, m.feeds, ["nothing"])
    with pytest.raises(FeedError, match="no variable 'z'"):
        Executable(m.program, ["z"], [y.name])


def test_a_shape_mismatch_at_run_time_is_the_references_error() -> None:
    m = Made()
    x, y = m.data("x", [-1]), m.data("y", [-1])
    z = m.b.add(x, y)
    exe = Executable(m.program, m.feeds, [z.name])
    with pytest.raises(ValueError, match=r"2.*3|3.*2"):
        exe.run([np.zeros(2, "f"), np.zeros(3, "f")])
    assert exe.run([np.ones(2, "f"), np.ones(2, "f")])[0].tolist() == [2, 2]


def test_a_failed_run_leaves_the_state_as_it_was() -> None:
    m = Made()
    block = m.program.global_block()
    w = block.create_var("w", "float32", [2], persistable=True)
    x, i = m.data("x", [2]), m.data("i", [1], "int64")
    m.b.apply(m_op("assign"), (m.b.add(w, x),), {}, {"Out": ["w"]})
    row = m.b.op("gather", X=x, Index=i, axis=0)
    exe = Executable(m.program, m.feeds, [row.name])
    state = {"w": f32(1, 1)}
    with pytest.raises(IndexError):
        exe.run([f32(5, 5), np.array([7])], state)
    assert state["w"].tolist() == [1, 1]
    assert exe.run([f32(5, 5), np.array([1])], state)[0].tolist() == [5]
    assert state["w"].tolist() == [6, 6]
    with pytest.raises(ScopeError, match="'w' has no value"):
        exe.run([f32(5, 5), np.array([1])], {})


def m_op(name: str):  # type: ignore[no-untyped-def]
    from dy2st_runtime.ops import registry

    return registry.get(name)


@pytest.mark.parametrize("make", [lambda a: a[::-1], lambda a: a.astype(">f4"), lambda a: np.asfortranarray(a)])
def test_feeds_and_state_of_any_layout(make) -> None:  # type: ignore[no-untyped-def]
    m = Made()
    block = m.program.global_block()
    w = block.create_var("w", "float32", [3, 2], persistable=True)
    x = m.data("x", [3, 2])
    m.b.apply(m_op("assign"), (m.b.add(w, x),), {}, {"Out": ["w"]})
    exe = Executable(m.program, m.feeds, [])
    given = np.arange(6, dtype="f").reshape(3, 2)
    array = make(given)
    array.flags.writeable = False
    state = {"w": array}
    exe.run([array], state)
    np.testing.assert_array_equal(state["w"], 2 * array)
    np.testing.assert_array_equal(given, np.arange(6, dtype="f").reshape(3, 2))


def test_state_that_is_as_it_was_and_state_that_is_not() -> None:
    m = Made()
    w = m.program.global_block().create_var("w", "float32", [-1], persistable=True)
    y = m.b.add(w, m.data("x", [-1]))
    exe = Executable(m.program, m.feeds, [y.name])
    state = {"w": f32(1, 2)}
    for _ in range(3):
        assert exe.run([f32(1, 1)], state)[0].tolist() == [2, 3]
        state["w"] += 0
    state["w"][0] = 5
    assert exe.run([f32(1, 1)], state)[0].tolist() == [6, 3]
    for value in (f32(7, 7), f32(1, 2, 3), np.arange(6, dtype="f")[::2], f32(4)):
        state["w"] = value
        for _ in range(2):
            np.testing.assert_array_equal(exe.run([np.ones_like(value)], state)[0], value + 1)
    state["w"].resize((1, 1), refcheck=False)
    with pytest.raises(ScopeError, match=r"shape \[1, 1\] in the scope"):
        exe.run([f32(1)], state)
    for gone in ({}, {"w": None}):
        with pytest.raises(ScopeError, match="'w' has no value"):
            exe.run([f32(1)], gone)
    state["w"].resize((1,), refcheck=False)
    assert exe.run([f32(1)], state)[0].tolist() == [5]


def test_state_that_must_not_be_written_any_more() -> None:
    m = Made()
    w = m.program.global_block().create_var("w", "float32", [2], persistable=True)
    m.b.apply(m_op("sgd"), (w, m.b.constant(1.0, "float32", [1]), m.data("x", [2])), {}, {"ParamOut": ["w"]})
    exe = Executable(m.program, m.feeds, [])
    array = f32(1, 2)
    state = {"w": array}
    exe.run([f32(1, 1)], state)
    assert state["w"] is array
    assert array.tolist() == [0, 1]
    array.flags.writeable = False
    exe.run([f32(1, 1)], state)
    assert array.tolist() == [0, 1]
    assert state["w"].tolist() == [-1, 0]


def test_a_program_of_nothing_runs() -> None:
    assert Executable(Made().program, [], []).run([]) == []
