"""The compile cache: what is damaged or foreign is built anew, many processes may share it; the second compiling process."""

from __future__ import annotations

import atexit
import dataclasses
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest
from dy2st_runtime import config, threads
from dy2st_runtime.codegen import cpu
from dy2st_runtime.executor import compile, routines, worker
from dy2st_runtime.executor.cache import ObjectCache
from dy2st_runtime.executor.compile import KernelCompiler
from dy2st_runtime.executor.engines import ENGINES, Engine
from dy2st_runtime.ir import IRBuilder, Program
from dy2st_runtime.loopir import nodes as n
from dy2st_runtime.loopir.builder import KernelBuilder


def source(fn: str) -> str:
    k = KernelBuilder(fn)
    x, y = k.input("x", "float64", 1), k.output("y", "float64", 1)
    k.set_shape(y, x.shape)
    with k.parallel(x.size) as i:
        y[i] = n.call(fn, x[i])
    return cpu.render(k.kernel)


def test_a_second_compiler_loads_what_the_first_compiled(tmp_path: Path) -> None:
    first, second = KernelCompiler(ObjectCache(tmp_path)), KernelCompiler(ObjectCache(tmp_path))
    first.addresses([source("sin"), source("cos"), source("sin")])
    assert (first.compiled, first.loaded) == (2, 0)
    second.addresses([source("cos"), source("sin")])
    assert (second.compiled, second.loaded) == (0, 2)
    second.addresses([source("cos")])
    assert (second.compiled, second.loaded) == (0, 2)  # in memory by now


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty", "other key", "text"])
def test_a_damaged_entry_is_built_anew(tmp_path: Path, damage: str) -> None:
    cache = ObjectCache(tmp_path)
    first = KernelCompiler(cache)
    first.addresses([source("sin"), source("cos")])
    assert cache.folder is not None
    paths = [cache.folder / f"{first.symbol(source(name))}.o" for name in ("sin", "cos")]  # not those of routines
    data = paths[0].read_bytes()
    flipped = data[:-1] + bytes([data[-1] ^ 1])
    made = {
        "truncated": data[:-40],
        "flipped": flipped,
        "empty": b"",
        "other key": paths[1].read_bytes(),
        "text": b"no object",
    }
    paths[0].write_bytes(made[damage])
    again = KernelCompiler(ObjectCache(tmp_path))
    again.addresses([source("sin"), source("cos")])
    assert (again.compiled, again.loaded) == (1, 1)
    third = KernelCompiler(ObjectCache(tmp_path))
    third.addresses([source("sin"), source("cos")])
    assert (third.compiled, third.loaded) == (0, 2)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_folder_that_others_can_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects").chmod(0o777)
    with pytest.warns(RuntimeWarning, match="can be written by others"):
        cache = ObjectCache(tmp_path)
    compiler = KernelCompiler(cache)
    compiler.addresses([source("sin")])
    assert compiler.compiled == 1
    assert not list((tmp_path / "objects").iterdir())


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_folder_is_private_and_a_writable_entry_is_ignored(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    assert cache.folder is not None
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    cache.put("k_x", b"payload")
    assert cache.get("k_x") == b"payload"
    (cache.folder / "k_x.o").chmod(0o666)
    assert cache.get("k_x") is None


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_both_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cache = ObjectCache(tmp_path / "cache")
    finally:
        os.umask(before)
    assert cache.folder is not None
    assert [stat.S_IMODE(p.stat().st_mode) for p in (cache.folder, cache.folder.parent)] == [0o700] * 2
    cache.folder.chmod(0o755)
    assert stat.S_IMODE(ObjectCache(tmp_path / "cache").folder.stat().st_mode) == 0o700  # type: ignore[union-attr]


def test_a_user_without_a_home_gets_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    for name in ("DY2ST_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    with config.CACHE_DIR.override(""), pytest.warns(RuntimeWarning, match="no compile cache: Could not determine home"):
        assert ObjectCache().folder is None


def test_a_full_or_read_only_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ObjectCache(tmp_path)

    def no_space(*args: object, **at: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    with pytest.warns(RuntimeWarning, match="cannot write its compile cache") as warned:
        cache.put("k_x", b"payload")
    assert warned[0].filename == __file__  # the line of the caller, not one of dy2st's own
    assert cache.folder is not None
    assert not [path for path in cache.folder.rglob("*") if path.is_file()]


def test_switches(tmp_path: Path) -> None:
    with config.CACHE_DIR.override(str(tmp_path)):
        assert config.cache_folder() == tmp_path
    with config.NO_CACHE.override(True):
        assert ObjectCache(tmp_path).folder is None


def test_many_processes_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from dy2st_runtime.executor.cache import ObjectCache\n"
        "cache = ObjectCache(Path(sys.argv[1]))\n"
        "for i in range(300):\n"
        "    cache.put('k', bytes(range(256)) * 40); found = cache.get('k')\n"
        "    assert found == bytes(range(256)) * 40, found\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
    assert [p.wait() for p in running] == [0] * 4
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["k.o"]


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_the_worker_compiles_into_the_cache(tmp_path: Path, engine: Engine) -> None:
    text = source("tan")
    symbol = KernelCompiler(ObjectCache(tmp_path)).symbol(text, engine)
    process = worker.Worker(tmp_path)
    process.give([(symbol, text)], engine)
    process.finish()
    cache = ObjectCache(tmp_path)
    assert cache.get(symbol) is not None
    compiler = KernelCompiler(cache)
    compiler.addresses([text], engine=engine)
    assert (compiler.compiled, compiler.loaded) == (0, 1)
    with process:
        pass  # a worker that has ended is no problem


def test_the_worker_takes_more_than_a_pipe_holds_and_nobody_waits_for_it(tmp_path: Path) -> None:
    text = source("sin")
    with worker.Worker(tmp_path) as process:
        for i in range(100):  # 300 KB, of which a pipe holds 64
            process.give([(f"k_{i}", text + "#" * 3000)], ENGINES["llvm"])
    assert process._process.returncode is not None
    assert not process._writing.is_alive()


@pytest.mark.skipif(threads.available() < 2, reason="the parent compiles alone")
def test_routines_that_will_be_needed_are_compiled_while_the_parent_is_busy(tmp_path: Path) -> None:
    compiler = KernelCompiler(ObjectCache(tmp_path))
    with compiler.beginning(["look", "total_clear"]):
        assert compiler._worker is not None
        compiler._worker.finish()
    symbols = [compiler.symbol(f"routine {name}", ENGINES["llvm"]) for name in ("look", "total_clear")]
    assert all(compiler.cache.get(symbol) is not None for symbol in symbols)
    with compiler.beginning(["look", "total_clear"]):
        assert compiler._worker is None  # there is nothing to do


def test_what_is_expected_of_a_program() -> None:
    program = Program()
    block = program.global_block()
    x, w = (block.create_var(name, "float32", [4, 4], is_data=True) for name in "xw")
    assert routines.expected(program) == ["driver"]
    IRBuilder(block).matmul_v2(x, w)
    assert routines.expected(program) == ["driver", "product_float32", "dots_float32", "run_tiles_float32", "tiles_float32"]
    block.create_var("kept", "float32", [4, 4], kind="array")
    assert {"array_push", "array_last"} < {*routines.expected(program)} < {*routines.functions()}


def test_a_worker_that_dies_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "nowhere")  # no Python starts with this
    monkeypatch.setattr(worker, "_serve", lambda tasks: os._exit(1))  # and no fork does anything
    compiler = KernelCompiler(ObjectCache(tmp_path))
    with compiler.beginning(["look"]):
        assert len(compiler.addresses([source("tan")])) == 1
    at_once = dataclasses.replace(ENGINES["llvm"], kernel_seconds=1.0, start_seconds=0.0)
    assert len(compiler.addresses([source("sin"), source("cos")], engine=at_once)) == 2


forking = pytest.mark.skipif(not worker._forks(), reason="workers are no forks here")


@forking
def test_a_fork_has_nothing_of_its_parents_but_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    monkeypatch.setattr(worker, "_serve", lambda tasks: seen.write_text(
        f"{sorted(os.listdir('/proc/self/fd'))[:3]} {len(os.listdir('/proc/self/fd'))} {signal.getsignal(signal.SIGUSR1)!r}"))  # fmt: skip
    at_exit = tmp_path / "at exit"
    atexit.register(at_exit.write_text, "")
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with open(tmp_path / "open", "w"), worker.Worker(tmp_path) as process:
            process.finish()
    finally:
        signal.signal(signal.SIGUSR1, before)
        atexit.unregister(at_exit.write_text)
    # the three files that any process has, and that of the list itself
    assert seen.read_text() == f"['0', '1', '2'] 4 {signal.SIG_DFL!r}"
    assert not at_exit.exists()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == set()


@forking
def test_where_no_fork_is_possible_another_python_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", mock.Mock(side_effect=OSError("no memory")))
    files = len(os.listdir("/proc/self/fd"))
    text = source("tan")
    symbol = KernelCompiler(ObjectCache(tmp_path)).symbol(text, ENGINES["llvm"])
    with worker.Worker(tmp_path) as process:
        assert isinstance(process._process, subprocess.Popen)
        process.give([(symbol, text)], ENGINES["llvm"])
        process.finish()
    assert ObjectCache(tmp_path).get(symbol) is not None
    assert len(os.listdir("/proc/self/fd")) == files


@forking
def test_a_fork_that_somebody_else_has_waited_for_is_not_ended_again(tmp_path: Path) -> None:
    process = worker.Worker(tmp_path)
    process._tasks.put(None)
    os.waitpid(process._process._id, 0)
    with mock.patch.object(os, "kill") as kill:
        process._process.wait()
        with process:
            pass
    kill.assert_not_called()


def test_what_a_killed_process_left_is_removed_after_a_while(tmp_path: Path) -> None:
    cache = ObjectCache(tmp_path)
    cache.put("kernel", b"object")
    assert cache.folder is not None
    old, new = cache.folder / "partial" / "old", cache.folder / "partial" / "new"
    for path, age in ((old, 7200), (new, 0)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
    assert ObjectCache(tmp_path).get("kernel") == b"object"
    assert new.exists()
    assert not old.exists()


def test_the_text_of_all_that_compiles_is_in_the_name_of_an_object() -> None:
    code = ("import sys, dy2st_runtime.executor.compile as c; from dy2st_runtime.executor import llvm_engine;"
            "print(*[m.__file__ for name, m in sys.modules.items() if name.startswith('dy2st_runtime.') and m.__file__])")  # fmt: skip
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    named = {(Path(compile.__file__).parent / f"{name}.py").resolve() for name in compile.INLINED}
    others = {"__init__", "cache", "cachefiles", "config", "dims", "engines", "errors", "forks", "nonfinite", "state", "warning", "worker"}
    assert {Path(path).resolve() for path in loaded if Path(path).stem not in others} <= named


def test_what_is_usual_is_what_a_product_needs() -> None:
    program = Program()
    block = program.global_block()
    IRBuilder(block).matmul_v2(*(block.create_var(name, "float32", [4, 4], is_data=True) for name in "xw"))
    assert {*compile.USUAL} >= {*routines.expected(program)}
    assert {*compile.USUAL} <= {*routines.functions()}


@pytest.mark.skipif(threads.available() < 2, reason="the parent compiles alone")
def test_a_worker_takes_more_routines_from_a_block_inside(tmp_path: Path) -> None:
    compiler = KernelCompiler(ObjectCache(tmp_path))
    with compiler.beginning(["look"]):
        outer = compiler._worker
        with compiler.beginning(["look", "total_clear"]):
            assert compiler._worker is outer is not None
            outer.finish()
    symbols = [compiler.symbol(f"routine {name}", ENGINES["llvm"]) for name in ("look", "total_clear")]
    assert all(compiler.cache.get(symbol) is not None for symbol in symbols)


@pytest.mark.skipif(threads.available() < 2, reason="the parent compiles alone")
def test_a_worker_takes_kernels_before_they_are_asked_for(tmp_path: Path) -> None:
    compiler = KernelCompiler(ObjectCache(tmp_path))
    texts, engine = [source("sin"), source("cos")], ENGINES["llvm"]
    compiler.ahead(texts[0], engine)  # there is no worker
    with compiler.beginning(["look"]):
        assert compiler.takes_ahead
        assert compiler._worker is not None
        for text in [*texts, texts[0]]:
            compiler.ahead(text, engine)
        compiler._worker.finish()
        symbols = [compiler.symbol(text, engine) for text in texts]
        assert all(compiler.cache.get(symbol) is not None for symbol in symbols)
        assert len(compiler.addresses(texts, engine=engine)) == 2
    assert compiler.took.keys().isdisjoint(symbols)  # nothing is compiled twice
    assert not compiler.takes_ahead
