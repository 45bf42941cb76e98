"""A process that is made by fork while another thread holds a lock, compiles or computes."""

import contextlib
import ctypes
import functools
import importlib
import os
import subprocess
import sys
import textwrap
import threading
import types

import pytest
from dy2st_runtime import forks
from dy2st_runtime.executor import compile, executable

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)


class Property:
    @functools.cached_property
    def value(self):
        self.entered.set()
        self.leave.wait(60)
        return 1

    def __init__(self):
        self.entered, self.leave = threading.Event(), threading.Event()


Property.__module__ = "dy2st_runtime.forks"  # one of ours


@contextlib.contextmanager
def held(manager):
    """A thread is in it."""
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with manager:
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(60)
    yield
    leave.set()
    thread.join()


def in_child(function):
    """What a function returns, an int, in a process made by fork; -1 if it takes ten seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        threading.Timer(10, lambda: os._exit(1)).start()
        os.write(writing, bytes([function()]))
        os._exit(0)
    os.close(writing)
    found = os.read(reading, 1)
    os.close(reading)
    os.waitpid(child, 0)
    return found[0] if found else -1


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("make", [forks.lock, forks.reentrant_lock])
def test_a_lock_is_free(make):
    lock = make()
    with held(lock):
        assert in_child(lambda: int(lock.acquire(timeout=5))) == 1
        assert not lock.acquire(blocking=False)  # here it is held as before


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_cached_property_is_free(monkeypatch):
    monkeypatch.setattr(forks, "Property", Property, raising=False)
    busy, other = Property(), Property()
    other.leave.set()
    thread = threading.Thread(target=lambda: busy.value)
    thread.start()
    busy.entered.wait(60)
    assert in_child(lambda: other.value) == 1
    busy.leave.set()
    thread.join()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_compiles_while_the_parent_did():
    source = "def kernel(args, start, stop):\n    return {}\n"
    compiler = executable.compiler()
    compiler.addresses([source.format(40)])
    with held(compiler._lock):
        assert in_child(lambda: ENTRY(compiler.addresses([source.format(41)])[0])(0, 0, 0)) == 41
    assert ENTRY(compiler.addresses([source.format(41)])[0])(0, 0, 0) == 41


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_waits_for_numba():
    from dy2st_runtime.executor import numba_engine

    source = "def kernel(args, start, stop):\n    return {}\n"
    numba_engine.object_file(source.format(1), "k_1")
    with held(numba_engine.global_compiler_lock):
        entered, forked = threading.Event(), []
        forking = threading.Thread(target=lambda: (entered.set(), forked.append(in_child(lambda: 1))))
        forking.start()
        entered.wait(60)
        forking.join(0.3)
        assert not forked  # another thread compiles
    forking.join()
    assert forked == [1]
    assert in_child(lambda: len(numba_engine.object_file(source.format(2), "k_2")) > 0) == 1


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_waits_for_what_is_imported_when_it_is_needed(tmp_path, monkeypatch):

    state = types.SimpleNamespace(entered=threading.Event(), leave=threading.Event())
    (tmp_path / "imported_late.py").write_text(
        "import sys\nstate = sys.imported_late\nstate.entered.set()\nstate.leave.wait(60)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "imported_late", state, raising=False)
    monkeypatch.setattr(forks, "_IMPORTED", {"imported_late"})

    def value():
        return int(importlib.import_module("imported_late").state is state)

    importing = threading.Thread(target=value)
    importing.start()
    state.entered.wait(60)
    forked = []
    forking = threading.Thread(target=lambda: forked.append(in_child(value)))
    forking.start()
    forking.join(0.3)
    assert not forked
    with compile.llvm_lock():  # the thread that forks does not hold it while it waits
        state.leave.set()
        importing.join()
    forking.join()
    assert forked == [1]


def test_libraries_that_call_others_are_taken_before_them(tmp_path):
    program = """
        import importlib, numpy as np
        from dy2st_runtime import forks
        for name in {order}:
            importlib.import_module(f"dy2st_runtime.executor.{{name}}")
        from dy2st_runtime.executor import compile, executable, numba_engine
        executable.compiler()
        assert forks._libraries == [numba_engine.global_compiler_lock, compile.llvm_lock()], forks._libraries
    """
    for order in (["executable", "numba_engine"], ["numba_engine", "executable"]):
        text = textwrap.dedent(program.format(order=order))
        subprocess.run([sys.executable, "-c", text], check=True, env={**os.environ, "DY2ST_CACHE_DIR": str(tmp_path)})


PROGRAM = """
    import os, sys, threading, time, dy2st as paddle, dy2st.nn.functional as F

    def made(c):
        return paddle.jit.to_static(lambda x: paddle.exp(x * c) + F.softmax(x * (c + 1)))

    large = paddle.ones([1000, 1000])
    shared = paddle.jit.to_static(lambda x: F.softmax(x @ x))
    shared(large)
    small = paddle.ones([4, 4])

    def busy():
        n = 0.5
        while True:
            n += 1
            made(n)(small) if sys.argv[1] == "compile" else shared(large)

    threading.Thread(target=busy, daemon=True).start()
    for k in range(8):
        time.sleep(0.05 + k / 50)
        child = os.fork()
        if child == 0:
            made(0.1 + k)(small) if sys.argv[1] == "compile" else shared(large)
            os._exit(0)
        end = time.time() + 60
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.time() > end:
                os.kill(child, 9)
                sys.exit("a child hangs")
            time.sleep(0.01)
    os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("what", "engine"), [("compile", "llvm"), ("compile", "numba"), ("run", "llvm")])
def test_children_work_whatever_another_thread_does(what, engine, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(PROGRAM))
    env = {**os.environ, "DY2ST_CACHE_DIR": str(tmp_path), "DY2ST_ENGINE": engine}
    for _ in range(2):  # with a filled cache the other thread imports what compiles while the first children are made
        subprocess.run([sys.executable, "-W", "ignore", script, what], check=True, env=env)
