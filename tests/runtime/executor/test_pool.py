"""The threads that share the work of kernels: same results, errors, several callers, fork, the end of the process."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from dy2st_runtime import errors, threads
from dy2st_runtime.codegen import cpu
from dy2st_runtime.executor import sharing
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.loopir.builder import KernelBuilder
from dy2st_runtime.loopir.parallel import divisible
from hand_built import Made

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def as_many_as_cores():
    yield
    threads.set_num_threads(0)


def random(*shape):
    return RNG.normal(size=shape).astype("float32")


# ---- which work is divided ------------------------------------------------------------------------------------------


def kernel(emit):
    k = KernelBuilder("test")
    x, y = k.input("x", "float32", 2), k.output("y", "float32", 2)
    k.set_shape(y, x.shape)
    emit(k, x, y)
    return k.kernel


def test_one_parallel_loop_is_divided():
    def rows(k, x, y):
        with k.parallel(x.shape[0]) as i, k.loop(x.shape[1]) as j:
            y[i * x.shape[1] + j] = x[i * x.shape[1] + j]

    assert divisible(kernel(rows)) is not None
    assert "return 5" in cpu.render(kernel(rows))


def test_a_nest_is_divided_by_its_rows():
    def nest(k, x, y):
        with k.parallel(x.shape[0]) as i, k.parallel(x.shape[1]) as j, k.parallel(x.shape[1]) as m:
            y[i * x.shape[1] + j] = x[m]

    source = cpu.render(kernel(nest))
    assert "count, work = t0_d0 * t0_d1, " in source
    assert "for flat in range(start, stop):" in source


@pytest.mark.parametrize("what", ["adds", "accumulates", "two", "reads what it writes", "plain"])
def test_other_work_is_not_divided(what):
    def emit(k, x, y):
        total = k.var(0.0, "float32") if what == "accumulates" else None
        first = k.let(y[0] + 1.0) if what == "reads what it writes" else x[0]
        with k.loop(x.size, parallel=what != "plain") as i:
            if what == "adds":
                y.atomic_add(i // 2, x[i])
            elif total is not None:
                total.set(total.get() + x[i])
                y[i] = total.get()
            else:
                y[i] = x[i] + first
        if what == "two":
            with k.parallel(x.size) as i:
                y[i] = x[i]

    assert divisible(kernel(emit)) is None


@pytest.mark.parametrize(("iterations", "threads", "least", "vectors"), [(960, 2, 290, 1), (384, 2, 72, 1), (18, 2, 1, 1), (40, 16, 9, 1),
                                                                       (1000, 3, 240, 1), (100_000, 2, 1, 64)])  # fmt: skip
def test_threads_have_as_many_chunks_of_the_same_size(iterations, threads, least, vectors):
    chunk = sharing.chunk_of(iterations, threads, 16, least, vectors)
    chunks = -(-iterations // chunk)
    assert chunk % vectors == 0
    assert least / 2 <= chunk
    assert chunks <= threads * 16
    assert chunks % threads == 0 or chunks < threads
    assert chunks * chunk - iterations < max(chunks, chunk / 2)  # the last one is hardly smaller


@pytest.mark.parametrize(("iterations", "least"), [(1, 1), (5, 5), (5, 100)])
def test_little_work_is_one_chunk(iterations, least):
    assert sharing.chunk_of(iterations, 4, 16, least, 1) >= iterations


# ---- results ----------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "elementwise": (lambda b, x, y: b.op("tanh", X=b.mul(x, b.exp(y))), (331, 1003), (331, 1003)),
    "broadcast": (lambda b, x, y: b.op("sigmoid", X=b.add(x, y)), (7, 31, 1003), (31, 1)),
    "softmax": (lambda b, x, y: b.softmax(b.add(x, y), axis=-1), (301, 1003), (1003,)),
    "softmax of columns": (lambda b, x, y: b.softmax(b.mul(x, y), axis=0), (301, 1003), (1003,)),
    "sum of rows": (lambda b, x, y: b.op("reduce_sum", X=b.mul(x, y), dim=[1]), (301, 1003), (1003,)),
    "sum of columns": (lambda b, x, y: b.op("reduce_sum", X=b.mul(x, y), dim=[0]), (301, 1003), (1003,)),
    "transpose": (lambda b, x, y: b.op("transpose2", X=b.add(x, y), axis=[2, 0, 1]), (31, 33, 301), (301,)),
    "layer_norm": (lambda b, x, y: b.op("layer_norm", X=b.add(x, y))[0], (301, 1003), (1003,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_do_not_depend_on_the_number_of_threads(name):
    build, *shapes = PROGRAMS[name]
    m = Made()
    out = build(m.b, *(m.data(f"x{i}", (-1,) * len(shape)) for i, shape in enumerate(shapes)))
    exe = Executable(m.program, m.feeds, [out.name])
    feeds = [random(*shape) for shape in shapes]
    threads.set_num_threads(1)
    (want,) = exe.run(feeds)
    for count in (2, 3, 4, 7):
        threads.set_num_threads(count)
        (got,) = exe.run(feeds)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shapes", [((515, 300), (300, 70)), ((70, 300), (300, 515)), ((9, 130, 64), (9, 64, 130)),
                                    ((3, 200, 150), (150, 200)), ((1, 2000), (2000, 1500))])  # fmt: skip
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_products_in_panels(shapes, transposed):
    m = Made()
    (a, c), (tx, ty) = shapes, transposed
    x, y = m.data("x", (-1,) * len(a)), m.data("y", (-1,) * len(c))
    z = m.b.matmul_v2(x, y, trans_x=tx, trans_y=ty)
    exe = Executable(m.program, m.feeds, [z.name])
    feeds = [random(*a), random(*c)]
    want = (feeds[0].astype("float64") @ feeds[1].astype("float64")).astype("float32")
    feeds = [np.ascontiguousarray(f.swapaxes(-1, -2)) if t else f for f, t in zip(feeds, transposed, strict=True)]
    for count in (1, 2, 3, 5):
        threads.set_num_threads(count)
        (got,) = exe.run(feeds)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-3)


def test_a_chunk_that_fails_is_one_error():
    m = Made()
    w, ids = m.data("w", (-1, -1)), m.data("ids", (-1,), "int64")
    out = m.b.op("lookup_table_v2", W=w, Ids=ids)
    exe = Executable(m.program, m.feeds, [out.name])
    table, good = random(50, 64), RNG.integers(0, 50, 20_000)
    bad = good.copy()
    bad[[3, 9_000, 19_999]] = 50
    for count in (1, 2, 4):
        threads.set_num_threads(count)
        for _ in range(3):
            with pytest.raises(errors.OutOfRangeError, match="index 50 is out of range"):
                exe.run([table, bad])
            np.testing.assert_array_equal(exe.run([table, good])[0], table[good])


# ---- callers, processes -------------------------------------------------------------------------------------------------


def programs():
    """Executables with feeds and what they give: small ones that nobody shares, and larger ones."""
    made = []
    for rows in (3, 40, 400, 3000):
        m = Made()
        x, w = m.data("x", (-1, 64)), m.data("w", (64, 64))
        out = m.b.op("tanh", X=m.b.matmul_v2(m.b.exp(x), w))
        feeds = [random(rows, 64), random(64, 64)]
        exe = Executable(m.program, m.feeds, [out.name])
        made.append((exe, feeds, np.tanh(np.exp(feeds[0]) @ feeds[1])))
    return made


def test_many_programs_from_several_threads_at_once():
    threads.set_num_threads(3)
    made, failed = programs(), []

    def work(seed):
        order = np.random.default_rng(seed).integers(0, len(made), 150)
        try:
            for i in order:
                exe, feeds, want = made[i]
                np.testing.assert_allclose(exe.run(feeds)[0], want, rtol=1e-3, atol=1e-4)
                if i == 0:
                    threads.set_num_threads(int(order[0]) + 1)
        except BaseException as error:
            failed.append(error)

    callers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for t in callers:
        t.start()
    for t in callers:
        t.join(120)
        assert not t.is_alive()
    if failed:
        raise failed[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    threads.set_num_threads(3)
    made = programs()
    for exe, feeds, _ in made:
        exe.run(feeds)
    assert threads.pool().size >= 2
    for _ in range(3):
        child = os.fork()
        if child == 0:
            ok = threads.pool().size == 0
            for exe, feeds, want in made:
                ok &= bool(np.allclose(exe.run(feeds)[0], want, rtol=1e-3, atol=1e-4))
            os._exit(0 if ok and threads.pool().size == 2 else 1)
        assert os.waitpid(child, 0)[1] == 0
    for exe, feeds, want in made:
        np.testing.assert_allclose(exe.run(feeds)[0], want, rtol=1e-3, atol=1e-4)


USE = """
import atexit, sys, threading
sys.path.insert(0, {folder!r})
import test_pool
from dy2st_runtime import threads
made = test_pool.programs()
def use():
    for exe, feeds, _ in made:
        exe.run(feeds)
{how}
print("used", threads.pool().size, flush=True)
"""


@pytest.mark.parametrize(
    "how",
    [
        "use()",
        "use(); atexit.register(use)",  # runs before the threads end
        "atexit.register(use); use()",
        "t = threading.Thread(target=lambda: [use() for _ in range(30)]); t.start(); use()",
        "t = threading.Thread(target=lambda: [use() for _ in range(10**9)], daemon=True); t.start(); use()",
        "use(); import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler); os.kill(os.getpid(), signal.SIGINT)",
    ],
)
def test_a_process_ends(how):
    env = {**os.environ, "DY2ST_NUM_THREADS": "3", "PYTHONPATH": os.pathsep.join(sys.path)}
    source = USE.format(folder=os.path.dirname(__file__), how=how)
    done = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=120)
    if "SIGINT" in how:
        assert "KeyboardInterrupt" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["used", "2"]


# ---- how many -------------------------------------------------------------------------------------------------------------


def test_the_number_of_threads():
    threads.set_num_threads(5)
    assert threads.get_num_threads() == 5
    threads.set_num_threads(0)
    assert threads.get_num_threads() == threads.available() >= 1
    with pytest.raises(ValueError, match="must be 0 or more"):
        threads.set_num_threads(-1)
    with pytest.raises(TypeError, match="must be an int"):
        threads.set_num_threads(2.0)


def test_one_thread_starts_none():
    env = {**os.environ, "DY2ST_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    source = USE.format(folder=os.path.dirname(__file__), how="use()")
    done = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["used", "0"]


@pytest.mark.parametrize(
    ("files", "limit"),
    [({"cpu.max": "150000 100000"}, 1.5), ({"cpu.max": "max 100000"}, None), ({}, None),
     ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 0.5),
     ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None)],
)  # fmt: skip
def test_the_limit_of_a_control_group(tmp_path, files, limit):
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n")
    assert threads._group_limit(tmp_path) == limit


def test_the_switch_takes_numbers_only():
    env = {**os.environ, "DY2ST_NUM_THREADS": "-1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", "import dy2st_runtime.config"], env=env, capture_output=True, text=True, timeout=60)
    assert "DY2ST_NUM_THREADS='-1': expected a number" in done.stderr
