"""The two compilers of kernels: chosen by a switch, apart in the cache, both in one process, and agreed on every kernel."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import op_cases
import pytest
from dy2st_runtime import config
from dy2st_runtime.codegen import layout
from dy2st_runtime.errors import CompileError
from dy2st_runtime.executor import engines, objects
from dy2st_runtime.executor.cache import ObjectCache
from dy2st_runtime.executor.compile import KernelCompiler
from dy2st_runtime.executor.engines import ENGINES
from dy2st_runtime.executor.executable import Executable
from dy2st_runtime.executor.objects import UncompiledKernel
from dy2st_runtime.ops.control import ABSENT

import dy2st as paddle

SQUARES = """def kernel(args, start, stop):
    for i in range(stop):
        st_int8(args, i, int8(ld_float64(start, i) * {factor}))
    return 0
"""


@pytest.fixture
def restored() -> Iterator[None]:
    before = paddle.get_engine()
    yield
    paddle.set_engine(before)


def call(address: int, *arguments: int) -> int:
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(address)(*arguments))


def environment(**more: str) -> dict[str, str]:
    """That of a process that finds what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


# ---- the switch ----------------------------------------------------------------------------------------------------


def test_the_switch_is_in_the_table_and_names_the_engines() -> None:
    assert set(config.ENGINES) == set(ENGINES)
    assert "DY2ST_ENGINE" in config.describe()


def test_an_unknown_engine_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no compiler of kernels 'gcc', but 'llvm' and 'numba'"):
        paddle.set_engine("gcc")
    code = "import dy2st_runtime.config"
    found = subprocess.run([sys.executable, "-c", code], env=environment(DY2ST_ENGINE="gcc"), capture_output=True, text=True)
    assert "environment variable DY2ST_ENGINE='gcc': expected llvm or numba" in found.stderr


def test_an_engine_that_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(CompileError, match="pip install numba"):
        paddle.set_engine("numba")
    with config.ENGINE.override("numba"), pytest.raises(CompileError, match="pip install numba"):
        engines.current()
    with config.ENGINE.override("llvm"):
        assert engines.current().name == "llvm"


def test_numba_that_is_switched_off_is_an_error(restored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    with pytest.raises(CompileError, match="'numba' compiles nothing, as NUMBA_DISABLE_JIT is set"):
        paddle.set_engine("numba")
    with config.ENGINE.override("numba"), pytest.raises(CompileError, match="NUMBA_DISABLE_JIT"):
        paddle.jit.to_static(lambda x: x + 7)(paddle.ones([2]))


def test_numba_is_imported_only_where_it_compiles(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np, dy2st as paddle\n"
        "paddle.set_engine(sys.argv[1])\n"
        "f = paddle.jit.to_static(lambda x: paddle.exp(x) + 1)\n"
        "assert float(f(paddle.zeros([1]))) == 2.0\n"
        "assert f'engine: {sys.argv[1]}' in f.explain()\n"
        "print('numba.core.compiler' in sys.modules)\n"
    )

    def run(engine: str) -> str:
        env = environment(DY2ST_CACHE_DIR=str(tmp_path))
        return subprocess.run([sys.executable, "-c", code, engine], env=env, capture_output=True, text=True, check=True).stdout.strip()

    assert run("llvm") == "False"
    assert run("numba") == "True"
    assert run("numba") == "False"  # from the cache


# ---- both in one process ------------------------------------------------------------------------------------------


def test_entries_of_the_cache_are_apart(tmp_path: Path) -> None:
    text = SQUARES.format(factor=3.0)
    first = KernelCompiler(ObjectCache(tmp_path))
    found = {name: first.addresses([text], engine=engine)[0] for name, engine in ENGINES.items()}
    assert len(set(found.values())) == len({first.symbol(text, engine) for engine in ENGINES.values()}) == 2
    assert first.compiled == 2
    second = KernelCompiler(ObjectCache(tmp_path))
    for engine in ENGINES.values():
        second.addresses([text], engine=engine)
    assert (second.compiled, second.loaded) == (0, 2)


def test_switches_of_numba_make_other_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [KernelCompiler(ObjectCache(tmp_path)).symbol("", engine) for engine in ENGINES.values()]
    monkeypatch.setenv("NUMBA_OPT", "1")
    again = [KernelCompiler(ObjectCache(tmp_path)).symbol("", engine) for engine in ENGINES.values()]
    assert names[0] == again[0]
    assert names[1] != again[1]


def test_a_cast_to_a_narrow_int_is_that_of_numpy(tmp_path: Path) -> None:
    values = np.array([0.0, -1.5, 100.7, 300.0, -300.0, 70000.0])
    compiler = KernelCompiler(ObjectCache(tmp_path))  # its code is there for as long as it is
    for engine in ENGINES.values():
        out = np.zeros(len(values), np.int8)
        (address,) = compiler.addresses([SQUARES.format(factor=1.0)], engine=engine)
        assert call(address, out.ctypes.data, values.ctypes.data, len(values)) == 0
        np.testing.assert_array_equal(out, values.astype(np.int32).astype(np.int8), engine.name)


def test_what_numba_would_raise_is_a_failure_of_the_kernel(tmp_path: Path) -> None:
    text = "def kernel(args, start, stop):\n    for i in range(0, start, stop):\n        pass\n    return 0\n"
    compiler = KernelCompiler(ObjectCache(tmp_path))
    (address,) = compiler.addresses([text], engine=ENGINES["numba"])
    assert call(address, 0, 9, 3) == layout.OK
    assert call(address, 0, 9, 0) == layout.FAILED


def test_static_functions_of_both_engines_side_by_side(restored: None) -> None:
    def collatz(n: Any) -> Any:
        steps = paddle.zeros([], "int64")
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    made = {}
    for name in ENGINES:
        paddle.set_engine(name)
        made[name] = paddle.jit.to_static(collatz)
        assert int(made[name](paddle.to_tensor(27))) == 111
    paddle.set_engine("llvm")
    assert int(made["numba"](paddle.to_tensor(97))) == int(made["llvm"](paddle.to_tensor(97))) == 118
    assert [f"engine: {name}" in f.explain() for name, f in made.items()] == [True, True]


def test_threads_compile_with_both_at_once(tmp_path: Path) -> None:
    compiler, found, failed = KernelCompiler(ObjectCache(tmp_path)), {}, []

    def work(name: str, factor: float) -> None:
        try:
            text = SQUARES.format(factor=factor)
            (address,) = compiler.addresses([text], engine=ENGINES[name])
            out, value = np.zeros(1, np.int8), np.array([2.0])
            call(address, out.ctypes.data, value.ctypes.data, 1)
            found[name, factor] = int(out[0])
        except Exception as error:
            failed.append(error)

    running = [threading.Thread(target=work, args=(name, float(factor))) for name in ENGINES for factor in range(1, 5)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failed
    assert found == {(name, float(factor)): 2 * factor for name in ENGINES for factor in range(1, 5)}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_text_of_a_compiler_is_kept_from_the_user(engine: str) -> None:
    text = "def kernel(args, start, stop):\n    return no_such_name(args)\n"
    with pytest.raises(UncompiledKernel) as caught:
        objects.compile_object(text, "k_x", ENGINES[engine])
    assert caught.value.__cause__ is None
    with config.FULL_TRACEBACK.override(True), pytest.raises(UncompiledKernel) as caught:
        objects.compile_object(text, "k_x", ENGINES[engine])
    assert "no_such_name" in str(caught.value.__cause__)


def test_the_profiler_says_whose_kernels_ran(restored: None, capsys: pytest.CaptureFixture[str]) -> None:
    paddle.set_engine("numba")
    f = paddle.jit.to_static(lambda x: paddle.exp(x) * 2)
    f(paddle.zeros([2]))
    with paddle.profiler.Profiler() as prof:
        f(paddle.zeros([2]))
    prof.summary()
    assert "1 native runs (engine: numba)" in capsys.readouterr().out


# ---- they agree ---------------------------------------------------------------------------------------------------


def agreed(mine: Any, other: Any) -> None:
    """The same value but for roundings: each compiler may fuse a product and a sum where a text leaves it free."""
    if isinstance(mine, list):
        assert len(mine) == len(other)
        for a, b in zip(mine, other, strict=True):
            agreed(a, b)
    elif mine is ABSENT or mine is None:
        assert other is mine
    elif mine.dtype.kind != "f":
        np.testing.assert_array_equal(mine, other)
    else:
        eps = np.finfo(mine.dtype).eps
        np.testing.assert_allclose(mine, other, rtol=64 * eps, atol=64 * eps)


_NATIVE = [c for c in op_cases.all_cases() if c.native and c.raises is None and not c.record.host]


@pytest.mark.slow
@pytest.mark.parametrize("case", _NATIVE, ids=op_cases.case_ids(_NATIVE))
def test_engines_agree_on_every_op(case: op_cases.Case) -> None:
    built = op_cases.build(case, open_dims=True)
    names, found = list(built.feeds), []
    for engine in ENGINES:
        with config.ENGINE.override(engine):
            executable = Executable(built.program, names, built.outputs, absent_feeds=built.absent)
        assert executable.engine.name == engine
        state = {name: value.copy() for name, value in built.state.items()}
        found.append([executable.run([built.feeds[name] for name in names], state), list(state.values())])
    agreed(*found)
